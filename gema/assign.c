/* SPDX-License-Identifier: MIT */
/* Policies, from the cheapest to the optimum. */
#include "gema/assign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gema/analyzer.h"

const char *const gs_policy_names[GS_POLICIES] = {"single", "local", "gema", "gema+", "global"};

/* The modes that the options leave a task, as a set of bits g - 1. */
static uint64_t allowed_modes(const struct gs_model *m, size_t task, bool two_modes)
{
    int gpus = m->servers[GS_GPU];
    uint64_t all = 0;
    for (int g = 1; g <= gpus; g++)
        if (gs_model_may_use(m, task, g))
            all |= UINT64_C(1) << (g - 1);
    uint64_t two = all & (UINT64_C(1) | UINT64_C(1) << (gpus - 1));
    return two_modes && two ? two : all;
}

static int first_mode(uint64_t set)
{
    return __builtin_ctzll(set) + 1;
}

static void assign_first(const uint64_t *sets, size_t n, int *modes)
{
    for (size_t i = 0; i < n; i++)
        modes[i] = first_mode(sets[i]);
}

static void assign_shortest(const struct gs_model *m, const uint64_t *sets, int *modes)
{
    for (size_t i = 0; i < m->n_tasks; i++) {
        modes[i] = first_mode(sets[i]);
        for (uint64_t s = sets[i]; s; s &= s - 1) {
            const struct gs_chain *c = m->tasks[i].chains;
            if (gs_chain_worst(&c[first_mode(s)]) < gs_chain_worst(&c[modes[i]]))
                modes[i] = first_mode(s);
        }
    }
}

/* The one change of a task in `open` to another mode of its set that leaves the least max R/D, if below `limit`. */
struct move {
    size_t task;
    int mode;
    double ratio;
};

static struct move best_move(struct gs_analyzer *a, const uint64_t *sets, const bool *open, int *modes, double limit)
{
    struct move best = {0, 0, limit};
    for (size_t i = 0; i < a->model->n_tasks; i++) {
        int was = modes[i];
        if (!open[i])
            continue;
        for (uint64_t s = sets[i]; s; s &= s - 1) {
            modes[i] = first_mode(s);
            double ratio = modes[i] == was ? best.ratio : gs_worst_ratio(a, modes, best.ratio);
            if (ratio < best.ratio)
                best = (struct move){i, modes[i], ratio};
        }
        modes[i] = was;
    }
    return best;
}

/* Downhill on max R/D, any task to any mode of its set, until schedulable or no change helps. */
static int descend(struct gs_analyzer *a, const uint64_t *sets, bool *open, int *modes, double *ratio)
{
    for (size_t i = 0; i < a->model->n_tasks; i++)
        open[i] = (sets[i] & (sets[i] - 1)) != 0;
    *ratio = gs_worst_ratio(a, modes, 1e300);
    while (!gs_schedulable(a, modes)) {
        struct move move = best_move(a, sets, open, modes, *ratio);
        if (!move.mode)
            return 0;
        modes[move.task] = move.mode;
        *ratio = move.ratio;
    }
    return 1;
}

/* Copies the sets into `pruned` and prunes them. Where nothing is schedulable they stay whole: any choice is as good.
 */
static bool prune(struct gs_analyzer *a, const uint64_t *sets, uint64_t *pruned)
{
    memcpy(pruned, sets, a->model->n_tasks * sizeof *sets);
    if (gs_prune_modes(a, pruned))
        return true;
    memcpy(pruned, sets, a->model->n_tasks * sizeof *sets);
    return false;
}

/* Algorithm 1 of GPU-SPARC, with what its last line leaves out: the last assignment is tested as well. Where none of
 * those on its way is schedulable, the one with the least max R/D is the answer; where pruning shows that no choice at
 * all is, going downhill chooses, which takes fewer steps. `best` and `pruned` have room for n each. */
