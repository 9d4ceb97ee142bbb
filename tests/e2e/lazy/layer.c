/* SPDX-License-Identifier: MIT */
/* The functions that make commands and wait for them; the others' wrappers are written by gen.py. */
#include "lazy.h"

#include <stdlib.h>
#include <string.h>

#include "../layer.h"

struct lazy_modes lazy = {.stuck_ms = 5000};
struct _cl_icd_dispatch lazy_below;

/* ---- queues ---- */

static cl_command_queue made(cl_command_queue queue, cl_context context, cl_device_id device,
                             cl_command_queue_properties properties)
{
    if (queue && !(properties & CL_QUEUE_ON_DEVICE))
        lazy_queue_made(queue, context, device, !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    lazy_leave();
    return queue;
}

static cl_command_queue CL_API_CALL lazy_clCreateCommandQueue(cl_context context, cl_device_id device,
                                                              cl_command_queue_properties properties, cl_int *err)
{
    lazy_enter("clCreateCommandQueue");
    lazy_context_used(context, "clCreateCommandQueue");
    lazy_forbidden("clCreateCommandQueue");
    return made(lazy_below.clCreateCommandQueue(context, device, properties, err), context, device, properties);
}

static cl_command_queue CL_API_CALL lazy_clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                            const cl_queue_properties *properties,
                                                                            cl_int *err)
{
    cl_command_queue_properties bits = 0;
    for (const cl_queue_properties *p = properties; p && *p; p += 2)
        if (*p == CL_QUEUE_PROPERTIES)
            bits = p[1];
    lazy_enter("clCreateCommandQueueWithProperties");
    lazy_context_used(context, "clCreateCommandQueueWithProperties");
    lazy_forbidden("clCreateCommandQueueWithProperties");
    return made(lazy_below.clCreateCommandQueueWithProperties(context, device, properties, err), context, device, bits);
}

