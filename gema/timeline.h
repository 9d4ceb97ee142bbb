/* SPDX-License-Identifier: MIT */
/* A simulated schedule as a picture: a Chrome/Perfetto trace, or SVG. */
#ifndef GS_GEMA_TIMELINE_H
#define GS_GEMA_TIMELINE_H

#include <stdio.h>

#include "gema/sim.h"

struct gs_timeline {
    const struct gs_model *model;
    struct gs_sim_slice *slices; /* owned */
    struct gs_sim_job *jobs;     /* owned */
    size_t n_slices, n_jobs, max_slices, max_jobs;
    bool failed; /* out of memory */
};

/* Simulates with worst-case times, the first jobs at `offsets` (NULL: all at 0), and keeps what happens. 0 or -ENOMEM.
 * *t is to be freed in every case. */
int gs_timeline_run(struct gs_timeline *t, const struct gs_model *m, const int *modes, const int64_t *offsets,
                    int64_t horizon);
void gs_timeline_free(struct gs_timeline *t);

/* One track per server and one of jobs per task; missed deadlines are marked. 0 or -EIO. */
int gs_timeline_write_trace(const struct gs_timeline *t, FILE *out);
int gs_timeline_write_svg(const struct gs_timeline *t, FILE *out);

#endif
