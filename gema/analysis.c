/* SPDX-License-Identifier: MIT */
/* Response times, task by task from the most urgent. What waiting adds up to on one kind of server is in gema/delay.c.
 */
#include "gema/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "gema/analyzer.h"

const char *const gs_analysis_names[GS_ANALYSES] = {"safe", "paper", "segments"};

/* A response time is cut off at so many half periods of its task; it misses its deadline by far then. Policies need to
 * know less exactly how far than people do. Algorithm 1 of GPU-SPARC compares whole response times, whatever they are:
 * what comes to PAPER_CUT counts as endless there. */
enum { POLICY_CUT = 3, REPORT_CUT = 4, PAPER_CUT = 2000 };

/* The R/D of a response that never ends. */
#define ENDLESS 1e18

static const struct gs_chain *chain_of(const struct gs_analyzer *a, size_t task, int g)
{
    return &a->model->tasks[task].chains[g];
}

static struct gs_chain_load *load_of(const struct gs_analyzer *a, size_t task, int g)
{
    return &a->load[(task * (size_t)(a->gpus + 1) + (size_t)g) * GS_RESOURCES];
}

static int64_t *lower_of(const struct gs_analyzer *a, size_t task, int resource)
{
    return &a->lower[(task * GS_RESOURCES + (size_t)resource) * GS_CONFIG_MAX_SERVERS];
}

