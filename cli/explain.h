/* SPDX-License-Identifier: MIT */
/* What `gpusparc explain` has been asked, and what it has found out. */
#ifndef GS_CLI_EXPLAIN_H
#define GS_CLI_EXPLAIN_H

#include "shim/plan/plan.h"
#include "shim/pooled/turns.h"
#include "translator/summary/summary.h"

enum { GS_EXPLAIN_FILES = 16, GS_EXPLAIN_ARGS = 64 };

/* --arg NAME=VALUE: of a kernel's argument by that name; of a buffer, its size in bytes. */
struct gs_explain_value {
    const char *name, *value;
};

struct gs_explain {
    const char *files[GS_EXPLAIN_FILES];
    char *texts[GS_EXPLAIN_FILES]; /* owned */
    size_t n_files;
    char *build_options;    /* owned */
    const char *reordering; /* the gs_reordering_option() or _pragma() of the program, or NULL */
    const char *kernel;     /* only this one, or NULL */
    bool has_global, has_local, json, source, may_reorder, may_race;
    bool has_features; /* --as: read as for a device that has the `features`, a bit for each that --as knows */
    unsigned features;
    struct gs_geometry launch;
    unsigned parts;
    struct gs_explain_value values[GS_EXPLAIN_ARGS];
    size_t n_values;
    uint64_t memory;   /* --memory: bytes of each device; 0: it isn't asked */
    size_t most_items; /* work-items that a group of the group's first device may have; 0: not known */
};

/* A kernel's launch as it would be planned: what each part reads and writes of each argument. */
struct gs_explain_launch {
    const struct gs_kernel_summary *kernel;
    struct gs_plan plan;
    struct gs_arg *args;
    struct gs_mem *mems; /* one per argument, made up */
    struct gs_mem **used;
    struct gs_arg_access *access; /* of part p's argument i: [p * n_args + i] */
    bool sizes_missing;           /* buffers without a size are taken as GS_EXPLAIN_BUFFER bytes */
    bool values_missing;          /* values that --arg doesn't say may be any */
    struct gs_turns turns;        /* with --memory; n is 0: it doesn't fit, and the reason says why */
};

#define GS_EXPLAIN_BUFFER ((uint64_t)1 << 30)

/* A number of bytes: "64", "64K", "64M", "64G", "64MiB". 0 or -EINVAL. */
int gs_explain_bytes(const char *s, uint64_t *out);

/* Plans it. 0; -EINVAL with a sentence where an --arg can't be read; -ENOMEM. */
int gs_explain_plan(const struct gs_explain *e, const struct gs_kernel_summary *kernel, struct gs_explain_launch *out,
                    char *why, size_t why_bytes);
void gs_explain_plan_free(struct gs_explain_launch *l);

/* How the writes of the parts to an argument come together; NULL where it isn't written. */
const char *gs_explain_writes(const struct gs_explain_launch *l, uint32_t arg);

/* How much the largest turn's windows have together, in bytes. */
uint64_t gs_explain_largest_turn(const struct gs_explain_launch *l);

/* Why the driver refuses the launch, whatever gpusparc does, with the OpenCL error in brackets; or NULL. */
const char *gs_explain_invalid(const struct gs_explain *e, const struct gs_explain_launch *l, char *why,
                               size_t why_bytes);

/* Of a program that can't be read: the compiler's message, and its place. NULL: the refusal is another. */
const char *gs_explain_error(const char *refusal, struct gs_site *site);

/* Print everything; the launches are one per kernel, or NULL where no --global was given. */
void gs_explain_text(const struct gs_explain *e, const struct gs_summary *s, const struct gs_explain_launch *launches);
void gs_explain_json(const struct gs_explain *e, const struct gs_summary *s, const struct gs_explain_launch *launches);

/* The file of a place, as the user named it. */
const char *gs_explain_file(const struct gs_explain *e, const struct gs_site *site);

#endif
