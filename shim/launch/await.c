/* SPDX-License-Identifier: MIT */
#include "shim/launch/await.h"

#include <time.h>

#include "shim/launch/whole.h"
#include "shim/order/callbacks.h"
#include "shim/plan/prepare.h"
#include "shim/process/clock.h"

static void flush(struct gs_launching *l)
{
    GS_LOCKED(&l->cmd.ctx->lock);
    gs_command_flush(l->cmd.q);
}

void gs_await_cut(struct gs_launching *l)
{
    enum { SHORTEST_NS = 20000, LONGEST_NS = 5000000, SHARE = 8 }; /* it may be a short one, of many */
    const uint64_t begin_ns = gs_now_ns();
    uint64_t waited_ns = 0;
    if (atomic_load(&l->cmd.ctx->user_events) || gs_in_callback())
        return;
    while (gs_timing_awaits_cut(l->cuts, waited_ns)) {
        const uint64_t share_ns = waited_ns / SHARE, most_ns = share_ns < LONGEST_NS ? share_ns : LONGEST_NS;
        if (!waited_ns)
            flush(l);
        nanosleep(&(struct timespec){0, (long)(most_ns > SHORTEST_NS ? most_ns : SHORTEST_NS)}, NULL);
        waited_ns = gs_now_ns() - begin_ns;
    }
}

void gs_await_known(struct gs_launching *l)
{
    enum { SHORTEST_NS = 500000, LONGEST_NS = 5000000 };
    struct timespec pause = {0, SHORTEST_NS}; /* each look asks the driver */
    const uint64_t begin_ns = gs_now_ns();
    uint64_t waited_ns = 0, counted_ns = 0;
    bool is_new;
    if (!gs_timing_may_await(l->timing, &is_new) || atomic_load(&l->cmd.ctx->user_events) || gs_in_callback())
        return;
    while (gs_timing_awaits(l->timing, waited_ns, &counted_ns)) {
        if (!waited_ns)
            flush(l);
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < LONGEST_NS / 2 ? 2 * pause.tv_nsec : LONGEST_NS;
        waited_ns = gs_now_ns() - begin_ns;
        if (is_new && gs_timing_seems_long(l->timing, waited_ns)) {
            gs_translate_beside(l->k->program);
            is_new = false;
        }
    }
}

/* Is a launch before this one still running, or are there others that will be for a while? */
static bool is_busy(const struct gs_launching *l)
{
    enum { LITTLE_NS = 1000000 };
    return !atomic_load(&l->cmd.ctx->user_events) &&
           (gs_timing_runs(l->timing) || gs_timing_busy_ns(l->cmd.q) > LITTLE_NS);
}

void gs_await_prepared(struct gs_launching *l)
{
    enum { MOST_NS = 2000000000 };
    const struct timespec little = {0, 100000};
    struct gs_program *p = l->k->program;
    const uint64_t begin_ns = gs_now_ns();
    if (gs_in_callback() || !atomic_load(&p->preparing) || !is_busy(l))
        return;
    flush(l);
    while (!gs_prepared(p) && is_busy(l) && gs_now_ns() - begin_ns < MOST_NS) {
        if (!atomic_load(&p->preparing)) /* it has only been translated */
            gs_prepare_beside(p, (struct gs_patience){0});
        if (!atomic_load(&p->preparing))
            return;
        nanosleep(&little, NULL);
    }
}
