/* SPDX-License-Identifier: MIT */
/* See launch.h, section units.c. */
#include "shim/launch/launch.h"

/* Sets the hidden argument for the chunk that begins at these work-groups and work-items. */
static cl_int set_hidden(const struct gs_kernel_run *run, const uint64_t base[3], const size_t offset[3])
{
    uint64_t hidden[GS_HIDDEN_WORDS];
    if (!run->summary->hidden)
        return CL_SUCCESS;
    gs_hidden_fill(hidden, &run->geometry, base, offset, run->shift);
    const size_t bytes = run->k->program->moved ? sizeof hidden : GS_HIDDEN_BYTES;
    return gs_real()->clSetKernelArg(run->kernel, run->k->n_args, bytes, hidden);
}

/* Might a chunk's begin be larger than the driver's get_global_offset can say? Tests the box's end, to be safe. */
static bool ends_too_far(const struct gs_geometry *g, const struct gs_box *box)
{
    const uint64_t most = gs_group()->most_offset;
    for (unsigned d = 0; d < 3; d++)
        if (most && g->offset[d] + box->end[d] * g->local[d] > most)
            return true;
    return false;
}

void gs_kernel_cut(struct gs_kernel_run *run, const struct gs_job *job, const struct gs_box *box)
{
    run->factor = job->kernel_chunk ? gs_chunk_factor(run->size) : 1;
    const uint64_t most = (uint64_t)job->kernel_chunk * gs_group()->units[run->place] * run->factor;
    gs_cut_make(&run->cut, box, run->geometry.null_local ? most * GS_ITEMS_OF_GROUP : most, run->geometry.null_local);
    if (run->cut.n > 1 && gs_whole_is_short(run->size, gs_box_groups(box), gs_app_is_sole()) &&
        gs_unit_is_alone(gs_resource_of(run->place)))
        gs_cut_make(&run->cut, box, 0, run->geometry.null_local);
    if (ends_too_far(&run->geometry, box))
        gs_cut_make(&run->cut, box, 0, run->geometry.null_local);
    for (unsigned d = 0; d < 3; d++)
        run->odd = run->odd || run->geometry.global[d] % run->geometry.local[d];
}

/* Sets the hidden argument for one chunk of a gs_kernel_run, and enqueues the chunk: gs_units.enqueue. */
static cl_int enqueue_chunk(void *of, unsigned chunk, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                            cl_event *event)
{
    const struct gs_kernel_run *run = of;
    size_t offset[3], global[3], local[3];
    struct gs_box box;
    gs_cut_box(&run->cut, run->odd ? (chunk + run->cut.n - 1) % run->cut.n : chunk, &box);
    gs_box_items(&run->geometry, &box, offset, global);
    for (unsigned d = 0; d < 3; d++)
        local[d] = (size_t)run->geometry.local[d];
    cl_int err = set_hidden(run, box.begin, offset);
    const bool moved = run->summary->hidden && run->k->program->moved; /* it has no offset */
    const struct gs_op launch = gs_op_launch(run->kernel, run->geometry.dims, moved ? NULL : offset, global,
                                             run->geometry.null_local ? NULL : local);
    return err ? err : gs_enqueue(&launch, queue, n_wait, wait, event);
}

static void free_run(void *kept)
{
    struct gs_kernel_run *run = kept;
    for (cl_uint i = 0; i < run->k->n_args; i++)
        GS_RELEASE(Sampler, run->samplers[i]);
    gs_spare_kernel_give(run->k, run->place, run->kernel);
    gs_drop(&run->k->o);
    free(run);
}

/* A copy for chunks that are enqueued later, with the samplers, which the application may release first; its memory
 * objects are released later (shim/events/gates.h). Owns run->kernel, a spare kernel, from here on, even on an error.
 * NULL with the error in *err. */
static struct gs_kernel_run *keep_run(const struct gs_kernel_run *run, cl_int *err)
{
    struct gs_kernel_run *kept = calloc(1, sizeof *kept + run->k->n_args * sizeof *kept->samplers);
    *err = kept ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!kept) {
        gs_spare_kernel_give(run->k, run->place, run->kernel);
        return NULL;
    }
    *kept = *run;
    kept->samplers = (cl_sampler *)(kept + 1);
    gs_hold(&run->k->o);
    for (cl_uint i = 0; i < run->k->n_args && !*err; i++) {
        const struct gs_arg *a = &run->k->args[i];
        if (run->summary->args[i].kind != GS_ARG_SAMPLER || !a->bytes || !*(cl_sampler *)a->bytes)
            continue;
        *err = gs_real()->clRetainSampler(*(cl_sampler *)a->bytes);
        kept->samplers[i] = *err ? NULL : *(cl_sampler *)a->bytes;
    }
    if (!*err)
        return kept;
    free_run(kept);
    return NULL;
}

/* keep_run takes run->kernel over, also on an error; a single chunk leaves the kernel to the caller. */
cl_int gs_run_kernel(const struct gs_units *to, const struct gs_kernel_run *run, cl_event *end)
{
    if (!gs_put_now())
        return enqueue_chunk((void *)(uintptr_t)run, 0, to->queue, to->n_wait, to->wait, end);
    struct gs_kernel_run one = *run;
    struct gs_units units = *to;
    units.n = run->cut.n;
    units.enqueue = enqueue_chunk;
    units.work = &one;
    units.kernel = true;
    units.spent = gs_put_now()->spent;
    units.place = run->place;
    units.resource = gs_resource_of(run->place);
    units.size = run->size;
    units.factor = run->factor;
    units.groups = gs_box_groups(&run->cut.whole);
    cl_int err = CL_SUCCESS;
    if (units.n > 1) {
        units.work = keep_run(run, &err);
        if (err)
            return err;
        units.free = free_run;
        for (unsigned i = 0; i < GS_UNIT_QUEUES && !err; i++)
            units.more[i] = gs_queue_of_kind(to->q, GS_UNIT_QUEUE + i, run->place, &err);
    }
    if (!err)
        err = gs_run_units(&units, end);
    if (err && units.free)
        units.free(units.work);
    return err;
}