static int64_t min64(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t max64(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static int pieces_of(int resource, int g)
{
    return resource == GS_GPU ? g : 1;
}

/* Puts `count` pieces of length v into the descending list of at most m. */
static void insert_pieces(int64_t *list, int m, int64_t v, int count)
{
    while (count-- > 0) {
        int at = m;
        while (at > 0 && list[at - 1] < v)
            at--;
        if (at == m)
            return;
        memmove(&list[at + 1], &list[at], (size_t)(m - at - 1) * sizeof *list);
        list[at] = v;
    }
}

/* What the task can at least be counted on to block with, whichever mode of the set it gets. */
static void insert_least(const struct gs_analyzer *a, size_t task, uint64_t set, int r, int64_t *list)
{
    int m = a->model->servers[r];
    if (!(set & (set - 1))) {
        int g = __builtin_ctzll(set) + 1;
        insert_pieces(list, m, load_of(a, task, g)[r].longest, pieces_of(r, g));
        return;
    }
    int64_t least = INT64_MAX;
    for (uint64_t s = set; s; s &= s - 1) {
        int64_t longest = load_of(a, task, __builtin_ctzll(s) + 1)[r].longest;
        least = longest < least ? longest : least;
    }
    insert_pieces(list, m, least, 1);
}

/* The longest pieces of what is below all tasks. A unit that runs has begun before a segment waits for it, so that one
 * unit of time less is left; one that is kept isn't taken back earlier for that. */
static void begin_lower(const struct gs_analyzer *a, int r, int64_t *list)
{
    const struct gs_model *m = a->model;
    memset(list, 0, (size_t)m->servers[r] * sizeof *list);
    if (a->chunked[r] && m->chunk_ns[r])
        list[0] = m->depth * m->chunk_ns[r] + m->late_ns + m->handover_ns + (m->patience_ns[r] > 0);
}

/* For each task the longest pieces of lower priorities that can hold servers when one of its segments becomes ready. A
 * task is in one segment at a time, so it holds at most the pieces of its longest. */
static void fill_lower(struct gs_analyzer *a, const uint64_t *sets)
{
    size_t n = a->model->n_tasks;
    for (int r = 0; r < GS_RESOURCES; r++) {
        if (a->model->preemptive[r] || n == 0)
            continue;
        size_t bytes = (size_t)a->model->servers[r] * sizeof(int64_t);
        begin_lower(a, r, lower_of(a, n - 1, r));
        for (size_t i = n - 1; i > 0; i--) {
            memcpy(lower_of(a, i - 1, r), lower_of(a, i, r), bytes);
            insert_least(a, i, sets[i], r, lower_of(a, i - 1, r));
        }
    }
}

/* For how long an application below all tasks may keep a server at most, its patience included. */
static int64_t kept_of(const struct gs_analyzer *a, int r)
{
    const struct gs_model *m = a->model;
    const bool keeps = a->chunked[r] && m->patience_ns[r];
    return keeps ? m->depth * m->chunk_ns[r] + m->patience_ns[r] + m->handover_ns + 1 : 0;
}

/* Do the chain's waits together have less than a whole patience each? */
static bool shares_excess(const struct gs_analyzer *a, size_t task, const struct gs_chain *c)
{
    int64_t most = 0;
    for (size_t j = 0; j < c->n; j++)
        if (a->chunked[c->segments[j].resource] && c->segments[j].worst_ns)
            most += (c->segments[j].pauses + 1) * a->model->patience_ns[c->segments[j].resource];
    return a->model->tasks[task].excess_ns < most;
}

/* The delay of one segment; where its job's waits share an excess, also with as much of it as can be in this one's. */
static void delay_of(struct gs_analyzer *a, const struct gs_segment *s, struct gs_wait *wait, int64_t excess,
                     int64_t left, struct gs_segment_result *o)
{
    struct gs_servers *servers = &a->servers[s->resource];
    o->delay_ns = gs_delay_safe(wait, servers, s->worst_ns, left, &o->blocking_ns);
    if (!excess)
        return;
    struct gs_wait longer = *wait;
    const int64_t least = o->delay_ns;
    longer.excess = excess;
    longer.flat = -1;
    o->delay_ns = gs_delay_safe(&longer, servers, s->worst_ns, left + excess, &o->blocking_ns);
    o->excess_ns = min64(excess, o->delay_ns - least);
}

/* What is known of waiting on one kind of server, whichever segment of the chain waits. */
static struct gs_wait wait_of(struct gs_analyzer *a, size_t task, int g, int r, bool shares)
{
    const struct gs_model *m = a->model;
    struct gs_wait wait = {.pieces = pieces_of(r, g),
                           .preemptive = m->preemptive[r],
                           .chunked = a->chunked[r],
                           .policy = m->pieces,
                           .lower = m->preemptive[r] ? NULL : lower_of(a, task, r),
                           .own = load_of(a, task, g)[r].longest};
    if (a->chunked[r]) {
        a->lowest[r] = max64(wait.lower[0], shares ? 0 : kept_of(a, r));
        wait.lower = &a->lowest[r];
        wait.own = max64(wait.own, shares ? kept_of(a, r) : 0);
    }
    if (a->analysis != GS_ANALYSIS_PAPER)
        gs_wait_prepare(&wait, &a->servers[r]);
    return wait;
}

/* By how much together applications below all tasks may keep servers longer from a segment, or from several that wait
 * so often, where the job's waits share an excess. */
static int64_t excess_of(const struct gs_analyzer *a, size_t task, int r, int waits)
{
    return min64(a->model->tasks[task].excess_ns, waits * max64(kept_of(a, r) - a->lowest[r], 0));
}

/* The delay of one segment by the paper's formula, or `left`. Only past two periods it is worth asking whether the
 * search has an end at all. */
static int64_t paper_delay(struct gs_analyzer *a, size_t task, struct gs_wait *wait, const struct gs_segment *s,
                           int64_t left, int64_t *blocking)
{
    struct gs_servers *servers = &a->servers[s->resource];
    const int64_t near = min64(left, 2 * a->model->tasks[task].period_ns);
    const int64_t delay = gs_delay_paper(wait, servers, s->worst_ns, near, blocking);
    if (delay < near || near == left)
        return delay;
    return gs_servers_full(servers) ? left : gs_delay_paper(wait, servers, s->worst_ns, left, blocking);
}

/* The delays of one chain's segments into out[], each in a window of its own, up to `left`. One that is longer counts
 * as far more: only theorem 11 can tell then. */
static void chain_delays(struct gs_analyzer *a, size_t task, int g, int64_t left, bool shares,
                         struct gs_segment_result *out)
{
    enum { FAR = 8 };
    const struct gs_chain *c = chain_of(a, task, g);
    const uint16_t *order = a->order[task * (size_t)(a->gpus + 1) + (size_t)g];
    const bool counts = shares && !a->several;
    struct gs_wait *wait = NULL;
    int last = -1;
    for (size_t k = 1; k <= order[0]; k++) {
        const struct gs_segment *s = &c->segments[order[k]];
        struct gs_segment_result *o = &out[order[k]];
        const int r = (int)s->resource;
        if (r != last) {
            wait = &a->windows[r].wait;
            *wait = wait_of(a, task, g, r, shares);
            last = r;
        }
        struct gs_wait pausing = *wait; /* its delay says nothing of the others' */
        pausing.known = pausing.flat = -1;
        pausing.pauses = s->pauses;
        pausing.pause_ns = s->pause_ns;
        pausing.spread = wait->pieces > 1 ? wait->pieces : 0;
        const int64_t excess = counts ? excess_of(a, task, r, s->pauses + 1) : 0;
        if (a->analysis != GS_ANALYSIS_PAPER)
            delay_of(a, s, s->pauses ? &pausing : wait, excess, left, o);
        else
            o->delay_ns = paper_delay(a, task, wait, s, left, &o->blocking_ns);
        if (o->delay_ns - o->excess_ns < left)
            continue;
        o->delay_ns = max64(FAR * a->model->tasks[task].period_ns, left);
        o->blocking_ns = o->excess_ns = 0;
        if (a->analysis != GS_ANALYSIS_SAFE)
            return;
    }
}

/* How long a job may wait for the daemon's word which of several GPUs it is to use: theorem 8. */
static int64_t asks_for(const struct gs_analyzer *a, int g)
{
    return a->chunked[GS_GPU] && g == 1 && a->gpus > 1 ? a->model->handover_ns : 0;
}

/* What all segments of the chain wait at most by theorem 11, or `left`: with one window for all on one kind of server.
 */
static int64_t chain_waits(struct gs_analyzer *a, size_t task, int g, int64_t left, bool shares,
                           const struct gs_segment_result *delays)
{
    const struct gs_chain *c = chain_of(a, task, g);
    int waits[GS_RESOURCES] = {0};
    for (size_t j = 0; j < c->n; j++)
        waits[c->segments[j].resource] += 1 + c->segments[j].pauses;
    for (int r = 0; r < GS_RESOURCES; r++)
        a->windows[r].excess = shares && !a->several ? excess_of(a, task, r, waits[r]) : 0;
    return gs_window_waits(a->windows, a->servers, c, delays, left);
}

/* The response times of one task's chain into out[]. Returns R; *cut: it is more than that, which is the limit, or what
 * the chain takes by itself, if that is more. */
static int64_t chain_response(struct gs_analyzer *a, size_t task, int g, int64_t limit, struct gs_segment_result *out,
                              bool *cut)
{
    const struct gs_chain *c = chain_of(a, task, g);
    const int64_t excess = a->model->tasks[task].excess_ns, asks = asks_for(a, g);
    const int64_t left = limit - gs_chain_worst(c) - asks;
    const bool shares = shares_excess(a, task, c);
    int64_t alone = asks, shared = 0, ready = 0, ended = asks, whole = limit, rest = gs_chain_best(c);
    memset(out, 0, c->n * sizeof *out);
    if (left > 0)
        chain_delays(a, task, g, left, shares, out);
    if (left > 0 && a->analysis == GS_ANALYSIS_SAFE)
        whole = limit - left + chain_waits(a, task, g, left, shares, out);
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        const int64_t before = ended;
        out[j].response_ns = out[j].delay_ns + s->worst_ns + s->pause_ns;
        alone += out[j].response_ns - out[j].excess_ns;
        shared += out[j].excess_ns;
        rest -= s->best_ns;
        ended = min64(alone + min64(shared, excess), before + out[j].response_ns);
        ended = min64(ended, whole < limit ? whole - rest : limit);
        out[j].jitter_ns = max64(min64(before, ended - s->worst_ns) - ready, 0);
        out[j].slack_ns = max64(ended - s->worst_ns - ready - out[j].jitter_ns, 0);
        /* The paper's jitter takes the worst times for the best, section IV-B. */
        ready += a->analysis == GS_ANALYSIS_PAPER ? s->worst_ns : s->best_ns;
    }
    *cut = ended >= limit;
    for (size_t j = 0; j < c->n && *cut; j++) {
        out[j].delay_ns = min64(out[j].delay_ns, max64(left, 0));
        out[j].response_ns = out[j].delay_ns + c->segments[j].worst_ns + c->segments[j].pause_ns;
    }
    return *cut ? limit - min64(left, 0) : ended;
}

/* The time that the paper's formula charges for the k-th GPU segment of a chain: C^S, section IV-B. */
static int64_t alpha_of(const struct gs_analyzer *a, size_t task, const struct gs_chain *c, size_t j)
{
    const struct gs_chain *single = chain_of(a, task, 1);
    size_t k = 0;
    for (size_t i = 0; i < j; i++)
        k += c->segments[i].resource == GS_GPU;
    for (size_t i = 0; i < single->n; i++)
        if (single->segments[i].resource == GS_GPU && k-- == 0)
            return single->segments[i].worst_ns;
    return c->segments[j].worst_ns;
}

/* Makes the chain one of those that the tasks below have to wait for. */
static void add_higher(struct gs_analyzer *a, size_t task, int g, const struct gs_segment_result *res,
                       enum gs_group_kind kind)
{
    const struct gs_chain *c = chain_of(a, task, g);
    const struct gs_chain_load *load = load_of(a, task, g);
    int64_t period = a->model->tasks[task].period_ns, best = 0;
    for (int r = 0; r < GS_RESOURCES; r++)
        if (load[r].n || kind != GS_GROUP_ONLY)
            gs_servers_begin(&a->servers[r], load[r].n ? pieces_of(r, g) : 1, period, kind);
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        int64_t worst = min64(s->worst_ns + s->back_ns, period);
        if (!s->worst_ns)
            continue;
        if (a->analysis == GS_ANALYSIS_PAPER)
            worst = s->resource == GS_GPU ? alpha_of(a, task, c, j) : s->worst_ns;
        /* One that pauses may have become ready long before a window in which it is at work (theorem 9). */
        const int64_t late = s->pauses ? res[j].slack_ns : 0;
        gs_servers_add(&a->servers[s->resource], worst, res[j].jitter_ns + late, res[j].slack_ns - late, best);
        best += a->analysis == GS_ANALYSIS_PAPER ? s->worst_ns : s->best_ns;
    }
}