static int assign_gema(struct gs_analyzer *a, const uint64_t *sets, uint64_t *pruned, bool *open, bool verdict_only,
                       int *modes, int *best)
{
    size_t n = a->model->n_tasks;
    double ratio;
    assign_first(sets, n, modes);
    if (gs_schedulable(a, modes))
        return 1;
    if (!prune(a, sets, pruned)) {
        if (!verdict_only)
            descend(a, sets, open, modes, &ratio);
        return 0;
    }
    gs_analyzer_forget(a);
    for (size_t i = 0; i < n; i++)
        open[i] = (sets[i] & (sets[i] - 1)) != 0;
    double least = gs_worst_ratio(a, modes, 1e300);
    memcpy(best, modes, n * sizeof *modes);
    while (!gs_schedulable(a, modes)) {
        struct move move = best_move(a, sets, open, modes, 1e300);
        if (!move.mode) {
            memcpy(modes, best, n * sizeof *modes);
            return 0;
        }
        modes[move.task] = move.mode;
        open[move.task] = false;
        if (move.ratio < least) {
            least = move.ratio;
            memcpy(best, modes, n * sizeof *modes);
        }
        /* Tasks keep the modes of their moves. */
        pruned[move.task] = UINT64_C(1) << (move.mode - 1);
        if (verdict_only && !gs_prune_modes(a, pruned))
            return 0;
        gs_analyzer_forget(a);
    }
    return 1;
}

/* How much a task's open mode hides from the pruning, which takes for each resource the mode that is best there: the
 * difference between its modes' utilizations, over all resources. */
static double hidden_load(const struct gs_model *m, size_t task, uint64_t set)
{
    const struct gs_task *t = &m->tasks[task];
    double sum = 0;
    for (int r = 0; r < GS_RESOURCES; r++) {
        double least = 1e300, most = 0;
        for (uint64_t s = set; s; s &= s - 1) {
            const struct gs_chain *c = &t->chains[first_mode(s)];
            double load = 0;
            for (size_t j = 0; j < c->n; j++)
                if ((int)c->segments[j].resource == r)
                    load += (double)c->segments[j].worst_ns * (r == GS_GPU ? first_mode(s) : 1);
            load /= m->servers[r];
            least = load < least ? load : least;
            most = load > most ? load : most;
        }
        sum += most - least;
    }
    return sum / (double)t->period_ns;
}

/* Depth first over what pruning leaves open. `stack` holds a copy of the sets for each level. */
struct search {
    struct gs_analyzer *a;
    uint64_t *stack;
    uint64_t nodes, max_nodes;
    const atomic_int *stop;
};

/* The task to decide next, or n: the one whose decision tells most. */
static size_t next_task(const struct search *s, const uint64_t *sets)
{
    size_t n = s->a->model->n_tasks, best = n;
    double most = -1;
    for (size_t i = 0; i < n; i++) {
        if (!(sets[i] & (sets[i] - 1)))
            continue;
        double load = hidden_load(s->a->model, i, sets[i]);
        if (load > most) {
            most = load;
            best = i;
        }
    }
    return best;
}

static int branch(struct search *s, size_t level)
{
    size_t n = s->a->model->n_tasks;
    uint64_t *sets = &s->stack[level * n], *child = sets + n;
    if (!gs_prune_modes(s->a, sets))
        return 0;
    size_t i = next_task(s, sets);
    if (i == n)
        return 1;
    for (uint64_t left = sets[i]; left; left &= left - 1) {
        if ((s->max_nodes && s->nodes >= s->max_nodes) || (s->stop && *s->stop))
            return -EINTR;
        s->nodes++;
        memcpy(child, sets, n * sizeof *sets);
        child[i] = left & -left;
        int rc = branch(s, level + 1);
        if (rc) {
            if (rc == 1)
                memcpy(sets, child, n * sizeof *sets);
            return rc;
        }
    }
    return 0;
}

static int search_all(struct search *s, const uint64_t *sets, int *modes)
{
    size_t n = s->a->model->n_tasks;
    s->stack = malloc((n + 2) * n * sizeof *s->stack);
    if (!s->stack)
        return -ENOMEM;
    memcpy(s->stack, sets, n * sizeof *sets);
    int rc = branch(s, 0);
    if (rc == 1)
        assign_first(s->stack, n, modes);
    free(s->stack);
    return rc;
}

/* What gema+ spends on a search that goes back on its choices, per task. */
enum { GEMA_PLUS_NODES = 4 };

struct saving {
    size_t task;
    double part; /* of its period */
};

static int most_saved_first(const void *a, const void *b)
{
    const struct saving *x = a, *y = b;
    return x->part != y->part ? (x->part < y->part) - (x->part > y->part) : (x->task > y->task) - (x->task < y->task);
}

/* Whether the set is schedulable if the first `some` tasks of the list have their shortest modes, the others the fewest
 * GPUs. */
static bool some_suffice(struct gs_analyzer *a, const uint64_t *sets, const int *shortest, const struct saving *savings,
                         size_t some, int *modes)
{
    assign_first(sets, a->model->n_tasks, modes);
    for (size_t k = 0; k < some; k++)
        modes[savings[k].task] = shortest[savings[k].task];
    return gs_schedulable(a, modes);
}

