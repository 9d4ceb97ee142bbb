/* SPDX-License-Identifier: MIT */
/* If the shim is preloaded, the end of main, exit(), and each registration of a handler of exit() come here first.
 * exit() runs the newest handler first. NVIDIA's compiler registers its handlers when first used, perhaps by a thread
 * of ours, after our handler: then exit() took the compiler apart under that thread, and the application crashed at the
 * end. So a handler of ours, which waits for our threads inside the driver, runs before each library's. (err(), error()
 * and argp's functions call libc's own exit.) If several threads call exit() at once, one ends the process: before
 * glibc 2.41 such processes crash, every second time if all have waited for the same threads of ours. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/lock/rank.h"
#include "shim/process/process.h"
#include "shim/process/threads.h"
#include "shim/process/upward.h"

typedef int main_fn(int, char **, char **);
typedef int register_fn(void (*)(void *), void *, void *);
typedef void finalize_fn(void *);
typedef int start_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static struct {
    main_fn *application;
    void (*leave)(int) __attribute__((noreturn));
    _Atomic(register_fn *) known;
    _Atomic uint64_t ends; /* by which process and thread; 0: nobody has begun to */
    pthread_mutex_t lock;  /* of who registers a handler */
    void *running;         /* in the end: the library whose handlers are being run; NULL is one, too */
} exits = {.lock = PTHREAD_MUTEX_INITIALIZER, .running = &exits};
GS_RANKED(exits.lock, GS_RANK_EXITS);
static _Thread_local void *unloaded = &exits; /* the library whose destructors this thread runs */

static register_fn *real_register(void)
{
    register_fn *real = atomic_load(&exits.known);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "__cxa_atexit");
        atomic_store(&exits.known, real);
    }
    return real;
}

/* Runs before a library's handler. (At its registration nobody knows yet whether the library is the driver.) At a
 * dlclose() the process isn't ending, so nothing is waited for; in the last destructors close_driver has waited. */
static void begin_handler(void *library)
{
    if (library == unloaded || library == exits.running)
        return;
    exits.running = library;
    gs_threads_driver_ends(gs_is_of_driver(library));
    gs_threads_finish();
}

/* What atexit() is, and how the destructors of static objects are registered. */
int __cxa_atexit(void (*handler)(void *), void *arg, void *library);
int __cxa_atexit(void (*handler)(void *), void *arg, void *library)
{
    register_fn *real = real_register();
    if (!real)
        return -1;
    pthread_mutex_lock(&exits.lock);
    const int err = real(handler, arg, library);
    real(begin_handler, library, library); /* the later one runs first; both go with the library */
    pthread_mutex_unlock(&exits.lock);
    return err;
}

/* Each library's last destructor calls this, to run the library's handlers that are left. */
void __cxa_finalize(void *library);
void __cxa_finalize(void *library)
{
    void *before = unloaded;
    finalize_fn *real = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "__cxa_finalize");
    unloaded = library;
    if (real)
        real(library);
    unloaded = before;
}

/* By now the application's own destructors have run. */
__attribute__((destructor)) static void close_driver(void)
{
    gs_threads_end();
}

/* Who calls exit() in a handler of exit() is the same thread; a child has nobody who ends it yet. */
static void let_one_end(void)
{
    const uint64_t process = (uint64_t)(uint32_t)getpid(), self = process << 32 | (uint32_t)gettid();
    uint64_t who = atomic_load(&exits.ends);
    while (who != self) {
        if (who >> 32 == process)
            pause(); /* for as long as there is a process */
        else if (atomic_compare_exchange_weak(&exits.ends, &who, self))
            return;
    }
}

static void begin_end(void)
{
    let_one_end();
    gs_above_process.leave();
    gs_threads_finish();
}

static int run(int argc, char **argv, char **env)
{
    const int status = exits.application(argc, argv, env);
    begin_end();
    return status;
}

static void find_exit(void)
{
    *(void **)&exits.leave = dlsym(RTLD_NEXT, "exit");
}

/* A child of fork() has none of the threads that may have held it. */
static void unlock_in_child(void)
{
    pthread_mutex_init(&exits.lock, NULL);
}

/* glibc's, which a program's first instructions call. */
int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    start_fn *start = NULL;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    find_exit(); /* now: a handler of a signal may call exit() */
    gs_threads_driver_ends(false);
    pthread_atfork(NULL, NULL, unlock_in_child);
    exits.application = main;
    return start(run, argc, argv, init, fini, rtld_fini, stack_end);
}

void exit(int status)
{
    begin_end();
    if (!exits.leave)
        find_exit();
    exits.leave(status);
}
