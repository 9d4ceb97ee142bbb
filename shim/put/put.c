/* SPDX-License-Identifier: MIT */
#include "shim/put/put.h"

#include "common/lock/rank.h"

#include "shim/order/completion.h"
#include "shim/report/watch.h"

/* A GPU's own memory is at least so many times as fast as the link to the host (on an H200 33 times, by bytes copied),
 * so a unit within that memory may have so many chunks. The same goes for a window to another GPU: H200s copy 32 MiB in
 * 0.1 ms by NVLink (310 GB/s), and asking for a unit and hearing of its end takes some 50 us. */
enum { NEAR = 16 };

static _Thread_local const struct gs_command *putting; /* one that goes by units; or null */

const struct gs_command *gs_set_unit_owner(const struct gs_command *cmd)
{
    const struct gs_command *before = putting;
    putting = cmd && cmd->units ? cmd : NULL;
    return before;
}

const struct gs_command *gs_put_now(void)
{
    return putting;
}

/* Of a queue that this thread enqueues in. */
static unsigned place_of(cl_command_queue queue)
{
    const int place = gs_queue_place(queue);
    return place > 0 ? (unsigned)place : 0;
}

static uint64_t near_factor(void)
{
    return gs_group()->shared_memory ? 1 : NEAR;
}

uint64_t gs_put_chunk(const struct gs_command *cmd, const struct gs_op *op)
{
    return cmd->units->transfer_chunk * (gs_op_crosses_host(op) ? 1 : near_factor());
}

uint64_t gs_put_most(uint64_t bytes, enum gs_via via)
{
    const uint64_t factor = putting && via == GS_VIA_WINDOW ? near_factor() : 1;
    const uint64_t chunk = putting ? putting->units->transfer_chunk * factor : 0;
    return chunk && chunk < bytes ? chunk : bytes;
}

/* ---- transfers ---- */

static cl_int enqueue_piece(void *work, unsigned unit, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                            cl_event *event)
{
    const struct gs_op_run *run = work;
    const struct gs_op piece = gs_op_piece(&run->op, &run->cut, unit);
    return gs_enqueue(&piece, queue, n_wait, wait, event);
}

/* Copies a run for later use, with (behind it) the fill's pattern: the caller won't wait. */
static struct gs_op_run *keep_run(const struct gs_op_run *run)
{
    struct gs_op_run *kept = malloc(sizeof *kept + run->op.pattern_bytes);
    if (!kept)
        return NULL;
    *kept = *run;
    if (run->op.pattern_bytes)
        kept->op.pattern = memcpy(kept + 1, run->op.pattern, run->op.pattern_bytes);
    return kept;
}

cl_int gs_run_op(const struct gs_units *to, const struct gs_op_run *run, cl_event *end)
{
    struct gs_op_run one = *run;
    if (one.cut.n > 1 && gs_in_callback()) /* goes whole then */
        gs_op_cut(&one.op, 0, &one.cut);
    const bool bytes = run->op.kind == GS_OP_READ || run->op.kind == GS_OP_WRITE || run->op.kind == GS_OP_FILL ||
                       (run->op.kind == GS_OP_COPY && !run->op.whole);
    struct gs_units units = *to;
    units.n = one.cut.n;
    units.enqueue = enqueue_piece;
    units.work = &one;
    units.spent = putting ? putting->spent : NULL;
    units.pieces = bytes && one.cut.n == run->cut.n;
    cl_int err = CL_SUCCESS;
    if (units.n > 1) {
        units.work = keep_run(run);
        if (!units.work)
            return CL_OUT_OF_HOST_MEMORY;
        units.free = free;
        units.more[0] = gs_queue_of_kind(to->q, gs_op_is_of_image(&run->op) ? GS_UNIT_IMAGE_QUEUE : GS_UNIT_QUEUE,
                                         run->place, &err);
    }
    if (!err)
        err = gs_run_units(&units, end);
    if (err && units.free)
        units.free(units.work);
    return err;
}

/* Flushes at once: another queue's command may wait for this command, and must not be sent before. A device with fewer
 * hardware queues than queues may serve commands in the order of flushes. */
static cl_int sent(cl_command_queue queue, cl_int err)
{
    if (!err)
        gs_real()->clFlush(queue);
    return err;
}

/* Enqueues a marker for all units, so that later commands in the queue come after them. *event: the marker; with
 * profiling `end` instead, since NVIDIA's markers have no times. Takes `end` over. */
