/* SPDX-License-Identifier: MIT */
/* The translator's answer for a program: the text made ready for a split, and for each kernel what it may read and
 * write. Read by the shim at every launch and by `gpusparc explain`. No libclang behind this header.
 *
 * A launch is split into parts, each a box of whole work-groups. A part is a launch of its own whose global work offset
 * makes get_global_id right by itself; all else that a split changes comes from struct gs_hidden. */
#ifndef GS_TRANSLATOR_SUMMARY_SUMMARY_H
#define GS_TRANSLATOR_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/rangeset.h"

/* A place in the application's own source, for messages. line and column count from 1; line 0: no place is known. */
struct gs_site {
    const char *file; /* "" in the text given to clCreateProgramWithSource; else the header's name */
    uint32_t unit;    /* which unit of the request */
    uint32_t line, column, length;
};

enum gs_arg_kind {
    GS_ARG_VALUE,    /* by value, `size` bytes */
    GS_ARG_GLOBAL,   /* __global T *: a buffer or null */
    GS_ARG_CONSTANT, /* __constant T *: a buffer, only read */
    GS_ARG_LOCAL,    /* __local T * */
    GS_ARG_IMAGE,
    GS_ARG_SAMPLER,
    GS_ARG_OTHER /* pipe, queue, event …: such a kernel is never split */
};

/* The one commutative operation that all atomics of a kernel on an argument have in common, with their results unused.
 */
enum gs_atomic_op {
    GS_ATOMIC_NONE, /* no atomic touches the argument */
    GS_ATOMIC_ADD,  /* add, sub, inc, dec */
    GS_ATOMIC_MIN,
    GS_ATOMIC_MAX,
    GS_ATOMIC_AND,
    GS_ATOMIC_OR,
    GS_ATOMIC_XOR,
    GS_ATOMIC_OTHER /* several operations, an exchange, or a result that is used: not reducible */
};

/* The element type of reducible atomics. */
enum gs_atomic_type { GS_ATOMIC_I32, GS_ATOMIC_U32, GS_ATOMIC_I64, GS_ATOMIC_U64, GS_ATOMIC_F32, GS_ATOMIC_F64 };

static inline uint32_t gs_atomic_bytes(enum gs_atomic_type t)
{
    return t == GS_ATOMIC_I64 || t == GS_ATOMIC_U64 || t == GS_ATOMIC_F64 ? 8 : 4;
}

struct gs_arg_summary {
    const char *name, *type; /* as written */
    enum gs_arg_kind kind;
    uint32_t size;            /* of a value; of the element a pointer points to */
    bool may_read, may_write; /* through this pointer or image; atomics count as both */
    enum gs_atomic_op atomic;
    enum gs_atomic_type atomic_type; /* without meaning where `atomic` is none or other */
    bool atomic_mixed;               /* plain loads or stores touch it too: not reducible */
    struct gs_site atomic_site;
    bool escapes; /* its address can't be followed (it is stored, or used as an integer): never split */
    /* Why reads or writes have no bounds ("": they have), and where. */
    const char *read_unknown, *write_unknown;
    struct gs_site read_site, write_site;
};

/* Does the order in which its atomics come decide about bits? So of floating-point numbers: a sum is rounded at each
 * step, and of +0 and -0 either is a minimum. Such a kernel is split only where the user allows it
 * (GPUSPARC_ALLOW=reorder).
 */
static inline bool gs_arg_reorders(const struct gs_arg_summary *a)
{
    return (a->atomic == GS_ATOMIC_ADD || a->atomic == GS_ATOMIC_MIN || a->atomic == GS_ATOMIC_MAX) &&
           (a->atomic_type == GS_ATOMIC_F32 || a->atomic_type == GS_ATOMIC_F64);
}

