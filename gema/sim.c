/* SPDX-License-Identifier: MIT */
/* The simulator: from event to event, where an event is a release or the end of a piece. */
#include "gema/sim.h"

#include <stdlib.h>
#include <string.h>

enum { WAITING = -1, ENDED = -2, PAUSED = -3 };

struct piece {
    int64_t left;  /* time it still needs */
    int64_t since; /* start of the stretch it runs in */
    int server;    /* or WAITING, ENDED, PAUSED */
    /* On a chunked resource: */
    int home;                            /* the server that it stays on; -1: none yet */
    int64_t ungranted;                   /* of the time it still needs */
    int n_out;                           /* chunks granted; the first one runs */
    int64_t out[GS_CONFIG_MAX_SERVERS];  /* what they still need; of the first one, the hand-over to it included */
    int64_t from[GS_CONFIG_MAX_SERVERS]; /* when they may run: after the hand-over */
    int64_t hurts;                       /* something more urgent has waited for its server since; -1: nothing does */
    int64_t burst;                       /* of ungranted, until it pauses */
    int pauses;                          /* still to come, at most */
    int chunks;                          /* likewise; 0: any number */
    int64_t pause_left, until;           /* how long they may be; when the one under way ends */
};

struct job_queue {
    int64_t *release; /* owned; of jobs that are released and not ended, oldest first */
    size_t n, cap;
};

struct task_state {
    struct job_queue queue;
    int64_t next_release;
    uint64_t released, ended; /* jobs */
    size_t segment;           /* of the oldest job, where queue.n > 0 */
    int64_t ready;            /* when that segment became so */
    int n_pieces, unended;
    struct piece *pieces; /* owned; room for as many as there are GPUs */
};

struct gs_sim {
    const struct gs_model *model;
    const struct gs_sim_setup *setup;
    struct task_state *tasks;    /* owned */
    struct gs_sim_task *results; /* owned */
    int64_t *segments;           /* owned: the results' */
    size_t longest;              /* chain */
    int64_t now;
    bool failed;
    /* Scratch of one resource's dispatch: who holds or gets each server. */
    struct piece *holder[GS_CONFIG_MAX_SERVERS];
};

struct gs_sim *gs_sim_new(const struct gs_model *model)
{
    struct gs_sim *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    size_t n = model->n_tasks, gpus = (size_t)model->servers[GS_GPU];
    s->model = model;
    for (size_t i = 0; i < n; i++)
        for (size_t g = 1; g <= gpus; g++)
            if (model->tasks[i].chains[g].n > s->longest)
                s->longest = model->tasks[i].chains[g].n;
    s->tasks = calloc(n + 1, sizeof *s->tasks);
    s->results = calloc(n + 1, sizeof *s->results);
    s->segments = calloc(n * s->longest + 1, sizeof *s->segments);
    bool ok = s->tasks && s->results && s->segments;
    for (size_t i = 0; ok && i < n; i++) {
        s->tasks[i].pieces = calloc(gpus, sizeof *s->tasks[i].pieces);
        ok = s->tasks[i].pieces != NULL;
    }
    if (ok)
        return s;
    gs_sim_free(s);
    return NULL;
}

void gs_sim_free(struct gs_sim *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->tasks && i < s->model->n_tasks; i++) {
        free(s->tasks[i].pieces);
        free(s->tasks[i].queue.release);
    }
    free(s->tasks);
    free(s->results);
    free(s->segments);
    free(s);
}

static const struct gs_chain *chain_of(const struct gs_sim *s, size_t i)
{
    return &s->model->tasks[i].chains[s->setup->modes[i]];
}

static void push_job(struct gs_sim *s, struct job_queue *q, int64_t release)
{
    if (q->n == q->cap) {
        size_t cap = q->cap ? q->cap * 2 : 4;
        int64_t *v = realloc(q->release, cap * sizeof *v);
        if (!v) {
            s->failed = true;
            return;
        }
        q->release = v;
        q->cap = cap;
    }
    q->release[q->n++] = release;
}

