/* SPDX-License-Identifier: MIT */
/* A layer of the OpenCL loader below gpusparc that makes the driver under it (PoCL) as lazy as the specification lets a
 * driver be, and says what doesn't bear that. LAZY holds words, separated by commas:
 *
 *   unflushed   a command doesn't begin before its queue is flushed: by clFlush, clFinish, the queue's release, a
 *               blocking command in it or clWaitForEvents for one of its events (specification, clFlush)
 *   polled      clGetEventInfo of a command's status flushes its queue as well (laxer)
 *   strict      clWaitForEvents doesn't flush (stricter than the specification)
 *   late[=MS]   callbacks come one at a time from one thread, up to MS (20) milliseconds after the event
 *   inside      callbacks come from within the next calls, on the threads that call; without any, by a thread
 *   slow        commands begin late, calls take long, and the end of a command is seen late: at random
 *   lanes       a device carries out the commands of all its in-order queues one after the other, in the order in which
 *               they were flushed; what waits for a user event without status stands aside
 *   channels    the same, and nothing stands aside
 *   poison      new buffers hold garbage, and released ones do as soon as their commands have ended
 *               Of sub-buffers that overlap, the newest is to be let go first
 *   gpu         PoCL's devices (POCL_DEVICES="pthread pthread") pass for NVIDIA's GPUs, whose memories can be reached
 *               through windows; with lazy/cuda as the folder of libcuda.so.1. Like NVIDIA's driver (580.159) it
 *               refuses a rectangle of which the last row's pitch runs past the buffer's end
 *               With poison a memory object, its parts included, is to be used by one device's commands alone
 *   compiler[=MS]  what other threads than the first build (its programs are in the driver's cache) takes MS (100)
 *               milliseconds more, in a library that is loaded then and that exit() takes apart (nvcompiler.c)
 *   random      a compiler takes numbers of the C library's random sequences
 *   lock        one lock of the driver's is held during each call that doesn't wait, and during each callback
 *
 * LAZY_SEED chooses the random numbers. Each line of LAZY_REPORT (a file; default: standard error) is a fault:
 * something blocking in a callback, a call for a released memory object, sampler or context, a call that can't end,
 * threads within the driver when it takes itself apart at exit, and calls after that. LAZY_STUCK_MS (5000): when a call
 * counts as one that doesn't end. */
#ifndef LAZY_H
#define LAZY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../opencl.h"

struct lazy_modes {
    bool unflushed, polled, strict, late, inside, slow, lanes, channels, poison, lock, gpu, compiler, random;
    unsigned late_ms, stuck_ms, compiler_ms;
};
extern struct lazy_modes lazy;
extern struct _cl_icd_dispatch lazy_below; /* the driver */

/* ---- calls.c: who is within the driver, reports, chance ---- */

void lazy_calls_start(void);
/* Around each call of the application. `what`: a literal. */
void lazy_enter(const char *what);
void lazy_leave(void);
/* Around what may take until other threads call: gives the driver's lock up. `events` and `queue` (either may be null)
 * say what is waited for. */
void lazy_wait_begin(cl_uint n, const cl_event *events, cl_command_queue queue);
void lazy_wait_end(void);
/* A call that the specification forbids in callbacks. */
void lazy_forbidden(const char *what);
extern _Thread_local unsigned lazy_in_callback;
extern _Thread_local bool lazy_own_thread; /* it calls the driver itself, below the layer */
bool lazy_is_over(void);                   /* the driver has taken itself apart, or this is a forked child */
/* Looks for calls that don't end. */
void lazy_calls_look(void);
void lazy_driver_lock(void);
void lazy_driver_unlock(void);
__attribute__((format(printf, 1, 2))) void lazy_report(const char *format, ...);
uint64_t lazy_now_ns(void);
/* From 0 to n - 1. */
unsigned lazy_random(unsigned n);
void lazy_sleep_us(unsigned us);
bool lazy_thread(void *(*run)(void *));

/* ---- commands.c: when commands begin ---- */

