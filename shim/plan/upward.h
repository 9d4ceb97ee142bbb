/* SPDX-License-Identifier: MIT */
/* What auto mode does for this room. */
#ifndef GS_SHIM_PLAN_UPWARD_H
#define GS_SHIM_PLAN_UPWARD_H

#include "shim/record/objects.h"

struct gs_above_plan {
    /* The program has been translated: are there kernels of it for which it is worth compiling? From any thread. */
    bool (*pays)(struct gs_program *p);
    /* It has been prepared. From any thread. */
    void (*prepared)(struct gs_program *p);
};
extern const struct gs_above_plan gs_above_plan;

#endif
