/* SPDX-License-Identifier: MIT */
/* Before the parts of a launch on trial run: keeps what it takes to find out what they change, and to undo it. */
#include "shim/output/speculation_state.h"

#include <stdlib.h>

#include "common/log.h"
#include "shim/output/deferred_send.h"
#include "shim/memory/coherence.h"
#include "shim/output/merge_kernels.h"
#include "shim/plan/kinds.h"
#include "shim/plan/prepare.h"
#include "shim/memory/scratch.h"

static cl_mem retained(cl_mem m, cl_int *err)
{
    if (!*err)
        *err = m ? gs_real()->clRetainMemObject(m) : CL_OUT_OF_HOST_MEMORY;
    return *err ? NULL : m;
}

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

static cl_int keep_bytes(struct gs_command *cmd, unsigned place, cl_mem from, uint64_t from_at, cl_mem to,
                         uint64_t to_at, uint64_t bytes, struct gs_events *ready)
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
    struct gs_speculation_copy *c = add_copy(&j->undo, &j->n_undo, &err);
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
    struct gs_speculation_field *f = &j->fields[j->n_fields++];
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
            err = keep_bytes(cmd, p, f->mem[p], f->begin, f->kept[p], 0, f->bytes, &ready[p]);
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
        err = keep_bytes(cmd, 0, home, begin, kept, at, bytes, &ready[0]);
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
            c->from = retained(home, &err);
            c->to = retained(u->root->place[p].mem, &err);
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
    cl_kernel kernel = gs_spare_kernel(l->k, 0, &err);
    run.cut.whole.end[plan->dim] = plan->box[plan->n_parts - 1].end[plan->dim];
    if (!err && (err = gs_launch_args(l, kernel, 0)) != CL_SUCCESS)
        gs_spare_kernel_back(l->k, 0, kernel);
    if (!err)
        j->whole = gs_kernel_work_make(&run, kernel, &err);
    return err;
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
    *j = (struct gs_speculation){.continuation = {.act = gs_speculation_decide, .free = gs_speculation_free},
                                 .ctx = l->cmd.ctx,
                                 .stats = l->k->stats,
                                 .kernel_id = gs_kernel_id(l->k),
                                 .n = plan->n_parts,
                                 .ring = ring_for(l->cmd.ctx, plan)};
    gs_hold(&j->ctx->o);
    j->fields = calloc(plan->n_uses + 1, sizeof *j->fields);
    return j;
}

struct gs_speculation *gs_speculation_begin(struct gs_launching *l, const struct gs_plan *plan, struct gs_events *ready,
                                            cl_int *err)
{
    struct gs_speculation *j = make(l, plan);
    *err = j && j->fields ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (unsigned p = 0; p < plan->n_parts && !*err; p++) {
        *err = gs_merge_kernels_make(j->ctx, p);
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
        *err = keep_whole(j, l, plan);
    if (!*err)
        *err = gs_continuation_make(&j->continuation, j->ctx);
    if (!*err)
        return j;
    gs_debug("no launch on trial (error %d)", *err);
    gs_speculation_drop(j);
    return NULL;
}
