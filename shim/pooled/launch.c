/* SPDX-License-Identifier: MIT */
/* See commands.h, section launch.c. */
#include "shim/pooled/commands.h"

#include <limits.h>

#include "shim/plan/plan.h"
#include "shim/plan/prepare.h"
#include "shim/pooled/store.h"
#include "shim/put/put.h"
#include "shim/report/report.h"

/* The window of a use: first its pages alone. */
struct taken {
    struct gs_range pages;
    struct gs_pool_window *window;
};

struct run {
    struct gs_turn *turn;
    unsigned device;
    bool ahead;            /* the round before is not over */
    uint64_t spare;        /* each window may be so many bytes larger than the turn needs */
    struct taken *taken;   /* by use; owned */
    struct gs_events ends; /* ends of its chunks; without units there is one */
    unsigned factor;       /* a chunk has so many times the configured work-groups */
    uint64_t begun_ns;
};

/* Turns side by side, one on each device. All have their bytes before the first begins. */
struct round {
    struct run runs[GS_MAX_DEVICES];
    unsigned n;
    uint64_t number; /* of gs_pool_round_begin */
};

struct gs_pool_launch {
    struct gs_kernel *k; /* held */
    const struct gs_kernel_summary *summary;
    struct gs_geometry geometry;
    struct gs_size *size; /* or null */
    struct gs_mem **mems; /* by argument, kept; or null */
    struct gs_turns turns;
    /* By the device whose program the kernel is of; [0] also for devices without one; for a whole launch the
     * application's. Owned. All arguments but memory and the hidden one are set. */
    cl_kernel kernel[GS_MAX_DEVICES];
    bool *done;        /* by turn; owned */
    struct round last; /* while it runs */
};

void gs_pool_launch_free(struct gs_pool_launch *l)
{
    for (cl_uint i = 0; l->mems && i < l->k->n_args; i++)
        if (l->mems[i])
            gs_drop(&l->mems[i]->o);
    for (unsigned d = 0; d < GS_MAX_DEVICES; d++)
        if (l->kernel[d] && l->turns.whole)
            gs_real()->clReleaseKernel(l->kernel[d]);
        else if (l->kernel[d])
            gs_spare_kernel_give(l->k, d, l->kernel[d]);
    gs_turns_free(&l->turns);
    free(l->done);
    gs_drop(&l->k->o);
    free(l->mems);
    free(l);
}

static cl_int keep_argument(struct gs_pool_launch *l, cl_uint i)
{
    const struct gs_arg *a = &l->k->args[i];
    if (!a->set)
        return CL_INVALID_KERNEL_ARGS;
    if (a->is_svm)
        return CL_INVALID_OPERATION;
    if (!a->is_mem)
        return CL_SUCCESS;
    struct gs_mem *m = l->mems[i] = gs_find_hold(GS_MEM, *(void **)a->bytes);
    return m && m->o.ctx == l->k->o.ctx ? CL_SUCCESS : CL_INVALID_KERNEL_ARGS;
}

/* Checks and takes the launch's sizes. */
static cl_int take_sizes(struct gs_pool_launch *l, const struct gs_op *op)
{
    if (op->dims < 1 || op->dims > 3)
        return CL_INVALID_WORK_DIMENSION;
    if (!op->global)
        return CL_INVALID_GLOBAL_WORK_SIZE;
    for (unsigned d = 0; d < op->dims; d++) {
        if (!op->global[d])
            return CL_INVALID_GLOBAL_WORK_SIZE;
        if (op->local && !op->local[d])
            return CL_INVALID_WORK_GROUP_SIZE;
    }
    l->geometry = gs_op_geometry(op);
    return CL_SUCCESS;
}

/* What the driver would say of the local size. CL_KERNEL_WORK_GROUP_SIZE is left to the driver, as some run larger
 * work-groups than that: BabelStream's dot of 1,024 work-items runs on an H200 plain. */
