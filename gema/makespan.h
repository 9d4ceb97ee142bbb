/* SPDX-License-Identifier: MIT */
/* Worst-case makespan of W warps that run one instruction string on one streaming multiprocessor
 * (papers/makespan-gpu-threads-2012.txt). The model, the bounds and their proofs are in docs/makespan.md.
 *
 * In each cycle, of the c warps that stand at an instruction of unit type u, min(c, sigma_u) execute it: the schedule
 * is work-conserving and otherwise free. The makespan is the number of cycles until all warps are done; the worst case
 * is over all such schedules. Times are in cycles. */
#ifndef GS_GEMA_MAKESPAN_H
#define GS_GEMA_MAKESPAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    GS_MAKESPAN_TYPES = 26,                 /* unit types: letters A to Z */
    GS_MAKESPAN_MAX_INSTRUCTIONS = 1 << 20, /* after the 1/n transformation */
    GS_MAKESPAN_MAX_WARPS = 1 << 20
};

/* How many warps the units of one type serve in a cycle: an integer, or 1/n (section 3, equations 1 and 2). */
struct gs_sigma {
    unsigned numerator, denominator; /* one of them is 1 */
};

/* What stands for one letter 'A' + i; sigma.numerator == 0 stands for 1/1. */
struct gs_sigmas {
    struct gs_sigma of[GS_MAKESPAN_TYPES];
};

/* A run of instructions without a barrier: positions [begin, end) of the string. */
struct gs_phase {
    size_t begin, end;
};

/* A kernel instruction string after the transformation of section 3, so that every capacity is an integer. */
struct gs_kernel_string {
    unsigned n_types;
    char letter[GS_MAKESPAN_TYPES];
    unsigned sigma[GS_MAKESPAN_TYPES];   /* >= 1 */
    unsigned stretch[GS_MAKESPAN_TYPES]; /* n of sigma = 1/n, else 1: each instruction stands here n times */
    uint8_t *type;                       /* n entries: index of the unit type */
    size_t n;
    struct gs_phase *phase; /* n_phases entries, none empty; all warps meet at a barrier between two */
    size_t n_phases;
};

/* Reads a string such as "LLCLL", "L3(CS)2" (a number repeats what is before it) or "LC|LLC" (a bar is a barrier for
 * all warps). 0, -EINVAL with a sentence in `why`, or -ENOMEM. The caller frees with gs_kernel_string_free(). */
int gs_kernel_string_parse(struct gs_kernel_string *k, const char *text, const struct gs_sigmas *sigmas, char *why,
                           size_t why_size);
void gs_kernel_string_free(struct gs_kernel_string *k);

/* Reads "2" or "1/4". 0 or -EINVAL. */
int gs_sigma_parse(const char *text, struct gs_sigma *sigma);

/* Equations 5 to 7: sum over the types of ceil(W / sigma_u) * I_u. An upper bound only if every sigma is 1. */
uint64_t gs_makespan_equation5(const struct gs_kernel_string *k, unsigned warps);

/* Whether that is proved to be a bound: every sigma is 1. */
bool gs_makespan_equation5_is_safe(const struct gs_kernel_string *k);

/* Theorem 1 of docs/makespan.md, safe for all capacities: I + sum of floor((W - 1) * I_u / sigma_u) over the types with
 * sigma_u < W. */
uint64_t gs_makespan_wait_bound(const struct gs_kernel_string *k, unsigned warps);

/* Theorem 2 of docs/makespan.md, for a type X with sigma_X = 1, the others being Y:
 * W * (I - r) + (W - 1) * [ends in Y] + r, with r the number of maximal runs of Y. The smallest over all such X in each
 * phase; the wait bound where there is none. Never above the wait bound. */
uint64_t gs_makespan_safe_bound(const struct gs_kernel_string *k, unsigned warps);

/* The same for `groups` work-groups of `warps` warps each of which at most `resident` are on the multiprocessor at
 * once, a new one starting when one ends (theorem 3). groups, warps and resident >= 1. */
uint64_t gs_makespan_wave_bound(const struct gs_kernel_string *k, uint64_t groups, unsigned warps, uint64_t resident);

struct gs_makespan_options {
    size_t memory_bytes;    /* for the search's states; 0: 1 GiB */
    unsigned beam;          /* width of the one beam search; 0: two searches of the default widths */
    bool exhaustive;        /* no first search and no pruning: the plain dynamic program, to test the pruned one */
    const atomic_int *stop; /* not 0: the search ends with the bounds that it has; may be null */
    /* Often, with where the search in one phase is: `done` of at most `all` cycles of a first one, or of `all`
     * instructions of the exact one. May be null. */
    void (*progress)(void *context, bool is_exact, uint64_t done, uint64_t all);
    void *context;
};

/* One phase's schedule: which positions were executed in each cycle. */
struct gs_makespan_schedule {
    uint32_t *position; /* in cycle c: entries cycle_begin[c] to cycle_begin[c + 1] - 1, as positions of the string */
    size_t *cycle_begin;
    size_t n_cycles;
};

struct gs_makespan_exact {
    uint64_t lower;  /* length of `schedule`, which is a legal one */
    uint64_t upper;  /* proved; equal to lower unless memory ran out, or it was stopped */
    uint64_t states; /* kept by the search */
    struct gs_makespan_schedule schedule;
};

/* The exact worst case with a schedule that attains it, or an interval where memory_bytes is too little.
 * 0, -ENOMEM, -EINTR where it was stopped before it had a schedule, or -E2BIG where warps * instructions is beyond what
 * a search can hold at all: then no schedule is given, and of the phases that were not searched `lower` has one plain
 * schedule's length and `upper` the safe bound. The caller frees with gs_makespan_exact_free(). */
int gs_makespan_exact(const struct gs_kernel_string *k, unsigned warps, const struct gs_makespan_options *options,
                      struct gs_makespan_exact *out);
void gs_makespan_exact_free(struct gs_makespan_exact *exact);

/* Equations 42 and 43: min over y = 1 ... x of ceil(W / y) * T(y), from the exact T(1) ... T(x). Not a bound in
 * general: docs/makespan.md has counter-examples. 0, or what gs_makespan_exact() returned, or -EAGAIN where a T(y) was
 * not found exactly. */
int gs_makespan_equation42(const struct gs_kernel_string *k, unsigned warps, unsigned x,
                           const struct gs_makespan_options *options, uint64_t *approximation);

/* The schedule as a table in the manner of the paper's Figure 2, in blocks of at most `columns` cycles. 0 or -ENOMEM.
 */
int gs_makespan_print_schedule(const struct gs_kernel_string *k, unsigned warps,
                               const struct gs_makespan_schedule *schedule, unsigned columns, FILE *out);

/* Writes the paper's integer program (Figure 3) for schedules of at most `cycles` cycles, in CPLEX LP format: its
 * largest objective is the worst case where that is at most `cycles`. 0, -EINVAL for a string with barriers, -E2BIG
 * where it has more than GS_MAKESPAN_MAX_ILP_TERMS terms, or what writing failed with. A null `out` only asks that. */
enum { GS_MAKESPAN_MAX_ILP_TERMS = 10000000 };
int gs_makespan_write_ilp(const struct gs_kernel_string *k, unsigned warps, uint64_t cycles, FILE *out);

/* Whether the schedule is legal: every warp executes every instruction once and in order, no more than sigma_u at a
 * time, and no unit idles while a warp waits for it. */
bool gs_makespan_schedule_is_legal(const struct gs_kernel_string *k, unsigned warps,
                                   const struct gs_makespan_schedule *schedule);

#endif
