/* SPDX-License-Identifier: MIT */
/* A driver for two GPUs (or three) that don't exist, with the functions that a simple application, and gpusparc for its
 * sake, calls. Transfers move bytes, kernels do nothing. Commands end at once, and cost next to nothing, so that what a
 * call takes is the interposer's own; unless one of these is set:
 *
 * settings.c FAKE_LOG=FILE gets a line for each call that is about commands: its name (and how many bytes are mapped)
 *            and its queue's number; and `mark` for each clGetPlatformInfo of CL_PLATFORM_PROFILE, by which an
 *            application tells its iterations apart.
 *            FAKE_END_MS: exit() takes so long to take the driver apart, and the process ends with status 70 where a
 *            command comes meanwhile or later.
 * time.c     FAKE_ITEM_NS=N: kernels take that for each work-item, and the time passes: commands begin after what they
 *            wait for, a device runs its kernels one after the other, and to start takes 50 ms; CL_PLATFORM_PROFILE is
 *            `idle` where all have ended. FAKE_ROUNDS=I: argument I, a uint, says how many times that a work-item
 *            takes. FAKE_WAVE=N: a device takes as long for one work-item as for N. FAKE_MARKER_NS: what a marker
 *            takes; FAKE_READ_NS: a read from the second device.
 *            FAKE_SLOWER=N: the second device has another name and takes N times as long, and the log says for each
 *            launch `work`, its device (0, 1, ...), its work-items, the ns that it takes, and its offset and size by
 *            dimension; with N/M there is a third one; NxCOUNT,M is N for its first COUNT kernels and then M.
 * caches.c   FAKE_EVICT=KIB: a command, and what makes a buffer or lets it go, goes through so much code, and so much
 *            memory, as a real driver's does: what was in the processor's nearest caches is then gone.
 * objects.c  FAKE_NAME is the platform's. FAKE_PIN_NS: what a buffer in the host's memory takes to make; the log has
 *            `pins` and its bytes.
 * programs.c FAKE_BUILD_MS: a build by another thread than the process's first, and the one that builds for it
 * while it waits, takes so long. Programs are made in every way that OpenCL has, and by extensions. commands.c and
 * events.c need no setting. */
#ifndef GS_TESTS_FAKE_H
#define GS_TESTS_FAKE_H

#include "../opencl.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct _cl_platform_id {
    int unused;
};
struct _cl_device_id {
    cl_ulong end_ns;    /* of its last kernel; time_lock */
    const char *slower; /* what FAKE_SLOWER says of it, from now on; NULL: nothing */
    unsigned long kernels;
};
struct _cl_context {
    int unused;
};
struct _cl_program {
    char *text;
};
struct _cl_command_queue {
    atomic_uint refs;
    cl_device_id device;
    unsigned number;
    bool profiling;
    cl_event last; /* where time passes: its last command, retained; time_lock */
};
struct _cl_mem {
    atomic_uint refs;
    cl_mem_flags flags;
    char *bytes;
    void(CL_CALLBACK *gone)(cl_mem m, void *data);
    void *data;
};
struct _cl_kernel {
    char name[64];
    cl_uint n_args;
    cl_uint rounds;
};
struct _cl_event {
    atomic_uint refs;
    atomic_int status;
    bool profiling;
    cl_ulong begin_ns;
    _Atomic cl_ulong end_ns; /* OPEN_NS: not known, as it is a user event, or waits for one */
    cl_command_queue queue;  /* NULL: it is a user event */
    /* While it isn't: */
    cl_event next;
    cl_ulong took_ns;
    bool kernel;
    cl_uint n_waits;
    cl_event *waits; /* retained */
};
#define OPEN_NS UINT64_MAX

/* Of these files alone: an application's own may have the same names. */
#pragma GCC visibility push(hidden)

enum { FAKE_DEVICES = 3 };

struct fake {
    struct _cl_platform_id platform;
    struct _cl_device_id devices[FAKE_DEVICES];
    struct _cl_context context;
    cl_uint n_devices;
    FILE *log; /* or NULL */
    double item_ns;
    const char *rounds_arg;
    cl_ulong wave, marker_ns, read_ns, pin_ns;
    bool unlike;       /* the devices take unlike times */
    atomic_bool apart; /* exit() is taking the driver apart */
};
extern struct fake fake;

/* The log. The queue may be NULL. */
void fake_say(const char *call, cl_command_queue queue);

/* Of zeros; *err, where there is an err, is what came of it. */
void *fake_make(size_t bytes, cl_int *err);
cl_mem fake_new_buffer(cl_mem_flags flags, size_t bytes, void *ptr, cl_int *err);

/* What a query returns. */
cl_int fake_answer_text(const char *text, size_t room, void *out, size_t *bytes_ret);

void fake_set_up_eviction(size_t bytes);
void fake_evict(void);

cl_ulong fake_now_ns(void);
/* Both return at once where no time passes. */
void fake_sleep_until(cl_ulong ns);
void fake_sleep_until_end(cl_event e);
bool fake_is_idle(void);

/* A command's event e begins after the n events of `wait`, and after what is before it in its queue. False: no memory.
 */
bool fake_take_time(cl_event e, cl_command_queue queue, cl_uint n, const cl_event *wait);

/* Of all times, and of each queue's last command. */
void fake_lock_time(void);
void fake_unlock_time(void);
/* Of the commands whose ends have become known. With the lock. */
void fake_find_ends(void);

#pragma GCC visibility pop

#endif
