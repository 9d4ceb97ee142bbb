/* SPDX-License-Identifier: MIT */
#include "common/rects.h"

enum {
    LEAST_ROWS = 4, /* fewer travel by themselves: a rectangle takes a kernel at either end */
    /* A wider row travels by itself as fast. */
    MOST_WIDTH = 1024 * 1024,
    /* Bytes that nobody asked for and that are sooner sent than left out: the time of a transfer. */
    NEAR_BYTES = 64 * 1024,
    NARROW_GAP = 8 /* so many times as narrow as a row: what lies between goes along */
};

struct gs_rect gs_one_row(struct gs_range r)
{
    return (struct gs_rect){r.begin, r.end - r.begin, r.end - r.begin, 1};
}

struct gs_range gs_rect_row(const struct gs_rect *r, uint64_t row)
{
    const uint64_t begin = r->begin + row * r->pitch;
    return (struct gs_range){begin, begin + r->width};
}

uint64_t gs_rect_bytes(const struct gs_rect *r)
{
    return r->width * r->rows;
}

struct gs_range gs_rect_hull(const struct gs_rect *r)
{
    return (struct gs_range){r->begin, gs_rect_row(r, r->rows - 1).end};
}

int gs_rect_add_rows(const struct gs_rect *r, struct gs_rangeset *out)
{
    int err = 0;
    for (uint64_t i = 0; i < r->rows && !err; i++)
        err = gs_rangeset_add(out, gs_rect_row(r, i));
    return err;
}

static bool is_held(const struct gs_rangeset *held, struct gs_range r)
{
    return !held || gs_rangeset_contains(held, r);
}

/* As many ranges from s->v[*i] on as are one rectangle. */
static struct gs_rect rows_from(const struct gs_rangeset *s, size_t *i)
{
    const struct gs_range *v = s->v + *i;
    struct gs_rect r = gs_one_row(*v);
    const size_t left = s->n - *i;
    if (left >= LEAST_ROWS && r.width <= MOST_WIDTH) {
        r.pitch = v[1].begin - v[0].begin;
        while (r.rows < left && v[r.rows].begin - v[r.rows - 1].begin == r.pitch &&
               v[r.rows].end - v[r.rows].begin == r.width)
            r.rows++;
    }
    if (r.rows < LEAST_ROWS)
        r = gs_one_row(*v);
    *i += r.rows;
    return r;
}

/* The same, or the range from its begin to its end where that is as good. */
static struct gs_rect rows_or_hull(const struct gs_rangeset *s, size_t *i, const struct gs_rangeset *held)
{
    const struct gs_rect r = rows_from(s, i);
    const uint64_t gap = r.pitch - r.width;
    const bool narrow = gap * NARROW_GAP <= r.width || gap * (r.rows - 1) <= NEAR_BYTES;
    return r.rows > 1 && narrow && is_held(held, gs_rect_hull(&r)) ? gs_one_row(gs_rect_hull(&r)) : r;
}

struct gs_rect gs_rect_next(const struct gs_rangeset *s, size_t *i, const struct gs_rangeset *held)
{
    struct gs_rect r = rows_or_hull(s, i, held);
    for (size_t behind = *i; r.rows == 1 && *i < s->n; *i = behind) {
        const struct gs_rect next = rows_or_hull(s, &behind, held);
        if (next.rows > 1 || next.begin - gs_rect_hull(&r).end > NEAR_BYTES ||
            !is_held(held, (struct gs_range){r.begin, gs_rect_hull(&next).end}))
            break;
        r = gs_one_row((struct gs_range){r.begin, gs_rect_hull(&next).end});
    }
    return r;
}

int gs_rect_reach(const struct gs_rangeset *s, struct gs_rangeset *out)
{
    uint64_t widest = NEAR_BYTES; /* of what goes along */
    int err = 0;
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t width = s->v[i].end - s->v[i].begin,
                       narrow = (width < MOST_WIDTH ? width : MOST_WIDTH) / NARROW_GAP;
        widest = narrow > widest ? narrow : widest;
    }
    for (size_t i = 0; i < s->n && !err; i++) {
        const bool near = i && s->v[i].begin - s->v[i - 1].end <= widest;
        err = gs_rangeset_add(out, (struct gs_range){near ? s->v[i - 1].end : s->v[i].begin, s->v[i].end});
    }
    return err;
}

uint64_t gs_rect_count(const struct gs_rangeset *s, const struct gs_rangeset *held)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n; n++)
        gs_rect_next(s, &i, held);
    return n;
}
