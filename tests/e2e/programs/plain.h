/* SPDX-License-Identifier: MIT */
/* What the programs of this folder share. Each is an ordinary OpenCL application that prints what it computes; the test
 * runs it plain and under gpusparc and compares the two outputs byte for byte. None knows of gpusparc. */
#ifndef GS_TEST_PLAIN_H
#define GS_TEST_PLAIN_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Not every program uses all of it. */
#define PLAIN __attribute__((unused)) static

PLAIN cl_platform_id platform;
PLAIN cl_device_id device;
PLAIN cl_context context;
PLAIN cl_command_queue queue;

PLAIN void check(cl_int err, const char *what, int line)
{
    if (err == CL_SUCCESS)
        return;
    printf("line %d: %s: error %d\n", line, what, err);
    exit(1);
}

PLAIN double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* An OpenCL call that returns its error, and one that stores it in `err`. */
#define CL(call) check((call), #call, __LINE__)
#define MADE(lvalue, call) ((lvalue) = (call), check(err, #call, __LINE__))

/* Lets up to eight objects go, in this order. */
#define RELEASE(...)                                                                                                   \
    RELEASE_N(__VA_ARGS__, RELEASE8, RELEASE7, RELEASE6, RELEASE5, RELEASE4, RELEASE3, RELEASE2, RELEASE1, 0)          \
    (__VA_ARGS__)
#define RELEASE_N(a, b, c, d, e, f, g, h, n, ...) n
#define RELEASE1(o)                                                                                                    \
    CL(_Generic((o), cl_mem                                                                                            \
                : clReleaseMemObject, cl_kernel                                                                        \
                : clReleaseKernel, cl_program                                                                          \
                : clReleaseProgram, cl_event                                                                           \
                : clReleaseEvent, cl_command_queue                                                                     \
                : clReleaseCommandQueue, cl_context                                                                    \
                : clReleaseContext, cl_sampler                                                                         \
                : clReleaseSampler)(o))
#define RELEASE2(o, ...) (RELEASE1(o), RELEASE1(__VA_ARGS__))
#define RELEASE3(o, ...) (RELEASE1(o), RELEASE2(__VA_ARGS__))
#define RELEASE4(o, ...) (RELEASE1(o), RELEASE3(__VA_ARGS__))
#define RELEASE5(o, ...) (RELEASE1(o), RELEASE4(__VA_ARGS__))
#define RELEASE6(o, ...) (RELEASE1(o), RELEASE5(__VA_ARGS__))
#define RELEASE7(o, ...) (RELEASE1(o), RELEASE6(__VA_ARGS__))
#define RELEASE8(o, ...) (RELEASE1(o), RELEASE7(__VA_ARGS__))

/* All of an array's objects. */
#define RELEASE_ALL(array)                                                                                             \
    do {                                                                                                               \
        for (size_t i_ = 0; i_ < sizeof(array) / sizeof *(array); i_++)                                                \
            RELEASE((array)[i_]);                                                                                      \
    } while (0)

/* Up to eight arguments of a kernel, the first ones or those from `first` on: memory objects, and words. */
#define SET(k, ...) SET_FROM(0, k, __VA_ARGS__)
#define SET_FROM(first, k, ...)                                                                                        \
    SET_N(__VA_ARGS__, SET8, SET7, SET6, SET5, SET4, SET3, SET2, SET1, 0)(first, k, __VA_ARGS__)
#define SET_N(a, b, c, d, e, f, g, h, n, ...) n
#define SET1(i, k, v) _Generic((v), cl_mem : set_mem, default : set_uint)(k, i, v)
#define SET2(i, k, v, ...) (SET1(i, k, v), SET1((i) + 1, k, __VA_ARGS__))
#define SET3(i, k, v, ...) (SET1(i, k, v), SET2((i) + 1, k, __VA_ARGS__))
#define SET4(i, k, v, ...) (SET1(i, k, v), SET3((i) + 1, k, __VA_ARGS__))
#define SET5(i, k, v, ...) (SET1(i, k, v), SET4((i) + 1, k, __VA_ARGS__))
#define SET6(i, k, v, ...) (SET1(i, k, v), SET5((i) + 1, k, __VA_ARGS__))
#define SET7(i, k, v, ...) (SET1(i, k, v), SET6((i) + 1, k, __VA_ARGS__))
#define SET8(i, k, v, ...) (SET1(i, k, v), SET7((i) + 1, k, __VA_ARGS__))

PLAIN cl_context new_context(void)
{
    cl_int err;
    cl_context c;
    MADE(c, clCreateContext(NULL, 1, &device, NULL, NULL, &err));
    return c;
}

PLAIN cl_command_queue new_queue(cl_command_queue_properties properties)
{
    cl_int err;
    cl_command_queue q;
    MADE(q, clCreateCommandQueue(context, device, properties, &err));
    return q;
}

/* The first device, as an application for one GPU would look for it. */
PLAIN void start(cl_command_queue_properties properties)
{
    CL(clGetPlatformIDs(1, &platform, NULL));
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL) != CL_SUCCESS)
        CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = new_context();
    queue = new_queue(properties);
}

/* The property of a queue without an order; of one with an order where the device has no others. */
PLAIN cl_command_queue_properties out_of_order(void)
{
    cl_command_queue_properties has = 0;
    CL(clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof has, &has, NULL));
    return has & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
}

/* Both return the status of a program that has come to its end. */
PLAIN int finish(void)
{
    RELEASE(queue, context);
    return 0;
}
#define FINISH(...) (RELEASE(__VA_ARGS__), finish())

