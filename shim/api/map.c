/* SPDX-License-Identifier: MIT */
/* Specification, section 5.5.2 and 5.5.3: mapping and unmapping. What is mapped is home's. */
#include "shim/api/home.h"
#include "shim/choose/timing.h"
#include "shim/events/gates.h"
#include "shim/order/completion.h"

/* From now on the host may write what is mapped so at any time, until the unmapping. With the context's lock held. */
static void remember(struct gs_mem *m, struct gs_mapping *map)
{
    map->next = m->mappings.newest;
    m->mappings.newest = map;
    if (map->write) {
        m->root->mappings.writes++;
        gs_note_write(m->root, 0, map->range);
    }
}

static void forget_mapping(struct gs_mem *m, struct gs_mapping *map)
{
    gs_mapping_take(m, map);
    if (map->write)
        m->root->mappings.writes--;
    free(map);
}

/* Null: no memory. */
static struct gs_mapping *new_mapping(const struct gs_mapping *what)
{
    struct gs_mapping *map = malloc(sizeof *map);
    if (map)
        *map = *what;
    return map;
}

/* Some applications map n bytes where they mean n numbers, and read on behind the map. Where the driver maps the
 * object's own memory, valid bytes are there; so a small object comes home whole. */
static bool is_read_beyond(const struct gs_mem *m, cl_map_flags flags)
{
    enum { SMALL_BYTES = 256 << 10 };
    return flags & CL_MAP_READ && !m->image && m->size <= SMALL_BYTES;
}

/* ---- maps that are ours ---- */

/* What of an image is to be mapped. False: the driver is to say what is wrong. */
static bool lay_out(struct gs_mapping *map, const struct gs_mem *m, const size_t *origin, const size_t *region,
                    const size_t *row_pitch, const size_t *slice_pitch)
{
    size_t all[3];
    if (!origin || !region || !row_pitch || (m->image->band_dim == 2 && !slice_pitch))
        return false;
    gs_image_bytes(m, all);
    memcpy(map->origin, origin, sizeof map->origin);
    memcpy(map->region, region, sizeof map->region);
    return gs_image_has_box(all, origin, region);
}

/* A map's read or write, in units. */
static struct gs_op op_of_image(const struct gs_mem *m, const struct gs_mapping *map, bool write)
{
    const size_t none[3] = {0}, slice = m->image->band_dim == 2 ? map->pitch[1] : 0;
    struct gs_op op = {.kind = write ? GS_OP_WRITE_IMAGE : GS_OP_READ_IMAGE, .ptr = map->ptr};
    size_t *pitch = write ? op.from_pitch : op.to_pitch;
    *(write ? &op.dst : &op.src) = m->o.handle;
    pitch[0] = map->pitch[0];
    pitch[1] = slice;
    op.texel = gs_image_element(m, map->origin, map->region);
    gs_set_box(&op, write ? none : map->origin, write ? map->origin : none, map->region);
    return op;
}

/* Finds the mapping's place in the host's memory, and the command that brings the bytes there. */
static struct gs_op lay_at(struct gs_mem *m, struct gs_mapping *map)
{
    const size_t offset = (size_t)(map->range.begin - m->origin);
    map->ptr = m->image ? gs_mapped_image_at(m, map->origin, map->pitch) : gs_mapped_at(m, offset);
    return m->image ? op_of_image(m, map, false)
                    : gs_op_read(m->o.handle, offset, (size_t)(map->range.end - map->range.begin), map->ptr);
}

/* Is the map ours, its bytes being more than a unit of the link, and has the read been enqueued? Sets map->ptr. */
static bool map_ours(struct gs_home *h, struct gs_mem *m, struct gs_mapping *map, cl_event *own)
{
    const cl_map_flags flags = h->cmd.op.map_flags;
    struct gs_cut cut;
    if (!h->cmd.units || !gs_list_is_valid(h->n, h->v) || !gs_mapped_usable(m, flags) ||
        (!m->image && h->cmd.op.region[0] <= h->job.transfer_chunk))
        return false;
    const struct gs_op op = lay_at(m, map);
    gs_op_cut(&op, gs_put_chunk(&h->cmd, &op), &cut);
    if (!map->ptr || cut.n == 1 || gs_home_ready(h) != CL_SUCCESS)
        return false;
    cl_int err;
    if (flags == CL_MAP_WRITE_INVALIDATE_REGION)
        err = gs_home_mark(h, own);
    else
        err = gs_home_run(h, &op, own);
    if (!err && flags & CL_MAP_READ)
        gs_job_reads();
    return !err;
}

/* Forgets a mapping whose read has failed while the application waited for the map. */
static void map_failed(struct gs_context *ctx, struct gs_mem *m, const void *ptr)
{
    GS_LOCKED(&ctx->lock);
    struct gs_mapping *map = m->mappings.newest;
    while (map && (map->ptr != ptr || !map->ours))
        map = map->next;
    if (map)
        forget_mapping(m, map);
}

