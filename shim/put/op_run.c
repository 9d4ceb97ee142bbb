/* SPDX-License-Identifier: MIT */
#include "shim/put/op_run.h"

#include <stdlib.h>
#include <string.h>

#include "shim/order/callbacks.h"
#include "shim/schedule/dispatch.h"
#include "shim/put/put.h"
#include "shim/record/keep.h"

static cl_int enqueue_piece(void *work, unsigned unit, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                            cl_event *event)
{
    const struct gs_op_run *run = work;
    const struct gs_op piece = gs_op_piece(&run->op, &run->cut, unit);
    return gs_enqueue(&piece, queue, n_wait, wait, event);
}

static void release(cl_mem mem)
{
    if (mem)
        gs_let_go_of_mem(mem);
}

static void free_run(void *work)
{
    struct gs_op_run *run = work;
    release(run->op.src);
    release(run->op.dst);
    free(run);
}

/* With its memory objects. */
static struct gs_op_run *keep_run(const struct gs_op_run *run)
{
    struct gs_op_run *kept = malloc(sizeof *kept);
    if (!kept)
        return NULL;
    *kept = *run;
    if (run->op.pattern_bytes)
        kept->op.pattern = memcpy(kept->pattern, run->op.pattern, run->op.pattern_bytes);
    if (run->op.src && gs_keep_mem(run->op.src) != CL_SUCCESS)
        kept->op.src = NULL;
    if (run->op.dst && gs_keep_mem(run->op.dst) != CL_SUCCESS)
        kept->op.dst = NULL;
    if (kept->op.src == run->op.src && kept->op.dst == run->op.dst)
        return kept;
    free_run(kept);
    return NULL;
}

cl_int gs_run_op(struct gs_queue *q, const struct gs_op_run *run, cl_command_queue queue, cl_uint n_wait,
                 const cl_event *wait, cl_event *end)
{
    struct gs_op_run one = *run;
    if (one.cut.n > 1 && gs_in_callback()) /* in one unit, then */
        gs_op_cut(&one.op, 0, &one.cut);
    const bool bytes = run->op.kind == GS_OP_READ || run->op.kind == GS_OP_WRITE || run->op.kind == GS_OP_FILL ||
                       (run->op.kind == GS_OP_COPY && !run->op.whole);
    struct gs_units units = {.n = one.cut.n,
                             .enqueue = enqueue_piece,
                             .work = &one,
                             .spent = gs_put_now() ? gs_put_now()->spent : NULL,
                             .pieces = bytes && one.cut.n == run->cut.n};
    cl_int err = CL_SUCCESS;
    if (units.n > 1) {
        units.work = keep_run(run);
        if (!units.work)
            return CL_OUT_OF_HOST_MEMORY;
        units.free = free_run;
        units.queue[0] = gs_op_is_of_image(&run->op) ? gs_queue_behind(q, GS_UNIT_IMAGE_QUEUE, run->place, &err)
                                                     : gs_queue_behind(q, GS_UNIT_QUEUE, run->place, &err);
    }
    if (!err)
        err = gs_run_units(&(struct gs_destination){q, queue, run->resource, n_wait, wait}, &units, end);
    if (err && units.free)
        units.free(units.work);
    return err;
}
