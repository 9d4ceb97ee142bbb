/* SPDX-License-Identifier: MIT */
/* May this launch be split, along which dimension, into which parts; and what does each part read and write. It looks
 * at the summary, the arguments and sizes alone. plan_cache.c keeps what was found of a kernel. */
#ifndef GS_SHIM_PLAN_PLAN_H
#define GS_SHIM_PLAN_PLAN_H

#include "shim/record/objects.h"

/* How the writes of the parts to one root come together. */
enum gs_write_class {
    GS_READ_ONLY,
    GS_IN_PLACE, /* all parts work on the same bytes, as the work-groups of one device do */
    GS_DISJOINT, /* each part owns what it writes */
    GS_REDUCED,  /* bytes that only atomics of one operation touch: each part changes a copy of its own, and the copies
                    are combined; what is written plainly besides is owned */
    GS_COMPARED  /* unknown: each part starts from equal bytes, and those that differ afterwards were written */
};

/* One memory object that the launch uses, through one argument or several. */
struct gs_use {
    struct gs_mem *root;
    uint32_t arg;           /* the first of them */
    struct gs_range window; /* of the root: the union of the arguments' windows */
    enum gs_write_class writes;
    struct gs_rangeset needs[GS_MAX_DEVICES]; /* by part, in bytes of the root: must be valid before */
    struct gs_rangeset wrote[GS_MAX_DEVICES]; /* by part: owned ranges, of GS_DISJOINT and GS_REDUCED */
    /* Atomics whose results nobody uses. */
    enum gs_atomic_op op;
    enum gs_atomic_type type;
    struct gs_rangeset reduced[GS_MAX_DEVICES]; /* by part: whole elements, of GS_REDUCED */
    bool clash;                                 /* they meet other accesses to the same bytes: it can't be split so */
};

/* Are the parts' writes put together at home? */
static inline bool gs_use_is_joined(const struct gs_use *u)
{
    return u->writes == GS_REDUCED || u->writes == GS_COMPARED;
}

struct gs_plan {
    const char *reason; /* why the launch isn't split; NULL: it is */
    unsigned n_parts, dim;
    bool reorders; /* floating-point atomics take effect in another order than on one device */
    bool leaves;   /* a part surely writes behind the end of a buffer, where one device has some room: not split */
    struct gs_box box[GS_MAX_DEVICES]; /* in work-groups, or in work-items where the local size is NULL */
    struct gs_geometry launch;
    bool null_local;
    struct gs_use *uses;
    size_t n_uses;
};

enum { GS_CUT_ANY = 3 }; /* in the place of a dimension: whichever is cut */

/* What the launch's arguments are: mems[i] is the object behind argument i, or NULL. */
struct gs_plan_input {
    const struct gs_kernel_summary *kernel;
    const struct gs_geometry *launch;
    bool null_local;
    const struct gs_arg *args;
    struct gs_mem *const *mems;
    unsigned n_parts;
    bool may_reorder;     /* may floating-point operations, and atomics, take effect in another order? */
    bool may_race;        /* may a part read what another writes? */
    unsigned cut_dim;     /* the dimension that `cut` is about, or GS_CUT_ANY */
    const double *cut;    /* cut[p]: where part p ends, as a share of that dimension; NULL: parts of equal size */
    uint64_t most_offset; /* of a part, in any dimension; 0: any */
};

/* Why no launch of the kernel can be split, whatever its arguments; NULL: some may. null_local: no local size. */
const char *gs_plan_never(const struct gs_kernel_summary *kernel, bool may_reorder, bool null_local);

/* Fills *plan, which gs_plan_free frees. -ENOMEM; else 0, with plan->reason where the answer is no. */
int gs_plan_make(struct gs_plan *plan, const struct gs_plan_input *in);
void gs_plan_free(struct gs_plan *plan);

/* Are all atomics on the argument of one operation? Then copies of it can be combined; of floating-point numbers,
 * whether they may is for gs_plan_input to say. */
static inline bool gs_reducible(const struct gs_arg_summary *arg)
{
    return arg->atomic > GS_ATOMIC_NONE && arg->atomic < GS_ATOMIC_OTHER && !arg->atomic_mixed;
}

/* Fills plan->uses, and what follows from them, of a plan whose parts are known. -ENOMEM. */
int gs_plan_find_uses(struct gs_plan *plan, const struct gs_plan_input *in);

/* The next shorter rows below `below` work-items that the kernel takes a dimension apart into; 0: none. */
uint64_t gs_plan_row(const struct gs_plan_input *in, unsigned dim, uint64_t below);

/* May a part read what another writes, of a use with known writes? One device's order decides its result, too. */
bool gs_plan_parts_overlap(const struct gs_plan *plan, size_t use);

/* A box of a launch in work-items: its offset and size per dimension. */
void gs_box_items(const struct gs_geometry *g, const struct gs_box *box, size_t offset[3], size_t global[3]);

/* ---- plan_cache.c: the plans of the last launches of all kernel objects of one name: one with the same sizes and
 * numbers, and memory objects that are alike, isn't planned again. CLBlast makes a kernel object and buffers for each
 * call: to plan it took 1.6 of 6.6 ms on an H200. With the context's lock held. ---- */

struct gs_plan_cache;

/* gs_plan_make's plan, *cache's, which is made on first need: it lives until the next call. NULL: no memory. */
const struct gs_plan *gs_plan_cached(struct gs_plan_cache **cache, const struct gs_plan_input *in);
void gs_plan_cache_free(struct gs_plan_cache *cache);

#endif
