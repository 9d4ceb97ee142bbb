/* SPDX-License-Identifier: MIT */
#include "shim/staging/pinned_memory.h"

#include "common/lock/rank.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/log.h"
#include "shim/process/threads.h"
#include "shim/staging/prefault.h"
#include "shim/driver/enqueue.h"

enum { HUGE_PAGE = 2 * 1024 * 1024, LEAST_OWN = 8 * 1024 * 1024, MAKERS = 4 };

/* Memory of ours under a buffer, until the driver has let go of that. */
struct own {
    void *at;
    size_t bytes;
};

static void give_back(struct own *own)
{
    munmap(own->at, own->bytes);
    free(own);
}

static void CL_CALLBACK no_longer_used(cl_mem buffer, void *own)
{
    (void)buffer;
    give_back(own);
}

/* A share of it, of which each page is to be there. */
struct share {
    char *begin;
    size_t bytes;
    pthread_t maker;
    bool made;
};

static void *make_share(void *arg)
{
    const struct share *s = arg;
    gs_prefault_make(s->begin, s->bytes);
    return NULL;
}

static void make_pages(char *begin, size_t bytes)
{
    struct share share[MAKERS];
    const size_t each = bytes / MAKERS / HUGE_PAGE * HUGE_PAGE;
    for (unsigned i = 0; i < MAKERS; i++) {
        share[i] = (struct share){.begin = begin + i * each, .bytes = i + 1 < MAKERS ? each : bytes - i * each};
        share[i].made = i + 1 < MAKERS && gs_threads_start("gs-pages", &share[i].maker, make_share, &share[i]);
        if (!share[i].made)
            make_share(&share[i]);
    }
    for (unsigned i = 0; i < MAKERS; i++)
        if (share[i].made)
            pthread_join(share[i].maker, NULL);
}

static struct own *take_own(size_t bytes, void **begin)
{
    struct own *own = malloc(sizeof *own);
    if (!own)
        return NULL;
    own->bytes = bytes + HUGE_PAGE;
    own->at = mmap(NULL, own->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (own->at == MAP_FAILED) {
        free(own);
        return NULL;
    }
    *begin = (char *)own->at + (HUGE_PAGE - (uintptr_t)own->at % HUGE_PAGE) % HUGE_PAGE;
    madvise(own->at, own->bytes, MADV_DONTFORK); /* no device writes to a child's copy */
    gs_prefault_prepare(*begin, bytes, GS_PREFAULT_LOOKS);
    make_pages(*begin, bytes);
    return own;
}

/* Of huge pages, where the system has them, which are there before the driver pins them: what it has to do itself, with
 * its lock held, takes 3.4 ms of 64 MiB on an H200's host, where it takes 28 to 40 to find memory of its own and map
 * it. Nothing ever stands in the buffer, so that it needn't be mapped. */
static bool make_own(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes)
{
    cl_int err;
    void *begin;
    if (!(gs_group()->type & CL_DEVICE_TYPE_GPU) || bytes < LEAST_OWN || !gs_real()->clSetMemObjectDestructorCallback)
        return false;
    struct own *own = take_own(bytes, &begin);
    cl_mem buffer =
        own ? gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, begin, &err)
            : NULL;
    if (buffer && gs_real()->clSetMemObjectDestructorCallback(buffer, no_longer_used, own) == CL_SUCCESS) {
        m->buffer = buffer;
        m->base = begin;
        return true;
    }
    if (buffer)
        gs_real()->clReleaseMemObject(buffer);
    if (own)
        give_back(own);
    return false;
}

/* A map of the remote driver's fetches all that it maps, to be read or not. */
static cl_int make_plain(struct gs_pinned_memory *m, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return CL_OUT_OF_HOST_MEMORY;
    m->base = at;
    m->plain_bytes = bytes;
    return CL_SUCCESS;
}

cl_int gs_pinned_memory_make(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, bool waits)
{
    cl_int err;
    *m = (struct gs_pinned_memory){0};
    if (gs_group()->remote)
        return make_plain(m, bytes);
    m->buffer = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &err);
    if (!err)
        m->queue = gs_real()->clCreateCommandQueue(ctx->o.handle, ctx->dev[0], 0, &err);
    void *base = NULL;
    const struct gs_op map = {.kind = GS_OP_MAP_BUFFER,
                              .blocking = waits,
                              .src = m->buffer,
                              .region = {bytes, 1, 1},
                              .map_flags = CL_MAP_READ | CL_MAP_WRITE,
                              .mapped = &base};
    GS_MAY_WAIT("memory that is pinned once");
    if (!err)
        err = gs_enqueue(&map, m->queue, 0, NULL, waits ? NULL : &m->mapped);
    GS_MAY_WAIT_NO_MORE();
    m->base = base;
    if (!err && !waits)
        gs_real()->clFlush(m->queue);
    if (!err)
        return CL_SUCCESS;
    gs_debug("no pinned memory of %zu bytes could be had (error %d)", bytes, err);
    m->base = NULL;
    m->mapped = NULL;
    gs_pinned_memory_free(m);
    return err;
}

cl_int gs_pinned_memory_take(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, bool waits)
{
    *m = (struct gs_pinned_memory){0};
    return !gs_group()->remote && make_own(m, ctx, bytes) ? CL_SUCCESS : gs_pinned_memory_make(m, ctx, bytes, waits);
}

static void CL_CALLBACK release(cl_event event, cl_int status, void *unused)
{
    (void)status, (void)unused;
    gs_real()->clReleaseEvent(event);
}

/* Once these have ended. It has an event for as long: PoCL 3.1 ends the process where a command without one has to fail
 * as one that it waits for does. */
static cl_int unmap(const struct gs_pinned_memory *m, const struct gs_events *uses)
{
    cl_event event;
    const cl_int err = gs_enqueue(&(struct gs_op){.kind = GS_OP_UNMAP, .dst = m->buffer, .ptr = m->base}, m->queue,
                                  uses->n, uses->v, &event);
    if (!err)
        gs_real()->clSetEventCallback(event, CL_COMPLETE, release, NULL);
    return err;
}

void gs_pinned_memory_give(struct gs_pinned_memory *m, const struct gs_events *uses)
{
    const bool mapped = m->base && m->queue;
    if ((mapped && unmap(m, uses) != CL_SUCCESS && uses->n) || (!mapped && uses->n))
        return; /* with the process */
    if (m->mapped)
        gs_real()->clReleaseEvent(m->mapped);
    if (m->queue)
        gs_real()->clReleaseCommandQueue(m->queue);
    if (m->buffer)
        gs_real()->clReleaseMemObject(m->buffer);
    if (m->plain_bytes)
        munmap(m->base, m->plain_bytes);
    *m = (struct gs_pinned_memory){0};
}

void gs_pinned_memory_free(struct gs_pinned_memory *m)
{
    gs_pinned_memory_give(m, &(const struct gs_events){0});
}
