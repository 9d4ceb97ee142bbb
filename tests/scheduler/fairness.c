/* SPDX-License-Identifier: MIT */
/* The fairness of docs/daemon.md, "Shares", on random arrivals: of two applications without a task that both want a
 * resource all the time, neither ever has more of it than the other by more than a unit of each. An oracle adds up who
 * held what; tasks, processes that stop and others that come and go stand in between. GS_SEED chooses the cases. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "scheduler/policy.h"

enum { CLIENTS = 8, USERS = 3, MAX_DEPTH = 3, WATCHDOG = 20000 };

enum habit {
    ALWAYS, /* asks for the next unit before the last has ended */
    AFTER,  /* asks when it has ended */
    RARELY, /* and rests in between */
    HABITS
};

struct client {
    bool there, stopped;
    uint32_t user;
    int priority;
    enum habit habit;
    unsigned resource; /* that it wants */
    uint32_t slot;
    uint64_t chunk, claim, next_ns; /* when it wants something again */
    unsigned waiting;
    unsigned units[GS_MAX_RESOURCES];
    bool leased[GS_MAX_RESOURCES], asks[GS_MAX_RESOURCES];
    uint64_t granted_ns[GS_MAX_RESOURCES][MAX_DEPTH]; /* of the units out, oldest first */
    uint64_t begun_ns[GS_MAX_RESOURCES];              /* the oldest runs since */
    uint64_t longest_ns[GS_MAX_RESOURCES];            /* unit so far, from its grant to its end */
    uint64_t had_ns[GS_MAX_RESOURCES];
};

/* What two have had more than each other since both want the resource. */
struct pair {
    bool both;
    int64_t base, least, most;
};

struct world {
    struct gs_policy_state *policy;
    unsigned resources, depth;
    uint64_t now, units_done, pairs_seen;
    struct client c[CLIENTS];
    uint64_t left_ns[USERS]
                    [GS_MAX_RESOURCES]; /* the longest unit of those who have left: who comes again has it still */
    struct pair pair[GS_MAX_RESOURCES][CLIENTS][CLIENTS];
};

static unsigned on_ask(void *ctx, uint32_t client, unsigned resource)
{
    struct client *c = &((struct world *)ctx)->c[client];
    c->asks[resource] = true;
    return c->units[resource];
}

static void on_allow(void *ctx, uint32_t client, unsigned resource)
{
    ((struct world *)ctx)->c[client].asks[resource] = false;
}

static void on_end(void *ctx, uint32_t client, unsigned resource, bool forced)
{
    struct world *w = ctx;
    struct client *c = &w->c[client];
    if (forced && w->now - c->granted_ns[resource][0] > c->longest_ns[resource])
        c->longest_ns[resource] = w->now - c->granted_ns[resource][0];
    c->units[resource] = 0;
    c->leased[resource] = c->asks[resource] = false;
}

static void add_unit(struct world *w, struct client *c, unsigned resource)
{
    assert_true(c->units[resource] < w->depth);
    if (!c->units[resource])
        c->begun_ns[resource] = w->now;
    c->granted_ns[resource][c->units[resource]++] = w->now;
}

static void on_grant(void *ctx, uint32_t client, const struct gs_policy_request *rq, unsigned resource, bool fresh,
                     bool ask)
{
    struct world *w = ctx;
    struct client *c = &w->c[client];
    c->leased[resource] = true;
    c->asks[resource] = ask;
    c->waiting--;
    add_unit(w, c, resource);
}

static void on_yield(void *ctx, uint32_t client, unsigned resource)
{
}

static const struct gs_policy_ops ops = {on_ask, on_allow, on_end, on_grant, on_yield, NULL};

/* ---- the oracle ---- */

static bool wants(const struct world *w, uint32_t client, unsigned resource)
{
    const struct client *c = &w->c[client];
    if (!c->there || c->priority || gs_policy_is_behind(w->policy, client))
        return false;
    return c->units[resource] || (c->waiting && c->resource == resource);
}

/* The longest unit so far, one that is still out too. */
static uint64_t longest_of(const struct world *w, uint32_t client, unsigned r)
{
    const struct client *c = &w->c[client];
    const uint64_t out = c->units[r] ? w->now - c->granted_ns[r][0] : 0, left = w->left_ns[c->user][r];
    const uint64_t most = out > c->longest_ns[r] ? out : c->longest_ns[r];
    return most > left ? most : left;
}

