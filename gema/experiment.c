/* SPDX-License-Identifier: MIT */
#include "gema/experiment.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gema/priorities.h"

/* One growing sequence of sets gives at most so many; the paper's utilizations don't allow more. */
enum { MAX_RECORDS = 256 };

/* What one set was: its point and a bit for each policy that made it schedulable. */
struct record {
    uint8_t point, schedulable;
    bool undecided;
};

struct records {
    struct record *v; /* owned */
    size_t n;
};

struct pool {
    const struct gs_experiment *e;
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t more;  /* an item is done */
    uint64_t next;        /* item for the next free worker */
    uint64_t taken;       /* items that the main thread has counted */
    struct records *ring; /* owned; done items from `taken` on, v is NULL where one isn't done */
    size_t ring_size;
    bool finished, failed;
};

void gs_experiment_default(struct gs_experiment *e)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *e = (struct gs_experiment){.two_modes = true,
                                .policies = {true, true, true, true, true},
                                .points = 20,
                                .max_utilization = 4,
                                .utilization = 1.2,
                                .band = 0.1,
                                .seed = 1,
                                .sets = 100000,
                                .threads = cores > 0 ? (int)cores : 1,
                                .max_nodes = 20000};
    gs_generator_default(&e->generator);
}

/* With the deadlines' priorities, or others. */
static int judge_any_priorities(const struct gs_experiment *e, const struct gs_model *set, enum gs_policy policy,
                                const struct gs_assign_options *o)
{
    struct gs_model m;
    const int rc = gs_model_copy(&m, set) ? -ENOMEM : gs_find_priorities(&m, e->analysis, policy, o);
    if (rc != -ENOMEM)
        gs_model_free(&m);
    return rc;
}

/* Which policies make the set schedulable. Where the optimum fails, so do all others. */
static int judge(const struct gs_experiment *e, const struct gs_model *set, int point, struct record *r)
{
    struct gs_assign_options o = {e->two_modes, true, e->max_nodes, e->stop};
    struct gs_model m;
    int *modes = malloc((set->n_tasks + 1) * sizeof *modes), rc = -ENOMEM;
    struct gs_analyzer *a = NULL;
    if (modes && gs_model_copy(&m, set) == 0) {
        if (gs_model_finish(&m) == 0)
            a = gs_analyzer_new(&m, e->analysis);
        *r = (struct record){.point = (uint8_t)point};
        rc = a ? 0 : -ENOMEM;
        for (int p = GS_POLICIES - 1; p >= 0 && a; p--) {
            if (!e->policies[p])
                continue;
            int verdict = e->any_priorities ? judge_any_priorities(e, &m, (enum gs_policy)p, &o)
                                            : gs_assign(a, (enum gs_policy)p, &o, modes);
            r->schedulable |= (uint8_t)((verdict == 1) << p);
            r->undecided = r->undecided || verdict == -EINTR;
            rc = verdict == -ENOMEM ? verdict : rc;
            if (p == GS_POLICY_GLOBAL && verdict == 0 && !e->any_priorities)
                break;
        }
        gs_analyzer_free(a);
        gs_model_free(&m);
    }
    free(modes);
    return rc;
}

/* The point of a set of this utilization; -1: it isn't looked at. */
static int point_of(const struct gs_experiment *e, double u, int dependency)
{
    if (e->abscissa == GS_BY_DEPENDENCY)
        return fabs(u - e->utilization) <= e->band / 2 ? dependency : -1;
    int point = (int)(u / e->max_utilization * e->points);
    return point < e->points ? point : -1;
}

