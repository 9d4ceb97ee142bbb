/* SPDX-License-Identifier: MIT */
/* What the probe workers share: a device, its clock, programs, options, Ctrl-C. */
#ifndef GS_PROBES_PROBE_H
#define GS_PROBES_PROBE_H

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/client/client.h"

enum { PROBE_EXIT_OK = 0, PROBE_EXIT_FAILED = 1, PROBE_EXIT_USAGE = 2 };

/* Where a kernel reads the time. */
enum probe_clock {
    PROBE_CLOCK_NONE,
    PROBE_CLOCK_KHR,        /* cl_khr_kernel_clock, scope of the device */
    PROBE_CLOCK_PTX_SM,     /* PTX %clock64: cycles of one multiprocessor */
    PROBE_CLOCK_PTX_GLOBAL, /* PTX %globaltimer: nanoseconds of the whole GPU, in steps */
    PROBE_CLOCK_POCL,       /* the processor's cycle counter */
};

struct probe_device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    char name[128], platform[128], driver[128], extensions[8192];
    cl_uint compute_units, frequency_mhz;
    size_t max_group;
    bool is_nvidia, is_pocl;
    /* The daemon's client, which grants the GPU for the time of a batch; null with --force. */
    struct gs_client *client;
    struct gs_grant grant;
    unsigned index;
    bool held, waited;
};

/* Device `index` among those of all platforms, GPUs first. Unless `force`, joins the daemon, below all tasks, where
 * there is one. False with a message. */
bool probe_open(struct probe_device *d, unsigned index, bool force);

/* Takes the GPU from the daemon and waits for it, and gives it back: in between, no application under gpusparc runs a
 * kernel on it. Hold it for a batch well below a second, the daemon's watchdog. False only if Ctrl-C ended the wait. */
bool probe_take(struct probe_device *d);
void probe_give(struct probe_device *d);

/* Destroys the context and the queue and makes them anew. */
bool probe_reset(struct probe_device *d);
void probe_close(struct probe_device *d);

/* The clock for comparing warps of one group, or groups of one device (`across_groups`). */
enum probe_clock probe_clock_of(const struct probe_device *d, bool across_groups);
const char *probe_clock_name(enum probe_clock clock);

/* Builds the text with -DPROBE_CLOCK=..., -DPROBE_NVIDIA and the options given. Null with a message. */
cl_program probe_build(const struct probe_device *d, const char *text, enum probe_clock clock, const char *options);
cl_kernel probe_kernel(cl_program program, const char *name);
cl_mem probe_buffer(const struct probe_device *d, size_t bytes);

/* Whether an OpenCL call succeeded; says which did not. */
bool probe_ok(cl_int rc, const char *what);

/* Set by Ctrl-C: stop with what there is. A second Ctrl-C ends the process. */
extern volatile sig_atomic_t probe_interrupted;
void probe_catch_interrupt(void);

/* A line on stderr that replaces itself, if stderr is a terminal, at most ten times a second; `done` of `all`. */
void probe_progress(const char *what, uint64_t done, uint64_t all);
void probe_progress_end(void);

double probe_seconds(void);

/* A number between limits, or a message that names the option. */
bool probe_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* "8" or "1..32". */
bool probe_range(const char *option, const char *text, unsigned most, unsigned *first, unsigned *last);

/* The device's names and the time, for every JSON answer. */
json_t *probe_describe(const struct probe_device *d, const char *note);

/* The workers; argv[0] is the probe's name. They return the exit status. */
int probe_order_main(int argc, char **argv);
int probe_sum_main(int argc, char **argv);
int probe_latency_main(int argc, char **argv);

#endif
