/* SPDX-License-Identifier: MIT */
/* Who may wait for whom, of users that have something done by threads. An errand here lasts until it is let go; nothing
 * is timed: whoever waits waits for a thread, as long as it takes. */
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/suite.h"
#include "scheduler/errands.h"

enum { USERS = 3 * GS_ERRAND_THREADS };

/* One pool for each test, as the threads go on. */
struct pool {
    struct gs_errands all;
    int fd;
};

struct task {
    struct gs_errand errand;
    sem_t *until; /* null: it lasts no time */
    atomic_bool runs;
};

static void run(struct gs_errand *errand)
{
    struct task *t = (struct task *)errand;
    atomic_store(&t->runs, true);
    if (t->until)
        sem_wait(t->until);
}

static struct pool *start(void)
{
    struct pool *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->fd = gs_errands_start(&p->all);
    assert_true(p->fd >= 0);
    return p;
}

static bool ask(struct pool *p, struct task *t, uid_t uid, sem_t *until)
{
    const struct gs_errand_of whom = {.uid = uid};
    *t = (struct task){.errand.run = run, .until = until};
    return gs_errands_ask(&p->all, &t->errand, &whom);
}

/* The next one that is done. */
static struct gs_errand *take(struct pool *p)
{
    struct pollfd done = {.fd = p->fd, .events = POLLIN};
    assert_int_equal(poll(&done, 1, -1), 1);
    return gs_errands_take(&p->all);
}

static void wait_until_it_runs(struct task *t)
{
    while (!atomic_load(&t->runs))
        poll(NULL, 0, 1);
}

/* One user is stuck: all others' are done, whatever their numbers are, and nobody gets its thread. Its own come later,
 * in the order in which they were asked. */
static void test_users_dont_wait_for_others(void **state)
{
    static struct task stuck, behind[2], others[USERS];
    struct pool *p = start();
    sem_t until;
    sem_init(&until, 0, 0);
    assert_true(ask(p, &stuck, 1000, &until));
    wait_until_it_runs(&stuck);
    for (uid_t i = 0; i < 2; i++)
        assert_true(ask(p, &behind[i], 1000, NULL));
    for (uid_t i = 0; i < USERS; i++) {
        assert_true(ask(p, &others[i], 1001 + i, NULL));
        assert_ptr_equal(take(p), &others[i].errand);
    }
    assert_int_equal(p->all.threads[0], 2); /* no more than have something to do at a time */
    assert_false(atomic_load(&behind[0].runs));
    sem_post(&until);
    assert_ptr_equal(take(p), &stuck.errand);
    assert_ptr_equal(take(p), &behind[0].errand);
    assert_ptr_equal(take(p), &behind[1].errand);
    assert_null(gs_errands_take(&p->all));
}

/* The number of threads is bounded, and what one has to do: who is named has threads of their own all the same. */
static void test_all_are_stuck(void **state)
{
    static struct task stuck[GS_ERRAND_THREADS], more[GS_ERRANDS_OF_ONE], named;
    struct pool *p = start();
    sem_t until;
    sem_init(&until, 0, 0);
    for (uid_t i = 0; i < GS_ERRAND_THREADS; i++) {
        assert_true(ask(p, &stuck[i], 1000 + i, &until));
        wait_until_it_runs(&stuck[i]);
    }
    assert_int_equal(p->all.threads[0], GS_ERRAND_THREADS);
    for (unsigned i = 0; i + 1 < GS_ERRANDS_OF_ONE; i++)
        assert_true(ask(p, &more[i], 5000, NULL));
    assert_false(ask(p, &more[GS_ERRANDS_OF_ONE - 1], 5000, NULL));
    const struct gs_errand_of must = {.uid = 5000, .must = true}, other = {.uid = 5000, .named = true};
    assert_true(gs_errands_ask(&p->all, &more[GS_ERRANDS_OF_ONE - 1].errand, &must));
    assert_int_equal(p->all.threads[0], GS_ERRAND_THREADS);
    named = (struct task){.errand.run = run};
    assert_true(gs_errands_ask(&p->all, &named.errand, &other));
    assert_ptr_equal(take(p), &named.errand);
    for (unsigned i = 0; i < GS_ERRAND_THREADS; i++)
        sem_post(&until);
    for (unsigned i = 0; i < GS_ERRAND_THREADS + GS_ERRANDS_OF_ONE; i++)
        assert_non_null(take(p));
    assert_null(gs_errands_take(&p->all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_users_dont_wait_for_others),
                                       cmocka_unit_test(test_all_are_stuck)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
