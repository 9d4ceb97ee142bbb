/* SPDX-License-Identifier: MIT */
/* A small application of one kernel, made through a library that is named: so that there may be two in one process. */
#ifndef GS_BENCH_APPLICATION_H
#define GS_BENCH_APPLICATION_H

#include <CL/cl.h>
#include <stddef.h>

/* The functions of one library. */
struct bench_api {
    cl_int (*get_platforms)(cl_uint, cl_platform_id *, cl_uint *);
    cl_int (*get_devices)(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *);
    cl_context (*create_context)(const cl_context_properties *, cl_uint, const cl_device_id *,
                                 void (*)(const char *, const void *, size_t, void *), void *, cl_int *);
    cl_command_queue (*create_queue)(cl_context, cl_device_id, cl_command_queue_properties, cl_int *);
    cl_program (*create_program)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    cl_int (*build)(cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *), void *);
    cl_kernel (*create_kernel)(cl_program, const char *, cl_int *);
    cl_mem (*create_buffer)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    cl_int (*set_arg)(cl_kernel, cl_uint, size_t, const void *);
    cl_int (*launch)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                     const cl_event *, cl_event *);
    cl_int (*write)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *,
                    cl_event *);
    cl_int (*read)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *);
    cl_int (*finish)(cl_command_queue);
    cl_int (*flush)(cl_command_queue);
    cl_int (*wait)(cl_uint, const cl_event *);
    cl_int (*release_event)(cl_event);
    cl_int (*release_buffer)(cl_mem);
    cl_int (*copy)(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *);
    cl_int (*fill)(cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *,
                   cl_event *);
    void *(*map)(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event *, cl_event *,
                 cl_int *);
    cl_int (*unmap)(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *);
    cl_int (*marker)(cl_command_queue, cl_uint, const cl_event *, cl_event *);
    cl_int (*release_kernel)(cl_kernel);
    cl_int (*event_info)(cl_event, cl_event_info, size_t, void *, size_t *);
    int (*draw)(void); /* rand(), of this library or what it is linked with */
};

/* An application's objects, made through one library. */
struct bench_application {
    struct bench_api api;
    cl_context context;
    cl_device_id device; /* the first */
    cl_command_queue queue, other;
    cl_program program;
    cl_kernel kernel;
    cl_mem in, out, large;
};

enum { BENCH_MOST_DEVICES = 16, BENCH_LOCAL = 64 /* the kernel's work-groups */ };

/* A context over so many devices, and a queue on the first; `items` numbers in and out, and a buffer of `bytes`. The
 * kernel, of (in, out, number, number), has all its arguments but number 2. What fails ends the process, with a
 * message. */
void bench_start(struct bench_application *a, const char *library, cl_uint devices, size_t items, size_t bytes);

/* Launches once in a queue with profiles that lies beside. */
void bench_use_profiles(struct bench_application *a);

void bench_check(cl_int err, const char *what);

#endif
