/* SPDX-License-Identifier: MIT */
/* What liars without a task cost others: processes that keep units, pretend to, or come again after each offence. The
 * bounds are docs/daemon.md's, "What a unit may take". The clock is a number, in microseconds times 1000. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "scheduler/patience.h"
#include "scheduler/policy.h"

#define MS UINT64_C(1000000)
enum { TASK, HONEST, FIRST_LIAR, CLIENTS = 64, DEPTH = 2, GPU = 1 };
static const uint64_t STEP = MS / 10, CHUNK = 5 * MS, PATIENCE = 50 * MS, WATCHDOG = 1000 * MS;

enum habit {
    KEEPS,       /* never gives back, and asks again */
    PRETENDS,    /* has two units by its page, and gives one back every 0.95 s */
    JUST_BELOW,  /* gives back before its patience is gone */
    COMES_AGAIN, /* leaves when it was taken back from, and joins again */
    HABITS
};

struct client {
    bool there, asks, leased, taken;
    enum habit habit;
    uint32_t slot;
    unsigned units, waiting;
    uint64_t since_ns, asked_ns, longest_wait_ns;
};

struct world {
    struct gs_policy_state *policy;
    struct client c[CLIENTS];
    uint64_t now, first_offence_ns, first_wait_ns, waits_before_ns;
    unsigned offences, news;
};

static unsigned on_ask(void *ctx, uint32_t client, unsigned resource)
{
    struct client *c = &((struct world *)ctx)->c[client];
    c->asks = true;
    if (client >= FIRST_LIAR && c->habit == PRETENDS)
        c->units = DEPTH; /* so its page says */
    return c->units;
}

static void on_allow(void *ctx, uint32_t client, unsigned resource)
{
    ((struct world *)ctx)->c[client].asks = false;
}

static void on_end(void *ctx, uint32_t client, unsigned resource, bool forced)
{
    struct world *w = ctx;
    struct client *c = &w->c[client];
    c->units = 0;
    c->leased = c->asks = false;
    c->taken = forced;
    if (!forced)
        return;
    assert_true(client >= FIRST_LIAR);
    if (!w->offences++)
        w->first_offence_ns = w->now;
    w->news += gs_policy_offence(w->policy)->news;
}

static void on_grant(void *ctx, uint32_t client, const struct gs_policy_request *rq, unsigned resource, bool fresh,
                     bool ask)
{
    struct world *w = ctx;
    struct client *c = &w->c[client];
    c->leased = true;
    c->asks = ask;
    c->waiting--;
    c->units++;
    c->since_ns = w->now;
    const uint64_t waited = w->now - c->asked_ns;
    /* After the first offence all waits count; those before it together. */
    if (w->offences && c->asked_ns > w->first_offence_ns)
        c->longest_wait_ns = waited > c->longest_wait_ns ? waited : c->longest_wait_ns;
    else if (client == TASK && waited > DEPTH * CHUNK)
        w->waits_before_ns += waited - DEPTH * CHUNK;
}

static void on_yield(void *ctx, uint32_t client, unsigned resource)
{
}

static const struct gs_policy_ops ops = {on_ask, on_allow, on_end, on_grant, on_yield, NULL};

static void enter(struct world *w, uint32_t client, uint32_t user, int priority)
{
    w->c[client].there = true;
    assert_int_equal(gs_policy_join(w->policy, client, user, priority, w->now), 0);
    gs_policy_set_chunks(w->policy, client, CHUNK, CHUNK);
}

static void ask_for(struct world *w, uint32_t client)
{
    struct client *c = &w->c[client];
    const struct gs_policy_request rq = {.slot = c->slot++ % GS_MAX_SLOTS, .resource = GPU, .cost_ns = CHUNK};
    c->asked_ns = w->now;
    c->waiting++;
    assert_int_equal(gs_policy_request(w->policy, client, &rq, w->now), 0);
}

