/* SPDX-License-Identifier: MIT */
/* gpusparc bench: what the command line asks for, and the running of it. */
#ifndef GS_CLI_BENCH_RUN_H
#define GS_CLI_BENCH_RUN_H

#include <limits.h>

#include "cli/bench.h"
#include "cli/bench_interval.h"

enum { GS_BENCH_MAX_SCALES = 32 };

struct gs_bench {
    const char *command; /* the line that was typed */
    const char *devices, *mode, *device, *base, *dir, *samples_dir, *like_dir, *html;
    long runs, runs_max, iterations, timeout_s, stop_after_s; /* 0: not given */
    double limit, precision;                                  /* precision 0: not given */
    double min_ms, scales[GS_BENCH_MAX_SCALES];
    int scale_count; /* 0: auto */
    bool small, no_check, no_single, resume, report, json, until_sure, side_by_side;
    char modes[GS_BENCH_MAX_MODES][GS_BENCH_NAME]; /* plain, single, multi2, ... */
    int mode_count;
    struct gs_bench_sample *samples;
    size_t sample_count;
    struct gs_bench_store store, like;      /* like: only the rows of an earlier bench, for their scales */
    char self[PATH_MAX], scratch[PATH_MAX]; /* this program; the prefix of temporary files in the folder */
    bool wrong, over;                       /* over: stop_after_s have passed */
    double begin_s;
    struct gs_looks looks;
    size_t done, all; /* runs */
};

/* Runs what is asked for, or reads what is there, and shows it. Returns the command's exit status. */
int gs_bench_run(struct gs_bench *b);

/* What speed-ups are measured against where nobody says: with parts of the CPU, which a plain run has all of, single.
 */
const char *gs_bench_default_base(const char *devices);

#endif
