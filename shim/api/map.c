/* SPDX-License-Identifier: MIT */
/* Specification, section 5.5.2 and 5.5.3: mapping and unmapping. What is mapped is home's. */
#include <string.h>

#include "shim/api/transfer.h"
#include "shim/memory/mapped.h"
#include "shim/memory/transfer.h"
#include "shim/report/watch.h"

/* What is mapped so: from now on the host may write at any time, until the unmapping. With the context's lock held.
 * NULL: no memory. */
static struct gs_mapping *remember(struct gs_mem *m, const struct gs_mapping *what, cl_map_flags flags)
{
    struct gs_mapping *map = malloc(sizeof *map);
    if (!map)
        return NULL;
    *map = *what;
    map->write = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
    map->next = m->mappings;
    m->mappings = map;
    if (map->write) {
        m->root->write_mappings++;
        gs_note_write(m->root, 0, map->range);
    }
    return map;
}

static void forget_mapping(struct gs_mem *m, struct gs_mapping *map)
{
    struct gs_mapping **at = &m->mappings;
    while (*at != map)
        at = &(*at)->next;
    *at = map->next;
    if (map->write)
        m->root->write_mappings--;
    free(map);
}

/* Around a call of the driver that blocks until the range is mapped, and that is made without the lock. */
static struct gs_mapping *open_map(struct gs_home *h, struct gs_mem *m, struct gs_range r, cl_map_flags flags)
{
    struct gs_mapping *map = remember(m, &(struct gs_mapping){.range = r}, flags);
    pthread_mutex_unlock(&h->cmd.ctx->lock);
    return map;
}

static void close_map(struct gs_home *h, struct gs_mem *m, struct gs_mapping *map, void *ptr, cl_int err)
{
    pthread_mutex_lock(&h->cmd.ctx->lock);
    if (!map)
        return;
    map->ptr = ptr;
    if (err)
        forget_mapping(m, map);
    else if (map->write)
        gs_home_wrote_again(m, map->range);
}

/* Applications map so many bytes where they mean so many numbers, and read on behind them. Where the driver maps the
 * object's own memory they find what is there, so a small object comes home whole. */
static bool is_read_beyond(const struct gs_mem *m, cl_map_flags flags)
{
    enum { SMALL_BYTES = 256 << 10 };
    return flags & CL_MAP_READ && !m->is_image && m->size <= SMALL_BYTES;
}

/* Brings the range home; the application's map waits for it. With a blocking map, `wait` gives the driver's wait list.
 */
static cl_int prepare(struct gs_home *h, const struct gs_command *cmd, struct gs_mem *m, struct gs_range r,
                      cl_map_flags flags)
{
    gs_home_begin(h, cmd, flags & CL_MAP_READ);
    if (flags & CL_MAP_WRITE_INVALIDATE_REGION)
        gs_home_claim(h, m);
    else
        gs_home_need(h, m, is_read_beyond(m, flags) ? gs_window_range(m, 0, m->size) : r);
    return gs_home_ready(h);
}

static cl_int given(struct gs_home *h, cl_map_flags flags, cl_int err, cl_event own)
{
    if (h->by_units && flags & CL_MAP_READ)
        gs_job_reads();
    return gs_home_given(h, err, own);
}

/* ---- maps that are ours ---- */

/* Is the map to be ours, because it is more than a unit of the link, and has it been enqueued? *ptr and *own are its
 * memory and its event then. */
