/* SPDX-License-Identifier: MIT */
#include "shim/choice.h"

/* So few work-items never repay a second device's launch. */
enum { TINY_LAUNCH = 1024 };

const char *gs_choice_early(struct gs_kernel *k, cl_uint dims, const size_t *global)
{
    (void)k;
    uint64_t items = 1;
    if (gs_settings()->mode != GS_MODE_AUTO)
        return NULL;
    for (cl_uint d = 0; d < dims; d++)
        items *= global[d];
    return items < TINY_LAUNCH ? "it is too small" : NULL;
}

const char *gs_choice(struct gs_kernel *k, const struct gs_plan *plan)
{
    (void)k;
    (void)plan;
    return NULL;
}