static cl_int check_local(const struct gs_pool_launch *l)
{
    size_t most = 0, items = 1, wanted[3] = {0}, sizes[3] = {0};
    const cl_device_id dev = gs_group()->dev[0];
    const struct gs_geometry *g = &l->geometry;
    const char *options = l->k->program->options;
    cl_bool may = CL_TRUE; /* a device of OpenCL 2 isn't asked */
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof may, &may, NULL);
    const bool uneven = may && options && (strstr(options, "-cl-std=CL2") || strstr(options, "-cl-std=CL3"));
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    gs_real()->clGetKernelWorkGroupInfo(l->k->o.handle, dev, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof wanted, wanted,
                                        NULL);
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
    if (l->geometry.null_local)
        return wanted[0] ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
    for (unsigned d = 0; d < g->dims && most; d++) {
        if (g->local[d] > most / items)
            return CL_INVALID_WORK_GROUP_SIZE;
        items *= g->local[d];
    }
    for (unsigned d = 0; d < g->dims; d++) {
        if (sizes[d] && g->local[d] > sizes[d])
            return CL_INVALID_WORK_ITEM_SIZE;
        if ((wanted[0] && g->local[d] != wanted[d]) || (!uneven && g->global[d] % g->local[d]))
            return CL_INVALID_WORK_GROUP_SIZE;
    }
    return CL_SUCCESS;
}

static cl_int cut(struct gs_pool_launch *l)
{
    struct gs_kernel *k = l->k;
    const char *reason = NULL, *alone = gs_group()->n == 1 ? GS_R_ONE_DEVICE : GS_R_FEW_GROUPS;
    cl_int err;
    l->summary = gs_prepare(k, true, &reason);
    const struct gs_turns_input in = {.kernel = l->summary,
                                      .reason = reason,
                                      .n_args = k->n_args,
                                      .launch = &l->geometry,
                                      .args = k->args,
                                      .mems = l->mems,
                                      .devices = gs_group()->n,
                                      .space = gs_pool_space()};
    err = gs_turns_make(&l->turns, &in);
    if (l->turns.n > 1)
        gs_report_split(k->kind->stats, l->turns.n, l->turns.dim, NULL);
    else
        gs_report_single(k->kind->stats, l->turns.reason ? l->turns.reason : alone, GS_NOT_SPLIT, NULL);
    if (!err) {
        l->done = calloc(l->turns.n, sizeof *l->done);
        err = l->done ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    return err;
}

/* Makes the device's kernel object, with the arguments' values. */
static cl_int make_kernel(struct gs_pool_launch *l, unsigned device)
{
    cl_int err;
    const cl_kernel kernel = l->kernel[device] =
        l->turns.whole ? gs_real()->clCreateKernel(l->k->program->o.handle, l->k->kind->name, &err)
                       : gs_spare_kernel(l->k, device, &err);
    for (cl_uint i = 0; i < l->k->n_args && !err; i++)
        if (!l->mems[i])
            err = gs_real()->clSetKernelArg(kernel, i, l->k->args[i].size, l->k->args[i].bytes);
    return err;
}

struct gs_pool_launch *gs_pool_launch_make(struct gs_kernel *k, const struct gs_op *op, cl_int *err)
{
    struct gs_pool_launch *l = calloc(1, sizeof *l);
    *err = CL_OUT_OF_HOST_MEMORY;
    if (!l)
        return NULL;
    l->k = k;
    gs_hold(&k->o);
    l->mems = calloc(k->n_args + 1, sizeof *l->mems);
    if (l->mems)
        *err = take_sizes(l, op);
    for (cl_uint i = 0; i < k->n_args && !*err; i++)
        *err = keep_argument(l, i);
    if (!*err)
        *err = check_local(l);
    if (!*err)
        l->size = gs_size_of_launch(k, op);
    if (!*err)
        *err = cut(l);
    for (unsigned d = 0; d < gs_group()->n && !*err; d++)
        if (!d || (!l->turns.whole && k->program->translated[d]))
            *err = make_kernel(l, d);
    if (!*err)
        return l;
    gs_pool_launch_free(l);
    return NULL;
}

/* All windows of a turn must fit, within `space`. */
static uint64_t spare_of(const struct gs_turn *t, uint64_t space)
{
    uint64_t largest;
    const uint64_t taken = gs_turn_bytes(t, &largest);
    uint32_t n = 0;
    while (t->uses[n].root)
        n++;
    return n && taken < space ? (space - taken) / n : 0;
}

/* Drops bytes that the turn overwrites unread. */
static cl_int forget(struct run *run, uint32_t i)
{
    const struct gs_turn_use *u = &run->turn->uses[i];
    struct gs_rangeset bytes = {0};
    cl_int err = gs_pool_error(gs_rangeset_rest(&u->will_write, &u->needs, &bytes));
    if (!err)
        err = gs_pool_invalidate(u->root->pool, &bytes);
    gs_rangeset_free(&bytes);
    return err;
}

static cl_int make_way(struct run *run, uint32_t i)
{
    const struct gs_turn_use *u = &run->turn->uses[i];
    return gs_pool_make_way(u->root->pool, run->device, u->window, run->spare, &run->taken[i].pages);
}

static cl_int take(struct run *run, uint32_t i)
{
    struct taken *t = &run->taken[i];
    return gs_pool_window(run->turn->uses[i].root->pool, run->device, t->pages, !run->ahead, &t->window);
}

static cl_int take_window(struct run *run, uint32_t i)
{
    const struct gs_turn_use *uses = run->turn->uses;
    cl_int err = take(run, i);
    if (err != CL_MEM_OBJECT_ALLOCATION_FAILURE || run->ahead || gs_pool_clear(run->device) != CL_SUCCESS)
        return err;
    /* an earlier try may have pinned windows larger than needed */
    err = CL_SUCCESS;
    for (uint32_t j = 0; uses[j].root && !err; j++) {
        err = make_way(run, j);
        if (!err)
            err = gs_pool_await();
        if (!err)
            err = take(run, j);
    }
    return err;
}

static cl_int gather(struct run *run, uint32_t i)
{
    return gs_pool_gather(run->taken[i].window, &run->turn->uses[i].needs);
}

static cl_int load(struct run *run, uint32_t i)
{
    return gs_pool_load(run->taken[i].window, &run->turn->uses[i].needs);
}

static struct gs_pool_window *window_of(const struct run *run, const struct gs_mem *m)
{
    uint32_t i = 0;
    while (run->turn->uses[i].root != m->root)
        i++;
    return run->taken[i].window;
}

/* A buffer that the kernel isn't told the shift of: the argument's own part of the window. */
static cl_int set_part(const struct gs_pool_launch *l, cl_kernel kernel, cl_uint i, struct gs_pool_window *w)
{
    const cl_buffer_region region = {l->mems[i]->origin - w->range.begin, l->mems[i]->size};
    cl_int err = CL_SUCCESS;
    const cl_mem mem = region.origin ? gs_pool_part(w, &region, &err) : w->mem;
    return err ? err : gs_real()->clSetKernelArg(kernel, i, sizeof mem, &mem);
}

/* Memory; and of the hidden argument what all chunks of the turn share. */
static cl_int set_args(struct gs_pool_launch *l, const struct run *run, cl_kernel kernel,
                       struct gs_hidden_moves *hidden)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < l->k->n_args && !err; i++) {
        const struct gs_mem *m = l->mems[i];
        struct gs_pool_window *w = m ? window_of(run, m) : NULL;
        if (m && (l->turns.whole || l->summary->args[i].kind != GS_ARG_GLOBAL)) {
            err = set_part(l, kernel, i, w);
        } else if (m) {
            hidden->moves.shift[i] = w->range.begin - m->origin;
            err = gs_real()->clSetKernelArg(kernel, i, sizeof(cl_mem), &w->mem);
        }
    }
    return err;
}

