/* SPDX-License-Identifier: MIT */
/* What the daemon's client does for a room below it. */
#include "shim/client/client.h"
#include "shim/order/upward.h"

const struct gs_above_completion gs_above_completion = {
    .sole = gs_unit_is_sole, .wanted = gs_units_wanted, .sleep = gs_units_sleep, .wake = gs_units_wake};