static void end_job(struct gs_sim *s, size_t i)
{
    struct task_state *t = &s->tasks[i];
    struct gs_sim_task *r = &s->results[i];
    struct gs_sim_job job = {i, t->ended++, t->queue.release[0], s->now};
    int64_t response = job.end - job.release;
    memmove(t->queue.release, t->queue.release + 1, --t->queue.n * sizeof *t->queue.release);
    r->jobs++;
    r->misses += response > s->model->tasks[i].deadline_ns;
    r->response = response > r->response ? response : r->response;
    if (s->setup->ended)
        s->setup->ended(s->setup->context, &job);
}

/* How much is granted until the next pause. */
static void begin_burst(const struct gs_sim *s, struct piece *x)
{
    x->burst =
        x->pauses && x->ungranted && s->setup->burst ? s->setup->burst(s->setup->context, x->ungranted) : x->ungranted;
}

/* All that was granted of a burst has ended. */
static void pause_piece(const struct gs_sim *s, struct piece *x)
{
    const int64_t length = s->setup->pause ? s->setup->pause(s->setup->context, x->pause_left) : x->pause_left;
    x->pauses--;
    x->pause_left -= length;
    x->until = s->now + length;
    x->server = length ? PAUSED : WAITING;
    begin_burst(s, x);
}

/* Makes the pieces of the task's segment wait. Returns how many of them have anything to do. */
static int begin_segment(struct gs_sim *s, size_t i)
{
    struct task_state *t = &s->tasks[i];
    const struct gs_segment *seg = &chain_of(s, i)->segments[t->segment];
    t->ready = s->now;
    t->n_pieces = seg->resource == GS_GPU ? s->setup->modes[i] : 1;
    t->unended = 0;
    for (int p = 0; p < t->n_pieces; p++) {
        int64_t time = s->setup->time ? s->setup->time(s->setup->context, i, t->ended, t->segment, p) : seg->worst_ns;
        struct piece *x = &t->pieces[p];
        if (time && !s->model->chunked[seg->resource])
            time += seg->pause_ns; /* it keeps the server */
        x->left = x->ungranted = time;
        x->pauses = seg->pauses;
        x->chunks = seg->chunks;
        x->pause_left = seg->pause_ns;
        begin_burst(s, x);
        x->server = time ? WAITING : ENDED;
        x->home = -1;
        x->n_out = 0;
        t->unended += time > 0;
    }
    return t->unended;
}

static void end_segment(struct gs_sim *s, size_t i)
{
    struct task_state *t = &s->tasks[i];
    int64_t took = s->now - t->ready, *most = &s->segments[i * s->longest + t->segment];
    *most = took > *most ? took : *most;
    t->segment++;
}

/* From a segment that has ended, or a job that is new, to the next segment that has something to do. */
static void advance(struct gs_sim *s, size_t i)
{
    struct task_state *t = &s->tasks[i];
    while (t->queue.n) {
        if (t->segment == chain_of(s, i)->n) {
            end_job(s, i);
            t->segment = 0;
            continue;
        }
        if (begin_segment(s, i))
            return;
        end_segment(s, i);
    }
}

static void stop_piece(struct gs_sim *s, size_t i, int p, int server)
{
    struct task_state *t = &s->tasks[i];
    struct gs_sim_slice slice = {i,      t->segment,         t->ended, p, chain_of(s, i)->segments[t->segment].resource,
                                 server, t->pieces[p].since, s->now};
    if (s->setup->ran && slice.end > slice.begin)
        s->setup->ran(s->setup->context, &slice);
}

static void release_jobs(struct gs_sim *s, size_t i)
{
    struct task_state *t = &s->tasks[i];
    while (t->next_release <= s->now && t->next_release < s->setup->horizon && !s->failed) {
        push_job(s, &t->queue, t->next_release);
        t->next_release += s->model->tasks[i].period_ns;
        if (s->setup->gap)
            t->next_release += s->setup->gap(s->setup->context, i, t->released);
        t->released++;
        if (t->queue.n == 1) {
            t->segment = 0;
            advance(s, i);
        }
    }
}

/* The piece's first chunk is the next to run: the server idles until its hand-over is done. */
static void await_chunk(const struct gs_sim *s, struct piece *x)
{
    const int64_t idle = x->from[0] > s->now ? x->from[0] - s->now : 0;
    x->left += idle;
    x->out[0] += idle;
}

