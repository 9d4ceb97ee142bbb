/* SPDX-License-Identifier: MIT */
#include "shim/transfer/rounds.h"

#include <errno.h>
#include <stdlib.h>

#include "common/memory.h"

int gs_sends_add(struct gs_sends *sends, const struct gs_send *send)
{
    struct gs_send *v = gs_grown(sends->v, sends->n, &sends->cap, sizeof *v);
    if (!v)
        return -ENOMEM;
    sends->v = v;
    sends->v[sends->n++] = *send;
    return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By source and bytes. */
static int compare_bytes(const struct gs_send *a, const struct gs_send *b)
{
    const uint64_t of_a[] = {a->from, a->rect.begin, a->rect.width, a->rect.rows, a->rect.pitch};
    const uint64_t of_b[] = {b->from, b->rect.begin, b->rect.width, b->rect.rows, b->rect.pitch};
    int order = 0;
    for (unsigned i = 0; i < sizeof of_a / sizeof *of_a && !order; i++)
        order = compare_numbers(of_a[i], of_b[i]);
    return order;
}

static int compare(const void *a, const void *b)
{
    const struct gs_send *x = a, *y = b;
    const int order = compare_bytes(x, y);
    return order ? order : compare_numbers(x->to[0].place, y->to[0].place);
}

void gs_sends_join(struct gs_sends *sends)
{
    size_t n = 0;
    if (sends->n > 1)
        qsort(sends->v, sends->n, sizeof *sends->v, compare);
    for (size_t i = 0; i < sends->n; i++) {
        struct gs_send *send = &sends->v[i], *last = n ? &sends->v[n - 1] : NULL;
        if (last && compare_bytes(last, send) == 0 && last->n < GS_MAX_DEVICES)
            last->to[last->n++] = send->to[0];
        else if (&sends->v[n++] != send)
            sends->v[n - 1] = *send;
    }
    sends->n = n;
}

void gs_rounds_begin(struct gs_rounds *r, struct gs_sends *sends, uint64_t piece_bytes)
{
    *r = (struct gs_rounds){.piece_bytes = piece_bytes};
    for (struct gs_send *send = sends->v, *end = send + sends->n; send < end; r->n++) {
        struct gs_send *first = send;
        while (send < end && send->from == first->from)
            send++;
        r->of[r->n].next = first;
        r->of[r->n].end = send;
    }
    const unsigned share = r->n ? GS_ROUND_PIECES / r->n : 1;
    r->each = share < GS_ROUND_SENDS ? share : GS_ROUND_SENDS;
}

static bool is_under_way(const struct gs_send *send)
{
    return send && send->at < gs_rect_bytes(&send->rect);
}

/* The bytes of an image's piece from `begin` on: rows of one slice. */
static uint64_t rows_of_slice(const struct gs_send *send, uint64_t begin, uint64_t most)
{
    const uint64_t rest = send->slice_bytes - begin % send->slice_bytes, row = send->row_bytes;
    const uint64_t rows = most > row ? most / row * row : row;
    return rest < rows ? rest : rows;
}

/* The next of its pieces: whole rows, where there are several. */
static struct gs_flight next_piece(struct gs_send *send, uint64_t most)
{
    const struct gs_rect *r = &send->rect;
    struct gs_flight f = {.send = send};
    if (r->rows > 1) {
        const uint64_t row = send->at / r->width, rest = r->rows - row, some = most > r->width ? most / r->width : 1;
        f.rect = (struct gs_rect){gs_rect_row(r, row).begin, r->width, r->pitch, rest < some ? rest : some};
    } else {
        const uint64_t rest = r->width - send->at, begin = r->begin + send->at;
        most = send->row_bytes ? rows_of_slice(send, begin, most) : most;
        f.rect = gs_one_row((struct gs_range){begin, begin + (rest < most ? rest : most)});
    }
    send->at += gs_rect_bytes(&f.rect);
    f.last = !is_under_way(send);
    return f;
}

unsigned gs_rounds_next(struct gs_rounds *r, struct gs_flight flights[GS_ROUND_PIECES])
{
    unsigned n = 0;
    for (unsigned k = 0; k < r->each; k++) {
        for (unsigned i = 0; i < r->n; i++) {
            struct gs_send **now = &r->of[i].now[k];
            while (!is_under_way(*now) && r->of[i].next < r->of[i].end)
                *now = r->of[i].next++;
            if (is_under_way(*now))
                flights[n++] = next_piece(*now, r->piece_bytes);
        }
    }
    return n;
}
