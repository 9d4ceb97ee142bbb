/* SPDX-License-Identifier: MIT */
/* A launch on pooled memory as turns: boxes of work-groups, each of which touches no more bytes than a device has room
 * for. Pure but for what the store says of the devices' room. */
#ifndef GS_SHIM_POOLED_TURNS_H
#define GS_SHIM_POOLED_TURNS_H

#include "shim/record/objects.h"
#include "translator/summary/summary.h"

/* Of the translation for pooled memory, struct gs_hidden is followed by how far each pointer is to be moved. */
struct gs_pool_hidden {
    struct gs_hidden hidden;
    uint64_t shift[GS_SHIFTS];
};

/* What a turn does to one root. */
struct gs_turn_use {
    struct gs_mem *root;
    struct gs_range window;          /* of the root: holds the sets; empty: it touches nothing */
    struct gs_rangeset needs, wrote; /* of the root: must be valid before; is valid there afterwards */
};

struct gs_turn {
    struct gs_box box;
    struct gs_turn_use *uses; /* gs_turns.n_uses; owned */
};

struct gs_turns {
    unsigned n, dim;
    bool whole;         /* one turn, by the application's own kernel, with whole buffers */
    bool serial;        /* a turn touches what another writes: they run one after the other */
    const char *reason; /* why it is one turn; or, where it fits no device, why it isn't cut further; or NULL */
    struct gs_turn *v;
    uint32_t n_uses;
};

struct gs_turns_input {
    const struct gs_kernel_summary *kernel; /* NULL: nothing is known of it; and: */
    const char *reason;                     /* why not */
    uint32_t n_args;
    const struct gs_geometry *launch;
    bool null_local;
    const struct gs_arg *args;
    struct gs_mem *const *mems; /* by argument, or NULL */
    unsigned devices;
};

/* CL_SUCCESS, CL_OUT_OF_HOST_MEMORY, or CL_MEM_OBJECT_ALLOCATION_FAILURE: however it is cut, it doesn't fit; then
 * out->reason says why. gs_turns_free in either case. */
cl_int gs_turns_make(struct gs_turns *out, const struct gs_turns_input *in);
void gs_turns_free(struct gs_turns *t);

#endif
