/* SPDX-License-Identifier: MIT */
/* What rooms above this one do for it. */
#ifndef GS_SHIM_RECORD_UPWARD_H
#define GS_SHIM_RECORD_UPWARD_H

#include "shim/record/real.h"

struct gs_object;
struct _cl_icd_dispatch;

/* By the entry points. */
struct gs_above_objects {
    /* Frees an object that nobody holds any more, and all that hangs off it. */
    void (*destroy)(struct gs_object *o);
};
extern const struct gs_above_objects gs_above_objects;

/* By what is told of the commands; programs beside the shim haven't got it. */
struct gs_op;
struct gs_above_driver {
    /* The driver's functions are known. */
    void (*loaded)(void);
    /* Where --stats or --trace is wanted: sees a command on its way to gs_enqueue_unseen. */
    cl_int (*enqueue)(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                      cl_event *event);
};
extern const struct gs_above_driver gs_above_driver __attribute__((weak));

/* By pooled memory (docs/memory.md), where the user wants that; programs beside the shim haven't got it. */
struct gs_above_pool {
    /* The driver's functions are known: they may be replaced by others that call them. */
    void (*loaded)(struct _cl_icd_dispatch *table);
    /* Is the queue of a context whose memory is pooled? Then its commands aren't the driver's: gs_enqueue. */
    bool (*takes)(cl_command_queue queue);
    cl_int (*enqueue)(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                      cl_event *event);
};
extern const struct gs_above_pool gs_above_pool __attribute__((weak));

#endif