static cl_int keep_place(cl_command_queue queue, cl_event end, cl_event *event)
{
    cl_event marker = NULL;
    const cl_int err = sent(queue, gs_enqueue_marker(queue, 1, &end, &marker));
    const bool timed = !err && putting->q->profiling;
    if (!err)
        gs_job_add(marker);
    *event = timed ? end : marker;
    GS_RELEASE(Event, timed ? marker : end);
    return err;
}

cl_int gs_put(cl_command_queue queue, const struct gs_op *op, enum gs_via via, cl_uint n_wait, const cl_event *wait,
              cl_event *event)
{
    struct gs_op_run run = {.op = *op};
    struct gs_units to = {.queue = queue, .n_wait = n_wait, .wait = n_wait ? wait : NULL};
    cl_event end;
    if (!putting)
        return sent(queue, gs_enqueue(op, queue, n_wait, to.wait, event));
    const bool by_link = gs_op_crosses_host(op) || via == GS_VIA_HOST;
    run.place = place_of(queue);
    to.q = putting->q;
    to.resource = by_link ? GS_RESOURCE_PCI : gs_resource_of(run.place);
    gs_op_cut(op, via == GS_VIA_HOST ? putting->units->transfer_chunk : gs_put_chunk(putting, op), &run.cut);
    cl_int err = gs_run_op(&to, &run, &end);
    if (!err && run.cut.n > 1)
        err = keep_place(queue, end, &end);
    if (!err && event)
        *event = end;
    else if (!err)
        gs_real()->clReleaseEvent(end); /* the record of several units' is the units' */
    return err;
}

/* ---- kernels ---- */

static cl_int set_args(cl_kernel k, const struct gs_put_launch *l)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < l->n_args && !err; i++)
        err = gs_real()->clSetKernelArg(k, i, l->args[i].size, l->args[i].value);
    return err;
}

/* Enqueues a launch as one unit, where `to` says. Straight to the driver if the thread enqueues for no units. */
static cl_int put_launch(struct gs_units to, const struct gs_op *launch, cl_event *event)
{
    if (!putting)
        return sent(to.queue, gs_enqueue(launch, to.queue, to.n_wait, to.wait, event));
    to.q = putting->q;
    to.spent = putting->spent;
    to.n = 1;
    to.enqueue = gs_enqueue_unit;
    to.work = (void *)(uintptr_t)launch;
    return gs_run_units(&to, event);
}

/* By units each chunk is a command of one, and the queue, which is in-order, has them one after the other. */
cl_int gs_put_kernel(cl_command_queue queue, const struct gs_put_launch *launch, cl_uint n_wait, const cl_event *wait,
                     cl_event *event)
{
    const struct gs_box all = {{0, 0, 0}, {(launch->items + launch->local - 1) / launch->local, 1, 1}};
    const unsigned place = putting ? place_of(queue) : 0;
    struct gs_units to = {.queue = queue, .resource = gs_resource_of(place), .n_wait = n_wait, .pieces = true};
    to.wait = n_wait ? wait : NULL;
    struct gs_cut cut;
    cl_int err = set_args(launch->kernel, launch);
    gs_cut_make(&cut, &all, putting ? gs_put_groups_most(place) * near_factor() : 0, false);
    for (unsigned i = 0; i < cut.n && !err; i++) {
        struct gs_box box;
        gs_cut_box(&cut, i, &box);
        const size_t offset = (size_t)box.begin[0] * launch->local,
                     global = (size_t)(box.end[0] - box.begin[0]) * launch->local;
        const struct gs_op chunk = gs_op_launch(launch->kernel, 1, offset ? &offset : NULL, &global, &launch->local);
        err = put_launch(to, &chunk, i + 1 < cut.n ? NULL : event);
        if (err && i) {
            GS_MAY_WAIT("a kernel of ours that is given up half-way", GS_WITHOUT_LIMIT);
            gs_real()->clFinish(queue);
        }
        to.n_wait = 0;
        to.wait = NULL;
    }
    return err;
}

uint64_t gs_put_groups_most(unsigned place)
{
    return putting ? (uint64_t)putting->units->kernel_chunk * gs_group()->units[place] : 0;
}

cl_int gs_put_groups(cl_command_queue queue, const struct gs_op *launch, cl_event *event)
{
    const unsigned place = putting ? place_of(queue) : 0;
    return put_launch((struct gs_units){.queue = queue, .resource = gs_resource_of(place)}, launch, event);
}

