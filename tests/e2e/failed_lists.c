/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that carries nothing out whose wait list has an event that has failed: a call
 * that blocks says so, and other commands' events fail. So the specification has it; PoCL 3.1 waits for ever. With
 * MARKERS_COMPLETE a marker without a wait list has completed at once: NVIDIA's driver lets one behind a command that
 * has failed complete now and then. */
#include <stdbool.h>
#include <stdlib.h>

#include "layer.h"

static bool has_failed(cl_uint n, const cl_event *wait)
{
    cl_int status = CL_COMPLETE;
    for (cl_uint i = 0; wait && i < n && status >= 0; i++)
        below.clGetEventInfo(wait[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status < 0;
}

static cl_int event_that_has_ended(cl_command_queue queue, cl_int status, cl_event *event)
{
    cl_context context;
    cl_int err;
    below.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    *event = below.clCreateUserEvent(context, &err);
    return err ? err : below.clSetUserEventStatus(*event, status);
}

/* In place of the command. */
static cl_int fail(cl_command_queue queue, cl_bool blocking, cl_event *event)
{
    const cl_int err = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (blocking || !event)
        return blocking ? err : CL_SUCCESS;
    return event_that_has_ended(queue, err, event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, const void *ptr, cl_uint n, const cl_event *wait, cl_event *event)
{
    return has_failed(n, wait) ? fail(queue, blocking, event)
                               : below.clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, ptr, n, wait, event);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, void *ptr, cl_uint n, const cl_event *wait, cl_event *event)
{
    return has_failed(n, wait) ? fail(queue, blocking, event)
                               : below.clEnqueueReadBuffer(queue, buffer, blocking, offset, size, ptr, n, wait, event);
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem src, cl_mem dst, size_t from, size_t to,
                                      size_t size, cl_uint n, const cl_event *wait, cl_event *event)
{
    return has_failed(n, wait) ? fail(queue, CL_FALSE, event)
                               : below.clEnqueueCopyBuffer(queue, src, dst, from, to, size, n, wait, event);
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
                                      size_t offset, size_t size, cl_uint n, const cl_event *wait, cl_event *event)
{
    return has_failed(n, wait)
               ? fail(queue, CL_FALSE, event)
               : below.clEnqueueFillBuffer(queue, buffer, pattern, pattern_size, offset, size, n, wait, event);
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint n, const cl_event *wait,
                                 cl_event *event)
{
    return has_failed(n, wait)
               ? fail(queue, CL_FALSE, event)
               : below.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, event);
}

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem mem, void *ptr, cl_uint n, const cl_event *wait,
                                cl_event *event)
{
    return has_failed(n, wait) ? fail(queue, CL_FALSE, event)
                               : below.clEnqueueUnmapMemObject(queue, mem, ptr, n, wait, event);
}

static cl_int CL_API_CALL mark(cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *event)
{
    if (event && !n && getenv("MARKERS_COMPLETE"))
        return event_that_has_ended(queue, CL_COMPLETE, event);
    return has_failed(n, wait) ? fail(queue, CL_FALSE, event)
                               : below.clEnqueueMarkerWithWaitList(queue, n, wait, event);
}

static void layer_start(void)
{
    layer.clEnqueueWriteBuffer = write_buffer;
    layer.clEnqueueReadBuffer = read_buffer;
    layer.clEnqueueCopyBuffer = copy_buffer;
    layer.clEnqueueFillBuffer = fill_buffer;
    layer.clEnqueueNDRangeKernel = launch;
    layer.clEnqueueUnmapMemObject = unmap;
    layer.clEnqueueMarkerWithWaitList = mark;
}
