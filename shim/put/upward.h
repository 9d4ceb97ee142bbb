/* SPDX-License-Identifier: MIT */
/* What rooms above this one do for it. */
#ifndef GS_SHIM_PUT_UPWARD_H
#define GS_SHIM_PUT_UPWARD_H

#include "shim/record/objects.h"

struct gs_above_put {
    /* gs_peer_carries(): how many bytes go by a window in so long; 0: not known. */
    uint64_t (*carries)(const struct gs_context *ctx, uint64_t ns);
};
extern const struct gs_above_put gs_above_put;

#endif
