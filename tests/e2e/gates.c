/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that watches what a launch, a read or a write uses while a user event in its
 * wait list has no status: releasing any of that is undefined (specification, clSetUserEventStatus). Says on stderr
 * what is released all the same, and at the end how many of these there were. Behind such an event it takes a launch
 * with an unset argument, which fails later, as NVIDIA's driver does (docs/drivers.md). At each mark it says how many
 * sub-buffers that overlapped another one have been released. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"

enum { MOST_PARTS = 1 << 10, MOST_EVENTS = 1 << 14, MOST_USES = 1 << 14, MOST_ARGS = 1 << 10 };

static struct {
    pthread_mutex_t lock;
    cl_event open[MOST_EVENTS]; /* user events without a status; null: free */
    struct use {
        cl_event behind;
        void *object;
    } uses[MOST_USES]; /* behind null: free */
    struct arg {
        cl_kernel kernel;
        cl_uint index;
        void *value;
    } args[MOST_ARGS]; /* arguments as large as a handle; each set for the last time */
    struct part {      /* sub-buffers; mem null: free */
        cl_mem mem, of;
        cl_buffer_region region;
        bool met; /* was there together with one that overlaps it */
    } parts[MOST_PARTS];
    unsigned n_args, behind, met; /* met: so many such sub-buffers have been released */
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void use(cl_event behind, void *object)
{
    for (unsigned i = 0; i < MOST_USES; i++)
        if (!seen.uses[i].behind) {
            seen.uses[i] = (struct use){behind, object};
            return;
        }
    abort();
}

static bool is_open(cl_event event)
{
    for (unsigned i = 0; i < MOST_EVENTS; i++)
        if (seen.open[i] == event)
            return true;
    return false;
}

static cl_event CL_API_CALL create_event(cl_context context, cl_int *err)
{
    cl_event event = below.clCreateUserEvent(context, err);
    pthread_mutex_lock(&seen.lock);
    for (unsigned i = 0; event && i < MOST_EVENTS; i++)
        if (!seen.open[i]) {
            seen.open[i] = event;
            break;
        }
    pthread_mutex_unlock(&seen.lock);
    return event;
}

static cl_int CL_API_CALL set_status(cl_event event, cl_int status)
{
    pthread_mutex_lock(&seen.lock);
    for (unsigned i = 0; i < MOST_EVENTS; i++)
        if (seen.open[i] == event)
            seen.open[i] = NULL;
    for (unsigned i = 0; i < MOST_USES; i++)
        if (seen.uses[i].behind == event)
            seen.uses[i].behind = NULL;
    pthread_mutex_unlock(&seen.lock);
    return below.clSetUserEventStatus(event, status);
}

static cl_int CL_API_CALL set_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    pthread_mutex_lock(&seen.lock);
    unsigned i = 0;
    while (i < seen.n_args && (seen.args[i].kernel != kernel || seen.args[i].index != index))
        i++;
    if (value && size == sizeof(void *) && i < MOST_ARGS) {
        seen.n_args += i == seen.n_args;
        seen.args[i] = (struct arg){kernel, index, *(void *const *)value};
    }
    pthread_mutex_unlock(&seen.lock);
    return below.clSetKernelArg(kernel, index, size, value);
}

