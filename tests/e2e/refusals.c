/* SPDX-License-Identifier: MIT */
/* A layer below gpusparc that writes to the file REFUSALS which transfers the driver has refused, and which rectangles
 * others would refuse (docs/drivers.md): rows that reach into the next line of a buffer, or a last line that the
 * buffer's end cuts off. gpusparc finds another way then, and the bytes are right all the same. */
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"

static void say(const char *what, long value)
{
    const char *path = getenv("REFUSALS");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f)
        fprintf(f, "%s %ld\n", what, value);
    if (f)
        fclose(f);
}

static cl_int told(const char *what, cl_int err)
{
    if (err)
        say(what, err);
    return err;
}

static void look(const char *what, cl_mem m, const size_t *at, const size_t *region, size_t pitch)
{
    size_t bytes = 0;
    below.clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    const size_t line = pitch ? pitch : region[0];
    if (region[1] > 1 && line > region[0] && at[0] + region[0] > line) /* not of rows without gaps, as in slots */
        say(what, 1);
    if (region[1] > 1 && (at[1] + region[1]) * line > bytes)
        say(what, 2);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                      void *to, cl_uint n, const cl_event *wait, cl_event *event)
{
    return told("read", below.clEnqueueReadBuffer(queue, m, blocking, at, bytes, to, n, wait, event));
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                       const void *from, cl_uint n, const cl_event *wait, cl_event *event)
{
    return told("write", below.clEnqueueWriteBuffer(queue, m, blocking, at, bytes, from, n, wait, event));
}

static cl_int CL_API_CALL copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t at, size_t there, size_t bytes,
                               cl_uint n, const cl_event *wait, cl_event *event)
{
    return told("copy", below.clEnqueueCopyBuffer(queue, from, to, at, there, bytes, n, wait, event));
}

static cl_int CL_API_CALL read_rect(cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *at,
                                    const size_t *there, const size_t *region, size_t row, size_t slice,
                                    size_t host_row, size_t host_slice, void *to, cl_uint n, const cl_event *wait,
                                    cl_event *event)
{
    look("read rectangle", m, at, region, row);
    return told("read rectangle", below.clEnqueueReadBufferRect(queue, m, blocking, at, there, region, row, slice,
                                                                host_row, host_slice, to, n, wait, event));
}

static cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *at,
                                     const size_t *there, const size_t *region, size_t row, size_t slice,
                                     size_t host_row, size_t host_slice, const void *from, cl_uint n,
                                     const cl_event *wait, cl_event *event)
{
    look("written rectangle", m, at, region, row);
    return told("written rectangle", below.clEnqueueWriteBufferRect(queue, m, blocking, at, there, region, row, slice,
                                                                    host_row, host_slice, from, n, wait, event));
}

static cl_int CL_API_CALL copy_rect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *at,
                                    const size_t *there, const size_t *region, size_t row, size_t slice, size_t to_row,
                                    size_t to_slice, cl_uint n, const cl_event *wait, cl_event *event)
{
    look("source of a rectangle", from, at, region, row);
    look("target of a rectangle", to, there, region, to_row);
    return told("copied rectangle", below.clEnqueueCopyBufferRect(queue, from, to, at, there, region, row, slice,
                                                                  to_row, to_slice, n, wait, event));
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint n, const cl_event *wait,
                                 cl_event *event)
{
    return told("launch", below.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, event));
}

static void layer_start(void)
{
    layer.clEnqueueReadBuffer = read_buffer;
    layer.clEnqueueWriteBuffer = write_buffer;
    layer.clEnqueueCopyBuffer = copy;
    layer.clEnqueueReadBufferRect = read_rect;
    layer.clEnqueueWriteBufferRect = write_rect;
    layer.clEnqueueCopyBufferRect = copy_rect;
    layer.clEnqueueNDRangeKernel = launch;
}
