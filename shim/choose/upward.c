/* SPDX-License-Identifier: MIT */
/* What auto mode does for the rooms below it. */
#include "shim/transfer/upward.h"
#include "shim/plan/upward.h"
#include "shim/process/threads.h"
#include "shim/choose/timing.h"

/* Its splits may need those kernels. */
static void prepared(struct gs_program *p)
{
    gs_timing_prepared(p);
    if (gs_threads_own())
        gs_own_compile(p->o.ctx);
}

const struct gs_above_plan gs_above_plan = {.pays = gs_timing_may_gain, .prepared = prepared};
const struct gs_above_transfer gs_above_transfer = {.links = gs_timing_links};