/* The piece's running chunk has ended, but not the piece: the next one runs, or it waits where it is. */
static void next_chunk(struct gs_sim *s, size_t i, int p)
{
    struct piece *x = &s->tasks[i].pieces[p];
    stop_piece(s, i, p, x->server);
    x->since = s->now;
    memmove(x->out, x->out + 1, (size_t)--x->n_out * sizeof *x->out);
    memmove(x->from, x->from + 1, (size_t)x->n_out * sizeof *x->from);
    if (x->n_out)
        await_chunk(s, x);
    if (!x->n_out && x->burst)
        x->server = WAITING;
    else if (!x->n_out)
        pause_piece(s, x);
}

/* Does the piece keep its server, though its last chunk out has ended? */
static bool keeps_server(struct gs_sim *s, size_t i, struct piece *x)
{
    if (!s->setup->keep || x->server < 0 || x->n_out != 1 || x->out[0])
        return false;
    const enum gs_resource r = chain_of(s, i)->segments[s->tasks[i].segment].resource;
    const int64_t more = s->setup->keep(s->setup->context, i, r, s->now, x->hurts < 0 ? 0 : s->now - x->hurts);
    x->left += more;
    x->out[0] += more;
    return more > 0;
}

/* Everything that ends or becomes ready now. */
static void settle(struct gs_sim *s)
{
    for (size_t i = 0; i < s->model->n_tasks; i++) {
        struct task_state *t = &s->tasks[i];
        for (int p = 0; t->queue.n && p < t->n_pieces; p++)
            if (keeps_server(s, i, &t->pieces[p])) {
                continue;
            } else if (t->pieces[p].server >= 0 && t->pieces[p].left == 0) {
                stop_piece(s, i, p, t->pieces[p].server);
                t->pieces[p].server = ENDED;
                t->unended--;
            } else if (t->pieces[p].server >= 0 && t->pieces[p].n_out && t->pieces[p].out[0] == 0) {
                next_chunk(s, i, p);
            } else if (t->pieces[p].server == PAUSED && t->pieces[p].until <= s->now) {
                t->pieces[p].server = WAITING;
            }
        if (t->queue.n && t->unended == 0) {
            end_segment(s, i);
            advance(s, i);
        }
        release_jobs(s, i);
    }
}

static bool on_resource(const struct gs_sim *s, size_t i, enum gs_resource r)
{
    const struct task_state *t = &s->tasks[i];
    return t->queue.n && chain_of(s, i)->segments[t->segment].resource == r;
}

static bool is_own(const struct gs_sim *s, size_t i, enum gs_resource r)
{
    return r == GS_GPU && s->setup->modes[i] > 1 && s->model->pieces == GS_PIECES_OWN;
}

/* A free server for a piece that is on `was`; its own, the one it has, or any. -1: none. */
static int find_server(struct gs_sim *s, int m, int own, int was)
{
    int free_servers[GS_CONFIG_MAX_SERVERS];
    unsigned n = 0;
    if (own >= 0)
        return s->holder[own] ? -1 : own;
    if (was >= 0 && !s->holder[was])
        return was;
    for (int k = 0; k < m; k++)
        if (!s->holder[k])
            free_servers[n++] = k;
    if (!n)
        return -1;
    return free_servers[n > 1 && s->setup->pick ? s->setup->pick(s->setup->context, n) : 0];
}

/* Puts a piece on a server, or takes it off (WAITING). */
static void move_piece(struct gs_sim *s, size_t i, int p, int to)
{
    struct piece *x = &s->tasks[i].pieces[p];
    if (x->server == to)
        return;
    if (x->server >= 0)
        stop_piece(s, i, p, x->server);
    x->server = to;
    x->since = s->now;
}

