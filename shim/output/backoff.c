/* SPDX-License-Identifier: MIT */
#include "shim/output/backoff.h"
#include "common/reasons.h"

#include <stddef.h>

enum { PAUSE = 4, MOST_FAILURES = 6, GOOD = 8, MOST_OPEN = 16 };

const char *gs_backoff_refuses(struct gs_backoff *c)
{
    if (c->pause) {
        c->pause--;
        return GS_R_TRIAL_VAIN;
    }
    if (c->open > c->good || c->open == MOST_OPEN)
        return GS_R_TRIAL_OPEN;
    return NULL;
}

void gs_backoff_begin(struct gs_backoff *c)
{
    c->open++;
}

void gs_backoff_end(struct gs_backoff *c, bool good)
{
    c->open -= c->open > 0;
    if (good) {
        c->failures -= ++c->good % GOOD == 0 && c->failures;
        return;
    }
    c->good = 0;
    c->failures += c->failures < MOST_FAILURES;
    c->pause = (uint64_t)PAUSE << 2 * (c->failures - 1);
}

struct gs_backoff *gs_backoff_of(struct gs_backoffs *t, uint64_t kernel)
{
    size_t oldest = 0;
    t->calls++;
    for (size_t i = 0; i < GS_BACKOFFS; i++) {
        if (t->of[i].asked && t->of[i].kernel == kernel) {
            t->of[i].asked = t->calls;
            return &t->of[i].caution;
        }
        if (t->of[i].asked < t->of[oldest].asked)
            oldest = i;
    }
    t->of[oldest].kernel = kernel;
    t->of[oldest].asked = t->calls;
    t->of[oldest].caution = (struct gs_backoff){0};
    return &t->of[oldest].caution;
}
