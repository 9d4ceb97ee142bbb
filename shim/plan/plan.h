/* SPDX-License-Identifier: MIT */
/* May a launch be split, along which dimension, into which parts; and what does each part read and write? From the
 * kernel's summary, the arguments and the sizes alone. plan_cache.c keeps a kernel's plans. */
#ifndef GS_SHIM_PLAN_PLAN_H
#define GS_SHIM_PLAN_PLAN_H

#include "shim/record/objects.h"

/* How the parts' writes to one root become one result. */
enum gs_write_class {
    GS_READ_ONLY,
    GS_IN_PLACE, /* all parts write to the same bytes, as one device's work-groups do */
    GS_DISJOINT, /* each part owns the bytes that it writes */
    GS_REDUCED,  /* only atomics of one operation touch the bytes: each part has a copy, and the copies are combined;
                    other written bytes are owned */
    GS_COMPARED  /* unknown: parts start from equal bytes, and bytes that differ afterwards were written */
};

/* The bytes of a set, and the pieces in which they travel (common/rects.h). */
struct gs_amount {
    uint64_t bytes, rects;
};

/* A memory object that the launch uses through one argument or several. */
struct gs_use {
    struct gs_mem *root;
    uint32_t arg;           /* the first of these arguments */
    struct gs_range window; /* of the root: the union of the arguments' windows */
    enum gs_write_class writes;
    struct gs_rangeset needs[GS_MAX_DEVICES];      /* by part, in bytes of the root: valid before the part runs */
    struct gs_rangeset will_write[GS_MAX_DEVICES]; /* by part: what it may write (GS_DISJOINT, GS_REDUCED) */
    struct gs_rangeset owned[GS_MAX_DEVICES];      /* by part: valid in its place alone afterwards: gs_plan_own */
    struct gs_amount needed_amount[GS_MAX_DEVICES], owned_amount[GS_MAX_DEVICES];
    /* Atomics whose results nobody uses. */
    enum gs_atomic_op op;
    enum gs_atomic_type type;
    struct gs_rangeset reduced[GS_MAX_DEVICES]; /* by part: whole elements (GS_REDUCED) */
    bool clash;                                 /* atomics and other accesses touch the same bytes: no such split */
};

/* Are the parts' writes put together at home? */
static inline bool gs_use_is_joined(const struct gs_use *u)
{
    return u->writes == GS_REDUCED || u->writes == GS_COMPARED;
}

struct gs_plan {
    const char *reason; /* why the launch isn't split; NULL: it is */
    unsigned n_parts, dim;
    bool reorders;      /* the order of floating-point atomics differs from one device's */
    bool writes_beyond; /* a part surely writes beyond a buffer's end, where one device has some room: not split */
    struct gs_box box[GS_MAX_DEVICES]; /* in work-groups, or in work-items where the local size is NULL */
    struct gs_geometry launch;
    struct gs_use *uses;
    size_t n_uses;
};

enum { GS_CUT_ANY = 3 }; /* any dimension may be cut */

/* A launch: mems[i] is the memory object in argument i, or NULL. */
struct gs_plan_input {
    const struct gs_kernel_summary *kernel;
    const struct gs_geometry *launch;
    const struct gs_arg *args;
    struct gs_mem *const *mems;
    unsigned n_parts;
    bool may_reorder;     /* may floating-point operations, and atomics, take effect in another order? */
    bool may_race;        /* may a part read bytes that another part writes? */
    unsigned cut_dim;     /* the dimension of `cut`, or GS_CUT_ANY */
    const double *cut;    /* cut[p]: the end of part p, as a share of cut_dim; NULL: parts of equal size */
    uint64_t most_offset; /* the largest global offset of a part in any dimension; 0: no limit */
    bool exact;           /* parts own no gaps: bytes are spoiled, and who doesn't read them is to have no error */
};

/* Why no launch of the kernel can be split, for any arguments; NULL: some may. null_local: no local size. */
const char *gs_plan_never(const struct gs_kernel_summary *kernel, bool may_reorder, bool null_local);

/* Fills *plan, which gs_plan_free frees. -ENOMEM; else 0, with plan->reason if the launch can't be split. */
int gs_plan_make(struct gs_plan *plan, const struct gs_plan_input *in);
void gs_plan_free(struct gs_plan *plan);

/* Are all atomics on the argument of one operation, so that copies of the bytes can be combined? (For floating-point
 * numbers only if gs_plan_input.may_reorder says so.) */
static inline bool gs_reducible(const struct gs_arg_summary *arg)
{
    return arg->atomic > GS_ATOMIC_NONE && arg->atomic < GS_ATOMIC_OTHER && !arg->atomic_mixed;
}

/* Fills plan->uses, `reorders` and `writes_beyond`, for a plan with known parts. -ENOMEM. */
int gs_plan_find_uses(struct gs_plan *plan, const struct gs_plan_input *in);

/* The largest w < below for which the kernel computes id / w and id % w in `dim`: neat cuts; 0: none. */
uint64_t gs_plan_row(const struct gs_plan_input *in, unsigned dim, uint64_t below);

/* May a part read bytes that another part writes? For uses with known writes. (The order of work-groups decides such a
 * launch's result on one device as well.) */
bool gs_plan_parts_overlap(const struct gs_plan *plan, size_t use);

/* Makes u->owned of `will_write` and of narrow gaps in it that no other part reads or writes (`exact`: without gaps);
 * adds the gaps to `needs`, so that they are valid. A matrix's inner part is thousands of ranges, and few with the gaps
 * at its edge. -ENOMEM. */
int gs_plan_own(struct gs_use *u, unsigned n_parts, bool exact);

/* A box of a launch in work-items: its offset and size by dimension. */
void gs_box_items(const struct gs_geometry *g, const struct gs_box *box, size_t offset[3], size_t global[3]);

/* ---- plan_cache.c: the last plans of all kernel objects of one name. A launch with the same sizes and numbers, and
 * similar memory objects, isn't planned again. CLBlast makes a kernel object and buffers for each call: planning took
 * 1.6 of 6.6 ms on an H200. With the context's lock held. ---- */

struct gs_plan_cache;

/* gs_plan_make's plan. *cache, made on need, owns the plan, which lives until the next call. NULL: no memory. */
const struct gs_plan *gs_plan_cached(struct gs_plan_cache **cache, const struct gs_plan_input *in);
void gs_plan_cache_free(struct gs_plan_cache *cache);

#endif
