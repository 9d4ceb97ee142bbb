/* SPDX-License-Identifier: MIT */
/* A histogram of times: 16 buckets per power of two, so that a value is known to 1/16 over the whole range, in fixed
 * memory. */
#ifndef GS_SCHEDULER_HISTOGRAM_H
#define GS_SCHEDULER_HISTOGRAM_H

#include <stdint.h>

#define GS_HISTOGRAM_SUB 16
#define GS_HISTOGRAM_BUCKETS (61 * GS_HISTOGRAM_SUB)

struct gs_histogram {
    uint64_t count, min_ns, max_ns; /* exact */
    uint32_t bucket[GS_HISTOGRAM_BUCKETS];
};

void gs_histogram_add(struct gs_histogram *h, uint64_t ns);

/* A value that at least the share q (0 ... 1) of all do not exceed, and exceeds the least such by at most 1/16; never
 * above the maximum. 0 for an empty histogram. */
uint64_t gs_histogram_quantile(const struct gs_histogram *h, double q);

#endif