/* A command that is being enqueued. */
struct lazy_enqueue {
    const char *name;
    cl_command_queue queue;
    bool blocking, tracked;
    cl_uint n;
    cl_event *wait; /* for the driver; with the gate */
    cl_event gate, event;
    cl_event *wanted; /* by the application; or null */
    cl_event *given;  /* for the driver */
    cl_uint n_own;
    const cl_event *own;    /* the application's list */
    pthread_mutex_t *order; /* its queue's: held from begin to end where it is tracked */
};
void lazy_enqueue_begin(struct lazy_enqueue *e, const char *name, cl_command_queue queue, cl_bool blocking, cl_uint n,
                        const cl_event *wait, cl_event *event);
cl_int lazy_enqueue_end(struct lazy_enqueue *e, cl_int err);

void lazy_queue_made(cl_command_queue queue, cl_context context, cl_device_id device, bool in_order);
void lazy_queue_released(cl_command_queue queue);
/* Its commands may begin; they do when lazy.slow and lazy.lanes let them. */
void lazy_flush(cl_command_queue queue);
void lazy_flush_of(cl_event event);
/* How many references the application has. */
void lazy_event_refs(cl_event event, int change);
cl_uint lazy_event_refs_now(cl_event event, cl_uint below);
/* The status as the application may see it. */
cl_int lazy_seen_status(cl_event event, cl_int status);
/* Whoever has seen one end has seen all that have ended. */
void lazy_see_all(void);
void lazy_user_event(cl_event event);
void lazy_user_event_set(cl_event event);
/* What keeps these from ending: a sentence. False: nothing does, the driver is at it. */
bool lazy_explain(char *out, size_t room, const cl_event *events, cl_uint n, cl_command_queue queue);
/* How many commands haven't ended, of those that were enqueued up to now; see lazy_ended_up_to. */
uint64_t lazy_commands_now(void);
bool lazy_ended_up_to(uint64_t number);

/* ---- callbacks.c ---- */

cl_int lazy_set_callback(cl_event event, cl_int type, void(CL_CALLBACK *call)(cl_event, cl_int, void *), void *data);
/* May call the application's back, on this thread. */
void lazy_callbacks_inside(void);
/* The thread calls nobody any more; waits for the callback that it is in. */
void lazy_callbacks_end(void);

/* ---- memory.c ---- */

void lazy_memory_made(cl_mem mem, cl_mem parent, cl_context context, cl_mem_flags flags, size_t bytes);
/* What of its parent it is. */
void lazy_memory_region(cl_mem mem, const cl_buffer_region *region);
void lazy_memory_retained(cl_mem mem);
/* True: the layer lets it go itself, later. */
bool lazy_memory_released(cl_mem mem);
/* A call names it. */
void lazy_memory_used(cl_mem mem, const char *what);
void lazy_sampler_made(cl_sampler handle);
void lazy_sampler_refs(cl_sampler handle, int change);
void lazy_memory_argument(cl_kernel kernel, cl_uint index, size_t bytes, const void *value);
void lazy_memory_kernel_gone(cl_kernel kernel);
void lazy_memory_launch(cl_kernel kernel, cl_command_queue queue);
/* With gpu: a command of that queue uses it, and so only commands of its device may. */
void lazy_memory_on(cl_mem mem, cl_command_queue queue, const char *what);
/* Lets go what no command uses any more. */
void lazy_memory_look(void);

/* ---- contexts.c, with poison ---- */

void lazy_context_made(cl_context context);
void lazy_context_used(cl_context context, const char *what);
void lazy_contexts_look(void);

/* ---- compiler.c, with compiler ---- */

void lazy_compile(const char *what);

/* ---- windows.c, with gpu ---- */

cl_int lazy_gpu_ids(cl_platform_id platform, cl_device_type type, cl_uint n, cl_device_id *out, cl_uint *n_ret);
cl_int lazy_gpu_info(cl_device_id device, cl_device_info what, size_t room, void *out, size_t *bytes_ret);
cl_mem lazy_gpu_import(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags, size_t bytes,
                       void *ptr, cl_int *err);
/* A rectangle of these rows of a buffer, read, written or copied. */
bool lazy_gpu_refuses(cl_mem buffer, const size_t *origin, const size_t *region, size_t row_pitch);

#endif