static void unmapped(cl_event end, cl_int status, void *root)
{
    (void)end, (void)status;
    gs_gate_waits(gs_drop, root, true);
}

/* Bytes that were mapped for writing go to the object; a mapping for reading changes nothing. */
static cl_int unmap_ours(struct gs_home *h, struct gs_mem *m, const struct gs_mapping *map, cl_event *own)
{
    const size_t offset = (size_t)(map->range.begin - m->origin), size = (size_t)(map->range.end - map->range.begin);
    const struct gs_op op = m->image ? op_of_image(m, map, true) : gs_op_write(m->o.handle, offset, size, map->ptr);
    if (!map->write)
        return gs_home_mark(h, own);
    gs_home_need(h, m, (struct gs_range){0, 0});
    cl_int err = gs_home_ready(h);
    err = err ? err : gs_home_run(h, &op, own);
    if (!err) { /* the application may release the object now, and the driver reads our memory until the end */
        gs_hold(&m->root->o);
        gs_await_end(*own, NULL, NULL, unmapped, m->root); /* false, without memory: it stays for good */
    }
    return err;
}

/* ---- the calls ---- */

static void *hand_out(void *ptr, cl_int err, cl_int *errcode_ret)
{
    gs_set_error(errcode_ret, err);
    return err ? NULL : ptr;
}

/* Maps by the driver. */
static void *map_plainly(const struct gs_command *cmd, cl_int *errcode_ret)
{
    const cl_int err = gs_command_pass(cmd);
    if (cmd->op.blocking)
        gs_timing_waited();
    return hand_out(*cmd->op.mapped, err, errcode_ret);
}

static cl_int map_by_driver(struct gs_home *h, cl_event *own)
{
    struct gs_op once = h->cmd.op;
    once.blocking = CL_FALSE;
    const cl_int err = gs_home_run(h, &once, own);
    if (h->cmd.units && once.map_flags & CL_MAP_READ)
        gs_job_reads();
    return err;
}

/* By the driver, without the context's lock. The mapping is noted before, as the host may write at once. */
static cl_int map_blocking(const struct gs_command *cmd, struct gs_mem *m, struct gs_mapping *map, cl_uint n,
                           const cl_event *v)
{
    remember(m, map);
    struct gs_side use = {.m = m, .range = map->range};
    const cl_int err = gs_call_unlocked(cmd, &use, n, v);
    map->ptr = *cmd->op.mapped;
    if (err)
        forget_mapping(m, map);
    else if (map->write)
        gs_note_write_again(m->root, map->range);
    return err;
}

/* map_blocking, if there is no daemon and all bytes of the context have always been at home. False: nothing was done.
 * Without this function a map of 4 bytes took 0.97 us more than the driver's own, with it 0.31 (an H200). */
static bool map_at_home(const struct gs_command *cmd, struct gs_mem *m, const struct gs_mapping *what, cl_int *err)
{
    struct gs_context *ctx = cmd->ctx;
    if (!cmd->op.blocking || gs_scheduled() || cmd->op.kind == GS_OP_MAP_IMAGE || m->root->shared)
        return false;
    gs_queue_lock(cmd->q);
    const bool stays = !atomic_load(&ctx->spread);
    struct gs_mapping *map = stays ? new_mapping(what) : NULL;
    *err = map ? map_blocking(cmd, m, map, cmd->n_wait, cmd->wait) : CL_OUT_OF_HOST_MEMORY;
    gs_mem_unlock(ctx, m);
    return stays;
}

/* Can the driver's map wait without the context's lock? */
static bool may_wait_unlocked(const struct gs_home *h, const struct gs_mem *m, struct gs_range mapped)
{
    const struct gs_op *op = &h->cmd.op;
    return op->blocking && !h->cmd.units && !(op->kind == GS_OP_MAP_IMAGE && gs_group()->parent) &&
           !gs_home_is_invalid(m->root, mapped);
}