static cl_int enqueue(struct gs_pool_launch *l, struct run *run, cl_command_queue queue, cl_kernel kernel,
                      const struct gs_box *box, struct gs_hidden_moves *hidden)
{
    size_t offset[3], global[3], local[3];
    cl_event end;
    cl_int err = CL_SUCCESS;
    gs_box_items(&l->geometry, box, offset, global);
    for (unsigned d = 0; d < 3; d++)
        local[d] = l->geometry.local[d];
    const struct gs_op op = gs_op_launch(kernel, l->geometry.dims, l->turns.whole ? offset : NULL, global,
                                         l->geometry.null_local ? NULL : local);
    hidden->hidden = gs_geometry_hidden(&l->geometry, box->begin);
    for (unsigned d = 0; d < 3; d++)
        hidden->moves.item_base[d] = offset[d];
    if (!l->turns.whole)
        err = gs_real()->clSetKernelArg(kernel, l->k->n_args, sizeof *hidden, hidden);
    err = err ? err : gs_put_groups(queue, &op, &end);
    return err ? err : gs_events_add(&run->ends, end);
}

/* Begins a turn, under a daemon by units. Reads of its windows come behind it in the queue, or later. */
static cl_int begin(struct gs_pool_launch *l, struct run *run)
{
    const cl_kernel kernel = l->kernel[l->kernel[run->device] ? run->device : 0];
    struct gs_hidden_moves hidden = {0};
    struct gs_cut chunks;
    cl_int err;
    run->factor = gs_chunk_factor(l->size);
    run->begun_ns = gs_now_ns();
    const uint64_t most = l->turns.whole ? 0 : gs_put_groups_most(run->device) * run->factor;
    const cl_command_queue queue = gs_pool_queue(l->k->o.ctx, run->device, GS_POOL_KERNELS, &err);
    gs_cut_make(&chunks, &run->turn->box, l->geometry.null_local ? most * GS_ITEMS_OF_GROUP : most,
                l->geometry.null_local);
    err = err ? err : set_args(l, run, kernel, &hidden);
    for (unsigned i = 0; i < chunks.n && !err; i++) {
        struct gs_box box;
        gs_cut_box(&chunks, i, &box);
        err = enqueue(l, run, queue, kernel, &box, &hidden);
    }
    for (uint32_t i = 0; run->turn->uses[i].root && !err; i++)
        err = gs_pool_wrote(run->taken[i].window, &run->turn->uses[i].will_write);
    return err;
}

