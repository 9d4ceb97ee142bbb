/* SPDX-License-Identifier: MIT */
/* What the probe workers share: a device and its clock, the daemon's grant, state files, and the life of a probe. */
#ifndef GS_PROBES_PROBE_H
#define GS_PROBES_PROBE_H

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <getopt.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/client/client.h"

struct gs_longacc;
struct gs_vecstat;

enum { PROBE_EXIT_OK = 0, PROBE_EXIT_FAILED = 1, PROBE_EXIT_USAGE = 2 };

/* Where a kernel reads the time; clock.cl knows these numbers. */
enum probe_clock {
    PROBE_CLOCK_NONE,
    PROBE_CLOCK_KHR_DEVICE, /* cl_khr_kernel_clock, one clock for the device */
    PROBE_CLOCK_KHR_GROUP,  /* the same, one clock for each work-group */
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
    bool is_nvidia, is_pocl, is_cpu;
    cl_bitfield clocks; /* scopes of cl_khr_kernel_clock; 0 without it */
    unsigned index;
};

/* device.c */

/* Device `index` among those of all platforms, GPUs first. False with a message. */
bool probe_open(struct probe_device *d, unsigned index);

/* Destroys the context and the queue and makes them anew. */
bool probe_reset(struct probe_device *d);
void probe_close(struct probe_device *d);

/* The clock for comparing warps of one group, or groups of one device (`across_groups`). */
enum probe_clock probe_clock_of(const struct probe_device *d, bool across_groups);
const char *probe_clock_name(enum probe_clock clock);

/* The same, for a probe that can't do without; if there is none, says so, and `otherwise` behind it. */
bool probe_need_clock(const struct probe_device *d, bool across_groups, const char *otherwise, enum probe_clock *clock);

/* Whether so many warps fit one group; says so if not. */
bool probe_warps_fit(const struct probe_device *d, unsigned warps);

/* Builds clock.cl and the text with -DPROBE_CLOCK=..., -DPROBE_NVIDIA and the options given. Null with a message. */
cl_program probe_build(const struct probe_device *d, const char *text, enum probe_clock clock, const char *options);
cl_kernel probe_kernel(cl_program program, const char *name);
cl_mem probe_buffer(const struct probe_device *d, size_t bytes);

/* Release each that isn't null, and null it. */
void probe_drop_buffers(cl_mem *buffers, size_t n);
void probe_drop_kernels(cl_kernel *kernels, size_t n);
void probe_drop_program(cl_program *program);

/* Whether an OpenCL call succeeded; says which did not. */
bool probe_ok(cl_int rc, const char *what);

/* quiet.c: the daemon's grant, which keeps others away from the device, and from the link to it, during the whole
 * measurement. */
enum { PROBE_QUIET_RESOURCES = 2 };

struct probe_quiet {
    struct gs_client *client; /* null: nobody is asked */
    unsigned resource[PROBE_QUIET_RESOURCES], held;
    struct gs_grant grant[PROBE_QUIET_RESOURCES];
    double renewed_at;
    unsigned pauses;   /* times that it was given back in between, or lost */
    bool by_daemon;    /* what is held came from a daemon */
    bool lost;         /* runs were made that nobody kept others away from */
    bool failed;       /* the last wait ended with an error, which was said */
    _Atomic bool told; /* the user knows what is waited for */
};

/* Joins the daemon, below all tasks, where there is one. False with a message. */
bool probe_quiet_join(struct probe_quiet *q, unsigned gpu);

/* Before each batch of runs, which should take well below a second: takes the device, or keeps it, or gives it to a
 * task that has come and waits for its end. False if Ctrl-C ended the wait, or it `failed`. */
bool probe_quiet_keep(struct probe_quiet *q);

/* Gives it back. Whether others were kept away during all runs. */
bool probe_quiet_leave(struct probe_quiet *q);

/* state.c: a file that holds what a probe has measured, for a later call to go on from. One function of each probe
 * names its data in order, both for writing and for reading. */
struct probe_state {
    FILE *f;
    bool writing, failed;
};

/* Writes or reads n bytes. False: it failed, as has then all that follows. */
bool probe_state_bytes(struct probe_state *s, void *bytes, size_t n);
bool probe_state_vectors(struct probe_state *s, struct gs_vecstat **v);

