/* SPDX-License-Identifier: MIT */
#include "shim/pooled/store.h"

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "shim/put/put.h"
#include "shim/report/report.h"

enum { LEAST_PINNED = 1 << 20 };

/* All roots and their windows, and what follows. */
static struct {
    pthread_mutex_t lock;
    struct gs_pool_root *roots;
    _Atomic uint64_t promised; /* bytes of all roots; also read without the lock */
    uint64_t pinned;           /* bytes of the host places that drivers have pinned */
    uint64_t round, ended;     /* of turns: the last that has begun, and the last that has ended */
    /* Bytes of each device's windows, but of those that leave; and of windows that the last round is about to make. */
    uint64_t used[GS_MAX_DEVICES], reserved[GS_MAX_DEVICES];
    unsigned busy;                  /* a bit for each device that the launch of the last round uses */
    struct gs_pool_window *leaving; /* evicted windows whose only bytes are on their way to the host */
    struct gs_pool_window *left;    /* their bytes have arrived: the command's next windows may have the memory */
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(store.lock, GS_RANK_POOL);

void gs_pool_lock(void)
{
    pthread_mutex_lock(&store.lock);
}

static cl_ulong most_at_once(unsigned device)
{
    cl_ulong n = 0;
    gs_real()->clGetDeviceInfo(gs_group()->dev[device], CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof n, &n, NULL);
    return n;
}

static uint64_t space_of(unsigned device)
{
    return gs_pool_space_of(gs_group()->memory[device]);
}

uint64_t gs_pool_bytes(void)
{
    uint64_t sum = gs_settings()->pooled_host;
    for (unsigned d = 0; d < gs_group()->n; d++)
        sum += space_of(d);
    return sum;
}

struct gs_pool_space gs_pool_space(void)
{
    struct gs_pool_space least = {UINT64_MAX, UINT64_MAX};
    for (unsigned d = 0; d < gs_group()->n; d++) {
        const uint64_t all = space_of(d), one = most_at_once(d);
        least.all = all < least.all ? all : least.all;
        least.one = one < least.one ? one : least.one;
    }
    return least;
}

struct gs_pool_root *gs_pool_root_new(struct gs_context *ctx, uint64_t size, void *given, cl_int *err)
{
    struct gs_pool_root *r = calloc(1, sizeof *r);
    *err = r ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!r)
        return NULL;
    *r = (struct gs_pool_root){.ctx = ctx, .size = size, .host = {.ctx = ctx, .pinned = &store.pinned, .base = given}};
    GS_LOCKED(&store.lock);
    if (store.promised + size > gs_pool_bytes() || !gs_pool_host_make(&r->host, size)) {
        *err = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        free(r);
        return NULL;
    }
    store.promised += size;
    r->next = store.roots;
    r->at = &store.roots;
    if (r->next)
        r->next->at = &r->next;
    store.roots = r;
    return r;
}

/* The window is none any more, and waits in the list for its memory's end. */
static void take_out(struct gs_pool_window *w, struct gs_pool_window **into)
{
    struct gs_pool_window **at = &w->root->windows;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    w->next = *into;
    *into = w;
    store.used[w->device] -= w->bytes;
    gs_memory_used(w->device, -(int64_t)w->bytes);
}

cl_mem gs_pool_part(struct gs_pool_window *w, const cl_buffer_region *region, cl_int *err)
{
    struct gs_pool_part *part = w->parts;
    while (part && (part->region.origin != region->origin || part->region.size != region->size))
        part = part->older;
    if (part)
        return part->mem;
    *err = CL_OUT_OF_HOST_MEMORY;
    part = malloc(sizeof *part);
    const cl_mem mem = part ? gs_real()->clCreateSubBuffer(w->mem, 0, CL_BUFFER_CREATE_TYPE_REGION, region, err) : NULL;
    if (!mem) {
        free(part);
        return NULL;
    }
    *part = (struct gs_pool_part){w->parts, *region, mem};
    w->parts = part;
    return mem;
}

