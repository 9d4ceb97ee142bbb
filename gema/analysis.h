/* SPDX-License-Identifier: MIT */
/* End-to-end response times of a task set in which each task has a number of GPUs. docs/analysis.md states and proves
 * what `safe` computes; `paper` is the formula of GPU-SPARC section IV-B, which is not safe (docs/analysis.md, "The
 * published formula"). */
#ifndef GS_GEMA_ANALYSIS_H
#define GS_GEMA_ANALYSIS_H

#include "gema/model.h"

/* GS_ANALYSIS_SEGMENTS: as safe, but each segment with a window of its own, without theorem 11. */
enum gs_analysis { GS_ANALYSIS_SAFE, GS_ANALYSIS_PAPER, GS_ANALYSIS_SEGMENTS, GS_ANALYSES };

/* "safe", "paper", "segments" */
extern const char *const gs_analysis_names[GS_ANALYSES];

struct gs_segment_result {
    int64_t response_ns; /* w: from when the segment could start to when its last piece has ended */
    int64_t blocking_ns; /* of that, waiting that lower priorities cause */
    int64_t delay_ns;    /* w - C: all waiting, blocking included */
    int64_t jitter_ns;   /* J: how much later than at its earliest the segment can become ready */
    int64_t slack_ns;    /* how long it waits at most if it became ready as late as it can, pauses included */
    int64_t excess_ns;   /* of the delay, what counts once for the job, not for each segment (theorem 10) */
};

struct gs_task_result {
    int64_t response_ns; /* R: the sum of the segments' responses, with what they share counted once */
    bool schedulable;    /* R <= deadline */
    bool proven;         /* with `safe`: R holds. False for a task that may outlast its period, and all below it */
    bool cut; /* it is longer than response_ns: at two periods (`paper`: 1000) the search ended, and segments are
               * incomplete */
    const struct gs_segment_result *segments; /* of the chain of its mode, in its order */
};

struct gs_result {
    bool schedulable; /* every task is */
    size_t n_tasks;
    const struct gs_task_result *tasks; /* in the model's order */
};

/* The memory of one analysis, to be used again and again. One thread at a time; the model must outlive it, finished. */
struct gs_analyzer;

/* The model must be finished (gs_model_finish). NULL: out of memory. */
struct gs_analyzer *gs_analyzer_new(const struct gs_model *model, enum gs_analysis analysis);
void gs_analyzer_free(struct gs_analyzer *a);

/* An analyzer keeps what it found out about the most urgent tasks, for the next modes may differ in others only. This
 * makes it forget that, to measure a whole analysis. */
void gs_analyzer_forget(struct gs_analyzer *a);

/* Response times where task i has modes[i] GPUs (a mode that it may use). The result belongs to the analyzer and holds
 * until its next use. */
const struct gs_result *gs_analyze(struct gs_analyzer *a, const int *modes);

/* Does every task meet its deadline? As gs_analyze(...)->schedulable, but ends at the first that doesn't. */
bool gs_schedulable(struct gs_analyzer *a, const int *modes);

/* The largest R/D over all tasks, or `limit` or more as soon as that is known: for policies that look for the least. A
 * response of 1.5 periods or more counts as that; with GS_ANALYSIS_PAPER only one without end, and as 1e18. */
double gs_worst_ratio(struct gs_analyzer *a, const int *modes, double limit);

/* Does the task meet its deadline if those of below[] have lower priorities and all others higher ones, in whatever
 * order, and if these meet theirs? By safe or segments. */
bool gs_meets_above(struct gs_analyzer *a, size_t task, const int *modes, const bool *below);

/* For branch and bound. sets[i] has bit g-1 where task i may still get g GPUs. Takes out of the sets every mode that
 * misses its deadline however the other tasks' modes are chosen from their sets. False: a set became empty, no choice
 * is schedulable. Where every set holds one mode and true is returned, that choice is schedulable. */
bool gs_prune_modes(struct gs_analyzer *a, uint64_t *sets);

#endif
