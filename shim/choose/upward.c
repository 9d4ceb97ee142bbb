/* SPDX-License-Identifier: MIT */
/* What auto mode does for the rooms below it. */
#include "shim/memory/upward.h"
#include "shim/plan/upward.h"
#include "shim/choose/timing.h"

const struct gs_above_plan gs_above_plan = {.pays = gs_timing_pays, .prepared = gs_timing_prepared};
const struct gs_above_memory gs_above_memory = {.pinned = gs_timing_pinned, .links = gs_timing_links};
