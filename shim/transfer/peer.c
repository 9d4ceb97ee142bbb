/* SPDX-License-Identifier: MIT */
/* See transfer.h, "passages from device to device". */
#include <limits.h>

#include "common/cache.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "common/spawn.h"
#include "shim/transfer/pack.h"
#include "shim/transfer/transfer.h"
#include "shim/process/threads.h"

/* A slot's 32 MiB take 28 us to the window and 100 from there, and the host 31 to enqueue both: smaller pieces would
 * wait for the host where several places take at once. */
enum { PROBE_TIMEOUT_MS = 30000, SLOTS = 8, SLOT_BYTES = GS_WINDOW_MAX_BYTES / SLOTS };
/* How long a context's end waits for the thread, so that the probe's answer is kept; and how long the first launch
 * waits for windows that the user has asked for by name. */
enum { PATIENCE_MS = 5000, LONG_PATIENCE_MS = 60000 };
enum { OPENING, OPEN, FAILED };

struct gs_peer {
    cl_context context; /* the thread retains it: the application's last reference may go meanwhile */
    cl_device_id dev[GS_MAX_DEVICES];
    unsigned n;
    char identity[1024]; /* the key by which the probe's answer is cached */
    atomic_int holds;    /* by the context and by the thread; the last frees it */
    atomic_int state;
    atomic_bool unwanted; /* the context has gone */
    struct gs_windows windows;
    struct gs_passage passage;
    struct gs_ring ring[GS_MAX_DEVICES]; /* of the window on each device. ctx lock */
};

/* Do windows work on this driver and these devices? By the cache, or by a probe. */
static bool probe(const char *identity)
{
    char name[GS_HASH_HEX_BYTES], path[PATH_MAX], request[512], *answer = NULL;
    size_t answer_bytes = 0;
    const char *how = "answered from the cache";
    gs_hash_hex(identity, strlen(identity), name);
    answer = gs_cache_read(name, &answer_bytes);
    const bool asks = !answer;
    if (asks) {
        snprintf(path, sizeof path, "%s/gpusparc-link-probe", gs_library_dir());
        const size_t n = gs_links_request(gs_settings(), "windows", request, sizeof request);
        if (gs_spawn(path, request, n, PROBE_TIMEOUT_MS, 0, &answer, &answer_bytes, &how) < 0)
            gs_debug("the probe of the link between the devices %s", how);
    }
    const bool ok = answer && answer_bytes >= 2 && memcmp(answer, "ok", 2) == 0;
    if (asks)
        gs_cache_write(name, ok ? "ok\n" : "no\n", 3);
    gs_debug("the link between the devices: %.*s", (int)answer_bytes, answer ? answer : "no answer");
    free(answer);
    return ok;
}

static bool open_windows(struct gs_peer *p)
{
    char why[256] = "";
    if (!gs_threads_enter())
        return false;
    gs_compile_quietly(true);
    p->windows = (struct gs_windows){.n = p->n, .bytes = GS_WINDOW_MAX_BYTES};
    const bool open = gs_windows_open(&p->windows, p->context, p->dev, why, sizeof why) == 0;
    gs_compile_quietly(false);
    if (open)
        p->passage.pack = gs_pack_kernel(p->context, p->dev, p->n);
    gs_threads_register(); /* libcuda is loaded by now */
    gs_threads_leave();
    if (!open)
        gs_debug("%s", why);
    return open;
}

static void drop_peer(struct gs_peer *p)
{
    if (atomic_fetch_sub(&p->holds, 1) != 1)
        return;
    for (unsigned i = 0; i < GS_MAX_DEVICES; i++)
        gs_ring_free(&p->ring[i]);
    gs_windows_close(&p->windows);
    GS_RELEASE(Kernel, p->passage.pack);
    free(p);
}

static void *probe_and_open(void *arg)
{
    struct gs_peer *p = arg;
    const bool open = probe(p->identity) && !atomic_load(&p->unwanted) && open_windows(p);
    atomic_store(&p->state, open ? OPEN : FAILED);
    if (!gs_threads_enter())
        return NULL;
    cl_context context = p->context;
    drop_peer(p);
    gs_real()->clReleaseContext(context);
    gs_threads_leave();
    return NULL;
}

static void await_thread(const struct gs_peer *p, int64_t patience_ms)
{
    for (const uint64_t end = gs_now_ns() + (uint64_t)patience_ms * 1000000;
         atomic_load(&p->state) == OPENING && gs_now_ns() < end;)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static bool start_thread(struct gs_peer *p)
{
    if (gs_real()->clRetainContext(p->context) != CL_SUCCESS)
        return false;
    atomic_store(&p->holds, 2);
    atomic_store(&p->state, OPENING);
    if (gs_threads_start("gs-peer", NULL, probe_and_open, p))
        return true;
    atomic_store(&p->state, FAILED);
    atomic_store(&p->holds, 1);
    gs_real()->clReleaseContext(p->context);
    return false;
}

const struct gs_passage *gs_peer_ready(struct gs_context *ctx)
{
    struct gs_peer *p = ctx->paths->peer;
    if (p || !(p = ctx->paths->peer = calloc(1, sizeof *p)))
        return gs_peer_open(ctx);
    p->context = ctx->o.handle;
    memcpy(p->dev, ctx->dev, sizeof p->dev);
    p->n = ctx->n;
    p->passage = (struct gs_passage){.ring = p->ring, .windows = &p->windows};
    for (unsigned i = 0; i < p->n; i++)
        p->ring[i] = (struct gs_ring){.slot_bytes = SLOT_BYTES, .slots = SLOTS};
    atomic_init(&p->holds, 1);
    atomic_init(&p->state, FAILED);
    const int head = snprintf(p->identity, sizeof p->identity, "gpusparc-peer 4 ");
    if (!(gs_group()->type & CL_DEVICE_TYPE_GPU) ||
        gs_windows_identity(ctx->dev, ctx->n, p->identity + head, sizeof p->identity - (size_t)head) < 0 ||
        !start_thread(p))
        return NULL;
    GS_MAY_WAIT("windows between GPUs that are asked for by name", 60 * GS_S);
    if (gs_settings()->transfer == GS_TRANSFER_PEER) /* from the first byte on */
        await_thread(p, LONG_PATIENCE_MS);
    return gs_peer_open(ctx);
}

const struct gs_passage *gs_peer_open(const struct gs_context *ctx)
{
    struct gs_peer *p = ctx->paths->peer;
    return p && atomic_load(&p->state) == OPEN ? &p->passage : NULL;
}

bool gs_peer_usable(const struct gs_context *ctx)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    const struct gs_peer *p = ctx->paths->peer;
    return (path == GS_TRANSFER_AUTO || path == GS_TRANSFER_PEER) && !gs_group()->shared_memory &&
           !gs_group()->remote && gs_group()->type & CL_DEVICE_TYPE_GPU && (!p || atomic_load(&p->state) != FAILED);
}

void gs_peer_free(struct gs_peer *p)
{
    if (!p)
        return;
    await_thread(p, PATIENCE_MS);
    atomic_store(&p->unwanted, true);
    drop_peer(p);
}
