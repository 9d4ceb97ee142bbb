/* SPDX-License-Identifier: MIT */
/* What auto mode has learnt, as a file between processes: a record for each kernel and size, last used first, and a
 * checksum. Pure: no files, no OpenCL. */
#ifndef GS_SHIM_CHOOSE_LEARNT_H
#define GS_SHIM_CHOOSE_LEARNT_H

#include "shim/choose/choice.h"

enum { GS_LEARNT_NAME_BYTES = 128, GS_LEARNT_MOST = 2000 };

/* A kernel's record. All numbers have 8 bytes, so there are no gaps. */
struct gs_learnt_kernel {
    char name[GS_LEARNT_NAME_BYTES]; /* kernels with longer names are not kept */
    uint64_t program;                /* a hash of the program's text and options */
    uint64_t n;                      /* devices */
    uint64_t size[6];                /* global and local; local zeros: NULL */
    uint64_t prepare_ns;             /* the time to translate and compile; 0: unknown */
    uint64_t launches, bound_ns, single_ns, split_ns, failures, moves, settled, dim, parts;
    struct gs_again scatter_again, gather_again;
    double return_rate, owed_ns, cut[GS_MAX_DEVICES];
};

struct gs_learnt {
    struct gs_machine machine;  /* split_ns 0: unknown */
    struct gs_learnt_kernel *v; /* owned */
    size_t n;
};

/* Is a kernel worth a record: could the kernel gain by n devices, or was a split tried? */
bool gs_learnt_may_gain(const struct gs_history *h, const struct gs_machine *m, unsigned n);

/* keep: from a history to a record. begin: from a record to a new process's history. */
void gs_learnt_keep(struct gs_learnt_kernel *k, const struct gs_history *h);
void gs_learnt_begin(const struct gs_learnt_kernel *k, struct gs_history *h);

/* Adds a record unless one of that kernel and size is there. Leaves out records beyond GS_LEARNT_MOST. -ENOMEM. */
int gs_learnt_add(struct gs_learnt *l, const struct gs_learnt_kernel *k);

/* The file's bytes, malloc'd; NULL: no memory. */
char *gs_learnt_print(const struct gs_learnt *l, size_t *bytes);

/* Reads a file's bytes. -EBADMSG: damaged, or of another version; -ENOMEM. *l is empty then. */
int gs_learnt_parse(struct gs_learnt *l, const char *text, size_t bytes);
void gs_learnt_free(struct gs_learnt *l);

#endif