/* Bytes that a turn of the launch has yet to read must be kept, though later commands overwrite them. */
static cl_int keep_needs(const struct gs_pool_launch *l)
{
    int err = 0;
    for (const struct gs_turn_use *u = l->turns.all; u->root && !err; u++) {
        struct gs_rangeset *s = &u->root->pool->overwritten;
        for (unsigned i = 0; i < l->turns.n && s->n && !err; i++)
            if (!l->done[i])
                err = gs_rangeset_remove_set(s, &l->turns.v[i].uses[u - l->turns.all].needs);
    }
    return gs_pool_error(err);
}

cl_int gs_pool_launch_forecast(const struct gs_pool_launch *l)
{
    struct gs_rangeset unread = {0};
    int err = 0;
    for (const struct gs_turn_use *u = l->turns.all; u->root && !err; u++) {
        struct gs_pool_root *r = u->root->pool;
        gs_rangeset_clear(&unread);
        err = gs_rangeset_rest(&u->will_write, &r->wanted, &unread);
        if (!err)
            err = gs_rangeset_add_set(&r->overwritten, &unread);
        if (!err)
            err = gs_rangeset_add_set(&r->wanted, &u->needs);
    }
    gs_rangeset_free(&unread);
    return gs_pool_error(err);
}

const char *gs_pool_launch_name(const struct gs_pool_launch *l)
{
    return l->k->kind->name;
}

/* A step for each use of each turn of a round. */
static cl_int each(struct gs_pool_launch *l, struct round *round, cl_int (*step)(struct run *, uint32_t))
{
    cl_int err = CL_SUCCESS;
    for (uint32_t u = 0; l->turns.all[u].root && !err; u++)
        for (unsigned i = 0; i < round->n && !err; i++)
            err = step(&round->runs[i], u);
    return err;
}

/* What the round has no room for begins to leave. */
static cl_int clear_way(struct gs_pool_launch *l, struct round *round)
{
    cl_int err = keep_needs(l);
    unsigned devices = l->turns.serial ? UINT_MAX : 0; /* rounds of one turn, on each device in the end */
    for (unsigned i = 0; i < round->n; i++)
        devices |= 1u << round->runs[i].device;
    round->number = gs_pool_round_begin(devices);
    err = err ? err : each(l, round, forget);
    return err ? err : each(l, round, make_way);
}

/* Once that has settled: the bytes of each turn begin to come to its device. */
static cl_int bring(struct gs_pool_launch *l, struct round *round)
{
    cl_int err = each(l, round, take_window);
    err = err ? err : each(l, round, gather);
    err = err ? err : gs_pool_await();
    return err ? err : each(l, round, load);
}

static cl_int end(struct gs_pool_launch *l, struct round *round)
{
    cl_int err = CL_SUCCESS;
    for (unsigned i = 0; i < round->n; i++) {
        struct run *run = &round->runs[i];
        const cl_uint n = run->ends.n;
        const cl_int ended = n ? gs_real()->clWaitForEvents(n, run->ends.v) : CL_SUCCESS;
        if (!ended && n > 1)
            gs_chunk_learn(l->size, run->factor, n, gs_box_groups(&run->turn->box), gs_now_ns() - run->begun_ns);
        l->done[run->turn - l->turns.v] = n;
        gs_events_free(&run->ends);
        free(run->taken);
        err = err ? err : ended;
    }
    gs_pool_round_end(round->number);
    round->n = 0;
    return err;
}

static uint64_t held_of(const struct gs_turn *t, unsigned device)
{
    uint64_t held = 0;
    for (const struct gs_turn_use *u = t->uses; u->root; u++)
        held += gs_pool_valid_bytes(u->root->pool, device, u->window);
    return held;
}

