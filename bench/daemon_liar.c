/* SPDX-License-Identifier: MIT */
/* A process without a task that means it ill, for bench/rt.sh:
 *   daemon_liar keeps|pretends GPUS
 * keeps: asks for units of all GPUs and the link, and gives none back; pretends: gives each back after 0.95 s, and asks
 * again. It computes nothing. It ends when it is killed. The daemon is the one at $GPUSPARC_SOCKET. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/client/client.h"

int main(int argc, char **argv)
{
    const unsigned gpus = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    const bool keeps = argc == 3 && strcmp(argv[1], "keeps") == 0;
    if (!gpus || gpus > GS_MAX_GPUS || (!keeps && strcmp(argv[1], "pretends") != 0)) {
        fprintf(stderr, "usage: daemon_liar keeps|pretends GPUS\n");
        return 2;
    }
    struct gs_client *c;
    struct gs_client_mode mode = {0};
    const struct gs_client_options o = {.no_task = true, .gpus = gpus, .hello_wait_ms = 5000};
    if (gs_client_open(&c, &o) == 0)
        gs_client_mode(c, &mode);
    if (!mode.scheduled) {
        fprintf(stderr, "daemon_liar: no daemon answers at $GPUSPARC_SOCKET\n");
        return 1;
    }
    struct gs_grant held[GS_MAX_RESOURCES];
    bool has[GS_MAX_RESOURCES] = {false};
    struct gs_request rq[GS_MAX_RESOURCES] = {0};
    for (;;) {
        for (unsigned r = 0; r <= gpus; r++) {
            if (has[r] && !keeps)
                gs_client_release(c, &held[r]);
            has[r] = false;
            if (!rq[r].open && !rq[r].held)
                gs_client_request(c, r, 0, &rq[r]);
        }
        usleep(keeps ? 10000 : 950000);
        for (unsigned r = 0; r <= gpus; r++)
            has[r] = (rq[r].open || rq[r].held) && gs_client_wait(c, &rq[r], 0, &held[r]) == 0;
    }
}