/* ---- events that stand for several commands ---- */

/* gs_finish_command with those ends, on the places `at`. */
static cl_int finish(const struct gs_command *cmd, const struct gs_events *ended, const uint8_t *at, cl_event *event)
{
    struct gs_queue *q = cmd->q;
    cl_event marker;
    const bool others = ended->n != 1 || !gs_is_last_event(q->o.handle, ended->v[0]); /* not only the queue's last */
    cl_int err = gs_enqueue_marker(q->o.handle, ended->n, ended->n ? ended->v : NULL, &marker);
    if (others)
        gs_timeline_enqueue_untracked(q->timeline);
    if (err)
        return err;
    if (ended->n > 1)
        gs_compound_add(q, marker, ended);
    gs_command_flush(q);
    if (gs_scheduled()) /* kept by the job: PoCL (3.1) uses a failed marker once more after the end */
        gs_job_add(marker);
    if (!event) {
        gs_real()->clReleaseEvent(marker);
        return CL_SUCCESS;
    }
    struct gs_event *e = calloc(1, sizeof *e);
    if (e) {
        e->command = gs_op_command_type(&cmd->op);
        for (cl_uint i = 0; i < ended->n && i < GS_MOST_PLACED; i++) {
            if (gs_real()->clRetainEvent(ended->v[i]) != CL_SUCCESS)
                continue;
            struct gs_event *of = gs_find_hold(GS_EVENT, ended->v[i]);
            e->part[e->n].event = ended->v[i];
            e->part[e->n].of = of;
            e->part[e->n++].device = at[i];
        }
        gs_insert(&e->o, GS_EVENT, marker, q->o.ctx);
    }
    *event = marker;
    return CL_SUCCESS;
}

cl_int gs_finish_command(const struct gs_command *cmd, cl_event *event)
{
    return finish(cmd, &cmd->ended, cmd->at, event);
}

cl_int gs_finish_single(const struct gs_command *cmd, cl_event end, unsigned place, cl_event *event)
{
    const cl_int err =
        finish(cmd, &(const struct gs_events){.v = &end, .n = 1}, &(const uint8_t){(uint8_t)place}, event);
    gs_real()->clReleaseEvent(end);
    return err;
}

cl_int gs_release_event(cl_event event)
{
    struct gs_object *last = gs_release(GS_EVENT, event);
    struct gs_event *e = (struct gs_event *)last;
    if (e && e->user && e->pending)
        atomic_fetch_sub(&e->o.ctx->user_events, 1);
    if (last) /* the record goes first: until then the driver must not give out the handle again */
        gs_drop(last);
    return gs_real()->clReleaseEvent(event);
}

/* ---- transfers carried by calls ---- */

static void drop_end(struct gs_event *e)
{
    const cl_event end = e->o.handle;
    gs_drop(&e->o); /* first: while it is known, the handle must not become another event's */
    gs_real()->clReleaseEvent(end);
}

void gs_carry_mark(struct gs_queue *q)
{
    struct gs_command *cmd = gs_queue_carried(q);
    cl_int err = CL_SUCCESS;
    struct gs_event *e = cmd ? gs_event_new(q->o.ctx, &(struct gs_event){.user = true}, &err) : NULL;
    if (!e)
        return;
    const struct gs_events end = {.v = (cl_event *)&e->o.handle, .n = 1};
    if (finish(cmd, &end, &(const uint8_t){0}, &cmd->marker) != CL_SUCCESS) {
        gs_event_end(e->o.handle, CL_COMPLETE);
        drop_end(e);
        return;
    }
    cmd->end = e;
    gs_queue_carry(q, NULL);
    cmd->on_mark(cmd);
}

cl_int gs_carry_end(struct gs_command *cmd, cl_int err, cl_event *event)
{
    struct gs_queue *q = cmd->q;
    if (!cmd->marker) {
        gs_queue_carry(q, NULL);
        return err || !event ? err : gs_finish_command(cmd, event);
    }
    for (cl_uint i = 0; q->profiling && i < cmd->ended.n; i++)
        gs_record_times(cmd->end, cmd->ended.v[i], (int64_t)gs_group()->clock_ns[cmd->at[i]]);
    /* Complete even if the transfer failed: to later commands, a failed transfer has changed nothing. */
    gs_event_end(cmd->end->o.handle, CL_COMPLETE);
    drop_end(cmd->end);
    gs_event_give(cmd->marker, err ? NULL : event);
    return err;
}
