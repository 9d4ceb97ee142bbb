/* SPDX-License-Identifier: MIT */
/* By no way does a process without a task get past its user's patience while a task waits for its unit: not by holding
 * a resource alone, by becoming a task, nor when who waits gives up and asks again. One user has 50 ms in all, and each
 * wait of the task 1 ms and two chunks of 1 ms besides (docs/daemon.md, "The bound"). */
#include <string.h>

#include "tests/suite.h"
#include "scheduler/policy.h"

#define MS UINT64_C(1000000)
enum { TASK, LIAR, OTHER, CLIENTS = 8, RESOURCES = 3, DEPTH = 2 };
static const uint64_t CHUNK = MS, WATCHDOG = 1000 * MS, EACH = 3 * MS, PATIENCE = 50 * MS, COMES_BACK = 100;

struct world {
    struct gs_policy_state *policy;
    uint64_t now, granted_ns; /* granted: the task, last */
    unsigned units[CLIENTS][RESOURCES];
    uint32_t slot;
};

static unsigned on_ask(void *ctx, uint32_t client, unsigned resource)
{
    return ((struct world *)ctx)->units[client][resource];
}

static void on_allow(void *ctx, uint32_t client, unsigned resource)
{
}

static void on_end(void *ctx, uint32_t client, unsigned resource, bool forced)
{
    ((struct world *)ctx)->units[client][resource] = 0;
}

static void on_grant(void *ctx, uint32_t client, const struct gs_policy_request *rq, unsigned resource, bool fresh,
                     bool ask)
{
    struct world *w = ctx;
    w->units[client][resource]++;
    if (client == TASK)
        w->granted_ns = w->now;
}

static const struct gs_policy_ops ops = {on_ask, on_allow, on_end, on_grant, on_allow, NULL};

static void begin(struct world *w)
{
    *w = (struct world){.now = WATCHDOG, .policy = gs_policy_new(RESOURCES, DEPTH, CLIENTS, &ops, w)};
    assert_non_null(w->policy);
}

static void join(struct world *w, uint32_t client, uint32_t user, int priority)
{
    assert_int_equal(gs_policy_join(w->policy, client, user, priority, w->now), 0);
    gs_policy_set_chunks(w->policy, client, CHUNK, CHUNK);
}

static uint32_t ask_for(struct world *w, uint32_t client, unsigned resource, bool alone)
{
    const struct gs_policy_request rq = {.slot = w->slot++ % GS_MAX_SLOTS, .resource = resource, .alone = alone};
    assert_int_equal(gs_policy_request(w->policy, client, &rq, w->now), 0);
    return rq.slot;
}

static void run(struct world *w, uint64_t ns)
{
    const uint64_t until = w->now + ns;
    for (uint64_t next; (next = gs_policy_next_expiry(w->policy, WATCHDOG)) <= until;) {
        w->now = next > w->now ? next : w->now;
        gs_policy_expire(w->policy, w->now, WATCHDOG);
    }
    w->now = until;
}

static void give_back(struct world *w, uint32_t client, unsigned resource)
{
    while (w->units[client][resource])
        gs_policy_look(w->policy, client, resource, --w->units[client][resource], w->now);
}

static void end(struct world *w, uint64_t waited, unsigned waits, uint64_t begun_ns)
{
    const uint64_t most = waits * EACH + PATIENCE + (w->now - begun_ns) / COMES_BACK;
    if (waited > most)
        fail_msg("%u waits of %.3f ms, not %.3f", waits, (double)waited / (double)MS, (double)most / (double)MS);
    gs_policy_free(w->policy);
}

static void test_held_alone(void **state)
{
    struct world w;
    uint64_t waited = 0;
    begin(&w);
    join(&w, LIAR, 1000, 0);
    for (unsigned r = 0; r < RESOURCES; r++)
        ask_for(&w, LIAR, r, true);
    join(&w, OTHER, 1001, 0);
    ask_for(&w, OTHER, 0, false); /* who waits longer than any patience before the task comes */
    run(&w, 900 * MS);
    join(&w, TASK, 0, 5);
    const uint64_t begun = w.now;
    for (unsigned r = 0; r < RESOURCES; r++) {
        const uint64_t asked = w.now;
        ask_for(&w, TASK, r, false);
        run(&w, MS);
        assert_true(r || w.units[LIAR][r]); /* not at once: it may yield */
        run(&w, 200 * MS);
        waited += w.granted_ns > asked ? w.granted_ns - asked : 0;
        give_back(&w, TASK, r);
    }
    end(&w, waited, RESOURCES, begun);
}

static void test_becomes_a_task(void **state)
{
    enum { TIMES = 10 };
    struct world w;
    uint64_t waited = 0;
    begin(&w);
    join(&w, TASK, 0, 5);
    const uint64_t begun = w.now;
    for (int k = 0; k < TIMES; k++) {
        join(&w, LIAR, 1000, 0);
        for (int i = 0; i < DEPTH; i++)
            ask_for(&w, LIAR, 1, false);
        const uint64_t asked = w.now;
        ask_for(&w, TASK, 1, false);
        run(&w, PATIENCE + MS);
        gs_policy_set_priority(w.policy, LIAR, 3, w.now);
        give_back(&w, LIAR, 1);
        waited += w.granted_ns - asked;
        give_back(&w, TASK, 1);
        gs_policy_leave(w.policy, LIAR, w.now);
        w.now += MS;
    }
    end(&w, waited, TIMES, begun);
}

static void test_who_waits_asks_again(void **state)
{
    enum { TIMES = 5 };
    struct world w;
    begin(&w);
    join(&w, LIAR, 1000, 0);
    join(&w, TASK, 0, 5);
    ask_for(&w, LIAR, 1, false);
    const uint64_t begun = w.now;
    uint32_t slot = ask_for(&w, TASK, 1, false);
    for (int k = 1; k < TIMES; k++) {
        run(&w, PATIENCE + MS);
        if (w.granted_ns)
            break;
        assert_true(gs_policy_cancel(w.policy, TASK, slot, 0, w.now));
        slot = ask_for(&w, TASK, 1, false);
    }
    run(&w, WATCHDOG);
    assert_true(w.granted_ns);
    end(&w, w.granted_ns - begun, TIMES, begun);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_alone),
        cmocka_unit_test(test_becomes_a_task),
        cmocka_unit_test(test_who_waits_asks_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
