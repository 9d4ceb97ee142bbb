/* SPDX-License-Identifier: MIT */
/* A few threads that copy memory. They sleep while there is nothing to copy, and take none of the application's
 * signals. */
#ifndef GS_SHIM_TRANSFER_POOL_H
#define GS_SHIM_TRANSFER_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct gs_pool;

/* One copy. Owned by the caller, who leaves it alone from gs_pool_submit until gs_pool_wait. */
struct gs_copy_job {
    void *dst;
    const void *src;
    size_t bytes;
    bool done;
    struct gs_copy_job *next;
};

/* NULL if no thread could be started. */
struct gs_pool *gs_pool_start(unsigned threads);
void gs_pool_stop(struct gs_pool *p);
void gs_pool_submit(struct gs_pool *p, struct gs_copy_job *job);
void gs_pool_wait(struct gs_pool *p, const struct gs_copy_job *job);

#endif
