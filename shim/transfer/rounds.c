/* SPDX-License-Identifier: MIT */
#include "shim/transfer/rounds.h"

#include <errno.h>

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

/* By source and bytes, and by target if so many numbers count. */
enum { BYTES = 5, ALL };
static int compare_by(const struct gs_send *a, const struct gs_send *b, unsigned n)
{
    const uint64_t of_a[ALL] = {a->from, a->rect.begin, a->rect.width, a->rect.rows, a->rect.pitch, a->to[0].place};
    const uint64_t of_b[ALL] = {b->from, b->rect.begin, b->rect.width, b->rect.rows, b->rect.pitch, b->to[0].place};
    unsigned i = 0;
    while (i + 1 < n && of_a[i] == of_b[i])
        i++;
    return (of_a[i] > of_b[i]) - (of_a[i] < of_b[i]);
}

static int compare(const void *a, const void *b)
{
    return compare_by(a, b, ALL);
}

void gs_sends_join(struct gs_sends *sends)
{
    size_t n = 0;
    if (sends->n > 1)
        qsort(sends->v, sends->n, sizeof *sends->v, compare);
    for (size_t i = 0; i < sends->n; i++) {
        struct gs_send *send = &sends->v[i], *last = n ? &sends->v[n - 1] : NULL;
        if (last && compare_by(last, send, BYTES) == 0 && last->n < GS_MAX_DEVICES)
            last->to[last->n++] = send->to[0];
        else if (&sends->v[n++] != send)
            sends->v[n - 1] = *send;
    }
    sends->n = n;
}

void gs_rounds_begin(struct gs_rounds *r, struct gs_sends *sends, uint64_t piece_bytes, unsigned slots)
{
    *r = (struct gs_rounds){0};
    for (struct gs_send *send = sends->v, *end = send + sends->n; send < end; r->n++) {
        struct gs_send *first = send;
        for (; send < end && send->from == first->from; send++)
            gs_op_cut(&send->op, piece_bytes, &send->cut);
        r->of[r->n].next = first;
        r->of[r->n].end = send;
    }
    const unsigned share = r->n ? slots / r->n : 1;
    r->each = share < GS_ROUND_SENDS ? share : GS_ROUND_SENDS;
}

static bool has_more(const struct gs_send *send)
{
    return send->gone < send->cut.n;
}

static struct gs_flight next_piece(struct gs_send *send)
{
    const unsigned piece = send->gone++;
    return (struct gs_flight){.send = send, .piece = piece, .last = !has_more(send)};
}

unsigned gs_rounds_next(struct gs_rounds *r, struct gs_flight flights[GS_ROUND_PIECES])
{
    struct gs_send *at[GS_MAX_DEVICES];
    unsigned n = 0;
    for (unsigned k = 0; k < r->each; k++)
        for (unsigned i = 0; i < r->n; i++) {
            struct gs_send *send = k ? at[i] : r->of[i].next;
            while (send < r->of[i].end && !has_more(send))
                send++;
            if (!k)
                r->of[i].next = send;
            at[i] = send;
            if (send < r->of[i].end)
                flights[n++] = next_piece(at[i]++);
        }
    return n;
}
