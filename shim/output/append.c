/* SPDX-License-Identifier: MIT */
#include "shim/output/append.h"

#include <stdlib.h>
#include <string.h>

#include "shim/output/append_count.h"
#include "shim/output/deferred_send.h"
#include "shim/memory/coherence.h"
#include "shim/schedule/put.h"
#include "shim/memory/scratch.h"
#include "shim/memory/transfer.h"
#include "shim/record/enqueue.h"

void gs_lists_free(struct gs_lists *lists)
{
    for (uint32_t i = 0; lists->v && i < lists->n; i++)
        if (lists->v[i].job)
            gs_list_job_free(lists->v[i].job);
    free(lists->v);
    lists->v = NULL;
}

/* Does a place hold bytes of the list that somebody wanted there, so that it is to hold what is appended too? */
static bool is_wanted(const struct gs_mem *list, unsigned p)
{
    return gs_rangeset_touches(gs_valid_at(list->root, p), gs_window_range(list, 0, list->size));
}

static void find_takers(struct gs_list *list, const struct gs_mem *m, unsigned n_parts)
{
    for (unsigned p = 1; p < n_parts; p++)
        list->spread = (list->takes[p] = is_wanted(m, p)) || list->spread;
}

/* The first of the launch's lists that an argument has; null: it has none. */
static struct gs_list *first_of(const struct gs_launching *l, const struct gs_lists *lists, uint32_t arg)
{
    for (uint32_t i = 0; i < l->summary->n_appends; i++)
        if (l->summary->appends[i].list == arg)
            return &lists->v[i];
    return NULL;
}

/* Scratch memory for part p instead of the argument of list i, as long as that; and longer where the parts' numbers may
 * turn out to begin below 0, while this one counts from 0 on. */
static cl_int take_own(struct gs_launching *l, struct gs_lists *lists, uint32_t i, unsigned p, cl_kernel kernel)
{
    const struct gs_kernel_summary *k = l->summary;
    const uint32_t arg = k->appends[i].list;
    struct gs_list *first = first_of(l, lists, arg);
    uint64_t more = 0;
    for (uint32_t j = i; j < k->n_appends; j++)
        if (k->appends[j].list == arg && lists->v[j].at.lead * k->appends[j].unit > more)
            more = lists->v[j].at.lead * k->appends[j].unit;
    cl_int err = CL_SUCCESS;
    if (first == &lists->v[i] && (first->takes[p] || more)) {
        first->own[p] = gs_scratch_take(l->cmd.ctx, p, l->mems[arg]->size + more, &err);
        if (!err)
            err = gs_real()->clSetKernelArg(kernel, arg, sizeof(cl_mem), &first->own[p]);
    }
    lists->v[i].own[p] = first->own[p];
    return err;
}

cl_int gs_append_begin(struct gs_launching *l, struct gs_lists *lists, unsigned p, cl_kernel kernel)
{
    const struct gs_kernel_summary *k = l->summary;
    cl_int err = CL_SUCCESS;
    if (!lists->v && !(lists->v = calloc(k->n_appends, sizeof *lists->v)))
        return CL_OUT_OF_HOST_MEMORY;
    lists->n = k->n_appends;
    for (uint32_t i = 0; i < k->n_appends && !p && !err; i++) {
        if (!gs_plan_find_list(k, i, l->mems, l->k->args, &lists->v[i].at))
            err = CL_INVALID_VALUE;
        find_takers(&lists->v[i], l->mems[k->appends[i].list], l->job.n);
    }
    for (uint32_t i = 0; i < k->n_appends && p && !err; i++)
        err = take_own(l, lists, i, p, kernel);
    return err;
}

void gs_append_copies(const struct gs_launching *l, const struct gs_lists *lists, const struct gs_mem *root,
                      struct gs_copies *copies)
{
    *copies = (struct gs_copies){.begin = 0};
    for (uint32_t i = 0; i < l->summary->n_appends && lists->v; i++) {
        const struct gs_mem *m = l->mems[l->summary->appends[i].list];
        if (m->root != root)
            continue;
        copies->begin = m->origin;
        memcpy(copies->mem, lists->v[i].own, sizeof copies->mem);
    }
}

/* What the counter is at home before the first part counts on. */
static cl_int keep_counter(struct gs_launching *l, const struct gs_append *a, struct gs_list *list,
                           struct gs_events *ready)
{
    const struct gs_mem *m = l->mems[a->counter];
    cl_int err;
    cl_event event;
    list->was = gs_scratch_take(l->cmd.ctx, 0, sizeof(cl_uint), &err);
    cl_command_queue queue = err ? NULL : gs_queue_behind(l->cmd.q, GS_COPY_QUEUE, 0, &err);
    const struct gs_op copy =
        gs_op_copy(gs_replica_at(m->root, 0), list->was, m->origin + a->counter_offset, 0, sizeof(cl_uint));
    if (!err)
        err = gs_put(queue, &copy, GS_VIA_MEMORY, ready->n, ready->v, &event);
    return err ? err : gs_events_add(ready, event);
}

