/* SPDX-License-Identifier: MIT */
/* All of OpenCL, for the layers below gpusparc: deprecated functions too. And how they answer a query. */
#ifndef GS_TESTS_OPENCL_H
#define GS_TESTS_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>
#include <string.h>

/* What clGet…Info does with a value of so many bytes. */
static inline cl_int answer(const void *value, size_t bytes, size_t room, void *out, size_t *bytes_ret)
{
    if (bytes_ret)
        *bytes_ret = bytes;
    if (out && room < bytes)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, bytes);
    return CL_SUCCESS;
}

#endif
