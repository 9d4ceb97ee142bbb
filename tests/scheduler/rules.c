/* SPDX-License-Identifier: MIT */
/* The rules of docs/daemon.md, "Shares" and "What a unit may take", one by one: who is next, and what the clock allows.
 * Each test is a short story with the clock given by hand, and fails without its rule: mutants.py takes them away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "scheduler/patience.h"
#include "scheduler/policy.h"

#define MS UINT64_C(1000000)
enum { A, B, C, D, CLIENTS, GPUS = 2, RESOURCES = 1 + GPUS, GPU = 1, OTHER_GPU = 2, PAGE_LIES = 200 };
static const uint64_t CHUNK = 5 * MS, PCI_CHUNK = 3 * MS, PATIENCE = 50 * MS, WATCHDOG = 1000 * MS;

struct world {
    struct gs_policy_state *policy;
    uint64_t now;
    uint32_t slot;
    unsigned units[CLIENTS][RESOURCES], lies;
    bool asks[CLIENTS][RESOURCES], forced[CLIENTS];
    struct gs_policy_offence offence;
};

static unsigned on_ask(void *ctx, uint32_t client, unsigned resource)
{
    struct world *w = ctx;
    w->asks[client][resource] = true;
    return w->lies ? w->lies : w->units[client][resource];
}

static void on_allow(void *ctx, uint32_t client, unsigned resource)
{
    ((struct world *)ctx)->asks[client][resource] = false;
}

static void on_end(void *ctx, uint32_t client, unsigned resource, bool forced)
{
    struct world *w = ctx;
    w->units[client][resource] = 0;
    w->asks[client][resource] = false;
    w->forced[client] |= forced;
    if (forced)
        w->offence = *gs_policy_offence(w->policy);
}

static void on_grant(void *ctx, uint32_t client, const struct gs_policy_request *rq, unsigned resource, bool fresh,
                     bool ask)
{
    struct world *w = ctx;
    w->units[client][resource]++;
    w->asks[client][resource] = ask;
}

static void on_yield(void *ctx, uint32_t client, unsigned resource)
{
}

static const struct gs_policy_ops ops = {on_ask, on_allow, on_end, on_grant, on_yield, NULL};

static void join(struct world *w, uint32_t client, uint32_t user, int priority)
{
    w->forced[client] = false;
    assert_int_equal(gs_policy_join(w->policy, client, user, priority, w->now), 0);
    gs_policy_set_chunks(w->policy, client, PCI_CHUNK, CHUNK);
}

static void leave(struct world *w, uint32_t client)
{
    memset(w->units[client], 0, sizeof w->units[client]);
    gs_policy_leave(w->policy, client, w->now);
}

/* Clients A to D of users 1 to 4, without a task. */
static struct world *new_world(unsigned depth)
{
    struct world *w = calloc(1, sizeof *w);
    w->now = 1000 * MS;
    w->policy = gs_policy_new(RESOURCES, depth, CLIENTS, &ops, w);
    for (uint32_t c = A; c < CLIENTS; c++)
        join(w, c, c + 1, 0);
    return w;
}

static void free_world(struct world *w)
{
    gs_policy_free(w->policy);
    free(w);
}

static uint32_t ask_with(struct world *w, uint32_t client, unsigned resource, uint64_t cost_ns, bool alone)
{
    const struct gs_policy_request rq = {
        .slot = w->slot++ % GS_MAX_SLOTS, .resource = resource, .cost_ns = cost_ns, .alone = alone};
    assert_int_equal(gs_policy_request(w->policy, client, &rq, w->now), 0);
    return rq.slot;
}

static uint32_t ask_for(struct world *w, uint32_t client, unsigned resource)
{
    return ask_with(w, client, resource, 0, false);
}

static void cancel(struct world *w, uint32_t client, uint32_t slot)
{
    assert_true(gs_policy_cancel(w->policy, client, slot, 0, w->now));
}

static void give_back(struct world *w, uint32_t client, unsigned resource)
{
    assert_true(w->units[client][resource] > 0);
    w->units[client][resource]--;
    if (w->asks[client][resource])
        gs_policy_look(w->policy, client, resource, w->units[client][resource], w->now);
}

static void pass(struct world *w, uint64_t ms)
{
    w->now += ms * MS;
    gs_policy_expire(w->policy, w->now, WATCHDOG);
}

static uint64_t expires_in(const struct world *w)
{
    return gs_policy_next_expiry(w->policy, WATCHDOG) - w->now;
}

