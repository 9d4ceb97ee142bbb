/* SPDX-License-Identifier: MIT */
#include "shim/units.h"

#include <stdlib.h>

#include "shim/batch.h"
#include "shim/coherence.h"
#include "shim/dispatch.h"
#include "shim/plan.h"
#include "shim/prepare.h"
#include "shim/put.h"

/* ---- kernels ---- */

/* For the chunk that begins at these work-groups. */
static cl_int set_hidden(const struct gs_kernel_run *run, cl_kernel kernel, const uint64_t base[3])
{
    struct gs_hidden hidden;
    const struct gs_geometry *g = &run->geometry;
    if (!run->hidden)
        return CL_SUCCESS;
    for (unsigned d = 0; d < 3; d++) {
        hidden.global_offset[d] = g->offset[d];
        hidden.global_size[d] = g->global[d];
        hidden.num_groups[d] = (g->global[d] + g->local[d] - 1) / g->local[d];
        hidden.group_base[d] = base[d];
    }
    return gs_real()->clSetKernelArg(kernel, run->k->n_args, sizeof hidden, &hidden);
}

uint64_t gs_kind_of(const struct gs_kernel *k, const uint64_t global[3])
{
    uint64_t kind = (uint64_t)(uintptr_t)k;
    for (unsigned d = 0; d < 3; d++)
        kind = (kind ^ global[d]) * UINT64_C(0x9e3779b97f4a7c15);
    kind ^= kind >> 32;
    return kind ? kind : 1;
}

static uint64_t groups_of(const struct gs_box *box)
{
    uint64_t groups = 1;
    for (unsigned d = 0; d < 3; d++)
        groups *= box->end[d] - box->begin[d];
    return groups;
}

void gs_kernel_cut(struct gs_kernel_run *run, const struct gs_job *job, const struct gs_box *box)
{
    run->kind = gs_kind_of(run->k, run->geometry.global);
    run->factor = gs_chunk_factor(run->kind);
    const uint64_t most = (uint64_t)job->kernel_chunk * gs_group()->units[run->place] * run->factor;
    gs_cut_make(&run->cut, box, run->null_local ? most * GS_ITEMS_OF_GROUP : most, run->null_local);
    if (run->cut.n > 1 && gs_whole_is_short(run->kind, groups_of(box), gs_unit_is_sole()) &&
        gs_unit_is_alone(gs_resource_of(run->place)))
        gs_cut_make(&run->cut, box, 0, run->null_local);
    for (unsigned d = 0; d < 3; d++)
        run->odd = run->odd || run->geometry.global[d] % run->geometry.local[d];
}

cl_int gs_enqueue_chunk(const struct gs_kernel_run *run, cl_kernel kernel, unsigned chunk, cl_command_queue queue,
                        cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    size_t offset[3], global[3], local[3];
    struct gs_box box;
    gs_cut_box(&run->cut, run->odd ? (chunk + run->cut.n - 1) % run->cut.n : chunk, &box);
    gs_box_items(&run->geometry, &box, offset, global);
    for (unsigned d = 0; d < 3; d++)
        local[d] = (size_t)run->geometry.local[d];
    cl_int err = set_hidden(run, kernel, box.begin);
    if (!err)
        err = gs_real()->clEnqueueNDRangeKernel(queue, kernel, run->geometry.dims, offset, global,
                                                run->null_local ? NULL : local, n_wait, wait, event);
    return err;
}

struct kernel_work {
    struct gs_kernel_run run; /* its kernel is held */
    cl_kernel kernel;
    cl_uint n_mems;
    cl_mem mems[]; /* retained: the arguments of a kernel that has not been enqueued keep nothing alive */
};

static cl_int enqueue_chunk(void *work, unsigned unit, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                            cl_event *event)
{
    struct kernel_work *w = work;
    return gs_enqueue_chunk(&w->run, w->kernel, unit, queue, n_wait, wait, event);
}

static void free_kernel_work(void *work)
{
    struct kernel_work *w = work;
    for (cl_uint i = 0; i < w->n_mems; i++)
        gs_real()->clReleaseMemObject(w->mems[i]);
    gs_spare_kernel_back(w->run.k, w->run.place, w->kernel);
    gs_drop(&w->run.k->o);
    free(w);
}