static cl_int CL_API_CALL lazy_clReleaseCommandQueue(cl_command_queue queue)
{
    cl_uint refs = 0;
    lazy_enter("clReleaseCommandQueue");
    lazy_flush(queue);
    lazy_below.clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof refs, &refs, NULL);
    if (refs == 1)
        lazy_queue_released(queue);
    const cl_int err = lazy_below.clReleaseCommandQueue(queue);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clFlush(cl_command_queue queue)
{
    lazy_enter("clFlush");
    lazy_flush(queue);
    const cl_int err = lazy_below.clFlush(queue);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clFinish(cl_command_queue queue)
{
    lazy_enter("clFinish");
    lazy_forbidden("clFinish");
    lazy_flush(queue);
    lazy_wait_begin(0, NULL, queue);
    const cl_int err = lazy_below.clFinish(queue);
    lazy_wait_end();
    lazy_see_all();
    lazy_leave();
    return err;
}

/* ---- events ---- */

static cl_int CL_API_CALL lazy_clWaitForEvents(cl_uint n, const cl_event *events)
{
    lazy_enter("clWaitForEvents");
    lazy_forbidden("clWaitForEvents");
    for (cl_uint i = 0; events && i < n && !lazy.strict; i++)
        lazy_flush_of(events[i]);
    lazy_wait_begin(events ? n : 0, events, NULL);
    const cl_int err = lazy_below.clWaitForEvents(n, events);
    lazy_wait_end();
    lazy_see_all();
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *value,
                                              size_t *bytes)
{
    lazy_enter("clGetEventInfo");
    if (lazy.polled && what == CL_EVENT_COMMAND_EXECUTION_STATUS)
        lazy_flush_of(event);
    const cl_int err = lazy_below.clGetEventInfo(event, what, room, value, bytes);
    if (!err && value && what == CL_EVENT_COMMAND_EXECUTION_STATUS)
        *(cl_int *)value = lazy_seen_status(event, *(cl_int *)value);
    if (!err && value && what == CL_EVENT_REFERENCE_COUNT)
        *(cl_uint *)value = lazy_event_refs_now(event, *(cl_uint *)value);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clRetainEvent(cl_event event)
{
    lazy_enter("clRetainEvent");
    const cl_int err = lazy_below.clRetainEvent(event);
    if (!err)
        lazy_event_refs(event, 1);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clReleaseEvent(cl_event event)
{
    lazy_enter("clReleaseEvent");
    const cl_int err = lazy_below.clReleaseEvent(event);
    if (!err)
        lazy_event_refs(event, -1);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *value,
                                                       size_t *bytes)
{
    cl_int status = CL_COMPLETE;
    lazy_enter("clGetEventProfilingInfo");
    lazy_below.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    const cl_int err = lazy_seen_status(event, status) > CL_COMPLETE
                           ? CL_PROFILING_INFO_NOT_AVAILABLE
                           : lazy_below.clGetEventProfilingInfo(event, what, room, value, bytes);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clSetEventCallback(cl_event event, cl_int type,
                                                  void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data)
{
    lazy_enter("clSetEventCallback");
    const cl_int err = lazy_set_callback(event, type, call, data);
    lazy_leave();
    return err;
}

static cl_event CL_API_CALL lazy_clCreateUserEvent(cl_context context, cl_int *err)
{
    lazy_enter("clCreateUserEvent");
    lazy_context_used(context, "clCreateUserEvent");
    cl_event event = lazy_below.clCreateUserEvent(context, err);
    if (event)
        lazy_user_event(event);
    lazy_leave();
    return event;
}

static cl_int CL_API_CALL lazy_clSetUserEventStatus(cl_event event, cl_int status)
{
    lazy_enter("clSetUserEventStatus");
    const cl_int err = lazy_below.clSetUserEventStatus(event, status);
    lazy_user_event_set(event);
    lazy_leave();
    return err;
}

/* ---- memory ---- */

static cl_mem CL_API_CALL lazy_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *ptr,
                                              cl_int *err)
{
    lazy_enter("clCreateBuffer");
    lazy_context_used(context, "clCreateBuffer");
    cl_mem mem = lazy_below.clCreateBuffer(context, flags, bytes, ptr, err);
    if (mem)
        lazy_memory_made(mem, NULL, context, flags, bytes);
    lazy_leave();
    return mem;
}

static cl_mem CL_API_CALL lazy_clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                                 const void *info, cl_int *err)
{
    lazy_enter("clCreateSubBuffer");
    lazy_memory_used(parent, "clCreateSubBuffer");
    cl_mem mem = lazy_below.clCreateSubBuffer(parent, flags, type, info, err);
    if (mem)
        lazy_memory_made(mem, parent, NULL, flags, 0);
    if (mem && type == CL_BUFFER_CREATE_TYPE_REGION)
        lazy_memory_region(mem, info);
    lazy_leave();
    return mem;
}

/* An image of a buffer's bytes keeps them. */
static cl_mem CL_API_CALL lazy_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                             const cl_image_desc *desc, void *ptr, cl_int *err)
{
    lazy_enter("clCreateImage");
    lazy_context_used(context, "clCreateImage");
    cl_mem mem = lazy_below.clCreateImage(context, flags, format, desc, ptr, err);
    if (mem)
        lazy_memory_made(mem, desc->mem_object, NULL, flags, 0);
    lazy_leave();
    return mem;
}

static cl_int CL_API_CALL lazy_clRetainMemObject(cl_mem mem)
{
    lazy_enter("clRetainMemObject");
    lazy_memory_used(mem, "clRetainMemObject");
    lazy_memory_retained(mem);
    const cl_int err = lazy_below.clRetainMemObject(mem);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clReleaseMemObject(cl_mem mem)
{
    lazy_enter("clReleaseMemObject");
    lazy_memory_used(mem, "clReleaseMemObject");
    const cl_int err = lazy_memory_released(mem) ? CL_SUCCESS : lazy_below.clReleaseMemObject(mem);
    lazy_leave();
    return err;
}

static cl_sampler CL_API_CALL lazy_clCreateSampler(cl_context context, cl_bool normalized,
                                                   cl_addressing_mode addressing, cl_filter_mode filter, cl_int *err)
{
    lazy_enter("clCreateSampler");
    lazy_context_used(context, "clCreateSampler");
    cl_sampler sampler = lazy_below.clCreateSampler(context, normalized, addressing, filter, err);
    if (sampler)
        lazy_sampler_made(sampler);
    lazy_leave();
    return sampler;
}

static cl_sampler CL_API_CALL lazy_clCreateSamplerWithProperties(cl_context context,
                                                                 const cl_sampler_properties *properties, cl_int *err)
{
    lazy_enter("clCreateSamplerWithProperties");
    lazy_context_used(context, "clCreateSamplerWithProperties");
    cl_sampler sampler = lazy_below.clCreateSamplerWithProperties(context, properties, err);
    if (sampler)
        lazy_sampler_made(sampler);
    lazy_leave();
    return sampler;
}

static cl_int CL_API_CALL lazy_clRetainSampler(cl_sampler sampler)
{
    lazy_enter("clRetainSampler");
    lazy_sampler_refs(sampler, 1);
    const cl_int err = lazy_below.clRetainSampler(sampler);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clReleaseSampler(cl_sampler sampler)
{
    lazy_enter("clReleaseSampler");
    lazy_sampler_refs(sampler, -1);
    const cl_int err = lazy_below.clReleaseSampler(sampler);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    lazy_enter("clSetKernelArg");
    lazy_memory_argument(kernel, index, bytes, value);
    const cl_int err = lazy_below.clSetKernelArg(kernel, index, bytes, value);
    lazy_leave();
    return err;
}

static cl_int CL_API_CALL lazy_clReleaseKernel(cl_kernel kernel)
{
    cl_uint refs = 0;
    lazy_enter("clReleaseKernel");
    if (lazy.poison && lazy_below.clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof refs, &refs, NULL) == 0 &&
        refs == 1)
        lazy_memory_kernel_gone(kernel);
    const cl_int err = lazy_below.clReleaseKernel(kernel);
    lazy_leave();
    return err;
}

/* ---- contexts and devices ---- */

static cl_context CL_API_CALL
lazy_clCreateContext(const cl_context_properties *properties, cl_uint n, const cl_device_id *devices,
                     void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data, cl_int *err)
{
    lazy_enter("clCreateContext");
    lazy_forbidden("clCreateContext");
    cl_context context = lazy_below.clCreateContext(properties, n, devices, notify, data, err);
    if (context)
        lazy_context_made(context);
    lazy_leave();
    return context;
}

static cl_int CL_API_CALL lazy_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint n,
                                              cl_device_id *devices, cl_uint *n_ret)
{
    return lazy.gpu ? lazy_gpu_ids(platform, type, n, devices, n_ret)
                    : lazy_below.clGetDeviceIDs(platform, type, n, devices, n_ret);
}

static cl_int CL_API_CALL lazy_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *value,
                                               size_t *bytes)
{
    return lazy.gpu ? lazy_gpu_info(device, what, room, value, bytes)
                    : lazy_below.clGetDeviceInfo(device, what, room, value, bytes);
}

