/* SPDX-License-Identifier: MIT */

#include "shim/memory/bytes.h"
#include "shim/memory/object.h"
#include "shim/client/client.h"

struct gs_range gs_window_range(const struct gs_mem *m, uint64_t offset, uint64_t bytes)
{
    if (m->root->image || m->image)
        return (struct gs_range){m->origin, m->origin + m->size};
    return (struct gs_range){m->origin + offset, m->origin + offset + bytes};
}

static cl_mem make_replica(struct gs_mem *root, cl_int *err)
{
    struct _cl_context *ctx = root->o.ctx->o.handle;
    const cl_mem_flags flags = CL_MEM_READ_WRITE;
    if (root->shared)
        return gs_share_replica(root, err);
    if (!root->image)
        return gs_real()->clCreateBuffer(ctx, flags, root->size, NULL, err);
    cl_image_desc desc = root->image->desc;
    desc.image_row_pitch = desc.image_slice_pitch = 0;
    desc.mem_object = NULL;
    return gs_real()->clCreateImage(ctx, flags, &root->image->format, &desc, NULL, err);
}

/* The same window of the root's replica. */
static cl_mem make_window(struct gs_mem *m, unsigned place, cl_int *err)
{
    const struct gs_window_form form = {.of = m->root->bytes->place[place].mem,
                                        .flags = CL_MEM_READ_WRITE,
                                        .range = {m->origin, m->origin + m->size},
                                        .format = m->image ? &m->image->format : NULL,
                                        .desc = m->image ? &m->image->desc : NULL};
    m->bytes->place[place].made = gs_window_make(m->root, place, &form, err);
    return m->bytes->place[place].made ? gs_window_mem(m->bytes->place[place].made) : NULL;
}

cl_mem gs_replica_of(struct gs_mem *m, unsigned place, cl_int *err)
{
    *err = CL_SUCCESS;
    if (place == 0)
        return m->o.handle;
    struct gs_replica *r = &m->root->bytes->place[place];
    if (!r->mem) {
        r->mem = make_replica(m->root, err);
        if (r->mem && !m->root->shared)
            gs_memory_used(place, (int64_t)m->root->size);
    }
    if (m == m->root || !r->mem)
        return r->mem;
    if (!m->bytes->place[place].mem)
        m->bytes->place[place].mem = make_window(m, place, err);
    return m->bytes->place[place].mem;
}

cl_mem gs_replica_at(const struct gs_mem *root, unsigned place)
{
    return root->bytes->place[place].mem;
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
    struct gs_replica *r = &root->bytes->place[place];
    if (gs_real()->clRetainEvent(end) != CL_SUCCESS)
        return;
    GS_RELEASE(Event, r->ready);
    r->ready = end;
}
