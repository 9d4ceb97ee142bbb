/* SPDX-License-Identifier: MIT */
/* A simulated schedule as a picture: a Chrome/Perfetto trace, or SVG. */
#ifndef GS_GEMA_TIMELINE_H
#define GS_GEMA_TIMELINE_H

#include <stdio.h>

#include "gema/sim.h"

/* What a file has room for: more is neither drawn nor looked at by anybody. */
enum { GS_TIMELINE_PICTURE = 20000, GS_TIMELINE_TRACE = 500000 };

struct gs_timeline {
    const struct gs_model *model;
    struct gs_sim_slice *slices; /* owned */
    struct gs_sim_job *jobs;     /* owned */
    /* A job that isn't over when the next one of its task is released has another lane: owned. */
    int *lane;  /* of each job, from 0 */
    int *lanes; /* that each task needs, from 1 */
    size_t n_slices, n_jobs, max_slices, max_jobs;
    int64_t horizon;
    /* Of the run: */
    size_t most; /* slices and jobs in all */
    bool join;   /* what goes on without a gap is one slice, however many chunks it has */
    size_t last[GS_RESOURCES][GS_CONFIG_MAX_SERVERS]; /* of its slices, from 1 */
    bool failed;                                      /* out of memory */
    bool full;                                        /* `most` is reached */
    bool stop;                                        /* either */
    int64_t seen;                                     /* until when it is whole */
};

struct gs_timeline_setup {
    const int *modes;
    const int64_t *offsets; /* of the first jobs; NULL: all at 0 */
    int64_t horizon;
    size_t most; /* slices and jobs that are kept */
    bool join;   /* chunks of one job that follow one another on one server are kept as one */
};

/* Simulates with worst-case times and keeps what happens. 0; -ENOMEM; -EFBIG: there is more than `most`, from
 * t->seen on. *t is to be freed in every case. */
int gs_timeline_run(struct gs_timeline *t, const struct gs_model *m, const struct gs_timeline_setup *setup);
void gs_timeline_free(struct gs_timeline *t);

bool gs_timeline_missed(const struct gs_timeline *t, const struct gs_sim_job *j);

/* One track per server and one for each lane of a task's jobs; missed deadlines are marked. 0 or -EIO. */
int gs_timeline_write_trace(const struct gs_timeline *t, FILE *out);
int gs_timeline_write_svg(const struct gs_timeline *t, const char *title, FILE *out);

#endif
