/* SPDX-License-Identifier: MIT */
/* What the searches for the exact makespan share: states, their successors and their bounds. Private to
 * gema/makespan*.c.
 *
 * A state is the number of unfinished warps at each position of one phase. It is kept packed: `bits` bits a position.
 */
#ifndef GS_GEMA_MAKESPAN_MODEL_H
#define GS_GEMA_MAKESPAN_MODEL_H

#include "gema/makespan.h"

enum { GS_MK_MAX_POSITIONS = 512, GS_MK_MAX_WORDS = 64 };

/* Theorem 2 for one type X with sigma_X = 1, in any state: sum of count * weight, plus the runs left to the last warp.
 */
struct gs_mk_run_bound {
    uint32_t weight[GS_MK_MAX_POSITIONS];
    uint32_t runs[GS_MK_MAX_POSITIONS];
};

struct gs_mk_model {
    unsigned n, n_types, warps;
    unsigned sigma[GS_MAKESPAN_TYPES];
    uint8_t type[GS_MK_MAX_POSITIONS];
    unsigned bits, per_word, words;
    uint32_t rest[GS_MK_MAX_POSITIONS][GS_MAKESPAN_TYPES]; /* instructions of each type from here to the end */
    unsigned n_run_bounds;
    struct gs_mk_run_bound run_bound[GS_MAKESPAN_TYPES];
};

struct gs_mk_state {
    uint32_t at[GS_MK_MAX_POSITIONS];
};

/* -E2BIG where a state doesn't fit. */
int gs_mk_model_init(struct gs_mk_model *m, const struct gs_kernel_string *k, struct gs_phase phase, unsigned warps);
void gs_mk_pack(const struct gs_mk_model *m, const struct gs_mk_state *s, uint64_t *key);
void gs_mk_unpack(const struct gs_mk_model *m, const uint64_t *key, struct gs_mk_state *s);
uint64_t gs_mk_hash(const struct gs_mk_model *m, const uint64_t *key);

/* A safe bound of the cycles from this state to the end (theorems 1 and 2); 0 for the final state alone. */
uint32_t gs_mk_bound(const struct gs_mk_model *m, const struct gs_mk_state *s);

/* Calls `visit` for every state that one cycle can lead to, with the number of instructions that the cycle executes.
 * Stops at the first answer that is not 0 and gives it back. */
typedef int gs_mk_visit(void *context, const struct gs_mk_state *next, unsigned executed);
int gs_mk_successors(const struct gs_mk_model *m, const struct gs_mk_state *s, gs_mk_visit *visit, void *context);

/* One search's answer: the states of a longest path, as packed keys, first to last (n_keys = cycles + 1). */
struct gs_mk_path {
    uint64_t *keys;
    size_t n_keys;
};

/* Whether the search is to end. */
static inline bool gs_mk_stopped(const struct gs_makespan_options *o)
{
    return o->stop && atomic_load_explicit(o->stop, memory_order_relaxed);
}

/* Keeps the `width` most promising states of each cycle. The path is a legal schedule; it need not be the longest.
 * Stops early where `upper` is reached for sure. 0, -ENOMEM or -EINTR. */
int gs_mk_beam(const struct gs_mk_model *m, const struct gs_makespan_options *o, unsigned width,
               struct gs_mk_path *path);

struct gs_mk_dp_result {
    uint32_t best;  /* longest path, or `at_least` if there is none longer */
    uint32_t upper; /* equal to best unless memory ran out, or it was stopped */
    uint64_t states;
    struct gs_mk_path path; /* empty if none is longer than at_least */
};

/* The dynamic program over the states whose bound leaves hope for more than `at_least` cycles. 0 or -ENOMEM. */
int gs_mk_dynamic_program(const struct gs_mk_model *m, const struct gs_makespan_options *o, uint32_t at_least,
                          size_t memory_bytes, struct gs_mk_dp_result *out);

#endif
