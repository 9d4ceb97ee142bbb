/* SPDX-License-Identifier: MIT */
/* See choice.h, section balance.c. */
#include "shim/choose/choice.h"

#include <string.h>

enum { MEASURED_BEFORE_MOVE = 2, MOST_MOVES = 16, SLOW_IN_A_ROW = 3 };

static const double alike_damping = 0.7;  /* the cut moves so much of the way to equal parts */
static const double least_excess = 0.06;  /* of the mean: parts that differ less count as equal */
static const double unlike_excess = 0.03; /* of the time under a fair cut: less counts as fair */
static const double least_gain = 0.02;    /* a move that gains less is undone, and is the last */
static const double far_longer = 1.25; /* than ever under this cut: a few times in a row, a device has become slower */

static uint64_t mean_of(const struct gs_balance *b)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < b->n; p++)
        sum += b->part_ns[p];
    return b->n ? sum / b->n : 0;
}

uint64_t gs_balance_over(const struct gs_balance *b)
{
    const uint64_t mean = mean_of(b);
    return b->measured && b->longest_ns > mean ? b->longest_ns - mean : 0;
}

static void forget_times(struct gs_balance *b)
{
    b->measured = 0;
    b->longest_ns = 0;
    memset(b->part_ns, 0, sizeof b->part_ns);
}

void gs_balance_begin_again(struct gs_balance *b)
{
    forget_times(b);
    b->since = b->moves;
    b->before_ns = b->in_vain = b->slow = 0;
    b->settled = false;
}

/* Devices that are alike: the lowest time counts, since disturbances only make times longer. Devices that differ may be
 * less steady as well, and a cut by each one's luckiest launch fits none: the mean counts, less doubled times. */
static void add(const struct gs_balance *b, uint64_t *known, uint64_t ns)
{
    if (!b->measured || (b->unlike ? ns < *known / 2 : ns < *known))
        *known = ns;
    else if (b->unlike && ns <= 2 * *known)
        *known = (*known * b->measured + ns) / (b->measured + 1);
}

void gs_balance_learn(struct gs_balance *b, unsigned dim, unsigned n, const double *cut, const uint64_t *part_ns,
                      const double *share)
{
    uint64_t longest = 0;
    if (b->n != n || (b->dim != dim && !share))
        *b = (struct gs_balance){.n = n};
    b->dim = dim;
    b->unlike = share != NULL;
    if (share)
        memcpy(b->share, share, n * sizeof *share);
    memcpy(b->cut, cut, n * sizeof *cut); /* in whole work-groups, so not quite where the cut was meant to be */
    for (unsigned p = 0; p < n; p++)
        longest = part_ns[p] > longest ? part_ns[p] : longest;
    b->slow = share && b->measured && (double)longest > far_longer * (double)b->longest_ns ? b->slow + 1 : 0;
    if (b->slow == SLOW_IN_A_ROW)
        gs_balance_begin_again(b);
    for (unsigned p = 0; p < n; p++)
        add(b, &b->part_ns[p], part_ns[p]);
    add(b, &b->longest_ns, longest);
    b->measured++;
}

double gs_balance_single_ns(const struct gs_balance *b)
{
    double sum = 0;
    if (b->unlike && b->measured)
        return (double)b->part_ns[0] / b->cut[0];
    for (unsigned p = 0; p < b->n && b->measured; p++)
        sum += (double)b->part_ns[p];
    return sum;
}

double gs_balance_speed(const struct gs_balance *b, unsigned p)
{
    if (b->unlike && b->measured && b->part_ns[0] && b->part_ns[p])
        return b->share[p] / (double)b->part_ns[p] / (b->share[0] / (double)b->part_ns[0]);
    return gs_cut_width(b->cut, p) / b->cut[0];
}

/* Devices that differ: the cut by which all parts take the same time, if the launch is uniform; *out, and that time. A
 * slow device's part may be far shorter, which loses nothing more. */
static double fair_cut(const struct gs_balance *b, double *out)
{
    double total = 0;
    for (unsigned p = 0; p < b->n; p++)
        out[p] = total += b->share[p] / (double)b->part_ns[p];
    for (unsigned p = 0; p < b->n; p++)
        out[p] /= total;
    return 1 / total;
}

/* The cut by which all parts take the same time, if each part is uniform in itself. */
static void equal_cut(const struct gs_balance *b, double *out)
{
    double total = 0, done = 0, begin = 0;
    unsigned p = 0;
    for (unsigned i = 0; i < b->n; i++)
        total += (double)b->part_ns[i];
    for (unsigned i = 0; i < b->n; i++) {
        const double work = (double)b->part_ns[i];
        while (p + 1 < b->n && done + work >= total * (p + 1) / b->n) {
            const double within = work > 0 ? (total * (p + 1) / b->n - done) / work : 1;
            out[p++] = begin + within * (b->cut[i] - begin);
        }
        done += work;
        begin = b->cut[i];
    }
    while (p < b->n)
        out[p++] = 1;
}

bool gs_balance_move(struct gs_balance *b, double bytes_ns, double launches)
{
    double target[GS_MAX_DEVICES], moved = 0;
    const double damping = b->unlike ? 1 : alike_damping;
    if (b->n < 2 || b->settled || b->moves - b->since >= MOST_MOVES ||
        b->measured < (b->unlike ? 1 : MEASURED_BEFORE_MOVE))
        return false;
    for (unsigned p = 0; p < b->n && b->unlike; p++)
        if (!b->part_ns[p])
            return false;
    const double fair = b->unlike ? fair_cut(b, target) : (double)mean_of(b), excess = (double)b->longest_ns - fair;
    const bool better = !b->before_ns || (double)b->longest_ns <= (double)b->before_ns * (1 - least_gain);
    if (excess < (b->unlike ? unlike_excess : least_excess) * fair) {
        b->before_ns = 0; /* fair by now, whatever the former cut took */
        return false;
    }
    /* One launch, under this cut or the former one, may have had bad luck: waits for more. */
    if (!better && b->measured < MEASURED_BEFORE_MOVE)
        return false;
    if (!better && (!b->unlike || b->in_vain++)) {
        memcpy(b->cut, b->before, sizeof b->cut);
        b->settled = true;
        b->moves++;
        forget_times(b);
        return true;
    }
    if (!b->unlike)
        equal_cut(b, target);
    for (unsigned p = 0; p + 1 < b->n; p++) {
        if (!b->unlike)
            target[p] = b->cut[p] + damping * (target[p] - b->cut[p]);
        moved += target[p] > b->cut[p] ? target[p] - b->cut[p] : b->cut[p] - target[p];
    }
    if (damping * excess * launches < moved * bytes_ns)
        return false;
    if (better) {
        memcpy(b->before, b->cut, sizeof b->before);
        b->before_ns = b->longest_ns;
        b->in_vain = 0;
    }
    memcpy(b->cut, target, b->n * sizeof *target);
    b->moves++;
    forget_times(b);
    return true;
}
