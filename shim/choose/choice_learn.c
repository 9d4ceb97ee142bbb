/* SPDX-License-Identifier: MIT */
/* What `auto` mode's choice learns from what launches, reads and ways took. */
#include "shim/choose/choice.h"

static const double faster = 0.93;  /* than all before: the next split may be faster still */
static const double outlier = 4;    /* times as long as was predicted: more is cut off */
static const double far_longer = 4; /* than the shortest launch that gains */

void gs_measured_add(struct gs_measured *m, uint64_t ns)
{
    m->ns[m->n++ % GS_MEASURED_KEPT] = ns;
}

uint64_t gs_measured_best(const struct gs_measured *m)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < m->n && i < GS_MEASURED_KEPT; i++)
        if (!best || m->ns[i] < best)
            best = m->ns[i];
    return best;
}

void gs_choice_learn_bound(struct gs_history *h, uint64_t all_ns, unsigned launches)
{
    const uint64_t bound = all_ns / launches + 1;
    /* The lowest, unless the kernel takes far longer by now. */
    if (!h->bound_ns || bound < h->bound_ns || bound > 8 * h->bound_ns)
        h->bound_ns = bound;
}

void gs_choice_runs(struct gs_history *h, const struct gs_machine *m, unsigned n, double ns)
{
    h->running_ns = ns >= far_longer * gs_least_gain_ns(m, n) ? ns : 0;
}

bool gs_choice_known(const struct gs_history *h, const struct gs_machine *m, unsigned n)
{
    return h->guessed ? h->balance.measured : !gs_choice_not_measured(h) || gs_choice_is_short(h, m, n);
}

void gs_choice_learn_size(struct gs_history *h, const struct gs_history *of, double ratio)
{
    static const double reach = 2;
    const struct gs_history own = *h;
    if (!(ratio <= reach && ratio * reach >= 1))
        return;
    *h = *of; /* but for what follows from this size itself */
    h->least_part = own.least_part;
    h->launches += own.launches;
    h->bound_ns = (uint64_t)((double)of->bound_ns * ratio);
    h->single = h->split = (struct gs_measured){0};
    gs_choice_learn_single(h, (uint64_t)(gs_choice_single_ns(of) * ratio));
    h->guessed = true;
    h->tried = 0;
    gs_balance_begin_again(&h->balance);
}

void gs_choice_learn_single(struct gs_history *h, uint64_t took_ns)
{
    if (!took_ns)
        return;
    if (h->guessed)
        h->single.n = 0;
    h->guessed = false;
    gs_measured_add(&h->single, took_ns);
}

/* Goes down quickly and up slowly, since disturbances only make times longer. A single transfer that used a buffer or
 * path for the first time (40 ms for half a millisecond's work) must not make all transfers look dear. */
static void approach(double *value, double seen, double least, double most)
{
    seen = gs_min(gs_max(seen, least), gs_min(most, outlier * *value));
    *value += (seen - *value) * (seen < *value ? 0.5 : 0.125);
}

void gs_choice_learn_read(struct gs_machine *m, uint64_t bytes, uint64_t took_ns, bool several)
{
    double *ns = &m->read_ns[gs_read_size((double)bytes)][several];
    const double seen = (double)took_ns / (double)bytes;
    if ((double)bytes < gs_large_bytes / 2)
        return;
    if (*ns > 0)
        approach(ns, seen, 0.001, GS_MOST_BYTE_NS);
    else
        *ns = gs_min(gs_max(seen, 0.001), GS_MOST_BYTE_NS);
}

/* A split took beyond_ns more than its longest part: few bytes tell a piece's price, many a byte's, none a split's. */
static void learn_machine(struct gs_machine *m, double beyond_ns, const struct gs_forecast *o)
{
    const struct gs_move moved = o->scatter;
    const double pieces = gs_move_pieces(o->link, moved);
    double *piece_ns = &m->link[o->link].piece_ns, *byte_ns = &m->link[o->link].byte_ns;
    if (!moved.bytes || beyond_ns < m->split_ns)
        approach(&m->split_ns, beyond_ns, 2e3, GS_MOST_NS);
    else if ((double)moved.bytes >= gs_large_bytes)
        approach(byte_ns, (beyond_ns - m->split_ns - *piece_ns * pieces) / (double)moved.bytes, 0.001, GS_MOST_BYTE_NS);
    else if ((double)moved.bytes < gs_small_bytes)
        approach(piece_ns, (beyond_ns - m->split_ns) / pieces, 1e3, GS_MOST_NS);
}

