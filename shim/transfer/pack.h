/* SPDX-License-Identifier: MIT */
/* Several pieces of a buffer that travel by a window together: a kernel on the source packs the pieces into a slot, and
 * one on the target unpacks them. Two commands do what else takes two for each piece: in a lattice with an array for
 * each direction 10 pieces cross a plane in each launch (FluidX3D). */
#ifndef GS_SHIM_TRANSFER_PACK_H
#define GS_SHIM_TRANSFER_PACK_H

#include "shim/transfer/sends.h"

/* Larger pieces travel alone: for them the number of commands hardly counts. */
enum { GS_PACK_PIECES = 24, GS_PACK_PIECE_BYTES = 2 * 1024 * 1024 };

/* How many passages by a window carry so many bytes of a buffer in so many pieces to one place. */
static inline uint64_t gs_pack_count(uint64_t bytes, uint64_t pieces)
{
    return bytes > pieces * GS_PACK_PIECE_BYTES ? pieces : (pieces + GS_PACK_PIECES - 1) / GS_PACK_PIECES;
}

/* The kernel's argument, by piece: in the buffer begin, bytes of a row, bytes from row to row, and bytes in all; `at`:
 * where the piece begins in the slot, at a multiple of 16. */
struct gs_pack {
    cl_ulong begin[GS_PACK_PIECES], width[GS_PACK_PIECES], pitch[GS_PACK_PIECES], bytes[GS_PACK_PIECES],
        at[GS_PACK_PIECES];
};

/* The pack kernel for n devices of a context, built by a thread of ours; null: the devices have no use for it. */
cl_kernel gs_pack_kernel(cl_context ctx, const cl_device_id *dev, cl_uint n);

/* One command: packs pieces of `mem` into the slot at byte `slot` of a window, or unpacks them (`arrives`). */
struct gs_pack_step {
    cl_kernel kernel;
    const struct gs_pack *pack;
    cl_uint n;
    cl_mem mem, window;
    cl_ulong slot;
    cl_uint arrives;
};
cl_int gs_pack_put(const struct gs_pack_step *step, cl_command_queue queue, const struct gs_events *after,
                   cl_event *end);

#endif