/* Gives a task's pieces what is left. False: it is a gang that doesn't fit, and nobody below may start. */
static bool serve(struct gs_sim *s, size_t i, enum gs_resource r)
{
    struct task_state *t = &s->tasks[i];
    int m = s->model->servers[r], free_servers = 0, wanting = 0;
    bool several = r == GS_GPU && s->setup->modes[i] > 1;
    bool gang = several && s->model->pieces == GS_PIECES_GANG;
    bool own = is_own(s, i, r);
    for (int p = 0; p < t->n_pieces; p++)
        wanting += t->pieces[p].server != ENDED && (s->model->preemptive[r] || t->pieces[p].server == WAITING);
    for (int k = 0; k < m; k++)
        free_servers += !s->holder[k];
    bool fits = !gang || wanting <= free_servers;
    for (int p = 0; p < t->n_pieces; p++) {
        struct piece *x = &t->pieces[p];
        if (x->server == ENDED || (!s->model->preemptive[r] && x->server >= 0))
            continue;
        int k = fits ? find_server(s, m, own ? p : -1, x->server) : -1;
        if (k >= 0)
            s->holder[k] = x;
        move_piece(s, i, p, k >= 0 ? k : WAITING);
    }
    return fits;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* May the next chunk be so short? Not if the others could not hold what would be left. */
static bool leaves_enough(const struct piece *x, int64_t length, int64_t most)
{
    return !x->chunks ||
           ceil_div(x->burst - length, most) + ceil_div(x->ungranted - x->burst, most) + x->pauses < x->chunks;
}

/* One more chunk for the piece, on server k. */
static void grant_chunk(struct gs_sim *s, size_t i, struct piece *x, enum gs_resource r, int k)
{
    const struct gs_sim_setup *setup = s->setup;
    const struct gs_segment *segment = &chain_of(s, i)->segments[s->tasks[i].segment];
    const int64_t chunk = s->model->tasks[i].chunk_ns[r], most = !chunk || chunk > x->burst ? x->burst : chunk;
    const int64_t over = s->model->handover_ns, least = most < over ? most : over;
    int64_t length = setup->chunk ? setup->chunk(setup->context, most) : most;
    if (s->model->depth > 1 && length < least && !segment->chunks && !gs_model_has_short_chunks(s->model, i, segment))
        length = least; /* what analyses take for granted */
    if (!leaves_enough(x, length, chunk ? chunk : x->ungranted))
        length = most;
    x->chunks -= x->chunks > 0;
    x->ungranted -= length;
    x->burst -= length;
    x->out[x->n_out] = length;
    x->from[x->n_out] = s->now + (setup->handover ? setup->handover(setup->context, over) : over);
    if (!x->n_out++) {
        x->since = s->now;
        x->hurts = -1;
        await_chunk(s, x);
    }
    x->server = x->home = k;
    s->holder[k] = x;
}

/* Grants a piece what it may have, and stops all that is less urgent on the servers that it goes on waiting for. */
static void serve_chunks(struct gs_sim *s, size_t i, int p, enum gs_resource r, uint64_t *waited_for)
{
    struct piece *x = &s->tasks[i].pieces[p];
    int m = s->model->servers[r];
    if (x->server >= 0)
        x->hurts = !(*waited_for >> x->server & 1) ? -1 : x->hurts < 0 ? s->now : x->hurts;
    while (x->burst) {
        int own = is_own(s, i, r) ? p : x->home, n = 0, may[GS_CONFIG_MAX_SERVERS];
        uint64_t does = own >= 0 ? UINT64_C(1) << own : UINT64_MAX >> (64 - m);
        for (int k = 0; k < m; k++)
            if ((does & ~*waited_for) >> k & 1 && (!s->holder[k] || (s->holder[k] == x && x->n_out < s->model->depth)))
                may[n++] = k;
        if (!n) {
            *waited_for |= does;
            return;
        }
        grant_chunk(s, i, x, r, may[n > 1 && s->setup->pick ? s->setup->pick(s->setup->context, (unsigned)n) : 0]);
    }
}

static void dispatch_chunks(struct gs_sim *s, enum gs_resource r)
{
    uint64_t waited_for = 0;
    memset(s->holder, 0, (size_t)s->model->servers[r] * sizeof *s->holder);
    for (size_t i = 0; i < s->model->n_tasks; i++)
        for (int p = 0; on_resource(s, i, r) && p < s->tasks[i].n_pieces; p++)
            if (s->tasks[i].pieces[p].server >= 0)
                s->holder[s->tasks[i].pieces[p].server] = &s->tasks[i].pieces[p];
    for (size_t i = 0; i < s->model->n_tasks; i++)
        for (int p = 0; on_resource(s, i, r) && p < s->tasks[i].n_pieces; p++)
            if (s->tasks[i].pieces[p].server != ENDED && s->tasks[i].pieces[p].server != PAUSED)
                serve_chunks(s, i, p, r, &waited_for);
}

static void dispatch(struct gs_sim *s, enum gs_resource r)
{
    if (s->model->chunked[r]) {
        dispatch_chunks(s, r);
        return;
    }
    memset(s->holder, 0, (size_t)s->model->servers[r] * sizeof *s->holder);
    if (!s->model->preemptive[r])
        for (size_t i = 0; i < s->model->n_tasks; i++)
            for (int p = 0; on_resource(s, i, r) && p < s->tasks[i].n_pieces; p++)
                if (s->tasks[i].pieces[p].server >= 0)
                    s->holder[s->tasks[i].pieces[p].server] = &s->tasks[i].pieces[p];
    bool fits = true;
    for (size_t i = 0; i < s->model->n_tasks; i++) {
        if (!on_resource(s, i, r))
            continue;
        if (fits)
            fits = serve(s, i, r);
        else if (s->model->preemptive[r])
            for (int p = 0; p < s->tasks[i].n_pieces; p++)
                if (s->tasks[i].pieces[p].server >= 0)
                    move_piece(s, i, p, WAITING);
    }
}

static int64_t runs_for(const struct piece *x)
{
    return x->n_out ? x->out[0] : x->left;
}

/* Time until the next event; -1: there is none. */
static int64_t until_next(const struct gs_sim *s)
{
    int64_t least = -1;
    for (size_t i = 0; i < s->model->n_tasks; i++) {
        const struct task_state *t = &s->tasks[i];
        int64_t d = t->next_release - s->now;
        if (t->next_release < s->setup->horizon && (least < 0 || d < least))
            least = d;
        for (int p = 0; t->queue.n && p < t->n_pieces; p++)
            if (t->pieces[p].server >= 0 && (least < 0 || runs_for(&t->pieces[p]) < least))
                least = runs_for(&t->pieces[p]);
            else if (t->pieces[p].server == PAUSED && (least < 0 || t->pieces[p].until - s->now < least))
                least = t->pieces[p].until - s->now;
    }
    return least;
}

static void pass(struct gs_sim *s, int64_t time)
{
    s->now += time;
    for (size_t i = 0; i < s->model->n_tasks; i++) {
        struct task_state *t = &s->tasks[i];
        for (int p = 0; t->queue.n && p < t->n_pieces; p++)
            if (t->pieces[p].server >= 0) {
                t->pieces[p].left -= time;
                t->pieces[p].out[0] -= time;
            }
    }
}

static void reset(struct gs_sim *s, const struct gs_sim_setup *setup)
{
    s->setup = setup;
    s->now = 0;
    s->failed = false;
    for (size_t i = 0; i < s->model->n_tasks; i++) {
        struct task_state *t = &s->tasks[i];
        *t = (struct task_state){.queue = {t->queue.release, 0, t->queue.cap},
                                 .pieces = t->pieces,
                                 .next_release = setup->offsets ? setup->offsets[i] : 0};
        s->results[i] = (struct gs_sim_task){.segments = &s->segments[i * s->longest]};
    }
    memset(s->segments, 0, s->model->n_tasks * s->longest * sizeof *s->segments);
}

const struct gs_sim_task *gs_sim_run(struct gs_sim *s, const struct gs_sim_setup *setup)
{
    reset(s, setup);
    for (int64_t step = 0; step >= 0 && !s->failed && !(setup->stop && *setup->stop); step = until_next(s)) {
        pass(s, step);
        settle(s);
        for (int r = 0; r < GS_RESOURCES; r++)
            dispatch(s, (enum gs_resource)r);
    }
    return s->failed ? NULL : s->results;
}
