/* SPDX-License-Identifier: MIT */
/* What a program's binary was built from. Applications keep binaries to build their programs from the next time
 * (pyopencl, OpenCV); a binary that came from a source under gpusparc leads back to it, through the cache on disk, so
 * that its kernels can be split. One of a program that was linked doesn't. */
#ifndef GS_SHIM_PLAN_BINARIES_H
#define GS_SHIM_PLAN_BINARIES_H

#include "shim/record/objects.h"

/* The application was given this binary of the program. Takes the program's lock; translates it where it includes
 * headers, since those may change before the binary is used. */
void gs_binary_keep(struct gs_program *p, const void *binary, size_t bytes);

/* The driver's binary of the program for the context's first device, with a 0 behind it, owned by the caller, and how
 * many bytes it has; binary: may be null. The driver's error, CL_INVALID_VALUE where the program isn't for that device,
 * or CL_OUT_OF_HOST_MEMORY. */
cl_int gs_binary_read(const struct gs_context *ctx, cl_program program, unsigned char **binary, size_t *bytes);

/* A program was made from this binary: where its source is known p->source, p->options and p->headers are set. */
bool gs_binary_find(struct gs_program *p, const void *binary, size_t bytes);

#endif