/* Whoever it is of that has the GPU. */
static uint32_t holder(const struct world *w)
{
    for (uint32_t c = A; c < CLIENTS; c++)
        if (w->units[c][GPU])
            return c;
    return GS_NO_CLIENT;
}

/* C keeps B waiting for longer than it may. B has the GPU then, and C's user is short for a second. */
static void let_offend(struct world *w, uint32_t liar, uint32_t victim)
{
    ask_for(w, liar, GPU);
    ask_for(w, victim, GPU);
    pass(w, 61);
    assert_true(w->forced[liar]);
    assert_int_equal(w->units[victim][GPU], 1);
    give_back(w, victim, GPU);
}

/* ---- shares ---- */

/* A has had 5 ms of the GPU, C has had 5 and has it again, served with a tag of 5 ms, and A waits for it. */
static void bring_to_five(struct world *w)
{
    ask_for(w, C, GPU);
    ask_for(w, A, GPU);
    pass(w, 5);
    ask_for(w, C, GPU);
    give_back(w, C, GPU);
    assert_int_equal(holder(w), A);
    pass(w, 5);
    ask_for(w, A, GPU);
    give_back(w, A, GPU);
    assert_int_equal(holder(w), C);
}

static void test_start_of_who_is_left_alone(void **state)
{
    struct world *w = new_world(1);
    ask_for(w, A, GPU);
    const uint32_t slot = ask_for(w, B, GPU);
    pass(w, 5);
    cancel(w, B, slot); /* A has had 5 ms, and makes nobody wait any more */
    pass(w, 1);
    ask_for(w, C, GPU); /* it begins level with A */
    pass(w, 1);
    give_back(w, A, GPU); /* 6 */
    ask_for(w, A, GPU);
    ask_for(w, C, GPU);
    pass(w, 5);
    give_back(w, C, GPU); /* 10, and not 5 */
    assert_int_equal(holder(w), A);
    free_world(w);
}

/* A task's tag is none of the others' business, also if it has one from before. */
static void test_task_sets_no_start(void **state)
{
    struct world *w = new_world(1);
    ask_for(w, A, GPU);
    ask_for(w, C, GPU);
    ask_for(w, B, GPU);
    w->now += 40 * MS; /* and nothing is counted up yet */
    gs_policy_set_priority(w->policy, A, 1, w->now);
    assert_int_equal(gs_policy_share_ns(w->policy, A, 1), 40 * MS); /* until then it was none */
    give_back(w, A, GPU);
    assert_int_equal(holder(w), C);
    pass(w, 30);
    ask_for(w, C, GPU);
    ask_for(w, A, GPU);
    give_back(w, C, GPU);
    assert_int_equal(holder(w), A);
    give_back(w, A, GPU);
    assert_int_equal(holder(w), B);
    ask_for(w, B, GPU);
    pass(w, 5);
    give_back(w, B, GPU);
    assert_int_equal(holder(w), B); /* 5 ms against C's 30 */
    free_world(w);
}

static void test_user_owes_the_most(void **state)
{
    struct world *w = new_world(1);
    leave(w, D);
    join(w, D, 1, 0); /* A's user */
    ask_for(w, A, GPU);
    ask_for(w, B, GPU);
    pass(w, 40);
    give_back(w, A, GPU);
    leave(w, A);
    leave(w, D);
    join(w, A, 1, 0);
    pass(w, 5);
    ask_for(w, A, GPU);
    ask_for(w, B, GPU);
    pass(w, 5);
    give_back(w, B, GPU);
    assert_int_equal(holder(w), B); /* 5 ms against the 40 of A's user */
    free_world(w);
}

/* What units out are expected to take counts; but no word is believed beyond a second, nor wraps around. */
static void test_expectations(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct world *w = new_world(2);
        bring_to_five(w);
        pass(w, 5);
        for (unsigned n = 0; n < 2; n++)
            ask_with(w, D, GPU, i ? UINT64_MAX : CHUNK, false);
        const uint32_t slot = ask_for(w, B, GPU);
        give_back(w, C, GPU);
        pass(w, 5);
        give_back(w, A, GPU);
        assert_int_equal(w->units[D][GPU], 1); /* B is before its second */
        cancel(w, B, slot);
        assert_int_equal(w->units[D][GPU], 2);
        free_world(w);
    }
}

/* ---- grants ---- */