typedef bool (*probe_state_data)(void *probe, struct probe_state *s);

/* `what` says in one line what was measured; only a file with the same line is read. The file is replaced as a whole,
 * and what was there before stays if that fails. False with a message. */
bool probe_state_save(const char *path, const char *what, probe_state_data data, void *probe);
bool probe_state_load(const char *path, const char *what, probe_state_data data, void *probe);

/* sum.c: the exact sum of x[0 ... n - 1] by the kernel sum_exact of gs_probe_sum_cl (built with -DPROBE_INT64). */
extern const char gs_probe_sum_cl[];

struct probe_exact_sum {
    cl_kernel kernel;
    cl_mem x, result; /* result: GS_LONGACC_DIGITS + 1 words of 64 bits */
    size_t n, groups, local;
};

/* *first and *last are the events of the first command and of the last, the caller's. False with a message. */
bool probe_sum_exactly(const struct probe_device *d, const struct probe_exact_sum *e, struct gs_longacc *sum,
                       cl_event *first, cl_event *last);

/* run.c: the life of a probe. */

/* The first member of each probe's struct. */
struct probe {
    const struct probe_kind *kind;
    struct probe_device device;
    struct probe_quiet quiet;
    uint64_t device_index;
    const char *note, *state_file, *plot;
    bool resume, force, json;
    bool kept_quiet;               /* by the daemon, during all runs of this call */
    bool complete;                 /* all was measured that was asked for */
    double saved_at, save_seconds; /* when the state was last saved, and how long that took */
};

enum { PROBE_OWN_OPTIONS = 256 }; /* a probe numbers its own options from here on */

/* One of the probes; `probe` is its struct, which begins with a struct probe. */
struct probe_kind {
    const char *name;
    size_t bytes; /* of its struct, which is zeroed memory at first */
    void (*set_defaults)(void *probe);
    const struct option *options;                                    /* its own; the last one is all zeroes */
    bool (*take_option)(void *probe, int option, const char *value); /* false with a message */
    bool (*check_options)(void *probe);                              /* the same; may be null */
    bool (*prepare)(void *probe);                                    /* the device is open */
    void (*describe)(void *probe, char *line, size_t bytes);         /* what is measured, for the state's file */
    probe_state_data data;
    bool (*measure)(void *probe);                 /* until all is done or probe_go_on says no; false with a message */
    const char *counts;                           /* such as runs */
    uint64_t (*done)(void *probe, uint64_t *all); /* of `all` of them so many are measured */
    void (*print_table)(void *probe);
    void (*add_json)(void *probe, json_t *j);
    void (*plot)(void *probe, FILE *svg);
    bool (*finish)(void *probe); /* more files, once all is measured; may be null */
    void (*release)(void *probe);
};

extern const struct probe_kind probe_order, probe_sum, probe_latency, probe_starts, probe_handover;

/* handover.c: the life of a process that takes turns, which that probe starts: argv[0] is PROBE_TURNS, behind it are
 * the device and its kernel's length in microseconds. Returns the exit status. */
#define PROBE_TURNS "turns"
int probe_take_turns(int argc, char **argv);

/* Reads the options, measures, reports. argv[0] is the probe's name. Returns the exit status. */
int probe_main(const struct probe_kind *kind, int argc, char **argv);

/* To be asked before the measurement that is to be written there; says why not. `path` may be null. */
bool probe_can_write(const char *path);

/* Between two batches of runs: whether to go on. Waits for the device where others have it, and saves the state now and
 * then. */
bool probe_go_on(struct probe *p);

/* A line on stderr that replaces itself, if stderr is a terminal and the answer not JSON, at most ten times a second;
 * `done` of `all`. */
void probe_progress(const struct probe *p, const char *what, uint64_t done, uint64_t all);

double probe_seconds(void);

/* Set by Ctrl-C: stop with what there is. A second Ctrl-C ends the process. */
extern atomic_bool probe_interrupted;

/* A number between limits, or a message that names the option. */
bool probe_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* "8" or "1..32". */
bool probe_range(const char *option, const char *text, unsigned most, unsigned *first, unsigned *last);

#endif
