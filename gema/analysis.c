/* SPDX-License-Identifier: MIT */
/* Response times, task by task from the most urgent. What waiting adds up to on one kind of server is in gema/delay.c.
 */
#include "gema/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "gema/delay.h"

const char *const gs_analysis_names[GS_ANALYSES] = {"safe", "paper"};

/* A segment's response is cut off at so many periods of its task; the task misses its deadline by far then. */
enum { CUT_PERIODS = 4 };

/* What one chain puts on one resource. */
struct chain_load {
    int64_t longest; /* worst time of its longest segment there; 0: none */
    int n;           /* segments there */
};

struct gs_analyzer {
    const struct gs_model *model;
    enum gs_analysis analysis;
    int gpus;
    struct gs_servers servers[GS_RESOURCES]; /* the higher priorities' segments, as far as the analysis has come */
    struct chain_load *load;                 /* [task][gpus + 1][resource] */
    int64_t *lower;                     /* [task][resource][servers]: largest pieces of lower priorities, descending */
    struct gs_segment_result *segments; /* of the chains in use */
    struct gs_task_result *tasks;
    struct gs_result result;
    struct gs_segment_result *scratch; /* one chain's */
};

static const struct gs_chain *chain_of(const struct gs_analyzer *a, size_t task, int g)
{
    return &a->model->tasks[task].chains[g];
}

static struct chain_load *load_of(const struct gs_analyzer *a, size_t task, int g)
{
    return &a->load[(task * (size_t)(a->gpus + 1) + (size_t)g) * GS_RESOURCES];
}

static int64_t *lower_of(const struct gs_analyzer *a, size_t task, int resource)
{
    return &a->lower[(task * GS_RESOURCES + (size_t)resource) * GS_CONFIG_MAX_SERVERS];
}

static int pieces_of(int resource, int g)
{
    return resource == GS_GPU ? g : 1;
}

static void fill_loads(struct gs_analyzer *a)
{
    for (size_t i = 0; i < a->model->n_tasks; i++)
        for (int g = 1; g <= a->gpus; g++) {
            const struct gs_chain *c = chain_of(a, i, g);
            struct chain_load *load = load_of(a, i, g);
            for (size_t j = 0; j < c->n; j++) {
                struct chain_load *l = &load[c->segments[j].resource];
                if (!c->segments[j].worst_ns)
                    continue;
                l->n++;
                if (c->segments[j].worst_ns > l->longest)
                    l->longest = c->segments[j].worst_ns;
            }
        }
}

struct gs_analyzer *gs_analyzer_new(const struct gs_model *model, enum gs_analysis analysis)
{
    struct gs_analyzer *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    size_t n = model->n_tasks, all = 0, longest = 0, streams[GS_RESOURCES] = {0}, groups = 0;
    a->model = model;
    a->analysis = analysis;
    a->gpus = model->servers[GS_GPU];
    for (size_t i = 0; i < n; i++)
        for (int g = 1; g <= a->gpus; g++) {
            const struct gs_chain *c = chain_of(a, i, g);
            all += c->n;
            groups += c->n > 0;
            longest = c->n > longest ? c->n : longest;
            for (size_t j = 0; j < c->n; j++)
                streams[c->segments[j].resource]++;
        }
    bool ok = true;
    for (int r = 0; r < GS_RESOURCES; r++)
        ok = gs_servers_init(&a->servers[r], model->servers[r], streams[r], groups) == 0 && ok;
    a->load = calloc(n * (size_t)(a->gpus + 1) * GS_RESOURCES + 1, sizeof *a->load);
    a->lower = calloc(n * GS_RESOURCES * GS_CONFIG_MAX_SERVERS + 1, sizeof *a->lower);
    a->segments = calloc(all + 1, sizeof *a->segments);
    a->tasks = calloc(n + 1, sizeof *a->tasks);
    a->scratch = calloc(longest + 1, sizeof *a->scratch);
    if (!ok || !a->load || !a->lower || !a->segments || !a->tasks || !a->scratch) {
        gs_analyzer_free(a);
        return NULL;
    }
    fill_loads(a);
    a->result = (struct gs_result){.n_tasks = n, .tasks = a->tasks};
    return a;
}

