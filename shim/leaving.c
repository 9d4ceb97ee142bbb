/* SPDX-License-Identifier: MIT */
/* The end of main and exit() come here first, where the shim was preloaded. What a library registers with exit() runs
 * before what was registered earlier, and NVIDIA's compiler is loaded when something is compiled first: perhaps by a
 * thread of ours (the application's own program came from the driver's cache), after our handler was registered. Its
 * handlers then took it apart under that thread: the application crashed at its end, and what it had printed was lost.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "shim/beside.h"

typedef int main_fn(int, char **, char **);
typedef int start_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static main_fn *application;
static void (*leave)(int) __attribute__((noreturn));

static int run(int argc, char **argv, char **env)
{
    const int status = application(argc, argv, env);
    gs_beside_settle();
    return status;
}

static void find_exit(void)
{
    *(void **)&leave = dlsym(RTLD_NEXT, "exit");
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
    application = main;
    return start(run, argc, argv, init, fini, rtld_fini, stack_end);
}

void exit(int status)
{
    gs_beside_settle();
    if (!leave)
        find_exit();
    leave(status);
}
