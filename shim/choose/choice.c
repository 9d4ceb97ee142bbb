/* SPDX-License-Identifier: MIT */
/* See choice.h, section choice.c; docs/choice.md has the model. */
#include "shim/choose/choice.h"

#include <string.h>

enum {
    ENOUGH = 4,     /* measurements of a kind that are taken at once; later only some launches are measured */
    MOST_ASKED = 2, /* measurements on one device that may be begun before one has ended */
    /* Opening windows between GPUs takes 56 ms by a thread of ours, more beside an application that works; a split that
       comes meanwhile waits until the driver has opened them (two H200s: 50 to 120 ms instead of 35 for the first). */
    PEER_NS = 40 * 1000 * 1000,
    SINGLE_EVERY = 32,
    SPLIT_EVERY = 16,
    RETRY_AFTER = 4, /* launches; four times as many after each failure */
    MOST_FAILURES = 8,
    PLAN_SHARE = 8,       /* of the launches so far, one part until the next plan */
    MOST_APART = 1 << 20, /* launches between two plans */
};

static const double budget_share = 0.01;  /* of the time elapsed; at worst twice as much is lost, by wrong guesses */
static const double worth_leaving = 0.93; /* of one device's time: the first split of a row must take less */
static const double worth_staying = 1.02; /* of one device's time: further splits of a row must take less */
/* Plans made now and then take twice as long as plans in a row (smallpt's on an H200's host: 142 to 255 us; 70). */
static const double seldom = 0.5;
static const double several_hoped = 0.7; /* of a read from one device: the same from several, until measured */

double gs_move_pieces(enum gs_link link, struct gs_move move)
{
    return (double)(link == GS_LINK_PEER && move.packs ? move.packs : move.pieces);
}

double gs_move_ns(const struct gs_machine *m, enum gs_link link, struct gs_move move)
{
    return m->link[link].piece_ns * gs_move_pieces(link, move) + m->link[link].byte_ns * (double)move.bytes;
}

/* The least share of one device's time that a part takes; 0 once a split's time is measured. */
static double least_part(const struct gs_history *h)
{
    return gs_choice_split_known(h) ? 0 : h->least_part;
}

/* The time that n devices together take, as a share of the first one's alone. Alike unless known to differ. */
static double least_share(const struct gs_history *h, const struct gs_machine *m, unsigned n)
{
    double sum = 0;
    for (unsigned p = 0; p < n; p++)
        sum += m->unlike && h->balance.n == n ? gs_balance_speed(&h->balance, p) : 1;
    return gs_max(least_part(h), 1 / sum);
}

double gs_choice_least_part(uint64_t groups, unsigned units)
{
    return groups > units ? (double)units / (double)groups : 1;
}

double gs_least_gain_ns(const struct gs_machine *m, unsigned n)
{
    /* single / n + split_ns < worth_leaving * single */
    const double gain = worth_leaving - 1.0 / n;
    return gain > 0 ? m->split_ns / gain : (double)INT64_MAX;
}

void gs_history_init(struct gs_history *h)
{
    memset(h, 0, sizeof *h);
    h->return_rate = -1;
}

double gs_budget_left(const struct gs_budget *b, uint64_t now_ns)
{
    return budget_share * (double)(now_ns - b->begin_ns) - b->lost_ns;
}

bool gs_choice_not_measured(const struct gs_history *h)
{
    return !h->single.n && !h->balance.measured;
}

/* Once the parts' times are known, one device takes no more than all parts one after the other: a measurement on one
 * device may be old, or of other arguments. Where devices differ, that sum is only better than nothing, since other
 * devices' parts would take another time here. */
double gs_choice_single_ns(const struct gs_history *h)
{
    const double single = (double)gs_measured_best(&h->single), parts = gs_balance_single_ns(&h->balance);
    if (single > 0 && parts > 0 && !h->balance.unlike)
        return gs_min(single, parts);
    if (single > 0 || h->running_ns <= 0)
        return single;
    return parts > 0 ? parts : h->running_ns; /* the parts say more */
}

double gs_choice_more_launches(const struct gs_history *h)
{
    return gs_max(1, (double)(h->expected > h->launches ? h->expected - h->launches : h->launches));
}

