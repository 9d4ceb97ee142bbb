/* SPDX-License-Identifier: MIT */
#include "shim/output/speculation.h"

#include <stdlib.h>

#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/output/deferred_send.h"
#include "shim/output/backoff.h"
#include "shim/memory/coherence.h"
#include "shim/output/merge_kernels.h"
#include "shim/order/continuation.h"
#include "shim/plan/kinds.h"
#include "shim/plan/prepare.h"
#include "shim/report/report.h"
#include "shim/memory/scratch.h"
#include "shim/subkernel/units.h"

/* The contested bytes of one memory object. The handles are retained, as all below. */
struct field {
    struct gs_mem *root; /* not to be looked into by the thread */
    cl_mem mem[GS_MAX_DEVICES], kept[GS_MAX_DEVICES];
    uint64_t begin, bytes;
    bool everywhere; /* afterwards every place has the bytes, not only home: see gs_merge.everywhere */
};

/* Bytes that go from a buffer to another. */
struct copy {
    cl_mem from, to;
    uint64_t from_at, to_at, bytes;
    unsigned from_place, place; /* whose they are, and that gets them */
};

struct gs_speculation {
    struct gs_continuation continuation; /* first */
    struct gs_context *ctx;              /* held */
    struct gs_kernel_stats *stats;
    uint64_t kernel_id;
    unsigned n; /* parts: part p is on place p */
    struct field *fields;
    struct copy *undo;  /* kept bytes, back home */
    struct copy *owned; /* what each other part owns, from home once one device has done the launch over */
    size_t n_fields, n_undo, n_owned;
    struct gs_pinned *ring;                 /* between places; null: by the driver's own copies */
    cl_command_queue queue[GS_MAX_DEVICES]; /* on which nothing ever waits for what comes later */
    cl_uint changed[GS_MAX_DEVICES];        /* by place: some contested byte; written by the device */
    /* The whole launch, at home. */
    struct gs_kernel_run run; /* its kernel is held */
    cl_kernel kernel;
    cl_mem *args;
    cl_sampler *samplers;
    cl_uint n_args, n_samplers;
    bool unknown;               /* what has changed couldn't be found out: one device does it over */
    struct gs_events done_over; /* the end of that launch, once it has been enqueued */
};

/* ---- which launches may be tried ---- */

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
GS_RANKED(known_lock, GS_RANK_TRIALS);
static struct gs_backoffs known;

const char *gs_speculation_forbidden(const struct gs_kernel *k)
{
    const uint64_t id = gs_kernel_id(k);
    pthread_mutex_lock(&known_lock);
    const char *why = gs_backoff_forbids(gs_backoff_of(&known, id));
    pthread_mutex_unlock(&known_lock);
    return why;
}

static void count_begun(const struct gs_speculation *j)
{
    pthread_mutex_lock(&known_lock);
    gs_backoff_begun(gs_backoff_of(&known, j->kernel_id));
    pthread_mutex_unlock(&known_lock);
}

static void count_ended(const struct gs_speculation *j, bool good)
{
    pthread_mutex_lock(&known_lock);
    gs_backoff_ended(gs_backoff_of(&known, j->kernel_id), good);
    pthread_mutex_unlock(&known_lock);
}

/* ---- the end of one ---- */

static void release_mem(cl_mem m)
{
    if (m)
        gs_real()->clReleaseMemObject(m);
}

static void free_copies(struct copy *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        release_mem(v[i].from);
        release_mem(v[i].to);
    }
    free(v);
}

static void free_speculation(struct gs_speculation *j)
{
    for (size_t i = 0; i < j->n_fields; i++)
        for (unsigned p = 0; p < j->n; p++) {
            release_mem(j->fields[i].mem[p]);
            release_mem(j->fields[i].kept[p]);
        }
    free(j->fields);
    free_copies(j->undo, j->n_undo);
    free_copies(j->owned, j->n_owned);
    for (unsigned p = 0; p < j->n; p++)
        if (j->queue[p])
            gs_real()->clReleaseCommandQueue(j->queue[p]);
    for (cl_uint i = 0; i < j->n_args; i++)
        release_mem(j->args[i]);
    for (cl_uint i = 0; i < j->n_samplers; i++)
        gs_real()->clReleaseSampler(j->samplers[i]);
    free(j->args);
    free(j->samplers);
    if (j->kernel)
        gs_spare_kernel_back(j->run.k, 0, j->kernel);
    gs_events_free(&j->done_over);
    gs_continuation_free(&j->continuation);
    gs_drop(&j->run.k->o);
    gs_drop(&j->ctx->o);
    free(j);
}

