/* SPDX-License-Identifier: MIT */
/* The exact worst responses of tiny task sets whose GPUs are granted one or two chunks at a time, against the `safe`
 * bound; written independently of the simulator. Time goes on unit by unit, and every state is followed in which jobs
 * come at any time that the period allows, segments take any time between best and worst, chunks are of any length (as
 * long as there are no more of them than the segment says; where it doesn't say, all but the last as long as a
 * hand-over at least), each may run any time up to a hand-over after its grant, and any free GPU is chosen. Arguments:
 * seed, number of sets. */
#include <stdbool.h>
#include <stdint.h>

#include "gema/analysis.h"

enum { MAX_TASKS = 3, MAX_PIECES = 2, MAX_DEPTH = 2, MAX_STATES = 200000, IDLE = 255, NOWHERE = -1 };

struct piece {
    uint8_t left, chunks;    /* what isn't granted yet, in so many chunks at most; 0: in any */
    uint8_t out[MAX_DEPTH];  /* what the granted chunks still take, the first runs; on the CPU: the segment */
    uint8_t late[MAX_DEPTH]; /* until when they can't run */
    int8_t gpu;              /* that it stays on */
};

struct task_state {
    uint8_t segment, since, ready; /* since the job's release, up to the period; since the segment became ready */
    struct piece pieces[MAX_PIECES];
};

struct state {
    struct task_state t[MAX_TASKS];
};

#include "tests/gema/explorer.h"

static void grant(struct explorer *x, const struct state *s);

/* What happens to the tasks from `i` on in this instant. */
typedef void step(struct explorer *x, const struct state *s, size_t i);

/* All lengths that the segment's pieces can have, from piece p on; then the tasks after. */
static void begin_segment(struct explorer *x, const struct state *s, size_t i, int p, step *then)
{
    const struct gs_segment *g = segment_of(x, i, s);
    const int pieces = g->resource == GS_GPU ? x->modes[i] : 1;
    const bool cpu = g->resource == GS_CPU;
    for (int64_t length = g->best_ns; p < pieces && length <= g->worst_ns; length++) {
        struct state t = *s;
        t.t[i].pieces[p] = (struct piece){.left = cpu ? 0 : (uint8_t)length,
                                          .chunks = (uint8_t)g->chunks,
                                          .out = {cpu ? (uint8_t)length : 0},
                                          .gpu = (int8_t)(pieces > 1 ? p : NOWHERE)};
        begin_segment(x, &t, i, p + 1, then);
    }
    if (p == pieces)
        then(x, s, i + 1);
}

/* Any of the tasks from `i` on that may release a job does so now, or not. */
static void release(struct explorer *x, const struct state *s, size_t i)
{
    for (; i < x->m->n_tasks; i++) {
        if (s->t[i].segment != IDLE || s->t[i].since < x->m->tasks[i].period_ns)
            continue;
        struct state t = *s;
        t.t[i] = (struct task_state){0};
        begin_segment(x, &t, i, 0, release);
    }
    grant(x, s);
}

static unsigned busy_gpus(const struct explorer *x, const struct state *s)
{
    unsigned busy = 0;
    for (size_t i = 0; i < x->m->n_tasks; i++)
        for (int p = 0; p < MAX_PIECES && s->t[i].segment != IDLE; p++)
            if (s->t[i].pieces[p].out[0] && segment_of(x, i, s)->resource == GS_GPU)
                busy |= 1u << s->t[i].pieces[p].gpu;
    return busy;
}

static int ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/* All chunks that piece p may be granted on this GPU, with all hand-overs. */
static void grant_on(struct explorer *x, const struct state *s, size_t i, int p, int gpu)
{
    const struct piece *q = &s->t[i].pieces[p];
    const int chunk = (int)x->m->tasks[i].chunk_ns[GS_GPU], most = q->left < chunk ? q->left : chunk;
    const int handover = (int)x->m->handover_ns, behind = q->out[0] != 0;
    const int least = q->chunks ? 1 : most < handover ? most : handover;
    for (int length = least; length <= most; length++)
        for (int over = 0; over <= handover && (!q->chunks || q->chunks > ceil_div(q->left - length, chunk)); over++) {
            struct state t = *s;
            struct piece *next = &t.t[i].pieces[p];
            next->left = (uint8_t)(q->left - length);
            next->chunks = (uint8_t)(q->chunks ? q->chunks - 1 : 0);
            next->out[behind] = (uint8_t)length;
            next->late[behind] = (uint8_t)over;
            next->gpu = (int8_t)gpu;
            grant(x, &t);
        }
}