static void compare(struct world *w, unsigned r, uint32_t a, uint32_t b)
{
    struct pair *p = &w->pair[r][a][b];
    const int64_t more = (int64_t)(w->c[a].had_ns[r] - w->c[b].had_ns[r]);
    if (p->both) {
        p->least = more - p->base < p->least ? more - p->base : p->least;
        p->most = more - p->base > p->most ? more - p->base : p->most;
        const uint64_t unit[2] = {longest_of(w, a, r), longest_of(w, b, r)};
        if ((uint64_t)(p->most - p->least) > unit[0] + unit[1])
            fail_msg("at %" PRIu64 " clients %u and %u differ by %" PRId64 " on %u, with units of %" PRIu64
                     " and %" PRIu64,
                     w->now, a, b, p->most - p->least, r, unit[0], unit[1]);
    }
    const bool both = wants(w, a, r) && wants(w, b, r);
    if (!both || !p->both)
        *p = (struct pair){.both = both, .base = more};
    w->pairs_seen += both;
}

static void look_at_pairs(struct world *w)
{
    for (unsigned r = 0; r < w->resources; r++)
        for (uint32_t a = 0; a < CLIENTS; a++)
            for (uint32_t b = 0; b < a; b++)
                compare(w, r, a, b);
}

/* ---- what clients do ---- */

static void ask_for(struct world *w, uint32_t client)
{
    struct client *c = &w->c[client];
    struct gs_policy_request rq = {.slot = c->slot++ % GS_MAX_SLOTS, .resource = c->resource, .cost_ns = c->claim};
    c->waiting++;
    assert_int_equal(gs_policy_request(w->policy, client, &rq, w->now), 0);
}

static unsigned units_of(const struct client *c)
{
    unsigned n = 0;
    for (unsigned r = 0; r < GS_MAX_RESOURCES; r++)
        n += c->units[r];
    return n;
}

static void act(struct world *w, uint32_t client)
{
    struct client *c = &w->c[client];
    if (!c->there || c->stopped || w->now < c->next_ns)
        return;
    const unsigned r = c->resource;
    if (c->leased[r] && !c->asks[r] && c->units[r] < w->depth && (c->habit == ALWAYS || !units_of(c))) {
        add_unit(w, c, r); /* without asking */
        return;
    }
    if (c->waiting < (c->habit == ALWAYS ? 2 : !units_of(c)))
        ask_for(w, client);
}

/* The oldest unit ends, if its time has come. */
static void end_unit(struct world *w, uint32_t client, unsigned r)
{
    struct client *c = &w->c[client];
    if (!c->units[r] || c->stopped || w->now < c->begun_ns[r] + c->chunk)
        return;
    const uint64_t took = w->now - c->granted_ns[r][0];
    c->longest_ns[r] = took > c->longest_ns[r] ? took : c->longest_ns[r];
    memmove(&c->granted_ns[r][0], &c->granted_ns[r][1], sizeof c->granted_ns[r] - sizeof c->granted_ns[r][0]);
    c->units[r]--;
    c->begun_ns[r] = w->now;
    w->units_done++;
    if (c->habit == ALWAYS && c->waiting < 2)
        act(w, client);
    if (c->habit == RARELY)
        c->next_ns = w->now + rnd(3000);
    if (c->asks[r])
        gs_policy_look(w->policy, client, r, c->units[r], w->now);
    look_at_pairs(w); /* it may want nothing for a moment */
}

static void come(struct world *w, uint32_t client)
{
    struct client *c = &w->c[client];
    *c = (struct client){.there = true, .habit = (enum habit)rnd(HABITS), .chunk = 10 + rnd(400)};
    c->priority = rnd(4) == 0 ? 1 + (int)rnd(3) : 0;
    if (c->priority && rnd(4))
        c->habit = RARELY;
    c->resource = rnd(w->resources);
    c->claim = rnd(3) ? c->chunk : rnd(2) ? 0 : rnd(5000); /* some lie, or don't know */
    c->user = rnd(USERS);
    assert_int_equal(gs_policy_join(w->policy, client, c->user, c->priority, w->now), 0);
}

