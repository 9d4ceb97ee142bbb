/* SPDX-License-Identifier: MIT */
#include "shim/append.h"

#include <stdlib.h>

#include "shim/merge_kernels.h"
#include "shim/report.h"
#include "shim/scratch.h"
#include "shim/transfer/transfer.h"

void gs_lists_free(struct gs_lists *lists)
{
    free(lists->v);
    lists->v = NULL;
}

cl_int gs_append_begin(struct gs_launching *l, struct gs_lists *lists, unsigned p, cl_kernel kernel)
{
    const struct gs_kernel_summary *k = l->summary;
    if (!lists->v)
        lists->v = calloc(k->n_appends, sizeof *lists->v);
    cl_int err = lists->v ? gs_merge_kernels_make(l->cmd.ctx) : CL_OUT_OF_HOST_MEMORY;
    if (!err)
        err = gs_block_kernels_make(l->cmd.ctx, p);
    for (uint32_t i = 0; i < k->n_appends && !err && p; i++) {
        const struct gs_mem *m = l->mems[k->appends[i].list];
        lists->v[i].on[p] = gs_scratch_take(l->cmd.ctx, p, m->size, &err);
        if (!err)
            err = gs_real()->clSetKernelArg(kernel, k->appends[i].list, sizeof(cl_mem), &lists->v[i].on[p]);
    }
    return err;
}

/* How far the parts up to part p have counted, in memory of its place. `got` gains what that must be waited for, and
 * `read` what still reads home's counter. */
static cl_mem gather(struct gs_launching *l, const struct gs_append *a, unsigned p, const cl_event *ran,
                     struct gs_events *got, struct gs_events *read, cl_int *err)
{
    struct gs_mem *m = l->mems[a->counter];
    const uint64_t at = m->origin + a->counter_offset, bytes = sizeof(cl_uint);
    cl_mem counts = gs_scratch_take(l->cmd.ctx, p, (p + 1) * bytes, err);
    cl_command_queue queue = *err ? NULL : gs_copy_queue(l->cmd.q, p, err);
    for (unsigned q = 0; q < p && !*err; q++) {
        struct gs_events since = {0};
        const cl_uint before = got->n;
        *err = gs_events_share(&since, ran[q]);
        if (!*err)
            *err = gs_transfer_buffer(&l->cmd, m->root->place[q].mem, q, counts, p, at, q * bytes, bytes, &since, got);
        for (cl_uint i = before; i < got->n && !*err && q == 0; i++)
            *err = gs_events_share(read, got->v[i]);
        gs_events_free(&since);
    }
    cl_event own;
    if (!*err)
        *err = gs_put_copy(queue, GS_VIA_MEMORY, m->root->place[p].mem, counts, at, p * bytes, bytes, 1, &ran[p], &own);
    if (!*err)
        *err = gs_events_add(got, own);
    gs_report_moved(GS_PATH_REDUCE, (p + 1) * bytes);
    return counts;
}

/* Part p's lists, each behind those of the parts before it. */
static cl_int append(struct gs_launching *l, const struct gs_lists *lists, unsigned p, const cl_event *ran,
                     struct gs_events *read, cl_event *filled)
{
    const struct gs_kernel_summary *k = l->summary;
    struct gs_events done = {0};
    cl_int err;
    cl_command_queue queue = gs_copy_queue(l->cmd.q, p, &err);
    for (uint32_t i = 0; i < k->n_appends && !err; i++) {
        const struct gs_append *a = &k->appends[i];
        const struct gs_mem *m = l->mems[a->list];
        const struct gs_arg *limit = a->limit_arg == GS_NO_ARG ? NULL : &l->k->args[a->limit_arg];
        struct gs_events got = {0};
        cl_mem counts = gather(l, a, p, ran, &got, read, &err);
        const struct gs_append_to to = {
            .dst = m->root->place[p].mem,
            .at = m->origin,
            .bytes = m->size,
            .step = a->step,
            .unit = a->unit,
            .limit = gs_append_limit(a, limit && limit->has_value ? limit->bytes : NULL, limit ? limit->size : 0)};
        if (!err)
            err = gs_enqueue_append(l->cmd.ctx, p, queue, &to, lists->v[i].on[p], counts, &got, &done);
        gs_events_free(&got);
    }
    if (!err)
        err = gs_real()->clEnqueueMarkerWithWaitList(queue, done.n, done.v, filled);
    gs_events_free(&done);
    gs_real()->clFlush(queue);
    return err;
}

cl_int gs_append_join(struct gs_launching *l, const struct gs_lists *lists, unsigned n_parts, const cl_event *ran,
                      cl_event *filled, cl_event *counted)
{
    struct gs_events read = {0};
    cl_int err = gs_real()->clRetainEvent(ran[0]);
    if (!err)
        filled[0] = ran[0];
    if (!err)
        err = gs_events_share(&read, ran[0]);
    for (unsigned p = 1; p < n_parts && !err; p++) {
        const struct gs_label before = gs_label_part((int)p);
        err = append(l, lists, p, ran, &read, &filled[p]);
        gs_label_back(before);
    }
    cl_command_queue queue = err ? NULL : gs_copy_queue(l->cmd.q, 0, &err);
    if (!err)
        err = gs_real()->clEnqueueMarkerWithWaitList(queue, read.n, read.v, counted);
    gs_events_free(&read);
    gs_command_flush(l->cmd.q);
    return err;
}