static void pass_unit(struct explorer *x, struct state s);

/* The most urgent piece that waits for a free GPU gets a chunk, and so on until nobody can be granted anything. */
static void grant(struct explorer *x, const struct state *s)
{
    const unsigned busy = busy_gpus(x, s);
    unsigned waited_for = 0; /* by a more urgent one */
    for (size_t i = 0; i < x->m->n_tasks; i++)
        for (int p = 0; p < MAX_PIECES && s->t[i].segment != IDLE; p++) {
            const struct piece *q = &s->t[i].pieces[p];
            bool could = false;
            for (int gpu = 0; q->left && gpu < x->m->servers[GS_GPU]; gpu++) {
                const bool may = q->gpu == NOWHERE || q->gpu == gpu, its = q->out[0] && q->gpu == gpu;
                if (!may || waited_for >> gpu & 1 || (its ? q->out[x->m->depth - 1] != 0 : busy >> gpu & 1))
                    continue;
                grant_on(x, s, i, p, gpu);
                could = true;
            }
            if (could)
                return;
            for (int gpu = 0; q->left && gpu < x->m->servers[GS_GPU]; gpu++)
                waited_for |= q->gpu == NOWHERE || q->gpu == gpu ? 1u << gpu : 0;
        }
    pass_unit(x, *s);
}

/* What has ended now; true: the task has another segment, which begins now too. */
static bool end_segment(struct explorer *x, struct state *s, size_t i)
{
    struct task_state *t = &s->t[i];
    const struct gs_task_result *b = &x->bound->tasks[i];
    bool ended = t->segment != IDLE;
    for (int p = 0; p < MAX_PIECES && ended; p++)
        ended = !t->pieces[p].left && !t->pieces[p].out[0];
    if (!ended)
        return false;
    memset(t->pieces, 0, sizeof t->pieces);
    t->ready = 0;
    if (++t->segment < chain_of(x, i)->n)
        return true;
    x->worst[i] = t->since > x->worst[i] ? t->since : x->worst[i];
    x->broken = x->broken || t->since > b->response_ns;
    t->segment = IDLE;
    return false;
}

/* The ends of this instant, and whatever begins with them. */
static void end_segments(struct explorer *x, const struct state *s, size_t i)
{
    struct state t = *s;
    for (; i < x->m->n_tasks; i++)
        if (end_segment(x, &t, i)) {
            begin_segment(x, &t, i, 0, end_segments);
            return;
        }
    add_state(x, &t);
}

static void run_unit(struct piece *p)
{
    if (p->out[0] && !p->late[0])
        p->out[0]--;
    for (int k = 0; k < MAX_DEPTH; k++)
        if (p->late[k])
            p->late[k]--;
    if (p->out[0])
        return;
    p->out[0] = p->out[1];
    p->late[0] = p->late[1];
    p->out[1] = p->late[1] = 0;
}

static void pass_unit(struct explorer *x, struct state s)
{
    for (size_t i = 0; i < x->m->n_tasks; i++) {
        struct task_state *t = &s.t[i];
        if (t->since < x->m->tasks[i].period_ns)
            t->since++;
        if (t->segment == IDLE)
            continue;
        t->ready++;
        x->broken = x->broken || t->ready > x->bound->tasks[i].segments[t->segment].response_ns;
        for (int p = 0; p < MAX_PIECES; p++)
            run_unit(&t->pieces[p]);
    }
    end_segments(x, &s, 0);
}

