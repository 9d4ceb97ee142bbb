/* SPDX-License-Identifier: MIT */
#include "shim/subkernel/samplers.h"

#include <stdlib.h>

#include "common/lock/locked.h"
#include "common/memory.h"
#include "shim/devices/group.h"

/* Kinds: by coordinates, addresses, filter. */
enum { ADDRESSES = 5, FILTERS = 2, KINDS = 2 * ADDRESSES * FILTERS, UNKNOWN = KINDS };

/* One that the application has made, and perhaps let go of since. */
struct known {
    cl_sampler handle;
    unsigned kind;
};

struct gs_samplers {
    cl_sampler like[KINDS]; /* made on first need */
    struct known *known;
    size_t n, cap;
};

static unsigned kind_of(cl_sampler sampler)
{
    cl_bool normalized;
    cl_addressing_mode addresses;
    cl_filter_mode filter;
    const struct _cl_icd_dispatch *real = gs_real();
    if (real->clGetSamplerInfo(sampler, CL_SAMPLER_NORMALIZED_COORDS, sizeof normalized, &normalized, NULL) ||
        real->clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof addresses, &addresses, NULL) ||
        real->clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, NULL))
        return UNKNOWN;
    const unsigned by_address = addresses - (unsigned)CL_ADDRESS_NONE, by_filter = filter - (unsigned)CL_FILTER_NEAREST;
    if (by_address >= ADDRESSES || by_filter >= FILTERS)
        return UNKNOWN;
    return ((normalized ? ADDRESSES : 0) + by_address) * FILTERS + by_filter;
}

/* NULL: it isn't known. */
static struct known *find(const struct gs_samplers *s, cl_sampler handle)
{
    size_t i = 0;
    while (s && i < s->n && s->known[i].handle != handle)
        i++;
    return s && i < s->n ? &s->known[i] : NULL;
}

/* Without memory it isn't known. */
static void add(struct gs_samplers *s, struct known k)
{
    struct known *v = gs_grown(s->known, s->n, &s->cap, sizeof *v);
    if (!v)
        return;
    s->known = v;
    s->known[s->n++] = k;
}

void gs_samplers_note(cl_context context, cl_sampler sampler)
{
    struct gs_context *ctx = gs_group()->pocl ? gs_find(GS_CONTEXT, context) : NULL;
    if (!ctx)
        return;
    const struct known made = {sampler, kind_of(sampler)};
    GS_LOCKED(&ctx->lock);
    struct known *had = find(ctx->samplers, sampler); /* another sampler's handle before */
    if (had)
        *had = made;
    else if (ctx->samplers || (ctx->samplers = calloc(1, sizeof *ctx->samplers)))
        add(ctx->samplers, made);
}

cl_sampler gs_samplers_lasting(const struct gs_context *ctx, cl_sampler own)
{
    const struct known *k = find(ctx->samplers, own);
    if (!k || k->kind == UNKNOWN || !gs_real()->clCreateSampler)
        return own;
    cl_sampler *like = &ctx->samplers->like[k->kind];
    cl_int err;
    if (!*like)
        *like = gs_real()->clCreateSampler(ctx->o.handle, k->kind / (ADDRESSES * FILTERS),
                                           CL_ADDRESS_NONE + k->kind / FILTERS % ADDRESSES,
                                           CL_FILTER_NEAREST + k->kind % FILTERS, &err);
    return *like ? *like : own;
}

void gs_samplers_free(struct gs_samplers *s)
{
    for (unsigned i = 0; s && i < KINDS; i++)
        if (s->like[i])
            gs_real()->clReleaseSampler(s->like[i]);
    if (s)
        free(s->known);
    free(s);
}
