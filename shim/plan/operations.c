/* SPDX-License-Identifier: MIT */
#include "shim/plan/operations.h"

#include <stdlib.h>

double gs_plan_operations(const struct gs_kernel *k, const struct gs_kernel_summary *summary,
                          const struct gs_geometry *launch)
{
    struct gs_arg_value *values = summary->refusal ? NULL : calloc(summary->n_args + 1, sizeof *values);
    if (!values)
        return 0;
    for (uint32_t i = 0; i < summary->n_args; i++) {
        const struct gs_arg *a = &k->args[i];
        values[i].bytes = a->is_mem || !a->has_value ? NULL : a->bytes;
        values[i].size = a->size;
    }
    const double operations = gs_summary_operations(summary, launch, values);
    free(values);
    return operations;
}
