/* SPDX-License-Identifier: MIT */
/* The platform, devices, contexts, kernels, queues and buffers. */
#include "fake.h"

static const char version[] = "OpenCL 1.2 fake";

cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *platforms, cl_uint *n_ret)
{
    if (n && platforms)
        platforms[0] = &fake.platform;
    if (n_ret)
        *n_ret = 1;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void *out, size_t *bytes_ret)
{
    if (what == CL_PLATFORM_PROFILE)
        fake_say("mark", NULL);
    if (what == CL_PLATFORM_PROFILE && fake.item_ns > 0 && fake_is_idle())
        return fake_answer_text("idle", room, out, bytes_ret);
    if (what == CL_PLATFORM_NAME && getenv("FAKE_NAME"))
        return fake_answer_text(getenv("FAKE_NAME"), room, out, bytes_ret);
    return fake_answer_text(what == CL_PLATFORM_VERSION ? version : "fake", room, out, bytes_ret);
}

cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *devices, cl_uint *n_ret)
{
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
        return CL_DEVICE_NOT_FOUND;
    for (cl_uint i = 0; i < n && i < fake.n_devices; i++)
        devices[i] = &fake.devices[i];
    if (n_ret)
        *n_ret = fake.n_devices;
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t room, void *out, size_t *bytes_ret)
{
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_uint units = 100, bits = 64;
    const cl_bool yes = CL_TRUE, no = CL_FALSE;
    const cl_platform_id platform = &fake.platform;
    switch (what) {
    case CL_DEVICE_TYPE:
        return answer(&type, sizeof type, room, out, bytes_ret);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return answer(&units, sizeof units, room, out, bytes_ret);
    case CL_DEVICE_ADDRESS_BITS:
        return answer(&bits, sizeof bits, room, out, bytes_ret);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
        return answer(&yes, sizeof yes, room, out, bytes_ret);
    case CL_DEVICE_PLATFORM:
        return answer(&platform, sizeof platform, room, out, bytes_ret);
    case CL_DEVICE_VERSION:
        return fake_answer_text(version, room, out, bytes_ret);
    case CL_DEVICE_IMAGE_SUPPORT:
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return answer(&no, sizeof no, room, out, bytes_ret);
    case CL_DEVICE_NAME:
        return fake_answer_text(d->slower ? "fake, slower" : "fake", room, out, bytes_ret);
    case CL_DEVICE_VENDOR:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_OPENCL_C_VERSION:
    case CL_DEVICE_EXTENSIONS:
        return fake_answer_text("fake", room, out, bytes_ret);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint n, const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
                           cl_int *err)
{
    fake_sleep_until(fake_now_ns() + 50000000);
    *err = CL_SUCCESS;
    return &fake.context;
}

cl_int clRetainContext(cl_context c)
{
    return CL_SUCCESS;
}

cl_int clReleaseContext(cl_context c)
{
    return CL_SUCCESS;
}

/* By the commas between the parentheses behind the first " NAME(". */
static cl_uint count_args(const char *text, const char *name)
{
    char pattern[80];
    cl_uint n = 1;
    snprintf(pattern, sizeof pattern, " %s(", name);
    const char *at = strstr(text, pattern);
    for (at = at ? at : ")"; *at && *at != ')'; at++)
        n += *at == ',';
    return n;
}

cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *err)
{
    cl_kernel k = fake_make(sizeof *k, err);
    if (k) {
        snprintf(k->name, sizeof k->name, "%s", name);
        k->n_args = count_args(p->text, name);
    }
    return k;
}

cl_int clReleaseKernel(cl_kernel k)
{
    free(k);
    return CL_SUCCESS;
}

cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t room, void *out, size_t *bytes_ret)
{
    if (what == CL_KERNEL_NUM_ARGS)
        return answer(&k->n_args, sizeof k->n_args, room, out, bytes_ret);
    return what == CL_KERNEL_FUNCTION_NAME ? fake_answer_text(k->name, room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t bytes, const void *value)
{
    fake_say("clSetKernelArg", NULL);
    if (fake.rounds_arg && i == strtoul(fake.rounds_arg, NULL, 10) && bytes == sizeof k->rounds)
        memcpy(&k->rounds, value, sizeof k->rounds);
    return i < k->n_args ? CL_SUCCESS : CL_INVALID_ARG_INDEX;
}

cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties properties, cl_int *err)
{
    static atomic_uint queues;
    cl_command_queue q = fake_make(sizeof *q, err);
    if (q) {
        atomic_init(&q->refs, 1);
        q->device = d;
        q->number = ++queues;
        q->profiling = properties & CL_QUEUE_PROFILING_ENABLE;
    }
    return q;
}

cl_int clRetainCommandQueue(cl_command_queue q)
{
    atomic_fetch_add(&q->refs, 1);
    return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue q)
{
    if (atomic_fetch_sub(&q->refs, 1) > 1)
        return CL_SUCCESS;
    if (q->last) {
        fake_sleep_until_end(q->last);
        clReleaseEvent(q->last);
    }
    free(q);
    return CL_SUCCESS;
}

cl_int clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what, size_t room, void *out, size_t *bytes_ret)
{
    const cl_context context = &fake.context;
    return what == CL_QUEUE_CONTEXT ? answer(&context, sizeof context, room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clFlush(cl_command_queue q)
{
    fake_say("clFlush", q);
    return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue q)
{
    fake_say("clFinish", q);
    fake_evict();
    fake_lock_time();
    const cl_event last = q->last;
    if (last)
        clRetainEvent(last);
    fake_unlock_time();
    if (last) {
        fake_sleep_until_end(last);
        clReleaseEvent(last);
    }
    return CL_SUCCESS;
}

cl_mem fake_new_buffer(cl_mem_flags flags, size_t bytes, void *ptr, cl_int *err)
{
    cl_mem m = fake_make(sizeof *m, err);
    fake_evict();
    if (m) {
        atomic_init(&m->refs, 1);
        m->flags = flags;
        m->bytes = flags & CL_MEM_USE_HOST_PTR ? ptr : fake_make(bytes, err);
    }
    return m;
}

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t bytes, void *ptr, cl_int *err)
{
    char call[64];
    snprintf(call, sizeof call, "pins %zu", bytes);
    if (flags & CL_MEM_USE_HOST_PTR) {
        fake_say(call, NULL);
        fake_sleep_until(fake_now_ns() + fake.pin_ns);
    }
    return fake_new_buffer(flags, bytes, ptr, err);
}

cl_int clSetMemObjectDestructorCallback(cl_mem m, void(CL_CALLBACK *gone)(cl_mem m, void *data), void *data)
{
    m->gone = gone;
    m->data = data;
    return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem m, cl_mem_info what, size_t room, void *out, size_t *bytes_ret)
{
    return what == CL_MEM_FLAGS ? answer(&m->flags, sizeof m->flags, room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clRetainMemObject(cl_mem m)
{
    atomic_fetch_add(&m->refs, 1);
    return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem m)
{
    if (atomic_fetch_sub(&m->refs, 1) != 1)
        return CL_SUCCESS;
    fake_evict();
    if (m->gone) {
        fake_say("gone", NULL);
        m->gone(m, m->data);
    }
    if (!(m->flags & CL_MEM_USE_HOST_PTR))
        free(m->bytes);
    free(m);
    return CL_SUCCESS;
}
