/* SPDX-License-Identifier: MIT */
#include "shim/transfer/host.h"

#include "shim/coherence.h"
#include "shim/transfer/transfer.h"

/* The bytes from `at` to `end`. */
static cl_int read_bytes(struct gs_command *cmd, const struct gs_mem *root, unsigned place, void *ptr, uint64_t at,
                         uint64_t end, const struct gs_events *wait, cl_event *event)
{
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, place, &err);
    return err ? err
               : gs_real()->clEnqueueReadBuffer(queue, root->place[place].mem, CL_FALSE, at, end - at, ptr, wait->n,
                                                wait->n ? wait->v : NULL, event);
}

/* The bands from `at` to `end` of those that begin with `first`. */
static cl_int read_bands(struct gs_command *cmd, const struct gs_mem *root, unsigned place,
                         const struct gs_image_read *to, uint64_t first, uint64_t at, uint64_t end,
                         const struct gs_events *wait, cl_event *event)
{
    cl_int err;
    size_t origin[3], region[3];
    cl_command_queue queue = gs_image_queue(cmd->q, place, &err);
    for (int d = 0; d < 3; d++) {
        origin[d] = to->origin[d];
        region[d] = to->region[d];
    }
    origin[root->band_dim] = (size_t)(at / root->band_bytes);
    region[root->band_dim] = (size_t)((end - at) / root->band_bytes);
    return err ? err
               : gs_real()->clEnqueueReadImage(queue, root->place[place].mem, CL_FALSE, origin, region, to->row_pitch,
                                               to->slice_pitch,
                                               (char *)to->ptr + (at - first) / root->band_bytes * to->band_pitch,
                                               wait->n, wait->n ? wait->v : NULL, event);
}

/* From whichever places hold it: of an image by bands, as `to` says; else to `ptr`. */
static cl_int read_all(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, const struct gs_image_read *to,
                       char *ptr, struct gs_events *done, unsigned device[], unsigned most)
{
    cl_int err = gs_command_order(cmd);
    gs_settle(root);
    if (!err)
        err = gs_sound(root, r);
    for (uint64_t at = r.begin; at < r.end && !err;) {
        uint64_t end;
        const unsigned place = gs_holder(root, (struct gs_range){at, r.end}, &end);
        cl_event event;
        struct gs_events wait = {0};
        if (to && end - at < root->band_bytes) /* what nobody has written may be anything */
            end = at + root->band_bytes;
        err = gs_ready_events(cmd, root, place, root, place, &wait);
        if (!err)
            err = to ? read_bands(cmd, root, place, to, r.begin, at, end, &wait, &event)
                     : read_bytes(cmd, root, place, ptr + (at - r.begin), at, end, &wait, &event);
        gs_events_free(&wait);
        if (!err && done->n < most)
            device[done->n] = place;
        if (!err)
            err = gs_events_add(done, event);
        at = end;
    }
    return err;
}

cl_int gs_host_read(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, void *ptr, struct gs_events *done,
                    unsigned device[], unsigned most)
{
    return read_all(cmd, root, r, NULL, ptr, done, device, most);
}

cl_int gs_host_read_image(struct gs_command *cmd, struct gs_mem *root, struct gs_range r,
                          const struct gs_image_read *to, struct gs_events *done, unsigned device[], unsigned most)
{
    return read_all(cmd, root, r, to, NULL, done, device, most);
}

/* Of what begins with `first`, that from `at` to `end`, on a place. */
static struct gs_staged part_of(const struct gs_mem *root, const struct gs_staged *t, unsigned place, uint64_t first,
                                uint64_t at, uint64_t end)
{
    const unsigned dim = t->image ? root->band_dim : 0;
    const uint64_t unit = t->image ? root->band_bytes : 1;
    const size_t pitch[3] = {t->element, t->host.row, t->host.slice};
    struct gs_staged p = *t;
    p.mem = root->place[place].mem;
    p.place = place;
    p.origin[dim] = (size_t)(at / unit);
    p.region[dim] = (size_t)((end - at) / unit);
    p.host.at += (at - first) / unit * pitch[dim];
    return p;
}

cl_int gs_host_places(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, const struct gs_staged *t,
                      struct gs_staged v[GS_HOST_PLACES], unsigned *n, struct gs_events *ready)
{
    bool used[GS_MAX_DEVICES] = {false};
    cl_int err = gs_command_order(cmd);
    gs_settle(root);
    if (!err)
        err = gs_sound(root, r);
    for (uint64_t at = r.begin, end; at < r.end && !err; at = end) {
        const unsigned place = gs_holder(root, (struct gs_range){at, r.end}, &end);
        if (end - at < root->band_bytes) /* what nobody has written may be anything */
            end = at + root->band_bytes;
        used[place] = true;
        if (*n == GS_HOST_PLACES)
            return CL_OUT_OF_RESOURCES;
        v[(*n)++] = part_of(root, t, place, r.begin, at, end);
    }
    for (cl_uint i = 0; i < cmd->before.n && !err; i++)
        err = gs_events_share(ready, cmd->before.v[i]);
    for (unsigned i = 0; i < cmd->ctx->n && !err; i++)
        if (used[i] && root->place[i].ready)
            err = gs_events_share(ready, root->place[i].ready);
    return err;
}
