/* SPDX-License-Identifier: MIT */
/* A few threads that copy memory, past the cache, all of them at the oldest copy: the first is there as soon as it can
 * be, and its transfer begins while they go on. They sleep while there is nothing to copy, and take none of the
 * application's signals. */
#ifndef GS_SHIM_STAGING_POOL_H
#define GS_SHIM_STAGING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    bool fresh; /* pages at dst may not be there yet */
    /* The pool's own: into how many shares it is cut, how many have been taken, and how many are yet to be done. */
    unsigned shares, taken, left;
    struct gs_copy_job *next;
};

static inline size_t gs_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What is to be copied. */
struct gs_share {
    struct gs_rows dst, src;
    size_t region[3];
};

/* Share i of n of a copy: of rows, slices, or, of a run of bytes, pages. Its region[0] is 0 if there is none left for
 * it. */
struct gs_share gs_pool_share(const struct gs_copy_job *all, unsigned i, unsigned n);

/* NULL if no thread could be started. */
struct gs_pool *gs_pool_start(unsigned threads);
/* With no copy under way. */
void gs_pool_stop(struct gs_pool *p);
/* Several threads may. */
void gs_pool_submit(struct gs_pool *p, struct gs_copy_job *job);
/* Takes its own part in the copy, if that has not all been taken. */
void gs_pool_wait(struct gs_pool *p, struct gs_copy_job *job);

#endif
