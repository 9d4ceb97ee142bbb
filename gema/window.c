/* SPDX-License-Identifier: MIT */
#include "gema/window.h"

#include <string.h>

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What one job of the group does at most by `t` after its release: H of lemma 11. *ramp: for how long it goes on. */
static inline int64_t job_work(const struct gs_stream *p, size_t n, int64_t t, int64_t *ramp)
{
    size_t low = 0; /* so many begin before t */
    if (t >= p[n - 1].start + p[n - 1].worst)
        low = n;
    while (n > low) {
        const size_t middle = (low + n) / 2;
        if (p[middle].start < t)
            low = middle + 1;
        else
            n = middle;
    }
    *ramp = 0;
    if (!low)
        return 0;
    p += low - 1;
    const int64_t done = min64(p->worst, t - p->start);
    *ramp = p->worst - done;
    return p->before + done;
}

/* t / period; mostly 0 or 1, and divisions are slow. */
static inline int64_t jobs_before(int64_t t, int64_t period)
{
    return t < period ? 0 : t < 2 * period ? 1 : t / period;
}

int64_t gs_joint_work(const struct gs_servers *s, const struct gs_group *g, int64_t x, int64_t reach, int64_t *length)
{
    const struct gs_stream *p = &s->streams[g->first];
    const int64_t all = (jobs_before(x + g->latest, g->period) + 1) * g->sum; /* no job after these begins */
    int64_t most = -1, ramp;
    *length = 0;
    for (size_t k = 0; k < g->n && all - p[k].before > most; k++) {
        const int64_t t = x + p[k].latest + min64(p[k].slack, reach), jobs = jobs_before(t, g->period);
        const int64_t ended = p[k].before;
        if ((jobs + 1) * g->sum - ended <= most)
            continue; /* be it all of the last job */
        const int64_t work = jobs * g->sum + job_work(p, g->n, t - jobs * g->period, &ramp) - ended;
        if (work > most || (work == most && ramp > *length)) {
            most = work;
            *length = ramp;
        }
    }
    return most > 0 ? most : 0;
}

/* How long before the window the higher priorities' segments may have become ready, how many pieces may have been ready
 * even longer, and how many servers lower priorities may hold when it begins. */
struct reach {
    int64_t before;
    int carried, lower;
};

/* What keeps servers busy; and the parts of it that go on growing by one for each unit, for how long: the longest, one
 * for each of the servers that have to be busy, descending. */
struct demand {
    int64_t total;
    int busy, growing;
    int64_t length[GS_CONFIG_MAX_SERVERS];
};

static void add(struct demand *d, int64_t weight, int64_t work, int64_t length)
{
    d->total += weight * work;
    if (length <= 0)
        return;
    for (int64_t k = 0; k < weight; k++) {
        int at = d->growing < d->busy ? d->growing++ : d->busy;
        if (at == d->busy && length <= d->length[--at])
            return;
        for (; at > 0 && d->length[at - 1] < length; at--)
            d->length[at] = d->length[at - 1];
        d->length[at] = length;
    }
}

/* Nothing from y on to what is returned, that excluded, has a demand below busy * y: k parts grow for length[k - 1]. */
static int64_t next_of(const struct demand *d, int64_t y)
{
    int64_t next = d->total / d->busy + 1;
    for (int k = 1; k <= d->growing; k++) {
        int64_t far = y + d->length[k - 1];
        if (k < d->busy)
            far = min64(far, (d->total - k * y) / (d->busy - k) + 1);
        next = far > next ? far : next;
    }
    return next;
}

/* At most `most` of the work, which grows by a unit for each of `most`. */
static int64_t capped(int64_t work, int64_t most, int64_t *length)
{
    if (work >= most)
        *length = work - most;
    return min64(work, most);
}

