/* SPDX-License-Identifier: MIT */
/* The bounds on waiting of docs/analysis.md, section by section, and the published formula. */
#include "gema/delay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int gs_servers_init(struct gs_servers *s, int m, size_t max_streams, size_t max_groups)
{
    *s = (struct gs_servers){.m = m,
                             .streams = calloc(max_streams + 1, sizeof *s->streams),
                             .groups = calloc(max_groups + 1, sizeof *s->groups),
                             .levels = calloc(max_groups + 1, sizeof *s->levels),
                             .growth = calloc(max_groups + 1, sizeof *s->growth)};
    return s->streams && s->groups && s->levels && s->growth ? 0 : -ENOMEM;
}

void gs_servers_free(struct gs_servers *s)
{
    free(s->streams);
    free(s->groups);
    free(s->levels);
    free(s->growth);
}

void gs_servers_cut(struct gs_servers *s, size_t streams, size_t groups)
{
    s->n_streams = streams;
    s->n_groups = groups;
    /* Levels are sorted, so none is the last; they are made anew. */
    if (s->levelled > groups)
        s->n_levels = s->levelled = 0;
}

void gs_servers_begin(struct gs_servers *s, int pieces, int64_t period, enum gs_group_kind kind)
{
    s->groups[s->n_groups++] = (struct gs_group){.first = s->n_streams,
                                                 .pieces = pieces,
                                                 .next = kind == GS_GROUP_NEXT,
                                                 .only = kind == GS_GROUP_ONLY,
                                                 .period = period};
}

void gs_servers_add(struct gs_servers *s, int64_t worst, int64_t jitter, int64_t slack, int64_t best)
{
    struct gs_group *g = &s->groups[s->n_groups - 1];
    struct gs_stream *p = &s->streams[s->n_streams++];
    const int64_t done = g->n ? p[-1].start + p[-1].worst : 0;
    *p = (struct gs_stream){worst, jitter, slack, best + jitter, g->sum, best > done ? best : done};
    if (!g->n++) {
        g->settled = worst - jitter;
        g->jitter = jitter;
        g->late = jitter + slack;
        g->latest = best + jitter + slack;
    }
    g->settled = max64(g->settled, worst - jitter);
    g->jitter = max64(g->jitter, jitter);
    g->late = max64(g->late, jitter + slack);
    g->latest = max64(g->latest, best + jitter + slack);
    g->sum += worst;
}

/* Work that jobs of `worst` a period apart do in a window of length L that begins with one of them: lemma 1. */
static inline int64_t workload(int64_t worst, int64_t period, int64_t L)
{
    if (L < period)
        return min64(worst, L);
    if (L < 2 * period)
        return worst + min64(worst, L - period);
    int64_t n = L / period;
    return n * worst + min64(worst, L - n * period);
}

/* A group's work, per piece, in a window of length x: none of its jobs was ready more than `reach` before the window.
 * Not more than `most`, which is how long the window's waiting is. *flat: at most the length of windows up to which
 * it is the same. */
static inline int64_t group_work(const struct gs_servers *s, const struct gs_group *g, int64_t x, int64_t reach,
                                 int64_t most, int64_t *flat)
{
    int64_t sum = 0, period = g->period;
    /* Mostly all streams have done just as many jobs, none being within one. */
    const int64_t latest = x + min64(g->late, g->jitter + min64(reach, g->late)) - 1;
    const int64_t jobs = latest < period ? 0 : latest < 2 * period ? 1 : latest / period;
    if (x - jobs * period >= g->settled) {
        if ((jobs + 1) * g->sum >= most)
            return most;
        *flat = min64(*flat, x + (jobs + 1) * period - 1 - latest);
        return (jobs + 1) * g->sum;
    }
    const struct gs_stream *p = &s->streams[g->first], *end = p + g->n;
    if (reach == 0)
        for (; p < end && sum < most; p++)
            sum += workload(p->worst, period, x + p->jitter);
    else
        for (; p < end && sum < most; p++)
            sum += workload(p->worst, period, x + p->jitter + min64(p->slack, reach));
    if (sum < most)
        *flat = min64(*flat, x);
    return min64(sum, most);
}

/* What one piece of the group adds at most if it was ready long before the window (only one segment of it can be). */
static inline int64_t group_carry(const struct gs_servers *s, const struct gs_group *g, int64_t x, int64_t reach)
{
    int64_t most = 0;
    for (const struct gs_stream *p = &s->streams[g->first], *end = p + g->n; p < end; p++) {
        if (p->slack <= reach)
            continue;
        int64_t L = x + p->jitter,
                more = workload(p->worst, g->period, L + p->slack) - workload(p->worst, g->period, L + reach);
        most = more > most ? more : most;
    }
    return most;
}

