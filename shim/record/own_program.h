/* SPDX-License-Identifier: MIT */
#ifndef GS_SHIM_RECORD_OWN_PROGRAM_H
#define GS_SHIM_RECORD_OWN_PROGRAM_H

#include "shim/record/objects.h"

/* A program of ours for one place of the context; the application hears nothing of its compilation. NULL: *err says
 * why. With PoCL (3.1), which confuses the forms of one kernel where several devices run it at once, each place's is
 * another by its last line (see shim/plan/prepare.c); other drivers take the second from their caches. */
cl_program gs_build_own(struct gs_context *ctx, unsigned place, const char *text, const char *options, cl_int *err);

#endif