static void add_lower(struct demand *d, const struct gs_window *w, const struct reach *r, int64_t y)
{
    const struct gs_wait *wait = &w->wait;
    for (int i = 0; wait->lower && i < wait->busy && wait->lower[i] > 1; i++) {
        int64_t rest = wait->lower[i] - 1, length = rest - y;
        add(d, w->asks - (i >= r->lower), min64(rest, y), length);
    }
}

/* How many servers the window's segments wait for, one after another; a piece waits for one of them. */
static int spread_of(const struct gs_window *w, int servers)
{
    const struct gs_wait *wait = &w->wait;
    if (wait->busy > 1 || (!wait->chunked && wait->pieces == 1))
        return wait->busy;
    const int visits = wait->pieces > 1 ? w->asks : w->segments, most = wait->pieces > 1 ? wait->pieces : servers;
    return visits < most ? visits : most;
}

/* One task whose mode isn't known: the least of its modes' work, and how that goes on. */
static size_t add_modes(struct demand *d, const struct gs_servers *s, size_t i, int64_t x, int64_t before, int64_t y,
                        int most)
{
    int64_t least = INT64_MAX, weight = most, length = INT64_MAX;
    size_t end = i;
    do {
        const struct gs_group *g = &s->groups[end];
        int64_t ramp, work = capped(gs_joint_work(s, g, x, before, &ramp), y, &ramp);
        const int pieces = g->pieces < most ? g->pieces : most;
        s->growth[end].work = pieces * work;
        s->growth[end].alone = ramp;
        least = min64(least, pieces * work);
        weight = min64(weight, pieces);
    } while (++end < s->n_groups && s->groups[end].next);
    for (size_t k = i; k < end; k++)
        length = min64(length, s->growth[k].alone + (s->growth[k].work - least) / weight);
    d->total += least;
    add(d, weight, 0, length);
    return end;
}

/* The largest pieces carried into the window, descending. */
struct carried {
    int n;
    size_t group[GS_CONFIG_MAX_SERVERS];
    int64_t more[GS_CONFIG_MAX_SERVERS];
};

static void offer(struct carried *c, size_t group, int64_t more)
{
    int at = c->n - 1;
    if (at < 0 || more <= c->more[at])
        return;
    for (; at > 0 && c->more[at - 1] < more; at--) {
        c->more[at] = c->more[at - 1];
        c->group[at] = c->group[at - 1];
    }
    c->more[at] = more;
    c->group[at] = group;
}

static struct demand demand_of(const struct gs_window *w, struct gs_servers *s, const struct reach *r, int64_t inside,
                               int most, int64_t y)
{
    struct demand d = {.busy = w->wait.busy};
    struct carried carried = {.n = r->carried};
    const int64_t x = y + inside;
    memset(carried.more, 0, (size_t)carried.n * sizeof *carried.more);
    add(&d, w->wait.extra, min64(w->own, y), w->own - y);
    add_lower(&d, w, r, y);
    d.total += w->excess;
    for (size_t i = 0; i < s->n_groups;) {
        const struct gs_group *g = &s->groups[i];
        if (!g->only) {
            i = add_modes(&d, s, i, x, r->before, y, most);
            continue;
        }
        int64_t length, more_length = 0, work = capped(gs_joint_work(s, g, x, r->before, &length), y, &length),
                        more = 0;
        int weight = g->pieces < most ? g->pieces : most;
        if (r->carried && work < y)
            more = capped(gs_joint_work(s, g, x, INT64_MAX, &more_length), y, &more_length) - work;
        s->growth[i] = (struct gs_growth){.alone = length, .carried = more_length};
        for (int k = 0; k < weight && more > 0; k++)
            offer(&carried, i, more);
        s->growth[i++].work = work;
    }
    for (int k = 0; k < carried.n && carried.more[k]; k++) {
        struct gs_growth *g = &s->growth[carried.group[k]];
        add(&d, 1, g->work + carried.more[k], g->carried);
        g->room++;
    }
    for (size_t i = 0; i < s->n_groups; i++) {
        const struct gs_group *g = &s->groups[i];
        const int weight = g->pieces < most ? g->pieces : most;
        if (g->only)
            add(&d, weight - s->growth[i].room, s->growth[i].work, s->growth[i].alone);
    }
    return d;
}

