/* SPDX-License-Identifier: MIT */
/* The policy against an oracle that is slow and obvious: it keeps every waiting request in one list and looks through
 * all of it. Clients and devices are simulated; the clock is a number. GS_SEED chooses the random cases. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "scheduler/policy.h"

enum { CLIENTS = 9, MAX_WAITING = CLIENTS * GS_MAX_SLOTS };

/* ---- the world ---- */

struct waiting {
    uint32_t client, slot, resource;
    uint64_t order;
    bool alone;
};

struct world {
    struct gs_policy_state *policy;
    unsigned resources, depth;
    bool there[CLIENTS];
    int priority[CLIENTS];
    uint64_t since[CLIENTS], joins;            /* it is the how manieth that has joined */
    unsigned units[CLIENTS][GS_MAX_RESOURCES]; /* out, in truth */
    bool alone[GS_MAX_RESOURCES];              /* held for a measurement */
    bool few_tasks;
    bool leased[CLIENTS][GS_MAX_RESOURCES], asks[CLIENTS][GS_MAX_RESOURCES];
    struct waiting list[MAX_WAITING];
    unsigned n;
    uint64_t orders, now, grants, alones_granted;
    unsigned yields;
};

static unsigned on_ask(void *ctx, uint32_t client, unsigned resource)
{
    struct world *w = ctx;
    assert_true(w->leased[client][resource]);
    w->asks[client][resource] = true;
    return w->units[client][resource];
}

static void on_allow(void *ctx, uint32_t client, unsigned resource)
{
    struct world *w = ctx;
    assert_true(w->leased[client][resource]);
    w->asks[client][resource] = false;
}

static void on_end(void *ctx, uint32_t client, unsigned resource, bool forced)
{
    struct world *w = ctx;
    assert_true(w->leased[client][resource]);
    if (!forced)
        assert_int_equal(w->units[client][resource], 0);
    w->units[client][resource] = 0;
    w->leased[client][resource] = w->asks[client][resource] = w->alone[resource] = false;
}

static bool has_tasks(const struct world *w)
{
    for (uint32_t c = 0; c < CLIENTS; c++)
        if (w->there[c] && w->priority[c] > 0)
            return true;
    return false;
}

/* Does the request wait for the resource now? One that wants it alone doesn't while tasks are there. */
static bool waits_for(const struct world *w, const struct waiting *q, unsigned resource)
{
    return q->resource == resource && !(q->alone && has_tasks(w));
}

/* May a request that stands in the list for the resource not be overtaken by `g`? */
static bool goes_before(const struct world *w, const struct waiting *q, const struct waiting *g)
{
    int a = w->priority[q->client], b = w->priority[g->client];
    if (a != b)
        return a > b;
    /* Below the tasks the shares decide, which the fairness test looks at; one client's own requests stay in order. */
    if (q->client == g->client)
        return q->order < g->order;
    return a > 0 && w->since[q->client] < w->since[g->client];
}

static void on_grant(void *ctx, uint32_t client, const struct gs_policy_request *rq, unsigned resource, bool fresh,
                     bool ask)
{
    struct world *w = ctx;
    unsigned at = 0;
    while (at < w->n && (w->list[at].client != client || w->list[at].slot != rq->slot))
        at++;
    assert_true(at < w->n);
    const struct waiting g = w->list[at];
    assert_int_equal(g.resource, resource);
    for (unsigned i = 0; i < w->n; i++)
        if (waits_for(w, &w->list[i], resource))
            assert_false(goes_before(w, &w->list[i], &g));
    assert_false(w->alone[resource]);
    if (g.alone)
        assert_true(!has_tasks(w) && fresh && ask);
    w->alone[resource] = g.alone;
    w->alones_granted += g.alone;
    for (uint32_t c = 0; c < CLIENTS; c++)
        if (c != client)
            assert_false(w->leased[c][resource]);
    assert_int_equal(fresh, !w->leased[client][resource]);
    assert_true(w->units[client][resource] < w->depth);
    w->list[at] = w->list[--w->n];
    w->leased[client][resource] = true;
    w->asks[client][resource] = ask;
    w->units[client][resource]++;
    w->grants++;
}