/* Whatever a page says: no more units are out than may be, and none come back that weren't out. */
static void test_page_that_lies(void **state)
{
    struct world *w = new_world(2);
    struct gs_policy_view view;
    ask_for(w, A, GPU);
    w->lies = PAGE_LIES;
    ask_for(w, B, GPU);
    gs_policy_view(w->policy, GPU, &view);
    assert_int_equal(view.units, 2);
    gs_policy_look(w->policy, A, GPU, PAGE_LIES, w->now);
    gs_policy_view(w->policy, GPU, &view);
    assert_int_equal(view.units, 2);
    gs_policy_look(w->policy, A, GPU, 0, w->now);
    assert_int_equal(w->units[B][GPU], 1);
    free_world(w);
}

/* ---- the watchdog's clock ---- */

static void test_limit_counts_from_the_first(void **state)
{
    struct world *w = new_world(2);
    gs_policy_set_priority(w->policy, A, 1, w->now);
    ask_for(w, A, GPU);
    ask_for(w, B, GPU);
    pass(w, 40);
    ask_for(w, A, GPU);
    assert_int_equal(w->units[A][GPU], 2);
    assert_int_equal(expires_in(w), 2 * CHUNK + PATIENCE - 40 * MS); /* of the first unit, not of the second */
    pass(w, 10);
    give_back(w, A, GPU);
    assert_int_equal(expires_in(w), 2 * CHUNK + PATIENCE - 10 * MS); /* the second, from its own grant */
    ask_for(w, A, GPU);
    assert_int_equal(expires_in(w), 2 * CHUNK + PATIENCE - 10 * MS); /* whatever comes behind it */
    pass(w, 49);
    assert_false(w->forced[A]);
    pass(w, 1);
    assert_true(w->forced[A]);
    assert_int_equal(holder(w), B);
    assert_int_equal(w->offence.kept_ns, 60 * MS);
    assert_int_equal(w->offence.waited_ns, 60 * MS);
    assert_int_equal(w->offence.behind_ns, 0); /* a task */
    free_world(w);
}

/* As Table IV's experiment on cpu:2 has shown it: a task of chunks of 2.5 ms on the link, which nobody gave a
 * processor; and a liar that had a GPU to itself when its user's other process offended, until a task came. */
static void test_as_seen(void **state)
{
    struct world *w = new_world(2);
    gs_policy_set_priority(w->policy, A, 1, w->now);
    gs_policy_set_chunks(w->policy, A, 5 * MS / 2, CHUNK);
    ask_for(w, A, GS_RESOURCE_PCI);
    ask_for(w, B, GS_RESOURCE_PCI);
    assert_int_equal(expires_in(w), 55 * MS);
    give_back(w, A, GS_RESOURCE_PCI);
    free_world(w);

    w = new_world(2);
    leave(w, D);
    join(w, D, 1, 0); /* A's user */
    gs_policy_set_priority(w->policy, C, 1, w->now);
    pass(w, 500);
    ask_for(w, D, OTHER_GPU);
    let_offend(w, A, B);
    pass(w, 434);
    assert_false(w->forced[D]); /* it keeps nobody waiting */
    ask_for(w, C, OTHER_GPU);
    pass(w, 0);
    assert_true(w->forced[D]);
    assert_int_equal(w->offence.kept_ns, 434 * MS); /* from when it was short */
    assert_int_equal(w->offence.waited_ns, 0);
    assert_int_equal(w->units[C][OTHER_GPU], 1);
    free_world(w);
}

/* Only who has a resource alone says that it goes on. */
static void test_renewing_a_plain_unit(void **state)
{
    struct world *w = new_world(1);
    ask_for(w, A, GPU);
    ask_for(w, B, GPU);
    pass(w, 40);
    gs_policy_renew(w->policy, A, GPU, w->now);
    assert_int_equal(expires_in(w), CHUNK + PATIENCE - 40 * MS);
    free_world(w);
}

/* ---- patience ---- */

/* What is left of it for the next unit of the client, which nobody but B makes hurry. */
static uint64_t patience_of(struct world *w, uint32_t client)
{
    ask_for(w, client, GPU);
    assert_int_equal(holder(w), client);
    const uint32_t slot = ask_for(w, B, GPU);
    const uint64_t limit = expires_in(w);
    cancel(w, B, slot);
    give_back(w, client, GPU);
    return limit - 2 * CHUNK;
}

