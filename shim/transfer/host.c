/* SPDX-License-Identifier: MIT */
#include "shim/transfer/host.h"

#include "shim/coherence.h"

cl_int gs_host_read(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, void *ptr, struct gs_events *done,
                    unsigned device[], unsigned most)
{
    cl_int err = gs_command_order(cmd);
    gs_settle(root);
    if (!err)
        err = gs_sound(root, r);
    for (uint64_t at = r.begin; at < r.end && !err;) {
        uint64_t end;
        const unsigned place = gs_holder(root, (struct gs_range){at, r.end}, &end);
        cl_event event;
        struct gs_events wait = {0};
        cl_command_queue queue = gs_copy_queue(cmd->q, place, &err);
        if (!err)
            err = gs_ready_events(cmd, root, place, root, place, &wait);
        if (!err)
            err = gs_real()->clEnqueueReadBuffer(queue, root->place[place].mem, CL_FALSE, at, end - at,
                                                 (char *)ptr + (at - r.begin), wait.n, wait.n ? wait.v : NULL, &event);
        gs_events_free(&wait);
        if (!err && done->n < most)
            device[done->n] = place;
        if (!err)
            err = gs_events_add(done, event);
        at = end;
    }
    return err;
}
