/* SPDX-License-Identifier: MIT */
/* What auto mode has learnt, as it is kept on disk between processes: a record for each kernel and size, the last used
 * first, and a checksum. Pure: no files, no OpenCL. */
#ifndef GS_SHIM_CHOOSE_LEARNT_H
#define GS_SHIM_CHOOSE_LEARNT_H

#include <stddef.h>

#include "shim/choose/choice.h"

enum { GS_LEARNT_NAME_BYTES = 128, GS_LEARNT_MOST = 2000 };

struct gs_learnt_kernel {
    uint64_t program;                /* a hash of its text and options */
    char name[GS_LEARNT_NAME_BYTES]; /* longer ones are not kept */
    uint64_t size[6];                /* global and local; local zeros: NULL */
    unsigned n;                      /* devices */
    uint64_t prepare_ns;             /* what translating and compiling took; 0: not known */
    struct gs_history h;             /* as a new process starts with it */
};

struct gs_learnt {
    struct gs_machine machine; /* split_ns 0: not known */
    struct gs_learnt_kernel *v;
    size_t n, cap; /* owned */
};

/* Adds one, or takes the place of what is there of the same kernel and size; beyond GS_LEARNT_MOST it is left out.
 * -ENOMEM. */
int gs_learnt_add(struct gs_learnt *l, const struct gs_learnt_kernel *k);

/* Is one of the same kernel and size there? */
bool gs_learnt_has(const struct gs_learnt *l, const struct gs_learnt_kernel *k);

/* Is it worth a record: could it gain, or has it been tried? */
bool gs_learnt_may_gain(const struct gs_learnt_kernel *k, const struct gs_machine *m);

/* malloc'd, or NULL if there is no memory. */
char *gs_learnt_print(const struct gs_learnt *l, size_t *bytes);

/* -EBADMSG for what is damaged or of another version, -ENOMEM; *l is then empty. */
int gs_learnt_parse(struct gs_learnt *l, const char *text, size_t bytes);
void gs_learnt_free(struct gs_learnt *l);

#endif
