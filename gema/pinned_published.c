/* SPDX-License-Identifier: MIT */
/* Published analyses of pinned tasks with one GPU; docs/compare.md has each formula. */
#include "gema/pinned.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Sums over a task's segments: C, Gm, Ge; and the longest G and Gm. */
struct sums {
    int64_t cpu, misc, pure, longest, longest_misc;
};

static struct sums sums_of(const struct gs_pinned_task *t)
{
    struct sums s = {0};
    for (int j = 0; j <= t->n; j++)
        s.cpu += t->cpu[j];
    for (int j = 0; j < t->n; j++) {
        s.misc += t->misc[j];
        s.pure += t->pure[j];
        s.longest = max64(s.longest, t->misc[j] + t->pure[j]);
        s.longest_misc = max64(s.longest_misc, t->misc[j]);
    }
    return s;
}

/* One task under analysis, and what is known of those above. */
struct question {
    const struct gs_pinned_set *set;
    struct sums sums[GS_PINNED_MAX_TASKS];
    size_t i;
    const int64_t *response; /* of the tasks above */
    const struct gs_pinned_scheduler *s;
    const int *rank; /* on the GPU, or NULL */
};

static void ask(struct question *q, const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s,
                const int64_t *response)
{
    *q = (struct question){.set = set, .s = s, .response = response};
    for (size_t i = 0; i < set->n; i++)
        q->sums[i] = sums_of(&set->tasks[i]);
}

/* The least R with demand(R) <= R, from the demand of 0 on; -1: it is beyond the period. */
static int64_t least_response(const struct question *q, int64_t (*demand)(const struct question *, int64_t))
{
    const int64_t period = q->set->tasks[q->i].period_ns;
    int64_t r = demand(q, 0);
    for (int64_t next; r <= period; r = next) {
        next = demand(q, r);
        if (next <= r)
            return r;
    }
    return -1;
}

static bool all_respond(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, const int *rank,
                        int64_t (*demand)(const struct question *, int64_t), int64_t *response)
{
    struct question q;
    ask(&q, set, s, response);
    q.rank = rank;
    for (; q.i < set->n && !set->tasks[q.i].best_effort; q.i++) {
        response[q.i] = least_response(&q, demand);
        if (response[q.i] < 0)
            return false;
    }
    return true;
}

static bool same_cpu(const struct question *q, size_t h)
{
    return q->set->tasks[h].cpu_id == q->set->tasks[q->i].cpu_id;
}

/* Of a task with a CPU priority above, jobs in R that execute `work` on a CPU or the GPU; section 6.3's jitter. */
static int64_t jobs_with_jitter(const struct question *q, size_t h, int64_t r, int64_t work)
{
    const int64_t ends = q->rank ? q->set->tasks[h].period_ns : q->response[h];
    return ceil_div(r + ends - work, q->set->tasks[h].period_ns);
}

/* GCAPS, equation 1 with lemmas 8 to 15. */
static int64_t gcaps_demand(const struct question *q, int64_t r)
{
    const struct gs_pinned_task *t = q->set->tasks;
    const struct sums *own = &q->sums[q->i];
    const int64_t eps = q->s->epsilon_ns, n = t[q->i].n;
    int64_t sum = own->cpu + own->misc + own->pure + 2 * n * eps + (n + 1) * eps;
    for (size_t h = 0; h < q->set->n && !t[h].best_effort; h++) {
        const struct sums *s = &q->sums[h];
        const int64_t updates = 2 * t[h].n * eps, jobs = ceil_div(r, t[h].period_ns);
        const bool above = h < q->i && same_cpu(q, h);
        if (above && q->s->busy)
            sum += jobs * (s->cpu + s->misc + s->pure + updates);
        else if (above && !t[h].n)
            sum += jobs * s->cpu;
        else if (above)
            sum += jobs_with_jitter(q, h, r, s->cpu + s->misc) * (s->cpu + s->misc + updates);
        if (!t[h].n || h == q->i)
            continue;
        if (above && !q->s->busy && n)
            sum += jobs_with_jitter(q, h, r, s->pure) * s->pure;
        /* On other CPUs: direct preemption, or through somebody that waits busily. */
        const bool first = q->rank ? q->rank[h] < q->rank[q->i] : h < q->i;
        if (!same_cpu(q, h) && first && (n || q->s->busy))
            sum += jobs_with_jitter(q, h, r, s->pure) * (s->pure + updates);
    }
    return sum;
}

bool gs_pinned_gcaps(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, const int *rank,
                     int64_t *response)
{
    return all_respond(set, s, rank, gcaps_demand, response);
}

/* Section 5.3: a lowest GPU priority for each in turn, from the lowest CPU priority up. False: there is no order, or
 * tasks on one CPU would be in another than on the CPU. */
bool gs_pinned_gcaps_order(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, int *rank)
{
    struct question q;
    int64_t unused[GS_PINNED_MAX_TASKS];
    bool given[GS_PINNED_MAX_TASKS] = {false};
    size_t n = 0;
    ask(&q, set, s, unused);
    q.rank = rank;
    while (n < set->n && !set->tasks[n].best_effort)
        rank[n++] = 0;
    for (size_t left = n; left > 0; left--) {
        size_t k = n;
        while (k-- > 0) {
            bool last = !given[k]; /* of those that are left on its CPU */
            for (size_t l = k + 1; l < n; l++)
                last = last && (given[l] || set->tasks[l].cpu_id != set->tasks[k].cpu_id);
            if (!last)
                continue;
            rank[k] = (int)left;
            q.i = k;
            if (least_response(&q, gcaps_demand) >= 0)
                break;
            rank[k] = 0;
        }
        if (k == SIZE_MAX)
            return false;
        given[k] = true;
    }
    return true;
}

