/* SPDX-License-Identifier: MIT */
/* A function of an upper room that this room calls. */
#ifndef GS_SHIM_RECORD_UPWARD_H
#define GS_SHIM_RECORD_UPWARD_H

struct gs_object;

/* By the entry points. */
struct gs_above_objects {
    /* Frees an object that nobody holds, with all that hangs off it. */
    void (*destroy)(struct gs_object *o);
};
extern const struct gs_above_objects gs_above_objects;

#endif
