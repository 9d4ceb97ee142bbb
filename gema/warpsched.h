/* SPDX-License-Identifier: MIT */
/* A simulator of the warp schedulers of one multiprocessor: warps that all run one program (papers/
 * fermi-time-predictability-report.txt, sections 6 and 8). docs/timing.md states the rules. Times are in cycles. */
#ifndef GS_GEMA_WARPSCHED_H
#define GS_GEMA_WARPSCHED_H

#include <stdio.h>

#include "gema/timing.h"

enum gs_warpsched_policy {
    GS_WARPSCHED_LRR,       /* loose round robin */
    GS_WARPSCHED_GTO,       /* greedy, then oldest */
    GS_WARPSCHED_TWO_LEVEL, /* round robin over a small active set; who waits for memory leaves it */
    GS_WARPSCHED_VARIABLE,  /* chosen warps own every r-th slot (section 8) */
    GS_WARPSCHED_POLICIES
};

enum { GS_WARPSCHED_MAX_WARPS = 4096 };

struct gs_warpsched_options {
    enum gs_warpsched_policy policy;
    unsigned warps;
    unsigned active; /* two-level: warps in the active set of each scheduler; 0: 8 */
    const unsigned
        *rate;   /* variable: one for each warp; r >= 2 owns every r-th slot, 0 shares what is left. Null: all 0 */
    bool strict; /* variable: a slot whose owner can't issue stays empty */
    bool blocking_loads; /* a warp waits for each load's result (the worst case of one warp) */
    enum gs_timing_case latency;
};

struct gs_warpsched_issue {
    uint64_t cycle;
    uint32_t warp, op;
};

struct gs_warpsched_result {
    uint64_t cycles;       /* until the last warp is done */
    uint64_t instructions; /* of all warps */
    uint64_t *finish;      /* of each warp: its last instruction has left the front end, its loads have arrived */
    struct gs_warpsched_issue *issue; /* `instructions` of them, in order of time */
};

/* The policy's name: "lrr", "gto", "two-level", "variable"; and back, GS_WARPSCHED_POLICIES where it is none. */
const char *gs_warpsched_policy_name(enum gs_warpsched_policy policy);
enum gs_warpsched_policy gs_warpsched_policy_of(const char *name);

/* Warp w belongs to scheduler w mod warp_schedulers. 0; -ENOMEM; -EINVAL with a sentence in `why` where the rates ask
 * for more slots than there are, or the program is too long to keep all of it. The caller frees. */
int gs_warpsched_run(const struct gs_timing_program *program, const struct gs_timing_profile *profile,
                     const struct gs_warpsched_options *options, struct gs_warpsched_result *result, char *why,
                     size_t why_size);
void gs_warpsched_result_free(struct gs_warpsched_result *result);

/* A picture in the manner of the report's Figure 47: the instruction reached by each warp of one scheduler over time.
 */
int gs_warpsched_write_svg(const struct gs_timing_program *program, const struct gs_timing_profile *profile,
                           const struct gs_warpsched_options *options, const struct gs_warpsched_result *result,
                           unsigned scheduler, FILE *out);

#endif
