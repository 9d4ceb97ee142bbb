/* SPDX-License-Identifier: MIT */
/* Kernels of ours, by which bytes are packed, and the results of parts brought together. They are one program. */
#ifndef GS_SHIM_RECORD_OWN_KERNELS_H
#define GS_SHIM_RECORD_OWN_KERNELS_H

#include "shim/record/objects.h"

enum gs_own_kernel {
    GS_OWN_ROWS,       /* rows of bytes from one buffer to another: shim/transfer/strided.h */
    GS_OWN_MERGE,      /* the bytes of a part that differ from those before it: shim/output/merge.h */
    GS_OWN_REDUCE_I32, /* what parts left combined, in the order of enum gs_atomic_type: shim/output/reduce.h */
    GS_OWN_REDUCE_U32,
    GS_OWN_REDUCE_I64,
    GS_OWN_REDUCE_U64,
    GS_OWN_REDUCE_F32,
    GS_OWN_REDUCE_F64, /* none where the device lacks double: no kernel of it asks */
    GS_OWN_KERNELS
};

/* The kernel object for a place of the context, made on first need; the application hears nothing of a compilation. The
 * context's lock is held, also while the object is used. NULL: *err says why. */
cl_kernel gs_own_kernel(struct gs_context *ctx, unsigned place, enum gs_own_kernel which, cl_int *err);
/* One that gs_own_kernel has made. */
cl_kernel gs_own_made(const struct gs_context *ctx, unsigned place, enum gs_own_kernel which);
/* Compiles the program beforehand, by a thread of ours that is inside the driver: in the launch that needs it first it
 * took 58 to 157 ms on an H100, of 84 ms that Rodinia's pathfinder computes. Without a context's lock. */
void gs_own_compile(struct gs_context *ctx);
void gs_own_free(struct gs_own_kernels *own);

#endif
