/* SPDX-License-Identifier: MIT */
/* Statistics of execution vectors: the order in which the warps or groups of a launch came, over many runs
 * (D. Defour, "Impacting predictability of GPUs", 2014, section IV-A). */
#ifndef GS_PROBES_VECSTAT_H
#define GS_PROBES_VECSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gs_vecstat;

enum { GS_VECSTAT_HASH_WORDS = 3 };

/* Counts vectors by a 96-bit fingerprint, exactly as long as no more than `max_distinct` different ones come (16 to 32
 * bytes each); then the mode is bounded and the cardinality estimated. 0 stands for 2^22. Null without memory. */
struct gs_vecstat *gs_vecstat_new(size_t max_distinct);
void gs_vecstat_free(struct gs_vecstat *s);

/* Adds one vector of p values. 0 or -ENOMEM. */
int gs_vecstat_add(struct gs_vecstat *s, const uint32_t *v, size_t p);

/* Turns times into dense ranks, in place of them: the earliest 0, equal ones alike. `order` is room for n indices. */
void gs_vecstat_ranks(const uint64_t *times, size_t n, uint32_t *ranks, uint32_t *order);

struct gs_vecstat_summary {
    uint64_t vectors;
    bool exact;               /* mode_count and cardinality are; else see below */
    uint64_t mode_count;      /* how often the most frequent vector came; at least, if not exact */
    uint64_t mode_count_most; /* at most */
    double mode;              /* mode_count / vectors, 0 to 1 */
    double cardinality;       /* different vectors; an estimate with a standard error of 0.8 % if not exact */
    double entropy_bits;      /* of the observed frequencies; NaN if not exact */
};

struct gs_vecstat_summary gs_vecstat_summarise(const struct gs_vecstat *s);

/* Writes the state as binary, and reads it back, for probes that go on later. 0, -EIO, -EINVAL for what is no such
 * state, or -ENOMEM. */
int gs_vecstat_save(const struct gs_vecstat *s, FILE *f);
int gs_vecstat_load(struct gs_vecstat **s, FILE *f);

/* log10 of p!, the number of orders of p things, and of the ordered Bell number, that of orders with ties. */
double gs_vecstat_log10_orders(unsigned p);
double gs_vecstat_log10_weak_orders(unsigned p);

/* The same as integers, or 0 where they don't fit 64 bits. */
uint64_t gs_vecstat_orders(unsigned p);
uint64_t gs_vecstat_weak_orders(unsigned p);

#endif