/* `may_be_ours`: the driver would take it. `needs`: the flags as far as bytes have to come home. */
static void *map_object(struct gs_command *cmd, struct gs_mem *m, struct gs_mapping *what, bool may_be_ours,
                        cl_map_flags needs, cl_int *errcode_ret)
{
    const struct gs_range none = {0, 0}, all = gs_window_range(m, 0, m->size);
    struct gs_home h;
    cl_event own = NULL;
    cl_int err = CL_INVALID_OPERATION;
    what->write = cmd->op.map_flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
    if (!gs_host_may(m, cmd->op.map_flags) || map_at_home(cmd, m, what, &err))
        return hand_out(*cmd->op.mapped, err, errcode_ret);
    gs_home_begin(&h, cmd, needs & CL_MAP_READ);
    gs_home_need(&h, m, needs & CL_MAP_WRITE_INVALIDATE_REGION ? none : is_read_beyond(m, needs) ? all : what->range);
    err = gs_home_ready(&h);
    struct gs_mapping *map = new_mapping(what);
    err = map ? err : CL_OUT_OF_HOST_MEMORY;
    what->ours = !err && may_be_ours && map_ours(&h, m, map, &own);
    err = err ? err : h.err;
    if (!err && !what->ours && may_wait_unlocked(&h, m, what->range)) {
        h.used = m;
        err = map_blocking(cmd, m, map, h.n, h.v);
        return hand_out(*cmd->op.mapped, gs_home_end(&h, err), errcode_ret);
    }
    if (!err && !what->ours) {
        err = map_by_driver(&h, &own);
        map->ptr = *cmd->op.mapped;
    }
    if (!err) {
        map->ours = what->ours;
        remember(m, map);
        *what = *map;
    } else
        free(map);
    err = gs_home_end_and_wait(&h, err, own);
    if (err && what->ours)
        map_failed(cmd->ctx, m, what->ptr);
    return hand_out(what->ptr, err, errcode_ret);
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
    struct gs_mem *m = gs_command_begin_on(&cmd, buffer);
    if (!m || !gs_mem_has(m, offset, size))
        return map_plainly(&cmd, errcode_ret);
    struct gs_mapping map = {.range = gs_window_range(m, offset, size)};
    ptr = map_object(&cmd, m, &map, true, map_flags, errcode_ret);
    if (blocking_map)
        gs_timing_waited();
    return ptr;
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map,
                                                 cl_map_flags map_flags, const size_t *origin, const size_t *region,
                                                 size_t *image_row_pitch, size_t *image_slice_pitch,
                                                 cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                 cl_event *event, cl_int *errcode_ret)
{
    GS_CALL("clEnqueueMapImage");
    void *ptr = NULL;
    bool covers;
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_MAP_IMAGE, .blocking = blocking_map, .src = image, .map_flags = map_flags,
                   .mapped = &ptr, .row_pitch = image_row_pitch, .slice_pitch = image_slice_pitch);
    gs_set_box(&cmd.op, origin, NULL, region);
    struct gs_mem *m = gs_command_begin_on(&cmd, image);
    if (!m)
        return map_plainly(&cmd, errcode_ret);
    struct gs_mapping map = {.range = gs_image_range(m, origin, region, &covers)};
    const bool known = m->image && lay_out(&map, m, origin, region, image_row_pitch, image_slice_pitch);
    /* The region may be a part of its rows: the rest must be right. */
    ptr = map_object(&cmd, m, &map, known, map_flags & ~(cl_map_flags)CL_MAP_WRITE_INVALIDATE_REGION, errcode_ret);
    if (ptr && map.ours) {
        *image_row_pitch = map.pitch[0];
        if (image_slice_pitch)
            *image_slice_pitch = m->image->band_dim == 2 ? map.pitch[1] : 0;
    }
    if (blocking_map)
        gs_timing_waited();
    return ptr;
}

/* Without a daemon: unmaps what the driver has mapped. False: there is a daemon, or the map is ours. By the way of
 * other commands an unmap takes 0.08 to 0.1 us more. */
static bool unmap_by_driver(const struct gs_command *cmd, struct gs_mem *m, cl_int *err)
{
    if (gs_scheduled())
        return false;
    gs_queue_lock(cmd->q);
    struct gs_mapping *map = gs_mapping_at(m, cmd->op.ptr);
    const bool ours = map && map->ours;
    *err = ours ? CL_SUCCESS : gs_command_pass(cmd);
    if (map && !ours && !*err) {
        if (map->write)
            gs_note_write(m->root, 0, map->range);
        forget_mapping(m, map);
    }
    pthread_mutex_unlock(&cmd->ctx->lock);
    return !ours;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj, void *mapped_ptr,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_UNMAP, .dst = memobj, .ptr = mapped_ptr);
    struct gs_mem *m = gs_command_begin_on(&cmd, memobj);
    if (!m)
        return gs_command_pass(&cmd);
    struct gs_home h;
    cl_event own;
    cl_int err;
    if (unmap_by_driver(&cmd, m, &err))
        return err;
    gs_home_begin(&h, &cmd, true);
    struct gs_mapping *map = gs_mapping_at(m, mapped_ptr);
    if (map && map->ours)
        err = unmap_ours(&h, m, map, &own);
    else
        err = gs_home_run(&h, &cmd.op, event);
    const bool handed_out = !err && map && map->ours;
    if (!err && map && map->write)
        gs_home_wrote(&h, m, map->range);
    if (!err && map)
        forget_mapping(m, map);
    err = gs_home_end(&h, err);
    return handed_out ? gs_home_wait(&cmd, err, own) : err;
}
