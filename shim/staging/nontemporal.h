/* SPDX-License-Identifier: MIT */
/* memcpy for much that isn't looked at soon. */
#ifndef GS_SHIM_STAGING_NONTEMPORAL_H
#define GS_SHIM_STAGING_NONTEMPORAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Past the cache, a line at a time. On a host of H200s two threads drained 24 GB/s this way and 11 by memcpy, four 50
 * and 32: memory about to be overwritten isn't read first. */
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

#endif
