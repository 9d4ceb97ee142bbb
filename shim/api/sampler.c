/* SPDX-License-Identifier: MIT */
/* Specification, section 5.7: samplers. PoCL frees a sampler with the application's last reference, although launches
 * have yet to use it (docs/drivers.md), and pooled launches are enqueued later: the last released samplers are kept. */
#include "shim/api/api.h"

/* Keeps the application's last reference. The one to be released instead; null: none has to go. */
static cl_sampler keep(struct gs_context *ctx, cl_sampler sampler)
{
    GS_LOCKED(&ctx->lock);
    struct gs_kept *k = ctx->kept;
    cl_sampler *place = &k->sampler[k->oldest++ % (sizeof k->sampler / sizeof *k->sampler)], old = *place;
    *place = sampler;
    return old;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler)
{
    cl_uint references = 0;
    cl_context context = NULL;
    if ((gs_group()->pocl || gs_settings()->pooled) &&
        !gs_real()->clGetSamplerInfo(sampler, CL_SAMPLER_REFERENCE_COUNT, sizeof references, &references, NULL))
        gs_real()->clGetSamplerInfo(sampler, CL_SAMPLER_CONTEXT, sizeof context, &context, NULL);
    struct gs_context *ctx = references == 1 ? gs_find(GS_CONTEXT, context) : NULL;
    if (ctx)
        sampler = keep(ctx, sampler);
    return ctx && !sampler ? CL_SUCCESS : gs_real()->clReleaseSampler(sampler);
}