/* Newest first: NVIDIA's driver wants that for overlapping ones (docs/drivers.md). */
static void free_parts(struct gs_pool_window *w)
{
    for (struct gs_pool_part *part = w->parts, *older; part; part = older) {
        older = part->older;
        GS_RELEASE(MemObject, part->mem);
        free(part);
    }
}

static void free_window(struct gs_pool_window *w)
{
    free_parts(w);
    GS_RELEASE(MemObject, w->mem);
    gs_rangeset_free(&w->valid);
    gs_rangeset_free(&w->coming);
    free(w);
}

static void free_left(unsigned device)
{
    for (struct gs_pool_window **at = &store.left, *w; (w = *at) != NULL;) {
        if (w->device == device) {
            *at = w->next;
            free_window(w);
        } else {
            at = &w->next;
        }
    }
}

void gs_pool_unlock(void)
{
    for (unsigned d = 0; store.left; d++)
        free_left(d);
    pthread_mutex_unlock(&store.lock);
}

void gs_pool_root_free(struct gs_pool_root *r)
{
    gs_pool_lock();
    while (r->windows)
        take_out(r->windows, &store.left);
    *r->at = r->next;
    if (r->next)
        r->next->at = r->at;
    store.promised -= r->size;
    gs_pool_host_free(&r->host);
    free(r->image);
    gs_rangeset_free(&r->valid);
    gs_rangeset_free(&r->overwritten);
    gs_rangeset_free(&r->wanted);
    free(r);
    gs_pool_unlock();
}

cl_int gs_pool_await(void)
{
    const cl_int err = gs_pool_transfers_end();
    for (struct gs_pool_window *w; (w = store.leaving) != NULL;) {
        store.leaving = w->next;
        w->next = store.left;
        store.left = w;
    }
    return err;
}

/* The transfer of a range of the window to the host's memory, or from there: of an image always of all of it. */
static struct gs_op transfer_of(const struct gs_pool_window *w, struct gs_range r, bool to_host, char *host)
{
    const uint64_t at = r.begin - w->range.begin, bytes = r.end - r.begin;
    struct gs_op op = to_host ? gs_op_read(w->mem, at, bytes, host) : gs_op_write(w->mem, at, bytes, host);
    if (w->root->image) {
        op.kind = to_host ? GS_OP_READ_IMAGE : GS_OP_WRITE_IMAGE;
        memcpy(op.region, w->root->image->texels, sizeof op.region);
        op.texel = w->root->image->texel_bytes;
    }
    return op;
}

/* Begins to pass bytes to the window from the host's memory, or back, by pieces that are pinned; carries others. */
static cl_int pass(struct gs_pool_window *w, struct gs_range r, bool back)
{
    struct gs_pool_host *host = &w->root->host;
    const bool whole = w->root->image, large = !whole && r.end - r.begin >= LEAST_PINNED;
    struct gs_context *ctx = w->root->ctx;
    struct gs_extents others = {0};
    cl_int err = CL_SUCCESS;
    for (uint64_t at = r.begin, end; at < r.end && !err; at = end) {
        end = (at / GS_POOL_PIECE + 1) * GS_POOL_PIECE;
        end = whole || end > r.end ? r.end : end;
        const bool pinned = !large || gs_pool_host_pin(host, at);
        const struct gs_op_run t = {.op = transfer_of(w, (struct gs_range){at, end}, back, host->base + at),
                                    .place = w->device};
        if (!pinned)
            atomic_store(&ctx->pool->spills, true);
        err = pinned || !ctx->pool->by_ring ? gs_pool_begin(ctx, w->device, &t.op) : gs_extents_add(&others, &t);
    }
    if (!err && others.n)
        err = gs_pool_transfer_error(gs_staging_carry(ctx, others.v, others.n, NULL));
    gs_extents_free(&others);
    return err;
}

