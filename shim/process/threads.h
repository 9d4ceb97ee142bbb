/* SPDX-License-Identifier: MIT */
/* Threads of ours, and the end of the process: while a thread of ours is inside the driver, exit() must not run the
 * driver's handlers, which take the driver apart. */
#ifndef GS_SHIM_PROCESS_THREADS_H
#define GS_SHIM_PROCESS_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that takes none of the application's signals; top and ps show the name (15 bytes at most). thread:
 * for pthread_join, or null. False: no thread. */
bool gs_threads_start(const char *name, pthread_t *thread, void *(*run)(void *), void *arg);

/* Is the caller a thread of ours? */
bool gs_threads_own(void);

/* The thread is about to call the driver; gs_threads_leave follows. False: the process is ending; the thread must let
 * go what others may wait for (handlers of exit() among them), call the driver no more, and return. */
bool gs_threads_enter(void);
void gs_threads_leave(void);

/* Has the end of the process begun? */
bool gs_threads_ends(void);

/* Called by a thread that is inside the driver: a compilation, which may take long, begins or is done. */
void gs_threads_compile(bool begins);

/* Runs what calls the driver's compiler, and waits for it: by a thread of ours, as compilers take more stack than a
 * thread of the application may have (clang in PoCL over 128 KiB). The caller runs it where it is a thread of ours, and
 * where none can be had, as when the process is ending. */
void gs_threads_compile_by_own(void *(*run)(void *), void *arg);

/* A thread of the application is about to call the driver's compiler; gs_threads_built follows. The process's end waits
 * for it as for our threads, since exit() takes the compiler apart. False: another thread is ending the process and
 * some seconds have passed; the call must fail. The thread that ends the process may build in its handlers; nobody
 * waits for such a build: *counted is false. */
bool gs_threads_build(bool *counted);
void gs_threads_built(bool counted);

/* gs_threads_enter for a thread that others wait for while inside the driver: let in while they are. False: closed. */
bool gs_threads_serve(void);
void gs_threads_served(void);

/* A thread of ours will have work in the driver: the process's end waits until some thread calls
 * gs_threads_pending_done. False: the driver is closed. */
bool gs_threads_pending(void);
void gs_threads_pending_done(void);

/* gs_threads_serve for a thread with nothing else to do: sleeps while the driver is closed. The driver is opened again
 * if the application's handlers of exit() take long, as one may wait for this thread's work. */
void gs_threads_serve_wait(void);

/* Called by exit.c before handlers of exit(): are the handlers the driver's, which take the driver apart, or the
 * application's? Before the first call any handler may be the application's. */
void gs_threads_driver_ends(bool is);

/* Called by exit.c in our destructor, after the application's destructors and those of libraries linked with OpenCL:
 * closes the driver. The driver opens again if later destructors take long, as one may wait for a thread of ours. */
void gs_threads_end(void);

/* The application makes a call that others may have to serve. If that comes from a handler of exit() registered before
 * ours (or a destructor), the driver is open until the handler returns. */
void gs_threads_open_again(void);

/* The application has ended, or a library's handler of exit() is about to run (exit.c): waits for the threads inside
 * the driver, and lets no other in. */
void gs_threads_finish(void);

/* exit() runs handlers from the last registered to the first. To be called after loading a library whose handlers must
 * come after the wait for our threads. gs_threads_start calls once. */
void gs_threads_register(void);

/* This thread begins to compile for us, or ends. That must leave no trace: writes to standard error go nowhere, and
 * rand() and srand() use another sequence (quiet.c). Nests. (Of NVIDIA's libraries that compile, 580.159,
 * libnvidia-nvvm, libnvidia-ptxjitcompiler and libnvidia-gpucomp import rand and srand.) */
void gs_compile_quietly(bool begins);

#endif
