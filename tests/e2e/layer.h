/* SPDX-License-Identifier: MIT */
/* What a layer of the ICD loader has to say and do at its start (cl_layer.h), for those below gpusparc in these tests.
 * A layer includes this in one file and has a layer_start. */
#ifndef GS_TESTS_LAYER_H
#define GS_TESTS_LAYER_H

#include <string.h>

#include "opencl.h"

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (param_name != CL_LAYER_API_VERSION || (param_value && param_value_size < sizeof version))
        return CL_INVALID_VALUE;
    if (param_value)
        memcpy(param_value, &version, sizeof version);
    if (param_value_size_ret)
        *param_value_size_ret = sizeof version;
    return CL_SUCCESS;
}

/* The functions below this layer, and the layer's table, which begins as those: layer_start puts its own in. */
static struct _cl_icd_dispatch below, layer;
static void layer_start(void);

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    const cl_uint most = sizeof layer / sizeof(void *), n = num_entries < most ? num_entries : most;
    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret)
        return CL_INVALID_VALUE;
    memcpy(&below, target_dispatch, n * sizeof(void *));
    layer = below;
    *num_entries_ret = n;
    *layer_dispatch_ret = &layer;
    layer_start();
    return CL_SUCCESS;
}

#endif
