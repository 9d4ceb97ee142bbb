/* SPDX-License-Identifier: MIT */
/* gpusparc try: does a program get faster? What was measured, and what follows from it. */
#ifndef GS_CLI_TRY_H
#define GS_CLI_TRY_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/try_verdict.h"

enum { GS_TRY_OUTPUTS = 16 };

/* Why nothing could be compared. */
enum gs_try_cut {
    GS_TRY_WHOLE,
    GS_TRY_CUT_FIRST,   /* it was interrupted in the first plain run */
    GS_TRY_CUT_EARLY,   /* before each way had been run once */
    GS_TRY_OUT_OF_TIME, /* the first plain run took all of the time */
};

struct gs_try {
    const char *devices, *gpus, *html;
    const char *outputs[GS_TRY_OUTPUTS]; /* files of the application's that are compared */
    size_t n_outputs;
    double time_s, limit_s; /* limit_s: of one run; 0: by what the first plain one takes */
    bool multi, json, markdown;
    char **app; /* its words; ends in NULL */
    char self[PATH_MAX], dir[PATH_MAX];
    /* What was found: */
    unsigned n;     /* devices */
    bool gpus_only; /* all of them are GPUs */
    bool cpu;       /* they are parts of the CPU, and one of them is the base */
    bool blind;     /* there is no GPU: nothing was timed */
    struct gs_try_times times;
    struct gs_looks looks;
    bool varies;           /* the plain runs' bytes differ among each other: none were compared */
    const char *different; /* what differed from the plain run: "its output", "its exit status", or a file; or NULL */
    enum gs_try_way different_in;
    enum gs_try_cut cut;
    double cut_s;   /* what the first plain run took, or had taken when it was interrupted */
    double hung_s;  /* it had not ended by then; 0: all have */
    int status;     /* the plain run's */
    char said[256]; /* the last line of its error output, if its status isn't 0 */
    json_t *stats;  /* of one run on all devices; or NULL */
    bool explained; /* that run has ended: without statistics it launched no kernel under gpusparc */
};

/* Sets n, cpu and blind, as gpusparc run would find the devices. 0, or -errno, said. */
int gs_try_find_devices(struct gs_try *t);

/* Runs the application; Ctrl-C ends it early. Returns 0, or -errno or -EPROTO with the reason said on stderr. */
int gs_try_run(struct gs_try *t);

/* Shows it, as asked for. 0, or -errno, said. */
int gs_try_show(const struct gs_try *t);

#endif