/* The least y above `waits` with a demand below busy * y, less one; or the limit. */
static int64_t search(const struct gs_window *w, struct gs_servers *s, const struct reach *r, int64_t inside,
                      int64_t waits, int64_t limit)
{
    enum { MANY_STEPS = 10000 };
    const int most = spread_of(w, s->m);
    for (int64_t y = waits + 1, step = 0; y <= limit; step++) {
        const struct demand d = demand_of(w, s, r, inside, most, y);
        if (d.total < d.busy * y)
            return y - 1;
        /* Whatever the inputs, there is an end: any y that passes the test above will do, if not the least one. */
        y = next_of(&d, y);
        y += step >= MANY_STEPS ? y / 16 : 0;
    }
    return limit;
}

/* What passes in the window of r besides its own waits. */
static int64_t inside_of(const struct gs_window *windows, int r)
{
    int64_t sum = windows[r].inside;
    for (int k = 0; k < GS_RESOURCES; k++)
        if (k != r)
            sum += min64(windows[k].waits, windows[r].others[k]);
    return sum;
}

static int64_t waits_of(struct gs_window *windows, struct gs_servers *servers, int r)
{
    struct gs_window *w = &windows[r];
    const struct gs_wait *wait = &w->wait;
    const int64_t inside = inside_of(windows, r);
    if (inside == w->searched)
        return w->waits;
    w->searched = inside;
    const bool all = wait->carry_all || (wait->busy == 1 && spread_of(w, servers->m) > 1);
    const struct reach whole = {all ? INT64_MAX : 0, all ? 0 : wait->busy - 1, wait->busy};
    int64_t waits = search(w, servers, &whole, inside, w->waits, w->apart);
    if (!wait->preemptive && !all && wait->own > 1 && waits < w->apart) {
        /* The job before may have held a server while higher priorities queued up. */
        const struct reach held = {wait->own - 1, wait->busy - 1, wait->busy - 1};
        waits = search(w, servers, &held, inside, waits, w->apart);
    }
    w->waits = waits;
    return waits;
}

/* What the windows of a chain hold, and for how long each lasts besides its own waits. */
static void fill(struct gs_window *windows, const struct gs_chain *c, const struct gs_segment_result *delays,
                 int64_t limit)
{
    int64_t passed[GS_RESOURCES] = {0}, waited[GS_RESOURCES][GS_RESOURCES] = {{0}};
    for (int r = 0; r < GS_RESOURCES; r++)
        windows[r] = (struct gs_window){.wait = windows[r].wait, .excess = windows[r].excess, .searched = -1};
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        const int64_t time = s->worst_ns + s->pause_ns, delay = delays[j].delay_ns;
        struct gs_window *w = &windows[s->resource];
        if (!s->worst_ns)
            continue;
        w->inside = passed[s->resource] + (w->wait.preemptive || w->wait.chunked ? time - 1 : 0);
        memcpy(w->others, waited[s->resource], sizeof w->others);
        w->segments++;
        w->asks += 1 + s->pauses;
        w->own += s->worst_ns;
        w->apart = min64(w->apart + delay, limit);
        for (int r = 0; r < GS_RESOURCES; r++)
            if (windows[r].segments) {
                passed[r] += time;
                waited[r][s->resource] += delay;
            }
    }
}

int64_t gs_window_waits(struct gs_window *windows, struct gs_servers *servers, const struct gs_chain *c,
                        const struct gs_segment_result *delays, int64_t limit)
{
    int64_t sum = 0, before;
    fill(windows, c, delays, limit);
    do {
        before = sum;
        sum = 0;
        for (int r = 0; r < GS_RESOURCES; r++)
            if (windows[r].segments)
                sum += waits_of(windows, &servers[r], r);
    } while (sum > before && sum < limit);
    return min64(sum, limit);
}