bool gs_choice_split_known(const struct gs_history *h)
{
    return h->split.n >= GS_CHOICE_KNOWN;
}

/* The time of a split without transfers to its parts: measured once all tries are in, until then predicted. */
static double split_of(const struct gs_history *h, const struct gs_machine *m, double single, double largest)
{
    if (gs_choice_split_known(h))
        return (double)gs_measured_best(&h->split);
    return single * largest + m->split_ns;
}

/* Is it time to try again after failures? */
static bool is_due_again(const struct gs_history *h)
{
    return h->failures && h->launches >= h->retry_at;
}

/* The least share of one device's time that n devices may take: least_part at least, as if alike at most. */
static double hoped_share(const struct gs_history *h, const struct gs_machine *m, unsigned n)
{
    return gs_max(least_part(h), gs_min(least_share(h, m, n), 1.0 / n));
}

/* The time of a split that may be hoped for: when another try is due, what was predicted before the first. */
static double hoped_of(const struct gs_history *h, const struct gs_machine *m, double single, unsigned n)
{
    const double split = split_of(h, m, single, least_share(h, m, n));
    return is_due_again(h) ? gs_min(split, single * hoped_share(h, m, n) + m->split_ns) : split;
}

/* What each split to come may gain at best, without a plan. Includes transfers to the parts that earlier splits needed
 * again and again, through the host or through windows that have yet to be opened. */
static double gain_to_come(const struct gs_history *h, const struct gs_machine *m, unsigned n)
{
    const double single = gs_choice_single_ns(h), gain = single - hoped_of(h, m, single, n) + gs_reads_of(h, m).gain;
    if (!gs_choice_split_known(h) || !h->scatter_again.known || is_due_again(h))
        return gain;
    const struct gs_move again = h->scatter_again.move;
    return gain - gs_min(gs_move_ns(m, GS_LINK_HOST, again),
                         gs_move_ns(m, GS_LINK_PEER, again) + PEER_NS / gs_choice_more_launches(h));
}

unsigned gs_read_size(double bytes)
{
    return bytes >= 8 * gs_large_bytes;
}

struct gs_reads gs_reads_of(const struct gs_history *h, const struct gs_machine *m)
{
    const double *known = m->read_ns[gs_read_size(h->read_bytes)];
    const double one = known[0], several = known[1] > 0 ? known[1] : several_hoped * one;
    return (struct gs_reads){h->read_bytes * one, one > 0 ? h->read_bytes * (one - several) : 0};
}

/* Does the split, with its reads, take less than this share of one device with its reads? */
static bool is_below(double split, double single, struct gs_reads reads, double share)
{
    return split + reads.one - reads.gain < share * (single + reads.one);
}

/* Can n parts not gain, whatever the devices' speeds? (Measured speeds may have been wrong, or have changed.) */
static bool is_too_short(const struct gs_history *h, const struct gs_machine *m, unsigned n, double single,
                         struct gs_reads reads)
{
    return !is_below(single * hoped_share(h, m, n) + m->split_ns, single, reads, worth_leaving);
}

static bool one_device(struct gs_history *h, const char *reason)
{
    h->reason = reason;
    h->last_split = false;
    h->ever = true;
    return false;
}

/* Puts off the next plan by so many launches at least. Plans in vain may cost the budget's share of the kernel's time,
 * once a plan's cost is known. (Rodinia's gaussian of 4096 rows lost 8 % by 50 plans in vain, on two H200s.) */
static bool not_now(struct gs_history *h, uint64_t launches, const char *reason)
{
    const double plan_ns = h->plan.n >= ENOUGH ? (double)gs_measured_best(&h->plan) : 0;
    const double apart = gs_min(plan_ns / (budget_share * gs_choice_single_ns(h)), MOST_APART);
    h->plan_at = h->launches + (uint64_t)gs_max((double)launches, apart);
    return one_device(h, reason);
}

