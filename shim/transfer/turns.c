/* SPDX-License-Identifier: MIT */
#include "shim/transfer/turns.h"

#include "shim/client.h"

/* One piece of the process at a time. PoCL lets a command wait for others that work on the same buffer, in whatever
 * queue; what such a one needs may be a unit of the link, which two pieces that wait for it would have taken. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static cl_int piece(const struct gs_turns *t, size_t at, size_t bytes, cl_uint n_wait, const cl_event *wait,
                    cl_event *event)
{
    char *ptr = (char *)t->ptr + at;
    if (t->write)
        return gs_real()->clEnqueueWriteBuffer(t->queue, t->mem, CL_TRUE, t->offset + at, bytes, ptr, n_wait, wait,
                                               event);
    return gs_real()->clEnqueueReadBuffer(t->queue, t->mem, CL_TRUE, t->offset + at, bytes, ptr, n_wait, wait, event);
}

cl_int gs_take_turns(const struct gs_turns *t, cl_event before, cl_uint n_wait, const cl_event *wait,
                     struct gs_events *ended)
{
    const size_t most = t->chunk && t->chunk < t->bytes ? (size_t)t->chunk : t->bytes;
    cl_int err = CL_SUCCESS;
    if (before) {
        gs_real()->clWaitForEvents(1, &before); /* should it have failed, the driver says so of the first piece */
        gs_real()->clReleaseEvent(before);
    }
    for (size_t at = 0; at < t->bytes && !err; at += most) {
        const size_t bytes = t->bytes - at < most ? t->bytes - at : most;
        const bool outer = ended && (at == 0 || at + bytes == t->bytes);
        struct gs_grant grant;
        cl_event event;
        pthread_mutex_lock(&turn);
        gs_unit_take(GS_RESOURCE_PCI, &grant);
        err = piece(t, at, bytes, at ? 0 : n_wait, at ? NULL : wait, outer ? &event : NULL);
        gs_unit_give(&grant);
        pthread_mutex_unlock(&turn);
        if (!err && outer)
            err = gs_events_add(ended, event);
    }
    return err;
}
