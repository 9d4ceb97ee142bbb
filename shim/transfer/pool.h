/* SPDX-License-Identifier: MIT */
/* A few threads that copy memory. They sleep while there is nothing to copy, and take none of the application's
 * signals. */
#ifndef GS_SHIM_TRANSFER_POOL_H
#define GS_SHIM_TRANSFER_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct gs_pool;

/* Bytes in slices of rows, `row` and `slice` bytes apart. */
struct gs_rows {
    char *at;
    size_t row, slice;
};

/* One copy of region[2] slices of region[1] rows of region[0] bytes. Owned by the caller, who leaves it alone from
 * gs_pool_submit until gs_pool_wait. */
struct gs_copy_job {
    struct gs_rows dst, src; /* src: only read */
    size_t region[3];
    bool streaming; /* past the cache: nobody reads it soon */
    bool fresh;     /* the pages that it writes to may not be there yet */
    bool done;
    struct gs_copy_job *next;
};

/* Part i of n of a copy: of rows, slices, or, of a run of bytes, pages. Its region[0] is 0 if there is none left for
 * it. */
struct gs_copy_job gs_pool_share(const struct gs_copy_job *all, unsigned i, unsigned n);

/* NULL if no thread could be started. */
struct gs_pool *gs_pool_start(unsigned threads);
void gs_pool_stop(struct gs_pool *p);
void gs_pool_submit(struct gs_pool *p, struct gs_copy_job *job);
void gs_pool_wait(struct gs_pool *p, const struct gs_copy_job *job);

#endif
