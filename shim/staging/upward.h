/* SPDX-License-Identifier: MIT */
/* What the room of memory objects does for this one. */
#ifndef GS_SHIM_STAGING_UPWARD_H
#define GS_SHIM_STAGING_UPWARD_H

#include "shim/record/objects.h"

struct gs_above_staging {
    /* gs_replica_at(): the object that a root has on a place. */
    cl_mem (*replica_at)(const struct gs_mem *root, unsigned place);
};
extern const struct gs_above_staging gs_above_staging;

#endif
