/* SPDX-License-Identifier: MIT */
#include "shim/caution.h"

#include <stddef.h>

enum { PAUSE = 4, MOST_FAILURES = 6, GOOD = 8, MOST_OPEN = 16 };

const char *gs_caution_forbids(struct gs_caution *c)
{
    if (c->pause) {
        c->pause--;
        return "it could be split only on trial, and the last trials were in vain";
    }
    if (c->open > c->good || c->open == MOST_OPEN)
        return "it could be split only on trial, and how the last one ends isn't known yet";
    return NULL;
}

void gs_caution_begun(struct gs_caution *c)
{
    c->open++;
}

void gs_caution_ended(struct gs_caution *c, bool good)
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
