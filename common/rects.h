/* SPDX-License-Identifier: MIT */
/* What travels as one of a set of bytes. A band of a picture's columns is a range for each row, all of one length and
 * one distance: a rectangle. Pure. */
#ifndef GS_RECTS_H
#define GS_RECTS_H

#include "common/rangeset.h"

/* `rows` runs of `width` bytes, `pitch` bytes from the begin of one to that of the next. One row is a range. */
struct gs_rect {
    uint64_t begin, width, pitch, rows;
};

struct gs_rect gs_one_row(struct gs_range r);
struct gs_range gs_rect_row(const struct gs_rect *r, uint64_t row);
uint64_t gs_rect_bytes(const struct gs_rect *r);
/* All from its first byte to its last, with what lies between its rows. */
struct gs_range gs_rect_hull(const struct gs_rect *r);
/* Adds its rows to `out`. -ENOMEM. */
int gs_rect_add_rows(const struct gs_rect *r, struct gs_rangeset *out);

/* The next that travels as one: from s->v[*i] on, which goes on behind it. That is a rectangle; or a range, with those
 * behind it that are near, where the source holds what lies between. `held`: what it holds; NULL: everything. */
struct gs_rect gs_rect_next(const struct gs_rangeset *s, size_t *i, const struct gs_rangeset *held);

/* Adds to `out` what of s, or of any part of it, can travel with all that goes along. -ENOMEM. */
int gs_rect_reach(const struct gs_rangeset *s, struct gs_rangeset *out);

/* How many they are. */
uint64_t gs_rect_count(const struct gs_rangeset *s, const struct gs_rangeset *held);

#endif