enum { LOCAL_SETS = 64 };

/* One-mode sets of the modes; from `local` where there is room, else from the heap. */
static uint64_t *sets_of(const struct gs_analyzer *a, const int *modes, uint64_t *local)
{
    size_t n = a->model->n_tasks;
    uint64_t *sets = n <= LOCAL_SETS ? local : malloc(n * sizeof *sets);
    for (size_t i = 0; sets && i < n; i++)
        sets[i] = UINT64_C(1) << (modes[i] - 1);
    return sets;
}

static bool same_lower(const struct gs_analyzer *a, size_t task)
{
    size_t at = task * GS_RESOURCES * GS_CONFIG_MAX_SERVERS;
    for (int r = 0; r < GS_RESOURCES; r++, at += GS_CONFIG_MAX_SERVERS)
        if (!a->model->preemptive[r] &&
            memcmp(&a->lower[at], &a->old_lower[at], (size_t)a->model->servers[r] * sizeof *a->lower) != 0)
            return false;
    return true;
}

/* Prepares for these modes and keeps of the last analysis what still holds: the tasks above the first one whose mode or
 * whose blocking differs. */
static int restart(struct gs_analyzer *a, const int *modes)
{
    uint64_t local[LOCAL_SETS] = {0}, *sets = sets_of(a, modes, local);
    int64_t *lower = a->lower;
    size_t keep = 0;
    if (!sets)
        return -1;
    a->lower = a->old_lower;
    a->old_lower = lower;
    fill_lower(a, sets);
    if (sets != local)
        free(sets);
    while (keep < a->valid && a->modes[keep] == modes[keep] && same_lower(a, keep))
        keep++;
    for (int r = 0; r < GS_RESOURCES; r++)
        gs_servers_cut(&a->servers[r], a->marks[keep].streams[r], a->marks[keep].groups[r]);
    a->valid = keep;
    return 0;
}

