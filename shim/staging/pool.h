/* SPDX-License-Identifier: MIT */
/* A few threads that copy memory, past the cache, all of them at the oldest copy: the first is there as soon as it can
 * be, and its transfer begins while they go on. They sleep while there is nothing to copy, and take none of the
 * application's signals. */
#ifndef GS_SHIM_STAGING_POOL_H
#define GS_SHIM_STAGING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct gs_pool;

/* Bytes in slices of rows, `row` and `slice` bytes apart. */
struct gs_rows {
    char *at;
    size_t row, slice;
};

/* region[2] slices of region[1] rows of region[0] bytes. The caller's, to be left alone until gs_pool_wait. */
struct gs_copy_job {
    struct gs_rows dst, src; /* src: only read; the same: nothing is copied */
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

/* Share i of n of a copy: of rows, slices, or, of a run of bytes, pages. Its region[0] is 0 if none is left. */
struct gs_share gs_pool_share(const struct gs_copy_job *all, unsigned i, unsigned n);

/* NULL if no thread could be started. */
struct gs_pool *gs_pool_start(unsigned threads);
/* With no copy under way. */
void gs_pool_stop(struct gs_pool *p);
/* Several threads may. */
void gs_pool_submit(struct gs_pool *p, struct gs_copy_job *job);
/* Takes its own part in the copy, if that has not all been taken. */
void gs_pool_wait(struct gs_pool *p, struct gs_copy_job *job);

/* memcpy for much that isn't looked at soon: past the cache, a line at a time. On a host of H200s two threads drained
 * 24 GB/s this way and 11 by memcpy, four 50 and 32: memory about to be overwritten isn't read first. */
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
            const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1), c = _mm_loadu_si128(from + 2),
                          d = _mm_loadu_si128(from + 3);
            _mm_stream_si128(to, a);
            _mm_stream_si128(to + 1, b);
            _mm_stream_si128(to + 2, c);
            _mm_stream_si128(to + 3, d);
        }
        _mm_sfence();
    }
#endif
    memcpy(dst, src, n);
}

/* ---- memory that is about to be written for the first time, by a large read or as a ring: the kernel takes longer to
 * make and clear the pages one by one than the copying takes. Only bytes that the read writes are touched. ---- */

/* Are pages of it yet to be made? A few are looked at. Then asks for huge ones, where the range holds some whole. */
bool gs_prefault_prepare(void *at, size_t bytes);

/* Makes the pages that lie wholly within the range, all by one call. */
void gs_prefault_make(void *at, size_t bytes);

#endif