/* Where part p has the counter, or its list. */
static struct gs_list_at place_of(const struct gs_launching *l, const struct gs_lists *lists, uint32_t arg,
                                  uint64_t offset, unsigned p)
{
    const struct gs_list *list = first_of(l, lists, arg);
    const struct gs_mem *m = l->mems[arg];
    if (list && list->own[p])
        return (struct gs_list_at){list->own[p], offset};
    return (struct gs_list_at){gs_replica_at(m->root, p), m->origin + offset};
}

/* What putting list i together takes, but for what is said of the parts' ends. */
static struct gs_list_join join_of(struct gs_launching *l, const struct gs_lists *lists, uint32_t i, unsigned n_parts)
{
    const struct gs_append *a = &l->summary->appends[i];
    const struct gs_list *list = &lists->v[i];
    const struct gs_mem *m = l->mems[a->list];
    struct gs_list_join j = {.l = l,
                             .list = list,
                             .shape = {.at = m->origin + list->at.begin,
                                       .bytes = list->at.end - list->at.begin,
                                       .step = a->step,
                                       .unit = a->unit,
                                       .limit = list->at.limit < 1ull << 33 ? list->at.limit : 1ull << 33,
                                       .lead = list->at.lead},
                             .root = m->root,
                             .n = n_parts};
    for (unsigned p = 0; p < n_parts; p++) {
        j.own[p] = place_of(l, lists, a->list, list->at.begin, p);
        j.counter[p] = place_of(l, lists, a->counter, a->counter_offset, p);
    }
    return j;
}

cl_int gs_append_ready(struct gs_launching *l, struct gs_lists *lists, unsigned n_parts, struct gs_events *ready)
{
    const struct gs_kernel_summary *k = l->summary;
    cl_int err = CL_SUCCESS;
    for (uint32_t i = 0; i < k->n_appends && !err; i++) {
        const cl_event arrives = gs_ready_at(l->mems[k->appends[i].list]->root, 0);
        /* What home still fetches from where a part will append. */
        for (unsigned p = 1; p < n_parts && arrives && !err; p++)
            err = gs_events_share(&ready[p], arrives);
        if (!err && lists->v[i].spread)
            err = keep_counter(l, &k->appends[i], &lists->v[i], &ready[0]);
        const struct gs_list_join j = join_of(l, lists, i, n_parts);
        if (!err && gs_list_most(&j.shape))
            lists->v[i].job = gs_list_job_make(&j, &err);
    }
    return err;
}

cl_int gs_append_join(struct gs_launching *l, struct gs_lists *lists, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done, cl_event *counted)
{
    const struct gs_kernel_summary *k = l->summary;
    struct gs_events read = {0};
    cl_int err = gs_events_share(&read, ran[0]);
    for (uint32_t i = 0; i < k->n_appends && !err; i++) {
        struct gs_list_join j = join_of(l, lists, i, n_parts);
        struct gs_list_job *job = lists->v[i].job;
        j.ran = ran;
        j.done = done;
        j.read = &read;
        lists->v[i].job = NULL;
        err = job ? gs_list_job_begin(&j, job) : CL_SUCCESS;
    }
    cl_command_queue queue = err ? NULL : gs_queue_behind(l->cmd.q, GS_COPY_QUEUE, 0, &err);
    if (!err)
        err = gs_enqueue_marker(queue, read.n, read.v, counted);
    gs_events_free(&read);
    gs_command_flush(l->cmd.q);
    return err;
}

/* What place p has of the list stays what it has. */
static int keep_valid(const struct gs_launching *l, const struct gs_list *list, const struct gs_mem *m,
                      unsigned n_parts)
{
    const struct gs_range window = gs_window_range(m, 0, m->size);
    struct gs_rangeset valid[GS_MAX_DEVICES] = {0};
    int err = 0;
    for (unsigned p = 1; p < n_parts && !err; p++)
        if (list->takes[p])
            err = gs_rangeset_common(gs_valid_at(m->root, l->job.place[p]), window, &valid[p]);
    if (!err)
        err = gs_wrote_range(m->root, 0, window);
    for (unsigned p = 1; p < n_parts; p++) {
        if (!err)
            err = gs_also_valid(m->root, l->job.place[p], &valid[p]);
        gs_rangeset_free(&valid[p]);
    }
    return err;
}

int gs_append_record(const struct gs_launching *l, const struct gs_lists *lists, unsigned n_parts)
{
    const struct gs_kernel_summary *k = l->summary;
    int err = 0;
    for (uint32_t i = 0; i < k->n_appends && !err; i++)
        err = keep_valid(l, &lists->v[i], l->mems[k->appends[i].list], n_parts);
    return err;
}