/* Not built yet. */
PLAIN cl_program new_program(const char *source)
{
    cl_int err;
    cl_program p;
    MADE(p, clCreateProgramWithSource(context, 1, &source, NULL, &err));
    return p;
}

PLAIN cl_program build(const char *source, const char *options)
{
    cl_program p = new_program(source);
    const cl_int err = clBuildProgram(p, 1, &device, options, NULL, NULL);
    if (err) {
        char log[4096] = "";
        clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        printf("%s\n", log);
        check(err, "clBuildProgram", __LINE__);
    }
    return p;
}

PLAIN cl_kernel kernel_of(cl_program p, const char *name)
{
    cl_int err;
    cl_kernel k;
    MADE(k, clCreateKernel(p, name, &err));
    return k;
}

PLAIN cl_mem buffer(cl_mem_flags flags, size_t bytes, void *host)
{
    cl_int err;
    cl_mem m;
    MADE(m, clCreateBuffer(context, flags, bytes, host, &err));
    return m;
}

/* A buffer that begins with what the host has. */
PLAIN cl_mem buffer_of(const void *host, size_t bytes)
{
    return buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, (void *)(uintptr_t)host);
}

PLAIN cl_mem sub_buffer(cl_mem parent, cl_mem_flags flags, size_t offset, size_t bytes)
{
    cl_int err;
    cl_mem m;
    const cl_buffer_region region = {offset, bytes};
    MADE(m, clCreateSubBuffer(parent, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    return m;
}

/* Of texels of four channels. The depth of an array is how many images it has. */
PLAIN cl_mem new_image(cl_mem_object_type type, const size_t size[3], cl_mem_flags flags, cl_channel_type channel,
                       void *host)
{
    const bool array = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const cl_image_format format = {CL_RGBA, channel};
    const cl_image_desc desc = {.image_type = type,
                                .image_width = size[0],
                                .image_height = size[1],
                                .image_depth = type == CL_MEM_OBJECT_IMAGE3D ? size[2] : 0,
                                .image_array_size = array ? size[2] : 0};
    cl_int err;
    cl_mem m;
    MADE(m, clCreateImage(context, flags, &format, &desc, host, &err));
    return m;
}

/* In `queue`, by a call that blocks. */
PLAIN void *map_now(cl_mem m, cl_map_flags flags, size_t offset, size_t bytes)
{
    cl_int err;
    void *v;
    MADE(v, clEnqueueMapBuffer(queue, m, CL_TRUE, flags, offset, bytes, 0, NULL, NULL, &err));
    return v;
}

PLAIN void unmap(cl_mem m, void *v)
{
    CL(clEnqueueUnmapMemObject(queue, m, v, 0, NULL, NULL));
}

PLAIN void set_mem(cl_kernel k, cl_uint i, cl_mem m)
{
    CL(clSetKernelArg(k, i, sizeof m, &m));
}

PLAIN void set_uint(cl_kernel k, cl_uint i, cl_uint v)
{
    CL(clSetKernelArg(k, i, sizeof v, &v));
}

PLAIN void launch(cl_command_queue q, cl_kernel k, size_t global, size_t local, cl_uint n_wait, const cl_event *wait,
                  cl_event *event)
{
    CL(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, local ? &local : NULL, n_wait, wait, event));
}

PLAIN void launch2(cl_command_queue q, cl_kernel k, const size_t global[2], const size_t *local)
{
    CL(clEnqueueNDRangeKernel(q, k, 2, NULL, global, local, 0, NULL, NULL));
}

PLAIN cl_event new_user_event(void)
{
    cl_int err;
    cl_event e;
    MADE(e, clCreateUserEvent(context, &err));
    return e;
}

/* Gives it its status, and lets it go. */
PLAIN void end_user_event(cl_event e)
{
    CL(clSetUserEventStatus(e, CL_COMPLETE));
    CL(clReleaseEvent(e));
}

/* For an event, which is let go. */
PLAIN void wait_for(cl_event e)
{
    CL(clWaitForEvents(1, &e));
    CL(clReleaseEvent(e));
}

PLAIN cl_int status_of(cl_event e)
{
    cl_int status;
    CL(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

PLAIN pthread_t new_thread(void *(*run)(void *), void *arg)
{
    pthread_t t;
    check(pthread_create(&t, NULL, run, arg), "pthread_create", __LINE__);
    return t;
}

PLAIN void sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l}, NULL);
}

/* Numbers that look random and are the same each time. */
PLAIN uint32_t scramble(uint32_t x)
{
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ (x >> 15);
}

PLAIN void fill_words(uint32_t *v, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++)
        v[i] = scramble((uint32_t)i * 2654435761u + seed);
}

/* One line for the bytes: FNV-1a of all, and where each sixteenth of them stands, so that a difference has a place. */
PLAIN void show(const char *name, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint64_t whole = 0xcbf29ce484222325u;
    printf("%s %zu:", name, bytes);
    for (size_t s = 0; s < 16; s++) {
        uint64_t h = 0xcbf29ce484222325u;
        for (size_t i = bytes * s / 16; i < bytes * (s + 1) / 16; i++) {
            h = (h ^ p[i]) * 0x100000001b3u;
            whole = (whole ^ p[i]) * 0x100000001b3u;
        }
        printf(" %04x", (unsigned)(h >> 48));
    }
    printf(" %016" PRIx64 "\n", whole);
}

PLAIN void show_buffer(const char *name, cl_command_queue q, cl_mem m, size_t offset, size_t bytes)
{
    void *host = malloc(bytes);
    CL(clEnqueueReadBuffer(q, m, CL_TRUE, offset, bytes, host, 0, NULL, NULL));
    show(name, host, bytes);
    free(host);
}

#endif