static cl_int to_host(struct gs_pool_window *w, struct gs_range r, void *unused)
{
    const cl_int err = pass(w, r, true);
    (void)unused;
    return err ? err : gs_pool_error(gs_rangeset_add(&w->root->valid, r));
}

static cl_int to_window(struct gs_pool_window *from, struct gs_range r, void *window)
{
    struct gs_pool_window *to = window;
    const struct gs_op op =
        gs_op_copy(from->mem, to->mem, r.begin - from->range.begin, r.begin - to->range.begin, r.end - r.begin);
    const cl_int err = gs_pool_begin(to->root->ctx, to->device, &op);
    return err ? err : gs_pool_error(gs_rangeset_add(&to->valid, r));
}

static cl_int to_other_device(struct gs_pool_window *from, struct gs_range r, void *window)
{
    struct gs_pool_window *to = window;
    char *host = to->root->host.base; /* of each piece it becomes the memory that the piece passes through */
    const struct gs_op read = transfer_of(from, r, true, host), write = transfer_of(to, r, false, host);
    struct gs_cut cut;
    cl_int err = CL_SUCCESS;
    gs_report_moved(GS_POOL_BROUGHT, r.end - r.begin);
    gs_op_cut(&read, GS_POOL_PIECE, &cut);
    for (unsigned i = 0; i < cut.n && !err; i++) {
        struct gs_op in = gs_op_piece(&read, &cut, i), out = gs_op_piece(&write, &cut, i);
        err = gs_pool_pass_begin(to->root->ctx, from->device, &in, to->device, &out);
    }
    return err ? err : gs_pool_error(gs_rangeset_add(&to->coming, r));
}

cl_int gs_pool_from_windows(struct gs_pool_root *r, unsigned device, struct gs_rangeset *bytes, gs_pool_step *step,
                            void *arg)
{
    struct gs_rangeset here = {0};
    cl_int err = CL_SUCCESS;
    for (struct gs_pool_window *w = r->windows; w && bytes->n && !err; w = w->next) {
        if (device < GS_MAX_DEVICES && w->device != device)
            continue;
        gs_rangeset_clear(&here);
        err = gs_pool_error(gs_rangeset_common_set(bytes, &w->valid, &here));
        for (size_t i = 0; i < here.n && !err; i++)
            err = step(w, here.v[i], arg);
        if (!err)
            err = gs_pool_error(gs_rangeset_remove_set(bytes, &here));
    }
    gs_rangeset_free(&here);
    return err;
}

cl_int gs_pool_require_host(struct gs_pool_root *r, struct gs_range bytes)
{
    struct gs_rangeset missing = {0};
    cl_int err = gs_pool_error(gs_rangeset_missing(&r->valid, bytes, &missing));
    err = err ? err : gs_pool_from_windows(r, GS_POOL_ALL_DEVICES, &missing, to_host, NULL);
    const cl_int settled = gs_pool_await();
    gs_rangeset_free(&missing);
    return err ? err : settled;
}

cl_int gs_pool_gather(struct gs_pool_window *w, const struct gs_rangeset *bytes)
{
    struct gs_rangeset missing = {0};
    cl_int err = gs_pool_error(gs_rangeset_rest(bytes, &w->root->valid, &missing));
    gs_rangeset_clear(&w->coming);
    for (const struct gs_pool_window *v = w->root->windows; v && !err; v = v->next)
        if (v->device == w->device)
            err = gs_pool_error(gs_rangeset_remove_set(&missing, &v->valid));
    err = err ? err : gs_pool_from_windows(w->root, GS_POOL_ALL_DEVICES, &missing, to_other_device, w);
    gs_rangeset_free(&missing);
    return err;
}

