/* SPDX-License-Identifier: MIT */
/* The end of the process waits for a thread of ours that doesn't come back for three seconds in all, however many of
 * its steps wait: exit() itself, and handlers of it. */
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "shim/process/threads.h"
#include "shim/process/exit.h"
#include "shim/record/objects.h"

bool gs_forked(void)
{
    return false;
}

void gs_exit_handler_first(void)
{
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *stay(void *entered)
{
    atomic_store((atomic_bool *)entered, gs_threads_enter());
    for (;;)
        pause();
    return NULL;
}

int main(void)
{
    static atomic_bool entered;
    if (!gs_threads_start("settle", NULL, stay, &entered))
        return 1;
    while (!atomic_load(&entered))
        usleep(1000);
    const double begin = now();
    for (int i = 0; i < 3; i++)
        gs_threads_settle();
    const double took = now() - begin;
    printf("three steps of the end waited for %.1f s\n", took);
    if (took < 2 || took > 5)
        return 1;
    if (gs_threads_enter()) {
        printf("a thread is let in after the end\n");
        return 1;
    }
    return 0;
}