/* Where the only turn runs: on the device that holds most of what it touches. Not a whole launch, as an application's
 * program may have been built for the first device alone. */
static unsigned device_of_one(const struct gs_turns *t)
{
    unsigned best = 0;
    for (unsigned d = 1; d < gs_group()->n && !t->whole; d++)
        best = held_of(&t->v[0], d) > held_of(&t->v[0], best) ? d : best;
    return best;
}

/* Round `which`, and where its turns run. */
static cl_int plan(const struct gs_pool_launch *l, unsigned which, bool ahead, struct round *round)
{
    const struct gs_turns *t = &l->turns;
    const unsigned devices = gs_group()->n, each = (t->n + devices - 1) / devices;
    const uint64_t space = gs_pool_space().all / (t->serial || each == 1 ? 1 : 2); /* of two rounds that are there */
    cl_int err = CL_SUCCESS;
    *round = (struct round){0};
    for (unsigned k = which; k < t->n && !err; k += t->serial ? t->n : each) {
        struct run *run = &round->runs[round->n++];
        *run = (struct run){.turn = &t->v[k], .device = k / each, .ahead = ahead, .spare = spare_of(&t->v[k], space)};
        run->taken = calloc(t->n_uses + 1, sizeof *run->taken);
        err = run->taken ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (t->n == 1)
        round->runs[0].device = device_of_one(t);
    return err;
}

bool gs_pool_launch_is_ready(const struct gs_pool_launch *l)
{
    const struct gs_turns *t = &l->turns;
    gs_pool_lock();
    const unsigned first = t->n == 1 ? device_of_one(t) : 0;
    bool is = t->n == 1 || (!t->serial && t->n <= gs_group()->n);
    for (unsigned k = 0; k < t->n && is; k++)
        for (const struct gs_turn_use *u = t->v[k].uses; u->root && is; u++) {
            const struct gs_pool_window *w = gs_pool_window_of(u->root->pool, first + k, u->window);
            is = w && gs_rangeset_contains_set(&w->valid, &u->needs);
        }
    gs_pool_unlock();
    return is;
}

/* While a round's bytes come, bytes leave for which the next round has no room; while a round computes, the next
 * round's bytes come. If the devices have no room for both, the next round waits for the end of this one. */
cl_int gs_pool_launch_begin(struct gs_pool_launch *l, cl_int (*foresee)(const void *), const void *of)
{
    const struct gs_turns *t = &l->turns;
    const unsigned devices = gs_group()->n, each = (t->n + devices - 1) / devices, rounds = t->serial ? t->n : each;
    /* begins with the end of the rounds whose bytes the last launch has left on the devices */
    const bool backwards = !t->serial && held_of(&t->v[each - 1], 0) > held_of(&t->v[0], 0);
    struct round now = {0}, next = {0};
    cl_int err = CL_SUCCESS;
    for (const struct gs_turn_use *u = t->all; u->root && !err; u++)
        err = gs_pool_invalidate(u->root->pool, &u->will_write);
    for (unsigned i = 0; i < rounds && !err; i++) {
        const bool more = !t->serial && i + 1 < rounds;
        cl_int ahead = CL_SUCCESS, ended;
        if (!now.n) {
            err = plan(l, backwards ? rounds - 1 - i : i, false, &now);
            err = err ? err : foresee(of);
            err = err ? err : clear_way(l, &now);
            err = err ? err : gs_pool_await();
            err = err ? err : bring(l, &now);
        }
        if (more && !err) {
            err = plan(l, backwards ? rounds - 2 - i : i + 1, true, &next);
            err = err ? err : foresee(of);
            err = err ? err : clear_way(l, &next);
        }
        err = err ? err : gs_pool_await();
        for (unsigned k = 0; k < now.n && !err; k++)
            err = begin(l, &now.runs[k]);
        if (i + 1 == rounds && !err) {
            l->last = now;
            return CL_SUCCESS;
        }
        if (more && !err)
            ahead = bring(l, &next);
        ended = end(l, &now);
        err = err ? err : ended;
        if (ahead == CL_MEM_OBJECT_ALLOCATION_FAILURE)
            end(l, &next);
        else
            err = err ? err : ahead;
        now = next;
        next.n = 0;
    }
    end(l, &now);
    return err;
}

cl_int gs_pool_launch_end(struct gs_pool_launch *l)
{
    return end(l, &l->last);
}
