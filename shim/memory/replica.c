/* SPDX-License-Identifier: MIT */
#include "shim/memory/replica.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/lock/rank.h"
#include "shim/memory/shared.h"
#include "shim/record/memory_used.h"

struct gs_range gs_window_range(const struct gs_mem *m, uint64_t offset, uint64_t bytes)
{
    if (m->root->is_image || m->is_image)
        return (struct gs_range){m->origin, m->origin + m->size};
    return (struct gs_range){m->origin + offset, m->origin + offset + bytes};
}

static cl_mem make_replica(struct gs_mem *root, cl_int *err)
{
    struct _cl_context *ctx = root->o.ctx->o.handle;
    const cl_mem_flags flags = CL_MEM_READ_WRITE;
    if (root->base)
        return gs_share_replica(root, err);
    if (!root->is_image)
        return gs_real()->clCreateBuffer(ctx, flags, root->size, NULL, err);
    cl_image_desc desc = root->desc;
    desc.image_row_pitch = desc.image_slice_pitch = 0;
    desc.mem_object = NULL;
    return gs_real()->clCreateImage(ctx, flags, &root->format, &desc, NULL, err);
}

/* A window of a root's replica. Of a place's windows those that overlap are let go in the opposite order of their
 * making: one that has been left waits for the newer ones. A new one of the same bytes takes its place. */
struct gs_place_window {
    struct gs_place_window *older;
    cl_mem mem;
    struct gs_range range;
    bool is_image, left;
};

static pthread_mutex_t windows_lock = PTHREAD_MUTEX_INITIALIZER; /* each root's lists */
GS_RANKED(windows_lock, GS_RANK_PLACE_WINDOWS);

static bool overlap(const struct gs_place_window *a, const struct gs_place_window *b)
{
    return a->range.begin < b->range.end && b->range.begin < a->range.end;
}

/* One that has been left, that no newer one stands before. */
static struct gs_place_window **next_to_go(struct gs_place_window **newest)
{
    for (struct gs_place_window **w = newest; *w; w = &(*w)->older) {
        const struct gs_place_window *before = *newest;
        while ((*w)->left && before != *w && !overlap(before, *w))
            before = before->older;
        if ((*w)->left && before == *w)
            return w;
    }
    return NULL;
}

void gs_window_leave(struct gs_mem *m, unsigned place)
{
    struct gs_place_window **newest = &m->root->place[place].made, **at;
    pthread_mutex_lock(&windows_lock);
    for (struct gs_place_window *w = *newest; w; w = w->older)
        if (w->mem == m->place[place].mem)
            w->left = true;
    while ((at = next_to_go(newest))) { /* under the lock: another thread's comes after it */
        struct gs_place_window *gone = *at;
        *at = gone->older;
        gs_real()->clReleaseMemObject(gone->mem);
        free(gone);
    }
    pthread_mutex_unlock(&windows_lock);
}

/* A buffer's, of the same bytes, that has been left. */
static cl_mem left_before(const struct gs_mem *m, struct gs_place_window *w)
{
    for (; w; w = w->older) {
        if (w->left && !w->is_image && w->range.begin == m->origin && w->range.end == m->origin + m->size) {
            w->left = false;
            return w->mem;
        }
    }
    return NULL;
}

static cl_mem window_anew(const struct gs_mem *m, cl_mem of, cl_int *err)
{
    if (m->is_image) {
        cl_image_desc desc = m->desc;
        desc.mem_object = of;
        return gs_real()->clCreateImage(m->o.ctx->o.handle, CL_MEM_READ_WRITE, &m->format, &desc, NULL, err);
    }
    const cl_buffer_region region = {m->origin, m->size};
    return gs_real()->clCreateSubBuffer(of, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, err);
}

/* The same window of the root's replica. */
static cl_mem make_window(const struct gs_mem *m, unsigned place, cl_int *err)
{
    struct gs_replica *of = &m->root->place[place];
    pthread_mutex_lock(&windows_lock);
    cl_mem mem = m->is_image ? NULL : left_before(m, of->made);
    struct gs_place_window *w = mem ? NULL : malloc(sizeof *w);
    if (!mem && !w)
        *err = CL_OUT_OF_HOST_MEMORY;
    if (w && (mem = window_anew(m, of->mem, err))) {
        *w = (struct gs_place_window){of->made, mem, {m->origin, m->origin + m->size}, m->is_image, false};
        of->made = w;
    } else {
        free(w);
    }
    pthread_mutex_unlock(&windows_lock);
    return mem;
}

cl_mem gs_replica_of(struct gs_mem *m, unsigned place, cl_int *err)
{
    *err = CL_SUCCESS;
    if (place == 0)
        return m->o.handle;
    struct gs_replica *r = &m->root->place[place];
    if (!r->mem) {
        r->mem = make_replica(m->root, err);
        if (r->mem && !m->root->base)
            gs_memory_used(place, (int64_t)m->root->size);
    }
    if (m == m->root || !r->mem)
        return r->mem;
    if (!m->place[place].mem)
        m->place[place].mem = make_window(m, place, err);
    return m->place[place].mem;
}

cl_int gs_replicas_make(struct gs_mem *root, const struct gs_need *w, unsigned n)
{
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < n && !err; i++)
        gs_replica_of(root, w[i].place, &err);
    return err;
}

void gs_busy_until(struct gs_mem *root, unsigned place, cl_event end)
{
    struct gs_replica *r = &root->place[place];
    if (gs_real()->clRetainEvent(end) != CL_SUCCESS)
        return;
    if (r->ready)
        gs_real()->clReleaseEvent(r->ready);
    r->ready = end;
}
