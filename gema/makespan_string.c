/* SPDX-License-Identifier: MIT */
/* Reads kernel instruction strings and makes every capacity an integer (section 3 of the makespan paper). */
#include "gema/makespan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BARRIER = 0xff, MAX_DEPTH = 16 };

/* The text as letters ('A' ... 'Z') and BARRIER, while it is read. */
struct letters {
    uint8_t *v;
    size_t n, room;
};

struct reader {
    const char *text, *at;
    char *why;
    size_t why_size;
    struct letters out;
};

int gs_sigma_parse(const char *text, struct gs_sigma *sigma)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return -EINVAL;
    errno = 0;
    unsigned long num = strtoul(text, &end, 10), den = 1;
    if (*end == '/' && isdigit((unsigned char)end[1]))
        den = strtoul(end + 1, &end, 10);
    bool whole = den == 1 || num == 1;
    if (errno || *end || !whole || num < 1 || den < 1 || num > GS_MAKESPAN_MAX_WARPS || den > GS_MAKESPAN_MAX_WARPS)
        return -EINVAL;
    *sigma = (struct gs_sigma){(unsigned)num, (unsigned)den};
    return 0;
}

static int fail(struct reader *r, const char *what)
{
    snprintf(r->why, r->why_size, "the instruction string '%.60s' %s at character %td", r->text, what,
             r->at - r->text + 1);
    return -EINVAL;
}

static int append(struct reader *r, const uint8_t *v, size_t n)
{
    struct letters *o = &r->out;
    if (n > GS_MAKESPAN_MAX_INSTRUCTIONS || o->n + n > GS_MAKESPAN_MAX_INSTRUCTIONS)
        return fail(r, "becomes longer than 1048576 instructions");
    if (o->n + n > o->room) {
        size_t room = 2 * (o->n + n) + 64;
        uint8_t *v2 = realloc(o->v, room);
        if (!v2)
            return -ENOMEM;
        o->v = v2;
        o->room = room;
    }
    if (n)
        memcpy(o->v + o->n, v, n);
    o->n += n;
    return 0;
}

/* Repeats what was appended since `from`, if a number stands here. */
static int read_count(struct reader *r, size_t from)
{
    if (!isdigit((unsigned char)*r->at))
        return 0;
    char *end;
    unsigned long count = strtoul(r->at, &end, 10);
    if (count == 0)
        return fail(r, "repeats something 0 times");
    if (count > GS_MAKESPAN_MAX_INSTRUCTIONS)
        return fail(r, "becomes longer than 1048576 instructions");
    r->at = end;
    size_t n = r->out.n - from;
    if (n == 0 || count == 1)
        return 0;
    uint8_t *once = malloc(n);
    if (!once)
        return -ENOMEM;
    memcpy(once, r->out.v + from, n);
    int rc = 0;
    for (unsigned long i = 1; i < count && rc == 0; i++)
        rc = append(r, once, n);
    free(once);
    return rc;
}

static int read_items(struct reader *r, unsigned depth);

static int read_group(struct reader *r, unsigned depth)
{
    if (depth == MAX_DEPTH)
        return fail(r, "nests parentheses too deeply");
    r->at++;
    int rc = read_items(r, depth + 1);
    if (rc)
        return rc;
    if (*r->at != ')')
        return fail(r, "lacks a closing parenthesis");
    r->at++;
    return 0;
}

static int read_items(struct reader *r, unsigned depth)
{
    int rc = 0;
    while (*r->at && *r->at != ')' && rc == 0) {
        unsigned char c = (unsigned char)*r->at;
        size_t from = r->out.n;
        if (isspace(c)) {
            r->at++;
            continue;
        }
        if (c == '(') {
            rc = read_group(r, depth);
        } else if (c == '|' || isupper(c)) {
            uint8_t code = c == '|' ? BARRIER : c;
            r->at++;
            rc = append(r, &code, 1);
        } else {
            rc = fail(r, "has something that is no capital letter, bar, number or parenthesis");
        }
        if (rc == 0)
            rc = read_count(r, from);
    }
    return rc;
}

/* The index of a letter's type, made where it is new. */
static uint8_t type_of(struct gs_kernel_string *k, uint8_t letter, const struct gs_sigmas *sigmas)
{
    unsigned t = 0;
    while (t < k->n_types && k->letter[t] != (char)letter)
        t++;
    if (t == k->n_types) {
        struct gs_sigma s = sigmas ? sigmas->of[letter - 'A'] : (struct gs_sigma){0, 0};
        k->letter[t] = (char)letter;
        k->sigma[t] = s.numerator ? s.numerator : 1;
        k->stretch[t] = s.numerator ? s.denominator : 1;
        k->n_types++;
    }
    return (uint8_t)t;
}

/* Length after the transformation, or 0 where it is too long. */
static size_t stretched_length(struct gs_kernel_string *k, const struct letters *in, const struct gs_sigmas *sigmas)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++) {
        n += in->v[i] == BARRIER ? 0 : k->stretch[type_of(k, in->v[i], sigmas)];
        if (n > GS_MAKESPAN_MAX_INSTRUCTIONS)
            return 0;
    }
    return n;
}

static void fill(struct gs_kernel_string *k, const struct letters *in, const struct gs_sigmas *sigmas)
{
    size_t begin = 0;
    for (size_t i = 0; i < in->n; i++) {
        if (in->v[i] != BARRIER) {
            uint8_t t = type_of(k, in->v[i], sigmas);
            for (unsigned j = 0; j < k->stretch[t]; j++)
                k->type[k->n++] = t;
        }
        bool ends = in->v[i] == BARRIER || i + 1 == in->n;
        if (ends && k->n > begin) {
            k->phase[k->n_phases++] = (struct gs_phase){begin, k->n};
            begin = k->n;
        }
    }
}

int gs_kernel_string_parse(struct gs_kernel_string *k, const char *text, const struct gs_sigmas *sigmas, char *why,
                           size_t why_size)
{
    memset(k, 0, sizeof(*k));
    struct reader r = {.text = text, .at = text, .why = why, .why_size = why_size};
    int rc = read_items(&r, 0);
    if (rc == 0 && *r.at)
        rc = fail(&r, "has a closing parenthesis too many");
    size_t n = rc == 0 ? stretched_length(k, &r.out, sigmas) : 0, bars = 0;
    if (rc == 0 && n == 0)
        rc = fail(&r, k->n_types ? "becomes longer than 1048576 instructions by 1/n capacities" : "has no instruction");
    for (size_t i = 0; rc == 0 && i < r.out.n; i++)
        bars += r.out.v[i] == BARRIER;
    if (rc == 0) {
        k->type = malloc(n);
        k->phase = malloc((bars + 1) * sizeof(*k->phase));
        rc = k->type && k->phase ? 0 : -ENOMEM;
    }
    if (rc == 0)
        fill(k, &r.out, sigmas);
    else
        gs_kernel_string_free(k);
    if (rc == -ENOMEM)
        snprintf(why, why_size, "there is not enough memory for the instruction string");
    free(r.out.v);
    return rc;
}

void gs_kernel_string_free(struct gs_kernel_string *k)
{
    free(k->type);
    free(k->phase);
    memset(k, 0, sizeof(*k));
}