/* The largest `n` values seen, descending. */
struct largest {
    int n;
    int64_t v[GS_CONFIG_MAX_SERVERS];
};

static inline void offer(struct largest *l, int64_t v)
{
    if (v <= l->v[l->n - 1])
        return;
    int at = l->n - 1;
    for (; at > 0 && l->v[at - 1] < v; at--)
        l->v[at] = l->v[at - 1];
    l->v[at] = v;
}

/* Which window: how long before it the higher priorities' jobs may have become ready, how many pieces may have been
 * ready even longer, and how many servers lower priorities may hold at its beginning. */
struct window {
    int64_t reach;
    int carried, lower;
};

/* What carrying pieces into the window adds; the groups' own work is in s->growth. */
static int64_t carried_demand(const struct gs_wait *w, const struct gs_servers *s, const struct window *v, int64_t y,
                              int64_t x)
{
    struct largest carried;
    int64_t total = 0;
    carried.n = v->carried;
    memset(carried.v, 0, (size_t)v->carried * sizeof *carried.v);
    for (size_t i = 0; i < s->n_groups; i++) {
        const struct gs_group *g = &s->groups[i];
        int64_t work = s->growth[i].work;
        if (!g->only || work >= y)
            continue;
        int weight = g->pieces < w->busy ? g->pieces : w->busy;
        int64_t each = group_carry(s, g, x, v->reach), room = weight * (y - work);
        for (int k = 0; k < weight && each && room > 0; k++, room -= each)
            offer(&carried, min64(each, room));
    }
    for (int i = 0; i < v->carried; i++)
        total += carried.v[i];
    return total;
}

/* On how many of the servers that a segment waits for a group's pieces can be at work. */
static int weight_of(const struct gs_wait *w, const struct gs_group *g)
{
    const int most = w->spread ? w->spread : w->busy;
    return g->pieces < most ? g->pieces : most;
}

/* All that can keep servers busy while a segment waits for y, in a window of y + shift; times servers. Theorem 2. Where
 * it is busy * y or more it may be more than what is returned. *flat: up to which length of the window it is the same.
 */
static int64_t demand(const struct gs_wait *w, struct gs_servers *s, const struct window *v, int64_t worst, int64_t y,
                      int64_t shift, int64_t *flat)
{
    int64_t total = (int64_t)w->extra * min64(worst, y), x = y + shift;
    if (w->pauses && w->lower && w->lower[0] > 1)
        total += w->pauses * (w->lower[0] - 1);
    if (v->lower || w->pauses)
        total += w->excess;
    *flat = v->carried ? x : INT64_MAX;
    for (int i = 0; w->lower && i < v->lower && w->lower[i] > 1; i++)
        total += min64(w->lower[i] - 1, y);
    for (size_t i = 0; i < s->n_groups;) {
        int64_t least = INT64_MAX;
        do {
            const struct gs_group *g = &s->groups[i];
            s->growth[i].work = group_work(s, g, x, v->reach, y, flat);
            least = min64(least, weight_of(w, g) * s->growth[i].work);
        } while (++i < s->n_groups && s->groups[i].next);
        total += least;
    }
    if (v->carried && total < w->busy * y)
        total += carried_demand(w, s, v, y, x);
    return total;
}

/* Brings the levels up to date with the groups. */
static void fill_levels(struct gs_servers *s)
{
    while (s->levelled < s->n_groups) {
        const struct gs_group *g = &s->groups[s->levelled++];
        struct gs_level level = {g->sum, g->pieces};
        for (; s->levelled < s->n_groups && s->groups[s->levelled].next; s->levelled++) {
            g = &s->groups[s->levelled];
            level.sum = min64(level.sum, g->sum);
            level.pieces = g->pieces < level.pieces ? g->pieces : level.pieces;
        }
        size_t at = s->n_levels++;
        for (; at > 0 && s->levels[at - 1].sum > level.sum; at--)
            s->levels[at] = s->levels[at - 1];
        s->levels[at] = level;
    }
}

/* A y from which to search: the demand is at least the sum of min(y, each task's work once) per server, and this is the
 * least y for which that is below busy * y. */
