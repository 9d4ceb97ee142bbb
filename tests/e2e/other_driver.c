/* SPDX-License-Identifier: MIT */
/* A layer that makes of PoCL a driver of another name, which does as NVIDIA's: it looks at a kernel's samplers when a
 * launch is enqueued, refuses a launch with an address of no events, leaves a wait for the events of a launch that it
 * refuses in the queue, has no times of markers, waits within clEnqueueFillImage, and takes sub-buffers at less than
 * its alignment of 4,096 bits. The file SAMPLERS gets a line where a sampler is set as an argument, retained or
 * launched with after its last reference has gone. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

enum { MOST = 4096 };
static struct {
    _Atomic(cl_sampler) handle;
    atomic_int references;
} all[MOST];
static atomic_uint n_all;

static atomic_int *references_of(cl_sampler sampler)
{
    for (unsigned i = 0; i < atomic_load(&n_all) && i < MOST; i++)
        if (atomic_load(&all[i].handle) == sampler)
            return &all[i].references;
    return NULL;
}

static void look(cl_sampler sampler, const char *what)
{
    atomic_int *references = references_of(sampler);
    FILE *f = references && atomic_load(references) <= 0 ? fopen(getenv("SAMPLERS"), "a") : NULL;
    if (f) {
        fprintf(f, "a sampler that is no more is %s\n", what);
        fclose(f);
    }
}

static cl_sampler CL_API_CALL create(cl_context context, cl_bool normalized, cl_addressing_mode addresses,
                                     cl_filter_mode filter, cl_int *err)
{
    cl_sampler made = below.clCreateSampler(context, normalized, addresses, filter, err);
    const unsigned i = made ? atomic_fetch_add(&n_all, 1) : MOST;
    if (i < MOST) {
        atomic_store(&all[i].references, 1);
        atomic_store(&all[i].handle, made);
    }
    return made;
}

static cl_int CL_API_CALL retain(cl_sampler sampler)
{
    look(sampler, "retained");
    if (references_of(sampler))
        atomic_fetch_add(references_of(sampler), 1);
    return CL_SUCCESS;
}

/* PoCL never hears of it, so that no other sampler has this handle. */
static cl_int CL_API_CALL release(cl_sampler sampler)
{
    if (references_of(sampler))
        atomic_fetch_sub(references_of(sampler), 1);
    return CL_SUCCESS;
}

/* What kernels have as arguments of a sampler's size: by kernel and index, the last value. */
static struct {
    cl_kernel kernel;
    cl_uint index;
    cl_sampler sampler;
} set[MOST];
static unsigned n_set;
static pthread_mutex_t set_lock = PTHREAD_MUTEX_INITIALIZER;

static void note(cl_kernel kernel, cl_uint index, cl_sampler sampler)
{
    unsigned i = 0;
    pthread_mutex_lock(&set_lock);
    while (i < n_set && (set[i].kernel != kernel || set[i].index != index))
        i++;
    if (i == n_set && n_set < MOST)
        n_set++;
    if (i < MOST) {
        set[i].kernel = kernel;
        set[i].index = index;
        set[i].sampler = sampler;
    }
    pthread_mutex_unlock(&set_lock);
}

static void look_at_kernel(cl_kernel kernel)
{
    pthread_mutex_lock(&set_lock);
    for (unsigned i = 0; i < n_set; i++)
        if (set[i].kernel == kernel)
            look(set[i].sampler, "launched with");
    pthread_mutex_unlock(&set_lock);
}

static cl_int CL_API_CALL set_arg(cl_kernel kernel, cl_uint i, size_t size, const void *value)
{
    if (size == sizeof(cl_sampler) && value) {
        look(*(const cl_sampler *)value, "set as an argument");
        note(kernel, i, *(const cl_sampler *)value);
    }
    return below.clSetKernelArg(kernel, i, size, value);
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint n, const cl_event *wait,
                                 cl_event *event)
{
    if (!n && wait)
        return CL_INVALID_EVENT_WAIT_LIST;
    look_at_kernel(kernel);
    const cl_int err = below.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, event);
    if (err && n && wait)
        below.clEnqueueMarkerWithWaitList(queue, n, wait, NULL);
    return err;
}

static cl_int CL_API_CALL fill_image(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin,
                                     const size_t *region, cl_uint n, const cl_event *wait, cl_event *event)
{
    if (n && wait)
        below.clWaitForEvents(n, wait);
    return below.clEnqueueFillImage(queue, image, color, origin, region, n, wait, event);
}

static cl_int CL_API_CALL profile(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size)
{
    cl_command_type type = 0;
    const cl_int err = below.clGetEventProfilingInfo(event, what, room, value, size);
    below.clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
    if (!err && value && type == CL_COMMAND_MARKER)
        *(cl_ulong *)value = 0;
    return err;
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room, void *value, size_t *size)
{
    const cl_int err = below.clGetDeviceInfo(device, what, room, value, size);
    if (!err && what == CL_DEVICE_MEM_BASE_ADDR_ALIGN && value)
        *(cl_uint *)value = 4096;
    return err;
}

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t room, void *value,
                                        size_t *size)
{
    const cl_int err = below.clGetPlatformInfo(platform, what, room, value, size);
    if (!err && what == CL_PLATFORM_NAME && value && room)
        memset(value, 'x', strlen(value));
    return err;
}

static void layer_start(void)
{
    layer.clCreateSampler = create;
    layer.clRetainSampler = retain;
    layer.clReleaseSampler = release;
    layer.clSetKernelArg = set_arg;
    layer.clEnqueueNDRangeKernel = launch;
    layer.clEnqueueFillImage = fill_image;
    layer.clGetEventProfilingInfo = profile;
    layer.clGetDeviceInfo = device_info;
    layer.clGetPlatformInfo = platform_info;
}