void gs_speculation_drop(struct gs_speculation *c)
{
    if (c)
        free_speculation(c);
}

static void free_undecided(struct gs_continuation *continuation)
{
    free_speculation((struct gs_speculation *)continuation);
}

/* ---- in the thread ---- */

static cl_int carry(struct gs_speculation *j, const struct copy *c, const struct gs_events *wait,
                    struct gs_events *done)
{
    cl_event event;
    if (c->from_place != c->place) {
        const struct gs_buffer_copy across = {c->from, c->to, c->from_at, c->to_at, c->bytes};
        return gs_deferred_send_copy(j->ring, j->queue[c->from_place], j->queue[c->place], &across, wait, done);
    }
    gs_report_moved(GS_PATH_MERGE, c->bytes);
    const cl_int err =
        gs_real()->clEnqueueCopyBuffer(j->queue[c->place], c->from, c->to, (size_t)c->from_at, (size_t)c->to_at,
                                       (size_t)c->bytes, wait->n, wait->n ? wait->v : NULL, &event);
    return err ? err : gs_events_add(done, event);
}

/* What place `from` holds of a field, to another. */
static cl_int send_field(struct gs_speculation *j, const struct field *f, unsigned from, unsigned to,
                         const struct gs_events *wait, struct gs_events *done)
{
    const struct copy c = {f->mem[from], f->mem[to], f->begin, f->begin, f->bytes, from, to};
    return carry(j, &c, wait, done);
}

/* No part but this one has changed anything: those that are to have what it made get it. */
static cl_int take_over(struct gs_speculation *j, unsigned from, struct gs_events *done)
{
    static const struct gs_events none;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < j->n_fields; i++)
        for (unsigned p = 0; p < (j->fields[i].everywhere ? j->n : 1) && !err; p++)
            if (p != from)
                err = send_field(j, &j->fields[i], from, p, &none, done);
    return err;
}

/* Home as it was, and the launch on it alone. The first queue is in order. */
static cl_int launch_alone(struct gs_speculation *j, struct gs_events *done)
{
    static const struct gs_events none;
    cl_event event;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < j->n_undo && !err; i++)
        err = carry(j, &j->undo[i], &none, done);
    const struct gs_label before = gs_label_purpose(GS_FOR_APP);
    if (!err)
        err = gs_enqueue_chunk(&j->run, j->kernel, 0, j->queue[0], done->n, done->n ? done->v : NULL, &event);
    if (!err)
        err = gs_events_add(&j->done_over, event);
    gs_label_back(before);
    gs_real()->clFlush(j->queue[0]);
    return err;
}

/* Then what the other places are to have. Only that, if it is tried once more: what the launch has found and changed of
 * what they own wasn't kept. */
static cl_int do_over(struct gs_speculation *j, struct gs_events *done)
{
    const struct gs_events *ran = &j->done_over;
    cl_int err = ran->n ? CL_SUCCESS : launch_alone(j, done);
    if (!err)
        err = gs_events_share(done, ran->v[0]);
    for (size_t i = 0; i < j->n_owned && !err; i++)
        err = carry(j, &j->owned[i], ran, done);
    for (size_t i = 0; i < j->n_fields; i++)
        for (unsigned p = 1; p < j->n && j->fields[i].everywhere && !err; p++)
            err = send_field(j, &j->fields[i], 0, p, ran, done);
    return err;
}

static cl_int settle(struct gs_speculation *j, bool good, unsigned by, struct gs_events *all)
{
    const cl_int err = good ? take_over(j, by, all) : do_over(j, all);
    for (unsigned p = 0; p < j->n; p++)
        gs_real()->clFlush(j->queue[p]);
    if (err) {
        gs_debug("the end of a launch on trial could not be enqueued (error %d)", err);
        gs_events_wait(all);
        gs_events_free(all);
    }
    return err;
}

