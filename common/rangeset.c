/* SPDX-License-Identifier: MIT */
#include "common/rangeset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void gs_rangeset_free(struct gs_rangeset *s)
{
    free(s->v);
    *s = (struct gs_rangeset){0};
}

void gs_rangeset_clear(struct gs_rangeset *s)
{
    s->n = 0;
}

static int reserve(struct gs_rangeset *s, size_t n)
{
    if (n <= s->cap)
        return 0;
    size_t cap = s->cap ? s->cap : 4;
    while (cap < n)
        cap *= 2;
    struct gs_range *v = realloc(s->v, cap * sizeof *v);
    if (!v)
        return -ENOMEM;
    s->v = v;
    s->cap = cap;
    return 0;
}

int gs_rangeset_copy(struct gs_rangeset *dst, const struct gs_rangeset *src)
{
    if (reserve(dst, src->n) < 0)
        return -ENOMEM;
    if (src->n)
        memcpy(dst->v, src->v, src->n * sizeof *src->v);
    dst->n = src->n;
    return 0;
}

/* The index of the first range behind v[lo], which ends before x, whose end is at least x. Found the sooner, the nearer
 * it is. */
static size_t further_ending_from(const struct gs_rangeset *s, size_t lo, uint64_t x)
{
    size_t hi = ++lo;
    for (size_t step = 1; hi < s->n && s->v[hi].end < x; step *= 2) {
        lo = hi + 1;
        hi += step;
    }
    hi = hi < s->n ? hi : s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->v[mid].end < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The same from v[lo] on, which it mostly is. */
static inline size_t next_ending_from(const struct gs_rangeset *s, size_t lo, uint64_t x)
{
    return lo < s->n && s->v[lo].end < x ? further_ending_from(s, lo, x) : lo;
}

static size_t first_ending_from(const struct gs_rangeset *s, uint64_t x)
{
    return next_ending_from(s, 0, x);
}

/* Puts the `count` ranges of r in the place of s->v[from..to). */
static int replace(struct gs_rangeset *s, size_t from, size_t to, const struct gs_range *r, size_t count)
{
    size_t n = s->n - (to - from) + count;
    if (reserve(s, n) < 0)
        return -ENOMEM;
    if (s->n > to)
        memmove(s->v + from + count, s->v + to, (s->n - to) * sizeof *s->v);
    if (count)
        memcpy(s->v + from, r, count * sizeof *r);
    s->n = n;
    return 0;
}

/* Behind all that is there. */
static int append(struct gs_rangeset *s, struct gs_range r)
{
    if (s->n == s->cap && reserve(s, s->n + 1) < 0)
        return -ENOMEM;
    s->v[s->n++] = r;
    return 0;
}

__attribute__((hot)) int gs_rangeset_add(struct gs_rangeset *s, struct gs_range r)
{
    if (r.begin >= r.end)
        return 0;
    struct gs_range *last = s->n ? &s->v[s->n - 1] : NULL;
    if (!last || last->end < r.begin)
        return append(s, r);
    if (last->begin <= r.begin) {
        last->end = max_u64(last->end, r.end);
        return 0;
    }
    size_t from = first_ending_from(s, r.begin), to = from;
    while (to < s->n && s->v[to].begin <= r.end) {
        r.begin = min_u64(r.begin, s->v[to].begin);
        r.end = max_u64(r.end, s->v[to].end);
        to++;
    }
    return replace(s, from, to, &r, 1);
}

int gs_rangeset_remove(struct gs_rangeset *s, struct gs_range r)
{
    if (r.begin >= r.end)
        return 0;
    size_t from = first_ending_from(s, r.begin), to = from, count = 0;
    if (from < s->n && s->v[from].end == r.begin)
        from = ++to;
    struct gs_range rest[2];
    while (to < s->n && s->v[to].begin < r.end) {
        if (s->v[to].begin < r.begin)
            rest[count++] = (struct gs_range){s->v[to].begin, r.begin};
        if (s->v[to].end > r.end)
            rest[count++] = (struct gs_range){r.end, s->v[to].end};
        to++;
    }
    return replace(s, from, to, rest, count);
}

int gs_rangeset_sum(const struct gs_rangeset *s, const struct gs_rangeset *t, struct gs_rangeset *out)
{
    struct gs_rangeset sum = {0};
    if (reserve(&sum, s->n + t->n) < 0)
        return -ENOMEM;
    for (size_t i = 0, j = 0; i < s->n || j < t->n;) {
        const bool first = j == t->n || (i < s->n && s->v[i].begin <= t->v[j].begin);
        const struct gs_range r = first ? s->v[i++] : t->v[j++];
        if (sum.n && r.begin <= sum.v[sum.n - 1].end)
            sum.v[sum.n - 1].end = max_u64(sum.v[sum.n - 1].end, r.end);
        else
            sum.v[sum.n++] = r;
    }
    *out = sum;
    return 0;
}

/* Nothing is copied where nothing changes, which is what mostly happens. */
int gs_rangeset_add_set(struct gs_rangeset *s, const struct gs_rangeset *t)
{
    struct gs_rangeset sum;
    if (gs_rangeset_contains_set(s, t))
        return 0;
    if (gs_rangeset_sum(s, t, &sum) < 0)
        return -ENOMEM;
    gs_rangeset_free(s);
    *s = sum;
    return 0;
}

int gs_rangeset_rest(const struct gs_rangeset *s, const struct gs_rangeset *t, struct gs_rangeset *out)
{
    struct gs_rangeset rest = {0};
    size_t j = s->n ? gs_rangeset_find(t, s->v[0].begin) : t->n;
    const size_t behind = s->n ? gs_rangeset_find(t, s->v[s->n - 1].end) : t->n;
    if (reserve(&rest, s->n + behind - j) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < s->n; i++) {
        struct gs_range r = s->v[i];
        for (; j < t->n && t->v[j].end <= r.begin; j++)
            ;
        for (; j < t->n && t->v[j].begin < r.end && r.begin < r.end; j++) {
            if (r.begin < t->v[j].begin)
                rest.v[rest.n++] = (struct gs_range){r.begin, t->v[j].begin};
            r.begin = t->v[j].end;
            if (r.begin >= r.end)
                break; /* it may reach into the next range too */
        }
        if (r.begin < r.end)
            rest.v[rest.n++] = r;
    }
    *out = rest;
    return 0;
}

int gs_rangeset_remove_set(struct gs_rangeset *s, const struct gs_rangeset *t)
{
    struct gs_rangeset rest;
    if (!gs_rangeset_overlap(s, t))
        return 0;
    if (gs_rangeset_rest(s, t, &rest) < 0)
        return -ENOMEM;
    gs_rangeset_free(s);
    *s = rest;
    return 0;
}

int gs_rangeset_common(const struct gs_rangeset *s, struct gs_range r, struct gs_rangeset *out)
{
    for (size_t i = first_ending_from(s, r.begin); i < s->n && s->v[i].begin < r.end; i++) {
        struct gs_range c = {max_u64(s->v[i].begin, r.begin), min_u64(s->v[i].end, r.end)};
        if (gs_rangeset_add(out, c) < 0)
            return -ENOMEM;
    }
    return 0;
}

int gs_rangeset_missing(const struct gs_rangeset *s, struct gs_range r, struct gs_rangeset *out)
{
    uint64_t at = r.begin;
    for (size_t i = first_ending_from(s, r.begin); i < s->n && s->v[i].begin < r.end; i++) {
        if (gs_rangeset_add(out, (struct gs_range){at, s->v[i].begin}) < 0)
            return -ENOMEM;
        at = max_u64(at, s->v[i].end);
    }
    return gs_rangeset_add(out, (struct gs_range){at, r.end});
}

int gs_rangeset_common_set(const struct gs_rangeset *s, const struct gs_rangeset *t, struct gs_rangeset *out)
{
    for (size_t i = 0, j = 0; i < s->n && j < t->n;) {
        const struct gs_range a = s->v[i], b = t->v[j], both = {max_u64(a.begin, b.begin), min_u64(a.end, b.end)};
        if (both.begin < both.end && gs_rangeset_add(out, both) < 0)
            return -ENOMEM;
        if (a.end < b.end)
            i = next_ending_from(s, i + 1, b.begin + 1);
        else
            j = next_ending_from(t, j + 1, a.begin + 1);
    }
    return 0;
}

bool gs_rangeset_contains(const struct gs_rangeset *s, struct gs_range r)
{
    if (r.begin >= r.end)
        return true;
    size_t i = first_ending_from(s, r.end);
    return i < s->n && s->v[i].begin <= r.begin;
}

bool gs_rangeset_contains_set(const struct gs_rangeset *s, const struct gs_rangeset *t)
{
    for (size_t i = 0, j = 0; j < t->n; j = next_ending_from(t, j + 1, s->v[i].end)) {
        i = next_ending_from(s, i, t->v[j].end);
        if (i == s->n || s->v[i].begin > t->v[j].begin)
            return false;
    }
    return true;
}

size_t gs_rangeset_find(const struct gs_rangeset *s, uint64_t at)
{
    return at == UINT64_MAX ? s->n : first_ending_from(s, at + 1);
}

bool gs_rangeset_touches(const struct gs_rangeset *s, struct gs_range r)
{
    if (r.begin >= r.end)
        return false;
    size_t i = first_ending_from(s, r.begin + 1);
    return i < s->n && s->v[i].begin < r.end;
}

bool gs_rangeset_overlap(const struct gs_rangeset *s, const struct gs_rangeset *t)
{
    for (size_t i = 0, j = 0; i < s->n && j < t->n;) {
        if (s->v[i].end <= t->v[j].begin)
            i = next_ending_from(s, i + 1, t->v[j].begin + 1);
        else if (t->v[j].end <= s->v[i].begin)
            j = next_ending_from(t, j + 1, s->v[i].begin + 1);
        else
            return true;
    }
    return false;
}

struct gs_range gs_rangeset_hull(const struct gs_rangeset *s, const struct gs_rangeset *t)
{
    const struct gs_range none = {0, 0};
    struct gs_range r = s->n ? (struct gs_range){s->v[0].begin, s->v[s->n - 1].end} : (struct gs_range){UINT64_MAX, 0};
    if (t->n && t->v[0].begin < r.begin)
        r.begin = t->v[0].begin;
    if (t->n && t->v[t->n - 1].end > r.end)
        r.end = t->v[t->n - 1].end;
    return s->n || t->n ? r : none;
}

uint64_t gs_rangeset_bytes(const struct gs_rangeset *s)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += s->v[i].end - s->v[i].begin;
    return sum;
}
