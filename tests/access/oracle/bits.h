/* SPDX-License-Identifier: MIT */
/* Sets of bytes as bits, 64 to a word. */
#ifndef GS_TESTS_ACCESS_ORACLE_BITS_H
#define GS_TESTS_ACCESS_ORACLE_BITS_H

#include "common/rangeset.h"

void bits_add_set(uint64_t *set, const struct gs_rangeset *s);

/* Is there a byte of `a` that is neither in `b` nor in `but`? *out, empty before, is the first run of these. */
bool bits_find_missing(const uint64_t *a, const uint64_t *b, const uint64_t *but, size_t words, struct gs_range *out);

#endif
