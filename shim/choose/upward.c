/* SPDX-License-Identifier: MIT */
/* What auto mode does for the rooms below it. */
#include "shim/transfer/upward.h"
#include "shim/plan/upward.h"
#include "shim/process/threads.h"
#include "shim/choose/later.h"
#include "shim/choose/timing.h"
#include "shim/transfer/transfer.h"

/* Compiling takes longer than making what its splits go by, which a thread does meanwhile. */
static bool pays(struct gs_program *p)
{
    const bool worth = gs_timing_may_gain(p);
    if (worth && !gs_later_compiles())
        gs_paths_prepare(p->o.ctx);
    return worth;
}

/* Its splits may need those kernels. */
static void prepared(struct gs_program *p)
{
    gs_timing_prepared(p);
    if (gs_threads_own())
        gs_own_compile(p->o.ctx);
}

const struct gs_above_plan gs_above_plan = {.pays = pays, .prepared = prepared};
const struct gs_above_transfer gs_above_transfer = {.links = gs_timing_links};
