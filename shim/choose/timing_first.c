/* SPDX-License-Identifier: MIT */
/* What is known of a kernel before a launch of it has been measured: where the application goes on enqueueing, the
 * first measurement as soon as it is there (of shim/choose/timing.h). */
#include "shim/choose/timing_book.h"

#include <time.h>

#include "common/log.h"
#include "shim/order/completion.h"
#include "common/clock.h"

enum {
    LITTLE_NS = 50 * 1000 * 1000, /* that may be waited for a first measurement, whatever it is */
    AWAITED_SHARE = 8,            /* of the time elapsed, one part for all of them */
    COMPILING_NS = 1000 * 1000 * 1000,
    TIMES = 2 * GS_CHOICE_TRIES, /* as long as one device takes may be waited for the times of splits, in all */
};
static const double in_multi_ns = 2e9; /* and there, so long */

/* Nothing is known of how long it takes, and a measurement may say. */
static bool is_new(const struct gs_timing *t)
{
    return gs_settings()->mode == GS_MODE_AUTO && gs_choice_not_measured(&t->h) && !t->h.failures &&
           !gs_choice_is_short(&t->h, &gs_book.machine, t->at->n);
}

/* Splits of it have been enqueued whose times aren't known yet, and more of them may be more of a loss: its first ones;
 * or, where the devices differ, one that is to tell whether the cut is right. A time may say nothing, as where windows
 * were being opened: then nobody waits. */
static bool splits_unheard(const struct gs_timing *t)
{
    const struct gs_balance *b = &t->h.balance;
    const bool cut = gs_book.machine.unlike && (!b->n || (b->before_ns && !b->measured));
    const bool tries = t->h.last_split && t->h.tried >= GS_CHOICE_TRIES && !gs_choice_split_known(&t->h);
    return (cut || tries) && gs_measured_splits(t);
}

/* The longest that the application waits for t's first measurement. Until that launch begins the driver may be
 * compiling its kernel: all such waits together take a second at most. Once it has begun, a little, and as long as the
 * device is busy with the launches since, by their expected time. */
static uint64_t most_for_first_ns(const struct gs_timing *t)
{
    const uint64_t left = (gs_now_ns() - gs_book.budget.begin_ns) / AWAITED_SHARE,
                   share = left > gs_book.awaited_ns ? left - gs_book.awaited_ns : 0;
    const uint64_t little = share < LITTLE_NS ? share : LITTLE_NS;
    if (!t->begun && gs_book.machine.compiles && gs_book.compiled_ns < COMPILING_NS)
        return little + COMPILING_NS - gs_book.compiled_ns;
    return little + (uint64_t)((double)t->h.launches * t->h.running_ns);
}

/* Should the application wait for what is being measured? It has waited more_ns since this was last asked. */
static bool awaits(struct gs_timing *t, uint64_t more_ns)
{
    GS_LOCKED(&gs_book.lock);
    bool first = is_new(t), splits = splits_unheard(t);
    if (first || splits) {
        const bool had_begun = t->begun;
        if (first && !t->begun && gs_book.machine.compiles)
            gs_book.compiled_ns += more_ns;
        else if (first)
            gs_book.awaited_ns += more_ns;
        else
            t->tries_ns += more_ns;
        t->awaited_ns += first ? more_ns : 0;
        gs_measured_look();
        if (t->begun && !had_begun)
            t->awaited_ns = 0;
        const bool measuring = t->h.tried ? t->h.tried >= GS_CHOICE_TRIES : t->h.asked;
        /* Before any try, a long-running launch may say enough. */
        const bool enough = !t->h.tried && t->h.running_ns > 0 &&
                            gs_choice_may_gain(&t->h, &gs_book.machine, t->at->n, gs_prepare_cost_ns(t));
        first = is_new(t) && measuring && !enough && t->awaited_ns < most_for_first_ns(t);
        /* In multi mode nobody knows what one device takes. */
        const double most_ns =
            gs_settings()->mode == GS_MODE_AUTO ? (double)TIMES * t->h.single_ns + (double)LITTLE_NS : in_multi_ns;
        splits = !is_new(t) && splits_unheard(t) && (double)t->tries_ns < most_ns;
    }
    return first || splits;
}

void gs_timing_flush(const struct gs_command *cmd)
{
    GS_LOCKED(&cmd->ctx->lock);
    gs_command_flush(cmd->q);
}

void gs_timing_await(struct gs_timing *t, const struct gs_command *cmd)
{
    enum { SHORTEST_NS = 20000, LONGEST_NS = 5000000, SHARE = 8 }; /* each look asks the driver */
    const uint64_t begin_ns = gs_now_ns();
    uint64_t waited_ns = 0, before_ns = 0;
    if (atomic_load(&cmd->ctx->user_events) || gs_in_callback())
        return;
    while (awaits(t, waited_ns - before_ns)) {
        const uint64_t share_ns = waited_ns / SHARE, most_ns = share_ns < LONGEST_NS ? share_ns : LONGEST_NS;
        if (!waited_ns)
            gs_timing_flush(cmd);
        nanosleep(&(struct timespec){0, (long)(most_ns > SHORTEST_NS ? most_ns : SHORTEST_NS)}, NULL);
        before_ns = waited_ns;
        waited_ns = gs_now_ns() - begin_ns;
    }
    if (waited_ns)
        gs_debug("%s: waited %.1f ms for what its launches take", t->at->name, (double)waited_ns / 1e6);
}
