/* SPDX-License-Identifier: MIT */
/* PoCL (3.1, 6.0) lets go of a sampler as soon as the application does, though launches with it have yet to run or to
 * come; and in parts they run later than plain, behind what is brought to them. They get one like it, which lives as
 * long as the context. With the context's lock held, but for gs_samplers_note. */
#ifndef GS_SHIM_SUBKERNEL_SAMPLERS_H
#define GS_SHIM_SUBKERNEL_SAMPLERS_H

#include "shim/record/objects.h"

/* The application has made it: of what kind it is has to be known before it is let go of. */
void gs_samplers_note(cl_context context, cl_sampler sampler);
/* The one for a launch. Of any other driver, and where the kind isn't known: the application's own. */
cl_sampler gs_samplers_lasting(const struct gs_context *ctx, cl_sampler own);
void gs_samplers_free(struct gs_samplers *s);

#endif
