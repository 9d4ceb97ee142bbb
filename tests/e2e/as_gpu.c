/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver whose devices are GPUs, by what they say: there ends are looked for instead
 * of called back, and who is connected alone has larger units. */
#include "layer.h"

static struct _cl_icd_dispatch below, own;

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info param, size_t size, void *value,
                                      size_t *size_ret)
{
    const cl_int err = below.clGetDeviceInfo(device, param, size, value, size_ret);
    if (!err && param == CL_DEVICE_TYPE && value)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return err;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    const cl_int err = layer_begin(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret, &below, &own);
    own.clGetDeviceInfo = device_info;
    return err;
}
