/* SPDX-License-Identifier: MIT */
/* Functions of auto mode that this room calls. */
#ifndef GS_SHIM_PLAN_UPWARD_H
#define GS_SHIM_PLAN_UPWARD_H

#include "shim/record/objects.h"

struct gs_above_plan {
    /* The program is translated: does compiling the translation pay for any kernel? Any thread. */
    bool (*pays)(struct gs_program *p);
    /* The program has been compiled. Any thread. */
    void (*compiled)(struct gs_program *p);
};
extern const struct gs_above_plan gs_above_plan;

#endif