static bool map_ours(struct gs_home *h, struct gs_mem *m, void **ptr, cl_event *own)
{
    struct gs_queue *q = h->cmd.q;
    const cl_map_flags flags = h->cmd.op.map_flags;
    const size_t offset = h->cmd.op.from[0], size = h->cmd.op.region[0];
    if (!h->by_units || size <= h->put.job.transfer_chunk || q->o.ctx != m->root->o.ctx ||
        !gs_list_is_sound(h->n, h->v) || !gs_mapped_possible(m, flags))
        return false;
    struct gs_events ready = {0};
    *ptr = gs_mapped_at(m, offset, &ready);
    cl_int err = *ptr ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!err)
        err = gs_events_share_all(&h->extra, &ready);
    gs_events_free(&ready);
    if (!err)
        err = gs_home_ready(h);
    if (err)
        return false;
    if (flags & CL_MAP_READ)
        gs_job_reads();
    const struct gs_op op = gs_op_read(m->o.handle, offset, size, *ptr);
    err = flags == CL_MAP_WRITE_INVALIDATE_REGION ? gs_home_mark(h, CL_COMMAND_MAP_BUFFER, own)
                                                  : gs_home_run(h, q->o.handle, &op, CL_COMMAND_MAP_BUFFER, own);
    return err == CL_SUCCESS;
}

/* What of an image is to be mapped. False: the driver is to say what is wrong. */
static bool lay_out(struct gs_mapping *map, const struct gs_mem *m, const size_t *origin, const size_t *region,
                    const size_t *row_pitch, const size_t *slice_pitch)
{
    size_t all[3];
    if (!origin || !region || !row_pitch || (m->band_dim == 2 && !slice_pitch))
        return false;
    gs_image_bytes(m, all);
    for (int d = 0; d < 3; d++) {
        if (!region[d] || origin[d] >= all[d] || region[d] > all[d] - origin[d])
            return false;
        map->origin[d] = origin[d];
        map->region[d] = region[d];
    }
    return true;
}

/* A map's read or write, in units. */
static struct gs_op op_of_image(const struct gs_mem *m, const struct gs_mapping *map, bool write)
{
    const size_t none[3] = {0}, slice = m->band_dim == 2 ? map->pitch[1] : 0;
    struct gs_op op = {.kind = write ? GS_OP_WRITE_IMAGE : GS_OP_READ_IMAGE, .ptr = map->ptr};
    size_t *pitch = write ? op.from_pitch : op.to_pitch;
    *(write ? &op.dst : &op.src) = m->o.handle;
    pitch[0] = map->pitch[0];
    pitch[1] = slice;
    gs_set_box(&op, write ? none : map->origin, write ? map->origin : none, map->region);
    return op;
}

static cl_int run_image(struct gs_home *h, const struct gs_op *op, cl_command_type type, cl_event *own)
{
    cl_command_queue queue = gs_home_image_queue(h);
    cl_int err = h->err;
    if (!err)
        err = gs_home_run(h, queue, op, type, own);
    return gs_home_image_finish(h, err, type, own);
}

/* Is the map of an image to be ours, because it is more than a unit of the link, and has it been enqueued? `map` says
 * what of it, and then where it lies. */
static bool map_image_ours(struct gs_home *h, struct gs_mem *m, cl_map_flags flags, struct gs_mapping *map,
                           cl_event *own)
{
    struct gs_events ready = {0};
    struct gs_cut cut;
    if (!h->by_units || h->cmd.ctx != m->o.ctx || !gs_list_is_sound(h->n, h->v) || !gs_mapped_image_possible(m, flags))
        return false;
    map->ptr = gs_mapped_image_at(m, map->origin, map->pitch, &ready);
    cl_int err = map->ptr ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!err)
        err = gs_events_share_all(&h->extra, &ready);
    gs_events_free(&ready);
    const struct gs_op op = op_of_image(m, map, false);
    if (err)
        return false;
    gs_op_cut(&op, gs_put_chunk(&h->put, &op), &cut);
    if (cut.n == 1 || gs_home_ready(h) != CL_SUCCESS)
        return false;
    if (flags == CL_MAP_WRITE_INVALIDATE_REGION)
        return gs_home_mark(h, CL_COMMAND_MAP_IMAGE, own) == CL_SUCCESS;
    return run_image(h, &op, CL_COMMAND_MAP_IMAGE, own) == CL_SUCCESS;
}