enum gs_left gs_choice_left(const char *reason)
{
    static const char *const chosen[] = {GS_R_TOO_SHORT,       GS_R_AT_ONCE,  GS_R_FASTER,
                                         GS_R_FASTER_TOGETHER, GS_R_ONE_UNIT, GS_R_NOT_KNOWN,
                                         GS_R_NOT_EARNED,      GS_R_OPENING,  GS_R_TRANSLATING};
    enum { ALL = sizeof chosen / sizeof *chosen, FOR_GOOD = 5 };
    unsigned i = 0;
    while (i < ALL && strcmp(reason, chosen[i]) != 0)
        i++;
    return i == ALL ? GS_NOT_SPLIT : i < FOR_GOOD ? GS_CHOSEN : GS_CHOSEN_FOR_NOW;
}

static void postpone_retry(struct gs_history *h)
{
    h->retry_at = h->failures ? h->launches + ((uint64_t)RETRY_AFTER << 2 * h->failures) : 0;
}

static void fail(struct gs_history *h, unsigned failures)
{
    h->failures = failures < MOST_FAILURES ? failures : MOST_FAILURES;
    postpone_retry(h);
}

void gs_choice_load_failures(struct gs_history *h, unsigned failures)
{
    fail(h, failures);
    h->retry_at /= 4; /* h->launches is 0 here */
}

/* Splits are slower than was predicted. Counts as a failure if tries were made in this process, or if none is noted
 * yet; the process before may have had bad luck. */
static bool give_up(struct gs_history *h)
{
    if (h->tried || !h->failures)
        fail(h, h->failures + 1);
    h->tried = 0;
    return one_device(h, GS_R_FASTER);
}

/* Is the row of first tries still to go on? One try alone says nothing, and its cost is lost either way. */
static bool is_trying(const struct gs_history *h, double single)
{
    const bool few = h->tried < GS_CHOICE_TRIES && !gs_choice_split_known(h);
    return h->last_split && h->tried && (few || h->warming) &&
           (!h->split.n || (double)gs_measured_best(&h->split) < gs_hopeless * single);
}

bool gs_choice_may_plan(struct gs_history *h, const struct gs_machine *m, unsigned n, double prepare_ns)
{
    const double single = gs_choice_single_ns(h), planned_ns = h->split_ns;
    const bool unplanned = h->unplanned;
    const char *reason = NULL;
    h->launches++;
    h->single_ns = single;
    h->split_ns = 0;
    h->unplanned = true;
    if (single <= 0) {
        reason = GS_R_NOT_KNOWN;
    } else if (h->together.state != GS_STRETCH_FREE) {
        reason = GS_R_FASTER_TOGETHER;
    } else {
        const bool trying = is_trying(h, single);
        const struct gs_reads reads = gs_reads_of(h, m);
        h->split_ns = split_of(h, m, single, least_share(h, m, n));
        const bool loses = !is_due_again(h) && !is_below(h->split_ns, single, reads, worth_leaving);
        if (gs_choice_split_known(h) && !trying && loses)
            return give_up(h);
        if (!trying && h->launches < h->plan_at) { /* the last plan's answer holds */
            reason = h->reason;
            h->split_ns = planned_ns;
            h->unplanned = unplanned;
        } else if (trying)
            reason = NULL;
        else if (is_too_short(h, m, n, single, reads))
            reason = least_part(h) > worth_leaving ? GS_R_AT_ONCE : GS_R_TOO_SHORT;
        else if (!gs_choice_split_known(h) && loses) {
            reason = GS_R_FASTER;
            if (!h->failures)
                fail(h, 1);
        } else if (prepare_ns > 0 && gs_choice_more_launches(h) * gain_to_come(h, m, n) < prepare_ns)
            reason = gain_to_come(h, m, n) > 0 ? GS_R_NOT_EARNED : GS_R_FASTER;
    }
    if (!reason) {
        h->launches--; /* gs_choose will count the launch */
        return true;
    }
    if (h->ever && !h->last_split)
        h->gather_again = (struct gs_again){.known = true};
    return one_device(h, reason);
}

bool gs_choice_may_gain(const struct gs_history *h, const struct gs_machine *m, unsigned n, double prepare_ns)
{
    const double single = gs_choice_single_ns(h), gain = gain_to_come(h, m, n);
    return single > 0 && h->together.state == GS_STRETCH_FREE && !is_too_short(h, m, n, single, gs_reads_of(h, m)) &&
           gain > 0 && gs_choice_more_launches(h) * gain >= prepare_ns;
}