static void on_yield(void *ctx, uint32_t client, unsigned resource)
{
    struct world *w = ctx;
    assert_int_equal(w->units[client][resource], 1);
    w->yields++;
}

static unsigned on_units(void *ctx, uint32_t client, unsigned resource)
{
    const struct world *w = ctx;
    assert_true(w->leased[client][resource] && !w->asks[client][resource]);
    return w->units[client][resource];
}

static const struct gs_policy_ops ops = {on_ask, on_allow, on_end, on_grant, on_yield, on_units};

/* ---- what must hold after each event ---- */

static bool somebody_wants(const struct world *w, unsigned resource)
{
    for (unsigned i = 0; i < w->n; i++)
        if (waits_for(w, &w->list[i], resource))
            return true;
    return false;
}

/* The first in line is the holder itself, with room for one more unit: it should have been served. */
static bool holder_is_first(const struct world *w, unsigned resource, uint32_t holder)
{
    const struct waiting *own = NULL;
    for (unsigned i = 0; i < w->n; i++)
        if (w->list[i].client == holder && waits_for(w, &w->list[i], resource) &&
            (!own || w->list[i].order < own->order))
            own = &w->list[i];
    if (!own || w->priority[holder] == 0)
        return false;
    for (unsigned i = 0; i < w->n; i++)
        if (&w->list[i] != own && waits_for(w, &w->list[i], resource) && goes_before(w, &w->list[i], own))
            return false;
    return true;
}

static void check(const struct world *w)
{
    for (unsigned r = 0; r < w->resources; r++) {
        unsigned out = 0, leases = 0;
        for (uint32_t c = 0; c < CLIENTS; c++) {
            out += w->units[c][r];
            leases += w->leased[c][r];
            if (!w->leased[c][r])
                continue;
            assert_int_equal(w->asks[c][r], w->alone[r] || somebody_wants(w, r));
            if (w->alone[r])
                assert_int_equal(w->units[c][r], 1);
            else if (holder_is_first(w, r, c))
                assert_int_equal(w->units[c][r], w->depth);
        }
        assert_true(leases <= 1);
        assert_true(out <= w->depth);
        if (somebody_wants(w, r))
            assert_true(out > 0); /* work-conserving */
    }
}

/* ---- random events ---- */

static bool slot_waits(const struct world *w, uint32_t client, uint32_t slot)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->list[i].client == client && w->list[i].slot == slot)
            return true;
    return false;
}

static void want(struct world *w, uint32_t client)
{
    struct gs_policy_request rq = {.slot = rnd(GS_MAX_SLOTS), .resource = rnd(w->resources)};
    rq.cost_ns = rnd(2) ? rnd(1000) : UINT64_MAX;
    rq.alone = rnd(8) == 0;
    const bool busy = slot_waits(w, client, rq.slot);
    if (!busy)
        w->list[w->n++] = (struct waiting){client, rq.slot, rq.resource, w->orders++, rq.alone};
    assert_int_equal(gs_policy_request(w->policy, client, &rq, w->now), busy ? -EBUSY : 0);
}

static void take_fast(struct world *w, uint32_t client)
{
    unsigned r = rnd(w->resources);
    if (w->leased[client][r] && !w->asks[client][r] && w->units[client][r] < w->depth)
        w->units[client][r]++;
}

static void give_back(struct world *w, uint32_t client)
{
    unsigned r = rnd(w->resources);
    if (!w->units[client][r])
        return;
    w->units[client][r]--;
    if (w->asks[client][r])
        gs_policy_look(w->policy, client, r, w->units[client][r], w->now);
    else if (rnd(8) == 0) /* a LOOK that was on its way when `allow` came */
        gs_policy_look(w->policy, client, r, w->units[client][r], w->now);
}

static void cancel(struct world *w, uint32_t client)
{
    uint32_t slot = rnd(GS_MAX_SLOTS);
    bool waits = slot_waits(w, client, slot);
    for (unsigned i = 0; i < w->n && waits; i++)
        if (w->list[i].client == client && w->list[i].slot == slot) {
            w->list[i] = w->list[--w->n];
            break;
        }
    assert_int_equal(gs_policy_cancel(w->policy, client, slot, 0, w->now), waits);
}

