/* SPDX-License-Identifier: MIT */
/* What this room does for one below it. */
#include "shim/order/upward.h"
#include "shim/schedule/dispatch.h"

const struct gs_above_order gs_above_order = {.close = gs_queue_close, .is_empty = gs_queue_is_empty};
