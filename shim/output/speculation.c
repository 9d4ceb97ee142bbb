/* SPDX-License-Identifier: MIT */
#include "shim/output/speculation.h"

#include <stdlib.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/coherence/coherence.h"
#include "shim/transfer/pinned.h"
#include "shim/transfer/transfer.h"
#include "shim/order/completion.h"
#include "shim/process/work_queue.h"
#include "shim/output/backoff.h"
#include "shim/output/run_kernel.h"
#include "shim/plan/kinds.h"
#include "shim/plan/part_kernel.h"
#include "shim/plan/prepare.h"
#include "shim/report/report.h"
#include "shim/output/scratch.h"
#include "shim/subkernel/units.h"
#include "shim/driver/enqueue.h"
#include "shim/record/objects.h"
#include "shim/put/put.h"

/* ---- one that is under way ---- */

/* The contested bytes of one memory object. The handles are retained, as all below. */
struct gs_speculation_field {
    struct gs_mem *root; /* not to be looked into by the thread */
    cl_mem mem[GS_MAX_DEVICES], kept[GS_MAX_DEVICES];
    uint64_t begin, bytes;
};

/* Bytes that go from a buffer to another. */
struct gs_speculation_copy {
    cl_mem from, to;
    uint64_t from_at, to_at, bytes;
    unsigned from_place, place; /* whose they are, and that gets them */
};

struct gs_speculation {
    struct gs_work work; /* first */
    /* What is pledged to the application's commands: a user event that they wait for. The thread of work_queue.h acts
     * when the parts and the looks at their bytes have ended, and ends the event when what it has enqueued has. */
    cl_event end;
    /* Commands that wait for `end`, until they have ended: PoCL (3.1) uses one that fails after it has let go of it. */
    struct gs_events marks;
    atomic_uint awaits;                     /* events that it goes on after */
    bool acts;                              /* the thread has been at it: what is awaited is its work */
    atomic_int status;                      /* CL_COMPLETE, or the first error */
    struct gs_context *ctx;                 /* held */
    struct gs_putting put;                  /* for whom; kept */
    unsigned n;                             /* parts; part p is on place p */
    cl_command_queue queue[GS_MAX_DEVICES]; /* the thread's own; retained */
    struct gs_events done;                  /* the ends of what it enqueues */
    struct gs_kernel_stats *stats;
    uint64_t kernel_id;
    struct gs_speculation_field *fields;
    struct gs_speculation_copy *undo; /* kept bytes, back home */
    /* What each other part owns, from home once one device has done the launch over. */
    struct gs_speculation_copy *owned;
    size_t n_fields, n_undo, n_owned;
    struct gs_pinned *ring;          /* between places, the thread's own; null: by the driver's own copies */
    cl_uint changed[GS_MAX_DEVICES]; /* by place: some contested byte; written by the device */
    struct gs_kernel_work *whole;    /* the whole launch, at home */
    bool unknown;                    /* what has changed couldn't be found out: one device does it over */
    struct gs_events done_over;      /* the end of that launch, once it has been enqueued */
};

/* ---- which launches may be tried ---- */

static struct {
    pthread_mutex_t lock; /* a leaf */
    struct gs_backoffs known;
} trials = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(trials.lock, GS_RANK_TRIALS);

const char *gs_speculation_refuses(struct gs_kernel *k)
{
    const uint64_t id = gs_kernel_id(k);
    GS_LOCKED(&trials.lock);
    return gs_backoff_refuses(gs_backoff_of(&trials.known, id));
}

static void count_begun(const struct gs_speculation *j)
{
    GS_LOCKED(&trials.lock);
    gs_backoff_begin(gs_backoff_of(&trials.known, j->kernel_id));
}

static void count_ended(const struct gs_speculation *j, bool good)
{
    GS_LOCKED(&trials.lock);
    gs_backoff_end(gs_backoff_of(&trials.known, j->kernel_id), good);
}

/* What the thread is to use; null after an error, before or now. */
static cl_mem keep(cl_mem m, cl_int *err)
{
    if (!*err)
        *err = gs_keep_mem(m);
    return *err ? NULL : m;
}

static void let_go(cl_mem m)
{
    if (m)
        gs_let_go_of_mem(m);
}

static void free_copies(struct gs_speculation_copy *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        let_go(v[i].from);
        let_go(v[i].to);
    }
    free(v);
}

