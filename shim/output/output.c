/* SPDX-License-Identifier: MIT */
#include "shim/output/output.h"

#include "shim/coherence/coherence.h"
#include "shim/transfer/transfer.h"

/* ---- scratch memory: buffers for merges and reductions, kept for later ones, since making and freeing memory on a GPU
 * takes time, and freeing may wait for the GPU. A split launch comes after all earlier commands (rule 1 of
 * docs/coherence.md), so it can use an earlier one's buffers at once. ---- */

/* Kept buffers, which the application can't use: so many at most, of so many bytes or a share of the device's. */
enum { MOST_KEPT = 32, MOST_BYTES = 128 * 1024 * 1024, ONE_OF = 64 };

struct gs_scratch {
    cl_mem mem; /* at home */
    uint64_t bytes;
    const struct gs_use *use; /* of the launch that has it; null: free */
    unsigned part;            /* it is for the bytes that come from this part; 0: for home's copy from before */
    bool fresh;               /* that launch has made it */
    struct gs_scratch *next;
};

static uint64_t bytes_of(const struct gs_use *u)
{
    return u->window.end - u->window.begin;
}

/* A free buffer, or a new one. Null with the error in *err. */
static struct gs_scratch *take(struct gs_context *ctx, const struct gs_use *u, unsigned part, cl_int *err)
{
    const uint64_t bytes = u->writes == GS_REDUCED ? gs_rangeset_bytes(&u->reduced[part]) : bytes_of(u);
    struct gs_scratch *best = NULL;
    *err = CL_SUCCESS;
    for (struct gs_scratch *s = ctx->scratch; s; s = s->next)
        if (!s->use && s->bytes >= bytes && s->bytes / 4 <= bytes && (!best || s->bytes < best->bytes))
            best = s;
    if (best) {
        best->use = u;
        best->part = part;
        best->fresh = false;
        return best;
    }
    cl_mem mem = gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE, bytes, NULL, err);
    if (*err)
        return NULL;
    if (!(best = malloc(sizeof *best))) {
        gs_real()->clReleaseMemObject(mem);
        *err = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    *best = (struct gs_scratch){mem, bytes, u, part, true, ctx->scratch};
    return ctx->scratch = best;
}

/* The buffer that the launch has taken; or null. */
static cl_mem taken(const struct gs_context *ctx, const struct gs_use *u, unsigned part)
{
    const struct gs_scratch *s = ctx->scratch;
    while (s && (s->use != u || s->part != part))
        s = s->next;
    return s ? s->mem : NULL;
}

/* Takes a buffer before the parts run, as later steps must not fail. Each of ready[0..n) gains the end of a new one's
 * first write, in the launch's order: some drivers notice only then that no memory is left. (Without an order the
 * command would take its unit at once, while the queue may hold some that wait for our thread, and it for units.) */
static cl_int take_ahead(struct gs_command *cmd, const struct gs_use *u, unsigned part, unsigned n,
                         struct gs_events *ready)
{
    cl_int err;
    cl_event event;
    const struct gs_scratch *s = take(cmd->ctx, u, part, &err);
    if (!s || !s->fresh)
        return err;
    const struct gs_op fill = gs_op_fill(s->mem, 0, 1, "", 1);
    cl_command_queue queue = gs_queue_of_kind(cmd->q, GS_COPY_QUEUE, 0, &err);
    if (!err)
        err = gs_put(queue, &fill, GS_VIA_MEMORY, cmd->before.n, cmd->before.v, &event);
    if (err)
        return err;
    for (unsigned p = 0; p < n && !err; p++)
        err = gs_events_share(&ready[p], event);
    gs_real()->clReleaseEvent(event);
    return err;
}

/* More than MOST_BYTES, and, where the devices have memory of their own, than one of so many bytes of the first's. */
static bool is_too_much(uint64_t bytes)
{
    return bytes > MOST_BYTES && bytes > (gs_group()->shared_memory ? 0 : gs_group()->memory[0] / ONE_OF);
}

/* Releases buffers: with `used` those in use, with `all` all, and always those not worth keeping. */
static void release(struct gs_context *ctx, bool used, bool all)
{
    uint64_t bytes = 0;
    unsigned kept = 0;
    for (struct gs_scratch **at = &ctx->scratch; *at;) {
        struct gs_scratch *s = *at;
        if (all || (used && s->use) || kept == MOST_KEPT || is_too_much(bytes + s->bytes)) {
            *at = s->next;
            gs_real()->clReleaseMemObject(s->mem);
            free(s);
        } else {
            s->use = NULL;
            bytes += s->bytes;
            kept++;
            at = &s->next;
        }
    }
}

