/* SPDX-License-Identifier: MIT */
/* The order in which pieces of several sends are enqueued: each byte once, all places at a time. usage: rounds [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "shim/transfer/rounds.h"

/* All that a cut asks of the driver's room; here all are copies. */
bool gs_op_crosses_host(const struct gs_op *op)
{
    return false;
}

static cl_mem source = (cl_mem)&source;

static void add(struct gs_sends *sends, unsigned from, unsigned to, uint64_t begin, uint64_t bytes)
{
    const struct gs_rect r = gs_one_row((struct gs_range){begin, begin + bytes});
    const struct gs_send send = {
        .from = from, .rect = r, .op = gs_op_copy(source, NULL, begin, begin, bytes), .n = 1, .to = {{.place = to}}};
    assert_int_equal(gs_sends_add(sends, &send), 0);
}

static struct gs_op piece_of(const struct gs_flight *f)
{
    return gs_op_piece(&f->send->op, &f->send->cut, f->piece);
}

static void what_several_take_is_sent_once(void **state)
{
    struct gs_sends sends = {0};
    add(&sends, 1, 2, 0, 10);
    add(&sends, 0, 1, 0, 10);
    add(&sends, 0, 3, 0, 11);
    add(&sends, 0, 2, 0, 10);
    add(&sends, 0, 3, 5, 10);
    gs_sends_join(&sends);
    assert_int_equal(sends.n, 4);
    assert_int_equal(sends.v[0].n, 2);
    assert_int_equal(sends.v[0].to[0].place, 1);
    assert_int_equal(sends.v[0].to[1].place, 2);
    assert_int_equal(sends.v[3].from, 1);
    free(sends.v);
}

/* Of an image of 3 slices of 10 rows of 25 texels: whole rows, none beyond its slice. */
static void pieces_of_an_image_are_rows_of_a_slice(void **state)
{
    static const size_t rows[] = {4, 4, 2};
    enum { PIECES = sizeof rows / sizeof *rows, SLICES = 3 };
    struct gs_sends sends = {0};
    struct gs_rounds rounds;
    struct gs_flight flights[GS_ROUND_PIECES];
    add(&sends, 0, 1, 0, 3000);
    sends.v[0].op = (struct gs_op){
        .kind = GS_OP_COPY_IMAGE, .src = source, .from = {0, 0, 5}, .to = {0, 0, 7}, .region = {25, 10, 3}, .texel = 4};
    gs_rounds_begin(&rounds, &sends, 450, GS_ROUND_PIECES);
    for (unsigned i = 0; i < SLICES * PIECES; i++) {
        assert_int_equal(gs_rounds_next(&rounds, flights), 1);
        const struct gs_op piece = piece_of(&flights[0]), *op = &piece;
        assert_true(op->region[0] == 25 && op->region[1] == rows[i % PIECES] && op->region[2] == 1);
        assert_true(op->from[0] == 0 && op->from[1] == i % PIECES * 4 && op->from[2] == 5 + i / PIECES);
        assert_true(op->to[0] == 0 && op->to[1] == i % PIECES * 4 && op->to[2] == 7 + i / PIECES);
        assert_int_equal(flights[0].last, i == SLICES * PIECES - 1);
    }
    assert_int_equal(gs_rounds_next(&rounds, flights), 0);
    free(sends.v);
}

static struct gs_sends exchange_of(unsigned places)
{
    struct gs_sends sends = {0};
    for (unsigned to = 0; to < places; to++)
        for (unsigned from = 0; from < places; from++)
            if (from != to)
                add(&sends, from, to, from * 100, 100);
    gs_sends_join(&sends);
    return sends;
}

/* So many places exchange what each has: in each round each sends a piece, and in each step each takes one. */
static void exchanges_by_all_links(unsigned places)
{
    enum { PIECES = 5 };
    struct gs_sends sends = exchange_of(places);
    struct gs_rounds rounds;
    struct gs_flight flights[GS_ROUND_PIECES];
    assert_int_equal(sends.n, places);
    gs_rounds_begin(&rounds, &sends, 100 / PIECES, GS_ROUND_PIECES);
    for (unsigned k = 0; k < PIECES; k++) {
        assert_int_equal(gs_rounds_next(&rounds, flights), places);
        for (unsigned step = 1; step < places; step++) {
            unsigned takes = 0, gives = 0;
            for (unsigned i = 0; i < places; i++)
                for (unsigned t = 0; t < flights[i].send->n; t++)
                    if (gs_round_step(flights[i].send->from, flights[i].send->to[t].place, places) == step) {
                        takes |= 1u << flights[i].send->to[t].place;
                        gives |= 1u << flights[i].send->from;
                    }
            assert_int_equal(takes, (1u << places) - 1);
            assert_int_equal(gives, (1u << places) - 1);
        }
    }
    assert_int_equal(gs_rounds_next(&rounds, flights), 0);
    free(sends.v);
}

