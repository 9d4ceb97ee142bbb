/* SPDX-License-Identifier: MIT */
/* What a launch asks of the book: under what it stands there, and whether and where it is split (of
 * shim/choose/timing.h). */
#include "shim/choose/timing.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "shim/plan/kinds.h"
#include "shim/report/report.h"
#include "shim/choose/timing_book.h"
#include "shim/memory/peer.h"

enum {
    MOST_LOOKED_AT = 64, /* launches of a short kernel, because their numbers may make a difference */
};

void gs_timing_say(const struct gs_timing *t)
{
    gs_debug("%s, launch %" PRIu64 ": %s; expected on one device %.0f us, split %.0f us", t->name, t->h.launches,
             t->h.last_split ? "split" : t->h.reason, t->h.single_ns / 1e3, t->h.split_ns / 1e3);
}

static void say_outlook(const struct gs_timing *t, const struct gs_trial *trial, uint64_t now_ns)
{
    const struct gs_forecast *o = &trial->forecast;
    gs_timing_say(t);
    gs_debug("%s: bytes to bring home %" PRIu64 ", to the parts %" PRIu64 ", left there %" PRIu64
             " (come home: %.2f), by %s; to be read %.0f; at risk %.0f us, earned %.0f us%s",
             t->name, o->gather.bytes, o->scatter.bytes, o->leave.bytes, t->h.return_rate,
             o->link == GS_LINK_PEER ? "windows" : "the host", t->h.read_bytes, trial->risk_ns / 1e3,
             gs_budget_left(&gs_book.budget, now_ns) / 1e3, o->ample ? "" : "; the parts may not fill their devices");
}

