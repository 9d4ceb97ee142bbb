/* SPDX-License-Identifier: MIT */
#include "shim/output/output.h"

#include <string.h>

#include "shim/coherence/coherence.h"
#include "shim/report/report.h"
#include "shim/transfer/transfer.h"

/* The element that changes nothing, in the low bytes of the number. */
static uint64_t identity_of(enum gs_atomic_op op, enum gs_atomic_type type)
{
    const bool is_signed = type == GS_ATOMIC_I32 || type == GS_ATOMIC_I64;
    const uint64_t ones = gs_atomic_bytes(type) == 4 ? UINT32_MAX : UINT64_MAX, sign = ones ^ ones >> 1;
    if (type >= GS_ATOMIC_F32) /* -0.0 is what a sum keeps even of -0.0; of fmin and fmax, a NaN yields to any number */
        return op == GS_ATOMIC_ADD ? sign : ones ^ sign;
    switch (op) {
    case GS_ATOMIC_AND:
        return ones;
    case GS_ATOMIC_MIN:
        return is_signed ? ones ^ sign : ones;
    case GS_ATOMIC_MAX:
        return is_signed ? sign : 0;
    default:
        return 0;
    }
}

static cl_int fill(struct gs_command *cmd, const struct gs_use *u, unsigned part, struct gs_events *ready)
{
    const uint64_t identity = identity_of(u->op, u->type);
    const struct gs_rangeset *s = &u->reduced[part];
    struct gs_events wait = {0};
    cl_event event = NULL;
    cl_int err = gs_events_share_all(&wait, ready);
    /* What home still fetches from here. */
    if (!err && gs_ready_at(u->root, 0))
        err = gs_events_share(&wait, gs_ready_at(u->root, 0));
    cl_command_queue queue = err ? NULL : gs_queue_of_kind(cmd->q, GS_COPY_QUEUE, part, &err);
    for (size_t i = 0; i < s->n && !err; i++) {
        const bool last = i + 1 == s->n;
        /* In order: the first waits for all of them, the last stands for all. */
        const struct gs_op op = gs_op_fill(gs_replica_at(u->root, part), (size_t)s->v[i].begin,
                                           (size_t)(s->v[i].end - s->v[i].begin), &identity, gs_atomic_bytes(u->type));
        err = gs_put(queue, &op, GS_VIA_MEMORY, i ? 0 : wait.n, wait.v, last ? &event : NULL);
    }
    gs_events_free(&wait);
    return err || !event ? err : gs_events_add(ready, event);
}

static enum gs_own_kernel kernel_of(enum gs_atomic_type type)
{
    return GS_OWN_REDUCE_I32 + (unsigned)type;
}

cl_int gs_reduce_begin(struct gs_command *cmd, struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                       struct gs_events *ready)
{
    cl_int err;
    gs_own_kernel(cmd->ctx, kernel_of(u->type), &err);
    for (unsigned p = 0; p < n_parts && !err; p++)
        if (gs_wrote(u->root, 0, &u->reduced[p]) < 0)
            err = CL_OUT_OF_HOST_MEMORY;
    for (unsigned p = 1; p < n_parts && !err; p++) {
        err = fill(cmd, u, p, &ready[p]);
        if (!err && u->reduced[p].n)
            m->arrived[p] = gs_scratch_take(cmd, gs_rangeset_bytes(&u->reduced[p]), n_parts, ready, &err);
    }
    return err;
}

/* Combines what part p has with home's bytes, range by range. */
static cl_int combine(struct gs_command *cmd, cl_mem scratch, const struct gs_use *u, unsigned p, const cl_event *ran,
                      struct gs_events *done)
{
    const struct gs_rangeset *s = &u->reduced[p];
    const uint64_t bytes = gs_rangeset_bytes(s);
    struct gs_events wait = {0};
    cl_int err;
    cl_command_queue queue = gs_queue_of_kind(cmd->q, GS_COPY_QUEUE, 0, &err);
    if (err)
        return err;
    err = gs_events_share(&wait, ran[p]);
    const uint64_t element = gs_atomic_bytes(u->type), identity = identity_of(u->op, u->type);
    const cl_int op = (cl_int)u->op;
    cl_mem home = gs_replica_at(u->root, 0);
    uint64_t at = 0;
    for (size_t i = 0; i < s->n && !err; i++) {
        const uint64_t n = s->v[i].end - s->v[i].begin;
        const uint64_t home_first = s->v[i].begin / element, first = at / element, elements = n / element;
        struct gs_events here = {0};
        const struct gs_op copy = gs_op_copy(gs_replica_at(u->root, p), scratch, s->v[i].begin, at, n);
        err = gs_transfer_buffer(cmd, &copy, p, 0, &wait, &here);
        if (!err)
            err = gs_events_share(&here, ran[0]);
        if (!err)
            err = gs_run_output_kernel(queue,
                                       GS_OUTPUT_LAUNCH(cmd->ctx->own.kernel[kernel_of(u->type)], elements,
                                                        GS_ARG(home), GS_ARG(home_first), GS_ARG(scratch),
                                                        GS_ARG(first), GS_ARG(elements), GS_ARG(op), GS_ARG(identity)),
                                       &here, done);
        gs_events_free(&here);
        at += n;
    }
    gs_report_moved(GS_PATH_REDUCE, bytes);
    gs_events_free(&wait);
    return err;
}

cl_int gs_reduce_parts(struct gs_command *cmd, const struct gs_merge *m, const struct gs_use *u, unsigned n_parts,
                       const cl_event *ran, struct gs_events *done)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = 1; p < n_parts && !err; p++)
        if (u->reduced[p].n)
            err = combine(cmd, m->arrived[p], u, p, ran, done);
    return err;
}
