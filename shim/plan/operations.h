/* SPDX-License-Identifier: MIT */
/* How much a launch computes, by what the translator knows of its kernel. */
#ifndef GS_SHIM_PLAN_OPERATIONS_H
#define GS_SHIM_PLAN_OPERATIONS_H

#include "shim/record/objects.h"
#include "translator/summary/summary.h"

/* gs_summary_operations, with the kernel's arguments as they are set now. 0: not known. */
double gs_plan_operations(const struct gs_kernel *k, const struct gs_kernel_summary *summary,
                          const struct gs_geometry *launch);

#endif
