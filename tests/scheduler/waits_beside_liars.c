/* SPDX-License-Identifier: MIT */
/* What liars cost all waits of a task together, on a link and two GPUs: at most a patience for each of their users, and
 * a hundredth of the time, in any ten minutes, and a millisecond for each wait (docs/analysis.md, Theorem 10). Clients
 * do what they like, at random or just before their units would be taken back, for hours by a clock given by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "common/config.h"
#include "scheduler/policy.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
enum { TASK, FIRST, OF_A_USER = 3, MAX_USERS = 3, CLIENTS = FIRST + OF_A_USER * MAX_USERS };
enum { DEPTH = 2, RESOURCES = 3, MAX_WAITS = 100000 };
static const uint64_t WATCHDOG = 1000 * MS, HOURS = 16 * 3600 * S;

struct client {
    bool asks[RESOURCES], leased[RESOURCES];
    unsigned units[RESOURCES], waiting;
    uint32_t slot;
    uint64_t wake_ns, asked_ns;
};

struct wait {
    uint64_t end_ns, excess_ns;
};

struct world {
    struct gs_policy_state *policy;
    uint64_t random, now, chunk_ns[RESOURCES];
    unsigned users;
    bool lies[MAX_USERS], careful[MAX_USERS]; /* is it one that keeps units, and gives back in time? */
    uint64_t turns_ns[MAX_USERS];             /* when each of them begins to lie, or ends */
    struct client c[CLIENTS];
    struct wait *waits; /* those that were too long */
    size_t n;
    unsigned offences;
};

static uint64_t rnd(struct world *w, uint64_t n)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (w->random >> 16) % n;
}

static unsigned on_ask(void *ctx, uint32_t client, unsigned resource)
{
    struct world *w = ctx;
    struct client *c = &w->c[client];
    c->asks[resource] = true;
    if (client != TASK && w->lies[(client - FIRST) / OF_A_USER] && rnd(w, 2))
        c->units[resource] = DEPTH;
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
    c->units[resource] = 0;
    c->leased[resource] = c->asks[resource] = false;
    w->offences += forced;
    if (forced && client >= FIRST && rnd(w, 4)) /* mostly it learns from that, for a while */
        w->turns_ns[(client - FIRST) / OF_A_USER] = w->now;
}

static void on_grant(void *ctx, uint32_t client, const struct gs_policy_request *rq, unsigned resource, bool fresh,
                     bool ask)
{
    struct world *w = ctx;
    struct client *c = &w->c[client];
    c->leased[resource] = true;
    c->asks[resource] = ask;
    c->waiting--;
    c->units[resource]++;
    if (client != TASK)
        return;
    const uint64_t waited = w->now - c->asked_ns, most = DEPTH * w->chunk_ns[resource] + GS_CONFIG_LATE_NS;
    c->wake_ns = w->now + rnd(w, 3 * MS);
    if (waited > most && w->n < MAX_WAITS)
        w->waits[w->n++] = (struct wait){w->now, waited - most};
}

static void on_yield(void *ctx, uint32_t client, unsigned resource)
{
}

static const struct gs_policy_ops ops = {on_ask, on_allow, on_end, on_grant, on_yield, NULL};

static void enter(struct world *w, uint32_t client)
{
    const uint32_t user = client == TASK ? 0 : 1001 + (client - FIRST) / OF_A_USER;
    assert_int_equal(gs_policy_join(w->policy, client, user, client == TASK, w->now), 0);
    gs_policy_set_chunks(w->policy, client, w->chunk_ns[0], w->chunk_ns[1]);
}

static void ask_for(struct world *w, uint32_t client)
{
    struct client *c = &w->c[client];
    const bool one = client != TASK && w->careful[(client - FIRST) / OF_A_USER]; /* don't stand in each other's way */
    const struct gs_policy_request rq = {.slot = c->slot++ % GS_MAX_SLOTS,
                                         .resource = one ? (client - FIRST) % OF_A_USER : (unsigned)rnd(w, RESOURCES),
                                         .cost_ns = MS};
    c->asked_ns = w->now;
    c->waiting++;
    c->wake_ns = UINT64_MAX;
    assert_int_equal(gs_policy_request(w->policy, client, &rq, w->now), 0);
}

static void give_back(struct world *w, uint32_t client, unsigned resource)
{
    struct client *c = &w->c[client];
    c->units[resource]--;
    if (c->asks[resource])
        gs_policy_look(w->policy, client, resource, c->units[resource], w->now);
}

/* It has one unit after the other, of any resource, while somebody lies, and rests now and then. */
static void work(struct world *w)
{
    struct client *t = &w->c[TASK];
    bool had = false;
    for (unsigned r = 0; r < RESOURCES; r++)
        for (; t->units[r]; had = true)
            give_back(w, TASK, r);
    uint64_t rest = UINT64_MAX;
    for (unsigned u = 0; u < w->users; u++)
        rest = w->lies[u] ? rnd(w, 10 * MS) : w->turns_ns[u] - w->now < rest ? w->turns_ns[u] - w->now : rest;
    if (had || (rest > 10 * MS && rnd(w, 4)))
        t->wake_ns = w->now + rest;
    else
        ask_for(w, TASK);
}

