/* SPDX-License-Identifier: MIT */
/* The daemon's grant, which keeps others away from the device while a probe measures. */
#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/probes/probe.h"

static void on_notice(void *arg, int level, const char *text)
{
    (void)arg;
    if (level == GS_NOTICE_WARNING)
        gs_warn("%s", text);
    else
        gs_debug("%s", text);
}

bool probe_quiet_join(struct probe_quiet *q, unsigned gpu)
{
    struct gs_client_options o = {.no_task = true, .gpus = gpu + 1, .notice = on_notice};
    q->gpu = gpu;
    if (gpu >= GS_MAX_GPUS) /* the daemon knows no such GPU */
        return true;
    int rc = gs_client_open(&q->client, &o);
    if (rc)
        gs_error("the probe could not ask for the daemon: %s; --force measures without it", strerror(-rc));
    return rc == 0;
}

static void give(struct probe_quiet *q)
{
    if (q->held)
        gs_client_release(q->client, &q->grant);
    q->held = false;
}

bool probe_quiet_keep(struct probe_quiet *q)
{
    static const uint64_t second = 1000000000;
    struct gs_request request = {0};
    give(q);
    if (!q->client || gs_client_request(q->client, GS_MASK(GS_RESOURCE_GPU(q->gpu)), 0, &request))
        return true;
    while (gs_client_wait(q->client, &request, second, &q->grant) == -ETIMEDOUT) {
        if (!q->waited)
            gs_warn("waiting: other applications use this GPU (see gpusparc status); --force measures all the same");
        q->waited = true;
        if (probe_interrupted) {
            gs_client_cancel(q->client, &request);
            return false;
        }
    }
    return q->held = true;
}

void probe_quiet_leave(struct probe_quiet *q)
{
    give(q);
    if (q->client)
        gs_client_close(q->client);
    q->client = NULL;
}
