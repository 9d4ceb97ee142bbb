/* SPDX-License-Identifier: MIT */
#include "scheduler/histogram.h"

/* Values below 16 have a bucket each; above, the four bits after the leading one choose. */
static unsigned bucket_of(uint64_t ns)
{
    if (ns < GS_HISTOGRAM_SUB)
        return (unsigned)ns;
    unsigned exponent = 63 - (unsigned)__builtin_clzll(ns); /* 4 ... 63 */
    unsigned sub = (unsigned)(ns >> (exponent - 4)) & (GS_HISTOGRAM_SUB - 1);
    return (exponent - 3) * GS_HISTOGRAM_SUB + sub;
}

/* The largest value of the bucket. */
static uint64_t top_of(unsigned bucket)
{
    if (bucket < GS_HISTOGRAM_SUB)
        return bucket;
    unsigned exponent = bucket / GS_HISTOGRAM_SUB + 3, sub = bucket % GS_HISTOGRAM_SUB;
    uint64_t width = UINT64_C(1) << (exponent - 4);
    return (GS_HISTOGRAM_SUB + sub) * width + (width - 1);
}

void gs_histogram_add(struct gs_histogram *h, uint64_t ns)
{
    if (h->count == 0 || ns < h->min_ns)
        h->min_ns = ns;
    if (ns > h->max_ns)
        h->max_ns = ns;
    h->count++;
    uint32_t *n = &h->bucket[bucket_of(ns)];
    if (*n < UINT32_MAX)
        ++*n;
}

uint64_t gs_histogram_quantile(const struct gs_histogram *h, double q)
{
    if (h->count == 0)
        return 0;
    double rank = q * (double)h->count, seen = 0;
    for (unsigned i = 0; i < GS_HISTOGRAM_BUCKETS; i++) {
        seen += h->bucket[i];
        if (h->bucket[i] && seen >= rank)
            return top_of(i) < h->max_ns ? top_of(i) : h->max_ns;
    }
    return h->max_ns;
}