static void give_back(struct world *w, uint32_t client)
{
    struct client *c = &w->c[client];
    c->units--;
    c->since_ns = w->now;
    if (c->asks)
        gs_policy_look(w->policy, client, GPU, c->units, w->now);
}

static void lie(struct world *w, uint32_t client)
{
    struct client *c = &w->c[client];
    if (c->habit == COMES_AGAIN && c->taken) {
        const uint32_t slot = c->slot;
        gs_policy_leave(w->policy, client, w->now);
        *c = (struct client){.habit = COMES_AGAIN, .slot = slot};
        enter(w, client, 1001, 0);
    }
    const uint64_t kept = c->habit == PRETENDS ? 950 * MS : 49 * MS;
    if ((c->habit == PRETENDS || c->habit == JUST_BELOW) && c->units && w->now - c->since_ns >= kept)
        give_back(w, client);
    if (c->waiting < (c->habit == KEEPS ? 3 : 1))
        ask_for(w, client);
}

/* The task wants 1 ms every 20 ms, the honest one units of a chunk, one after the other. */
static void behave(struct world *w)
{
    struct client *t = &w->c[TASK], *h = &w->c[HONEST];
    if (t->units && w->now >= t->since_ns + MS)
        give_back(w, TASK);
    if (!t->units && !t->waiting && w->now % (20 * MS) < STEP)
        ask_for(w, TASK);
    if (!h->there)
        return;
    if (h->units && w->now >= h->since_ns + CHUNK - 2 * STEP)
        give_back(w, HONEST);
    if (h->waiting + h->units < 2)
        ask_for(w, HONEST);
}

static void run(struct world *w, uint64_t ns)
{
    for (const uint64_t end = w->now + ns; w->now < end; w->now += STEP) {
        if (gs_policy_next_expiry(w->policy, WATCHDOG) <= w->now)
            gs_policy_expire(w->policy, w->now, WATCHDOG);
        behave(w);
        for (uint32_t c = FIRST_LIAR; c < CLIENTS; c++)
            if (w->c[c].there)
                lie(w, c);
    }
}

static struct world *new_world(unsigned liars, enum habit habit, bool honest)
{
    struct world *w = calloc(1, sizeof *w);
    w->now = 1000 * MS;
    w->policy = gs_policy_new(2, DEPTH, CLIENTS, &ops, w);
    enter(w, TASK, 0, 1);
    if (honest)
        enter(w, HONEST, 1002, 0);
    for (uint32_t c = FIRST_LIAR; c < FIRST_LIAR + liars; c++) {
        w->c[c].habit = habit == HABITS ? c % HABITS : habit;
        enter(w, c, 1001, 0);
    }
    return w;
}

static void free_world(struct world *w)
{
    gs_policy_free(w->policy);
    free(w);
}

/* Before the first offence all liars of a user together have its patience; after it each unit of the task's waits as
 * behind an honest process, or for one chunk while the user is short. */
static void test_what_a_task_waits(void **state)
{
    static const unsigned liars[] = {1, 20, CLIENTS - FIRST_LIAR};
    for (unsigned honest = 0; honest < 2; honest++)
        for (enum habit habit = KEEPS; habit <= HABITS; habit++)
            for (size_t i = 0; i < sizeof liars / sizeof *liars; i++) {
                struct world *w = new_world(liars[i], habit, honest);
                run(w, 10000 * MS);
                assert_true(w->offences > 0);
                assert_in_range(w->waits_before_ns, 0, PATIENCE + DEPTH * STEP);
                assert_in_range(w->c[TASK].longest_wait_ns, 0, (honest ? DEPTH * CHUNK + MS : CHUNK) + 2 * STEP);
                assert_in_range(w->news, 1, 16);
                free_world(w);
            }
}

