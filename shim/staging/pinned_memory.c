/* SPDX-License-Identifier: MIT */
#include "shim/staging/staging.h"

#include <pthread.h>
#include <sys/mman.h>

#include "common/log.h"
#include "shim/process/threads.h"
#include "shim/staging/pool.h"

enum { HUGE_PAGE = 2 * 1024 * 1024, MAKERS = 4 };

/* A share of it, of which each page is to be there: a virtual machine's 64 MiB took one thread 70 ms. */
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
        share[i].made = i + 1 < MAKERS && each && gs_threads_start("gs-pages", &share[i].maker, make_share, &share[i]);
        if (!share[i].made)
            make_share(&share[i]);
    }
    for (unsigned i = 0; i < MAKERS; i++)
        if (share[i].made)
            pthread_join(share[i].maker, NULL);
}

/* Its pages are huge ones, where the system has them, and are there before the driver pins them: to pin 64 MiB then
 * takes 3.4 ms with the driver's lock held, on an H200's host; to allocate and map memory of the driver's takes 28 to
 * 40. */
static cl_int pin(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes)
{
    cl_int err;
    gs_prefault_prepare(m->base, bytes);
    make_pages(m->base, bytes);
    m->buffer = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, m->base, &err);
    return err;
}

cl_int gs_pinned_memory_make(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, bool shown)
{
    *m = (struct gs_pinned_memory){.map_bytes = bytes + HUGE_PAGE};
    m->map = mmap(NULL, m->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m->map == MAP_FAILED)
        return CL_OUT_OF_HOST_MEMORY;
    m->base = (char *)m->map + (HUGE_PAGE - (uintptr_t)m->map % HUGE_PAGE) % HUGE_PAGE;
    if (!shown)
        madvise(m->map, m->map_bytes, MADV_DONTFORK); /* no device writes to a child's copy */
    const bool pins = gs_group()->type & CL_DEVICE_TYPE_GPU && !gs_group()->remote;
    const cl_int err = pins ? pin(m, ctx, bytes) : CL_SUCCESS;
    if (!err)
        return CL_SUCCESS;
    gs_debug("no pinned memory of %zu bytes could be had (error %d)", bytes, err);
    gs_pinned_memory_free(m);
    return err;
}

void gs_pinned_memory_free(struct gs_pinned_memory *m)
{
    GS_RELEASE(MemObject, m->buffer);
    if (m->base)
        munmap(m->map, m->map_bytes);
    *m = (struct gs_pinned_memory){0};
}
