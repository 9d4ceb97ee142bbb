/* SPDX-License-Identifier: MIT */
/* The end of the process waits for a thread that doesn't come back for three seconds in all, however many of its steps
 * wait: exit() itself, and handlers of it. For one that compiles it waits longer, while the process computes. */
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/process/threads.h"
#include "shim/record/objects.h"

struct gs_process gs_process; /* not forked */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static atomic_bool entered;

static void *stay(void *unused)
{
    atomic_store(&entered, gs_threads_enter());
    for (;;)
        pause();
    return NULL;
}

/* As where a lock of the driver's is held by the thread that a signal's handler has interrupted. */
static void *compile_stuck(void *unused)
{
    bool counted;
    atomic_store(&entered, gs_threads_build(&counted));
    for (;;)
        pause();
    return NULL;
}

enum { COMPILES_S = 4 };

static void *compile(void *unused)
{
    bool counted;
    atomic_store(&entered, gs_threads_build(&counted));
    const double begin = now();
    while (now() - begin < COMPILES_S)
        ;
    gs_threads_built(counted);
    return NULL;
}

/* The end of a process with that thread takes so many seconds. It ends with status 0 then. */
static void end(const char *what, void *(*thread)(void *), double least, double most)
{
    if (!gs_threads_start("settle", NULL, thread, NULL))
        _exit(1);
    while (!atomic_load(&entered))
        usleep(1000);
    const double begin = now();
    for (int i = 0; i < 3; i++)
        gs_threads_finish();
    const double took = now() - begin;
    dprintf(1, "three steps of the end waited %.1f s for a thread that %s\n", took, what);
    bool counted = true;
    if (gs_threads_enter() || !gs_threads_build(&counted) || counted)
        dprintf(1, "a thread is let in after the end, or the one that ends may not compile\n");
    else
        _exit(took < least || took > most);
    _exit(1);
}

int main(void)
{
    static const struct {
        const char *what;
        void *(*thread)(void *);
        double least, most;
    } ends[] = {{"doesn't come back", stay, 2, 5},
                {"compiles and is stuck", compile_stuck, 2, 8},
                {"compiles", compile, COMPILES_S - 0.5, 4 * COMPILES_S}};
    enum { N = sizeof ends / sizeof *ends };
    int status, failed = 0;
    for (int i = 0; i < N; i++)
        if (fork() == 0)
            end(ends[i].what, ends[i].thread, ends[i].least, ends[i].most);
    for (int i = 0; i < N; i++)
        failed |= wait(&status) < 0 || status;
    return failed;
}
