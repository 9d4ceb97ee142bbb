/* SPDX-License-Identifier: MIT */
/* Evaluates an access program for one part of a launch. */
#include "translator/summary.h"

int gs_summary_eval(const struct gs_kernel_summary *kernel, const struct gs_geometry *launch, const struct gs_box *box,
                    const struct gs_arg_value *args, struct gs_arg_access *out)
{
    (void)launch, (void)box, (void)args;
    for (uint32_t i = 0; i < kernel->n_args; i++) {
        const struct gs_arg_summary *a = &kernel->args[i];
        gs_rangeset_clear(&out[i].reads);
        gs_rangeset_clear(&out[i].writes);
        gs_rangeset_clear(&out[i].overwrites);
        out[i].reads_all = a->may_read;
        out[i].writes_unknown = a->may_write;
    }
    return 0;
}

void gs_arg_access_free(struct gs_arg_access *a)
{
    gs_rangeset_free(&a->reads);
    gs_rangeset_free(&a->writes);
    gs_rangeset_free(&a->overwrites);
}
