/* SPDX-License-Identifier: MIT */
#ifndef GS_SHIM_RECORD_OWN_PROGRAM_H
#define GS_SHIM_RECORD_OWN_PROGRAM_H

#include "shim/record/objects.h"

/* A program of ours, of these texts, for one place of the context; the application hears nothing of its compilation.
 * NULL: *err says why. */
cl_program gs_build_own(struct gs_context *ctx, unsigned place, cl_uint n_texts, const char **texts,
                        const char *options, cl_int *err);

#endif