static cl_mem CL_API_CALL lazy_clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
                                                            cl_mem_flags flags, size_t bytes, void *ptr, cl_int *err)
{
    lazy_enter("clCreateBufferWithProperties");
    lazy_context_used(context, "clCreateBufferWithProperties");
    cl_mem mem = lazy.gpu ? lazy_gpu_import(context, properties, flags, bytes, ptr, err)
                          : lazy_below.clCreateBufferWithProperties(context, properties, flags, bytes, ptr, err);
    lazy_leave();
    return mem;
}

#include "lazy.inc"

/* ---- the layer ---- */

static void read_modes(char *words)
{
    const struct {
        const char *word;
        bool *mode;
    } known[] = {{"unflushed", &lazy.unflushed}, {"polled", &lazy.polled},     {"strict", &lazy.strict},
                 {"late", &lazy.late},           {"inside", &lazy.inside},     {"slow", &lazy.slow},
                 {"lanes", &lazy.lanes},         {"channels", &lazy.channels}, {"poison", &lazy.poison},
                 {"lock", &lazy.lock},           {"gpu", &lazy.gpu},           {"compiler", &lazy.compiler},
                 {"random", &lazy.random}};
    char *rest = NULL;
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(word, '=');
        size_t i = 0;
        if (value)
            *value++ = '\0';
        while (i < sizeof known / sizeof *known && strcmp(known[i].word, word) != 0)
            i++;
        if (i == sizeof known / sizeof *known)
            lazy_report("there is no mode '%s'", word);
        else
            *known[i].mode = true;
        if (lazy.late && strcmp(word, "late") == 0)
            lazy.late_ms = value ? (unsigned)atoi(value) : 20;
        if (lazy.compiler && strcmp(word, "compiler") == 0)
            lazy.compiler_ms = value ? (unsigned)atoi(value) : 100;
    }
    lazy.lanes |= lazy.channels;
}

static void layer_start(void)
{
    lazy_below = below;
    const char *modes = getenv("LAZY"), *stuck = getenv("LAZY_STUCK_MS");
    char *words = modes ? strdup(modes) : NULL;
    lazy_calls_start();
    if (words)
        read_modes(words);
    free(words);
    if (stuck)
        lazy.stuck_ms = (unsigned)atoi(stuck);
    lazy_install(&layer);
}