/* The CPU preemption that all self-suspending analyses share: GCAPS, lemma 7. */
static int64_t preemption(const struct question *q, int64_t r)
{
    int64_t sum = 0;
    for (size_t h = 0; h < q->i; h++)
        if (same_cpu(q, h))
            sum += jobs_with_jitter(q, h, r, q->sums[h].cpu + q->sums[h].misc) * (q->sums[h].cpu + q->sums[h].misc);
    return sum;
}

/* GCAPS, equation 1 with lemmas 1 to 3, 6 and 7: everybody's contexts take turns. */
static int64_t robin_demand(const struct question *q, int64_t r)
{
    const struct gs_pinned_task *t = &q->set->tasks[q->i];
    int64_t others = 0, sum = q->sums[q->i].cpu + q->sums[q->i].misc + q->sums[q->i].pure + preemption(q, r);
    for (size_t k = 0; k < q->set->n; k++)
        others += k != q->i && q->set->tasks[k].n;
    for (int j = 0; j < t->n; j++)
        sum += (q->s->slice_ns + q->s->switch_ns) * others * ceil_div(t->pure[j], q->s->slice_ns);
    return sum;
}

bool gs_pinned_robin(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, const int *rank,
                     int64_t *response)
{
    return all_respond(set, s, rank, robin_demand, response);
}

/* Jobs of a task anywhere that are there at some time in R; it ends within its period. */
static int64_t jobs_there(const struct question *q, size_t k, int64_t r)
{
    const struct gs_pinned_task *t = &q->set->tasks[k];
    return ceil_div(r + (k < q->i ? q->response[k] : t->period_ns), t->period_ns);
}

/* What tasks below on the same CPU do with their priority raised, each time that the job begins or goes on. */
static int64_t raised(const struct question *q, int64_t r)
{
    int64_t sum = 0;
    for (size_t l = q->i + 1; l < q->set->n; l++)
        if (same_cpu(q, l))
            sum += min64(q->set->tasks[q->i].n + 1, jobs_there(q, l, r) * q->set->tasks[l].n) * q->sums[l].longest_misc;
    return sum;
}

/* MPCP: how long one request waits for the lock, by itself: one below, and those above again and again. */
static int64_t request_wait(const struct question *q, int64_t limit)
{
    int64_t below = 0, wait = -1;
    for (size_t l = q->i + 1; l < q->set->n; l++)
        below = max64(below, q->sums[l].longest);
    for (int64_t next = 0; next > wait && wait <= limit;) {
        wait = next;
        next = below;
        for (size_t h = 0; h < q->i; h++)
            next += (ceil_div(wait, q->set->tasks[h].period_ns) + 1) * (q->sums[h].misc + q->sums[h].pure);
    }
    return wait;
}

/* The same of all requests of a job: those above as often as there are jobs, and the longest below, one for each. */
static int64_t job_wait(const struct question *q, int64_t r)
{
    int64_t sum = 0, left = q->set->tasks[q->i].n, used[GS_PINNED_MAX_TASKS] = {0};
    for (size_t h = 0; h < q->i; h++)
        sum += jobs_there(q, h, r) * (q->sums[h].misc + q->sums[h].pure);
    while (left > 0) {
        size_t most = q->set->n;
        for (size_t l = q->i + 1; l < q->set->n; l++)
            if (!used[l] && (most == q->set->n || q->sums[l].longest > q->sums[most].longest))
                most = l;
        if (most == q->set->n)
            return sum;
        const int64_t n = min64(left, jobs_there(q, most, r) * q->set->tasks[most].n);
        used[most] = 1;
        sum += n * q->sums[most].longest;
        left -= n;
    }
    return sum;
}

static int64_t mpcp_demand(const struct question *q, int64_t r)
{
    const struct sums *own = &q->sums[q->i];
    const int64_t n = q->set->tasks[q->i].n, period = q->set->tasks[q->i].period_ns;
    const int64_t remote = n ? min64(n * request_wait(q, period), job_wait(q, r)) : 0;
    return own->cpu + own->misc + own->pure + remote + raised(q, r) + preemption(q, r);
}

bool gs_pinned_mpcp(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, const int *rank,
                    int64_t *response)
{
    return all_respond(set, s, rank, mpcp_demand, response);
}

/* FMLP+: first come, first served, so each request waits for one of every other task. */
static int64_t fmlp_demand(const struct question *q, int64_t r)
{
    const struct sums *own = &q->sums[q->i];
    const int64_t n = q->set->tasks[q->i].n;
    int64_t sum = own->cpu + own->misc + own->pure + raised(q, r) + preemption(q, r);
    for (size_t k = 0; k < q->set->n; k++)
        if (k != q->i)
            sum += min64(n, jobs_there(q, k, r) * q->set->tasks[k].n) * q->sums[k].longest;
    return sum;
}

bool gs_pinned_fmlp(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s, const int *rank,
                    int64_t *response)
{
    return all_respond(set, s, rank, fmlp_demand, response);
}
