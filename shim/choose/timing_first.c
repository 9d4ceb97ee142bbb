/* SPDX-License-Identifier: MIT */
/* What is known of a kernel before a launch of it has been measured: where the application goes on enqueueing, the
 * first measurement as soon as it is there (of shim/choose/timing.h). */
#include "shim/choose/timing_book.h"

#include <time.h>

#include "common/log.h"
#include "shim/order/callbacks.h"
#include "common/clock.h"

enum {
    LITTLE_NS = 50 * 1000 * 1000, /* that may be waited for a first measurement, whatever it is */
    AWAITED_SHARE = 8,            /* of the time elapsed, one part for all of them */
    COMPILING_NS = 1000 * 1000 * 1000,
};

static uint64_t elapsed_ns(void)
{
    return gs_now_ns() - gs_book.budget.begin_ns;
}

/* The devices differ, and the kernel's first split, or the first since the cut was moved, is to tell whether the cut is
 * right: else all of a run could go by a bad cut. */
static bool cut_unheard(const struct gs_timing *t)
{
    const struct gs_balance *b = &t->h.balance;
    bool begun;
    return gs_book.machine.unlike && (!b->n || (b->before_ns && !b->measured)) && gs_measured_splits(t, &begun);
}

/* The kernel's first splits have been enqueued, and their times aren't known yet: more splits may be more of a loss. A
 * time may say nothing, as where windows were being opened: then nobody waits. */
static bool tries_unheard(const struct gs_timing *t)
{
    bool begun;
    return cut_unheard(t) || (t->h.last_split && t->h.tried >= GS_CHOICE_TRIES && !gs_choice_split_known(&t->h) &&
                              gs_measured_splits(t, &begun));
}

/* The longest that the application waits for the times of these splits, in all. */
static double most_of_tries_ns(const struct gs_timing *t)
{
    enum { TIMES = 2 * GS_CHOICE_TRIES };
    return (double)TIMES * t->h.single_ns + (double)LITTLE_NS;
}

/* May something be known soon? Where nothing is known of how long it takes, or nothing has been heard of its first
 * splits yet. */
static bool may_learn(struct gs_timing *t)
{
    GS_LOCKED(&gs_book.lock);
    const bool is_new =
        gs_choice_not_measured(&t->h) && !t->h.failures && !gs_choice_is_short(&t->h, &gs_book.machine, t->at->n);
    return is_new || tries_unheard(t);
}

/* The longest that the application waits for t's first measurement. Until that launch begins the driver may be
 * compiling its kernel: all such waits together take a second at most. Once it has begun, a little, and as long as the
 * device is busy with the launches since, by their expected time. */
static uint64_t most_awaited_ns(const struct gs_timing *t)
{
    const uint64_t left = elapsed_ns() / AWAITED_SHARE,
                   share = left > gs_book.awaited_ns ? left - gs_book.awaited_ns : 0;
    const uint64_t little = share < LITTLE_NS ? share : LITTLE_NS;
    if (!t->begun && gs_book.machine.compiles && gs_book.compiled_ns < COMPILING_NS)
        return little + COMPILING_NS - gs_book.compiled_ns;
    return t->begun_ns + little + (uint64_t)((double)t->h.launches * t->h.running_ns);
}

/* Adds to the time waited for splits, for launches that hadn't begun, or for others. */
static void count_awaited(struct gs_timing *t, uint64_t waited_ns)
{
    if (t->h.single.n) {
        t->tries_ns += waited_ns;
        return;
    }
    if (!t->begun && gs_book.machine.compiles)
        gs_book.compiled_ns += waited_ns;
    else
        gs_book.awaited_ns += waited_ns;
    t->awaited_ns += waited_ns;
}

/* The first launch of it, or its first splits, are being measured: should the application wait for that a little
 * longer, as it has for waited_ns, of which counted_ns (0 at first) have been counted? */