static uint64_t mix(uint64_t x, uint64_t more)
{
    x = (x ^ more) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

/* Memory objects are left out: what they hold may make a launch longer, which one it is hardly does. */
static uint64_t hash_numbers(const struct gs_kernel *k)
{
    uint64_t x = k->n_args;
    for (cl_uint i = 0; i < k->n_args; i++) {
        const struct gs_arg *a = &k->args[i];
        if (!a->set || a->is_mem || a->is_svm)
            continue;
        x = mix(x, (uint64_t)i << 32 ^ a->size);
        for (size_t at = 0; a->has_value && at < a->size; at += sizeof x) {
            uint64_t piece = 0;
            memcpy(&piece, (const char *)a->bytes + at, a->size - at < sizeof x ? a->size - at : sizeof x);
            x = mix(x, piece);
        }
    }
    return x ? x : 1;
}

/* What is known of this size, which is at hand from then on; NULL: no memory. With the book's lock held. */
static struct gs_timing *bring_to_hand(struct gs_kernel *k, unsigned place, uint64_t program, const uint64_t size[6])
{
    _Atomic(struct gs_timing *) *at = &k->kind->timing[place];
    for (unsigned i = 0; i < GS_SIZE_PLACES; i++) {
        struct gs_timing *t = atomic_load(&at[i]);
        if (t && gs_book_is_of(t, program, k->name, size, k->o.ctx->n))
            return t;
    }
    struct gs_timing *t = gs_book_find_or_make(program, k->name, size, k->o.ctx->n);
    for (unsigned i = GS_SIZE_PLACES; t && --i;)
        atomic_store(&at[i], atomic_load(&at[i - 1]));
    if (t)
        atomic_store(&at[0], t);
    return t;
}

struct gs_timing *gs_timing_of(struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local,
                               uint64_t *numbers)
{
    uint64_t size[6] = {1, 1, 1, 0, 0, 0};
    struct gs_wanted wanted = {0};
    if (!gs_book_is_kept(k->o.ctx) || (!atomic_load(&k->program->preparing) && k->program->refusal))
        return NULL;
    for (cl_uint d = 0; d < dims; d++) {
        size[d] = global[d];
        size[3 + d] = local ? local[d] : 0;
    }
    const uint64_t program = gs_program_id(k->program);
    const bool risen = atomic_exchange(&k->risen, false);
    *numbers = hash_numbers(k);
    pthread_mutex_lock(&gs_book.lock);
    gs_book_open(k->o.ctx);
    struct gs_timing *t = bring_to_hand(k, gs_size_place(dims, global, local), program, size);
    if (t) {
        atomic_store(&t->at.shape, gs_size_shape(dims, local) | (atomic_load(&t->apart) ? GS_SHAPE_APART : 0));
        t->risen = t->risen || risen;
        if (!t->classes.of) /* what will be known first will be of these */
            atomic_store(&t->numbers, t->classes.of = *numbers);
        t = gs_book_of_numbers(t, *numbers);
    }
    const uint64_t prepare_ns = atomic_load(&k->program->prepare_ns);
    if (t)
        t->used = true;
    if (t && prepare_ns)
        t->prepare_ns = (double)prepare_ns;
    if (t)
        t->compile_ns = gs_ahead_compile_ns(k->program);
    gs_measured_look(&wanted);
    pthread_mutex_unlock(&gs_book.lock);
    gs_ahead_do(&wanted);
    return t;
}

void gs_timing_reads(struct gs_timing *t, uint64_t bytes)
{
    GS_LOCKED(&gs_book.lock);
    t->h.read_bytes = (double)bytes;
    if (bytes && !gs_choice_is_short(&t->h, &gs_book.machine, t->n))
        gs_size_refuse(&t->at);
}

/* Have its numbers made a difference lately, or may they? Such launches would pass with the rest: all are looked at for
 * a while. */
static bool is_wondered_about(struct gs_timing *t)
{
    if ((t->classes.n || (t->risen && gs_measured_affordable())) && t->looked_at++ < MOST_LOOKED_AT)
        return true;
    t->classes.n = t->looked_at = 0;
    t->risen = false;
    return false;
}

bool gs_timing_worth(struct gs_timing *t, bool prepared, const char **reason)
{
    GS_LOCKED(&gs_book.lock);
    const bool worth = gs_choice_worth_planning(&t->h, &gs_book.machine, t->n, prepared ? 0 : gs_ahead_cost_ns(t));
    *reason = worth ? NULL : t->h.reason;
    if (!worth)
        gs_timing_say(t);
    if (!worth && !is_wondered_about(t) && gs_choice_is_short(&t->h, &gs_book.machine, t->n))
        gs_size_pass(&t->at, GS_AGAIN);
    return worth;
}

/* NULL: nothing is known of these. Without the lock. */
static struct gs_timing *of_numbers(struct gs_timing *first, uint64_t numbers)
{
    struct gs_timing *t = gs_book_of_numbers(first, numbers);
    return atomic_load(&t->numbers) == numbers ? t : NULL;
}

/* NULL: it is none of the last ones. */
static struct gs_timing *at_hand(const struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local)
{
    if (!global || dims - 1 > 2)
        return NULL;
    const unsigned place = gs_size_place(dims, global, local), wanted = gs_size_shape(dims, local);
    for (unsigned i = place; i < place + GS_SIZE_PLACES; i++) {
        struct gs_timing *t = atomic_load(&k->kind->timing[i]);
        const unsigned shape = t ? atomic_load(&t->at.shape) & ~(unsigned)GS_SHAPE_APART : 0;
        if (shape == wanted && gs_size_is(&t->at, dims, global, local))
            return t;
    }
    return NULL;
}

struct gs_short *gs_size_of(struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local)
{
    struct gs_timing *t = at_hand(k, dims, global, local);
    if (!t || atomic_load(&t->apart))
        return NULL;
    atomic_store_explicit(&k->last, t, memory_order_release);
    return &t->at;
}

bool gs_timing_passes(const struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local)
{
    if (atomic_load_explicit(&k->risen, memory_order_relaxed))
        return false;
    struct gs_timing *t = at_hand(k, dims, global, local);
    if (t && atomic_load(&t->apart))
        t = of_numbers(t, hash_numbers(k));
    return t && (gs_size_passes(&t->at) || gs_size_passes_again(&t->at));
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
    memcpy(cut, t->h.balance.cut, sizeof t->h.balance.cut);
    const bool differ = !known && gs_book.machine.unlike;
    if (differ)
        gs_choice_first_cut(&gs_book.machine, n, (double)gs_measured_best(&t->h.single), cut);
    return known || differ;
}

bool gs_timing_stays(struct gs_timing *t, unsigned n)
{
    GS_LOCKED(&gs_book.lock);
    const bool stays = t->h.balance.n == n && t->h.balance.cut[0] >= 1;
    if (stays)
        gs_choice_let_back(&t->h);
    return stays;
}

bool gs_timing_speeds(struct gs_timing *t, unsigned n, double speed[GS_MAX_DEVICES])
{
    if (!gs_group()->unlike)
        return false;
    GS_LOCKED(&gs_book.lock);
    for (unsigned p = 0; p < n; p++) {
        const bool known = !p || t->h.balance.n == n || gs_book.machine.speed[p] > 0;
        speed[p] = known ? gs_speed_for(&t->h, &gs_book.machine, n, p) : 0;
    }
    return true;
}

bool gs_timing_choose(struct gs_timing *t, uint64_t numbers, struct gs_context *ctx, struct gs_trial *trial,
                      const char **reason)
{
    trial->forecast.link = gs_peer_open(ctx) ? GS_LINK_PEER : GS_LINK_HOST;
    trial->forecast.peer_possible = gs_peer_possible(ctx);
    trial->forecast.pinned = ctx->pinned;
    pthread_mutex_lock(&gs_book.lock);
    struct gs_history *h = &t->h;
    t->refused = false;
    gs_book_want_links(&trial->forecast);
    if (trial->return_rate >= 0)
        h->return_rate = trial->return_rate;
    const uint64_t now_ns = gs_now_ns();
    const bool split = gs_choose(h, &gs_book.machine, &trial->forecast, &gs_book.budget, now_ns, &trial->risk_ns);
    gs_book.any_split |= split;
    say_outlook(t, trial, now_ns);
    const bool wants_peer = h->wants_peer;
    *reason = h->reason;
    trial->single_ns = h->single_ns;
    trial->guessed = gs_choice_guesses(h);
    trial->moves = h->balance.moves;
    trial->measured = split && gs_measured_has_room() &&
                      (trial->forecast.on_trial || gs_choice_wants_split(h) || gs_measured_wonders(t, numbers));
    if (split)
        gs_choice_let_back(h);
    pthread_mutex_unlock(&gs_book.lock);
    if (wants_peer)
        gs_peer_ready(ctx);
    return split;
}

bool gs_timing_split(struct gs_timing *t, unsigned *moves)
{
    GS_LOCKED(&gs_book.lock);
    t->h.launches++;
    gs_book.any_split = true;
    *moves = t->h.balance.moves;
    const bool measured = gs_measured_has_room() && gs_choice_wants_split(&t->h);
    gs_choice_let_back(&t->h);
    return measured;
}

void gs_timing_report(struct gs_timing *t, struct gs_kernel_stats *stats)
{
    pthread_mutex_lock(&gs_book.lock);
    const double single = t->h.single_ns, split = t->h.split_ns, estimate = t->estimate_ns;
    pthread_mutex_unlock(&gs_book.lock);
    gs_report_choice(stats, single > 0 ? (uint64_t)single : 0, split > 0 ? (uint64_t)split : 0,
                     estimate > 0 ? (uint64_t)estimate : 0);
}

bool gs_timing_any_split(void)
{
    const struct timespec soon = {time(NULL) + 1, 0};
    if (pthread_mutex_timedlock(&gs_book.lock, &soon) != 0)
        return true;
    const bool any = gs_book.any_split;
    pthread_mutex_unlock(&gs_book.lock);
    return any;
}