/* Where the shortest modes are schedulable: only as many tasks have these as it takes, those that save most by them,
 * found by halving. */
static int fewest_shortest(struct gs_analyzer *a, const uint64_t *sets, const int *shortest, int *modes)
{
    const size_t n = a->model->n_tasks;
    size_t low = 0, high = n; /* `high` suffice */
    struct saving *savings = malloc(n * sizeof *savings);
    if (!savings)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct gs_task *t = &a->model->tasks[i];
        const int64_t saved = gs_chain_worst(&t->chains[first_mode(sets[i])]) - gs_chain_worst(&t->chains[shortest[i]]);
        savings[i] = (struct saving){i, (double)saved / (double)t->period_ns};
    }
    qsort(savings, n, sizeof *savings, most_saved_first);
    while (low < high) {
        const size_t some = (low + high) / 2;
        if (some_suffice(a, sets, shortest, savings, some, modes))
            high = some;
        else
            low = some + 1;
    }
    some_suffice(a, sets, shortest, savings, high, modes);
    free(savings);
    return 1;
}

/* sets: what pruning left. Both simple choices; downhill from each; then a short search. `shortest` has room for n. */
static int assign_gema_plus(struct gs_analyzer *a, const uint64_t *sets, bool *open, int *modes, int *shortest)
{
    size_t n = a->model->n_tasks;
    double one, other;
    struct search s = {.a = a, .max_nodes = GEMA_PLUS_NODES * n};
    assign_shortest(a->model, sets, shortest);
    if (gs_schedulable(a, shortest))
        return fewest_shortest(a, sets, shortest, modes);
    assign_first(sets, n, modes);
    if (descend(a, sets, open, modes, &one))
        return 1;
    int rc = descend(a, sets, open, shortest, &other);
    if (rc || other < one)
        memcpy(modes, shortest, n * sizeof *modes);
    if (!rc)
        rc = search_all(&s, sets, modes);
    return rc == -EINTR ? 0 : rc;
}

static int assign_global(struct gs_analyzer *a, const struct gs_assign_options *o, const uint64_t *pruned, bool *open,
                         int *modes, int *shortest)
{
    int rc = assign_gema_plus(a, pruned, open, modes, shortest);
    if (rc)
        return rc;
    struct search s = {.a = a, .max_nodes = o->max_nodes, .stop = o->stop};
    return search_all(&s, pruned, modes);
}

int gs_assign(struct gs_analyzer *a, enum gs_policy policy, const struct gs_assign_options *options, int *modes)
{
    const struct gs_model *m = a->model;
    size_t n = m->n_tasks;
    if (!n)
        return 1;
    gs_analyzer_forget(a); /* the answer must not hang on what was asked before */
    uint64_t *sets = malloc(2 * n * sizeof *sets), *pruned = sets + n;
    bool *open = malloc(n * sizeof *open);
    int *best = malloc(n * sizeof *best), rc = -ENOMEM;
    if (!sets || !open || !best)
        goto done;
    for (size_t i = 0; i < n; i++)
        sets[i] = allowed_modes(m, i, options->two_modes);
    if (policy == GS_POLICY_SINGLE || policy == GS_POLICY_LOCAL) {
        if (policy == GS_POLICY_SINGLE)
            assign_first(sets, n, modes);
        else
            assign_shortest(m, sets, modes);
        rc = gs_schedulable(a, modes);
    } else if (policy == GS_POLICY_GEMA) {
        rc = assign_gema(a, sets, pruned, open, options->verdict_only, modes, best);
    } else if (!prune(a, sets, pruned)) {
        double ratio;
        assign_first(pruned, n, modes);
        if (!options->verdict_only)
            descend(a, pruned, open, modes, &ratio);
        rc = 0;
    } else if (policy == GS_POLICY_GEMA_PLUS) {
        rc = assign_gema_plus(a, pruned, open, modes, best);
    } else {
        rc = assign_global(a, options, pruned, open, modes, best);
    }
done:
    free(best);
    free(open);
    free(sets);
    return rc;
}

int gs_refuted(struct gs_analyzer *a, const struct gs_assign_options *options)
{
    const size_t n = a->model->n_tasks;
    uint64_t *sets = malloc((n + 1) * sizeof *sets);
    if (!sets)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        sets[i] = allowed_modes(a->model, i, options->two_modes);
    const int refuted = !gs_prune_modes(a, sets);
    free(sets);
    return refuted;
}
