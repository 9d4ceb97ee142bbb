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
    c->from = gs_deferred_send_keep(kept, &err);
    c->to = gs_deferred_send_keep(home, &err);
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
    for (unsigned p = 0; p < j->d.n && !err; p++) {
        cl_mem kept = gs_scratch_take(cmd->ctx, p, f->bytes, &err);
        f->kept[p] = gs_deferred_send_keep(kept, &err);
        f->mem[p] = gs_deferred_send_keep(u->root->place[p].mem, &err);
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
    cl_int err = gs_plan_undo(u, j->d.n, &undo) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
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
    for (unsigned p = 1; p < j->d.n; p++)
        for (size_t i = 0; i < u->wrote[p].n && !err; i++) {
            struct gs_speculation_copy *c = add_copy(&j->owned, &j->n_owned, &err);
            if (!c)
                break;
            c->from = gs_deferred_send_keep(home, &err);
            c->to = gs_deferred_send_keep(u->root->place[p].mem, &err);
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
static bool may_use_ring(const struct gs_plan *plan)
{
    bool open = true;
    for (size_t i = 0; i < plan->n_uses; i++)
        open = open && !gs_host_is_barred(plan->uses[i].root);
    return open;
}

struct gs_speculation *gs_speculation_begin(struct gs_launching *l, const struct gs_plan *plan, struct gs_events *ready,
                                            cl_int *err)
{
    struct gs_speculation *j = calloc(1, sizeof *j);
    *err = CL_OUT_OF_HOST_MEMORY;
    if (!j)
        return NULL;
    j->d.send = gs_speculation_decide;
    j->d.sent = gs_speculation_ended;
    j->d.free = gs_speculation_free;
    j->stats = l->k->stats;
    j->kernel_id = gs_kernel_id(l->k);
    *err = gs_deferred_send_make(&j->d, &l->cmd, plan->n_parts);
    j->ring = may_use_ring(plan) ? j->d.ring : NULL;
    if (!*err && !(j->fields = calloc(plan->n_uses + 1, sizeof *j->fields)))
        *err = CL_OUT_OF_HOST_MEMORY;
    for (unsigned p = 0; p < plan->n_parts && !*err; p++)
        *err = gs_merge_kernels_make(l->cmd.ctx, p);
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
