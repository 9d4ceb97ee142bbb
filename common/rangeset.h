/* SPDX-License-Identifier: MIT */
/* Sets of bytes as sorted, disjoint, non-touching half-open ranges. A set that is all zeros is the empty set. A column
 * of a picture is thousands of ranges: what takes two sets goes through both once, and what asks something of two skips
 * the ranges of one that lie between two of the other. Not thread-safe; the owner locks.
 * Functions that may allocate return 0 or -ENOMEM and leave the set as it was. */
#ifndef GS_COMMON_RANGESET_H
#define GS_COMMON_RANGESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes begin <= b < end; empty where begin >= end. */
struct gs_range {
    uint64_t begin, end;
};

/* Have two ranges, neither of them empty, a byte in common? */
static inline bool gs_ranges_overlap(struct gs_range a, struct gs_range b)
{
    return a.begin < b.end && b.begin < a.end;
}

struct gs_rangeset {
    struct gs_range *v; /* owned */
    size_t n, cap;
};
/* A set of one range, an lvalue that isn't empty; for as long as the block lasts. */
#define GS_ONE_RANGE(range) ((const struct gs_rangeset){.v = &(range), .n = 1})

void gs_rangeset_free(struct gs_rangeset *s);
void gs_rangeset_clear(struct gs_rangeset *s);
int gs_rangeset_copy(struct gs_rangeset *dst, const struct gs_rangeset *src);

int gs_rangeset_add(struct gs_rangeset *s, struct gs_range r);
int gs_rangeset_remove(struct gs_rangeset *s, struct gs_range r);
int gs_rangeset_add_set(struct gs_rangeset *s, const struct gs_rangeset *t);
int gs_rangeset_remove_set(struct gs_rangeset *s, const struct gs_rangeset *t);

/* Makes *out, whatever it was, what is in s or in t; or in s but not in t. */
int gs_rangeset_sum(const struct gs_rangeset *s, const struct gs_rangeset *t, struct gs_rangeset *out);
int gs_rangeset_rest(const struct gs_rangeset *s, const struct gs_rangeset *t, struct gs_rangeset *out);

/* Adds to `out` what is both in s and in r, or in r but not in s; or in both sets. */
int gs_rangeset_common(const struct gs_rangeset *s, struct gs_range r, struct gs_rangeset *out);
int gs_rangeset_missing(const struct gs_rangeset *s, struct gs_range r, struct gs_rangeset *out);
int gs_rangeset_common_set(const struct gs_rangeset *s, const struct gs_rangeset *t, struct gs_rangeset *out);

/* Is every byte of r in s? True for an empty r. And every byte of the set t? */
bool gs_rangeset_contains(const struct gs_rangeset *s, struct gs_range r);
bool gs_rangeset_contains_set(const struct gs_rangeset *s, const struct gs_rangeset *t);

/* The first range of s that ends behind byte `at`, which it may hold; s->n where there is none. */
size_t gs_rangeset_find(const struct gs_rangeset *s, uint64_t at);

/* Is any byte of r in s? And of two sets: have they a byte in common? */
bool gs_rangeset_touches(const struct gs_rangeset *s, struct gs_range r);
bool gs_rangeset_overlap(const struct gs_rangeset *s, const struct gs_rangeset *t);

/* The range from the first byte of s or t to the last; empty where both are. */
struct gs_range gs_rangeset_hull(const struct gs_rangeset *s, const struct gs_rangeset *t);

/* The number of bytes in s. */
uint64_t gs_rangeset_bytes(const struct gs_rangeset *s);

#endif
