/* SPDX-License-Identifier: MIT */
/* A few threads that copy memory past the cache. All work on the oldest copy, so that its transfer can begin as soon as
 * possible. The threads sleep while there is nothing to copy, and take none of the application's signals. */
#ifndef GS_SHIM_STAGING_POOL_H
#define GS_SHIM_STAGING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shim/put/cut.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct gs_pool;

/* Bytes in slices of rows; `row` and `slice` are the distances in bytes. */
struct gs_rows {
    char *at;
    size_t row, slice;
};

/* A copy of region[2] slices of region[1] rows of region[0] bytes. The caller's again after gs_pool_wait. */
struct gs_copy_job {
    struct gs_rows dst, src; /* src is only read; src at the same address: only the pages at dst are made */
    size_t region[3];
    bool fresh; /* pages at dst may not exist yet */
    /* the pool's own: the shares, and how many have been taken, and are left to be done */
    struct gs_cut cut;
    unsigned taken, left;
    struct gs_copy_job *next;
};

static inline size_t gs_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Starts so many threads, or fewer. NULL: no thread could be started. */
struct gs_pool *gs_pool_start(unsigned threads);
/* To be called with no copy under way. */
void gs_pool_stop(struct gs_pool *p);
/* Hands a job to the threads. Any thread may call. */
void gs_pool_submit(struct gs_pool *p, struct gs_copy_job *job);
/* Waits for the job, and copies shares of the job meanwhile. */
void gs_pool_wait(struct gs_pool *p, struct gs_copy_job *job);

/* memcpy past the cache, for many bytes that nobody reads soon. On an H200 host two threads drained 24 GB/s this way
 * and 11 by memcpy, four 50 and 32: memory about to be overwritten isn't read first. */
static inline void gs_copy_past_cache(char *dst, const char *src, size_t n)
{
#ifdef __SSE2__
    enum { LINE = 64 };
    const size_t head = (LINE - (uintptr_t)dst % LINE) % LINE;
    if (n >= 16 * LINE) {
        memcpy(dst, src, head);
        for (dst += head, src += head, n -= head; n >= LINE; dst += LINE, src += LINE, n -= LINE) {
            const __m128i *from = (const __m128i *)(const void *)src;
            __m128i *to = (__m128i *)(void *)dst;
            for (unsigned i = 0; i < LINE / sizeof *to; i++)
                _mm_stream_si128(to + i, _mm_loadu_si128(from + i));
        }
        _mm_sfence();
    }
#endif
    memcpy(dst, src, n);
}

/* ---- memory that is written for the first time, by a large read or as a ring: the kernel makes pages one by one more
 * slowly than bytes are copied. Only bytes that will be written are touched. ---- */

/* Do pages of the range not exist yet? Looks at a few. If so, asks for huge pages where the range holds whole ones. */
bool gs_populate_prepare(void *at, size_t bytes);

/* Makes all pages that lie wholly in the range, by one system call. */
void gs_populate_make(void *at, size_t bytes);

#endif