/* One that has failed while the application waited for it is none. */
static void map_failed(struct gs_context *ctx, struct gs_mem *m, const void *ptr)
{
    GS_LOCKED(&ctx->lock);
    struct gs_mapping *map = m->mappings;
    while (map && (map->ptr != ptr || !map->ours))
        map = map->next;
    if (map)
        forget_mapping(m, map);
}

/* What was mapped for writing goes to the object; what was not stays as it is. */
static cl_int unmap_ours(struct gs_home *h, struct gs_mem *m, const struct gs_mapping *map, cl_event *own)
{
    const size_t offset = (size_t)(map->range.begin - m->origin), size = (size_t)(map->range.end - map->range.begin);
    const struct gs_op op = gs_op_write(m->o.handle, offset, size, map->ptr);
    if (!map->write)
        return gs_home_mark(h, CL_COMMAND_UNMAP_MEM_OBJECT, own);
    gs_home_claim(h, m);
    const cl_int err = gs_home_ready(h);
    if (!err && m->is_image) {
        const struct gs_op texels = op_of_image(m, map, true);
        return run_image(h, &texels, CL_COMMAND_UNMAP_MEM_OBJECT, own);
    }
    return err ? err : gs_home_run(h, h->cmd.q->o.handle, &op, CL_COMMAND_UNMAP_MEM_OBJECT, own);
}

/* ---- the calls ---- */

static void *hand_out(void *ptr, cl_int err, cl_int *errcode_ret)
{
    gs_set_error(errcode_ret, err);
    return err ? NULL : ptr;
}