void gs_choice_first_cut(unsigned n, double single_ns, double *cut)
{
    static const double long_ns = 50e6, most_of_all = 0.25;
    const double little = single_ns > long_ns ? 1.0 / 64 : 1.0 / 16; /* another device may be very slow */
    const double each = gs_min(little, most_of_all / (n - 1));
    for (unsigned p = 0; p < n; p++)
        cut[p] = 1 - each * (n - 1 - p);
}

bool gs_choice_move_cut(struct gs_history *h, const struct gs_machine *m, enum gs_link link, struct gs_move all)
{
    const uint64_t best = gs_measured_best(&h->split), excess = gs_balance_over(&h->balance);
    if ((!m->unlike && !gs_choice_split_known(h)) ||
        !gs_balance_move(&h->balance, gs_move_ns(m, link, all), gs_choice_more_launches(h)))
        return false;
    h->split = (struct gs_measured){0};
    if (m->unlike) { /* old times say nothing of the new cut: its first launches are measured */
        h->tried = h->asked_split = 0;
        return true;
    }
    /* Enters the new cut's hoped-for time, without half of the longest part's excess over the mean; or what the former
     * cut took, which is back as that hope was wrong. */
    const double hoped = (double)(best > excess ? best - excess / 2 : best);
    for (int i = 0; i < GS_CHOICE_KNOWN; i++)
        gs_measured_add(&h->split, (uint64_t)(h->balance.settled ? (double)h->balance.before_ns + m->split_ns : hoped));
    return true;
}

void gs_choice_learn_split(struct gs_history *h, struct gs_machine *m, struct gs_budget *b, const struct gs_forecast *o,
                           const struct gs_split_times *times)
{
    const double took = (double)times->took_ns;
    double longest = 0;
    for (unsigned p = 0; p < o->n; p++)
        longest = gs_max(longest, (double)times->part_ns[p]);
    if (!times->took_ns)
        return;
    const double beyond = gs_max(0, took - longest), moved = gs_move_ns(m, o->link, o->scatter);
    const double base = gs_max(longest, took - moved);
    gs_choice_learn_budget(b, times);
    if (m->read_ns[gs_read_size(h->read_bytes)][1] > 0) /* reads after a split come by several links */
        b->lost_ns -= gs_reads_of(h, m).gain;
    /* The first split pays for replicas and kernels, so only first_ns learns. A hopeless one is entered as often as
     * makes the split's time known, so that it isn't tried again. */
    if (!h->split_before) {
        h->split_before = true;
        approach(&m->first_ns, beyond - moved - m->split_ns, 1e4, 1e8);
        for (int i = 0; i < GS_CHOICE_KNOWN && !m->compiles && longest > gs_hopeless * times->single_ns; i++)
            gs_measured_add(&h->split, (uint64_t)base);
        return;
    }
    /* Rings grow, and what recurs comes to be brought ahead: the first splits in a row say little of the machine. */
    const double before = (double)gs_measured_best(&h->split);
    h->warming = h->tried < GS_CHOICE_MOST_TRIES && base < faster * before;
    /* If this way will soon be another (windows), wrong figures of the way are not the kernel's fault. */
    const bool by_host = o->link == GS_LINK_HOST && o->peer_possible && (double)o->scatter.bytes > gs_small_bytes;
    if (!h->wants_peer || !by_host)
        gs_measured_add(&h->split, (uint64_t)base);
    if (!o->merge.bytes && (beyond < m->split_ns || (before > 0 && !h->warming)))
        learn_machine(m, beyond, o);
}

void gs_choice_learn_budget(struct gs_budget *b, const struct gs_split_times *times)
{
    b->lost_ns += (double)times->took_ns - times->single_ns - times->risk_ns;
}