struct gs_kernel_summary {
    const char *name;
    uint32_t n_args;
    const struct gs_arg_summary *args;
    bool hidden;      /* the translated kernel has one more argument, at the end: struct gs_hidden by value */
    bool reorders;    /* the compiled translation may have other bits than the compiled original, for all that is known:
                         gs_summary_reorders() */
    bool uses_group;  /* its result may depend on the work-group size: local memory, barriers, group built-ins … */
    uint32_t reqd[3]; /* reqd_work_group_size, or zeros */
    const char *refusal; /* why no launch of the kernel can be split, one sentence; NULL: some may */
    struct gs_site refusal_site;
    bool only_atomics; /* only atomics forbid a split (results used, several kinds, or beside plain accesses), and no
                          loop waits for them: launches of some work-groups end without later work-groups' atomics */
    const struct gs_access_program
        *access; /* opaque, for gs_summary_eval; NULL: nothing is known but the flags above */
};

struct gs_summary {
    uint32_t n_units;
    char **units; /* translated text of each unit of the request, to be compiled with its own options */
    bool changed; /* false: the units are the application's own text */
    uint32_t n_kernels;
    struct gs_kernel_summary *kernels;
    const char *refusal; /* why nothing of the program can be split (it doesn't parse, …), or NULL */
    char headers[65]; /* a hash over the headers on disk that it was made with; "" where there are none. By gs_translate
                       */
};

/* The hidden argument, as the device sees it: ulong fields, three each. */
struct gs_hidden {
    uint64_t global_offset[3]; /* get_global_offset of the whole launch */
    uint64_t global_size[3];   /* get_global_size of the whole launch */
    uint64_t num_groups[3];    /* get_num_groups of the whole launch */
    uint64_t group_base[3];    /* what get_group_id begins at in this part */
};

/* For ranges of buffers (gs_translate_request.windows), behind the hidden argument. Such launches have no
 * global_work_offset, which not all drivers hold in 64 bits. Kernels with more arguments than GS_SHIFTS aren't
 * translated so. */
enum { GS_SHIFTS = 48 };
struct gs_moves {
    uint64_t item_base[3];     /* what get_global_id begins at in this part */
    uint64_t shift[GS_SHIFTS]; /* by argument: by how many bytes the kernel moves back a pointer before all else */
};
struct gs_hidden_moves {
    struct gs_hidden hidden;
    struct gs_moves moves;
};

/* The build option that lets the device's compiler reorder floating-point operations, or NULL. The compiled code then
 * depends on the kernel's whole text: with the hidden argument the same sum may be added up in another order. */
const char *gs_reordering_option(const char *options);

/* The word of a pragma in the program's text that does the same, or NULL. */
const char *gs_reordering_pragma(const struct gs_summary *s);

/* Sets `reorders` of each kernel, by the program's build options. */
void gs_summary_reorders(struct gs_summary *s, bool relaxed);

/* Reads the text form. Refuses a damaged one with -EBADMSG and a sentence in `why`. *out is freed by gs_summary_free.
 */
int gs_summary_parse(const char *text, size_t bytes, struct gs_summary **out, char *why, size_t why_bytes);
void gs_summary_free(struct gs_summary *s);

/* NULL where the program has no such kernel. */
const struct gs_kernel_summary *gs_summary_kernel(const struct gs_summary *s, const char *name);

/* A whole launch. Unused dimensions have offset 0, global 1, local 1. */
struct gs_geometry {
    uint32_t dims;
    uint64_t offset[3], global[3];
    uint64_t local[3]; /* {1, 1, 1} where null_local */
    bool null_local;   /* the driver chooses the local size; allowed only where !uses_group */
};

/* The number of work-groups in a dimension, the last perhaps smaller; of work-items where there is no local size. */
static inline uint64_t gs_geometry_groups(const struct gs_geometry *g, unsigned d)
{
    return (g->global[d] + g->local[d] - 1) / g->local[d];
}

/* The hidden argument of the part that begins at these work-groups. */
static inline struct gs_hidden gs_geometry_hidden(const struct gs_geometry *g, const uint64_t base[3])
{
    struct gs_hidden h;
    for (unsigned d = 0; d < 3; d++) {
        h.global_offset[d] = g->offset[d];
        h.global_size[d] = g->global[d];
        h.num_groups[d] = gs_geometry_groups(g, d);
        h.group_base[d] = base[d];
    }
    return h;
}