/* As the driver does it. */
static void *map_plainly(const struct gs_command *cmd, cl_int *errcode_ret)
{
    const cl_int err = gs_command_pass(cmd);
    return hand_out(*cmd->op.mapped, err, errcode_ret);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map,
                                                  cl_map_flags map_flags, size_t offset, size_t size,
                                                  cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                  cl_event *event, cl_int *errcode_ret)
{
    GS_CALL("clEnqueueMapBuffer");
    void *ptr = NULL;
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_MAP_BUFFER, .blocking = blocking_map, .src = buffer, .from = {offset},
                   .region = {size, 1, 1}, .map_flags = map_flags, .mapped = &ptr);
    struct gs_mem *m = gs_command_begin(&cmd, false) ? gs_find(GS_MEM, buffer) : NULL;
    if (!m || !gs_inside(m, offset, size))
        return map_plainly(&cmd, errcode_ret);
    const struct gs_range r = gs_window_range(m, offset, size);
    struct gs_op once = cmd.op;
    struct gs_home h;
    cl_event own;
    cl_int err = prepare(&h, &cmd, m, r, map_flags);
    const bool ours = !err && map_ours(&h, m, &ptr, &own);
    if (!err && !ours && blocking_map && !h.by_units) {
        struct gs_mapping *map = open_map(&h, m, r, map_flags);
        err = gs_enqueue(&cmd.op, command_queue, h.n, h.v, event);
        close_map(&h, m, map, ptr, err);
        return hand_out(ptr, gs_home_end(&h, err), errcode_ret);
    }
    once.blocking = CL_FALSE;
    if (!err && !ours) {
        gs_home_hold(&h, command_queue);
        err = gs_enqueue(&once, command_queue, h.n, h.v, &own);
        err = given(&h, map_flags, err, own);
    }
    const struct gs_mapping what = {.ptr = ptr, .range = r, .ours = ours};
    if ((err || !remember(m, &what, map_flags)) && ours)
        err = CL_OUT_OF_HOST_MEMORY;
    err = gs_home_wait(&cmd, gs_home_end(&h, err), own);
    if (err && ours)
        map_failed(cmd.ctx, m, ptr);
    return hand_out(ptr, err, errcode_ret);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map,
                                                 cl_map_flags map_flags, const size_t *origin, const size_t *region,
                                                 size_t *image_row_pitch, size_t *image_slice_pitch,
                                                 cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                 cl_event *event, cl_int *errcode_ret)
{
    GS_CALL("clEnqueueMapImage");
    void *ptr = NULL;
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_MAP_IMAGE, .blocking = blocking_map, .src = image, .map_flags = map_flags,
                   .mapped = &ptr, .row_pitch = image_row_pitch, .slice_pitch = image_slice_pitch);
    gs_set_box(&cmd.op, origin, NULL, region);
    struct gs_mem *m = gs_command_begin(&cmd, true) ? gs_find(GS_MEM, image) : NULL;
    if (!m)
        return map_plainly(&cmd, errcode_ret);
    bool covers;
    const struct gs_range r = gs_image_range(m, origin, region, &covers);
    struct gs_op once = cmd.op;
    struct gs_home h;
    struct gs_mapping box = {.range = r};
    cl_event own = NULL;
    /* The region may be a part of its rows: the rest must be right. */
    cl_int err = prepare(&h, &cmd, m, r, map_flags & ~(cl_map_flags)CL_MAP_WRITE_INVALIDATE_REGION);
    if (!err && lay_out(&box, m, origin, region, image_row_pitch, image_slice_pitch) &&
        map_image_ours(&h, m, map_flags, &box, &own)) {
        if (map_flags & CL_MAP_READ)
            gs_job_reads();
        *image_row_pitch = box.pitch[0];
        if (image_slice_pitch)
            *image_slice_pitch = m->band_dim == 2 ? box.pitch[1] : 0;
        box.ours = true;
        err = remember(m, &box, map_flags) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
        err = gs_home_wait(&cmd, gs_home_end(&h, err), own);
        if (err)
            map_failed(cmd.ctx, m, box.ptr);
        return hand_out(box.ptr, err, errcode_ret);
    }
    cl_command_queue queue = err ? NULL : gs_home_image_queue(&h);
    err = h.err;
    if (!err && blocking_map && !h.by_units && !cmd.ctx->parent) {
        struct gs_mapping *map = open_map(&h, m, r, map_flags);
        err = gs_enqueue(&cmd.op, queue, h.n, h.v, event);
        close_map(&h, m, map, ptr, err);
        return hand_out(ptr, gs_home_end(&h, err), errcode_ret);
    }
    if (!err)
        gs_home_hold(&h, queue);
    once.blocking = CL_FALSE;
    if (!err)
        err = gs_enqueue(&once, queue, h.n, h.v, &own);
    err = given(&h, map_flags, err, own);
    if (!err)
        remember(m, &(struct gs_mapping){.ptr = ptr, .range = r}, map_flags);
    err = gs_home_image_finish(&h, err, CL_COMMAND_MAP_IMAGE, &own);
    err = gs_home_wait(&cmd, gs_home_end(&h, err), own);
    return hand_out(ptr, err, errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj, void *mapped_ptr,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_UNMAP, .dst = memobj, .ptr = mapped_ptr);
    struct gs_mem *m = gs_command_begin(&cmd, false) ? gs_find(GS_MEM, memobj) : NULL;
    if (!m)
        return gs_command_pass(&cmd);
    struct gs_home h;
    cl_event own, *out;
    cl_int err;
    gs_home_begin(&h, &cmd, true);
    struct gs_mapping *map = m->mappings;
    while (map && map->ptr != mapped_ptr)
        map = map->next;
    if (map && map->ours) {
        err = unmap_ours(&h, m, map, &own);
    } else {
        gs_home_hold(&h, command_queue);
        own = NULL;
        out = event || !h.held ? event : &own; /* the application's place where nobody else needs it */
        err = gs_enqueue(&cmd.op, command_queue, h.n, h.v, out);
        err = gs_home_given(&h, err, out ? *out : NULL);
        if (!err && own)
            gs_real()->clReleaseEvent(own);
    }
    const bool handed_out = !err && map && map->ours;
    if (!err && map && map->write)
        gs_home_wrote(&h, m, map->range);
    if (!err && map)
        forget_mapping(m, map);
    err = gs_home_end(&h, err);
    return handed_out ? gs_home_wait(&cmd, err, own) : err;
}