void gs_scratch_give(struct gs_context *ctx, bool keep)
{
    release(ctx, !keep, false);
}

void gs_scratch_free(struct gs_context *ctx)
{
    release(ctx, false, true);
}

enum { GROUP = 64 }; /* work-items of kernels that put the parts' results together */

/* ---- merges ---- */

enum { MERGE_BYTES = 16 /* that gs_merge compares at a time */ };

/* Makes home's copy; ready[0] gains the copy's end. */
static cl_int begin_merge(struct gs_command *cmd, const struct gs_use *u, unsigned n_parts, struct gs_events *ready)
{
    cl_int err;
    cl_event event;
    gs_own_kernel(cmd->ctx, GS_OWN_MERGE, &err);
    const struct gs_scratch *kept = err ? NULL : take(cmd->ctx, u, 0, &err);
    cl_command_queue queue = err ? NULL : gs_queue_of_kind(cmd->q, GS_COPY_QUEUE, 0, &err);
    if (err)
        return err;
    const struct gs_op copy = gs_op_copy(gs_replica_at(u->root, 0).mem, kept->mem, u->window.begin, 0, bytes_of(u));
    err = gs_put(queue, &copy, GS_VIA_MEMORY, ready->n, ready->v, &event);
    if (!err)
        err = gs_events_add(ready, event);
    /* What the merge will need once the parts have run. Where home has room for one part only, the others follow it. */
    return err ? err : take_ahead(cmd, u, 1, n_parts, ready);
}

/* To the first device, and compared there, after `home`, which gains the end. Where home has no more memory the bytes
 * come to where those of the part before have been compared. */
static cl_int merge_part(struct gs_command *cmd, const struct gs_use *u, unsigned p, cl_event ran,
                         struct gs_events *home)
{
    cl_int err;
    cl_event event;
    struct gs_events wait = {0};
    const uint64_t bytes = bytes_of(u);
    const bool own = p == 1 || take(cmd->ctx, u, p, &err);
    cl_mem mem = gs_replica_at(u->root, 0).mem, kept = taken(cmd->ctx, u, 0), arrived = NULL;
    for (unsigned of = p; !arrived; of--)
        arrived = taken(cmd->ctx, u, of);
    err = own ? CL_SUCCESS : gs_events_share_all(&wait, home);
    cl_command_queue queue = err ? NULL : gs_queue_of_kind(cmd->q, GS_COPY_QUEUE, 0, &err);
    if (!err)
        err = gs_events_share(&wait, ran);
    const struct gs_op copy = gs_op_copy(gs_replica_at(u->root, p).mem, arrived, u->window.begin, 0, bytes);
    if (!err)
        err = gs_transfer_buffer(cmd, &copy, p, 0, &wait, home);
    const struct gs_put_arg args[] = {{sizeof mem, &mem},
                                      {sizeof u->window.begin, &u->window.begin},
                                      {sizeof arrived, &arrived},
                                      {sizeof kept, &kept},
                                      {sizeof bytes, &bytes}};
    const struct gs_put_launch merge = {cmd->ctx->own.kernel[GS_OWN_MERGE], args, sizeof args / sizeof *args,
                                        (bytes + MERGE_BYTES - 1) / MERGE_BYTES, GROUP};
    if (!err)
        err = gs_put_kernel(queue, &merge, home->n, home->v, &event);
    if (!err)
        err = gs_events_add(home, event);
    gs_events_free(&wait);
    gs_report_moved(GS_PATH_MERGE, bytes);
    return err;
}

static cl_int merge_parts(struct gs_command *cmd, const struct gs_use *u, unsigned n_parts, const cl_event *ran)
{
    struct gs_events home = {0};
    cl_int err = gs_events_share(&home, ran[0]);
    for (unsigned p = 1; p < n_parts && !err; p++)
        err = merge_part(cmd, u, p, ran[p], &home);
    if (!err)
        err = gs_events_share_all(&cmd->ended, &home);
    gs_events_free(&home);
    return err;
}