cl_int gs_pool_load(struct gs_pool_window *w, const struct gs_rangeset *bytes)
{
    struct gs_rangeset missing = {0}, here = {0};
    cl_int err = gs_pool_error(gs_rangeset_add_set(&w->valid, &w->coming));
    err = err ? err : gs_pool_error(gs_rangeset_rest(bytes, &w->valid, &missing));
    err = err ? err : gs_pool_from_windows(w->root, w->device, &missing, to_window, w);
    err = err ? err : gs_pool_error(gs_rangeset_common_set(&missing, &w->root->valid, &here));
    for (size_t i = 0; i < here.n && !err; i++) {
        gs_report_moved(GS_POOL_BROUGHT, here.v[i].end - here.v[i].begin);
        err = pass(w, here.v[i], false);
    }
    err = err ? err : gs_pool_error(gs_rangeset_add_set(&w->valid, &here));
    gs_rangeset_free(&missing);
    gs_rangeset_free(&here);
    return err;
}

/* No place holds the bytes as valid any more, but this window, if any, or the host (but_host). The host's pages are
 * given back only where the host held some of the bytes: to give back absent pages took 0.3 ms a launch on 8 GiB.
 * With maps they stay: bytes that a window takes over beside written rows may be mapped for reading. */
static cl_int invalidate(struct gs_pool_root *r, const struct gs_pool_window *but, bool but_host,
                         const struct gs_rangeset *bytes)
{
    for (size_t i = 0; i < bytes->n && !but_host && !atomic_load(&r->maps); i++)
        if (gs_rangeset_touches(&r->valid, bytes->v[i]))
            gs_pool_host_drop(&r->host, bytes->v[i]);
    int err = but_host ? 0 : gs_rangeset_remove_set(&r->valid, bytes);
    for (struct gs_pool_window *w = r->windows; w && !err; w = w->next)
        if (w != but)
            err = gs_rangeset_remove_set(&w->valid, bytes);
    return gs_pool_error(err);
}

cl_int gs_pool_invalidate(struct gs_pool_root *r, const struct gs_rangeset *bytes)
{
    return invalidate(r, NULL, false, bytes);
}

void gs_pool_forecast_clear(void)
{
    for (struct gs_pool_root *r = store.roots; r; r = r->next) {
        gs_rangeset_clear(&r->overwritten);
        gs_rangeset_clear(&r->wanted);
    }
}

cl_int gs_pool_wrote(struct gs_pool_window *w, const struct gs_rangeset *bytes)
{
    const cl_int err = gs_pool_error(gs_rangeset_add_set(&w->valid, bytes));
    return err ? err : invalidate(w->root, w, false, bytes);
}

cl_int gs_pool_wrote_host(struct gs_pool_root *r, const struct gs_rangeset *bytes)
{
    const cl_int err = gs_pool_error(gs_rangeset_add_set(&r->valid, bytes));
    return err ? err : invalidate(r, NULL, true, bytes);
}

static cl_int leave_host(struct gs_pool_window *w, struct gs_range r, void *unused)
{
    const cl_int err = gs_pool_error(gs_rangeset_remove(&w->root->valid, r));
    (void)unused;
    if (!err)
        gs_pool_host_drop(&w->root->host, r);
    return err;
}

cl_int gs_pool_map_end(struct gs_pool_root *r)
{
    struct gs_rangeset bytes = {0};
    if (atomic_fetch_sub(&r->maps, 1) > 1 || gs_rangeset_bytes(&r->valid) <= gs_settings()->pooled_host)
        return CL_SUCCESS;
    cl_int err = gs_pool_error(gs_rangeset_copy(&bytes, &r->valid));
    err = err ? err : gs_pool_from_windows(r, GS_POOL_ALL_DEVICES, &bytes, leave_host, NULL);
    gs_rangeset_free(&bytes);
    return err;
}

uint64_t gs_pool_valid_bytes(const struct gs_pool_root *r, unsigned device, struct gs_range range)
{
    uint64_t held = 0;
    for (const struct gs_pool_window *w = r->windows; w; w = w->next) {
        struct gs_rangeset common = {0};
        if (w->device == device && gs_rangeset_common(&w->valid, range, &common) == 0)
            held += gs_rangeset_bytes(&common);
        gs_rangeset_free(&common);
    }
    return held;
}

