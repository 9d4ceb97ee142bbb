/* SPDX-License-Identifier: MIT */
/* A launch on pooled memory as turns: boxes of work-groups, each of which touches no more bytes than a device has space
 * for. Pure: `gpusparc explain --memory` uses this too. */
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

/* The most bytes of all windows on any one device, and of one window there. */
struct gs_pool_space {
    uint64_t all, one;
};

/* The space in a device's memory: the driver uses some memory itself. */
static inline uint64_t gs_pool_space_of(uint64_t bytes)
{
    return bytes - bytes / 16;
}

/* What a turn does to one root. */
struct gs_turn_use {
    struct gs_mem *root;
    struct gs_range window;               /* of the root: contains the sets; one byte if they are empty */
    struct gs_rangeset needs, will_write; /* of the root: valid before the turn; valid in the window after */
};

struct gs_turn {
    struct gs_box box;
    struct gs_turn_use *uses; /* gs_turns.n_uses; owned */
};

struct gs_turns {
    unsigned n, dim;
    bool whole;         /* one turn, by the application's own kernel, with whole buffers */
    bool serial;        /* a turn touches bytes that another turn writes: turns run one after the other */
    const char *reason; /* why there is one turn, or why a launch that fits no device isn't cut further; or NULL */
    struct gs_turn *v;
    struct gs_turn_use *all; /* n_uses, over all turns; but `wrote`: bytes that turns overwrite and none needs */
    uint32_t n_uses;
    uint64_t bytes; /* of all windows in all turns */
};

struct gs_turns_input {
    const struct gs_kernel_summary *kernel; /* NULL: unknown kernel, and */
    const char *reason;                     /* why not */
    uint32_t n_args;
    const struct gs_geometry *launch;
    const struct gs_arg *args;
    struct gs_mem *const *mems; /* by argument, or NULL */
    unsigned devices;
    struct gs_pool_space space;
};

/* How many bytes the windows of a turn have in all, and the largest. */
uint64_t gs_turn_bytes(const struct gs_turn *t, uint64_t *largest);

/* CL_SUCCESS, CL_OUT_OF_HOST_MEMORY, or CL_MEM_OBJECT_ALLOCATION_FAILURE with out->reason. Then gs_turns_free. */
cl_int gs_turns_make(struct gs_turns *out, const struct gs_turns_input *in);
void gs_turns_free(struct gs_turns *t);

#endif
