/* SPDX-License-Identifier: MIT */
/* What rooms above this one do for it. */
#ifndef GS_SHIM_RECORD_UPWARD_H
#define GS_SHIM_RECORD_UPWARD_H

#include "shim/process/given.h"

struct gs_object;
struct _cl_icd_dispatch;

/* By the entry points. */
struct gs_above_objects {
    /* Frees an object that nobody holds any more, and all that hangs off it. */
    void (*destroy)(struct gs_object *o);
};
GS_TAKES(gs_above_objects);

/* By what is told of the commands; programs beside the shim haven't got it. */
#pragma weak __start_gs_above_driver
struct gs_above_driver {
    /* The driver's functions are known: they may be replaced by others that call them. */
    void (*loaded)(struct _cl_icd_dispatch *table);
};
GS_TAKES(gs_above_driver);

#endif
