/* SPDX-License-Identifier: MIT */
/* Tokens of the text form: written and read. */
#include "translator/summary/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gs_put_raw(struct gs_writer *w, const char *s, size_t bytes)
{
    if (w->failed)
        return;
    if (bytes >= SIZE_MAX / 4 || w->bytes >= SIZE_MAX / 4) {
        w->failed = true;
        return;
    }
    if (w->cap - w->bytes < bytes + 1) {
        size_t cap = (w->bytes + bytes + 1) * 2;
        char *text = realloc(w->text, cap);
        if (!text) {
            w->failed = true;
            return;
        }
        w->text = text;
        w->cap = cap;
    }
    if (bytes > 0)
        memcpy(w->text + w->bytes, s, bytes);
    w->bytes += bytes;
    w->text[w->bytes] = 0;
}

void gs_put_word(struct gs_writer *w, const char *word)
{
    gs_put_raw(w, word, strlen(word));
    gs_put_raw(w, " ", 1);
}

void gs_put_u64(struct gs_writer *w, uint64_t v)
{
    char buf[24];
    snprintf(buf, sizeof buf, "%" PRIu64, v);
    gs_put_word(w, buf);
}

void gs_put_i64(struct gs_writer *w, int64_t v)
{
    char buf[24];
    snprintf(buf, sizeof buf, "%" PRId64, v);
    gs_put_word(w, buf);
}

void gs_put_string(struct gs_writer *w, const char *s, size_t bytes)
{
    char buf[24];
    int n = snprintf(buf, sizeof buf, "%zu:", bytes);
    gs_put_raw(w, buf, (size_t)n);
    gs_put_raw(w, s, bytes);
    gs_put_raw(w, " ", 1);
}

void gs_put_cstring(struct gs_writer *w, const char *s)
{
    gs_put_string(w, s, strlen(s));
}

void gs_put_line(struct gs_writer *w)
{
    if (!w->failed && w->bytes > 0)
        w->text[w->bytes - 1] = '\n';
}

void gs_get_fail(struct gs_reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
    r->p = r->end;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n';
}

/* Consumes the one blank that ends a token. */
static void get_blank(struct gs_reader *r)
{
    if (r->p < r->end && is_blank(*r->p))
        r->p++;
    else
        gs_get_fail(r, "a token doesn't end");
}

bool gs_get_is(struct gs_reader *r, const char *word)
{
    size_t n = strlen(word);
    if (r->why || (size_t)(r->end - r->p) <= n || memcmp(r->p, word, n) != 0 || !is_blank(r->p[n]))
        return false;
    r->p += n + 1;
    return true;
}

void gs_get_word(struct gs_reader *r, const char *word)
{
    if (!gs_get_is(r, word))
        gs_get_fail(r, "an unexpected word");
}

/* Reads digits; leaves what follows them. */
static uint64_t get_digits(struct gs_reader *r)
{
    uint64_t v = 0;
    const char *begin = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9') {
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) || __builtin_add_overflow(v, (uint64_t)(*r->p - '0'), &v)) {
            gs_get_fail(r, "a number is too large");
            return 0;
        }
        r->p++;
    }
    if (r->p == begin)
        gs_get_fail(r, "a number is missing");
    return r->why ? 0 : v;
}

uint64_t gs_get_u64(struct gs_reader *r)
{
    uint64_t v = get_digits(r);
    get_blank(r);
    return r->why ? 0 : v;
}

int64_t gs_get_i64(struct gs_reader *r)
{
    bool negative = r->p < r->end && *r->p == '-';
    r->p += negative;
    uint64_t v = gs_get_u64(r);
    if (v > (uint64_t)INT64_MAX + negative)
        gs_get_fail(r, "a number is too large");
    if (r->why)
        return 0;
    return (int64_t)(negative ? 0 - v : v);
}

bool gs_get_bool(struct gs_reader *r)
{
    return gs_get_below(r, 2) == 1;
}

uint64_t gs_get_below(struct gs_reader *r, uint64_t limit)
{
    uint64_t v = gs_get_u64(r);
    if (v >= limit)
        gs_get_fail(r, "a number is out of range");
    return r->why ? 0 : v;
}

const char *gs_get_view(struct gs_reader *r, size_t *bytes)
{
    uint64_t n = get_digits(r);
    *bytes = 0;
    if (r->p >= r->end || *r->p != ':' || n > (uint64_t)(r->end - r->p) - 1) {
        gs_get_fail(r, "a string is cut short");
        return "";
    }
    const char *s = r->p + 1;
    r->p = s + n;
    get_blank(r);
    if (r->why)
        return "";
    *bytes = (size_t)n;
    return s;
}

const char *gs_get_string(struct gs_reader *r, size_t *bytes)
{
    size_t n;
    const char *s = gs_get_view(r, &n);
    if (bytes)
        *bytes = n;
    char *copy = r->why ? NULL : gs_arena_copy(r->arena, s, n);
    if (copy)
        return copy;
    gs_get_fail(r, "out of memory");
    return "";
}

void *gs_get_alloc(struct gs_reader *r, uint64_t n, size_t size)
{
    if (r->why || n > (uint64_t)(r->end - r->p)) {
        gs_get_fail(r, "a count is larger than what follows");
        return NULL;
    }
    void *p = gs_arena_alloc(r->arena, n > 0 ? (size_t)n : 1, size);
    if (!p)
        gs_get_fail(r, "out of memory");
    return p;
}
