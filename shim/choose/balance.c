/* SPDX-License-Identifier: MIT */
#include "shim/choose/balance.h"

#include <string.h>

enum { MEASURED_BEFORE_MOVE = 2, MOST_MOVES = 16, SLOW_IN_A_ROW = 3, LEAST_REST = 16 };

static const double alike_damping = 0.7;  /* of the way to where the parts should be equal */
static const double least_excess = 0.06;  /* of the mean: below it the parts count as equal */
static const double unlike_excess = 0.03; /* of what all would take under a fair cut */
static const double least_gain = 0.02;    /* a move that gains less is taken back, and is the last */
static const double far_longer = 1.25;    /* than ever under this cut: if that goes on a device has become slower */

static const double try_share = 1.0 / 64; /* of who was left out */
static const double tries_cost = 0.02;    /* of all launches, at the most */

static bool is_left_out(const struct gs_balance *b, unsigned p)
{
    return p && b->cut[p] <= b->cut[p - 1];
}

static unsigned count_left_out(const struct gs_balance *b)
{
    unsigned n = 0;
    for (unsigned p = 0; p < b->n; p++)
        n += is_left_out(b, p);
    return n;
}

/* What each part would take if all took the same, between devices that differ. A slow one's part may be far shorter
 * than the others, and no more than that is lost. */
static double fair_ns(const struct gs_balance *b)
{
    double speed = 0;
    for (unsigned p = 0; p < b->n; p++)
        speed += is_left_out(b, p) ? 0 : b->share[p] / (double)b->part_ns[p];
    return 1 / speed;
}

static uint64_t mean_of(const struct gs_balance *b)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < b->n; p++)
        sum += b->part_ns[p];
    return b->n ? sum / (b->n - count_left_out(b)) : 0;
}

uint64_t gs_balance_excess(const struct gs_balance *b)
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

void gs_balance_unsettle(struct gs_balance *b)
{
    forget_times(b);
    b->since = b->moves;
    b->before_ns = b->in_vain = b->slow = 0;
    b->settled = false;
}

/* Whatever else a machine does makes a launch longer, so that the lowest counts between devices that are alike. Others
 * may differ in how steady they are, and a cut by each one's luckiest launch fits none: there it is the mean, but for
 * what is twice as long. */
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
    memcpy(b->cut, cut, n * sizeof *cut); /* in whole work-groups: not quite where it was meant to be */
    for (unsigned p = 0; p < n; p++)
        longest = part_ns[p] > longest ? part_ns[p] : longest;
    b->slow = share && b->measured && (double)longest > far_longer * (double)b->longest_ns ? b->slow + 1 : 0;
    if (b->slow == SLOW_IN_A_ROW)
        gs_balance_unsettle(b);
    for (unsigned p = 0; p < n; p++)
        add(b, &b->part_ns[p], part_ns[p]);
    add(b, &b->longest_ns, longest);
    b->measured++;
    b->back = 0;
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
    if (b->back >> p & 1)
        return 0;
    if (b->unlike && b->measured && b->part_ns[0] && b->part_ns[p])
        return b->share[p] / (double)b->part_ns[p] / (b->share[0] / (double)b->part_ns[0]);
    return gs_cut_width(b->cut, p) / b->cut[0];
}

/* Where they would be equal, if the launch is uniform: each device has as much of it as it does in the same time, but
 * for those that are left out, and `slow` (0: none). */
static void fair_cut(const struct gs_balance *b, unsigned slow, double *out)
{
    double total = 0;
    for (unsigned p = 0; p < b->n; p++)
        out[p] = total += is_left_out(b, p) || (slow && p == slow) ? 0 : b->share[p] / (double)b->part_ns[p];
    for (unsigned p = 0; p < b->n; p++)
        out[p] /= total;
}

/* Where the parts would be equal, if each is uniform within itself. */
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

static bool go_back(struct gs_balance *b)
{
    memcpy(b->cut, b->before, sizeof b->cut);
    b->settled = true;
    b->rest = count_left_out(b) ? b->rest : 0;
    b->moves++;
    forget_times(b);
    return true;
}

/* A device that the others wait for, though they would have done all of it in less time, now and before the last move;
 * while the cut still moves only if even one work-group takes longer there. 0: none. The first always has a part. */