static bool awaits(struct gs_timing *t, uint64_t waited_ns, uint64_t *counted_ns)
{
    struct gs_wanted wanted = {0};
    pthread_mutex_lock(&gs_book.lock);
    const bool had_begun = t->begun;
    count_awaited(t, waited_ns - *counted_ns);
    *counted_ns = waited_ns;
    gs_measured_look(&wanted);
    if (t->begun && !had_begun)
        t->begun_ns = t->awaited_ns;
    const bool measuring = t->h.tried ? t->h.tried >= GS_CHOICE_TRIES : t->h.asked;
    /* Before any try, a long-running launch may say enough. */
    const bool enough = !t->h.tried && t->h.running_ns > 0 &&
                        gs_choice_may_gain(&t->h, &gs_book.machine, t->at->n, gs_prepare_cost_ns(t));
    const bool first = gs_choice_not_measured(&t->h) && measuring && !enough;
    const bool unheard = t->h.single.n && tries_unheard(t);
    const bool goes_on =
        (first && t->awaited_ns < most_awaited_ns(t)) || (unheard && (double)t->tries_ns < most_of_tries_ns(t));
    if (waited_ns && !goes_on)
        gs_debug("%s: waited %.1f ms for its first measurement%s", t->at->name, (double)waited_ns / 1e6,
                 first || unheard ? ", in vain" : "");
    pthread_mutex_unlock(&gs_book.lock);
    gs_prepare_do(&wanted);
    return goes_on;
}

static bool awaits_cut(struct gs_timing *t, uint64_t waited_ns)
{
    struct gs_wanted none = {0};
    bool begun = false;
    GS_LOCKED(&gs_book.lock);
    gs_measured_look(&none);
    return cut_unheard(t) && gs_measured_splits(t, &begun) && (begun || waited_ns < COMPILING_NS);
}

static void flush(const struct gs_command *cmd)
{
    GS_LOCKED(&cmd->ctx->lock);
    gs_command_flush(cmd->q);
}

/* In multi mode, where it isn't known yet where to cut between devices that differ, for a split that will show. */
static void await_cut(struct gs_timing *t, const struct gs_command *cmd)
{
    enum { SHORTEST_NS = 20000, LONGEST_NS = 5000000, SHARE = 8 }; /* it may be a short one, of many */
    const uint64_t begin_ns = gs_now_ns();
    uint64_t waited_ns = 0;
    while (awaits_cut(t, waited_ns)) {
        const uint64_t share_ns = waited_ns / SHARE, most_ns = share_ns < LONGEST_NS ? share_ns : LONGEST_NS;
        if (!waited_ns)
            flush(cmd);
        nanosleep(&(struct timespec){0, (long)(most_ns > SHORTEST_NS ? most_ns : SHORTEST_NS)}, NULL);
        waited_ns = gs_now_ns() - begin_ns;
    }
}

static void await_known(struct gs_timing *t, const struct gs_command *cmd)
{
    enum { SHORTEST_NS = 500000, LONGEST_NS = 5000000 };
    struct timespec pause = {0, SHORTEST_NS}; /* each look asks the driver */
    const uint64_t begin_ns = gs_now_ns();
    uint64_t waited_ns = 0, counted_ns = 0;
    if (!may_learn(t))
        return;
    while (awaits(t, waited_ns, &counted_ns)) {
        if (!waited_ns)
            flush(cmd);
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < LONGEST_NS / 2 ? 2 * pause.tv_nsec : LONGEST_NS;
        waited_ns = gs_now_ns() - begin_ns;
    }
}

void gs_timing_await(struct gs_timing *t, const struct gs_command *cmd)
{
    if (atomic_load(&cmd->ctx->user_events) || gs_in_callback())
        return;
    if (gs_settings()->mode == GS_MODE_AUTO)
        await_known(t, cmd);
    else
        await_cut(t, cmd);
}

void gs_timing_end(void)
{
    struct gs_wanted none = {0};
    GS_LOCKED(&gs_book.lock);
    gs_measured_look(&none);
}