static void leave(struct world *w, uint32_t client)
{
    for (unsigned i = 0; i < w->n;) {
        if (w->list[i].client == client)
            w->list[i] = w->list[--w->n];
        else
            i++;
    }
    for (unsigned r = 0; r < w->resources; r++)
        w->alone[r] = w->alone[r] && !w->leased[client][r];
    memset(w->units[client], 0, sizeof w->units[client]);
    memset(w->leased[client], 0, sizeof w->leased[client]);
    memset(w->asks[client], 0, sizeof w->asks[client]);
    w->there[client] = false;
    gs_policy_leave(w->policy, client, w->now);
}

static int random_priority(const struct world *w)
{
    return w->few_tasks && rnd(12) ? 0 : (int)rnd(4);
}

static void join(struct world *w, uint32_t client)
{
    w->there[client] = true;
    w->since[client] = w->joins++;
    w->priority[client] = rnd(2) ? 0 : random_priority(w);
    assert_int_equal(gs_policy_join(w->policy, client, client, w->priority[client], w->now), 0);
    assert_int_equal(gs_policy_join(w->policy, client, client, 0, w->now), -EINVAL);
}

static void reprioritise(struct world *w, uint32_t client)
{
    w->priority[client] = random_priority(w);
    gs_policy_set_priority(w->policy, client, w->priority[client], w->now);
}

static void expire(struct world *w)
{
    uint64_t next = gs_policy_next_expiry(w->policy, 500);
    bool due = next <= w->now;
    uint32_t taken = gs_policy_expire(w->policy, w->now, 500);
    assert_int_equal(due, taken != 0);
}

/* How many go before the client, which has a task, in halves; another holder that doesn't is one half. */
static unsigned delay(const struct world *w, uint32_t client, unsigned resource)
{
    const struct waiting mine = {.client = client, .order = UINT64_MAX};
    unsigned n = 0;
    for (uint32_t c = 0; c < CLIENTS; c++) {
        bool goes = w->units[c][resource] && goes_before(w, &(struct waiting){.client = c}, &mine);
        for (unsigned i = 0; i < w->n && !w->leased[c][resource]; i++)
            goes = goes || (w->list[i].client == c && waits_for(w, &w->list[i], resource) &&
                            goes_before(w, &w->list[i], &mine));
        if (c != client || !w->leased[c][resource])
            n += goes ? 2 : w->units[c][resource] ? 1 : 0;
    }
    return n;
}

/* No other GPU would serve it sooner, and the one it prefers would serve it later. */
static void choose(const struct world *w, uint32_t client)
{
    const uint32_t mask = rnd(1u << w->resources);
    const unsigned prefer = rnd(GS_MAX_RESOURCES + 1);
    const unsigned r = gs_policy_choose(w->policy, client, mask, prefer);
    if (!mask || mask & GS_MASK_PCI) {
        assert_int_equal(r, GS_MAX_RESOURCES);
        return;
    }
    assert_true(r < w->resources && mask & GS_MASK(r));
    for (unsigned other = 1; other < w->resources && w->priority[client]; other++)
        if (mask & GS_MASK(other) && other != r) {
            const unsigned its = delay(w, client, other), chosen = delay(w, client, r);
            assert_true(other == prefer ? its > chosen : its >= chosen);
        }
}

static void one_event(struct world *w)
{
    uint32_t client = rnd(CLIENTS);
    w->now += rnd(20);
    if (!w->there[client]) {
        join(w, client);
        return;
    }
    switch (rnd(32)) {
    case 0:
        if (rnd(8) == 0)
            leave(w, client);
        break;
    case 1:
        cancel(w, client);
        break;
    case 2:
        reprioritise(w, client);
        break;
    case 3:
        expire(w);
        break;
    case 4:
        choose(w, client);
        break;
    default:
        if (rnd(3) == 0)
            want(w, client);
        else if (rnd(3) == 0)
            take_fast(w, client);
        else if (rnd(8) == 0)
            gs_policy_renew(w->policy, client, rnd(GS_MAX_RESOURCES), w->now);
        else
            give_back(w, client);
    }
}