static unsigned find_in_the_way(const struct gs_balance *b, bool moves, double *without_ns)
{
    unsigned slow = 0;
    uint64_t others_ns = 0;
    for (unsigned p = 1; p < b->n; p++)
        slow = b->part_ns[p] > b->part_ns[slow] ? p : slow;
    for (unsigned p = 0; p < b->n; p++)
        others_ns = p != slow && b->part_ns[p] > others_ns ? b->part_ns[p] : others_ns;
    const double width = gs_cut_width(b->cut, slow),
                 least_ns = (double)b->part_ns[slow] * (moves ? b->group / width : 1);
    *without_ns = (double)others_ns / (1 - width);
    if (b->n - count_left_out(b) == 2 && !b->may_take_all)
        return 0;
    return *without_ns < least_ns && (!b->before_ns || *without_ns < (double)b->before_ns) ? slow : 0;
}

/* For how many launches: what all tries cost stays small. */
static unsigned rest_of(const struct gs_balance *b, double without_ns)
{
    const double lost = (double)b->longest_ns / without_ns - 1; /* by each of the tries that come */
    const double rest = LEAST_REST + MEASURED_BEFORE_MOVE * count_left_out(b) * lost / tries_cost;
    return rest < GS_BALANCE_MOST_REST ? (unsigned)rest : GS_BALANCE_MOST_REST;
}

bool gs_balance_let_back(struct gs_balance *b)
{
    if (!b->rest || --b->rest)
        return false;
    const double others = 1 - try_share * count_left_out(b);
    double at = 0, was = 0;
    for (unsigned p = 0; p < b->n; p++) {
        const bool left_out = p && b->cut[p] <= was;
        b->back |= (unsigned)left_out << p;
        at += left_out ? try_share : (b->cut[p] - was) * others;
        was = b->cut[p];
        b->cut[p] = p + 1 < b->n ? at : 1;
    }
    b->moves++;
    gs_balance_unsettle(b);
    return true;
}

bool gs_balance_move(struct gs_balance *b, double bytes_ns, double launches)
{
    double target[GS_MAX_DEVICES], moved = 0;
    const double damping = b->unlike ? 1 : alike_damping;
    double without_ns = 0;
    if (b->n < 2 || b->settled || b->moves - b->since >= MOST_MOVES ||
        b->measured < (b->unlike ? 1 : MEASURED_BEFORE_MOVE))
        return false;
    for (unsigned p = 0; p < b->n && b->unlike; p++)
        if (!b->part_ns[p] && !is_left_out(b, p))
            return false;
    const double fair = b->unlike ? fair_ns(b) : (double)mean_of(b), excess = (double)b->longest_ns - fair;
    const bool better = !b->before_ns || (double)b->longest_ns <= (double)b->before_ns * (1 - least_gain);
    if (excess < (b->unlike ? unlike_excess : least_excess) * fair) {
        b->before_ns = 0; /* whatever it was before */
        return false;
    }
    /* Where one launch is enough it may have had bad luck, this one or the one before the move: others say more. */
    if (!better && b->measured < MEASURED_BEFORE_MOVE)
        return false;
    const unsigned slow = b->unlike ? find_in_the_way(b, better, &without_ns) : 0;
    if (!better && !slow && (!b->unlike || b->in_vain++))
        return go_back(b);
    if (b->unlike)
        fair_cut(b, slow, target);
    else
        equal_cut(b, target);
    for (unsigned p = 0; p + 1 < b->n; p++) {
        if (!b->unlike)
            target[p] = b->cut[p] + damping * (target[p] - b->cut[p]);
        moved += target[p] > b->cut[p] ? target[p] - b->cut[p] : b->cut[p] - target[p];
    }
    if (damping * excess * launches < moved * bytes_ns)
        return false;
    if (better || slow) {
        memcpy(b->before, b->cut, sizeof b->before);
        b->before_ns = b->longest_ns;
        b->in_vain = 0;
    }
    memcpy(b->cut, target, b->n * sizeof *target);
    if (slow)
        b->rest = rest_of(b, without_ns);
    b->moves++;
    forget_times(b);
    return true;
}
