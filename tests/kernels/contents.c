/* SPDX-License-Identifier: MIT */
#include "tests/kernels/contents.h"

#include <stdlib.h>
#include <string.h>

#include "translator/summary/access_program.h"

static bool bounds(void *ctx, const struct gs_words *words, uint64_t *least, uint64_t *largest)
{
    const struct test_contents *c = ctx;
    const unsigned bytes = gs_int_bits(words->type) / 8, unused = 64 - gs_int_bits(words->type);
    if (words->begin % bytes || words->step < bytes || words->step % bytes || words->end > c->bytes ||
        words->end < words->begin + bytes || (words->end - bytes - words->begin) % words->step)
        abort();
    for (uint64_t at = words->begin; at < words->end; at += words->step) {
        uint64_t raw = 0;
        memcpy(&raw, c->data + at, bytes);
        const int64_t v = (int64_t)(raw << unused) >> unused;
        const bool is_signed = gs_int_signed(words->type), first = at == words->begin;
        const uint64_t word = is_signed ? (uint64_t)v : raw;
        if (first || (is_signed ? v < (int64_t)*least : word < *least))
            *least = word;
        if (first || (is_signed ? v > (int64_t)*largest : word > *largest))
            *largest = word;
    }
    return true;
}

void test_contents_set(struct test_contents *c, const unsigned char *data, size_t bytes)
{
    *c = (struct test_contents){{bounds, c}, data, bytes};
}