static void test_penalties(void **state)
{
    struct gs_offences o = {0};
    uint64_t now = 5 * MS, penalty = 1000 * MS;
    for (unsigned i = 0; i < 13; i++) {
        assert_int_equal(gs_offend(&o, now), penalty);
        assert_int_equal(o.until_ns, now + penalty);
        now += 1000 * MS;
        penalty = penalty < 1024000 * MS ? 2 * penalty : penalty;
    }
    assert_int_equal(gs_offend(&o, o.until_ns + 599000 * MS), 1024000 * MS);
    assert_int_equal(gs_offend(&o, o.until_ns + 601000 * MS), 1000 * MS);
}

static void test_limits(void **state)
{
    struct gs_user u = {0};
    assert_int_equal(gs_user_limit(&u, 0, 2, false, WATCHDOG, 0), WATCHDOG); /* the config says nothing of chunks */
    assert_int_equal(gs_user_limit(&u, 5 * MS, 2, false, WATCHDOG, 0), 60 * MS);
    assert_int_equal(gs_user_limit(&u, 40 * MS, 2, false, WATCHDOG, 0), 160 * MS);
    assert_int_equal(gs_user_limit(&u, 400 * MS, 2, false, WATCHDOG, 0), WATCHDOG);
    gs_user_spend(&u, 5 * MS, 2, 10 * MS, 0); /* no longer than it may */
    gs_user_spend(&u, 5 * MS, 2, 40 * MS, 0);
    assert_int_equal(gs_user_limit(&u, 5 * MS, 2, false, WATCHDOG, 0), 30 * MS);
    assert_int_equal(gs_user_limit(&u, 5 * MS, 2, true, WATCHDOG, 0), 60 * MS); /* a task's is its own */
    assert_int_equal(gs_user_limit(&u, 5 * MS, 2, false, WATCHDOG, 1000 * MS), 40 * MS);
    assert_int_equal(gs_user_limit(&u, 5 * MS, 2, false, WATCHDOG, 10000 * MS), 60 * MS);
    gs_user_offends(&u, 10000 * MS);
    assert_int_equal(gs_user_limit(&u, 5 * MS, 2, false, WATCHDOG, 10500 * MS), 5 * MS);
    assert_int_equal(gs_user_limit(&u, MS / 10, 2, false, WATCHDOG, 10500 * MS), MS);
    assert_int_equal(gs_user_limit(&u, 5 * MS, 2, true, WATCHDOG, 10500 * MS), 60 * MS);
    assert_int_equal(gs_user_limit(&u, 5 * MS, 2, false, WATCHDOG, 11000 * MS), 11 * MS);
    assert_int_equal(gs_user_limit(&u, 5 * MS, 2, false, WATCHDOG, 612000 * MS), 60 * MS);
    assert_false(gs_user_is_blank(&u, 11000 * MS));
    assert_true(gs_user_is_blank(&u, 612000 * MS));
}

/* More users than there is memory for: those that are here are never forgotten. */
static void test_many_users(void **state)
{
    struct world *w = new_world(1, KEEPS, false);
    run(w, 200 * MS);
    assert_true(gs_policy_is_behind(w->policy, FIRST_LIAR));
    gs_policy_leave(w->policy, FIRST_LIAR, w->now);
    w->c[FIRST_LIAR].there = false;
    for (uint32_t user = 5000; user < 9000; user++) {
        gs_policy_join(w->policy, CLIENTS - 1, user, 0, w->now);
        gs_policy_leave(w->policy, CLIENTS - 1, w->now);
    }
    w->c[FIRST_LIAR] = (struct client){.habit = KEEPS};
    enter(w, FIRST_LIAR, 1001, 0); /* a process that is new, of a user that isn't forgotten */
    w->c[TASK].longest_wait_ns = 0;
    run(w, 200 * MS);
    assert_in_range(w->c[TASK].longest_wait_ns, 0, CHUNK + 2 * STEP);
    free_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_task_waits),
        cmocka_unit_test(test_penalties),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_many_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
