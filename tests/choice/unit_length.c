/* SPDX-License-Identifier: MIT */
/* How long a unit of launches may last (docs/daemon.md, "How long a unit lasts"): random launches of a few kernels
 * whose times vary by a factor, put together and cut as the shim does it. GS_SEED chooses the random numbers. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/suite.h"
#include "shim/schedule/dispatch.h"

enum { KERNELS = 3, CASES = 300, LAUNCHES = 400 };

static uint64_t state;

static uint64_t rnd(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (state >> 33) % n;
}

struct kernel {
    struct gs_size *size;
    uint64_t chunk_ns, chunks; /* a launch of so many chunks of the config's size, each of so long at the least */
};

struct run {
    double vary; /* a launch takes up to so many times the least */
    uint64_t bound_ns;
    struct gs_batch batch;
    uint64_t batch_ns;
};

static uint64_t time_of(const struct run *r, const struct kernel *k, uint64_t chunks)
{
    const double v = rnd(3) ? 1 + (r->vary - 1) * (double)rnd(1001) / 1000 : rnd(2) ? 1 : r->vary;
    return (uint64_t)((double)(k->chunk_ns * chunks) * v);
}

static void end_batch(struct run *r)
{
    if (!r->batch.n)
        return;
    if (r->batch_ns > r->bound_ns)
        fail_msg("a unit of %u launches took %lu ns of %lu", r->batch.n, (unsigned long)r->batch_ns,
                 (unsigned long)r->bound_ns);
    gs_batch_learn(&r->batch, r->batch_ns);
    r->batch = (struct gs_batch){0};
    r->batch_ns = 0;
}

static void launch(struct run *r, const struct kernel *k)
{
    const unsigned factor = gs_chunk_factor(k->size);
    const bool alone = rnd(2);                                                  /* nobody else wants the device */
    const uint64_t most_ns = alone && rnd(2) ? GS_BATCH_ALONE_NS : GS_BATCH_NS; /* ... and our own units are out */
    const uint64_t n = alone && gs_whole_is_short(k->size, k->chunks, false) ? 1 : (k->chunks + factor - 1) / factor;
    uint64_t left = k->chunks, took = 0;
    bool full = false;
    if (n == 1) {
        if (r->batch.n && !gs_batch_add(&r->batch, k->size, most_ns, &full)) {
            end_batch(r);
            assert_true(gs_batch_add(&r->batch, k->size, most_ns, &full));
        } else if (!r->batch.n) {
            assert_true(gs_batch_add(&r->batch, k->size, most_ns, &full));
        }
        r->batch_ns += time_of(r, k, k->chunks);
        return;
    }
    end_batch(r);
    for (; left; left -= left < factor ? left : factor) {
        const uint64_t ns = time_of(r, k, left < factor ? left : factor);
        if (ns > r->bound_ns)
            fail_msg("a chunk took %lu ns of %lu", (unsigned long)ns, (unsigned long)r->bound_ns);
        took += ns;
    }
    gs_chunk_learn(k->size, factor, (unsigned)n, k->chunks, took);
}

/* Phases in which some of the kernels are launched, and in which they are all fast, or all slow, or as it comes. */
static void try_case(void)
{
    struct kernel kernels[KERNELS];
    struct gs_size sizes[KERNELS] = {{0}};
    struct run r = {.vary = 1 + (double)rnd(4000) / 1000};
    uint64_t longest = 600000;
    for (unsigned i = 0; i < KERNELS; i++) {
        const uint64_t size = 1 + rnd(4);
        sizes[i].program = 1;
        kernels[i] = (struct kernel){.size = &sizes[i],
                                     .chunk_ns = 300 + rnd(rnd(2) ? 5000 : 1000000),
                                     .chunks = rnd(2) ? 1 : 1 + rnd(size * 100)};
        longest = kernels[i].chunk_ns > longest ? kernels[i].chunk_ns : longest;
    }
    r.bound_ns = (uint64_t)((double)longest * r.vary) + 1;
    const double vary = r.vary;
    for (unsigned n = 0; n < LAUNCHES;) {
        const unsigned which = 1 + (unsigned)rnd((1u << KERNELS) - 1), length = 1 + (unsigned)rnd(40);
        r.vary = rnd(2) ? vary : 1;
        for (unsigned i = 0; i < length; i++, n++) {
            unsigned k = (unsigned)rnd(KERNELS);
            while (!(which >> k & 1))
                k = (k + 1) % KERNELS;
            launch(&r, &kernels[k]);
        }
        if (rnd(2))
            end_batch(&r);
    }
    end_batch(&r);
}

static void units_are_no_longer(void **unused)
{
    for (unsigned i = 0; i < CASES; i++)
        try_case();
}

/* Launches that follow one another, in two units at a time of which the ends are heard at once: what the second seems
 * to take is nothing, and says nothing. */
static void ends_heard_at_once_make_nothing_short(void **unused)
{
    enum { LAUNCH_NS = 4000, MOST_NS = 2 * GS_BATCH_NS };
    struct gs_size size = {.program = 1};
    for (unsigned n = 0; n < 200; n++) {
        struct gs_batch two[2] = {{0}, {0}};
        for (unsigned i = 0; i < 2; i++) {
            bool full = false;
            while (!full && gs_batch_add(&two[i], &size, GS_BATCH_NS, &full))
                ;
            if (two[i].n * LAUNCH_NS > MOST_NS || (n > 20 && two[i].n < 10))
                fail_msg("round %u: a unit of %u launches", n, two[i].n);
        }
        const uint64_t both = (two[0].n + two[1].n) * (uint64_t)LAUNCH_NS;
        const bool waited = rnd(2);
        gs_batch_complete(&two[0], both, both, waited);
        gs_batch_complete(&two[1], 1000, both, waited);
    }
}

/* One kernel that is now fast, now slow makes what is expected of another one, which shares its units, no shorter than
 * it is. */
static void others_pull_nothing_down(void **unused)
{
    struct gs_size sizes[] = {{.program = 1}, {.program = 1}};
    const struct kernel a = {&sizes[0], 80000, 1}, b = {&sizes[1], 10000, 1};
    struct run r = {.vary = 1, .bound_ns = 600000 * 2};
    launch(&r, &b);
    end_batch(&r);
    for (int i = 0; i < 40; i++) {
        bool full;
        gs_batch_add(&r.batch, a.size, GS_BATCH_NS, &full); /* alone, and slow */
        r.batch_ns = 2 * a.chunk_ns;
        end_batch(&r);
        launch(&r, &a); /* with the other, and fast */
        launch(&r, &b);
        end_batch(&r);
    }
    for (int i = 0; i < 600; i++)
        launch(&r, &b);
    end_batch(&r);
}

int main(void)
{
    const char *seed = getenv("GS_SEED");
    state = seed ? strtoull(seed, NULL, 10) : 20261122;
    printf("GS_SEED=%llu\n", (unsigned long long)state);
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_are_no_longer),
                                       cmocka_unit_test(ends_heard_at_once_make_nothing_short),
                                       cmocka_unit_test(others_pull_nothing_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