void gs_analyzer_free(struct gs_analyzer *a)
{
    if (!a)
        return;
    for (int r = 0; r < GS_RESOURCES; r++)
        gs_servers_free(&a->servers[r]);
    free(a->load);
    free(a->lower);
    free(a->segments);
    free(a->tasks);
    free(a->scratch);
    free(a);
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

/* For each task the longest pieces of lower priorities that can hold servers when one of its segments becomes ready. A
 * task is in one segment at a time, so it holds at most the pieces of its longest. */
static void fill_lower(struct gs_analyzer *a, const uint64_t *sets)
{
    size_t n = a->model->n_tasks;
    for (int r = 0; r < GS_RESOURCES; r++) {
        if (a->model->preemptive[r])
            continue;
        size_t bytes = (size_t)a->model->servers[r] * sizeof(int64_t);
        memset(lower_of(a, n - 1, r), 0, bytes);
        for (size_t i = n - 1; i > 0; i--) {
            memcpy(lower_of(a, i - 1, r), lower_of(a, i, r), bytes);
            insert_least(a, i, sets[i], r, lower_of(a, i - 1, r));
        }
    }
}

/* The response times of one task's chain into out[]. Returns R; *cut tells that a segment's was cut off. */
static int64_t chain_response(struct gs_analyzer *a, size_t task, int g, struct gs_segment_result *out, bool *cut)
{
    const struct gs_model *m = a->model;
    const struct gs_chain *c = chain_of(a, task, g);
    const struct chain_load *load = load_of(a, task, g);
    int64_t limit = CUT_PERIODS * m->tasks[task].period_ns, response = 0, best = 0;
    struct gs_wait waits[GS_RESOURCES];
    for (int r = 0; r < GS_RESOURCES; r++) {
        waits[r] = (struct gs_wait){.pieces = pieces_of(r, g),
                                    .preemptive = m->preemptive[r],
                                    .policy = m->pieces,
                                    .lower = m->preemptive[r] ? NULL : lower_of(a, task, r),
                                    .own = load[r].longest};
        if (load[r].n && a->analysis == GS_ANALYSIS_SAFE)
            gs_wait_prepare(&waits[r], &a->servers[r]);
    }
    *cut = false;
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        struct gs_segment_result *o = &out[j];
        *o = (struct gs_segment_result){.jitter_ns = response - best};
        if (s->worst_ns) {
            struct gs_wait *w = &waits[s->resource];
            if (a->analysis == GS_ANALYSIS_SAFE)
                o->delay_ns = gs_delay_safe(w, &a->servers[s->resource], s->worst_ns, limit, &o->blocking_ns);
            else
                o->delay_ns = gs_delay_paper(w, &a->servers[s->resource], s->worst_ns, limit, &o->blocking_ns);
        }
        o->response_ns = o->delay_ns + s->worst_ns;
        *cut = *cut || o->delay_ns >= limit;
        response += o->response_ns;
        /* The paper's jitter takes the worst times for the best, section IV-B. */
        best += a->analysis == GS_ANALYSIS_SAFE ? s->best_ns : s->worst_ns;
    }
    return response;
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
    const struct chain_load *load = load_of(a, task, g);
    int64_t period = a->model->tasks[task].period_ns;
    for (int r = 0; r < GS_RESOURCES; r++)
        if (load[r].n || kind != GS_GROUP_ONLY)
            gs_servers_begin(&a->servers[r], pieces_of(r, g), period, kind);
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        int64_t worst = s->worst_ns < period ? s->worst_ns : period;
        if (a->analysis == GS_ANALYSIS_PAPER && s->resource == GS_GPU)
            worst = alpha_of(a, task, c, j);
        if (worst)
            gs_servers_add(&a->servers[s->resource], worst, res[j].jitter_ns, res[j].delay_ns);
    }
}