struct ways {
    double single, split;
    double risk;           /* what the split costs now even if splits are never better */
    double coming;         /* the part of `risk` that is paid later: outputs that come home */
    double shared;         /* the part of `risk` that other kernels gain by, too */
    double gain;           /* of this launch alone, if the prediction is right; negative: later launches must win it */
    struct gs_reads reads; /* counted in `gain` alone */
};

static double gain_of(const struct ways *w)
{
    return w->single - w->split + w->reads.gain;
}

/* Of the bytes that move, those that recur (..._again) count in full. The rest is brought once, and counts as its share
 * of the launches to come (`more`), less what other kernels gain by it:
 *   single = kernel + gather_again + (gather - gather_again) / more
 *   split  = parts + merge + plan + scatter_again + leave_again + (first + brought - shared) / more
 * A split's known time has the merge in it. */
static struct ways predict(const struct gs_history *h, const struct gs_machine *m, const struct gs_forecast *o,
                           enum gs_link link)
{
    const double gather = gs_move_ns(m, link, o->gather), scatter = gs_move_ns(m, link, o->scatter);
    const double leave = gs_move_ns(m, link, o->leave), single = gs_choice_single_ns(h),
                 more = gs_choice_more_launches(h);
    /* While launches are split nobody can learn what comes home before each launch on one device. Those bytes count as
     * 0, so that one device gets a try. */
    const double gather_again = h->gather_again.known ? gs_min(gather, gs_move_ns(m, link, h->gather_again.move))
                                : h->last_split       ? 0
                                                      : gather;
    const double scatter_again =
        h->scatter_again.known ? gs_min(scatter, gs_move_ns(m, link, h->scatter_again.move)) : 0;
    const double leave_again = h->return_rate < 0 ? 0 : h->return_rate * leave;
    const double first = h->split_before ? 0 : m->first_ns;
    const double brought = scatter - scatter_again + (h->return_rate < 0 ? leave : 0), once = brought + first;
    /* The devices compare, and may find few differences. */
    const double merge = gs_move_ns(m, o->peer_possible ? GS_LINK_PEER : link, o->merge);
    const double most = gs_move_ns(m, link, o->merge);
    const double plan = (double)gs_measured_best(&h->plan) * (gs_choice_split_known(h) ? 1 : seldom);
    const double base = split_of(h, m, single, o->largest) + (gs_choice_split_known(h) ? 0 : merge) + plan;
    const double now = scatter_again + leave_again + once;
    const struct gs_reads reads = gs_reads_of(h, m);
    return (struct ways){
        .single = single + gather_again + (gather - gather_again) / more,
        .split = base + scatter_again + leave_again + (once - o->shared * brought) / more,
        .reads = reads,
        .risk = gs_choice_split_known(h) ? gs_max(0, base + now - single - gather - reads.gain)
                                         : now + m->split_ns + most + plan,
        .coming = h->return_rate < 0 ? leave : leave_again,
        .shared = o->shared * brought,
        .gain = single + gather - base - now + reads.gain,
    };
}

/* Would splits gain so much more by windows between GPUs that these should be opened for launches to come? without:
 * what one gains by the host's memory. */
static bool gains_by_peer(const struct gs_history *h, const struct gs_machine *m, const struct gs_forecast *o,
                          double without)
{
    if (!o->peer_possible || o->link == GS_LINK_PEER)
        return false;
    const struct ways w = predict(h, m, o, GS_LINK_PEER);
    return is_below(w.split, w.single, w.reads, worth_leaving) &&
           gs_choice_more_launches(h) * (gain_of(&w) - without) > PEER_NS * (1 - o->shared);
}

static void learn_again(struct gs_history *h, const struct gs_forecast *o)
{
    struct gs_again *again = h->last_split ? &h->scatter_again : &h->gather_again;
    const struct gs_move now = h->last_split ? o->scatter : o->gather, was = again->known ? again->move : now;
    if (h->ever)
        *again = (struct gs_again){true,
                                   {(was.bytes + now.bytes) / 2, now.bytes ? (was.pieces + now.pieces + 1) / 2 : 0,
                                    now.bytes ? (was.packs + now.packs + 1) / 2 : 0}};
}