static bool is_pinned(const struct gs_pool_window *w)
{
    return w->used > store.ended;
}

/* Are few of the window's bytes wanted: rows beside those of the next turn, say? */
static bool is_nearly_worthless(const struct gs_pool_window *w)
{
    enum { LITTLE = 16 };
    struct gs_rangeset kept = {0};
    const int err = gs_rangeset_rest(&w->valid, &w->root->overwritten, &kept);
    const uint64_t bytes = gs_rangeset_bytes(&kept);
    gs_rangeset_free(&kept);
    return !err && bytes * LITTLE <= w->range.end - w->range.begin;
}

/* The device's window that goes first, of those not about to be used: one worth little, or the one used longest ago. */
static struct gs_pool_window *oldest(unsigned device)
{
    struct gs_pool_window *found = NULL;
    bool found_empty = false;
    for (struct gs_pool_root *r = store.roots; r; r = r->next)
        for (struct gs_pool_window *w = r->windows; w; w = w->next) {
            if (w->device != device || is_pinned(w))
                continue;
            const bool empty = is_nearly_worthless(w);
            if (found && (empty < found_empty || (empty == found_empty && w->used >= found->used)))
                continue;
            found = w;
            found_empty = empty;
        }
    return found;
}

/* Drivers may allocate when a device first uses an object: that happens here, where a refusal can be dealt with. */
static cl_mem allocate(const struct gs_pool_root *r, unsigned device, uint64_t bytes, cl_int *err)
{
    char nothing[16] = {0};
    const cl_context ctx = r->ctx->o.handle;
    cl_mem mem = r->image
                     ? gs_real()->clCreateImage(ctx, CL_MEM_READ_WRITE, &r->image->format, &r->image->desc, NULL, err)
                     : gs_real()->clCreateBuffer(ctx, CL_MEM_READ_WRITE, bytes, NULL, err);
    const cl_command_queue queue = *err ? NULL : gs_pool_queue(r->ctx, device, GS_POOL_TO_DEVICE, err);
    struct gs_op touch = gs_op_write(mem, 0, 1, nothing);
    cl_event end = NULL;
    touch.kind = r->image ? GS_OP_WRITE_IMAGE : GS_OP_WRITE;
    touch.blocking = !gs_put_now();
    if (!*err)
        *err = gs_put(queue, &touch, GS_VIA_HOST, 0, NULL, &end);
    if (!*err && gs_real()->clWaitForEvents(1, &end) != CL_SUCCESS)
        *err = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    GS_RELEASE(Event, end);
    if (*err && mem)
        gs_real()->clReleaseMemObject(mem);
    return *err ? NULL : mem;
}

/* Allocates, trying again if the driver refuses: a driver may free memory a moment after its last use. */
static cl_mem allocate_patiently(const struct gs_pool_root *r, unsigned device, uint64_t bytes, unsigned tries,
                                 cl_int *err)
{
    const struct timespec pause = {0, 1000000};
    cl_mem mem = allocate(r, device, bytes, err);
    for (unsigned i = 1; i < tries && !mem; i++) {
        nanosleep(&pause, NULL);
        mem = allocate(r, device, bytes, err);
    }
    return mem;
}

/* The device's windows that hold nothing are windows no more. */
static void leave_empty(unsigned device)
{
    for (struct gs_pool_root *r = store.roots; r; r = r->next)
        for (struct gs_pool_window *w = r->windows, *next; w; w = next) {
            next = w->next;
            if (w->device == device && !w->valid.n && !is_pinned(w))
                take_out(w, &store.left);
        }
}