void gs_speculation_drop(struct gs_speculation *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->n_fields; i++)
        for (unsigned p = 0; p < j->n; p++) {
            let_go(j->fields[i].mem[p]);
            let_go(j->fields[i].kept[p]);
        }
    free(j->fields);
    free_copies(j->undo, j->n_undo);
    free_copies(j->owned, j->n_owned);
    if (j->whole)
        gs_kernel_work_free(j->whole);
    gs_events_free(&j->done_over);
    gs_events_free(&j->done);
    for (unsigned p = 0; p < j->n; p++)
        if (j->queue[p])
            gs_real()->clReleaseCommandQueue(j->queue[p]);
    gs_events_free(&j->marks);
    if (j->end)
        gs_real()->clReleaseEvent(j->end);
    gs_put_let_go(&j->put);
    gs_drop(&j->ctx->o);
    free(j);
}

/* ---- its end ---- */

static void fail(struct gs_speculation *j, cl_int status)
{
    int none = CL_COMPLETE;
    atomic_compare_exchange_strong(&j->status, &none, status);
}

static void free_work(struct gs_work *work)
{
    gs_speculation_drop((struct gs_speculation *)work);
}

static void act(struct gs_work *work);

/* What was awaited has ended: that is the end once the thread has acted, and else its turn. It isn't freed in a
 * callback: a driver may wait for a queue's commands when it is released for the last time. */
static void go_on(struct gs_speculation *j)
{
    if (j->acts)
        gs_event_end(j->end, atomic_load(&j->status));
    j->work.run = j->acts ? free_work : act;
    gs_work_add(GS_WORK_LATER, &j->work);
}

static void CL_CALLBACK ended(cl_event event, cl_int status, void *data)
{
    struct gs_speculation *j = data;
    (void)event;
    if (status < 0)
        fail(j, j->acts ? status : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    if (atomic_fetch_sub(&j->awaits, 1) == 1)
        go_on(j);
}

/* Goes on once all of `events`, which is freed, has ended; fails if some end badly. *j may be gone when this returns.
 */
static void await(struct gs_speculation *j, struct gs_events *events)
{
    const cl_uint n = events->n;
    atomic_store(&j->awaits, n);
    for (cl_uint i = 0; i < n; i++)
        if (!gs_await_end(events->v[i], NULL, ended, j))
            ended(events->v[i], gs_real()->clWaitForEvents(1, &events->v[i]), j);
    gs_events_free(events);
    if (!n)
        go_on(j);
}

/* ---- in the thread ---- */

static cl_int carry(struct gs_speculation *j, const struct gs_speculation_copy *c, const struct gs_events *wait)
{
    const struct gs_op copy = gs_op_copy(c->from, c->to, c->from_at, c->to_at, c->bytes);
    const struct gs_transfer_thread thread = {j->ring ? gs_pinned_passage(j->ring) : NULL, j->queue};
    struct gs_command cmd = {.ctx = j->ctx, .thread = &thread};
    gs_report_moved(GS_PATH_MERGE, c->bytes);
    const cl_int err = gs_transfer_buffer(&cmd, &copy, c->from_place, c->place, wait, &j->done);
    gs_command_end(&cmd);
    return err;
}

/* No part but this one has changed anything: home gets what it made. */
static cl_int take_over(struct gs_speculation *j, unsigned from)
{
    static const struct gs_events none;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < j->n_fields && from && !err; i++) {
        const struct gs_speculation_field *f = &j->fields[i];
        const struct gs_speculation_copy c = {f->mem[from], f->mem[0], f->begin, f->begin, f->bytes, from, 0};
        err = carry(j, &c, &none);
    }
    return err;
}

/* Home as it was, and the launch on it alone. The first queue is in order. */
static cl_int launch_whole(struct gs_speculation *j)
{
    static const struct gs_events none;
    const struct gs_events *done = &j->done;
    cl_event event;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < j->n_undo && !err; i++)
        err = carry(j, &j->undo[i], &none);
    const struct gs_label before = gs_label_purpose(GS_FOR_APP);
    if (!err)
        err = gs_kernel_work_enqueue(j->whole, 0, j->queue[0], done->n, done->n ? done->v : NULL, &event);
    if (!err)
        err = gs_events_add(&j->done_over, event);
    gs_label_back(before);
    gs_real()->clFlush(j->queue[0]);
    return err;
}

/* Then what the other places are to have. Only that, if it is tried once more: what the launch has found and changed of
 * what they own wasn't kept. */