static void restart(struct gs_analyzer *a, const uint64_t *sets)
{
    for (int r = 0; r < GS_RESOURCES; r++)
        gs_servers_clear(&a->servers[r]);
    if (a->model->n_tasks)
        fill_lower(a, sets);
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

/* Analyzes task after task into a->tasks, until one has R/D of at least `limit`. Returns the largest R/D. */
static double analyze_until(struct gs_analyzer *a, const int *modes, double limit)
{
    uint64_t local[LOCAL_SETS], *sets = sets_of(a, modes, local);
    double worst = 0;
    bool proven = true;
    size_t at = 0;
    a->result.schedulable = false;
    if (!sets)
        return 1e9;
    restart(a, sets);
    a->result.schedulable = true;
    for (size_t i = 0; i < a->model->n_tasks && worst < limit; i++) {
        const struct gs_task *t = &a->model->tasks[i];
        struct gs_segment_result *res = &a->segments[at];
        bool cut;
        int64_t response = chain_response(a, i, modes[i], res, &cut);
        a->tasks[i] = (struct gs_task_result){response, response <= t->deadline_ns, proven && !cut, res};
        a->result.schedulable = a->result.schedulable && a->tasks[i].schedulable;
        proven = proven && !cut && response <= t->period_ns;
        double ratio = (double)response / (double)t->deadline_ns;
        worst = ratio > worst ? ratio : worst;
        at += chain_of(a, i, modes[i])->n;
        if (i + 1 < a->model->n_tasks)
            add_higher(a, i, modes[i], res, GS_GROUP_ONLY);
    }
    if (sets != local)
        free(sets);
    return worst;
}

const struct gs_result *gs_analyze(struct gs_analyzer *a, const int *modes)
{
    analyze_until(a, modes, 1e300);
    return &a->result;
}

bool gs_schedulable(struct gs_analyzer *a, const int *modes)
{
    /* The ratio is a double, and R may exceed D by less than it can tell; the flag is exact. */
    analyze_until(a, modes, 1.0000001);
    return a->result.schedulable;
}

double gs_worst_ratio(struct gs_analyzer *a, const int *modes, double limit)
{
    return analyze_until(a, modes, limit);
}

/* One pass from the most urgent task down. Each response time is a lower bound of what `a` would compute for any choice
 * of the other modes from their sets (docs/analysis.md, "Pruning"). *fewer: a mode was taken out. */
static bool prune_once(struct gs_analyzer *a, uint64_t *sets, bool *fewer)
{
    restart(a, sets);
    for (size_t i = 0; i < a->model->n_tasks; i++) {
        bool several = sets[i] & (sets[i] - 1);
        enum gs_group_kind kind = several ? GS_GROUP_FIRST : GS_GROUP_ONLY;
        for (uint64_t s = sets[i]; s; s &= s - 1) {
            int g = __builtin_ctzll(s) + 1;
            bool cut;
            if (chain_response(a, i, g, a->scratch, &cut) > a->model->tasks[i].deadline_ns) {
                sets[i] &= ~(UINT64_C(1) << (g - 1));
                *fewer = true;
                continue;
            }
            add_higher(a, i, g, a->scratch, kind);
            kind = GS_GROUP_NEXT;
        }
        if (!sets[i])
            return false;
    }
    return true;
}

bool gs_prune_modes(struct gs_analyzer *a, uint64_t *sets)
{
    for (size_t i = 0; i < a->model->n_tasks; i++)
        if (!sets[i])
            return false;
    for (bool fewer = true; fewer;) {
        fewer = false;
        if (!prune_once(a, sets, &fewer))
            return false;
    }
    return true;
}
