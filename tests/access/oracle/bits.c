/* SPDX-License-Identifier: MIT */
#include "tests/access/oracle/bits.h"

static void fill_range(uint64_t *set, struct gs_range r)
{
    for (uint64_t i = r.begin; i < r.end;) {
        const uint64_t in_word = i % 64, left = r.end - i, count = left < 64 - in_word ? left : 64 - in_word;
        const uint64_t ones = count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
        set[i / 64] |= ones << in_word;
        i += count;
    }
}

void bits_add_set(uint64_t *set, const struct gs_rangeset *s)
{
    for (size_t i = 0; i < s->n; i++)
        fill_range(set, s->v[i]);
}

bool bits_find_missing(const uint64_t *a, const uint64_t *b, const uint64_t *but, size_t words, struct gs_range *out)
{
    for (size_t i = 0; i < words * 64; i++) {
        const uint64_t wrong = a[i / 64] & ~b[i / 64] & ~but[i / 64];
        const bool is = wrong >> i % 64 & 1;
        if (is && out->end == 0)
            *out = (struct gs_range){i, i + 1};
        else if (is && out->end == i)
            out->end++;
        else if (out->end)
            return true;
        else if (i % 64 == 0 && !wrong)
            i += 63;
    }
    return out->end != 0;
}