static double ratio_of(const struct gs_analyzer *a, size_t i)
{
    if (a->analysis == GS_ANALYSIS_PAPER && a->tasks[i].cut)
        return ENDLESS;
    return (double)a->tasks[i].response_ns / (double)a->model->tasks[i].deadline_ns;
}

/* Where the task's waiting is cut off: R/D is `ratio` or more for sure then (*early), or it is far too long. */
static int64_t limit_of(const struct gs_task *t, double ratio, int half_periods, bool *early)
{
    const int64_t limit = half_periods * t->period_ns / 2;
    *early = ratio * (double)t->deadline_ns < (double)limit;
    return *early ? (int64_t)(ratio * (double)t->deadline_ns) + 1 : limit;
}

/* Has the task that decided the last question R/D of `ratio` or more, even if those above it that aren't known never
 * waited? Less jitter is never a longer response (docs/analysis.md, "Pruning"), so these needn't be analyzed then. */
static bool decides_again(struct gs_analyzer *a, const int *modes, double ratio, int half_periods)
{
    const size_t first = a->valid, i = a->decisive;
    bool cut, early;
    if (i >= a->model->n_tasks || i < first + 2)
        return false;
    for (size_t k = first; k < i; k++)
        add_higher(a, k, modes[k], a->waitless, GS_GROUP_ONLY);
    const struct gs_task *t = &a->model->tasks[i];
    const int64_t limit = limit_of(t, ratio, half_periods, &early);
    const int64_t response = chain_response(a, i, modes[i], limit, a->scratch, &cut);
    for (int r = 0; r < GS_RESOURCES; r++)
        gs_servers_cut(&a->servers[r], a->marks[first].streams[r], a->marks[first].groups[r]);
    return (double)response / (double)t->deadline_ns >= ratio;
}