/* Making and releasing memory took a seventh of a step that evicts (docs/memory.md). */
static cl_mem take_left(const struct gs_pool_root *r, unsigned device, uint64_t *bytes)
{
    enum { SLACK = 16 };
    struct gs_pool_window **at = &store.left, *w;
    while ((w = *at) != NULL &&
           (w->root->ctx != r->ctx || w->root->image || w->device != device || w->bytes < *bytes ||
            w->bytes - *bytes > *bytes / SLACK || store.used[device] + w->bytes > space_of(device)))
        at = &w->next;
    if (!w || r->image)
        return NULL;
    const cl_mem mem = w->mem;
    *bytes = w->bytes;
    *at = w->next;
    w->mem = NULL;
    free_window(w);
    return mem;
}

static struct gs_pool_window *add_window(struct gs_pool_root *r, unsigned device, struct gs_range pages, uint64_t bytes,
                                         cl_mem mem)
{
    struct gs_pool_window *w = calloc(1, sizeof *w);
    if (!w) {
        gs_real()->clReleaseMemObject(mem);
        return NULL;
    }
    *w = (struct gs_pool_window){.next = r->windows,
                                 .root = r,
                                 .device = device,
                                 .mem = mem,
                                 .bytes = bytes,
                                 .range = pages,
                                 .used = store.round};
    r->windows = w;
    store.used[device] += bytes;
    gs_memory_used(device, (int64_t)bytes);
    gs_report_holds(device, store.used[device], space_of(device));
    return w;
}

static bool may_be_made(unsigned device, struct gs_range pages)
{
    return pages.end - pages.begin <= most_at_once(device);
}

/* A new window for bytes that leave a device, on a device with room that the launch doesn't use. Null: none. */
static struct gs_pool_window *find_refuge(struct gs_pool_root *r, const struct gs_rangeset *bytes)
{
    const struct gs_range pages =
        gs_pool_pages(r->size, (struct gs_range){bytes->v[0].begin, bytes->v[bytes->n - 1].end});
    for (unsigned d = 0; d < gs_group()->n; d++) {
        uint64_t n = pages.end - pages.begin;
        cl_int err;
        if (store.busy >> d & 1 || !may_be_made(d, pages))
            continue;
        if (store.used[d] + n > space_of(d))
            leave_empty(d);
        cl_mem mem = take_left(r, d, &n);
        if (!mem && store.used[d] + n <= space_of(d)) {
            free_left(d);
            mem = allocate(r, d, n, &err);
        }
        if (mem)
            return add_window(r, d, pages, n, mem);
    }
    return NULL;
}

/* Sends bytes that only this window holds to another device or to the host; not bytes that later commands overwrite
 * unread. The window is no longer one, but its memory stays until gs_pool_await. */
static cl_int send_away(struct gs_pool_window *w)
{
    struct gs_pool_root *r = w->root;
    struct gs_rangeset only_here = {0};
    cl_int err = gs_pool_error(gs_rangeset_rest(&w->valid, &r->overwritten, &only_here));
    err = err ? err : gs_pool_error(gs_rangeset_remove_set(&only_here, &r->valid));
    for (const struct gs_pool_window *v = r->windows; v && !err; v = v->next)
        if (v != w)
            err = gs_pool_error(gs_rangeset_remove_set(&only_here, &v->valid));
    struct gs_pool_window *refuge = err || !only_here.n ? NULL : find_refuge(r, &only_here);
    for (size_t i = 0; i < only_here.n && !err; i++)
        err = refuge ? to_other_device(w, only_here.v[i], refuge) : to_host(w, only_here.v[i], NULL);
    if (!err && refuge)
        err = gs_pool_error(gs_rangeset_copy(&refuge->valid, &only_here));
    if (!err) {
        gs_report_moved(GS_POOL_EVICTED, refuge ? 0 : gs_rangeset_bytes(&only_here));
        take_out(w, &store.leaving);
    }
    gs_rangeset_free(&only_here);
    return err;
}