static void an_exchange_keeps_all_links_busy(void **state)
{
    exchanges_by_all_links(4);
    exchanges_by_all_links(8);
}

static void one_that_is_short_makes_room_for_the_next(void **state)
{
    enum { SENDS = 9 };
    struct gs_sends sends = {0};
    struct gs_rounds rounds;
    struct gs_flight flights[GS_ROUND_PIECES];
    for (unsigned i = 0; i < SENDS; i++)
        add(&sends, 0, 1, i * 100, i ? 1 : 30);
    gs_sends_join(&sends);
    gs_rounds_begin(&rounds, &sends, 10, GS_ROUND_PIECES);
    unsigned n = 0, all = 0;
    while ((n = gs_rounds_next(&rounds, flights)) > 0) {
        assert_true(all + n == SENDS + 2 || n == GS_ROUND_SENDS);
        all += n;
    }
    assert_int_equal(all, SENDS + 2);
    free(sends.v);
}

static unsigned seed;
enum { MOST_SENDS = 60, MOST_BYTES = 22 * 110 };

/* Marks a piece's bytes: each once. Offsets count from the send's begin. */
static uint64_t mark(const struct gs_flight *f, unsigned char *seen)
{
    const struct gs_op op = piece_of(f), *piece = &op;
    const struct gs_send *send = f->send;
    const size_t pitch = piece->from_pitch[0], *from = piece->from, *region = piece->region;
    for (size_t y = 0; y < region[1]; y++)
        for (size_t x = 0; x < region[0]; x++) {
            const size_t at = from[0] + x + (from[1] + y) * pitch - send->rect.begin;
            assert_true(at < MOST_BYTES && !seen[at]++);
            assert_true(at % send->rect.pitch < send->rect.width);
        }
    assert_memory_equal(piece->from, piece->to, sizeof piece->from);
    return region[0] * region[1];
}

static void random_sends_go_whole_and_once(void **state)
{
    static unsigned char seen[MOST_SENDS][MOST_BYTES];
    for (int round = 0; round < 300; round++) {
        const unsigned places = 2 + (unsigned)rand() % (GS_MAX_DEVICES - 1), n = 1 + (unsigned)rand() % MOST_SENDS;
        struct gs_sends sends = {0};
        struct gs_rounds rounds;
        struct gs_flight flights[GS_ROUND_PIECES + 1];
        uint64_t all = 0, gone = 0, sent[MOST_SENDS] = {0};
        memset(seen, 0, sizeof seen);
        for (unsigned i = 0; i < n; i++) {
            const unsigned from = (unsigned)rand() % places, to = (from + 1 + (unsigned)rand() % (places - 1)) % places;
            add(&sends, from, to, i, 1 + (unsigned)rand() % 100);
            if (rand() % 2) {
                struct gs_send *send = &sends.v[i];
                send->rect.rows = 2 + (unsigned)rand() % 20;
                send->rect.pitch += 1 + (unsigned)rand() % 10;
                send->op.kind = GS_OP_COPY_RECT;
                send->op.region[1] = send->rect.rows;
                send->op.from_pitch[0] = send->op.to_pitch[0] = send->rect.pitch;
            }
            all += gs_rect_bytes(&sends.v[i].rect);
        }
        gs_sends_join(&sends);
        const unsigned slots =
            places + (unsigned)rand() % (GS_ROUND_PIECES + 1 - places); /* it may have grown no further */
        const uint64_t most = 1 + (unsigned)rand() % 40;
        gs_rounds_begin(&rounds, &sends, most, slots);
        for (unsigned k; (k = gs_rounds_next(&rounds, flights)) > 0;) {
            assert_true(k <= slots);
            for (unsigned i = 0; i < k; i++) {
                const struct gs_flight *f = &flights[i];
                const size_t at = (size_t)(f->send - sends.v);
                const uint64_t bytes = mark(f, seen[at]);
                assert_true(bytes > 0 && bytes <= most);
                sent[at] += bytes;
                assert_int_equal(f->last, sent[at] == gs_rect_bytes(&f->send->rect));
                gone += bytes;
            }
            /* Whoever has something left sends in each round. */
            for (size_t i = 0; i < sends.n; i++) {
                bool busy = sends.v[i].gone == sends.v[i].cut.n;
                for (unsigned f = 0; f < k && !busy; f++)
                    busy = flights[f].send->from == sends.v[i].from;
                assert_true(busy);
            }
        }
        assert_int_equal(gone, all);
        free(sends.v);
    }
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 4204;
    printf("seed %u\n", seed);
    srand(seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_several_take_is_sent_once),   cmocka_unit_test(pieces_of_an_image_are_rows_of_a_slice),
        cmocka_unit_test(an_exchange_keeps_all_links_busy), cmocka_unit_test(one_that_is_short_makes_room_for_the_next),
        cmocka_unit_test(random_sends_go_whole_and_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
