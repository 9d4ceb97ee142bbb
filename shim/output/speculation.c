/* SPDX-License-Identifier: MIT */
/* How a launch on trial ends, and how often those of a kernel have ended well. */
#include "shim/output/speculation_state.h"

#include <stdlib.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/output/deferred_send.h"
#include "shim/output/backoff.h"
#include "shim/memory/coherence.h"
#include "shim/output/merge_kernels.h"
#include "shim/plan/kinds.h"
#include "shim/report/report.h"
#include "shim/memory/scratch.h"

/* ---- which launches may be tried ---- */

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
GS_RANKED(known_lock, GS_RANK_TRIALS);
static struct gs_backoffs known;

const char *gs_speculation_forbidden(const struct gs_kernel *k)
{
    const uint64_t id = gs_kernel_id(k);
    GS_LOCKED(&known_lock);
    return gs_backoff_forbids(gs_backoff_of(&known, id));
}

static void count_begun(const struct gs_speculation *j)
{
    GS_LOCKED(&known_lock);
    gs_backoff_begun(gs_backoff_of(&known, j->kernel_id));
}

static void count_ended(const struct gs_speculation *j, bool good)
{
    GS_LOCKED(&known_lock);
    gs_backoff_ended(gs_backoff_of(&known, j->kernel_id), good);
}

/* ---- the end of one ---- */

static void release_mem(cl_mem m)
{
    if (m)
        gs_real()->clReleaseMemObject(m);
}

static void free_copies(struct gs_speculation_copy *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        release_mem(v[i].from);
        release_mem(v[i].to);
    }
    free(v);
}

void gs_speculation_free(struct gs_deferred_send *d)
{
    struct gs_speculation *j = (struct gs_speculation *)d;
    for (size_t i = 0; i < j->n_fields; i++)
        for (unsigned p = 0; p < d->n; p++) {
            release_mem(j->fields[i].mem[p]);
            release_mem(j->fields[i].kept[p]);
        }
    free(j->fields);
    free_copies(j->undo, j->n_undo);
    free_copies(j->owned, j->n_owned);
    if (j->whole)
        gs_kernel_work_free(j->whole);
    gs_events_free(&j->done_over);
}

void gs_speculation_drop(struct gs_speculation *c)
{
    if (c)
        gs_deferred_send_free(&c->d);
}

/* ---- in the thread ---- */

static cl_int carry(struct gs_speculation *j, const struct gs_speculation_copy *c, const struct gs_events *wait)
{
    const struct gs_buffer_copy copy = {c->from, c->to, c->from_at, c->to_at, c->bytes};
    return gs_deferred_send_copy(&j->d, c->from_place, c->place, &copy, wait, &j->d.done[0]);
}

/* What place `from` holds of a field, to another. */
static cl_int send_field(struct gs_speculation *j, const struct gs_speculation_field *f, unsigned from, unsigned to,
                         const struct gs_events *wait)
{
    const struct gs_speculation_copy c = {f->mem[from], f->mem[to], f->begin, f->begin, f->bytes, from, to};
    return carry(j, &c, wait);
}

/* No part but this one has changed anything: those that are to have what it made get it. */
static cl_int take_over(struct gs_speculation *j, unsigned from)
{
    static const struct gs_events none;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < j->n_fields; i++)
        for (unsigned p = 0; p < (j->fields[i].everywhere ? j->d.n : 1) && !err; p++)
            if (p != from)
                err = send_field(j, &j->fields[i], from, p, &none);
    return err;
}

/* Home as it was, and the launch on it alone. The first queue is in order. */
static cl_int launch_alone(struct gs_speculation *j)
{
    static const struct gs_events none;
    const struct gs_events *done = &j->d.done[0];
    cl_event event;
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < j->n_undo && !err; i++)
        err = carry(j, &j->undo[i], &none);
    const struct gs_label before = gs_label_purpose(GS_FOR_APP);
    if (!err)
        err = gs_kernel_work_enqueue(j->whole, 0, j->d.queue[0], done->n, done->n ? done->v : NULL, &event);
    if (!err)
        err = gs_events_add(&j->done_over, event);
    gs_label_back(before);
    gs_real()->clFlush(j->d.queue[0]);
    return err;
}

/* Then what the other places are to have. Only that, if it is tried once more: what the launch has found and changed of
 * what they own wasn't kept. */
static cl_int do_over(struct gs_speculation *j)
{
    const struct gs_events *ran = &j->done_over;
    cl_int err = ran->n ? CL_SUCCESS : launch_alone(j);
    if (!err)
        err = gs_events_share(&j->d.done[0], ran->v[0]);
    for (size_t i = 0; i < j->n_owned && !err; i++)
        err = carry(j, &j->owned[i], ran);
    for (size_t i = 0; i < j->n_fields; i++)
        for (unsigned p = 1; p < j->d.n && j->fields[i].everywhere && !err; p++)
            err = send_field(j, &j->fields[i], 0, p, ran);
    return err;
}

/* How many parts have changed contested bytes, and the last of them. */
static unsigned count_changed(const struct gs_speculation *j, unsigned *by)
{
    unsigned n = j->unknown ? 2 : 0;
    *by = 0;
    for (unsigned p = 0; p < j->d.n; p++)
        if (j->changed[p]) {
            n++;
            *by = p;
        }
    return n;
}

cl_int gs_speculation_decide(struct gs_deferred_send *d)
{
    struct gs_speculation *j = (struct gs_speculation *)d;
    unsigned by;
    const unsigned n = count_changed(j, &by);
    d->ring = j->ring; /* the second time as well */
    return n > 1 ? do_over(j) : n ? take_over(j, by) : CL_SUCCESS;
}

void gs_speculation_ended(struct gs_deferred_send *d, cl_int err)
{
    struct gs_speculation *j = (struct gs_speculation *)d;
    unsigned by;
    const bool good = count_changed(j, &by) <= 1;
    count_ended(j, good && !err);
    if (!err)
        gs_report_tried(j->stats, good);
}

/* ---- in the application's call ---- */

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
        const struct gs_speculation_field *f = &j->fields[i];
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
    cl_int err = gs_events_share_all(&wait, ended);
    for (unsigned p = 0; p < j->d.n && !err && !j->unknown; p++)
        j->unknown = compare(j, cmd, p, ran[p], &wait) != CL_SUCCESS;
    if (!err)
        err = gs_deferred_send_promise(&j->d, cmd, 0, ended);
    if (err)
        gs_continuation_fail(&j->d.continuation, err);
    gs_command_flush(cmd->q);
    count_begun(j);
    gs_deferred_send_begin(&j->d, cmd, &wait);
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
