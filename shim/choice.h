/* SPDX-License-Identifier: MIT */
/* Whether a launch that may be split should be: `auto` mode's choice between one device and all. */
#ifndef GS_SHIM_CHOICE_H
#define GS_SHIM_CHOICE_H

#include "shim/plan.h"

/* Before anything is translated: a reason for one device, or NULL. */
const char *gs_choice_early(struct gs_kernel *k, cl_uint dims, const size_t *global);

/* For a launch with a plan: a reason for one device, or NULL. */
const char *gs_choice(struct gs_kernel *k, const struct gs_plan *plan);

#endif
