/* SPDX-License-Identifier: MIT */
/* Several pieces of a buffer that travel by a window together: a kernel on the source packs the pieces into a slot, and
 * one on the target unpacks them. Two commands do what else takes two for each piece: in a lattice with an array for
 * each direction 10 pieces cross a plane in each launch (FluidX3D). */
#ifndef GS_SHIM_TRANSFER_PACK_H
#define GS_SHIM_TRANSFER_PACK_H

#include "shim/put/put.h"
#include "shim/report/report.h"
#include "shim/transfer/rounds.h"

/* Larger pieces travel alone: for them the number of commands hardly counts. */
enum { GS_PACK_PIECES = 24, GS_PACK_PIECE_BYTES = 2 * 1024 * 1024 };

/* How many passages by a window carry so many bytes of a buffer in so many pieces to one place. */
static inline uint64_t gs_pack_count(uint64_t bytes, uint64_t pieces)
{
    return bytes > pieces * GS_PACK_PIECE_BYTES ? pieces : (pieces + GS_PACK_PIECES - 1) / GS_PACK_PIECES;
}

/* What a piece takes of a slot. */
static inline uint64_t gs_pack_bytes(const struct gs_send *send)
{
    return (gs_rect_bytes(&send->rect) + 15) & ~(uint64_t)15;
}

/* The pack kernel for n devices of a context, built by a thread of ours; null: the devices have no use for it. */
cl_kernel gs_pack_kernel(cl_context ctx, const cl_device_id *dev, cl_uint n);

/* One command: packs a send and those that go with it into a slot of a window, or unpacks them (`arrives`). */
struct gs_pack_step {
    cl_kernel kernel;
    const struct gs_send *send;
    const struct gs_slot *slot;
    bool arrives;
};
cl_int gs_pack_put(const struct gs_pack_step *step, cl_command_queue queue, const struct gs_events *after,
                   cl_event *end);

#endif
