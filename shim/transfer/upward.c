/* SPDX-License-Identifier: MIT */
/* What this room does for one below it. */
#include "shim/put/upward.h"
#include "shim/transfer/peer.h"

const struct gs_above_put gs_above_put = {.carries = gs_peer_carries};
