/* SPDX-License-Identifier: MIT */
/* Pinned tasks under each scheduler: every CPU runs its most urgent job; who gets the GPU is the scheduler's. */
#include <stdlib.h>

#include "gema/pinned.h"

/* RAISED: on the CPU, above all that isn't. ASK: in no time, but on the CPU, so not before anything more urgent there.
 * WAIT: for the lock. GIVE: of the lock. */
enum kind { CPU, RAISED, GPU, ASK, WAIT, GIVE };

enum { MAX_STEPS = 12 * GS_PINNED_MAX_SEGMENTS + 2 };

struct step {
    enum kind kind;
    int64_t ns;
};

struct job {
    bool active;
    int at, n;
    struct step steps[MAX_STEPS]; /* what is left of each */
    int64_t release, next_release;
    int64_t asked; /* for the lock, or for the GPU: when */
};

/* The GPU, or the lock in front of it. */
struct gpu {
    size_t holder;      /* set->n: nobody */
    int64_t idle;       /* until the holder's work goes on: a hand-over, a switch */
    int64_t slice;      /* what is left of the holder's turn */
    int64_t chunks[64]; /* granted to the holder and not ended; the first runs */
    int out;
};

struct run {
    const struct gs_pinned_set *set;
    const struct gs_pinned_scheduler *s;
    const struct gs_pinned_walk *w;
    struct job jobs[GS_PINNED_MAX_TASKS];
    struct gpu gpu;
    size_t lock; /* its holder, or set->n */
    int64_t now;
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* At random: half of the times are the worst. */
static int64_t some_of(const struct run *r, int64_t worst)
{
    if (!r->w->random || gs_random_unit(r->w->random) < 0.5)
        return worst;
    return gs_random_between(r->w->random, 0, worst);
}

static void add_step(const struct run *r, struct job *b, enum kind kind, int64_t ns)
{
    b->steps[b->n++] = (struct step){kind, ns ? some_of(r, ns) : 0};
}

/* An update of the run list, at raised priority. */
static void add_update(const struct run *r, struct job *b)
{
    add_step(r, b, ASK, 0);
    if (r->s->mutex)
        add_step(r, b, WAIT, 0);
    add_step(r, b, RAISED, r->s->epsilon_ns);
    if (r->s->mutex)
        add_step(r, b, GIVE, 0);
}

static void begin_job(struct run *r, size_t i)
{
    const struct gs_pinned_task *t = &r->set->tasks[i];
    const bool locked = r->s->kind == GS_PINNED_LOCKED, updated = r->s->kind == GS_PINNED_UPDATED;
    struct job *b = &r->jobs[i];
    b->active = true;
    b->at = b->n = 0;
    b->release = r->now;
    for (int j = 0; j < t->n; j++) {
        add_step(r, b, CPU, t->cpu[j]);
        if (locked) {
            add_step(r, b, ASK, 0);
            add_step(r, b, WAIT, 0);
        }
        if (updated)
            add_update(r, b);
        add_step(r, b, locked ? RAISED : CPU, t->misc[j] / 2);
        add_step(r, b, GPU, t->pure[j]);
        add_step(r, b, locked ? RAISED : CPU, t->misc[j] - t->misc[j] / 2);
        if (updated)
            add_update(r, b);
        if (locked)
            add_step(r, b, GIVE, 0);
    }
    add_step(r, b, CPU, t->cpu[t->n]);
}

static bool is_at(const struct run *r, size_t i, enum kind kind)
{
    return r->jobs[i].active && r->jobs[i].steps[r->jobs[i].at].kind == kind;
}

/* Ends steps until one takes time or something else; true: the job has ended beyond its deadline. */
static bool go_on(struct run *r, size_t i)
{
    struct job *b = &r->jobs[i];
    if (!b->active)
        return false;
    while (b->active && b->steps[b->at].kind != ASK && b->steps[b->at].kind != WAIT && b->steps[b->at].ns == 0) {
        if (b->steps[b->at].kind == GIVE)
            r->lock = r->set->n;
        b->asked = r->now;
        b->active = ++b->at < b->n;
    }
    if (b->active || r->set->tasks[i].best_effort)
        return false;
    if (r->w->response && r->now - b->release > r->w->response[i])
        r->w->response[i] = r->now - b->release;
    return r->now - b->release > r->set->tasks[i].period_ns;
}

static void give_lock(struct run *r)
{
    while (r->lock == r->set->n) {
        size_t next = r->set->n;
        for (size_t i = 0; i < r->set->n; i++)
            if (is_at(r, i, WAIT) && (next == r->set->n || (r->s->fifo && r->jobs[i].asked < r->jobs[next].asked)))
                next = i;
        if (next == r->set->n)
            return;
        r->lock = next;
        r->jobs[next].at++;
        go_on(r, next); /* what follows is never the job's last step */
    }
}

/* Releases what is due. True: while the task's last job hasn't ended, which is a miss. */
static bool release_jobs(struct run *r)
{
    for (size_t i = 0; i < r->set->n; i++) {
        struct job *b = &r->jobs[i];
        if (b->next_release > r->now || r->now >= r->w->horizon)
            continue;
        b->next_release = r->now + r->set->tasks[i].period_ns;
        if (b->active && !r->set->tasks[i].best_effort)
            return true;
        if (!b->active) {
            begin_job(r, i);
            go_on(r, i); /* with times of 0 it has ended in time */
        }
    }
    return false;
}

/* What of the job's GPU segment isn't granted yet. */
static int64_t left_to_grant(const struct run *r, size_t i)
{
    int64_t left = r->jobs[i].steps[r->jobs[i].at].ns;
    for (int k = 0; i == r->gpu.holder && k < r->gpu.out; k++)
        left -= r->gpu.chunks[k];
    return left;
}

/* The most urgent job that waits for the GPU, or for a further chunk of it. */
static size_t first_waiting(const struct run *r)
{
    size_t first = r->set->n;
    for (size_t i = 0; i < r->set->n; i++)
        if (is_at(r, i, GPU) && left_to_grant(r, i) > 0 &&
            (first == r->set->n || (r->w->rank && r->w->rank[i] < r->w->rank[first])))
            first = i;
    return first;
}

/* One holder at a time, that has at most `depth` chunks out; see docs/analysis.md, Theorem 8. */
static void grant_chunks(struct run *r)
{
    struct gpu *g = &r->gpu;
    for (size_t i = first_waiting(r); i < r->set->n && (!g->out || (i == g->holder && g->out < r->s->depth));
         i = first_waiting(r)) {
        int64_t chunk = r->s->chunk_ns;
        if (r->w->random && chunk > 2 * r->s->handover_ns && left_to_grant(r, i) > chunk)
            chunk = gs_random_between(r->w->random, r->s->handover_ns + 1, chunk);
        const bool anew = !g->out && (i != g->holder || r->jobs[i].asked == r->now);
        g->holder = i;
        if (anew)
            g->idle = r->s->handover_ns;
        g->chunks[g->out] = min64(chunk, left_to_grant(r, i));
        g->out++;
    }
}

/* The next in turn after the holder; itself if there is no other. */
static void give_turn(struct run *r)
{
    struct gpu *g = &r->gpu;
    const size_t n = r->set->n;
    if (g->holder < n && is_at(r, g->holder, GPU) && g->slice > 0)
        return;
    for (size_t k = 1; k <= n; k++) {
        const size_t i = ((g->holder < n ? g->holder : n - 1) + k) % n;
        if (!is_at(r, i, GPU))
            continue;
        g->idle = i != g->holder ? r->s->switch_ns : 0;
        g->slice = r->s->slice_ns;
        g->holder = i;
        return;
    }
}

static void give_gpu(struct run *r)
{
    if (r->s->kind == GS_PINNED_CHUNKED) {
        grant_chunks(r);
    } else if (r->s->kind == GS_PINNED_SLICED) {
        give_turn(r);
    } else {
        r->gpu.holder = r->set->n;
        r->gpu.holder = first_waiting(r);
    }
}

/* How long nothing changes on the GPU. */
static int64_t gpu_step(const struct run *r)
{
    const struct gpu *g = &r->gpu;
    if (g->holder == r->set->n || !is_at(r, g->holder, GPU))
        return INT64_MAX;
    if (g->idle > 0)
        return g->idle;
    const int64_t left = r->jobs[g->holder].steps[r->jobs[g->holder].at].ns;
    if (r->s->kind == GS_PINNED_CHUNKED)
        return g->chunks[0];
    return r->s->kind == GS_PINNED_SLICED ? min64(left, g->slice) : left;
}

static void gpu_runs(struct run *r, int64_t ns)
{
    struct gpu *g = &r->gpu;
    if (g->holder == r->set->n || !is_at(r, g->holder, GPU))
        return;
    if (g->idle > 0) {
        g->idle -= ns;
        return;
    }
    r->jobs[g->holder].steps[r->jobs[g->holder].at].ns -= ns;
    g->slice -= ns;
    if (r->s->kind == GS_PINNED_CHUNKED && !(g->chunks[0] -= ns)) {
        g->out--;
        for (int k = 0; k < g->out; k++)
            g->chunks[k] = g->chunks[k + 1];
    }
}

/* Whose job each CPU runs. One that waits for the GPU busily runs, too, and gets nowhere. */
static void give_cpus(const struct run *r, size_t *running)
{
    for (int k = 0; k < r->set->cpus; k++)
        running[k] = r->set->n;
    for (size_t i = 0; i < r->set->n; i++) {
        size_t *cpu = &running[r->set->tasks[i].cpu_id];
        if (is_at(r, i, RAISED) ||
            (*cpu == r->set->n && (is_at(r, i, CPU) || is_at(r, i, ASK) || (r->s->busy && is_at(r, i, GPU)))))
            *cpu = i;
    }
}

/* Jobs that have come so far on their CPU ask for the lock. False: none did. */
static bool ask_for_lock(struct run *r, const size_t *running)
{
    bool any = false;
    for (int k = 0; k < r->set->cpus; k++)
        if (running[k] < r->set->n && is_at(r, running[k], ASK)) {
            r->jobs[running[k]].at++;
            r->jobs[running[k]].asked = r->now;
            go_on(r, running[k]);
            any = true;
        }
    return any;
}

bool gs_pinned_misses(const struct gs_pinned_set *set, const struct gs_pinned_scheduler *s,
                      const struct gs_pinned_walk *w)
{
    struct run r = {.set = set, .s = s, .w = w, .gpu.holder = set->n, .lock = set->n};
    size_t running[GS_PINNED_MAX_CPUS];
    for (size_t i = 0; i < set->n; i++)
        r.jobs[i].next_release = w->offsets[i];
    for (;;) {
        if (release_jobs(&r))
            return true;
        do {
            give_lock(&r);
            give_cpus(&r, running);
        } while (ask_for_lock(&r, running));
        give_gpu(&r);
        int64_t step = gpu_step(&r);
        for (size_t i = 0; i < set->n && r.now < w->horizon; i++)
            step = min64(step, r.jobs[i].next_release - r.now);
        for (int k = 0; k < set->cpus; k++)
            if (running[k] < set->n && !is_at(&r, running[k], GPU))
                step = min64(step, r.jobs[running[k]].steps[r.jobs[running[k]].at].ns);
        if (step == INT64_MAX)
            return false;
        r.now += step;
        for (int k = 0; k < set->cpus; k++)
            if (running[k] < set->n && !is_at(&r, running[k], GPU))
                r.jobs[running[k]].steps[r.jobs[running[k]].at].ns -= step;
        gpu_runs(&r, step);
        for (size_t i = 0; i < set->n; i++)
            if (go_on(&r, i))
                return true;
    }
}