static int64_t first_candidate(const struct gs_wait *w, const struct gs_servers *s, int lower, int64_t worst)
{
    int n_lower = 0;
    int64_t busy = w->busy, rising = w->extra, flat = 0, extra = w->extra;
    while (w->lower && n_lower < lower && w->lower[n_lower] > 1)
        n_lower++;
    rising += n_lower;
    for (size_t i = 0; i < s->n_levels && rising < busy; i++)
        rising += min64(s->levels[i].pieces, busy);
    if (rising < busy)
        return 1;
    rising = w->extra + n_lower;
    for (size_t i = 0; i < s->n_levels; i++)
        rising += min64(s->levels[i].pieces, busy);
    for (size_t i = 0;;) {
        int64_t level = i < s->n_levels ? s->levels[i].sum : INT64_MAX;
        int64_t low = n_lower ? w->lower[n_lower - 1] - 1 : INT64_MAX, own = extra ? worst : INT64_MAX;
        int64_t next = min64(level, min64(low, own));
        if (rising < busy) {
            int64_t y = flat / (busy - rising) + 1;
            if (y <= next)
                return y;
        }
        int64_t weight = 1;
        if (next == level)
            weight = min64(s->levels[i++].pieces, busy);
        else if (next == low)
            n_lower--;
        else {
            weight = extra;
            extra = 0;
        }
        flat += weight * next;
        rising -= weight;
    }
}

void gs_wait_prepare(struct gs_wait *w, struct gs_servers *s)
{
    int most = w->pieces, higher = 1;
    for (size_t i = 0; i < s->n_groups;) {
        int pieces = s->groups[i].pieces;
        for (i++; i < s->n_groups && s->groups[i].next; i++)
            pieces = s->groups[i].pieces < pieces ? s->groups[i].pieces : pieces;
        higher = pieces > higher ? pieces : higher;
    }
    most = higher > most ? higher : most;
    fill_levels(s);
    w->known = w->flat = -1;
    w->busy = s->m;
    w->carry_all = false;
    w->extra = 0;
    if (w->chunked) { /* theorem 8 */
        w->busy = 1;
        return;
    }
    if (most == 1)
        return;
    if (w->policy == GS_PIECES_ANY) { /* theorem 4 */
        w->extra = w->pieces - 1;
    } else if (w->policy == GS_PIECES_GANG) { /* theorem 6 */
        w->busy = s->m - most + 1;
        w->carry_all = true;
    } else if (w->pieces > 1) { /* theorem 5 */
        w->busy = 1;
    } else {
        w->carry_all = true;
    }
}

/* How the demand goes on beyond y: it grows by at least `rise` for each unit, for `length` units. */
struct slope {
    int64_t rise, length;
};

static void add_slope(struct slope *s, int64_t weight, int64_t length)
{
    if (length <= 0)
        return;
    s->rise += weight;
    s->length = min64(s->length, length);
}

/* For how long beyond L the workload of a stream goes on growing. */
static int64_t grows_for(int64_t worst, int64_t period, int64_t L)
{
    int64_t into = L % period;
    return into < worst ? worst - into : 0;
}

/* What the group's work comes to at y, and how it goes on. */
static struct gs_growth growth_of(const struct gs_servers *s, const struct gs_group *g, int weight, int64_t x,
                                  int64_t reach, int64_t y)
{
    struct gs_growth r = {0};
    int64_t sum = 0, longest = 0, second = 0, chosen = 0, chosen_alone = 0;
    for (const struct gs_stream *p = &s->streams[g->first], *end = p + g->n; p < end; p++) {
        int64_t L = x + p->jitter, near = L + min64(p->slack, reach), work = workload(p->worst, g->period, near);
        int64_t alone = grows_for(p->worst, g->period, near);
        sum += work;
        if (alone > longest) {
            second = longest;
            longest = alone;
        } else if (alone > second) {
            second = alone;
        }
        int64_t more = p->slack > reach ? workload(p->worst, g->period, L + p->slack) - work : 0;
        if (more > r.each) {
            r.each = more;
            chosen = grows_for(p->worst, g->period, L + p->slack);
            chosen_alone = alone;
        }
    }
    /* With the chosen stream carried, it or any other has to go on growing. */
    int64_t others = chosen_alone == longest ? second : longest;
    r.work = weight * min64(sum, y);
    r.alone = sum >= y ? sum - y : longest;
    r.each = sum >= y ? 0 : r.each;
    r.room = sum >= y ? 0 : weight * (y - sum);
    r.carried = r.each >= r.room ? (r.each - r.room) / weight : max64(chosen, others);
    return r;
}

/* Fills s->growth and returns the least amount that counts as carried into the window. */
static int64_t fill_growth(const struct gs_wait *w, struct gs_servers *s, const struct window *v, int64_t y,
                           int64_t shift)
{
    struct largest carried = {.n = v->carried};
    for (size_t i = 0; i < s->n_groups; i++) {
        const struct gs_group *g = &s->groups[i];
        const int weight = weight_of(w, g);
        s->growth[i] = growth_of(s, g, weight, y + shift, v->reach, y);
        int64_t each = s->growth[i].each, room = s->growth[i].room;
        for (int k = 0; k < weight && v->carried && g->only && each && room > 0; k++, room -= each)
            offer(&carried, min64(each, room));
    }
    return v->carried ? carried.v[v->carried - 1] : INT64_MAX;
}