/* When a liar does something next: soon, after some time, or just before somebody's unit is taken back. */
static uint64_t next_of(struct world *w, bool lies)
{
    const uint64_t expiry = gs_policy_next_expiry(w->policy, WATCHDOG);
    switch (rnd(w, 5)) {
    case 0:
    case 1:
        return lies && expiry != UINT64_MAX && expiry > w->now + 1 ? expiry - 1 : w->now + rnd(w, MS) + 1;
    case 2:
        return w->now + rnd(w, lies ? 70 * MS : MS) + 1;
    default:
        return w->now + rnd(w, MS) + 1;
    }
}

static void do_anything(struct world *w, uint32_t client)
{
    struct client *c = &w->c[client];
    const unsigned user = (client - FIRST) / OF_A_USER;
    const bool lies = w->lies[user], late = gs_policy_next_expiry(w->policy, WATCHDOG) < w->now + MS;
    if (lies && rnd(w, 50) == 0) {
        gs_policy_leave(w->policy, client, w->now);
        *c = (struct client){.slot = c->slot};
        enter(w, client);
    }
    for (unsigned r = 0; r < RESOURCES; r++) {
        while (c->units[r] && (lies && w->careful[user] ? late : !lies || rnd(w, 2)))
            give_back(w, client, r);
        if (lies && c->leased[r] && !c->asks[r] && c->units[r] < DEPTH)
            c->units[r]++; /* without asking */
    }
    if (lies && c->waiting < 3)
        ask_for(w, client);
    c->wake_ns = lies || c->waiting ? next_of(w, lies && !w->careful[user]) : w->turns_ns[user];
}

/* A user lies for some seconds, and then it doesn't, for some seconds or minutes: less than it is remembered for, or
 * more. */
static void turn(struct world *w, unsigned user)
{
    w->lies[user] = !w->lies[user];
    w->careful[user] = rnd(w, 2);
    const uint64_t later = rnd(w, 2) ? w->now + rnd(w, 5 * S) : (w->now / (200 * S) + 1 + rnd(w, 6)) * 200 * S;
    w->turns_ns[user] = w->lies[user] ? w->now + rnd(w, 3 * S) + MS : later;
    for (unsigned k = 0; k < OF_A_USER; k++)
        w->c[FIRST + user * OF_A_USER + k].wake_ns = w->now;
}

static void run(struct world *w)
{
    while (w->now < HOURS) {
        uint64_t next = gs_policy_next_expiry(w->policy, WATCHDOG);
        for (uint32_t c = 0; c < FIRST + OF_A_USER * w->users; c++)
            next = w->c[c].wake_ns < next ? w->c[c].wake_ns : next;
        for (unsigned u = 0; u < w->users; u++)
            next = w->turns_ns[u] < next ? w->turns_ns[u] : next;
        w->now = next > w->now ? next : w->now;
        if (gs_policy_next_expiry(w->policy, WATCHDOG) <= w->now)
            gs_policy_expire(w->policy, w->now, WATCHDOG);
        for (unsigned u = 0; u < w->users; u++)
            if (w->turns_ns[u] <= w->now)
                turn(w, u);
        if (w->c[TASK].wake_ns <= w->now)
            work(w);
        for (uint32_t c = FIRST; c < FIRST + OF_A_USER * w->users; c++)
            if (w->c[c].wake_ns <= w->now)
                do_anything(w, c);
    }
}

/* The most by which waits within ten minutes were too long together, in per cent of what the users may. */
static uint64_t check(const struct world *w, uint64_t patience_ns)
{
    uint64_t most = 0;
    for (size_t i = 0; i < w->n; i++) {
        uint64_t sum = 0;
        for (size_t j = i; j < w->n && w->waits[j].end_ns - w->waits[i].end_ns < GS_CONFIG_FORGET_NS; j++) {
            const uint64_t back = (w->waits[j].end_ns - w->waits[i].end_ns) / GS_CONFIG_COMES_BACK;
            sum += w->waits[j].excess_ns;
            const uint64_t may = w->users * (patience_ns + back);
            assert_true(sum <= may);
            most = sum * 100 / may > most ? sum * 100 / may : most;
        }
    }
    return most;
}

static void test_all_waits_together(void **state)
{
    static const uint64_t gpu_chunk_ns[] = {MS / 10, 5 * MS, 40 * MS};
    for (unsigned users = 1; users <= MAX_USERS; users++)
        for (size_t k = 0; k < sizeof gpu_chunk_ns / sizeof *gpu_chunk_ns; k++) {
            struct world *w = calloc(1, sizeof *w);
            *w = (struct world){.random = users * 10 + k,
                                .now = S,
                                .chunk_ns = {MS, gpu_chunk_ns[k], gpu_chunk_ns[k]},
                                .users = users,
                                .waits = calloc(MAX_WAITS, sizeof *w->waits)};
            w->policy = gs_policy_new(RESOURCES, DEPTH, CLIENTS, &ops, w);
            for (uint32_t c = 0; c < FIRST + OF_A_USER * users; c++)
                enter(w, c);
            run(w);
            assert_in_range(w->n, 10, MAX_WAITS - 1);
            const uint64_t most = check(w, DEPTH * gpu_chunk_ns[k] > 50 * MS ? DEPTH * gpu_chunk_ns[k] : 50 * MS);
            printf("%u users, chunks of %llu us: %zu waits too long, %u units taken back, %llu %%\n", users,
                   (unsigned long long)gpu_chunk_ns[k] / 1000, w->n, w->offences, (unsigned long long)most);
            assert_true(most > (users == 1 ? 90 : 25)); /* it comes near */
            gs_policy_free(w->policy);
            free(w->waits);
            free(w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_waits_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
