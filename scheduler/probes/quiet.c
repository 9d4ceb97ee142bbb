/* SPDX-License-Identifier: MIT */
/* The daemon's grant: the device and the link to it alone, from the first run to the last. */
#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/probes/probe.h"

#define RENEW_EVERY_S 0.01

static void on_notice(void *arg, int level, const char *text)
{
    struct probe_quiet *q = arg;
    if (level != GS_NOTICE_WARNING) {
        gs_debug("%s", text);
        return;
    }
    gs_warn("%s", text);
    atomic_store(&q->told, true);
}

bool probe_quiet_join(struct probe_quiet *q, unsigned gpu)
{
    struct gs_client_options o = {.no_task = true, .gpus = gpu + 1, .notice = on_notice, .arg = q};
    if (gpu >= GS_MAX_GPUS) /* the daemon knows no such GPU */
        return true;
    q->resource[0] = GS_RESOURCE_GPU(gpu);
    q->resource[1] = GS_RESOURCE_PCI;
    int rc = gs_client_open(&q->client, &o);
    if (rc)
        gs_error("the probe could not ask for the daemon: %s; --force measures without it", strerror(-rc));
    return rc == 0;
}

/* One of the two. 0; -EINTR if Ctrl-C ended the wait; -EPERM, with a message. */
static int take_one(struct probe_quiet *q, unsigned i)
{
    static const uint64_t second = 1000000000;
    struct gs_request request;
    int rc = gs_client_request_alone(q->client, q->resource[i], &request);
    while (rc == 0 && (rc = gs_client_wait(q->client, &request, second, &q->grant[i])) == -ETIMEDOUT) {
        if (!atomic_exchange(&q->told, true))
            gs_warn("waiting: other applications use this GPU (see gpusparc status); --force measures all the same");
        if (probe_interrupted) {
            gs_client_cancel(q->client, &request, NULL);
            return -EINTR;
        }
        if (i > 0)
            gs_client_renew(q->client, &q->grant[0]);
        rc = 0;
    }
    if (rc == -EPERM)
        gs_error(
            "gpusparcd gives this user no GPU for a measurement: only root and its own user, or \"probes = all\" in "
            "its config; --force measures without it");
    else if (rc)
        gs_error("the probe could not ask gpusparcd for the GPU: %s; --force measures without it", strerror(-rc));
    return rc;
}

static void give(struct probe_quiet *q)
{
    for (unsigned i = 0; i < q->held; i++)
        gs_client_release(q->client, &q->grant[i]);
    q->held = 0;
}

/* First the GPU, then the link: nobody who has the link waits for a GPU. */
static bool take_all(struct probe_quiet *q)
{
    atomic_store(&q->told, false);
    while (q->held < PROBE_QUIET_RESOURCES) {
        int rc = take_one(q, q->held);
        q->failed = rc && rc != -EINTR;
        if (rc)
            return false;
        q->held++;
    }
    q->by_daemon = q->grant[0].client != 0;
    return true;
}

/* What has become of the grants: the worst that gs_client_renew says of one. */
static int renew(struct probe_quiet *q)
{
    int worst = 0;
    for (unsigned i = 0; i < q->held; i++) {
        int rc = gs_client_renew(q->client, &q->grant[i]);
        worst = rc == -ENOENT || worst == 0 ? rc : worst;
    }
    return worst;
}

bool probe_quiet_keep(struct probe_quiet *q)
{
    if (!q->client)
        return true;
    if (q->held == 0)
        return take_all(q);
    if (probe_seconds() - q->renewed_at < RENEW_EVERY_S)
        return true;
    q->renewed_at = probe_seconds();
    int rc = renew(q);
    if (rc == 0)
        return true;
    bool by_daemon = q->by_daemon;
    q->lost |= rc == -ENOENT;
    q->pauses++;
    if (rc == -EAGAIN)
        gs_warn("paused: a task has come to gpusparcd, and goes first");
    give(q);
    if (!take_all(q))
        return false;
    if (rc == -ENOENT && by_daemon && !q->by_daemon)
        gs_warn("gpusparcd has gone: nobody keeps others away from the device now");
    return true;
}

bool probe_quiet_leave(struct probe_quiet *q)
{
    bool quiet = q->by_daemon && !q->lost && q->held && renew(q) != -ENOENT;
    give(q);
    if (q->client)
        gs_client_close(q->client);
    q->client = NULL;
    return quiet;
}
