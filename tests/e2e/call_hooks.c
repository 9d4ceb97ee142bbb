/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that calls the program's `has_waited` after each wait for events, its
 * `has_written` after each write has been enqueued, its `will_mark` before each marker, and its `will_read` before each
 * read: what another thread does then comes between two of gpusparc's own steps. */
#include <dlfcn.h>

#include "layer.h"

static struct _cl_icd_dispatch below, own;

static cl_int CL_API_CALL wait_for_events(cl_uint n, const cl_event *events)
{
    void (*has_waited)(void) = NULL;
    const cl_int err = below.clWaitForEvents(n, events);
    *(void **)&has_waited = dlsym(RTLD_DEFAULT, "has_waited");
    if (has_waited)
        has_waited();
    return err;
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, const void *ptr, cl_uint n, const cl_event *wait, cl_event *event)
{
    void (*has_written)(size_t) = NULL;
    const cl_int err = below.clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, ptr, n, wait, event);
    *(void **)&has_written = dlsym(RTLD_DEFAULT, "has_written");
    if (has_written)
        has_written(size);
    return err;
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, void *ptr, cl_uint n, const cl_event *wait, cl_event *event)
{
    void (*will_read)(void) = NULL;
    *(void **)&will_read = dlsym(RTLD_DEFAULT, "will_read");
    if (will_read)
        will_read();
    return below.clEnqueueReadBuffer(queue, buffer, blocking, offset, size, ptr, n, wait, event);
}

static cl_int CL_API_CALL mark(cl_command_queue queue, cl_uint n, const cl_event *wait, cl_event *event)
{
    void (*will_mark)(void) = NULL;
    *(void **)&will_mark = dlsym(RTLD_DEFAULT, "will_mark");
    if (will_mark)
        will_mark();
    return below.clEnqueueMarkerWithWaitList(queue, n, wait, event);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    const cl_int err = layer_begin(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret, &below, &own);
    own.clWaitForEvents = wait_for_events;
    own.clEnqueueWriteBuffer = write_buffer;
    own.clEnqueueReadBuffer = read_buffer;
    own.clEnqueueMarkerWithWaitList = mark;
    return err;
}