/* For how long the least work of one task's modes, the groups from `first` to `end`, grows by `weight` at least: each
 * mode's does for some time, and a mode that isn't the least has some way to go before it is. */
static int64_t modes_grow_for(const struct gs_servers *s, size_t first, size_t end, int64_t weight)
{
    int64_t least = INT64_MAX, length = INT64_MAX;
    for (size_t i = first; i < end; i++)
        least = min64(least, s->growth[i].work);
    for (size_t i = first; i < end; i++)
        length = min64(length, s->growth[i].alone + (s->growth[i].work - least) / weight);
    return length;
}

/* Pieces whose amount is just the least that counts as carried: any of them may be taken for those that do. */
struct undecided {
    int64_t both, alone, carried, neither; /* how many go on growing in which case */
    int64_t both_length, alone_length, carried_length;
};

static void add_undecided(struct undecided *u, int64_t alone, int64_t carried)
{
    if (alone > 0 && carried > 0) {
        u->both++;
        u->both_length = min64(u->both_length, min64(alone, carried));
    } else if (alone > 0) {
        u->alone++;
        u->alone_length = min64(u->alone_length, alone);
    } else if (carried > 0) {
        u->carried++;
        u->carried_length = min64(u->carried_length, carried);
    } else {
        u->neither++;
    }
}

/* One task whose mode is known. Returns how many of its pieces count as carried for sure. */
static int64_t add_group_slope(struct slope *slope, struct undecided *u, const struct gs_growth *g, int64_t weight,
                               int64_t counts)
{
    int64_t sure = 0, alone = 0, room = g->room;
    for (int64_t k = 0; k < weight; k++, room -= g->each) {
        int64_t amount = room > 0 ? min64(g->each, room) : 0;
        if (amount > counts && amount < g->each) {
            /* It works all the time, and will until there is room for all of the last piece. */
            add_slope(slope, weight, (g->each - amount) / weight);
            return k + 1;
        }
        if (amount == 0 || amount < counts)
            alone++;
        else if (amount > counts)
            sure++;
        else
            add_undecided(u, g->alone, amount < g->each ? 0 : g->carried);
    }
    add_slope(slope, alone, alone ? g->alone : 0);
    add_slope(slope, sure, sure ? g->carried : 0);
    return sure;
}

/* `left` of the undecided pieces are carried: those that grow only then, and those that don't grow at all, first. */
static void add_undecided_slope(struct slope *slope, const struct undecided *u, int64_t left)
{
    int64_t chosen = min64(left, u->carried);
    add_slope(slope, chosen, chosen ? u->carried_length : 0);
    left -= chosen;
    add_slope(slope, u->both, u->both ? u->both_length : 0);
    left -= min64(left, u->neither + u->both);
    int64_t alone = u->alone - min64(left, u->alone);
    add_slope(slope, alone, alone ? u->alone_length : 0);
}

static struct slope demand_slope(const struct gs_wait *w, struct gs_servers *s, const struct window *v, int64_t worst,
                                 int64_t y, int64_t shift)
{
    struct slope slope = {0, INT64_MAX};
    struct undecided undecided = {0, 0, 0, 0, INT64_MAX, INT64_MAX, INT64_MAX};
    int64_t counts = fill_growth(w, s, v, y, shift), left = v->carried;
    add_slope(&slope, w->extra, w->extra ? worst - y : 0);
    for (int i = 0; w->lower && i < v->lower && w->lower[i] > 1; i++)
        add_slope(&slope, 1, w->lower[i] - 1 - y);
    for (size_t i = 0, first; i < s->n_groups;) {
        int64_t weight = s->m;
        first = i;
        do
            weight = min64(weight, weight_of(w, &s->groups[i++]));
        while (i < s->n_groups && s->groups[i].next);
        if (s->groups[first].only)
            left -= add_group_slope(&slope, &undecided, &s->growth[first], weight, counts);
        else
            add_slope(&slope, weight, modes_grow_for(s, first, i, weight));
    }
    add_undecided_slope(&slope, &undecided, left > 0 ? left : 0);
    return slope;
}

/* The least y from `y` on whose demand is below busy * y, less one; cut off at limit. The demand never falls, so
 * nothing below demand / busy can do; where that advances slowly the demand's own growth is taken into account. *flat:
 * up to which length of the window this y will do; -1: it was cut off. */