static void test_random_sequences(void **state)
{
    uint64_t seed = seed_run(0, NULL, 20141);
    uint64_t grants = 0, alones = 0;
    for (unsigned run = 0; run < 300; run++) {
        random_state = seed + run;
        struct world *w = calloc(1, sizeof *w);
        w->resources = 2 + rnd(5);
        w->depth = 1 + rnd(3);
        w->few_tasks = rnd(2);
        w->policy = gs_policy_new(w->resources, w->depth, CLIENTS, &ops, w);
        assert_non_null(w->policy);
        for (unsigned i = 0; i < 2000; i++) {
            one_event(w);
            check(w);
        }
        grants += w->grants;
        alones += w->alones_granted;
        gs_policy_free(w->policy);
        free(w);
    }
    assert_true(grants > 10000 && alones > 100); /* the sequences do something */
}

/* ---- single cases, as a user would tell them ---- */

static void ask_for(struct world *w, uint32_t client, uint32_t slot, unsigned resource)
{
    struct gs_policy_request rq = {.slot = slot, .resource = resource};
    w->list[w->n++] = (struct waiting){client, slot, resource, w->orders++, false};
    assert_int_equal(gs_policy_request(w->policy, client, &rq, w->now), 0);
    check(w);
}

static struct world *new_world(unsigned gpus, unsigned depth)
{
    struct world *w = calloc(1, sizeof *w);
    w->resources = 1 + gpus;
    w->depth = depth;
    w->policy = gs_policy_new(w->resources, depth, CLIENTS, &ops, w);
    for (uint32_t c = 0; c < CLIENTS; c++) {
        w->there[c] = true;
        w->priority[c] = c < 4 ? (int)c : 0; /* clients 1 to 3 are tasks, 3 the most urgent */
        gs_policy_join(w->policy, c, c, w->priority[c], w->now);
    }
    return w;
}

static void free_world(struct world *w)
{
    gs_policy_free(w->policy);
    free(w);
}

/* Of several GPUs the one with its data if that is free, else an idle one, else one where only lower ones are: it moves
 * rather than waits. */
static void test_which_gpu(void **state)
{
    struct world *w = new_world(2, 1);
    const uint32_t any = GS_MASK_ALL_GPUS(2);
    assert_int_equal(gs_policy_choose(w->policy, 3, any, 2), 2);
    ask_for(w, 2, 0, 2);
    assert_int_equal(gs_policy_choose(w->policy, 1, any, 2), 1);
    assert_int_equal(gs_policy_choose(w->policy, 3, any, 2), 1);
    w->units[2][2]--; /* its lease is idle */
    assert_int_equal(gs_policy_choose(w->policy, 1, any, 2), 2);
    w->units[2][2]++;
    ask_for(w, 5, 0, 1);
    assert_int_equal(gs_policy_choose(w->policy, 1, any, 2), 1);
    assert_int_equal(gs_policy_choose(w->policy, 3, any, 2), 2);
    assert_false(w->asks[2][2] || w->asks[5][1]); /* nobody has heard of it */
    free_world(w);
}

/* Of two idle GPUs the one that has been used less while others wanted it too. */
static void test_the_less_used_gpu(void **state)
{
    struct world *w = new_world(2, 1);
    ask_for(w, 5, 0, 1);
    ask_for(w, 6, 0, 1);
    w->now += 1000;
    leave(w, 5);
    leave(w, 6);
    assert_int_equal(gs_policy_choose(w->policy, 7, GS_MASK_ALL_GPUS(2), GS_MAX_RESOURCES), 2);
    assert_int_equal(gs_policy_choose(w->policy, 7, GS_MASK_ALL_GPUS(2), 1), 1);
    free_world(w);
}

