/* SPDX-License-Identifier: MIT */
/* What this room does for the one below it. */
#include "shim/schedule/upward.h"
#include "shim/memory/peer.h"

GS_GIVES(gs_schedule_memory) = {.carries = gs_peer_carries};
