/* SPDX-License-Identifier: MIT */
#include "shim/output/exchange.h"

#include <stdlib.h>

#include "shim/schedule/put.h"
#include "shim/report/report.h"

cl_int gs_giver_give_back(struct gs_giver *g, struct gs_command *cmd, unsigned taker)
{
    cl_event all = NULL;
    cl_int err = CL_SUCCESS;
    if (g->taken.n > 1) {
        cl_command_queue queue = gs_copy_queue(cmd->q, taker, &err);
        if (!err)
            err = gs_real()->clEnqueueMarkerWithWaitList(queue, g->taken.n, g->taken.v, &all);
    }
    if (all || g->taken.n || g->left.n)
        gs_exchange_buffer_give(&g->place, all ? all : g->taken.n ? g->taken.v[0] : g->left.v[0]);
    if (all)
        gs_real()->clReleaseEvent(all);
    gs_events_free(&g->left);
    gs_events_free(&g->taken);
    return err;
}

struct count {
    uint64_t scale, more;
    unsigned n;
    cl_uint word[GS_MAX_DEVICES];
};

static void CL_CALLBACK report_count(cl_event event, cl_int status, void *data)
{
    struct count *c = data;
    const cl_uint first = c->n > 1 ? c->word[0] : 0;
    if (status == CL_COMPLETE)
        gs_report_moved(GS_PATH_MERGE, (uint64_t)(c->word[c->n - 1] - first) * c->scale + c->more);
    gs_real()->clReleaseEvent(event);
    free(c);
}

cl_int gs_count_exchanged(cl_command_queue queue, cl_mem mem, uint64_t at, unsigned n, uint64_t scale, uint64_t more,
                          struct gs_events *done)
{
    cl_event event;
    struct count *c = calloc(1, sizeof *c);
    if (!c)
        return CL_OUT_OF_HOST_MEMORY;
    *c = (struct count){.scale = scale, .more = more, .n = n};
    const struct gs_op read = {
        .kind = GS_OP_READ, .src = mem, .from = {(size_t)at}, .region = {n * sizeof(cl_uint), 1, 1}, .ptr = c->word};
    cl_int err = gs_put(queue, &read, GS_VIA_HOST, 0, NULL, &event);
    if (err) {
        free(c);
        return err;
    }
    err = gs_events_share(done, event);
    /* The callback has the event and the memory from here on. */
    if (gs_real()->clSetEventCallback(event, CL_COMPLETE, report_count, c) == CL_SUCCESS)
        return err;
    gs_real()->clWaitForEvents(1, &event);
    report_count(event, CL_COMPLETE, c);
    return err;
}