static void test_patience_goes_with_who_leaves(void **state)
{
    struct world *w = new_world(2);
    ask_for(w, A, GPU);
    ask_for(w, B, GPU);
    pass(w, 40);
    leave(w, A);
    give_back(w, B, GPU);
    join(w, A, 1, 0);
    assert_int_equal(patience_of(w, A), PATIENCE - 30 * MS);
    free_world(w);
}

/* A task's units are its own, a measurement's may be long, and who keeps nobody waiting spends nothing. */
static void test_what_spends_no_patience(void **state)
{
    struct world *w = new_world(2);
    gs_policy_set_priority(w->policy, A, 1, w->now);
    ask_for(w, A, GPU);
    ask_for(w, B, GPU);
    pass(w, 40);
    give_back(w, A, GPU);
    gs_policy_set_priority(w->policy, A, 0, w->now);
    give_back(w, B, GPU);
    assert_int_equal(patience_of(w, A), PATIENCE);
    ask_with(w, A, GPU, 0, true);
    ask_for(w, B, GPU);
    pass(w, 300);
    give_back(w, A, GPU);
    give_back(w, B, GPU);
    assert_int_equal(patience_of(w, A), PATIENCE);
    for (unsigned i = 0; i < 3; i++)
        ask_for(w, A, GPU);
    pass(w, 45);
    give_back(w, A, GPU);
    give_back(w, A, GPU);
    give_back(w, A, GPU);
    assert_int_equal(patience_of(w, A), PATIENCE);
    free_world(w);
}

static void test_what_is_spent(void **state)
{
    struct gs_user u = {0};
    gs_user_spend(&u, CHUNK, 2, 40 * MS, 0);
    gs_user_spend(&u, CHUNK, 2, 20 * MS, 0);
    assert_int_equal(gs_user_limit(&u, CHUNK, 2, false, WATCHDOG, 0), 2 * CHUNK + 10 * MS);
    assert_false(gs_user_is_blank(&u, 3000 * MS));
    assert_true(gs_user_is_blank(&u, 4000 * MS));
    const uint64_t chunk = 20000 * MS,
                   long_watchdog = 1000000 * MS; /* so long that it is not all back in ten minutes */
    u = (struct gs_user){0};
    gs_user_spend(&u, chunk, 2, 2 * chunk + 15000 * MS, 0);
    gs_user_offends(&u, 0);
    assert_int_equal(gs_user_limit(&u, chunk, 2, false, long_watchdog, 602000 * MS), 4 * chunk); /* all is forgotten */
}

/* ---- offences ---- */

/* A user's processes without a task while it is short; D is one that has kept its word. */
static void test_short(void **state)
{
    struct world *w = new_world(2);
    leave(w, D);
    join(w, D, 1, 0); /* A's user */
    leave(w, C);
    join(w, C, 1, 1); /* a task of that user */
    ask_for(w, D, OTHER_GPU);
    ask_for(w, C, GS_RESOURCE_PCI);
    assert_false(w->asks[D][OTHER_GPU]);
    let_offend(w, A, B);
    assert_true(w->asks[D][OTHER_GPU]); /* what it has it keeps, but asks for more */
    assert_false(w->asks[C][GS_RESOURCE_PCI]);
    give_back(w, D, OTHER_GPU);

    ask_for(w, B, OTHER_GPU);
    give_back(w, B, OTHER_GPU);
    ask_for(w, D, OTHER_GPU);
    assert_true(w->asks[D][OTHER_GPU]); /* a lease from its beginning */
    ask_for(w, D, OTHER_GPU);
    assert_int_equal(w->units[D][OTHER_GPU], 1);
    give_back(w, D, OTHER_GPU);
    assert_int_equal(w->units[D][OTHER_GPU], 1);
    assert_true(w->asks[D][OTHER_GPU]); /* also when nobody waits */
    pass(w, 4);
    const uint32_t slot = ask_for(w, B, OTHER_GPU);
    assert_int_equal(expires_in(w), MS); /* a chunk from its grant, whoever came when */
    cancel(w, B, slot);
    assert_true(w->asks[D][OTHER_GPU]);

    ask_for(w, C, GS_RESOURCE_PCI);
    ask_for(w, B, GS_RESOURCE_PCI);
    assert_int_equal(w->units[C][GS_RESOURCE_PCI], 2); /* nothing of that is the task's */
    free_world(w);
}

