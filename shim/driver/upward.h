/* SPDX-License-Identifier: MIT */
/* What rooms above this one do for it. Programs beside the shim have neither. */
#ifndef GS_SHIM_DRIVER_UPWARD_H
#define GS_SHIM_DRIVER_UPWARD_H

#include "shim/driver/real.h"

/* By what is told of the commands. */
struct gs_op;
struct gs_above_driver {
    /* Where --stats or --trace is wanted: sees a command on its way to gs_enqueue_real. */
    cl_int (*enqueue)(const struct gs_op *op, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                      cl_event *event);
};
extern const struct gs_above_driver gs_above_driver __attribute__((weak));

/* By pooled memory (docs/memory.md), where the user wants that. */
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