/* Analyzes one more task into a->tasks[i]. Its waiting is cut off where R/D is `ratio` or more for sure. */
static void analyze_next(struct gs_analyzer *a, size_t i, int mode, double ratio, int half_periods)
{
    const struct gs_task *t = &a->model->tasks[i];
    struct gs_segment_result *res = &a->segments[i * a->longest];
    bool cut, early;
    const int64_t limit = limit_of(t, ratio, half_periods, &early);
    int64_t response = chain_response(a, i, mode, limit, res, &cut);
    /* A job that the one before it may outlast waits for that, which no window here covers. */
    bool proven = (i == 0 || a->tasks[i - 1].proven) && !cut && response <= t->period_ns &&
                  (a->analysis == GS_ANALYSIS_PAPER || gs_model_counts_handovers(a->given, i, mode));
    a->tasks[i] = (struct gs_task_result){response, response <= t->deadline_ns, proven, cut, res};
    a->modes[i] = mode;
    add_higher(a, i, mode, res, GS_GROUP_ONLY);
    for (int r = 0; r < GS_RESOURCES; r++) {
        a->marks[i + 1].streams[r] = a->servers[r].n_streams;
        a->marks[i + 1].groups[r] = a->servers[r].n_groups;
    }
    /* What was cut off for this question may be no answer to the next. */
    if (!(cut && early) && a->valid == i)
        a->valid = i + 1;
    if (cut && half_periods < REPORT_CUT && i < a->first_cut)
        a->first_cut = i;
}

/* Analyzes task after task, until one has R/D of at least `ratio`. Returns the largest R/D. */
static double analyze_until(struct gs_analyzer *a, const int *modes, double ratio, int half_periods)
{
    double worst = 0;
    if (a->analysis == GS_ANALYSIS_PAPER)
        half_periods = PAPER_CUT;
    if (half_periods == REPORT_CUT && a->first_cut < a->valid)
        a->valid = a->first_cut;
    a->result.schedulable = false;
    if (restart(a, modes))
        return 1e9;
    if (a->first_cut >= a->valid)
        a->first_cut = SIZE_MAX;
    bool schedulable = true;
    const size_t known = a->valid;
    for (size_t i = 0; i < a->model->n_tasks && worst < ratio; i++) {
        if (i == known && decides_again(a, modes, ratio, half_periods))
            return ratio;
        if (i >= a->valid)
            analyze_next(a, i, modes[i], ratio, half_periods);
        if (ratio_of(a, i) >= ratio)
            a->decisive = i;
        schedulable = schedulable && a->tasks[i].schedulable;
        worst = ratio_of(a, i) > worst ? ratio_of(a, i) : worst;
    }
    a->result.schedulable = schedulable;
    return worst;
}

const struct gs_result *gs_analyze(struct gs_analyzer *a, const int *modes)
{
    analyze_until(a, modes, 1e300, REPORT_CUT);
    return &a->result;
}