/* The last argument of a translated kernel: so many bytes, or with moves so many words. */
enum {
    GS_HIDDEN_BYTES = sizeof(struct gs_hidden),
    GS_HIDDEN_WORDS = sizeof(struct gs_hidden_moves) / sizeof(uint64_t)
};

/* Fills it for the part that begins at these work-groups and work-items. */
static inline void gs_hidden_fill(uint64_t words[GS_HIDDEN_WORDS], const struct gs_geometry *g, const uint64_t base[3],
                                  const size_t items[3], const uint64_t shift[GS_SHIFTS])
{
    struct gs_hidden_moves all = {gs_geometry_hidden(g, base), {{items[0], items[1], items[2]}, {0}}};
    memcpy(all.moves.shift, shift, sizeof all.moves.shift);
    memcpy(words, &all, sizeof all);
}

/* A part: the work-groups begin[d] <= g < end[d] of the whole launch. */
struct gs_box {
    uint64_t begin[3], end[3];
};

/* All work-groups of a launch. */
static inline struct gs_box gs_geometry_box(const struct gs_geometry *g)
{
    return (struct gs_box){{0}, {gs_geometry_groups(g, 0), gs_geometry_groups(g, 1), gs_geometry_groups(g, 2)}};
}

/* How many they are. */
static inline uint64_t gs_box_groups(const struct gs_box *b)
{
    return (b->end[0] - b->begin[0]) * (b->end[1] - b->begin[1]) * (b->end[2] - b->begin[2]);
}

struct gs_arg_value {
    const void *bytes;     /* of a value as given to clSetKernelArg; NULL for others and where not set */
    size_t size;           /* of the value */
    uint64_t buffer_bytes; /* of the buffer or sub-buffer behind a pointer; 0: a null pointer. Of an image: the number
                              of its bands (slices or layers; else rows; else texels), in which accesses are counted */
    bool is_image;         /* reads beyond the edge may read the first or last band */
};

/* The accesses of one part through one pointer argument, in bytes from the begin of its buffer or sub-buffer, clipped
 * to that; of an image in bands. All sets are over-approximations but `overwrites`, an under-approximation. */
struct gs_arg_access {
    bool reads_all;                /* nothing is known of its reads: the whole buffer */
    bool writes_unknown;           /* nothing is known of its writes */
    struct gs_rangeset reads;      /* may read (empty where reads_all) */
    struct gs_rangeset writes;     /* may write (empty where writes_unknown) */
    struct gs_rangeset overwrites; /* surely writes, whole, and without having read it before */
    bool leaves;                   /* surely writes behind the buffer's end as well */
};

/* Evaluates the part `box` of a launch; `args` and `out` have kernel->n_args elements, each of `out` zeroed by the
 * caller before the first use and reusable after. Never fails for lack of knowledge: it answers
 * reads_all/writes_unknown. -ENOMEM only. */
int gs_summary_eval(const struct gs_kernel_summary *kernel, const struct gs_geometry *launch, const struct gs_box *box,
                    const struct gs_arg_value *args, struct gs_arg_access *out);
void gs_arg_access_free(struct gs_arg_access *a);

/* Does the kernel take the ids of a dimension apart, as in id / w and id % w? The largest such w below `below`, in
 * work-items; 0: there is none. */
uint64_t gs_summary_row(const struct gs_kernel_summary *kernel, const struct gs_geometry *launch,
                        const struct gs_arg_value *args, unsigned dim, uint64_t below);

/* The numbers in which arguments passed by value enter gs_summary_eval (eval_seen.c): while these *n numbers are the
 * same, an answer holds. They belong to the gs_seen until the next call. NULL: nothing less than the arguments will do.
 * gs_seen_new: NULL: no memory; the kernel must outlive it. */
struct gs_seen;
struct gs_seen *gs_seen_new(const struct gs_kernel_summary *kernel);
const int64_t *gs_seen_values(struct gs_seen *s, const struct gs_arg_value *args, size_t *n);
void gs_seen_free(struct gs_seen *s); /* null is allowed */

#endif
