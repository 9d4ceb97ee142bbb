/* SPDX-License-Identifier: MIT */
/* What the daemon's client does for the room below it. */
#include "shim/schedule/client.h"
#include "shim/schedule/dispatch.h"
#include "shim/order/upward.h"

const struct gs_above_order gs_above_order = {.close = gs_queue_close,
                                              .is_empty = gs_queue_is_empty,
                                              .sole = gs_unit_is_sole,
                                              .wanted = gs_units_wanted,
                                              .sleep = gs_units_sleep,
                                              .wake = gs_units_wake};
