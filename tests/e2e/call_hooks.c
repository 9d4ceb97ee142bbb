/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that calls the program's `has_waited` after each wait for events, its
 * `has_written` after each write of a buffer has been enqueued, its `will_mark` before each marker, its `will_read`
 * before each read or map, its `will_write` before each write, and its `will_launch` before each launch: what another
 * thread does then comes between two of gpusparc's own steps. Of a program that has `waits_for_one` a call that blocks
 * waits for its own command alone, as NVIDIA's driver does; PoCL's waits for all that is in the queue by then. It is
 * called once the command is enqueued.
 */
#include <dlfcn.h>
#include <stdbool.h>

#include "layer.h"

/* Calls the program's function of that name, if it has one. */
static void tell(const char *name)
{
    void (*told)(void) = NULL;
    *(void **)&told = dlsym(RTLD_DEFAULT, name);
    if (told)
        told();
}

static bool waits_for_one(cl_bool blocking)
{
    return blocking && dlsym(RTLD_DEFAULT, "waits_for_one") != NULL;
}

/* Waits for the command, and gives its event to whoever has asked for it. */
static cl_int await_one(cl_command_queue queue, cl_int err, cl_event one, cl_event *event)
{
    if (err)
        return err;
    below.clFlush(queue);
    tell("waits_for_one");
    err = below.clWaitForEvents(1, &one);
    if (event)
        *event = one;
    else
        below.clReleaseEvent(one);
    return err;
}

static cl_int CL_API_CALL wait_for_events(cl_uint n, const cl_event *events)
{
    const cl_int err = below.clWaitForEvents(n, events);
    tell("has_waited");
    return err;
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, const void *ptr, cl_uint n, const cl_event *wait, cl_event *event)
{
    void (*has_written)(size_t) = NULL;
    tell("will_write");
    const cl_int err = below.clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, ptr, n, wait, event);
    *(void **)&has_written = dlsym(RTLD_DEFAULT, "has_written");
    if (has_written)
        has_written(size);
    return err;
}

static cl_int CL_API_CALL write_rows(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *to,
                                     const size_t *from, const size_t *region, size_t to_row, size_t to_slice,
                                     size_t from_row, size_t from_slice, const void *ptr, cl_uint n,
                                     const cl_event *wait, cl_event *event)
{
    tell("will_write");
    return below.clEnqueueWriteBufferRect(queue, buffer, blocking, to, from, region, to_row, to_slice, from_row,
                                          from_slice, ptr, n, wait, event);
}

static cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                      const size_t *region, size_t row, size_t slice, const void *ptr, cl_uint n,
                                      const cl_event *wait, cl_event *event)
{
    tell("will_write");
    return below.clEnqueueWriteImage(queue, image, blocking, origin, region, row, slice, ptr, n, wait, event);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, void *ptr, cl_uint n, const cl_event *wait, cl_event *event)
{
    cl_event one = NULL;
    tell("will_read");
    if (!waits_for_one(blocking))
        return below.clEnqueueReadBuffer(queue, buffer, blocking, offset, size, ptr, n, wait, event);
    const cl_int err = below.clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset, size, ptr, n, wait, &one);
    return await_one(queue, err, one, event);
}

static cl_int CL_API_CALL read_rows(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *from,
                                    const size_t *to, const size_t *region, size_t from_row, size_t from_slice,
                                    size_t to_row, size_t to_slice, void *ptr, cl_uint n, const cl_event *wait,
                                    cl_event *event)
{
    tell("will_read");
    return below.clEnqueueReadBufferRect(queue, buffer, blocking, from, to, region, from_row, from_slice, to_row,
                                         to_slice, ptr, n, wait, event);
}

static cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                     const size_t *region, size_t row, size_t slice, void *ptr, cl_uint n,
                                     const cl_event *wait, cl_event *event)
{
    tell("will_read");
    return below.clEnqueueReadImage(queue, image, blocking, origin, region, row, slice, ptr, n, wait, event);
}

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                    size_t offset, size_t size, cl_uint n, const cl_event *wait, cl_event *event,
                                    cl_int *err)
{
    cl_event one = NULL;
    cl_int mapped = CL_SUCCESS;
    tell("will_read");
    if (!waits_for_one(blocking))
        return below.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, n, wait, event, err);
    void *ptr = below.clEnqueueMapBuffer(queue, buffer, CL_FALSE, flags, offset, size, n, wait, &one, &mapped);
    mapped = await_one(queue, mapped, one, event);
    if (err)
        *err = mapped;
    return mapped ? NULL : ptr;
}

static void *CL_API_CALL map_image(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                   const size_t *origin, const size_t *region, size_t *row, size_t *slice, cl_uint n,
                                   const cl_event *wait, cl_event *event, cl_int *err)
{
    tell("will_read");
    return below.clEnqueueMapImage(queue, image, blocking, flags, origin, region, row, slice, n, wait, event, err);
}

static cl_int CL_API_CALL mark(cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *event)
{
    tell("will_mark");
    return below.clEnqueueMarkerWithWaitList(queue, n, wait, event);
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint n, const cl_event *wait,
                                 cl_event *event)
{
    tell("will_launch");
    return below.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, event);
}

static void layer_start(void)
{
    layer.clWaitForEvents = wait_for_events;
    layer.clEnqueueWriteBuffer = write_buffer;
    layer.clEnqueueWriteBufferRect = write_rows;
    layer.clEnqueueWriteImage = write_image;
    layer.clEnqueueReadBuffer = read_buffer;
    layer.clEnqueueReadBufferRect = read_rows;
    layer.clEnqueueReadImage = read_image;
    layer.clEnqueueMapBuffer = map_buffer;
    layer.clEnqueueMapImage = map_image;
    layer.clEnqueueMarkerWithWaitList = mark;
    layer.clEnqueueNDRangeKernel = launch;
}
