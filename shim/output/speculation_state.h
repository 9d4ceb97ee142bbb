/* SPDX-License-Identifier: MIT */
/* A launch on trial that is under way: what its begin keeps, and its end looks at. */
#ifndef GS_SHIM_OUTPUT_SPECULATION_STATE_H
#define GS_SHIM_OUTPUT_SPECULATION_STATE_H

#include "shim/output/deferred_send.h"
#include "shim/output/speculation.h"
#include "shim/subkernel/units.h"

/* The contested bytes of one memory object. The handles are retained, as all below. */
struct gs_speculation_field {
    struct gs_mem *root; /* not to be looked into by the thread */
    cl_mem mem[GS_MAX_DEVICES], kept[GS_MAX_DEVICES];
    uint64_t begin, bytes;
    bool everywhere; /* afterwards every place has the bytes, not only home: see gs_merge.everywhere */
};

/* Bytes that go from a buffer to another. */
struct gs_speculation_copy {
    cl_mem from, to;
    uint64_t from_at, to_at, bytes;
    unsigned from_place, place; /* whose they are, and that gets them */
};

struct gs_speculation {
    struct gs_deferred_send d; /* first; part p is on place p */
    struct gs_kernel_stats *stats;
    uint64_t kernel_id;
    struct gs_speculation_field *fields;
    struct gs_speculation_copy *undo; /* kept bytes, back home */
    /* What each other part owns, from home once one device has done the launch over. */
    struct gs_speculation_copy *owned;
    size_t n_fields, n_undo, n_owned;
    struct gs_pinned *ring;          /* between places; null: by the driver's own copies */
    cl_uint changed[GS_MAX_DEVICES]; /* by place: some contested byte; written by the device */
    struct gs_kernel_work *whole;    /* the whole launch, at home */
    bool unknown;                    /* what has changed couldn't be found out: one device does it over */
    struct gs_events done_over;      /* the end of that launch, once it has been enqueued */
};

/* What it does once all parts have ended, once that is enqueued, and at the very end. */
cl_int gs_speculation_decide(struct gs_deferred_send *d);
void gs_speculation_ended(struct gs_deferred_send *d, cl_int err);
void gs_speculation_free(struct gs_deferred_send *d);

#endif