/* All parts have ended. What couldn't be enqueued is tried once more. */
static void decide(struct gs_continuation *continuation)
{
    struct gs_speculation *j = (struct gs_speculation *)continuation;
    struct gs_events all = {0};
    const struct gs_label before = gs_label_purpose(GS_FOR_MERGE);
    unsigned n = j->unknown ? 2 : 0, by = 0;
    cl_int err = atomic_load(&continuation->status);
    for (unsigned p = 0; p < j->n; p++)
        if (j->changed[p]) {
            n++;
            by = p;
        }
    const bool good = n <= 1;
    if (!err && n) {
        err = settle(j, good, by, &all);
        if (err)
            err = settle(j, good, by, &all);
    }
    gs_label_back(before);
    count_ended(j, good && !err);
    if (!err)
        gs_report_tried(j->stats, good);
    else
        gs_continuation_fail(continuation, err);
    gs_continuation_await(continuation, &all);
}

/* ---- in the application's call, before the parts ---- */

static cl_mem retained(cl_mem m, cl_int *err)
{
    if (!*err)
        *err = m ? gs_real()->clRetainMemObject(m) : CL_OUT_OF_HOST_MEMORY;
    return *err ? NULL : m;
}

/* Room for a copy, which then belongs to the list. */
static struct copy *add_copy(struct copy **v, size_t *n, cl_int *err)
{
    struct copy *grown = *err ? NULL : realloc(*v, (*n + 1) * sizeof *grown);
    if (!grown) {
        *err = *err ? *err : CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    *v = grown;
    grown[*n] = (struct copy){0};
    return &grown[(*n)++];
}

static cl_int keep(struct gs_command *cmd, unsigned place, cl_mem from, uint64_t from_at, cl_mem to, uint64_t to_at,
                   uint64_t bytes, struct gs_events *ready)
{
    cl_int err;
    cl_event event;
    cl_command_queue queue = gs_copy_queue(cmd->q, place, &err);
    if (!err)
        err = gs_put_copy(queue, GS_VIA_MEMORY, from, to, from_at, to_at, bytes, ready->n, ready->v, &event);
    return err ? err : gs_events_add(ready, event);
}

static cl_int add_undo(struct gs_speculation *j, cl_mem home, uint64_t begin, cl_mem kept, uint64_t at, uint64_t bytes)
{
    cl_int err = CL_SUCCESS;
    struct copy *c = add_copy(&j->undo, &j->n_undo, &err);
    if (!c)
        return err;
    c->from = retained(kept, &err);
    c->to = retained(home, &err);
    c->from_at = at;
    c->to_at = begin;
    c->bytes = bytes;
    return err;
}

static cl_int begin_field(struct gs_speculation *j, struct gs_command *cmd, const struct gs_use *u,
                          struct gs_events *ready)
{
    struct field *f = &j->fields[j->n_fields++];
    cl_int err = CL_SUCCESS;
    f->root = u->root;
    f->begin = u->window.begin;
    f->bytes = u->window.end - u->window.begin;
    f->everywhere = u->root->merged;
    for (unsigned p = 0; p < j->n && !err; p++) {
        cl_mem kept = gs_scratch_take(cmd->ctx, p, f->bytes, &err);
        f->kept[p] = retained(kept, &err);
        f->mem[p] = retained(u->root->place[p].mem, &err);
        if (!err)
            err = keep(cmd, p, f->mem[p], f->begin, f->kept[p], 0, f->bytes, &ready[p]);
    }
    return err ? err : add_undo(j, f->mem[0], f->begin, f->kept[0], 0, f->bytes);
}

/* What is only the first part's, or reduced, and what the others own. */
static cl_int begin_other(struct gs_speculation *j, struct gs_command *cmd, const struct gs_use *u,
                          struct gs_events *ready)
{
    struct gs_rangeset undo = {0};
    cl_mem home = u->root->place[0].mem, kept = NULL;
    cl_int err = gs_plan_undo(u, j->n, &undo) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (!err && undo.n)
        kept = gs_scratch_take(cmd->ctx, 0, gs_rangeset_bytes(&undo), &err);
    uint64_t at = 0;
    for (size_t i = 0; i < undo.n && !err; i++) {
        const uint64_t begin = undo.v[i].begin, bytes = undo.v[i].end - begin;
        err = keep(cmd, 0, home, begin, kept, at, bytes, &ready[0]);
        if (!err)
            err = add_undo(j, home, begin, kept, at, bytes);
        at += bytes;
    }
    gs_rangeset_free(&undo);
    for (unsigned p = 1; p < j->n; p++)
        for (size_t i = 0; i < u->wrote[p].n && !err; i++) {
            struct copy *c = add_copy(&j->owned, &j->n_owned, &err);
            if (!c)
                break;
            c->from = retained(home, &err);
            c->to = retained(u->root->place[p].mem, &err);
            c->from_at = c->to_at = u->wrote[p].v[i].begin;
            c->bytes = u->wrote[p].v[i].end - c->from_at;
            c->place = p;
        }
    return err;
}

/* What the whole launch at home will need, once the application may have let it go. */
static cl_int keep_arguments(struct gs_speculation *j, struct gs_launching *l)
{
    cl_int err = CL_SUCCESS;
    j->args = calloc(l->k->n_args + 1, sizeof *j->args);
    j->samplers = calloc(l->k->n_args + 1, sizeof *j->samplers);
    if (!j->args || !j->samplers)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < l->k->n_args && !err; i++) {
        const struct gs_arg *a = &l->k->args[i];
        cl_sampler sampler = NULL;
        if (l->summary->args[i].kind == GS_ARG_SAMPLER && a->has_value && a->size == sizeof sampler) {
            sampler = *(cl_sampler *)a->bytes;
            err = gs_real()->clRetainSampler(sampler);
            if (!err)
                j->samplers[j->n_samplers++] = sampler;
        }
        if (l->mems[i]) {
            cl_mem mem = retained(gs_replica_of(l->mems[i], 0, &err), &err);
            if (!err)
                j->args[j->n_args++] = mem;
        }
    }
    cl_kernel kernel = err ? NULL : gs_spare_kernel(l->k, 0, &err);
    if (!err)
        j->kernel = kernel;
    return err ? err : gs_launch_args(l, j->kernel, 0);
}

