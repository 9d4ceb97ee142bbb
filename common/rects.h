/* SPDX-License-Identifier: MIT */
/* Rectangles of bytes that travel together. A band of a picture's columns is a range for each row, all of one length
 * and one distance. Pure. */
#ifndef GS_RECTS_H
#define GS_RECTS_H

#include "common/rangeset.h"

/* `rows` runs of `width` bytes, each beginning `pitch` bytes after the last. One row is a range. */
struct gs_rect {
    uint64_t begin, width, pitch, rows;
};

struct gs_rect gs_one_row(struct gs_range r);
struct gs_range gs_rect_row(const struct gs_rect *r, uint64_t row);
uint64_t gs_rect_bytes(const struct gs_rect *r);
/* The range from the first byte to the last, with the gaps between rows. */
struct gs_range gs_rect_hull(const struct gs_rect *r);
/* Adds the rows to `out`. -ENOMEM. */
int gs_rect_add_rows(const struct gs_rect *r, struct gs_rangeset *out);

/* The next bytes of the set that travel together, from s->v[*i] on; *i goes on behind them. Either a rectangle; or a
 * range that joins near ranges, if the source holds the gaps. `held`: what the source holds; NULL: everything. */
struct gs_rect gs_rect_next(const struct gs_rangeset *s, size_t *i, const struct gs_rangeset *held);

/* Adds to `out` all bytes that may travel with s, or with any part of s, gaps included. -ENOMEM. */
int gs_rect_reach(const struct gs_rangeset *s, struct gs_rangeset *out);

/* How many times gs_rect_next has to be called for the whole set. */
uint64_t gs_rect_count(const struct gs_rangeset *s, const struct gs_rangeset *held);

#endif
