/* SPDX-License-Identifier: MIT */
/* What an analyzer holds. Internal to gema/. */
#ifndef GS_GEMA_ANALYZER_H
#define GS_GEMA_ANALYZER_H

#include "gema/analysis.h"
#include "gema/delay.h"
#include "gema/window.h"

/* What one chain puts on one resource. */
struct gs_chain_load {
    int64_t longest; /* for how long it can keep a server from a more urgent task: its longest segment's worst time, or
                      * the chunks that may be granted of one; 0: it has none */
    int n;           /* segments there */
};

/* How far the higher priorities' segments reach in the servers when a task's turn comes. */
struct gs_analyzer_mark {
    size_t streams[GS_RESOURCES], groups[GS_RESOURCES];
};

struct gs_analyzer {
    const struct gs_model *model;
    struct gs_model *with_handovers; /* owned; what `model` is where hand-overs cost time, else NULL */
    const struct gs_model *given;    /* without them */
    bool chunked[GS_RESOURCES];      /* by `safe`; `paper` knows no chunks */
    enum gs_analysis analysis;
    int gpus;
    bool several;   /* sets of several modes are pruned: what units share is left out, so that R is a lower bound */
    size_t longest; /* chain of the model */
    struct gs_servers servers[GS_RESOURCES]; /* the higher priorities' segments, as far as the analysis has come */
    struct gs_chain_load *load;              /* [task][gpus + 1][resource] */
    uint16_t **order; /* [task][gpus + 1]: a chain's segments with work, by resource and ascending worst time */
    int64_t *lower;   /* [task][resource][servers]: largest pieces of lower priorities, descending */
    int64_t *old_lower;
    struct gs_segment_result *segments; /* [task][longest] */
    struct gs_task_result *tasks;
    struct gs_result result;
    struct gs_window windows[GS_RESOURCES]; /* of the chain under analysis */
    int64_t lowest[GS_RESOURCES];           /* what waits in windows[] point to, where chunked */
    struct gs_segment_result *scratch;      /* [gpus + 1][longest]: one task's chains */
    /* The first `valid` entries of tasks hold for these modes and lower[]; marks say what the servers held before each.
     */
    size_t valid;
    size_t first_cut; /* of these, the first that was cut off early, which is good enough for a policy only */
    size_t decisive;  /* the task whose R/D was too large when a limit was last reached; SIZE_MAX: none */
    const struct gs_segment_result *waitless; /* owned; [longest]: of segments that never wait */
    int *modes;
    struct gs_analyzer_mark *marks;
};

#endif
