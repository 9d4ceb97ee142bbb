/* SPDX-License-Identifier: MIT */
/* A launch on pooled memory as turns: boxes of work-groups, each of which touches no more bytes than a device has room
 * for. Pure: `gpusparc explain --memory` asks, too. */
#ifndef GS_SHIM_POOLED_TURNS_H
#define GS_SHIM_POOLED_TURNS_H

#include "shim/record/objects.h"

/* A window is made of whole pages, so that what is aligned in the buffer is aligned in the window. */
enum { GS_POOL_PAGE = 4096 };
static inline struct gs_range gs_pool_pages(uint64_t size, struct gs_range range)
{
    const uint64_t page = GS_POOL_PAGE, end = (range.end + page - 1) / page, last = (size + page - 1) / page;
    return (struct gs_range){range.begin / page * page, (end < last ? end : last) * page};
}

/* The most bytes that windows can have on any one device, and one window of them. */
struct gs_pool_room {
    uint64_t all, one;
};

/* Of a device's memory: the driver has uses of its own for some. */
static inline uint64_t gs_pool_room_of(uint64_t bytes)
{
    return bytes - bytes / 16;
}

/* What a kernel of the translation for pooled memory gets as its last argument. */
struct gs_pool_hidden {
    struct gs_hidden hidden;
    struct gs_moves moves;
};

/* What a turn does to one root. */
struct gs_turn_use {
    struct gs_mem *root;
    struct gs_range window;          /* of the root: holds the sets; of one byte where these are empty */
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
    struct gs_turn_use *all; /* what they do together, but `wrote` is what all overwrite and none needs; as uses */
    uint32_t n_uses;
    uint64_t bytes; /* of all windows of all turns */
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
    struct gs_pool_room room;
    bool roomy; /* all buffers fit on the only device */
};

/* How many bytes the windows of a turn have in all, and the largest. */
uint64_t gs_turn_bytes(const struct gs_turn *t, uint64_t *largest);

/* CL_SUCCESS, CL_OUT_OF_HOST_MEMORY, or CL_MEM_OBJECT_ALLOCATION_FAILURE: however it is cut, it doesn't fit; then
 * out->reason says why. gs_turns_free in either case. */
cl_int gs_turns_make(struct gs_turns *out, const struct gs_turns_input *in);
void gs_turns_free(struct gs_turns *t);

#endif