/* Between two places bytes go through pinned memory, as NVIDIA's driver loses some where it copies from one device's
 * object to another's; but not those of objects that the host may not read or write. */
static struct gs_pinned *ring_for(struct gs_context *ctx, const struct gs_plan *plan)
{
    bool open = true;
    for (size_t i = 0; i < plan->n_uses; i++)
        open = open && !gs_host_is_barred(plan->uses[i].root);
    return open ? gs_deferred_send_ring(ctx) : NULL;
}

static struct gs_speculation *make(struct gs_launching *l, const struct gs_plan *plan)
{
    struct gs_speculation *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    *j = (struct gs_speculation){.continuation = {.act = decide, .free = free_undecided},
                                 .ctx = l->cmd.ctx,
                                 .stats = l->k->stats,
                                 .kernel_id = gs_kernel_id(l->k),
                                 .n = plan->n_parts,
                                 .ring = ring_for(l->cmd.ctx, plan),
                                 .run = {.k = l->k,
                                         .geometry = l->geometry,
                                         .null_local = l->null_local,
                                         .summary = l->summary,
                                         .cut = {.whole = plan->box[0], .n = 1}}};
    j->run.cut.whole.end[plan->dim] = plan->box[plan->n_parts - 1].end[plan->dim];
    gs_hold(&j->ctx->o);
    gs_hold(&l->k->o);
    j->fields = calloc(plan->n_uses + 1, sizeof *j->fields);
    return j;
}

