/* SPDX-License-Identifier: MIT */
/* See choice.h, section stretch.c. */
#include "shim/choose/choice.h"

enum {
    ENOUGH = 4, /* stretches on one device; and a SHARE of those with splits */
    SHARE = 8,
    AGAIN = 256, /* stretches until the next question; four times as many after each that changed nothing */
    MOST_ASKED = 6,
};

/* One device's kernels alone take 1.0: stretches with splits below `suspicious` haven't lost, so it isn't asked. */
static const double suspicious = 1.03, worse = 1.02;
/* What splits have lost is so much of the time to run before splits are tried again. */
static const double lost_share = 0.02;

static void add(struct gs_stretches *s, double times)
{
    if (s->n == GS_STRETCHES_MOST)
        *s = (struct gs_stretches){0};
    if (!s->n || times > s->longest) {
        s->next = s->n ? s->longest : times;
        s->longest = times;
    } else if (s->n == 1 || times > s->next) {
        s->next = times;
    }
    s->sum += times;
    s->n++;
}

/* The mean, with the longest counted as the second longest: one disturbed stretch says nothing, but what recurs, as a
 * read of the results after each 20th launch, counts in full. */
static double mean(const struct gs_stretches *s)
{
    return (s->sum - s->longest + s->next) / s->n;
}

static void judge(struct gs_together *g)
{
    if (mean(&g->split) > worse * mean(&g->one)) {
        g->state = GS_STRETCH_LEFT;
        g->owed_ns = g->lost_ns / lost_share;
    } else {
        g->state = GS_STRETCH_FREE;
        g->until = g->n + ((uint64_t)AGAIN << 2 * g->asked);
        g->asked += g->asked < MOST_ASKED;
    }
    g->split = (struct gs_stretches){0};
    g->lost_ns = 0;
}

double gs_stretch_keep(const struct gs_together *g)
{
    return g->state == GS_STRETCH_LEFT ? g->owed_ns + g->once_ns / lost_share : 0;
}

void gs_stretch_load(struct gs_together *g, double owed_ns)
{
    g->owed_ns = owed_ns;
    g->state = owed_ns > 0 ? GS_STRETCH_LEFT : GS_STRETCH_FREE;
}

void gs_stretch_learn(struct gs_together *g, double all_ns, double single_ns, bool split, bool first)
{
    const bool same = split == g->last_split && !first;
    double *lost_ns = first ? &g->once_ns : &g->lost_ns;
    g->n++;
    g->last_split = split;
    if (split || !same) { /* a stretch before or after splits pays for them as well */
        *lost_ns += all_ns - single_ns * (g->one.n ? mean(&g->one) : 1);
        *lost_ns = *lost_ns > 0 ? *lost_ns : 0;
    }
    if (g->state == GS_STRETCH_LEFT && (g->owed_ns -= all_ns) <= 0)
        gs_stretch_load(g, 0);
    if (!same) /* bytes had to move there or home, or replicas were made */
        return;
    if (!split || g->state != GS_STRETCH_ASKED) /* while one device is asked, the splits' stretches stay as they are */
        add(split ? &g->split : &g->one, all_ns / single_ns);
    if (g->state == GS_STRETCH_ASKED && g->one.n >= ENOUGH && g->one.n * SHARE >= g->split.n) {
        judge(g);
    } else if (g->state == GS_STRETCH_FREE && split && g->split.n >= GS_STRETCHES_KEPT &&
               (g->split.n & (g->split.n - 1)) == 0 && /* after 8, 16, 32 and 64 stretches */
               g->n >= g->until && mean(&g->split) > suspicious) {
        g->state = GS_STRETCH_ASKED;
        g->one = (struct gs_stretches){0};
    }
}
