/* SPDX-License-Identifier: MIT */
/* What this room does for the one below it. */
#include "shim/schedule/upward.h"
#include "shim/memory/peer.h"

const struct gs_schedule_memory gs_schedule_memory = {.carries = gs_peer_carries};