static int64_t search(const struct gs_wait *w, struct gs_servers *s, const struct window *v, int64_t worst,
                      int64_t shift, int64_t y, int64_t limit, int64_t *flat)
{
    enum { PLAIN_STEPS = 3, MANY_STEPS = 10000 };
    for (int step = 0; y <= limit; step++) {
        int64_t d = demand(w, s, v, worst, y, shift, flat), next = d / w->busy + 1;
        if (d < w->busy * y)
            return y - 1;
        if (step >= PLAIN_STEPS) {
            struct slope slope = demand_slope(w, s, v, worst, y, shift);
            int64_t far = slope.length < limit ? y + slope.length : limit + 1;
            if (slope.rise && slope.rise < w->busy)
                far = min64(far, (d - slope.rise * y) / (w->busy - slope.rise) + 1);
            if (slope.rise && far > next)
                next = far;
            /* Whatever the inputs, there is an end: any y that passes the test above will do, if not the least one. */
            if (step >= MANY_STEPS)
                next += next / 16;
        }
        y = next;
    }
    *flat = -1;
    return limit;
}

int64_t gs_delay_safe(struct gs_wait *w, struct gs_servers *s, int64_t worst, int64_t limit, int64_t *blocking)
{
    /* A longer segment doesn't wait less, so the search goes on where the last one ended; where its own length doesn't
     * matter that is the end already. */
    bool interrupted = w->preemptive || w->chunked, same = !interrupted && !w->extra;
    int64_t delay = w->known, shift = interrupted ? worst + w->pause_ns - 1 : 0;
    if (delay < 0 || (!same && (w->extra || delay + 1 + shift > w->flat))) {
        const bool all = w->carry_all || w->spread;
        struct window v = {all ? INT64_MAX : 0, all ? 0 : w->busy - 1, w->busy};
        int64_t y = first_candidate(w, s, v.lower, worst);
        delay = search(w, s, &v, worst, shift, y > delay + 1 ? y : delay + 1, limit, &w->flat);
        if (!w->preemptive && !all && w->own > 1 && delay < limit) {
            /* One of its own earlier segments may have held a server while higher priorities queued up. */
            struct window own = {w->own - 1, w->busy - 1, w->busy - 1};
            int64_t flat, first = delay;
            delay = search(w, s, &own, worst, shift, delay + 1, limit, &flat);
            w->flat = delay == first ? min64(w->flat, flat) : -1;
        }
        w->known = delay;
    }
    int64_t lower = w->excess;
    for (int i = 0; w->lower && i < w->busy && w->lower[i] > 1; i++)
        lower += min64(w->lower[i] - 1, delay);
    if (w->pauses && w->lower && w->lower[0] > 1)
        lower += w->pauses * (w->lower[0] - 1);
    *blocking = min64(delay, (lower + w->busy - 1) / w->busy);
    return delay;
}

/* ceil(L / period), L > 0; mostly 1 or 2, and divisions are slow. */
static inline int64_t jobs_within(int64_t L, int64_t period)
{
    if (L <= period)
        return 1;
    if (L <= 2 * period)
        return 2;
    return (L + period - 1) / period;
}

bool gs_servers_full(const struct gs_servers *s)
{
    double load = 0;
    for (const struct gs_group *g = s->groups; g < s->groups + s->n_groups; g++)
        for (size_t k = g->first; k < g->first + g->n; k++)
            load += (double)s->streams[k].worst / (double)g->period;
    return load >= s->m;
}

int64_t gs_delay_paper(struct gs_wait *w, struct gs_servers *s, int64_t worst, int64_t limit, int64_t *blocking)
{
    /* A longer segment doesn't wait less: the search goes on from the last one's delay. */
    int64_t b = w->lower ? w->lower[0] : 0, response = worst + (w->known > b ? w->known : b);
    *blocking = b;
    while (response - worst < limit) {
        int64_t sum = 0;
        for (size_t i = 0; i < s->n_groups;) {
            int64_t least = INT64_MAX;
            do {
                const struct gs_group *g = &s->groups[i++];
                int64_t of_mode = 0;
                for (const struct gs_stream *p = &s->streams[g->first], *end = p + g->n; p < end; p++)
                    of_mode += jobs_within(p->jitter + response, g->period) * p->worst;
                least = min64(least, of_mode);
            } while (i < s->n_groups && s->groups[i].next);
            sum += least;
        }
        int64_t next = worst + b + sum / s->m;
        if (next == response) {
            w->known = response - worst;
            return w->known;
        }
        response = next;
    }
    return limit;
}