/* GPUs granted in chunks; each task has a CPU of its own. */
static struct gs_model tiny_set(struct rng *rng, int depth)
{
    struct gs_model m;
    const unsigned n = 1 + rnd(rng, MAX_TASKS), gpus = 1 + rnd(rng, 2);
    gs_model_init(&m, (int)n, 1, (int)gpus);
    m.chunked[GS_GPU] = true;
    m.depth = depth;
    m.handover_ns = 1 + rnd(rng, depth == 1 ? 2 : 3);
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", i);
        const int64_t period = 12 + rnd(rng, 40);
        const int at = gs_model_add_task(&m, name, period, period);
        m.tasks[at].chunk_ns[GS_GPU] = 1 + rnd(rng, 4);
        for (unsigned g = 1; g <= gpus; g++) {
            struct gs_segment s[3];
            const size_t len = 1 + rnd(rng, 3);
            for (size_t j = 0; j < len; j++) {
                const enum gs_resource r = rnd(rng, 4) ? GS_GPU : GS_CPU;
                const int64_t worst = 1 + rnd(rng, 4), chunk = m.tasks[at].chunk_ns[GS_GPU];
                s[j] = (struct gs_segment){.resource = r, .best_ns = 1 + rnd(rng, (unsigned)worst), .worst_ns = worst};
                if (r == GS_GPU && (depth == 1 || chunk < m.handover_ns || rnd(rng, 2)))
                    s[j].chunks = (int)((worst + chunk - 1) / chunk) + (int)rnd(rng, 3);
            }
            gs_model_set_chain(&m, (size_t)at, (int)g, s, len);
        }
    }
    if (gs_model_finish(&m))
        abort();
    return m;
}

/* The smallest set whose bound was exceeded while each segment was taken to have as few chunks as fit it. */
static bool check_smallest(struct explorer *x)
{
    struct gs_model m =
        set_from("[system]\ncpus=1\ngpus=1\ndepth=1\nhandover=1ns\ngpu_chunk=3ns\n[task t]\nperiod=44ns\n"
                 "segments.1=gpu 2ns..3ns chunks 3, gpu 1ns..3ns chunks 3\n");
    m.chunk_ns[GS_GPU] = 0; /* nobody below */
    struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
    x->modes[0] = 1;
    x->m = &m;
    x->bound = gs_analyze(a, x->modes);
    explore(x);
    const bool ok =
        !x->broken && x->bound->tasks[0].proven && x->bound->tasks[0].response_ns == 12 && x->worst[0] == 12;
    m.tasks[0].chains[1].segments[0].chunks = 0;
    struct gs_analyzer *unknown = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
    const bool said = !gs_analyze(unknown, x->modes)->tasks[0].proven;
    if (!ok || !said)
        printf("the smallest set: seen %" PRId64 ", unproven without chunks: %d\n", x->worst[0], said);
    gs_analyzer_free(unknown);
    gs_analyzer_free(a);
    gs_model_free(&m);
    return ok && said;
}

int main(int argc, char **argv)
{
    struct rng rng = seed_from(argc, argv, 8);
    const long sets = argc > 2 ? atol(argv[2]) : 400;
    long done = 0;
    uint64_t tight = 0, tasks = 0, states = 0;
    struct explorer x = new_explorer();
    if (!check_smallest(&x))
        return 1;
    for (long tried = 0; tried < sets; tried++) {
        struct gs_model m = tiny_set(&rng, 1 + (int)(tried % MAX_DEPTH));
        struct gs_analyzer *a = gs_analyzer_new(&m, GS_ANALYSIS_SAFE);
        random_modes(&rng, &m, x.modes);
        x.m = &m;
        x.bound = gs_analyze(a, x.modes);
        if (x.bound->schedulable) {
            if (!holds(&x, tried))
                return 1;
            done += !x.too_many;
            states += x.n_states;
            for (size_t i = 0; i < m.n_tasks && !x.too_many; i++, tasks++)
                tight += x.worst[i] == x.bound->tasks[i].response_ns;
        }
        gs_analyzer_free(a);
        gs_model_free(&m);
    }
    printf("%ld sets explored whole, %" PRIu64 " states; %" PRIu64 " of %" PRIu64 " bounds are exact\n", done, states,
           tight, tasks);
    free_explorer(&x);
    return tight == 0;
}