struct gs_speculation *gs_speculation_begin(struct gs_launching *l, const struct gs_plan *plan, struct gs_events *ready,
                                            cl_int *err)
{
    struct gs_speculation *j = make(l, plan);
    *err = j && j->fields ? gs_merge_kernels_make(j->ctx) : CL_OUT_OF_HOST_MEMORY;
    for (unsigned p = 0; p < plan->n_parts && !*err; p++) {
        *err = gs_block_kernels_make(j->ctx, p);
        cl_command_queue queue = *err ? NULL : gs_unit_queue(l->cmd.q, p, err);
        if (!*err)
            *err = gs_real()->clRetainCommandQueue(queue);
        if (!*err)
            j->queue[p] = queue;
    }
    for (size_t i = 0; i < plan->n_uses && !*err; i++) {
        const struct gs_use *u = &plan->uses[i];
        if (u->writes == GS_CONTESTED)
            *err = begin_field(j, &l->cmd, u, ready);
        else if (u->writes != GS_READ_ONLY)
            *err = begin_other(j, &l->cmd, u, ready);
    }
    if (!*err)
        *err = keep_arguments(j, l);
    if (!*err)
        *err = gs_continuation_make(&j->continuation, j->ctx);
    if (!*err)
        return j;
    gs_debug("no launch on trial (error %d)", *err);
    gs_speculation_drop(j);
    return NULL;
}

/* ---- in the application's call, behind the parts ---- */

/* Does place p hold other contested bytes than before? */
static cl_int compare(struct gs_speculation *j, struct gs_command *cmd, unsigned p, cl_event ran, struct gs_events *to)
{
    static const cl_uint zero;
    struct gs_events done = {0};
    cl_event event;
    cl_int err;
    cl_command_queue queue = gs_copy_queue(cmd->q, p, &err);
    cl_mem flag = err ? NULL : gs_scratch_take(cmd->ctx, p, sizeof zero, &err);
    if (!err)
        err = gs_real()->clEnqueueFillBuffer(queue, flag, &zero, sizeof zero, 0, sizeof zero, 1, &ran, &event);
    if (!err)
        err = gs_events_add(&done, event);
    for (size_t i = 0; i < j->n_fields && !err; i++) {
        const struct field *f = &j->fields[i];
        err = gs_enqueue_differs(cmd->ctx, p, queue, f->mem[p], f->begin, f->kept[p], f->bytes, flag, &done, &done);
    }
    if (!err)
        err = gs_real()->clEnqueueReadBuffer(queue, flag, CL_FALSE, 0, sizeof zero, &j->changed[p], done.n, done.v,
                                             &event);
    if (!err)
        err = gs_events_add(to, event);
    gs_real()->clFlush(queue);
    gs_events_free(&done);
    return err;
}

cl_int gs_speculation_judge(struct gs_speculation *j, struct gs_command *cmd, const cl_event *ran,
                            struct gs_events *ended)
{
    struct gs_events wait = {0};
    cl_event marker;
    cl_int err = gs_events_share_all(&wait, ended);
    /* It has the times of a queue, which a user event has not. */
    cl_command_queue queue = err ? NULL : gs_copy_queue(cmd->q, 0, &err);
    for (unsigned p = 0; p < j->n && !err && !j->unknown; p++)
        j->unknown = compare(j, cmd, p, ran[p], &wait) != CL_SUCCESS;
    if (!err)
        err = gs_real()->clEnqueueMarkerWithWaitList(queue, 1, &j->continuation.end, &marker);
    if (!err)
        err = gs_events_add(ended, marker);
    if (!err)
        err = gs_events_share(&j->continuation.marks, marker);
    if (err)
        gs_continuation_fail(&j->continuation, err);
    gs_command_flush(cmd->q);
    count_begun(j);
    gs_continuation_await(&j->continuation, &wait);
    return err;
}

int gs_speculation_record(struct gs_speculation *j, const struct gs_use *u, unsigned n_parts)
{
    bool everywhere = false;
    for (size_t i = 0; i < j->n_fields; i++)
        everywhere |= j->fields[i].root == u->root && j->fields[i].everywhere;
    int err = gs_wrote_range(u->root, 0, u->window);
    for (unsigned p = 1; p < n_parts && !err && everywhere; p++)
        err = gs_rangeset_add(&u->root->place[p].valid, u->window);
    u->root->merged = true;
    return err;
}
