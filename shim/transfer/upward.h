/* SPDX-License-Identifier: MIT */
/* A function of auto mode that this room calls. */
#ifndef GS_SHIM_TRANSFER_UPWARD_H
#define GS_SHIM_TRANSFER_UPWARD_H

#include "common/links.h"

struct gs_above_transfer {
    /* The links between devices have been measured. From any thread. */
    void (*links)(const struct gs_links *links);
};
extern const struct gs_above_transfer gs_above_transfer;

#endif
