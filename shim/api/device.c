/* SPDX-License-Identifier: MIT */
/* Specification, chapter 4: the platform layer. The application sees one device of the group. */
#include <errno.h>

#include "common/log.h"
#include "shim/pooled/pooled.h"

enum { MAX_LISTED = 256 };

/* Has a part of the CPU been given to an application that asked for a GPU? Then the part says GPU. To other
 * applications it says CPU: some look up the type in a table, and no table has both bits at once (ViennaCL's). */
static struct {
    atomic_bool taken_for; /* it has been */
    atomic_bool said;      /* that there is none */
} gpus;

/* The platform's devices as the application may see them: the group's first device, and devices of other kinds. */
static cl_uint visible_devices(cl_device_type type, cl_device_id *out, cl_uint most)
{
    const struct gs_group *g = gs_group();
    cl_device_id all[MAX_LISTED];
    cl_uint n = 0, count = 0;
    const cl_device_type answers_to = g->type | CL_DEVICE_TYPE_DEFAULT | (g->sub_devices ? CL_DEVICE_TYPE_GPU : 0);
    if (type & answers_to && count < most)
        out[count++] = g->dev[0];
    if (gs_real()->clGetDeviceIDs(g->platform, type & ~(cl_device_type)CL_DEVICE_TYPE_DEFAULT, MAX_LISTED, all, &n) !=
        CL_SUCCESS)
        return count;
    for (cl_uint i = 0; i < n && i < MAX_LISTED && count < most; i++) {
        cl_device_type kind = 0;
        gs_real()->clGetDeviceInfo(all[i], CL_DEVICE_TYPE, sizeof kind, &kind, NULL);
        if (!(kind & g->type))
            out[count++] = all[i];
    }
    return count;
}

/* The application asks for nothing but a GPU, there is none, and nobody has said of which devices it gets parts. */
static void say_no_gpu(cl_device_type asked)
{
    if (asked == CL_DEVICE_TYPE_GPU && gs_group()->reason && !atomic_exchange(&gpus.said, true))
        gs_warn("%s asks for a GPU, and there is none: --devices cpu:2 shows it parts of the CPU as GPUs",
                program_invocation_short_name);
}

/* Says so the first time, if nobody has said of which devices the application gets parts. */
static void note_taken_for_gpu(const struct gs_group *g)
{
    cl_uint count = 0;
    const bool first = !atomic_exchange(&gpus.taken_for, true);
    if (first && g->unasked &&
        gs_real()->clGetDeviceIDs(g->platform, CL_DEVICE_TYPE_GPU, 0, NULL, &count) != CL_SUCCESS)
        gs_warn("there is no GPU: a part of the CPU passes for one, as %s asks for a GPU",
                program_invocation_short_name);
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries,
                                               cl_device_id *devices, cl_uint *num_devices)
{
    if (!gs_real()->clGetDeviceIDs)
        return CL_INVALID_PLATFORM;
    const struct gs_group *g = gs_group();
    if (!g->platform || platform != g->platform || gs_forked() || (!num_entries && devices) ||
        (!devices && !num_devices))
        return gs_real()->clGetDeviceIDs(platform, device_type, num_entries, devices, num_devices);
    cl_device_id list[MAX_LISTED];
    const cl_uint n = visible_devices(device_type, list, MAX_LISTED);
    if (!n) {
        say_no_gpu(device_type);
        return gs_real()->clGetDeviceIDs(platform, device_type, num_entries, devices, num_devices) ==
                       CL_INVALID_DEVICE_TYPE
                   ? CL_INVALID_DEVICE_TYPE
                   : CL_DEVICE_NOT_FOUND;
    }
    if (devices && g->sub_devices && device_type & CL_DEVICE_TYPE_GPU &&
        !(device_type & (g->type | CL_DEVICE_TYPE_DEFAULT)))
        note_taken_for_gpu(g);
    if (num_devices)
        *num_devices = n;
    for (cl_uint i = 0; devices && i < n && i < num_entries; i++)
        devices[i] = list[i];
    return CL_SUCCESS;
}

/* Applications keep the binaries of their programs under the names of device and driver (pyopencl, OpenCV, hashcat,
 * darktable). A binary made without gpusparc can't be split, so the application must look under another name. */
static cl_int driver_version(cl_device_id device, size_t space, void *param_value, size_t *size_ret)
{
    enum { MOST = 512 };
    static const char suffix[] = " gpusparc";
    char text[MOST];
    cl_int err = gs_real()->clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof text - sizeof suffix, text, NULL);
    if (err)
        return gs_real()->clGetDeviceInfo(device, CL_DRIVER_VERSION, space, param_value, size_ret);
    text[sizeof text - sizeof suffix] = '\0';
    strcat(text, suffix);
    return gs_query_value(text, strlen(text) + 1, space, param_value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info param_name, size_t param_value_size,
                                                void *param_value, size_t *param_value_size_ret)
{
    const struct gs_group *g = gs_group();
    const bool first = g->platform && device == g->dev[0];
    const cl_int err = first && gs_settings()->pooled
                           ? gs_pool_device_info(param_name, param_value_size, param_value, param_value_size_ret)
                           : GS_POOL_ASK;
    if (err != GS_POOL_ASK)
        return err;
    if (first && g->n > 1 && param_name == CL_DRIVER_VERSION && gs_settings()->mode != GS_MODE_SINGLE)
        return driver_version(device, param_value_size, param_value, param_value_size_ret);
    if (first && g->sub_devices) {
        /* A part of a CPU device that passes for a whole device. */
        const cl_device_id no_parent = NULL;
        const cl_uint one = 1;
        const cl_device_type type = atomic_load(&gpus.taken_for) ? CL_DEVICE_TYPE_GPU : g->type;
        if (param_name == CL_DEVICE_TYPE)
            return gs_query_value(&type, sizeof type, param_value_size, param_value, param_value_size_ret);
        if (param_name == CL_DEVICE_PARENT_DEVICE)
            return gs_query_value(&no_parent, sizeof no_parent, param_value_size, param_value, param_value_size_ret);
        if (param_name == CL_DEVICE_PARTITION_TYPE && g->parent)
            return gs_real()->clGetDeviceInfo(g->parent, param_name, param_value_size, param_value,
                                              param_value_size_ret);
        if (param_name == CL_DEVICE_REFERENCE_COUNT)
            return gs_query_value(&one, sizeof one, param_value_size, param_value, param_value_size_ret);
    }
    return gs_real()->clGetDeviceInfo
               ? gs_real()->clGetDeviceInfo(device, param_name, param_value_size, param_value, param_value_size_ret)
               : CL_INVALID_DEVICE;
}

/* A root device's reference count doesn't change; ours may be a part of one in disguise. */
static bool is_group_device(cl_device_id device)
{
    const struct gs_group *g = gs_group();
    return g->platform && g->sub_devices && device == g->dev[0];
}

CL_API_ENTRY cl_int CL_API_CALL clRetainDevice(cl_device_id device)
{
    return is_group_device(device) ? CL_SUCCESS : gs_real()->clRetainDevice(device);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseDevice(cl_device_id device)
{
    return is_group_device(device) ? CL_SUCCESS : gs_real()->clReleaseDevice(device);
}
