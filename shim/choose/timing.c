/* SPDX-License-Identifier: MIT */
/* Answers a launch from the book: its entry, whether to split, and where (shim/choose/timing.h). */
#include "shim/choose/timing.h"

#include <inttypes.h>
#include <math.h>

#include "common/log.h"
#include "shim/choose/timing_book.h"
#include "shim/transfer/transfer.h"

void gs_timing_log(const struct gs_timing *t)
{
    gs_debug("%s, launch %" PRIu64 ": %s; expected on one device %.0f us, split %.0f us", t->at->name, t->h.launches,
             t->h.last_split ? "split" : t->h.reason, t->h.single_ns / 1e3, t->h.split_ns / 1e3);
}

static void say_outlook(const struct gs_timing *t, const struct gs_trial *trial, uint64_t now_ns)
{
    const struct gs_forecast *o = &trial->forecast;
    gs_timing_log(t);
    gs_debug("%s: bytes to bring home %" PRIu64 ", to the parts %" PRIu64 ", left there %" PRIu64
             " (come home: %.2f; for other kernels: %.2f), by %s; to be read %.0f; at risk %.0f us, earned %.0f us%s",
             t->at->name, o->gather.bytes, o->scatter.bytes, o->leave.bytes, t->h.return_rate, o->shared,
             o->link == GS_LINK_PEER ? "windows" : "the host", t->h.read_bytes, trial->risk_ns / 1e3,
             gs_budget_left(&gs_book.budget, now_ns) / 1e3, o->ample ? "" : "; the parts may not fill their devices");
}

/* Derives an unknown size from the nearest known one of kernel and local size, among the newest sizes. */
static void look_near(struct gs_timing *t)
{
    enum { MOST_SIZES = 64 };
    const struct gs_history *nearest = NULL;
    const struct gs_size *s = gs_sizes(), *at = t->at;
    double best = 0;
    for (unsigned n = 0; s && n < MOST_SIZES; s = s->older, n++) {
        double ratio = 1;
        if (!s->choice || s->kernel != at->kernel || memcmp(s->size + 3, at->size + 3, 3 * sizeof *s->size) != 0 ||
            !gs_choice_known(&s->choice->h, &gs_book.machine, s->n))
            continue;
        for (int d = 0; d < 3; d++)
            ratio *= (double)at->size[d] / (double)s->size[d];
        if (!nearest || fabs(log(ratio)) < fabs(log(best))) {
            nearest = &s->choice->h;
            best = ratio;
        }
    }
    if (nearest)
        gs_choice_learn_size(&t->h, nearest, best);
}

struct gs_timing *gs_timing_of(struct gs_kernel *k, struct gs_size *size)
{
    if (!size || !gs_book_is_kept(k->o.ctx) || (!atomic_load(&k->program->preparing) && k->program->refusal))
        return NULL;
    const bool risen = atomic_exchange(&k->risen, false);
    gs_book_open(k->o.ctx);
    GS_LOCKED(&gs_book.lock);
    struct gs_timing *t = gs_book_of(size);
    for (struct gs_timing *o = NULL; t && risen && (o = gs_book_next(o, t->at->program, t->at->name, t->at->n));)
        if (gs_choice_is_short(&o->h, &gs_book.machine, o->at->n)) { /* it may be long now */
            o->h.single.n = o->h.asked = 0;
            o->h.bound_ns = 0;
            gs_size_pass(o->at, 0);
        }
    if (t && t->at->program && !t->h.guessed && !gs_choice_known(&t->h, &gs_book.machine, t->at->n))
        look_near(t);
    if (t) {
        t->used = true;
        t->prepare_ns = gs_prepare_ns(t, k->program);
        t->compile_ns = gs_compile_ns(k->program);
    }
    gs_measured_look();
    return t;
}

bool gs_timing_may_plan(struct gs_timing *t, bool prepared, const char **reason)
{
    GS_LOCKED(&gs_book.lock);
    *reason = NULL;
    if (gs_choice_may_plan(&t->h, &gs_book.machine, t->at->n, prepared ? 0 : gs_prepare_cost_ns(t)))
        return true;
    *reason = t->h.reason;
    gs_timing_log(t);
    if (!t->h.guessed && gs_choice_is_short(&t->h, &gs_book.machine, t->at->n))
        gs_size_pass(t->at, GS_PASSING);
    return false;
}

void gs_timing_refused(struct gs_timing *t)
{
    GS_LOCKED(&gs_book.lock);
    t->h.launches++;
    t->h.last_split = false;
    t->refused = true;
}

bool gs_timing_cut(struct gs_timing *t, unsigned n, unsigned *dim, double cut[GS_MAX_DEVICES])
{
    GS_LOCKED(&gs_book.lock);
    const bool known = t->h.balance.n == n;
    *dim = gs_book.machine.unlike ? GS_CUT_ANY : t->h.balance.dim;
    if (known)
        memcpy(cut, t->h.balance.cut, sizeof t->h.balance.cut);
    else if (gs_book.machine.unlike)
        gs_choice_first_cut(n, (double)gs_measured_best(&t->h.single), cut);
    return known || gs_book.machine.unlike;
}

const char *gs_timing_choose(struct gs_timing *t, struct gs_context *ctx, const struct gs_plan *plan,
                             struct gs_trial *trial)
{
    if (gs_forecast(trial, t, plan) < 0)
        return GS_R_NO_MEMORY;
    trial->forecast.link = gs_peer_open(ctx) ? GS_LINK_PEER : GS_LINK_HOST;
    trial->forecast.peer_possible = gs_peer_usable(ctx);
    trial->forecast.plan_ns = (double)(gs_thread_ns() - trial->begun_ns);
    pthread_mutex_lock(&gs_book.lock);
    t->refused = false;
    if (trial->return_rate >= 0)
        t->h.return_rate = trial->return_rate;
    const struct gs_history *h = &t->h;
    const uint64_t now_ns = gs_now_ns();
    const bool was_split = h->last_split;
    const bool split = gs_choose(&t->h, &gs_book.machine, &trial->forecast, &gs_book.budget, now_ns, &trial->risk_ns);
    const bool wants_peer = h->wants_peer;
    const char *reason = h->reason;
    if (split)
        gs_book.any_split = true;
    say_outlook(t, trial, now_ns);
    trial->turns_back = was_split && !split;
    trial->guessed = h->guessed || gs_choice_not_measured(h);
    trial->moves = h->balance.moves;
    trial->measured = split && gs_measured_has_room() && gs_choice_wants_split(h);
    pthread_mutex_unlock(&gs_book.lock);
    if (wants_peer)
        gs_peer_ready(ctx);
    return reason;
}

void gs_timing_split(struct gs_timing *t, const struct gs_plan *plan, struct gs_trial *trial)
{
    pthread_mutex_lock(&gs_book.lock);
    t->h.launches++;
    gs_book.any_split = true;
    trial->moves = t->h.balance.moves;
    const bool wanted = gs_measured_has_room() && gs_choice_wants_split(&t->h);
    pthread_mutex_unlock(&gs_book.lock);
    trial->forced = trial->measured = wanted && gs_forecast(trial, t, plan) == 0;
}
