/* SPDX-License-Identifier: MIT */
/* What the benchmarks of the daemon share. */
#ifndef GS_BENCH_DAEMON_CLIENT_H
#define GS_BENCH_DAEMON_CLIENT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/client/client.h"

/* A connection as that task. Where no daemon answers the process says so, and ends. */
static inline struct gs_client *open_client(const char *task)
{
    struct gs_client *c;
    const struct gs_client_options o = {.task = task, .gpus = 1, .hello_wait_ms = 5000};
    struct gs_client_mode mode = {0};
    if (gs_client_open(&c, &o) == 0)
        gs_client_mode(c, &mode);
    if (!mode.scheduled) {
        fprintf(stderr, "%s: no daemon answers at $GPUSPARC_SOCKET\n", program_invocation_short_name);
        exit(1);
    }
    return c;
}

#endif
