/* SPDX-License-Identifier: MIT */
/* Sees every command on the way to the driver, whoever enqueues it, and learns its times from the event's profile, for
 * --trace and --stats. Where neither is wanted gs_enqueue doesn't ask us. */
#ifndef GS_SHIM_REPORT_WATCH_H
#define GS_SHIM_REPORT_WATCH_H

#include <errno.h>

#include "shim/driver/enqueue.h"
#include "shim/process/process.h"

/* ---- labels, for --trace and --stats: what this thread's commands are for, and which call enqueues them ---- */

/* The purpose of a command that the application didn't ask for. */
enum gs_purpose { GS_FOR_APP, GS_FOR_MERGE, GS_FOR_REDUCTION, GS_FOR_VERIFY };

/* A transfer's way, as the trace tells it. DIRECT: the driver's own between the application's memory and a device;
 * STAGED: our pinned ring; PINNED and PEER: between two devices. */
enum gs_label_way { GS_WAY_DIRECT, GS_WAY_STAGED, GS_WAY_PINNED, GS_WAY_PEER };
enum { GS_PACK_ITEM_BYTES = 16 }; /* moved by a work-item of the pack kernel (transfer/pack.h) */

/* The label of the commands that this thread enqueues: set by code that enqueues, with GS_LABEL. */
struct gs_label {
    enum gs_purpose purpose;
    enum gs_label_way way;
    int part; /* of a split launch, from 0; -1: none */
};

extern _Thread_local struct gs_label gs_label;

/* Sets a field of the label until the surrounding block ends. Use: GS_LABEL(part, 1); */
static inline void gs_label_end(const struct gs_label *before)
{
    gs_label = *before;
}
#define GS_LABEL(field, value)                                                                                         \
    const struct gs_label gs_label_ __attribute__((cleanup(gs_label_end))) = gs_label;                                 \
    gs_label.field = (value)

/* GS_CALL("clFinish"): a call that may block, until the surrounding block ends; keeps errno. */
struct gs_call {
    const char *name;
    int errno_before;
    uint64_t begin_ns;
};
__attribute__((cold)) void gs_call_trace_begin(struct gs_call *call, const char *name);
__attribute__((cold)) void gs_call_trace_end(const struct gs_call *call);
static inline struct gs_call gs_call_begin(const char *name)
{
    struct gs_call call = {.errno_before = errno};
    if (gs_settings()->trace)
        gs_call_trace_begin(&call, name);
    return call;
}
static inline void gs_call_end(const struct gs_call *call)
{
    if (call->begin_ns)
        gs_call_trace_end(call);
    errno = call->errno_before;
}
#define GS_CALL(name) const struct gs_call gs_call_ __attribute__((cleanup(gs_call_end))) = gs_call_begin(name)

/* ---- commands ---- */

enum gs_kind { GS_KIND_KERNEL, GS_KIND_UPLOAD, GS_KIND_DOWNLOAD, GS_KIND_PEER, GS_KIND_COPY, GS_KIND_MERGE, GS_KINDS };

enum { GS_RAN_NAME = 256 }; /* bytes; longer names of kernels are cut */

/* A command that has run. Times are by CLOCK_MONOTONIC: each device's clock is compared with it as commands go by. */
struct gs_ran {
    struct gs_label label;
    enum gs_kind kind;
    char name[GS_RAN_NAME]; /* the kernel's name; or fill, map, copy */
    unsigned device;
    uint64_t bytes, items; /* of a transfer; work-items of a kernel */
    uint64_t job;          /* 0: none */
    uint64_t asked_ns, start_ns, end_ns;
};

/* Counts bytes that the application asks to move between its memory and a device, for --stats. */
__attribute__((cold)) void gs_report_transfer(const struct gs_op *op);

/* The place in the group of the queue's device; of one for images of sub-devices 0; -1: it isn't of the group. */
int gs_queue_place(cl_command_queue queue);

/* A kernel's name, malloc'd. NULL: no memory. */
char *gs_kernel_name(cl_kernel kernel);

/* ---- trace.c: --trace, the process's timeline in the Chrome trace format; docs/trace.md describes it. Calls OpenCL
 * only for the devices' names. The file is a whole JSON array after each event, however the application ends. ---- */

void gs_trace_command(const struct gs_ran *ran);

/* A job of a scheduled application begins or ends: marks it in the trace, and numbers the commands in between. */
void gs_trace_job(bool begin);
uint64_t gs_trace_job_number(void); /* 0: no job */

#endif
