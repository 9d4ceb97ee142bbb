/* SPDX-License-Identifier: MIT */
#include "cli/try_verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gs_try_names[GS_TRY_WAYS] = {"plain", "one device", "all devices", "mode multi"};

static const double outlier = 1.5;   /* times the median */
static const double narrow = 1.05;   /* the interval's upper end over its lower */
static const double matters = 0.015; /* a factor nearer to 1 isn't told */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *v, size_t n)
{
    double sorted[GS_TRY_MOST];
    memcpy(sorted, v, n * sizeof *v);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static struct gs_try_factor factor(const double *slow, const double *fast, size_t n, double alpha)
{
    double ratio[GS_TRY_MOST];
    struct gs_try_factor f = {0};
    for (size_t i = 0; i < n; i++)
        ratio[i] = slow[i] / fast[i];
    if (n)
        f.times = median(ratio, n);
    if (n && !gs_interval(ratio, n, alpha, &f.low, &f.high))
        f.low = f.high = 0;
    return f;
}

double gs_try_median(const struct gs_try_times *t, int way)
{
    return t->n ? median(t->s[way], t->n) : 0;
}

bool gs_try_find_outlier(const struct gs_try_times *t, size_t nth, struct gs_try_outlier *found)
{
    for (int way = 0; way < GS_TRY_WAYS && t->n; way++) {
        const double middle = gs_try_median(t, way);
        for (size_t i = 0; i < t->n && middle > 0; i++)
            if (t->s[way][i] >= outlier * middle && nth-- == 0) {
                *found = (struct gs_try_outlier){(enum gs_try_way)way, i + 1, t->s[way][i], middle};
                return true;
            }
    }
    return false;
}

struct gs_try_verdict gs_try_judge(const struct gs_try_times *t, enum gs_try_way base, enum gs_try_way all,
                                   double alpha)
{
    struct gs_try_verdict v = {.outcome = GS_TRY_UNSURE};
    struct gs_try_outlier one;
    v.all = factor(t->s[base], t->s[all], t->n, alpha);
    v.by_single = factor(t->s[base], t->s[GS_TRY_SINGLE], t->n, alpha);
    v.by_more = v.by_single.times > 0 ? v.all.times / v.by_single.times : 0;
    for (int way = 0; way < GS_TRY_WAYS && t->n; way++)
        v.runs += t->s[way][0] > 0 ? t->n : 0;
    while (gs_try_find_outlier(t, v.outliers, &one))
        v.outliers++;
    if (!(v.all.low > 0))
        return v;
    if (v.all.low > 1)
        v.outcome = GS_TRY_FASTER;
    else if (v.all.high < 1)
        v.outcome = GS_TRY_SLOWER;
    else if (v.all.high < narrow * v.all.low)
        v.outcome = GS_TRY_SAME;
    return v;
}

bool gs_try_is_narrow(const struct gs_try_verdict *v)
{
    return v->all.low > 0 && v->all.high < narrow * v->all.low;
}

static void add(char *text, size_t bytes, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%s", more);
}

/* Does one device by itself differ from the base, as far as is sure? */
static bool single_differs(const struct gs_try_verdict *v)
{
    return fabs(v->by_single.times - 1) > matters && (v->by_single.low > 1 || v->by_single.high < 1);
}

static const char *name_single(const struct gs_try_verdict *v, const struct gs_try_causes *c)
{
    return v->by_single.times < 1 ? "gpusparc's own work" : c->staged ? "faster transfers" : "one of them alone";
}

/* What the factor consists of. */
static void add_parts(char *text, size_t bytes, const struct gs_try_verdict *v, const struct gs_try_causes *c)
{
    char part[192], others[64];
    if (!c->known || c->n < 2)
        return;
    if (c->n == 2 && strcmp(c->devices, "GPUs") == 0)
        snprintf(others, sizeof others, "the second GPU");
    else
        snprintf(others, sizeof others, "the other %u %s", c->n - 1, c->devices);
    if (!c->split)
        snprintf(part, sizeof part, "%s%s; nothing was split", single_differs(v) ? ", by " : "",
                 single_differs(v) ? name_single(v, c) : "");
    else if (single_differs(v))
        snprintf(part, sizeof part, ": %.2f by %s, %.2f by %s", v->by_single.times, name_single(v, c), v->by_more,
                 others);
    else
        snprintf(part, sizeof part, ", all of it by %s", others);
    add(text, bytes, part);
}

void gs_try_say(char *text, size_t bytes, const struct gs_try_verdict *v, const struct gs_try_causes *c)
{
    char on[64], interval[64] = "";
    snprintf(on, sizeof on, "on %u %.*s", c->n, (int)strlen(c->devices) - (c->n == 1), c->devices);
    if (v->all.low > 0)
        snprintf(interval, sizeof interval, " (%.2f to %.2f)", v->all.low, v->all.high);
    switch (v->outcome) {
    case GS_TRY_FASTER:
        snprintf(text, bytes, "%.2f times as fast %s%s", v->all.times, on, interval);
        break;
    case GS_TRY_SLOWER:
        snprintf(text, bytes, "Slower: %.2f times as fast %s%s", v->all.times, on, interval);
        break;
    case GS_TRY_SAME:
        snprintf(text, bytes, "No difference: %.2f times as fast %s%s", v->all.times, on, interval);
        return;
    case GS_TRY_UNSURE:
        if (!v->all.times)
            snprintf(text, bytes, "Nothing is known: no round was finished");
        else if (v->all.low > 0)
            snprintf(text, bytes, "Not sure yet: %.2f to %.2f times as fast %s; more time says more (--time)",
                     v->all.low, v->all.high, on);
        else
            snprintf(text, bytes, "Not sure: %.2f times as fast %s, but there were too few rounds (--time)",
                     v->all.times, on);
        return;
    }
    add_parts(text, bytes, v, c);
}

/* Up to what stands for a name or a number. */
static bool is_like(const char *reason, const char *pattern)
{
    const size_t n = strcspn(pattern, "%");
    return pattern[n] ? strncmp(reason, pattern, n) == 0 : strcmp(reason, pattern) == 0;
}

const char *gs_try_remedy(const char *reason)
{
    static const char *const known[][2] = {
#include "remedies.inc"
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_like(reason, known[i][0]))
            return known[i][1];
    return "gpusparc explain shows the place in its text";
}
