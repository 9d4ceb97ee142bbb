/* SPDX-License-Identifier: MIT */
#include "shim/put/op.h"

enum { GRAIN_FIRST = 64, GRAIN_OTHER = 16 };

static uint64_t length(const struct gs_box *b, unsigned d)
{
    return b->end[d] - b->begin[d];
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

void gs_cut_make(struct gs_cut *cut, const struct gs_box *box, uint64_t most, bool items)
{
    uint64_t inner = 1, n = 1;
    unsigned d = 0;
    *cut = (struct gs_cut){.whole = *box, .dim = 2, .step = length(box, 2), .count = {1, 1, 1}, .n = 1};
    while (d < 3 && length(box, d) <= most / inner)
        inner *= length(box, d++);
    if (d == 3 || !most)
        return;
    const uint64_t grain = !items ? 1 : d == 0 ? GRAIN_FIRST : GRAIN_OTHER;
    uint64_t step = most / inner;
    if (step > grain)
        step -= step % grain;
    for (unsigned k = d; k < 3; k++) {
        cut->count[k] = k == d ? ceil_div(length(box, k), step) : length(box, k);
        if (cut->count[k] > UINT32_MAX / n)
            return;
        n *= cut->count[k];
    }
    cut->dim = d;
    cut->step = step;
    cut->n = (unsigned)n;
}

void gs_cut_box(const struct gs_cut *cut, unsigned i, struct gs_box *box)
{
    *box = cut->whole;
    if (cut->n == 1)
        return;
    uint64_t rest = i;
    for (unsigned d = cut->dim; d < 3; d++) {
        const uint64_t at = rest % cut->count[d], step = d == cut->dim ? cut->step : 1;
        rest /= cut->count[d];
        box->begin[d] = cut->whole.begin[d] + at * step;
        if (box->begin[d] + step < box->end[d])
            box->end[d] = box->begin[d] + step;
    }
}
