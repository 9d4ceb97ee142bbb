/* SPDX-License-Identifier: MIT */
/* The order in which pieces of several sends are enqueued: each byte once, all places at a time. usage: rounds [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "shim/transfer/rounds.h"

static void add(struct gs_sends *sends, unsigned from, unsigned to, uint64_t begin, uint64_t bytes)
{
    const struct gs_rect r = gs_one_row((struct gs_range){begin, begin + bytes});
    const struct gs_send send = {.from = from, .rect = r, .n = 1, .to = {{.place = to}}};
    assert_int_equal(gs_sends_add(sends, &send), 0);
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

/* Of an image whose slices have 10 rows of 100 bytes: whole rows, none beyond its slice. */
static void pieces_of_an_image_are_rows_of_a_slice(void **state)
{
    static const struct gs_range wanted[] = {{700, 1000}, {1000, 1400}, {1400, 1800}, {1800, 2000}, {2000, 2100}};
    enum { N = sizeof wanted / sizeof *wanted };
    struct gs_sends sends = {0};
    struct gs_rounds rounds;
    struct gs_flight flights[GS_ROUND_PIECES];
    add(&sends, 0, 1, 700, 1400);
    sends.v[0].row_bytes = 100;
    sends.v[0].slice_bytes = 1000;
    gs_rounds_begin(&rounds, &sends, 450, GS_ROUND_PIECES);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(gs_rounds_next(&rounds, flights), 1);
        assert_int_equal(flights[0].rect.begin, wanted[i].begin);
        assert_int_equal(flights[0].rect.width, wanted[i].end - wanted[i].begin);
        assert_int_equal(flights[0].last, i == N - 1);
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

static void random_sends_go_whole_and_once(void **state)
{
    for (int round = 0; round < 300; round++) {
        const unsigned places = 2 + (unsigned)rand() % (GS_MAX_DEVICES - 1), n = 1 + (unsigned)rand() % 60;
        struct gs_sends sends = {0};
        struct gs_rounds rounds;
        struct gs_flight flights[GS_ROUND_PIECES + 1];
        uint64_t all = 0, gone = 0, begin[64] = {0};
        for (unsigned i = 0; i < n; i++) {
            const unsigned from = (unsigned)rand() % places, to = (from + 1 + (unsigned)rand() % (places - 1)) % places;
            add(&sends, from, to, i, 1 + (unsigned)rand() % 100);
            if (rand() % 2) {
                sends.v[i].rect.rows = 2 + (unsigned)rand() % 20;
                sends.v[i].rect.pitch += 1 + (unsigned)rand() % 10;
            }
            all += gs_rect_bytes(&sends.v[i].rect);
        }
        gs_sends_join(&sends);
        const unsigned slots =
            places + (unsigned)rand() % (GS_ROUND_PIECES + 1 - places); /* it may have grown no further */
        gs_rounds_begin(&rounds, &sends, 1 + (unsigned)rand() % 40, slots);
        for (unsigned k; (k = gs_rounds_next(&rounds, flights)) > 0;) {
            assert_true(k <= slots);
            for (unsigned i = 0; i < k; i++) {
                const struct gs_flight *f = &flights[i];
                const struct gs_rect *r = &f->send->rect;
                const uint64_t bytes = gs_rect_bytes(&f->rect), at = begin[f->send - sends.v];
                assert_true(bytes > 0 && (bytes <= rounds.piece_bytes || (r->rows > 1 && f->rect.rows == 1)));
                assert_int_equal(f->rect.begin, r->begin + at / r->width * r->pitch + at % r->width);
                assert_true(r->rows == 1 || (f->rect.width == r->width && at % r->width == 0));
                begin[f->send - sends.v] += bytes;
                assert_int_equal(f->last, at + bytes == gs_rect_bytes(r));
                gone += bytes;
            }
            /* Whoever has something left sends in each round. */
            for (size_t i = 0; i < sends.n; i++) {
                bool sent = sends.v[i].at == gs_rect_bytes(&sends.v[i].rect);
                for (unsigned f = 0; f < k && !sent; f++)
                    sent = flights[f].send->from == sends.v[i].from;
                assert_true(sent);
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