/* ---- reductions ---- */

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
    /* Home may still be fetching bytes from the place. */
    if (!err && gs_replica_at(u->root, 0).ready)
        err = gs_events_share(&wait, gs_replica_at(u->root, 0).ready);
    cl_command_queue queue = err ? NULL : gs_queue_of_kind(cmd->q, GS_COPY_QUEUE, part, &err);
    for (size_t i = 0; i < s->n && !err; i++) {
        const bool last = i + 1 == s->n;
        /* In order: the first waits for all of them, the last stands for all. */
        const struct gs_op op = gs_op_fill(gs_replica_at(u->root, part).mem, (size_t)s->v[i].begin,
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

/* Fills the copies; ready[p] gains the end of part p's. From here on only home's bytes are valid. */
static cl_int begin_reduction(struct gs_command *cmd, const struct gs_use *u, unsigned n_parts, struct gs_events *ready)
{
    cl_int err;
    gs_own_kernel(cmd->ctx, kernel_of(u->type), &err);
    for (unsigned p = 0; p < n_parts && !err; p++)
        if (gs_wrote(u->root, 0, &u->reduced[p]) < 0)
            err = CL_OUT_OF_HOST_MEMORY;
    for (unsigned p = 1; p < n_parts && !err; p++) {
        err = fill(cmd, u, p, &ready[p]);
        if (!err && u->reduced[p].n)
            err = take_ahead(cmd, u, p, n_parts, ready);
    }
    return err;
}

/* Combines what part p has with home's bytes, range by range. */
static cl_int combine(struct gs_command *cmd, const struct gs_use *u, unsigned p, const cl_event *ran)
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
    cl_mem home = gs_replica_at(u->root, 0).mem, scratch = taken(cmd->ctx, u, p);
    uint64_t at = 0;
    for (size_t i = 0; i < s->n && !err; i++) {
        const uint64_t n = s->v[i].end - s->v[i].begin;
        const uint64_t home_first = s->v[i].begin / element, first = at / element, elements = n / element;
        struct gs_events here = {0};
        cl_event event;
        const struct gs_op copy = gs_op_copy(gs_replica_at(u->root, p).mem, scratch, s->v[i].begin, at, n);
        err = gs_transfer_buffer(cmd, &copy, p, 0, &wait, &here);
        if (!err)
            err = gs_events_share(&here, ran[0]);
        const struct gs_put_arg args[] = {{sizeof home, &home},         {sizeof home_first, &home_first},
                                          {sizeof scratch, &scratch},   {sizeof first, &first},
                                          {sizeof elements, &elements}, {sizeof op, &op},
                                          {sizeof identity, &identity}};
        const struct gs_put_launch launch = {cmd->ctx->own.kernel[kernel_of(u->type)], args, sizeof args / sizeof *args,
                                             elements, GROUP};
        if (!err)
            err = gs_put_kernel(queue, &launch, here.n, here.v, &event);
        if (!err)
            err = gs_events_add(&cmd->ended, event);
        gs_events_free(&here);
        at += n;
    }
    gs_report_moved(GS_PATH_REDUCE, bytes);
    gs_events_free(&wait);
    return err;
}

static cl_int reduce_parts(struct gs_command *cmd, const struct gs_use *u, unsigned n_parts, const cl_event *ran)
{
    cl_int err = CL_SUCCESS;
    for (unsigned p = 1; p < n_parts && !err; p++)
        if (u->reduced[p].n)
            err = combine(cmd, u, p, ran);
    return err;
}

/* ---- both ---- */

cl_int gs_outputs_begin(struct gs_command *cmd, const struct gs_plan *plan, struct gs_events *ready)
{
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < plan->n_uses && !err; i++) {
        const struct gs_use *u = &plan->uses[i];
        GS_LABEL(purpose, u->writes == GS_REDUCED ? GS_FOR_REDUCTION : GS_FOR_MERGE);
        if (gs_use_is_joined(u))
            err = (u->writes == GS_REDUCED ? begin_reduction : begin_merge)(cmd, u, plan->n_parts, ready);
    }
    return err;
}

cl_int gs_outputs_join(struct gs_command *cmd, const struct gs_plan *plan, const cl_event *ran)
{
    cl_int err = CL_SUCCESS;
    for (size_t i = 0; i < plan->n_uses && !err; i++) {
        const struct gs_use *u = &plan->uses[i];
        GS_LABEL(purpose, u->writes == GS_REDUCED ? GS_FOR_REDUCTION : GS_FOR_MERGE);
        if (gs_use_is_joined(u))
            err = (u->writes == GS_REDUCED ? reduce_parts : merge_parts)(cmd, u, plan->n_parts, ran);
    }
    return err;
}
