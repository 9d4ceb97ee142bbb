/* SPDX-License-Identifier: MIT */
/* Specification, section 5.5.2 and 5.5.3: mapping and unmapping. What is mapped is home's. */
#include "common/log.h"
#include "shim/api/transfer.h"
#include "shim/transfer/transfer.h"
#include "shim/watch.h"

/* From now on the host may write at any time, until the unmapping. With the context's lock held. NULL: no memory. */
static struct gs_mapping *remember(struct gs_mem *m, void *ptr, struct gs_range r, cl_map_flags flags)
{
    struct gs_mapping *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    *map = (struct gs_mapping){ptr, r, flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION), NULL};
    map->next = m->mappings;
    m->mappings = map;
    if (map->write) {
        m->root->write_mappings++;
        if (gs_wrote_range(m->root, 0, r) < 0)
            gs_debug("there is no memory to follow a mapping");
    }
    return map;
}

static void forget(struct gs_mem *m, struct gs_mapping *map)
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
    struct gs_mapping *map = remember(m, NULL, r, flags);
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
        forget(m, map);
    else if (map->write)
        gs_home_wrote_again(h, m, map->range);
}

/* Brings the range home; the application's map waits for it. With a blocking map, `wait` gives the driver's wait list.
 */
static cl_int prepare(struct gs_home *h, struct gs_queue *q, struct gs_mem *m, struct gs_range r, cl_map_flags flags,
                      cl_uint n_wait, const cl_event *wait)
{
    (flags & CL_MAP_READ ? gs_home_begin_read : gs_home_begin)(h, q, n_wait, wait);
    if (flags & CL_MAP_WRITE_INVALIDATE_REGION)
        gs_home_claim(h, m);
    else
        gs_home_need(h, m, r);
    return gs_home_ready(h);
}

static cl_int given(struct gs_home *h, cl_map_flags flags, cl_int err, cl_event own)
{
    if (h->by_units && flags & CL_MAP_READ)
        gs_job_reads();
    return gs_home_given(h, GS_RESOURCE_PCI, err, own);
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map,
                                                  cl_map_flags map_flags, size_t offset, size_t size,
                                                  cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                  cl_event *event, cl_int *errcode_ret)
{
    GS_CALL("clEnqueueMapBuffer");
    struct gs_queue *q = gs_queue_of(command_queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, buffer) : NULL;
    if (!m || !gs_inside(m, offset, size))
        return gs_real()->clEnqueueMapBuffer(command_queue, buffer, blocking_map, map_flags, offset, size,
                                             num_events_in_wait_list, event_wait_list, event, errcode_ret);
    const struct gs_range r = gs_window_range(m, offset, size);
    struct gs_home h;
    cl_event own;
    void *ptr = NULL;
    cl_int err = prepare(&h, q, m, r, map_flags, num_events_in_wait_list, event_wait_list);
    if (!err && blocking_map && !h.by_units) {
        struct gs_mapping *map = open_map(&h, m, r, map_flags);
        ptr = gs_real()->clEnqueueMapBuffer(command_queue, buffer, CL_TRUE, map_flags, offset, size, h.n, h.v, event,
                                            &err);
        close_map(&h, m, map, ptr, err);
        err = gs_home_end(&h, err);
        gs_set_error(errcode_ret, err);
        return err ? NULL : ptr;
    }
    if (!err) {
        gs_home_hold(&h, command_queue);
        ptr = gs_real()->clEnqueueMapBuffer(command_queue, buffer, CL_FALSE, map_flags, offset, size, h.n, h.v, &own,
                                            &err);
        err = given(&h, map_flags, err, own);
    }
    if (!err)
        remember(m, ptr, r, map_flags);
    err = gs_home_wait(gs_home_end(&h, err), blocking_map, own, event);
    gs_set_error(errcode_ret, err);
    return err ? NULL : ptr;
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map,
                                                 cl_map_flags map_flags, const size_t *origin, const size_t *region,
                                                 size_t *image_row_pitch, size_t *image_slice_pitch,
                                                 cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                 cl_event *event, cl_int *errcode_ret)
{
    GS_CALL("clEnqueueMapImage");
    struct gs_queue *q = gs_image_queue_of(command_queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, image) : NULL;
    if (!m)
        return gs_real()->clEnqueueMapImage(command_queue, image, blocking_map, map_flags, origin, region,
                                            image_row_pitch, image_slice_pitch, num_events_in_wait_list,
                                            event_wait_list, event, errcode_ret);
    bool covers;
    const struct gs_range r = gs_image_range(m, origin, region, &covers);
    struct gs_home h;
    cl_event own = NULL;
    void *ptr = NULL;
    /* The region may be a part of its rows: the rest must be right. */
    cl_int err = prepare(&h, q, m, r, map_flags & ~(cl_map_flags)CL_MAP_WRITE_INVALIDATE_REGION,
                         num_events_in_wait_list, event_wait_list);
    cl_command_queue queue = err ? NULL : gs_home_image_queue(&h);
    err = h.err;
    if (gs_home_image_blocks(&h, blocking_map)) {
        struct gs_mapping *map = open_map(&h, m, r, map_flags);
        ptr = gs_real()->clEnqueueMapImage(queue, image, CL_TRUE, map_flags, origin, region, image_row_pitch,
                                           image_slice_pitch, h.n, h.v, event, &err);
        close_map(&h, m, map, ptr, err);
        err = gs_home_end(&h, err);
        gs_set_error(errcode_ret, err);
        return err ? NULL : ptr;
    }
    if (!err)
        gs_home_hold(&h, queue);
    if (!err)
        ptr = gs_real()->clEnqueueMapImage(queue, image, CL_FALSE, map_flags, origin, region, image_row_pitch,
                                           image_slice_pitch, h.n, h.v, &own, &err);
    err = given(&h, map_flags, err, own);
    if (!err)
        remember(m, ptr, r, map_flags);
    err = gs_home_image_end(&h, err, CL_COMMAND_MAP_IMAGE, blocking_map, own, event);
    gs_set_error(errcode_ret, err);
    return err ? NULL : ptr;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj, void *mapped_ptr,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event *event_wait_list, cl_event *event)
{
    struct gs_queue *q = gs_queue_of(command_queue);
    struct gs_mem *m = q ? gs_find(GS_MEM, memobj) : NULL;
    if (!m)
        return gs_real()->clEnqueueUnmapMemObject(command_queue, memobj, mapped_ptr, num_events_in_wait_list,
                                                  event_wait_list, event);
    struct gs_home h;
    cl_event own, *out;
    gs_home_begin_read(&h, q, num_events_in_wait_list, event_wait_list);
    gs_home_hold(&h, command_queue);
    out = gs_home_event(&h, &own, event);
    cl_int err = gs_real()->clEnqueueUnmapMemObject(command_queue, memobj, mapped_ptr, h.n, h.v, out);
    err = gs_home_given(&h, GS_RESOURCE_PCI, err, out ? *out : NULL);
    if (!err && own)
        gs_real()->clReleaseEvent(own);
    struct gs_mapping *map = err ? NULL : m->mappings;
    while (map && map->ptr != mapped_ptr)
        map = map->next;
    if (map && map->write)
        gs_home_wrote(&h, m, map->range);
    if (map)
        forget(m, map);
    return gs_home_end(&h, err);
}