/* One sequence of sets, each the one before and one task more, from two tasks on (section IV-D). */
static int run_item(const struct gs_experiment *e, uint64_t item, struct records *out)
{
    bool by_dependency = e->abscissa == GS_BY_DEPENDENCY;
    uint64_t sequence = by_dependency ? item / (uint64_t)e->points : item;
    int dependency = by_dependency ? (int)(item % (uint64_t)e->points) : 0, rc = 0;
    double most = by_dependency ? e->utilization + e->band / 2 : e->max_utilization;
    struct gs_generator g = e->generator;
    struct gs_random random;
    struct gs_model m;
    if (by_dependency)
        g.dependent = e->points > 1 ? (double)dependency / (e->points - 1) : 0;
    *out = (struct records){.v = calloc(MAX_RECORDS, sizeof *out->v)};
    if (!out->v)
        return -ENOMEM;
    gs_random_seed(&random, e->seed, sequence);
    gs_generate_begin(&g, &m);
    while (!rc && out->n < MAX_RECORDS && m.n_tasks < GS_CONFIG_MAX_TASKS) {
        rc = gs_generate_task(&g, &random, &m);
        double u = gs_gpu_utilization(&m);
        if (rc || u > most)
            break;
        int point = m.n_tasks < 2 ? -1 : point_of(e, u, dependency);
        if (point < 0)
            continue;
        rc = judge(e, &m, point, &out->v[out->n]);
        out->n += rc == 0;
        if (by_dependency)
            break;
    }
    gs_model_free(&m);
    return rc;
}

static bool stopped(const struct gs_experiment *e)
{
    return e->stop && *e->stop;
}

static void *work(void *context)
{
    struct pool *p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->finished && !p->failed) {
        if (p->next - p->taken >= p->ring_size) {
            pthread_cond_wait(&p->more, &p->lock);
            continue;
        }
        uint64_t item = p->next++;
        struct records records;
        pthread_mutex_unlock(&p->lock);
        int rc = run_item(p->e, item, &records);
        pthread_mutex_lock(&p->lock);
        if (rc || stopped(p->e)) {
            free(records.v);
            p->failed = p->failed || rc;
            p->finished = true;
        } else {
            p->ring[item % p->ring_size] = records;
        }
        pthread_cond_broadcast(&p->more);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Counts one item's records, in the order of items whichever thread was first. */
static void count(const struct gs_experiment *e, const struct records *r, struct gs_experiment_result *result)
{
    for (size_t i = 0; i < r->n && result->sets < e->sets; i++, result->sets++) {
        struct gs_point *p = &result->points[r->v[i].point];
        p->sets++;
        p->undecided += r->v[i].undecided;
        for (int k = 0; k < GS_POLICIES; k++)
            p->schedulable[k] += r->v[i].schedulable >> k & 1;
    }
}

/* Takes the items in order until there are enough sets. */
static void collect(struct pool *p, struct gs_experiment_result *result)
{
    pthread_mutex_lock(&p->lock);
    while (!p->finished && result->sets < p->e->sets && !stopped(p->e)) {
        struct records *r = &p->ring[p->taken % p->ring_size];
        if (!r->v) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec++;
            pthread_cond_timedwait(&p->more, &p->lock, &until);
        } else {
            count(p->e, r, result);
            free(r->v);
            *r = (struct records){0};
            p->taken++;
            pthread_cond_broadcast(&p->more);
        }
        if (p->e->progress)
            p->e->progress(p->e->context, result->sets);
    }
    p->finished = true;
    pthread_cond_broadcast(&p->more);
    pthread_mutex_unlock(&p->lock);
}

int gs_experiment_run(const struct gs_experiment *e, struct gs_experiment_result *result)
{
    struct pool p = {.e = e,
                     .ring_size = (size_t)e->threads * 64,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .more = PTHREAD_COND_INITIALIZER};
    pthread_t *threads = calloc((size_t)e->threads, sizeof *threads);
    int started = 0, rc = -ENOMEM;
    memset(result, 0, sizeof *result);
    for (int k = 0; k < e->points; k++)
        result->points[k].x = e->abscissa == GS_BY_UTILIZATION ? (k + 0.5) * e->max_utilization / e->points
                              : e->points > 1                  ? (double)k / (e->points - 1)
                                                               : 0;
    p.ring = calloc(p.ring_size, sizeof *p.ring);
    if (p.ring && threads) {
        while (started < e->threads && pthread_create(&threads[started], NULL, work, &p) == 0)
            started++;
        rc = started ? 0 : -EAGAIN;
        if (started)
            collect(&p, result);
        for (int i = 0; i < started; i++)
            pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; p.ring && i < p.ring_size; i++)
        free(p.ring[i].v);
    free(p.ring);
    free(threads);
    return p.failed ? -ENOMEM : rc;
}