static void test_what_is_told_of_an_offence(void **state)
{
    struct world *w = new_world(2);
    let_offend(w, A, B);
    assert_true(w->offence.news);
    assert_int_equal(w->offence.kept_ns, 61 * MS);
    assert_int_equal(w->offence.behind_ns, 1000 * MS);
    pass(w, 1000);
    let_offend(w, A, B);
    assert_false(w->offence.news);
    assert_int_equal(w->offence.behind_ns, 2000 * MS);
    free_world(w);
}

/* Each stands behind for as long as its own offence says, and then level with the others. */
static void test_pardons(void **state)
{
    struct world *w = new_world(1);
    let_offend(w, A, B);
    pass(w, 100);
    let_offend(w, D, B);
    pass(w, 838);
    assert_true(gs_policy_is_behind(w->policy, A));
    pass(w, 1);
    assert_false(gs_policy_is_behind(w->policy, A));
    assert_true(gs_policy_is_behind(w->policy, D));
    pass(w, 160);
    assert_true(gs_policy_is_behind(w->policy, D));
    pass(w, 1);
    assert_false(gs_policy_is_behind(w->policy, D));
    free_world(w);
}

/* D stands behind and waits; A, which came before it, and C have had more than D since, and C has it again. */
static void bring_behind(struct world *w)
{
    gs_policy_set_chunks(w->policy, A, 40 * MS, 40 * MS);
    gs_policy_set_chunks(w->policy, C, 40 * MS, 40 * MS);
    let_offend(w, D, B);
    pass(w, 850);
    ask_for(w, C, GPU);
    ask_for(w, A, GPU);
    pass(w, 70);
    ask_for(w, C, GPU);
    give_back(w, C, GPU);
    assert_int_equal(holder(w), A);
    ask_for(w, A, GPU);
    ask_for(w, D, GPU);
    pass(w, 70);
    give_back(w, A, GPU);
    assert_int_equal(holder(w), C);
    assert_true(gs_policy_is_behind(w->policy, D));
}

/* Who stood behind has no claim on that time; nor by way of being a task meanwhile. */
static void test_pardoned_is_level(void **state)
{
    for (unsigned by_way = 0; by_way < 2; by_way++) {
        struct world *w = new_world(1);
        bring_behind(w);
        if (by_way) {
            gs_policy_set_priority(w->policy, D, 1, w->now);
            gs_policy_set_priority(w->policy, D, 0, w->now);
        } else {
            pass(w, 10);
        }
        assert_false(gs_policy_is_behind(w->policy, D));
        give_back(w, C, GPU);
        assert_int_equal(holder(w), A);
        free_world(w);
    }
}

/* More offenders than places: forgotten are those that left first, and nobody who is here. */
static void test_who_is_forgotten(void **state)
{
    struct world *w = new_world(2);
    enum { PLACES = CLIENTS + 64, MANY = PLACES - 2 }; /* but D's and B's */
    leave(w, C);
    for (uint32_t user = 100; user < 100 + MANY; user++) {
        leave(w, A);
        join(w, A, user, 0);
        let_offend(w, A, B);
    }
    leave(w, A);
    join(w, A, 900, 0); /* takes the place of user 100 */
    let_offend(w, A, B);
    const uint32_t here[] = {B, D};
    for (unsigned i = 0; i < 2; i++) {
        ask_for(w, here[i], OTHER_GPU);
        assert_false(w->asks[here[i]][OTHER_GPU]); /* its user is not the one that has just offended */
        give_back(w, here[i], OTHER_GPU);
    }
    leave(w, A);
    for (uint32_t user = 101; user < 100 + MANY; user++) {
        join(w, C, user, 0);
        ask_for(w, C, GPU);
        ask_for(w, B, GPU);
        assert_true(expires_in(w) <= 2 * CHUNK + MS);
        leave(w, C);
        give_back(w, B, GPU);
    }
    free_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_of_who_is_left_alone),
        cmocka_unit_test(test_task_sets_no_start),
        cmocka_unit_test(test_user_owes_the_most),
        cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_page_that_lies),
        cmocka_unit_test(test_limit_counts_from_the_first),
        cmocka_unit_test(test_as_seen),
        cmocka_unit_test(test_renewing_a_plain_unit),
        cmocka_unit_test(test_patience_goes_with_who_leaves),
        cmocka_unit_test(test_what_spends_no_patience),
        cmocka_unit_test(test_what_is_spent),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_what_is_told_of_an_offence),
        cmocka_unit_test(test_pardons),
        cmocka_unit_test(test_pardoned_is_level),
        cmocka_unit_test(test_who_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