/* The command uses the object. True: it stands behind a user event. */
static bool note(cl_uint n, const cl_event *wait, cl_kernel kernel, cl_mem mem)
{
    bool gated = false;
    pthread_mutex_lock(&seen.lock);
    for (cl_uint w = 0; wait && w < n; w++) {
        if (!is_open(wait[w]))
            continue;
        gated = true;
        seen.behind++;
        use(wait[w], kernel ? (void *)kernel : mem);
        for (unsigned i = 0; i < seen.n_args; i++)
            if (kernel && seen.args[i].kernel == kernel)
                use(wait[w], seen.args[i].value);
    }
    pthread_mutex_unlock(&seen.lock);
    return gated;
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint n, const cl_event *wait,
                                 cl_event *event)
{
    const bool gated = note(n, wait, kernel, NULL);
    cl_int err = below.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, event);
    if (err != CL_INVALID_KERNEL_ARGS || !gated)
        return err;
    cl_context context;
    cl_event failed;
    below.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    failed = below.clCreateUserEvent(context, &err);
    below.clSetUserEventStatus(failed, CL_INVALID_KERNEL_ARGS);
    if (event)
        *event = failed;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocks, size_t offset, size_t size,
                                      void *to, cl_uint n, const cl_event *wait, cl_event *event)
{
    note(n, wait, NULL, mem);
    return below.clEnqueueReadBuffer(queue, mem, blocks, offset, size, to, n, wait, event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocks, size_t offset, size_t size,
                                       const void *from, cl_uint n, const cl_event *wait, cl_event *event)
{
    note(n, wait, NULL, mem);
    return below.clEnqueueWriteBuffer(queue, mem, blocks, offset, size, from, n, wait, event);
}

static void look(const char *what, const void *object)
{
    pthread_mutex_lock(&seen.lock);
    for (unsigned i = 0; i < MOST_USES; i++)
        if (seen.uses[i].behind && seen.uses[i].object == object) {
            fprintf(stderr, "a %s is released while a command of it stands behind a user event\n", what);
            break;
        }
    pthread_mutex_unlock(&seen.lock);
}

static cl_int CL_API_CALL release_kernel(cl_kernel kernel)
{
    look("kernel", kernel);
    return below.clReleaseKernel(kernel);
}

static cl_mem CL_API_CALL create_part(cl_mem of, cl_mem_flags flags, cl_buffer_create_type type, const void *region,
                                      cl_int *err)
{
    cl_mem mem = below.clCreateSubBuffer(of, flags, type, region, err);
    const cl_buffer_region *r = region;
    struct part *new = NULL;
    bool met = false;
    pthread_mutex_lock(&seen.lock);
    for (struct part *p = seen.parts; mem && p < seen.parts + MOST_PARTS; p++) {
        if (p->mem && p->of == of && p->region.origin < r->origin + r->size &&
            r->origin < p->region.origin + p->region.size)
            met = p->met = true;
        new = p->mem ? new : p;
    }
    if (new)
        *new = (struct part){mem, of, *r, met};
    pthread_mutex_unlock(&seen.lock);
    return mem;
}

/* The application marks a moment by asking for the platform's profile. */
static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                                        size_t *size_ret)
{
    if (what == CL_PLATFORM_PROFILE)
        fprintf(stderr, "%u sub-buffers that overlapped\n", seen.met);
    return below.clGetPlatformInfo(platform, what, size, value, size_ret);
}

static cl_int CL_API_CALL release_mem(cl_mem mem)
{
    look("memory object", mem);
    pthread_mutex_lock(&seen.lock);
    for (struct part *p = seen.parts; p < seen.parts + MOST_PARTS; p++)
        if (p->mem == mem) {
            seen.met += p->met;
            p->mem = NULL;
        }
    pthread_mutex_unlock(&seen.lock);
    return below.clReleaseMemObject(mem);
}

__attribute__((destructor)) static void count(void)
{
    fprintf(stderr, "%u commands behind user events\n", seen.behind);
}

static void layer_start(void)
{
    layer.clCreateUserEvent = create_event;
    layer.clSetUserEventStatus = set_status;
    layer.clSetKernelArg = set_arg;
    layer.clEnqueueNDRangeKernel = launch;
    layer.clEnqueueReadBuffer = read_buffer;
    layer.clEnqueueWriteBuffer = write_buffer;
    layer.clReleaseKernel = release_kernel;
    layer.clReleaseMemObject = release_mem;
    layer.clCreateSubBuffer = create_part;
    layer.clGetPlatformInfo = platform_info;
}
