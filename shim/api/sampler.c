/* SPDX-License-Identifier: MIT */
/* Specification, section 5.7: samplers. PoCL lets go of a sampler as soon as the application does, and a kernel
 * may still have it as an argument: the sampler's kind has to be known before. */
#include "shim/api/api.h"
#include "shim/subkernel/samplers.h"

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized_coords,
                                                    cl_addressing_mode addressing_mode, cl_filter_mode filter_mode,
                                                    cl_int *errcode_ret)
{
    cl_sampler sampler =
        gs_real()->clCreateSampler(context, normalized_coords, addressing_mode, filter_mode, errcode_ret);
    if (sampler)
        gs_samplers_note(context, sampler);
    return sampler;
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context,
                                                                  const cl_sampler_properties *sampler_properties,
                                                                  cl_int *errcode_ret)
{
    if (!gs_real()->clCreateSamplerWithProperties)
        return gs_refuse(errcode_ret, CL_INVALID_OPERATION);
    cl_sampler sampler = gs_real()->clCreateSamplerWithProperties(context, sampler_properties, errcode_ret);
    if (sampler)
        gs_samplers_note(context, sampler);
    return sampler;
}
