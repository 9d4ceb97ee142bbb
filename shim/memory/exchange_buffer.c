/* SPDX-License-Identifier: MIT */
#include "shim/memory/exchange_buffer.h"

#include "shim/memory/scratch.h"
#include "shim/memory/peer.h"
#include "shim/memory/transfer.h"
#include "shim/memory/windows.h"

_Static_assert((int)GS_EXCHANGE_BUFFER_BYTES == (int)GS_PEER_SLOT_BYTES, "a meeting place is a slot");

bool gs_exchange_buffer_possible(struct gs_command *cmd, uint64_t bytes)
{
    if (cmd->ctx->shared_memory)
        return gs_settings()->transfer != GS_TRANSFER_PINNED;
    return gs_transfer_by_window(cmd, bytes);
}

cl_int gs_exchange_buffer_reserve(struct gs_command *cmd, unsigned from, uint64_t bytes, unsigned n,
                                  struct gs_events *ready)
{
    return cmd->ctx->shared_memory ? gs_scratch_reserve(cmd, from, bytes, n, ready) : CL_SUCCESS;
}

cl_int gs_exchange_buffer_open(struct gs_command *cmd, unsigned from, uint64_t bytes, struct gs_exchange_buffer *m)
{
    cl_int err = CL_SUCCESS;
    *m = (struct gs_exchange_buffer){.ctx = cmd->ctx, .from = from, .window = !cmd->ctx->shared_memory};
    m->end = m->window ? GS_WINDOW_MAX_BYTES : bytes;
    cl_mem common = m->window ? NULL : gs_scratch_claim(cmd->ctx, from, bytes, &err);
    for (unsigned to = 0; to < cmd->ctx->n; to++)
        m->taken[to] = m->window ? gs_peer_window(cmd->ctx, from, to) : common;
    m->left = m->taken[from];
    return err;
}

cl_int gs_exchange_buffer_take(struct gs_exchange_buffer *m, uint64_t bytes, struct gs_events *wait)
{
    cl_int err = CL_SUCCESS;
    if (!m->window)
        return m->last ? gs_events_share(wait, m->last) : CL_SUCCESS;
    m->n_slots = (unsigned)((bytes + GS_PEER_SLOT_BYTES - 1) / GS_PEER_SLOT_BYTES);
    for (unsigned i = 0, slot; i < m->n_slots && !err; i++) { /* they come in order */
        err = gs_ring_take(gs_peer_ring(m->ctx, m->from), &slot, wait);
        m->slot = i ? m->slot : slot;
    }
    m->at = (uint64_t)m->slot * GS_PEER_SLOT_BYTES;
    return err;
}

void gs_exchange_buffer_give(struct gs_exchange_buffer *m, cl_event event)
{
    if (m->window) {
        for (unsigned i = 0; i < m->n_slots; i++)
            gs_ring_give(gs_peer_ring(m->ctx, m->from), (m->slot + i) % GS_RING_SLOTS, event);
        return;
    }
    gs_exchange_buffer_close(m);
    m->last = gs_real()->clRetainEvent(event) == CL_SUCCESS ? event : NULL;
}

void gs_exchange_buffer_close(struct gs_exchange_buffer *m)
{
    if (m->last)
        gs_real()->clReleaseEvent(m->last);
    m->last = NULL;
}