static void go(struct world *w, uint32_t client)
{
    struct client *c = &w->c[client];
    for (unsigned r = 0; r < w->resources; r++)
        w->left_ns[c->user][r] = longest_of(w, client, r);
    c->there = false;
    memset(c->units, 0, sizeof c->units);
    gs_policy_leave(w->policy, client, w->now);
    look_at_pairs(w);
}

static void change_something(struct world *w)
{
    const uint32_t client = rnd(CLIENTS);
    struct client *c = &w->c[client];
    if (!c->there)
        come(w, client);
    else if (c->stopped)
        c->stopped = rnd(4) != 0;
    else if (rnd(8) == 0)
        go(w, client);
    else if (rnd(8) == 0)
        c->stopped = true;
    else if (rnd(8) == 0)
        gs_policy_set_priority(w->policy, client, c->priority = (int)rnd(2), w->now);
}

static void step(struct world *w)
{
    const uint64_t passed = 1 + rnd(20);
    for (uint32_t i = 0; i < CLIENTS; i++)
        for (unsigned r = 0; r < w->resources; r++)
            w->c[i].had_ns[r] += w->c[i].units[r] ? passed : 0;
    w->now += passed;
    for (uint32_t i = 0; i < CLIENTS; i++)
        for (unsigned r = 0; r < w->resources; r++)
            end_unit(w, i, r);
    gs_policy_expire(w->policy, w->now, WATCHDOG);
    if (rnd(100) == 0)
        change_something(w);
    look_at_pairs(w);
    for (uint32_t i = 0, from = rnd(CLIENTS); i < CLIENTS; i++) {
        act(w, (from + i) % CLIENTS);
        look_at_pairs(w);
    }
}

static void test_two_units(void **state)
{
    const uint64_t seed = seed_run(0, NULL, 2026);
    uint64_t done = 0, pairs = 0;
    for (unsigned run = 0; run < 30; run++) {
        random_state = seed + run;
        struct world *w = calloc(1, sizeof *w);
        w->resources = 2 + rnd(3);
        w->depth = 1 + rnd(MAX_DEPTH);
        w->policy = gs_policy_new(w->resources, w->depth, CLIENTS, &ops, w);
        assert_non_null(w->policy);
        for (unsigned i = 0; i < 5000; i++)
            step(w);
        done += w->units_done;
        pairs += w->pairs_seen;
        gs_policy_free(w->policy);
        free(w);
    }
    assert_true(done > 15000 && pairs > 1000000); /* the cases say something */
}

/* ---- cases that have been seen ---- */

static struct world *new_world(unsigned depth)
{
    struct world *w = calloc(1, sizeof *w);
    w->resources = 2;
    w->depth = depth;
    w->policy = gs_policy_new(2, depth, CLIENTS, &ops, w);
    return w;
}

static void enter(struct world *w, uint32_t client, int priority, enum habit habit, uint64_t chunk)
{
    w->c[client] = (struct client){.there = true, .priority = priority, .habit = habit, .chunk = chunk, .resource = 1};
    w->c[client].user = client ? 1 : 0;
    assert_int_equal(gs_policy_join(w->policy, client, w->c[client].user, priority, w->now), 0);
}

static void run_until(struct world *w, uint64_t end)
{
    while (w->now < end) {
        for (uint32_t i = 0; i < CLIENTS; i++)
            w->c[i].had_ns[1] += w->c[i].units[1] ? 10 : 0;
        w->now += 10;
        for (uint32_t i = 0; i < CLIENTS; i++)
            end_unit(w, i, 1);
        for (uint32_t i = 0; i < CLIENTS; i++)
            act(w, i);
    }
}

static void free_world(struct world *w)
{
    gs_policy_free(w->policy);
    free(w);
}

/* One that is a task for a while, and then none, owes nothing for that time. */
static void test_after_being_a_task(void **state)
{
    struct world *w = new_world(1);
    enter(w, 0, 1, ALWAYS, 100);
    enter(w, 1, 0, ALWAYS, 100);
    run_until(w, 20000);
    gs_policy_set_priority(w->policy, 0, 0, w->now);
    const uint64_t before = w->c[0].had_ns[1];
    run_until(w, 22000);
    assert_in_range(w->c[0].had_ns[1] - before, 800, 1200);
    free_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_units),
        cmocka_unit_test(test_after_being_a_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
