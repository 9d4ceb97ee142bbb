/* SPDX-License-Identifier: MIT */
#include "shim/transfer/meeting.h"

#include "shim/scratch.h"
#include "shim/transfer/peer.h"
#include "shim/transfer/transfer.h"

bool gs_meeting_possible(struct gs_command *cmd, uint64_t bytes)
{
    if (cmd->ctx->shared_memory)
        return gs_settings()->transfer != GS_TRANSFER_PINNED;
    return gs_transfer_by_window(cmd, bytes);
}

cl_int gs_meeting_open(struct gs_command *cmd, unsigned from, uint64_t bytes, struct gs_meeting *m)
{
    cl_int err = CL_SUCCESS;
    *m = (struct gs_meeting){.ctx = cmd->ctx, .from = from, .window = !cmd->ctx->shared_memory};
    cl_mem common = m->window ? NULL : gs_scratch_take(cmd->ctx, from, bytes, &err);
    for (unsigned to = 0; to < cmd->ctx->n; to++)
        m->taken[to] = m->window ? gs_peer_window(cmd->ctx, from, to) : common;
    m->left = m->taken[from];
    return err;
}

cl_int gs_meeting_take(struct gs_meeting *m, struct gs_events *wait)
{
    if (m->window)
        return gs_peer_slot_take(m->ctx, m->from, &m->slot, &m->at, wait);
    return m->last ? gs_events_share(wait, m->last) : CL_SUCCESS;
}

void gs_meeting_give(struct gs_meeting *m, cl_event event)
{
    if (m->window) {
        gs_peer_slot_give(m->ctx, m->from, m->slot, event);
        return;
    }
    gs_meeting_close(m);
    m->last = gs_real()->clRetainEvent(event) == CL_SUCCESS ? event : NULL;
}

void gs_meeting_close(struct gs_meeting *m)
{
    if (m->last)
        gs_real()->clReleaseEvent(m->last);
    m->last = NULL;
}
