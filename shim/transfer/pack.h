/* SPDX-License-Identifier: MIT */
/* Several pieces of a buffer that go by a window together: a kernel on the source lays them side by side in a slot, and
 * one on the target puts each where it belongs. Two commands carry what else takes two for each piece: of a lattice
 * with an array for each direction 10 pieces cross a plane in each launch (FluidX3D). */
#ifndef GS_SHIM_TRANSFER_PACK_H
#define GS_SHIM_TRANSFER_PACK_H

#include "shim/transfer/sends.h"

/* Of more bytes each piece goes by itself: then the commands' number is the least of it. */
enum { GS_PACK_PIECES = 24, GS_PACK_PIECE_BYTES = 2 * 1024 * 1024 };

/* So many bytes of a buffer in so many pieces, to one place: how many ways that are. */
static inline uint64_t gs_pack_count(uint64_t bytes, uint64_t pieces)
{
    return bytes > pieces * GS_PACK_PIECE_BYTES ? pieces : (pieces + GS_PACK_PIECES - 1) / GS_PACK_PIECES;
}

/* The kernel's argument: bytes, in the buffer, and in the slot where each piece begins, at a multiple of 16. */
struct gs_pack {
    cl_ulong begin[GS_PACK_PIECES], width[GS_PACK_PIECES], pitch[GS_PACK_PIECES], bytes[GS_PACK_PIECES],
        at[GS_PACK_PIECES];
};

/* The kernel for n devices of a context, by a thread of ours; null: these have no use of it. */
cl_kernel gs_pack_kernel(cl_context ctx, const cl_device_id *dev, cl_uint n);

/* One command: pieces of `mem` to the slot at this byte of a window, or from there (`arrives`). */
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
