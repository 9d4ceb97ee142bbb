/* SPDX-License-Identifier: MIT */
/* What auto mode has learnt, as it is kept on disk between processes: a record for each kernel and size, the last used
 * first, and a checksum. Pure: no files, no OpenCL. */
#ifndef GS_SHIM_CHOOSE_LEARNT_H
#define GS_SHIM_CHOOSE_LEARNT_H

#include "shim/choose/choice.h"

enum { GS_LEARNT_NAME_BYTES = 128, GS_LEARNT_MOST = 2000 };

/* A kernel as it stands in the file. All numbers have 8 bytes: there are no gaps. */
struct gs_learnt_kernel {
    char name[GS_LEARNT_NAME_BYTES]; /* longer ones are not kept */
    uint64_t program;                /* a hash of its text and options */
    uint64_t n;                      /* devices */
    uint64_t size[6];                /* global and local; local zeros: NULL */
    uint64_t prepare_ns;             /* what translating and compiling took; 0: not known */
    uint64_t launches, bound_ns, single_ns, split_ns, failures, moves, settled, dim, parts;
    uint64_t scatter_again[4], gather_again[4]; /* known, bytes, pieces, packs */
    double return_rate, owed_ns, cut[GS_MAX_DEVICES];
};

struct gs_learnt {
    struct gs_machine machine;  /* split_ns 0: not known */
    struct gs_learnt_kernel *v; /* owned */
    size_t n;
};

/* Is a kernel of that history worth a record: could it gain by n devices, or has it been tried? */
bool gs_learnt_may_gain(const struct gs_history *h, const struct gs_machine *m, unsigned n);

/* What is kept of a history, and what a new process begins with. */
void gs_learnt_keep(struct gs_learnt_kernel *k, const struct gs_history *h);
void gs_learnt_begin(const struct gs_learnt_kernel *k, struct gs_history *h);

/* Adds one, unless one of the same kernel and size is there; beyond GS_LEARNT_MOST it is left out. -ENOMEM. */
int gs_learnt_add(struct gs_learnt *l, const struct gs_learnt_kernel *k);

/* malloc'd, or NULL if there is no memory. */
char *gs_learnt_print(const struct gs_learnt *l, size_t *bytes);

/* -EBADMSG for what is damaged or of another version, -ENOMEM; *l is then empty. */
int gs_learnt_parse(struct gs_learnt *l, const char *text, size_t bytes);
void gs_learnt_free(struct gs_learnt *l);

#endif