static cl_int do_over(struct gs_speculation *j)
{
    const struct gs_events *ran = &j->done_over;
    cl_int err = ran->n ? CL_SUCCESS : launch_whole(j);
    if (!err)
        err = gs_events_share(&j->done, ran->v[0]);
    for (size_t i = 0; i < j->n_owned && !err; i++)
        err = carry(j, &j->owned[i], ran);
    return err;
}

/* How many parts have changed contested bytes, and the last of them. */
static unsigned count_changed(const struct gs_speculation *j, unsigned *by)
{
    unsigned n = j->unknown ? 2 : 0;
    *by = 0;
    for (unsigned p = 0; p < j->n; p++)
        if (j->changed[p]) {
            n++;
            *by = p;
        }
    return n;
}

static cl_int decide(struct gs_speculation *j)
{
    unsigned by;
    const unsigned n = count_changed(j, &by);
    return n > 1 ? do_over(j) : n ? take_over(j, by) : CL_SUCCESS;
}

/* What is under way works on the places' memory: before an error is acted on, its end. */
static cl_int send_all(struct gs_speculation *j)
{
    const cl_int err = decide(j);
    for (unsigned p = 0; p < j->n; p++)
        gs_real()->clFlush(j->queue[p]);
    if (!err)
        return err;
    gs_debug("what a trial is to move could not be sent (error %d)", err);
    gs_events_wait(&j->done);
    gs_events_free(&j->done);
    return err;
}

static void end_trial(struct gs_speculation *j, cl_int err)
{
    unsigned by;
    const bool good = count_changed(j, &by) <= 1;
    count_ended(j, good && !err);
    if (!err)
        gs_report_trial(j->stats, good);
}

/* If a command is refused all is done over: the same bytes may be copied again. */
static void act(struct gs_work *work)
{
    struct gs_speculation *j = (struct gs_speculation *)work;
    j->acts = true;
    const struct gs_label before = gs_label_purpose(GS_FOR_MERGE);
    const struct gs_putting *put_before = gs_put_for(gs_put_kept(&j->put));
    cl_int err = atomic_load(&j->status);
    if (!err && (err = send_all(j)) != CL_SUCCESS)
        err = send_all(j);
    gs_put_for(put_before);
    gs_label_back(before);
    end_trial(j, err);
    if (err)
        fail(j, err);
    struct gs_events all = j->done;
    j->done = (struct gs_events){0};
    await(j, &all);
}

/* ---- before the parts run: what it takes to find out what they change, and to undo it ---- */

