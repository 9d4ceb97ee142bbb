/* SPDX-License-Identifier: MIT */
/* Sees every command on its way to the driver, whoever enqueues it, and learns from its event's profile when it ran:
 * for
 * --trace and --stats. Where neither is wanted the driver's table stays as it is, and nothing here costs anything. */
#ifndef GS_SHIM_WATCH_H
#define GS_SHIM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/real.h"

/* What commands are enqueued for, where the application didn't ask for them itself. GS_FOR_PACKING: a kernel that is a
 * step of a transfer. */
enum gs_purpose { GS_FOR_APP, GS_FOR_MERGE, GS_FOR_REDUCTION, GS_FOR_VERIFY, GS_FOR_PACKING };

/* How a transfer goes: DIRECT is the driver's own way between the application's memory and a device, STAGED the same
 * through our pinned ring; PINNED and PEER are between two devices. */
enum gs_way { GS_WAY_DIRECT, GS_WAY_STAGED, GS_WAY_PINNED, GS_WAY_PEER };

enum gs_kind { GS_KIND_KERNEL, GS_KIND_UPLOAD, GS_KIND_DOWNLOAD, GS_KIND_PEER, GS_KIND_COPY, GS_KIND_MERGE, GS_KINDS };

/* What is known of the commands that this thread enqueues from now on. */
struct gs_label {
    enum gs_purpose purpose;
    enum gs_way way;
    int part; /* of a split launch, counted from 0; -1: of none */
};

/* Each sets one of them and returns what it all was before, for gs_label_back(). */
struct gs_label gs_label_purpose(enum gs_purpose purpose);
struct gs_label gs_label_way(enum gs_way way);
struct gs_label gs_label_part(int part);
void gs_label_back(struct gs_label before);
struct gs_label gs_label_now(void);

/* A command that has run. Times by CLOCK_MONOTONIC: each device's clock is compared with it as commands go by. */
struct gs_ran {
    struct gs_label label;
    enum gs_kind kind;
    char name[64]; /* of the kernel; or fill, map, copy */
    unsigned device;
    uint64_t bytes, items; /* of a transfer; work-items of a kernel */
    uint64_t job;          /* 0: of none */
    uint64_t asked_ns, start_ns, end_ns;
};

/* A call of the application that may block. Use: GS_CALL("clFinish"); it ends with the block that it stands in. */
struct gs_call {
    const char *name;
    uint64_t begin_ns;
};
struct gs_call gs_call_begin(const char *name);
void gs_call_end(const struct gs_call *call);
#define GS_CALL(name) const struct gs_call gs_call_ __attribute__((cleanup(gs_call_end))) = gs_call_begin(name)

/* For real.c: puts the watch before the driver's functions, if anything is to be watched. */
void gs_watch_install(struct _cl_icd_dispatch *table);

uint64_t gs_now_ns(void);

/* When the process came to use OpenCL. */
uint64_t gs_watch_since_ns(void);

#endif