/* Who cancels names the request by its number: a later one of the same slot stays. */
static void test_cancel_by_number(void **state)
{
    struct world *w = new_world(1, 1);
    ask_for(w, 5, 0, 1);
    struct gs_policy_request rq = {.slot = 3, .serial = 8, .resource = 1};
    w->list[w->n++] = (struct waiting){6, 3, 1, w->orders++, false};
    assert_int_equal(gs_policy_request(w->policy, 6, &rq, w->now), 0);
    assert_false(gs_policy_cancel(w->policy, 6, 3, 7, w->now));
    assert_non_null(gs_policy_waiting(w->policy, 6, 0));
    assert_true(gs_policy_cancel(w->policy, 6, 3, 8, w->now));
    assert_null(gs_policy_waiting(w->policy, 6, 0));
    free_world(w);
}

/* No client but 4 to 7, which are no tasks. */
static struct world *new_world_without_tasks(unsigned gpus)
{
    struct world *w = new_world(gpus, 2);
    for (uint32_t c = 0; c < 4; c++)
        leave(w, c);
    return w;
}

static void ask_alone(struct world *w, uint32_t client, uint32_t slot, unsigned resource)
{
    struct gs_policy_request rq = {.slot = slot, .resource = resource, .alone = true};
    w->list[w->n++] = (struct waiting){client, slot, resource, w->orders++, true};
    assert_int_equal(gs_policy_request(w->policy, client, &rq, w->now), 0);
}

/* One that goes on renewing keeps it; one that doesn't has ten times as long as others; a task's coming ends that. */
static void test_alone_and_the_watchdog(void **state)
{
    struct world *w = new_world_without_tasks(1);
    ask_alone(w, 4, 0, 1);
    w->now = 10000;
    ask_for(w, 5, 0, 1);
    assert_int_equal(gs_policy_next_expiry(w->policy, 500), 15000);
    w->now = 14000;
    gs_policy_renew(w->policy, 5, 1, w->now); /* not its */
    assert_int_equal(gs_policy_next_expiry(w->policy, 500), 15000);
    gs_policy_renew(w->policy, 4, 1, w->now);
    assert_int_equal(gs_policy_next_expiry(w->policy, 500), 19000);
    w->now = 18900;
    assert_int_equal(gs_policy_expire(w->policy, w->now, 500), 0);
    gs_policy_renew(w->policy, 4, 1, w->now);
    gs_policy_set_priority(w->policy, 7, 1, w->now);
    assert_int_equal(w->yields, 1);
    assert_int_equal(gs_policy_next_expiry(w->policy, 500), 19400);
    w->now = 19400;
    gs_policy_renew(w->policy, 4, 1, w->now);
    assert_int_equal(gs_policy_expire(w->policy, w->now, 500), GS_MASK(1));
    assert_int_equal(w->units[5][1], 1);
    free_world(w);
}

static void test_wrong_requests(void **state)
{
    struct world *w = new_world(2, 1);
    const uint32_t masks[] = {0, GS_MASK_PCI | GS_MASK(1), GS_MASK(3), UINT32_MAX};
    struct gs_policy_request rq = {.resource = 3};
    assert_int_equal(gs_policy_request(w->policy, 5, &rq, 0), -EINVAL);
    rq = (struct gs_policy_request){.slot = GS_MAX_SLOTS};
    assert_int_equal(gs_policy_request(w->policy, 5, &rq, 0), -EINVAL);
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        assert_int_equal(gs_policy_choose(w->policy, 5, masks[i], 1), GS_MAX_RESOURCES);
    rq.slot = 0;
    assert_int_equal(gs_policy_request(w->policy, CLIENTS, &rq, 0), -EINVAL);
    gs_policy_look(w->policy, 5, 77, 0, 0);
    assert_int_equal(gs_policy_join(w->policy, CLIENTS, CLIENTS, 0, 0), -EINVAL);
    check(w);
    free_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sequences),       cmocka_unit_test(test_which_gpu),
        cmocka_unit_test(test_the_less_used_gpu),      cmocka_unit_test(test_cancel_by_number),
        cmocka_unit_test(test_alone_and_the_watchdog), cmocka_unit_test(test_wrong_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