bool gs_schedulable(struct gs_analyzer *a, const int *modes)
{
    /* The ratio is a double, and R may exceed D by less than it can tell; the flag is exact. */
    analyze_until(a, modes, 1.0000001, POLICY_CUT);
    return a->result.schedulable;
}

double gs_worst_ratio(struct gs_analyzer *a, const int *modes, double limit)
{
    /* Below an endless response no other decides. */
    return analyze_until(a, modes, limit < ENDLESS ? limit : ENDLESS, POLICY_CUT);
}

/* What is known of a task that meets its deadline, and of nothing else: each segment ends so early that the rest's best
 * times fit in. */
static void ends_by_deadline(const struct gs_analyzer *a, size_t task, int g, struct gs_segment_result *res)
{
    const struct gs_chain *c = chain_of(a, task, g);
    int64_t ready = 0, before = asks_for(a, g), ended = a->model->tasks[task].deadline_ns - gs_chain_best(c);
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        ended += s->best_ns;
        res[j].jitter_ns = max64(min64(before, ended - s->worst_ns) - ready, 0);
        res[j].slack_ns = max64(ended - s->worst_ns - ready - res[j].jitter_ns, 0);
        ready += s->best_ns;
        before = ended;
    }
}

bool gs_meets_above(struct gs_analyzer *a, size_t task, const int *modes, const bool *below)
{
    const int64_t deadline = a->model->tasks[task].deadline_ns;
    bool cut;
    gs_analyzer_forget(a);
    for (int r = 0; r < GS_RESOURCES; r++)
        gs_servers_cut(&a->servers[r], 0, 0);
    for (int r = 0; r < GS_RESOURCES; r++)
        if (!a->model->preemptive[r])
            begin_lower(a, r, lower_of(a, task, r));
    for (size_t k = 0; k < a->model->n_tasks; k++) {
        for (int r = 0; r < GS_RESOURCES && below[k]; r++)
            if (!a->model->preemptive[r])
                insert_least(a, k, UINT64_C(1) << (modes[k] - 1), r, lower_of(a, task, r));
        if (below[k] || k == task)
            continue;
        ends_by_deadline(a, k, modes[k], a->scratch);
        add_higher(a, k, modes[k], a->scratch, GS_GROUP_ONLY);
    }
    return chain_response(a, task, modes[task], deadline + 1, a->scratch, &cut) <= deadline;
}

/* One pass from the most urgent task down. Each response time is a lower bound of what `a` would compute for any choice
 * of the other modes from their sets (docs/analysis.md, "Pruning"). *fewer: a mode was taken out. */
static bool prune_once(struct gs_analyzer *a, uint64_t *sets, bool *fewer)
{
    a->valid = 0;
    for (int r = 0; r < GS_RESOURCES; r++)
        gs_servers_cut(&a->servers[r], 0, 0);
    fill_lower(a, sets);
    a->several = false;
    for (size_t i = 0; i < a->model->n_tasks; i++)
        a->several = a->several || (sets[i] & (sets[i] - 1));
    for (size_t i = 0; i < a->model->n_tasks; i++) {
        int64_t deadline = a->model->tasks[i].deadline_ns;
        bool cut;
        /* All modes first: a task doesn't wait for itself. */
        for (uint64_t s = sets[i]; s; s &= s - 1) {
            int g = __builtin_ctzll(s) + 1;
            if (chain_response(a, i, g, deadline + 1, &a->scratch[(size_t)g * a->longest], &cut) > deadline) {
                sets[i] &= ~(UINT64_C(1) << (g - 1));
                *fewer = true;
            }
        }
        if (!sets[i])
            return false;
        enum gs_group_kind kind = sets[i] & (sets[i] - 1) ? GS_GROUP_FIRST : GS_GROUP_ONLY;
        for (uint64_t s = sets[i]; s; s &= s - 1, kind = GS_GROUP_NEXT) {
            int g = __builtin_ctzll(s) + 1;
            add_higher(a, i, g, &a->scratch[(size_t)g * a->longest], kind);
        }
    }
    return true;
}

bool gs_prune_modes(struct gs_analyzer *a, uint64_t *sets)
{
    for (size_t i = 0; i < a->model->n_tasks; i++)
        if (!sets[i])
            return false;
    bool may = true;
    for (bool fewer = true; fewer && may;) {
        fewer = false;
        may = prune_once(a, sets, &fewer);
    }
    a->several = false;
    return may;
}