/* The memory objects that the kernel works on: the windows and replicas of its place. */
static struct kernel_work *make_kernel_work(const struct gs_kernel_run *run, cl_kernel kernel)
{
    const struct gs_kernel *k = run->k;
    struct kernel_work *w = calloc(1, sizeof *w + k->n_args * sizeof *w->mems);
    if (!w)
        return NULL;
    w->run = *run;
    w->kernel = kernel;
    gs_hold(&run->k->o);
    for (cl_uint i = 0; i < k->n_args; i++) {
        struct gs_mem *m = k->args[i].is_mem ? gs_find(GS_MEM, *(void **)k->args[i].bytes) : NULL;
        cl_int err;
        cl_mem mem = m ? gs_replica_of(m, run->place, &err) : NULL;
        if (mem && gs_real()->clRetainMemObject(mem) == CL_SUCCESS)
            w->mems[w->n_mems++] = mem;
    }
    return w;
}

cl_int gs_run_kernel(struct gs_queue *q, const struct gs_kernel_run *run, cl_kernel kernel, cl_command_queue queue,
                     cl_uint n_wait, const cl_event *wait, cl_event *end)
{
    struct kernel_work one = {.run = *run, .kernel = kernel};
    struct gs_units units = {.n = run->cut.n,
                             .enqueue = enqueue_chunk,
                             .work = &one,
                             .spent = gs_put_spent(),
                             .kernel = true,
                             .place = run->place,
                             .kind = run->kind,
                             .factor = run->factor,
                             .groups = groups_of(&run->cut.whole),
                             .siblings = run->siblings,
                             .untied = run->untied,
                             .is_new = gs_kind_is_new(run->kind)};
    cl_int err = CL_SUCCESS;
    if (units.n > 1) {
        err = gs_unit_queues(q, run->place, units.queue);
        units.work = make_kernel_work(run, kernel);
        units.free = free_kernel_work;
        units.first_alone = gs_group()->forms_clash;
        if (!units.work) {
            gs_spare_kernel_back(run->k, run->place, kernel);
            return CL_OUT_OF_HOST_MEMORY;
        }
    }
    if (!err)
        err = gs_run_units(q, queue, gs_resource_of(run->place), n_wait, wait, &units, end);
    if (err && units.free)
        units.free(units.work);
    return err;
}

/* ---- transfers ---- */

static cl_int enqueue_piece(void *work, unsigned unit, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                            cl_event *event)
{
    const struct gs_op_run *run = work;
    return gs_op_enqueue(&run->op, &run->cut, unit, queue, n_wait, wait, event);
}

static void release(cl_mem mem)
{
    if (mem)
        gs_real()->clReleaseMemObject(mem);
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
    if (run->op.src && gs_real()->clRetainMemObject(run->op.src) != CL_SUCCESS)
        kept->op.src = NULL;
    if (run->op.dst && gs_real()->clRetainMemObject(run->op.dst) != CL_SUCCESS)
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
    if (one.cut.n > 1 && !gs_queues_ready(q)) /* in one unit, then */
        gs_op_cut(&one.op, 0, &one.cut);
    const bool bytes = run->op.kind == GS_OP_READ || run->op.kind == GS_OP_WRITE || run->op.kind == GS_OP_FILL ||
                       (run->op.kind == GS_OP_COPY && !run->op.whole);
    struct gs_units units = {.n = one.cut.n,
                             .enqueue = enqueue_piece,
                             .work = &one,
                             .spent = gs_put_spent(),
                             .pieces = bytes && one.cut.n == run->cut.n};
    cl_int err = CL_SUCCESS;
    if (units.n > 1) {
        units.work = keep_run(run);
        if (!units.work)
            return CL_OUT_OF_HOST_MEMORY;
        units.free = free_run;
        units.queue[0] =
            gs_op_is_of_image(&run->op) ? gs_unit_image_queue(q, run->place, &err) : gs_unit_queue(q, run->place, &err);
    }
    if (!err)
        err = gs_run_units(q, queue, run->resource, n_wait, wait, &units, end);
    if (err && units.free)
        units.free(units.work);
    return err;
}