cl_int gs_pool_clear(unsigned device)
{
    struct gs_pool_window *w;
    cl_int err = CL_SUCCESS;
    for (struct gs_pool_root *r = store.roots; r; r = r->next)
        for (w = r->windows; w; w = w->next)
            w->used = w->device == device ? 0 : w->used;
    store.reserved[device] = 0;
    while (!err && (w = oldest(device)) != NULL)
        err = send_away(w);
    const cl_int settled = gs_pool_await();
    return err ? err : settled;
}

static cl_mem allocate_with_room(const struct gs_pool_root *r, unsigned device, uint64_t bytes, bool patient,
                                 cl_int *err)
{
    enum { FEW_TRIES = 5, MANY_TRIES = 2000 };
    const uint64_t space = space_of(device);
    free_left(device);
    for (;;) {
        struct gs_pool_window *old = oldest(device);
        cl_mem mem = NULL;
        *err = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        if (store.used[device] + bytes <= space)
            mem = allocate_patiently(r, device, bytes, old || !patient ? FEW_TRIES : MANY_TRIES, err);
        if (mem)
            return mem;
        if (!old)
            return NULL;
        *err = send_away(old);
        const cl_int settled = gs_pool_await();
        if (*err || (*err = settled) != CL_SUCCESS)
            return NULL;
        free_left(device);
    }
}

struct gs_pool_window *gs_pool_window_of(struct gs_pool_root *r, unsigned device, struct gs_range range)
{
    struct gs_pool_window *w = r->windows;
    while (w && (w->device != device || range.begin < w->range.begin || range.end > w->range.end))
        w = w->next;
    return w;
}

/* A new window for the range holds more on both sides, for the rows beside (a stencil); or else the range. */
static struct gs_range new_range(const struct gs_pool_root *r, unsigned device, struct gs_range range, uint64_t spare)
{
    enum { SHARE = 64, LEAST = 2 * GS_POOL_PAGE };
    const struct gs_range pages = gs_pool_pages(r->size, range);
    const uint64_t bytes = pages.end - pages.begin,
                   more = bytes / SHARE > LEAST ? bytes / SHARE / GS_POOL_PAGE * GS_POOL_PAGE : LEAST;
    struct gs_range wide = pages;
    wide.begin -= more < wide.begin ? more : wide.begin;
    wide.end += more;
    wide = gs_pool_pages(r->size, wide);
    return 2 * more <= spare && may_be_made(device, wide) ? wide : pages;
}

cl_int gs_pool_make_way(struct gs_pool_root *r, unsigned device, struct gs_range range, uint64_t spare,
                        struct gs_range *pages)
{
    struct gs_pool_window *there = gs_pool_window_of(r, device, range), *w;
    cl_int err = CL_SUCCESS;
    *pages = there ? there->range : new_range(r, device, range, spare);
    if (there)
        there->used = store.round;
    else
        store.reserved[device] += pages->end - pages->begin;
    while (!err && store.used[device] + store.reserved[device] > space_of(device) && (w = oldest(device)) != NULL)
        err = send_away(w);
    return err;
}

cl_int gs_pool_window(struct gs_pool_root *r, unsigned device, struct gs_range pages, bool patient,
                      struct gs_pool_window **out)
{
    struct gs_pool_window *w = gs_pool_window_of(r, device, pages);
    cl_int err = CL_SUCCESS;
    if (!w) {
        uint64_t bytes = pages.end - pages.begin;
        store.reserved[device] -= bytes;
        cl_mem mem = take_left(r, device, &bytes);
        if (!mem)
            mem = allocate_with_room(r, device, bytes, patient, &err);
        if (!mem)
            return err;
        w = add_window(r, device, pages, bytes, mem);
        if (!w)
            return CL_OUT_OF_HOST_MEMORY;
    }
    w->used = store.round;
    *out = w;
    return CL_SUCCESS;
}

uint64_t gs_pool_round_begin(unsigned devices)
{
    memset(store.reserved, 0, sizeof store.reserved);
    store.busy = devices;
    return ++store.round;
}

void gs_pool_round_end(uint64_t round)
{
    store.ended = round > store.ended ? round : store.ended;
}
