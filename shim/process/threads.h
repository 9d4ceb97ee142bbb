/* SPDX-License-Identifier: MIT */
/* Threads of ours beside the application, and the end of the process: it must not come while one of them is inside the
 * driver, whose own handlers of exit() take apart what the thread uses. */
#ifndef GS_SHIM_PROCESS_THREADS_H
#define GS_SHIM_PROCESS_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* A thread that takes none of the application's signals, and is known to top and ps by that name (15 bytes at most).
 * thread: for pthread_join, or null. False: it can't be had. */
bool gs_threads_start(const char *name, pthread_t *thread, void *(*run)(void *), void *arg);

/* Is the caller such a thread? */
bool gs_threads_own(void);

/* The thread is about to call the driver, until gs_threads_leave. False: the process is ending; it must let go what
 * others may wait for, the application's own handlers of exit() among them, call the driver no more, and return. */
bool gs_threads_enter(void);
void gs_threads_leave(void);

/* Has the end of the process begun? */
bool gs_threads_ends(void);

/* By a thread that is inside: what it begins, or has done, may take long by right, while the process computes. */
void gs_threads_compile(bool begins);

/* A thread of the application's is about to call the driver's compiler, until gs_threads_built: the end waits for it as
 * for ours, since exit() takes the compiler apart, whoever is within it. False: another thread is ending the process,
 * and some seconds have passed: the call fails. The thread that ends the process may build in its handlers, of
 * which nobody waits for the end: not *counted. */
bool gs_threads_build(bool *counted);
void gs_threads_built(bool counted);

/* The same as gs_threads_enter for a thread that other threads of ours wait for while they are inside the driver: it is
 * let in until none of them is. False: the driver is closed to it. */
bool gs_threads_serve(void);
void gs_threads_served(void);

/* Something has come that another thread of ours will do in the driver: the end of the process waits for it as for
 * those that serve, until gs_threads_pending_done, by any thread. False: the driver is closed. */
bool gs_threads_pending(void);
void gs_threads_pending_done(void);

/* For one that would have nothing else to do: while the driver is closed to it, it sleeps. Where the application's
 * handlers of exit() take long, one of which may wait for what the thread should do, the driver is opened again. */
void gs_threads_serve_wait(void);

/* By exit.c: do handlers of exit() that belong to the driver come now, which take it apart, or the application's? Until
 * the first such call that isn't known, and any may be the application's. */
void gs_threads_driver_ends(bool is);

/* By exit.c, in our destructor, behind the application's and those of libraries that are linked with OpenCL: closes the
 * driver. It is opened again where those take long that come later: one may be of a library that waits. */
void gs_threads_end(void);

/* The application calls us for what others may have to serve. Where the thread that ends the process does,
 * in a handler of exit() registered before ours (as destructors are), the driver is open until that handler returns. */
void gs_threads_open_again(void);

/* The application has ended, or a handler of exit() that a library registered is about to run (exit.c): waits for the
 * threads that are inside, and lets no other in. */
void gs_threads_finish(void);

/* exit() runs its handlers from the last registered to the first: to be called once a library has been loaded whose
 * handlers must come after the wait for our threads. gs_threads_start has done it once. */
void gs_threads_register(void);

/* A compiler that compiles for us leaves no trace: its words aren't for the application's standard error, and its
 * random numbers come from no sequence of the application's. Of NVIDIA's libraries that compile (580.159)
 * libnvidia-nvvm, libnvidia-ptxjitcompiler and libnvidia-gpucomp import rand and srand. From now on this thread calls
 * the driver for us alone, or no longer: what it writes to standard error by write() goes nowhere, and its rand() and
 * srand() go to a sequence of its own (quiet.c). Nests. */
void gs_drop_stderr(bool begins);

#endif
