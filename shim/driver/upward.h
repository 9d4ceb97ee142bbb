/* SPDX-License-Identifier: MIT */
/* Functions of upper rooms that this room calls. Programs beside the shim have none of them. */
#ifndef GS_SHIM_DRIVER_UPWARD_H
#define GS_SHIM_DRIVER_UPWARD_H

#include "shim/driver/real.h"

/* The room report. */
struct gs_op;
struct gs_above_driver {
    /* With --stats or --trace: sees a command on the way to gs_enqueue_real. */
    cl_int (*enqueue)(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                      cl_event *event);
};
extern const struct gs_above_driver gs_above_driver __attribute__((weak));

/* The room events. */
struct gs_above_events {
    /* The driver's functions are known now; replaces some in the table. */
    void (*loaded)(struct _cl_icd_dispatch *table);
};
extern const struct gs_above_events gs_above_events __attribute__((weak));

/* Pooled memory (docs/memory.md), if the user wants that. */
struct gs_above_pool {
    void (*loaded)(struct _cl_icd_dispatch *table); /* as above */
    /* Is this a queue of a pooled context? Its commands never reach the driver: gs_enqueue. */
    bool (*takes)(cl_command_queue queue);
    cl_int (*enqueue)(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                      cl_event *event);
};
extern const struct gs_above_pool gs_above_pool __attribute__((weak));

#endif
