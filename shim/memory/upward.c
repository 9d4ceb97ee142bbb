/* SPDX-License-Identifier: MIT */
/* What this room does for one below it. */
#include "shim/memory/replica.h"
#include "shim/staging/upward.h"

const struct gs_above_staging gs_above_staging = {.replica_at = gs_replica_at};