/* Does a first try (or this process's first split, after splits of the process before) promise enough for its risk? */
static bool is_hopeful(const struct gs_history *h, const struct gs_forecast *o, const struct ways *w)
{
    const bool known = gs_choice_split_known(h);
    return (known ? !h->split_before : o->ample && !h->failures) &&
           gs_choice_more_launches(h) * gain_of(w) >= 2 * (w->risk - w->shared);
}

bool gs_choose(struct gs_history *h, const struct gs_machine *m, const struct gs_forecast *o, struct gs_budget *b,
               uint64_t now_ns, double *risk_ns)
{
    *risk_ns = 0;
    learn_again(h, o);
    gs_measured_add(&h->plan, (uint64_t)o->plan_ns);
    h->launches++;
    if (gs_choice_single_ns(h) <= 0)
        return one_device(h, GS_R_NOT_KNOWN);
    if (h->together.state != GS_STRETCH_FREE)
        return one_device(h, GS_R_FASTER_TOGETHER);
    const struct ways w = predict(h, m, o, o->link);
    const double left = gs_budget_left(b, now_ns);
    h->single_ns = w.single;
    h->split_ns = w.split;
    h->unplanned = false;
    const bool going = h->last_split && h->ever && (!m->unlike || gs_choice_split_known(h));
    const bool better = is_below(w.split, w.single, w.reads, going ? worth_staying : worth_leaving);
    const bool retry = !better && is_due_again(h) && left >= w.risk;
    const bool trying =
        is_trying(h, w.single) && w.split < gs_hopeless * w.single && (!h->warming || gs_max(0, left) + w.gain >= 0);
    const double needed = w.gain > w.risk / 2 ? w.risk / 4 : w.risk; /* a try that gains at once is less of a bet */
    const bool earned = trying || w.risk <= 0 || left >= needed || is_hopeful(h, o, &w);
    const bool gains = earned && is_below(w.split, w.single, w.reads, worth_leaving);
    h->wants_peer = gains_by_peer(h, m, o, gains ? gs_max(0, gain_of(&w)) : 0);
    if (((!better && !retry && !trying) || !earned) && h->wants_peer)
        return not_now(h, 0, GS_R_OPENING);
    if (!better && !retry && !trying) {
        if (h->split.n)
            give_up(h);
        return not_now(h, h->launches / PLAN_SHARE, GS_R_FASTER);
    }
    if (!earned)
        return h->last_split ? one_device(h, GS_R_NOT_EARNED) : not_now(h, h->launches / PLAN_SHARE, GS_R_NOT_EARNED);
    if (retry) {
        postpone_retry(h);
        h->tried = h->asked_split = 0;
        h->split = (struct gs_measured){0};
    }
    h->tried += h->tried < GS_CHOICE_MOST_TRIES;
    h->reason = NULL;
    h->last_split = h->ever = true;
    b->lost_ns += w.risk;
    *risk_ns = gs_max(0, w.risk - w.coming);
    return true;
}

bool gs_choice_is_short(const struct gs_history *h, const struct gs_machine *m, unsigned n)
{
    const double known = h->single.n ? gs_choice_single_ns(h) : (double)h->bound_ns;
    return known > 0 && is_too_short(h, m, n, known, gs_reads_of(h, m));
}

bool gs_choice_wants_single(const struct gs_history *h, const struct gs_machine *m, unsigned n, bool affordable)
{
    /* A kernel that is short by another size's times is measured all the same: its data may take longer. */
    if (gs_choice_is_short(h, m, n))
        return h->guessed && affordable && h->asked < MOST_ASKED;
    if (!h->single.n)
        return h->asked < MOST_ASKED ? h->bound_ns || affordable : h->launches % SINGLE_EVERY == 0;
    return h->asked < ENOUGH || h->launches % SINGLE_EVERY == 0;
}

bool gs_choice_wants_split(const struct gs_history *h)
{
    const bool unknown =
        h->split.n < ENOUGH || h->warming || (h->balance.measured < GS_CHOICE_KNOWN && !h->balance.settled);
    return h->launches < ENOUGH || h->launches % SPLIT_EVERY == 0 || h->balance.slow ||
           (unknown && h->asked_split < GS_CHOICE_MOST_TRIES);
}
