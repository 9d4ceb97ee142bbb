/* SPDX-License-Identifier: MIT */
/* See launch.h, section units.c. */
#include "shim/launch/launch.h"

/* Sets the hidden argument for the chunk that begins at these work-groups. */
static cl_int set_hidden(const struct gs_kernel_run *run, const uint64_t base[3])
{
    const struct gs_hidden hidden = gs_geometry_hidden(&run->geometry, base);
    if (!run->summary->hidden)
        return CL_SUCCESS;
    return gs_real()->clSetKernelArg(run->kernel, run->k->n_args, sizeof hidden, &hidden);
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
    run->factor = gs_chunk_factor(run->size);
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

cl_int gs_enqueue_chunk(const struct gs_kernel_run *run, unsigned chunk, cl_command_queue queue, cl_uint n_wait,
                        const cl_event *wait, cl_event *event)
{
    size_t offset[3], global[3], local[3];
    struct gs_box box;
    gs_cut_box(&run->cut, run->odd ? (chunk + run->cut.n - 1) % run->cut.n : chunk, &box);
    gs_box_items(&run->geometry, &box, offset, global);
    for (unsigned d = 0; d < 3; d++)
        local[d] = (size_t)run->geometry.local[d];
    cl_int err = set_hidden(run, box.begin);
    const struct gs_op launch =
        gs_op_launch(run->kernel, run->geometry.dims, offset, global, run->geometry.null_local ? NULL : local);
    return err ? err : gs_enqueue(&launch, queue, n_wait, wait, event);
}

/* An argument's object, kept until the launch is enqueued: arguments of a kernel object don't keep it alive. */
struct used {
    cl_mem mem; /* the application's, kept; or null */
    cl_sampler sampler;
};

/* A launch whose chunks are enqueued later, when the application may have released all of its objects. */
struct kernel_work {
    struct gs_kernel_run run; /* run.k is held */
    cl_uint n_used;
    struct used used[];
};

static cl_int enqueue_work(void *work, unsigned unit, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                           cl_event *event)
{
    struct kernel_work *w = work;
    return gs_enqueue_chunk(&w->run, unit, queue, n_wait, wait, event);
}

static void free_work(void *work)
{
    struct kernel_work *w = work;
    for (cl_uint i = 0; i < w->n_used; i++)
        if (w->used[i].mem)
            gs_drop_mem(w->used[i].mem);
        else
            gs_real()->clReleaseSampler(w->used[i].sampler);
    gs_spare_kernel_give(w->run.k, w->run.place, w->run.kernel);
    gs_drop(&w->run.k->o);
    free(w);
}

/* Keeps the memory object (with its window or replica on the place) or the sampler in argument i, if any. */
static cl_int keep_argument(struct kernel_work *w, cl_uint i)
{
    const struct gs_arg *a = &w->run.k->args[i];
    struct gs_mem *m = a->is_mem ? gs_find(GS_MEM, *(void **)a->bytes) : NULL;
    const bool is_sampler = w->run.summary->args[i].kind == GS_ARG_SAMPLER && a->has_value;
    struct used used = {0};
    cl_int err = CL_SUCCESS;
    if (m) {
        used.mem = m->o.handle;
        err = gs_keep_mem(used.mem);
    } else if (is_sampler && a->size == sizeof used.sampler) {
        used.sampler = *(cl_sampler *)a->bytes;
        err = gs_real()->clRetainSampler(used.sampler);
    }
    if (!err && (used.mem || used.sampler))
        w->used[w->n_used++] = used;
    return err;
}

/* Owns run->kernel, a spare kernel, from here on, even on an error. NULL with the error in *err. */
static struct kernel_work *make_work(const struct gs_kernel_run *run, cl_int *err)
{
    const cl_uint n_args = run->k->n_args;
    struct kernel_work *w = calloc(1, sizeof *w + n_args * sizeof *w->used);
    *err = w ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!w) {
        gs_spare_kernel_give(run->k, run->place, run->kernel);
        return NULL;
    }
    w->run = *run;
    gs_hold(&run->k->o);
    for (cl_uint i = 0; i < n_args && !*err; i++)
        *err = keep_argument(w, i);
    if (!*err)
        return w;
    free_work(w);
    return NULL;
}

/* make_work takes run->kernel over, also on an error; a single chunk leaves the kernel to the caller. */
cl_int gs_run_kernel(const struct gs_destination *to, const struct gs_kernel_run *run, cl_event *end)
{
    struct kernel_work one = {.run = *run};
    struct gs_units units = {.n = run->cut.n, .enqueue = enqueue_work, .work = &one, .kernel = true};
    units.spent = gs_put_now() ? gs_put_now()->spent : NULL;
    units.place = run->place;
    units.size = run->size;
    units.factor = run->factor;
    units.groups = gs_box_groups(&run->cut.whole);
    cl_int err = CL_SUCCESS;
    if (units.n > 1) {
        units.work = make_work(run, &err);
        if (err)
            return err;
        units.free = free_work;
        for (unsigned i = 0; i < GS_UNIT_QUEUES && !err; i++)
            units.queue[i] = gs_queue_of_kind(to->q, GS_UNIT_QUEUE + i, run->place, &err);
    }
    if (!err)
        err = gs_run_units(to, &units, end);
    if (err && units.free)
        units.free(units.work);
    return err;
}