/* Room for a copy, which then belongs to the list. */
static struct gs_speculation_copy *add_copy(struct gs_speculation_copy **v, size_t *n, cl_int *err)
{
    struct gs_speculation_copy *grown = *err ? NULL : realloc(*v, (*n + 1) * sizeof *grown);
    if (!grown) {
        *err = *err ? *err : CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    *v = grown;
    grown[*n] = (struct gs_speculation_copy){0};
    return &grown[(*n)++];
}

static cl_int keep_bytes(struct gs_command *cmd, unsigned place, const struct gs_op *copy, struct gs_events *ready)
{
    cl_int err;
    cl_event event;
    cl_command_queue queue = gs_queue_behind(cmd->q, GS_COPY_QUEUE, place, &err);
    if (!err)
        err = gs_put(queue, copy, GS_VIA_MEMORY, ready->n, ready->v, &event);
    return err ? err : gs_events_add(ready, event);
}

static cl_int add_undo(struct gs_speculation *j, cl_mem home, uint64_t begin, cl_mem kept, uint64_t at, uint64_t bytes)
{
    cl_int err = CL_SUCCESS;
    struct gs_speculation_copy *c = add_copy(&j->undo, &j->n_undo, &err);
    if (!c)
        return err;
    c->from = keep(kept, &err);
    c->to = keep(home, &err);
    c->from_at = at;
    c->to_at = begin;
    c->bytes = bytes;
    return err;
}

static cl_int begin_field(struct gs_speculation *j, struct gs_command *cmd, const struct gs_use *u,
                          struct gs_events *ready)
{
    struct gs_speculation_field *f = &j->fields[j->n_fields++];
    cl_int err = CL_SUCCESS;
    f->root = u->root;
    f->begin = u->window.begin;
    f->bytes = u->window.end - u->window.begin;
    for (unsigned p = 0; p < j->n && !err; p++) {
        cl_mem kept = gs_scratch_take(cmd->ctx, p, f->bytes, &err);
        f->kept[p] = keep(kept, &err);
        f->mem[p] = keep(gs_replica_at(u->root, p), &err);
        const struct gs_op copy = gs_op_copy(f->mem[p], f->kept[p], f->begin, 0, f->bytes);
        if (!err)
            err = keep_bytes(cmd, p, &copy, &ready[p]);
    }
    return err ? err : add_undo(j, f->mem[0], f->begin, f->kept[0], 0, f->bytes);
}

/* What is only the first part's, or reduced, and what the others own. */
static cl_int begin_other(struct gs_speculation *j, struct gs_command *cmd, const struct gs_use *u,
                          struct gs_events *ready)
{
    struct gs_rangeset undo = {0};
    cl_mem home = gs_replica_at(u->root, 0), kept = NULL;
    cl_int err = gs_plan_undo(u, j->n, &undo) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (!err && undo.n)
        kept = gs_scratch_take(cmd->ctx, 0, gs_rangeset_bytes(&undo), &err);
    uint64_t at = 0;
    for (size_t i = 0; i < undo.n && !err; i++) {
        const uint64_t begin = undo.v[i].begin, bytes = undo.v[i].end - begin;
        const struct gs_op copy = gs_op_copy(home, kept, begin, at, bytes);
        err = keep_bytes(cmd, 0, &copy, &ready[0]);
        if (!err)
            err = add_undo(j, home, begin, kept, at, bytes);
        at += bytes;
    }
    gs_rangeset_free(&undo);
    for (unsigned p = 1; p < j->n; p++)
        for (size_t i = 0; i < u->wrote[p].n && !err; i++) {
            struct gs_speculation_copy *c = add_copy(&j->owned, &j->n_owned, &err);
            if (!c)
                break;
            c->from = keep(home, &err);
            c->to = keep(gs_replica_at(u->root, p), &err);
            c->from_at = c->to_at = u->wrote[p].v[i].begin;
            c->bytes = u->wrote[p].v[i].end - c->from_at;
            c->place = p;
        }
    return err;
}

/* The whole launch, at home. */
static cl_int keep_whole(struct gs_speculation *j, struct gs_launching *l, const struct gs_plan *plan)
{
    struct gs_kernel_run run = {.k = l->k,
                                .geometry = l->geometry,
                                .null_local = l->null_local,
                                .summary = l->summary,
                                .cut = {.whole = plan->box[0], .n = 1}};
    cl_int err;
    run.kernel = gs_spare_kernel(l->k, 0, &err);
    run.cut.whole.end[plan->dim] = plan->box[plan->n_parts - 1].end[plan->dim];
    if (!err && (err = gs_launch_args(l, run.kernel, 0)) != CL_SUCCESS)
        gs_spare_kernel_back(l->k, 0, run.kernel);
    if (!err)
        j->whole = gs_kernel_work_make(&run, &err);
    return err;
}

/* Between two places bytes go through pinned memory, as NVIDIA's driver loses some where it copies from one device's
 * object to another's; but not those of objects that the host may not read or write, nor where the driver's own copies
 * are asked for and the devices share the host's memory. */
static struct gs_pinned *ring_for(const struct gs_plan *plan, struct gs_context *ctx)
{
    enum { SLOT_BYTES = 2 * 1024 * 1024 };
    cl_int err;
    bool open = gs_settings()->transfer != GS_TRANSFER_PLAIN || !ctx->shared_memory;
    for (size_t i = 0; i < plan->n_uses; i++)
        open = open && gs_host_may(plan->uses[i].root, CL_MAP_READ | CL_MAP_WRITE);
    struct gs_output *o = open ? gs_output_of(ctx) : NULL;
    if (!o || o->ring_tried)
        return o ? o->ring : NULL;
    o->ring_tried = true;
    o->ring = gs_pinned_make(ctx, SLOT_BYTES, &err);
    if (err) {
        gs_pinned_free(o->ring);
        o->ring = NULL;
    }
    return o->ring;
}

/* The thread's queues, and the end that is pledged. */
static cl_int prepare_thread(struct gs_speculation *j, struct gs_command *cmd)
{
    cl_int err = CL_SUCCESS;
    gs_hold(&j->ctx->o);
    gs_put_keep(&j->put);
    for (unsigned p = 0; p < j->n && !err; p++) {
        cl_command_queue queue = gs_queue_behind(cmd->q, GS_THREADS_QUEUE, p, &err);
        if (!err)
            err = gs_real()->clRetainCommandQueue(queue);
        j->queue[p] = err ? NULL : queue;
    }
    if (!err)
        j->end = gs_real()->clCreateUserEvent(j->ctx->o.handle, &err);
    return err;
}

struct gs_speculation *gs_speculation_begin(struct gs_launching *l, const struct gs_plan *plan, struct gs_events *ready,
                                            cl_int *err)
{
    struct gs_speculation *j = calloc(1, sizeof *j);
    *err = CL_OUT_OF_HOST_MEMORY;
    if (!j)
        return NULL;
    j->ctx = l->cmd.ctx;
    j->n = plan->n_parts;
    j->stats = l->k->stats;
    j->kernel_id = gs_kernel_id(l->k);
    *err = prepare_thread(j, &l->cmd);
    j->ring = ring_for(plan, j->ctx);
    if (!*err && !(j->fields = calloc(plan->n_uses + 1, sizeof *j->fields)))
        *err = CL_OUT_OF_HOST_MEMORY;
    for (unsigned p = 0; p < plan->n_parts && !*err; p++)
        gs_own_kernel(l->cmd.ctx, p, GS_OWN_DIFFERS, err);
    for (size_t i = 0; i < plan->n_uses && !*err; i++) {
        const struct gs_use *u = &plan->uses[i];
        if (u->writes == GS_CONTESTED)
            *err = begin_field(j, &l->cmd, u, ready);
        else if (u->writes != GS_READ_ONLY)
            *err = begin_other(j, &l->cmd, u, ready);
    }
    if (!*err)
        *err = keep_whole(j, l, plan);
    if (!*err)
        return j;
    gs_debug("no launch on trial (error %d)", *err);
    gs_speculation_drop(j);
    return NULL;
}

/* ---- once they are enqueued ---- */

/* Does place p hold other contested bytes than before? */
static cl_int compare(struct gs_speculation *j, struct gs_command *cmd, unsigned p, cl_event ran, struct gs_events *to)
{
    static const cl_uint zero;
    struct gs_events done = {0};
    cl_event event;
    cl_int err;
    cl_command_queue queue = gs_queue_behind(cmd->q, GS_COPY_QUEUE, p, &err);
    cl_mem flag = err ? NULL : gs_scratch_take(cmd->ctx, p, sizeof zero, &err);
    const struct gs_op clear = gs_op_fill(flag, 0, sizeof zero, &zero, sizeof zero);
    const struct gs_op look = gs_op_read(flag, 0, sizeof zero, &j->changed[p]);
    if (!err)
        err = gs_enqueue(&clear, queue, 1, &ran, &event);
    if (!err)
        err = gs_events_add(&done, event);
    for (size_t i = 0; i < j->n_fields && !err; i++) {
        const struct gs_speculation_field *f = &j->fields[i];
        err = gs_run_output_kernel(queue,
                                   GS_OUTPUT_LAUNCH(gs_own_made(cmd->ctx, p, GS_OWN_DIFFERS), (f->bytes + 15) / 16,
                                                    GS_ARG(f->mem[p]), GS_ARG(f->begin), GS_ARG(f->kept[p]),
                                                    GS_ARG(f->bytes), GS_ARG(flag)),
                                   &done, &done);
    }
    if (!err)
        err = gs_enqueue(&look, queue, done.n, done.v, &event);
    if (!err)
        err = gs_events_add(to, event);
    gs_real()->clFlush(queue);
    gs_events_free(&done);
    return err;
}

/* An event with the times of a queue, which a user event has not, that comes after what is pledged. */
static cl_int promise(struct gs_speculation *j, struct gs_command *cmd, struct gs_events *to)
{
    cl_event event;
    cl_int err;
    cl_command_queue queue = gs_queue_behind(cmd->q, GS_COPY_QUEUE, 0, &err);
    if (!err)
        err = gs_enqueue_marker(queue, 1, &j->end, &event);
    if (!err)
        err = gs_events_add(to, event);
    return err ? err : gs_events_share(&j->marks, to->v[to->n - 1]);
}

cl_int gs_speculation_end(struct gs_speculation *j, struct gs_command *cmd, const cl_event *ran,
                          struct gs_events *ended)
{
    struct gs_events wait = {0};
    cl_int err = gs_events_share_all(&wait, ended);
    for (unsigned p = 0; p < j->n && !err && !j->unknown; p++)
        j->unknown = compare(j, cmd, p, ran[p], &wait) != CL_SUCCESS;
    if (!err)
        err = promise(j, cmd, ended);
    if (err)
        fail(j, err);
    gs_command_flush(cmd->q);
    count_begun(j);
    await(j, &wait);
    return err;
}
