/* SPDX-License-Identifier: MIT */
/* The driver's functions: the real loader's, or the next table's if we are a layer (OPENCL_LAYERS). */
#ifndef GS_SHIM_DRIVER_REAL_H
#define GS_SHIM_DRIVER_REAL_H

/* clSetCommandQueueProperty and its like are still called by applications. */
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

extern struct _cl_icd_dispatch gs_real_table;
extern _Atomic bool gs_real_ready;

/* Each function's place in the table, and a core function's first version (12: 1.2), else 0. The last name is null. */
struct gs_real_function {
    const char *name;
    size_t offset;
    unsigned version;
};
extern const struct gs_real_function gs_real_functions[];

/* Finds and opens the real library, once. If there is none, all entries stay null, and one message says so. */
__attribute__((cold)) void gs_real_load(void);

/* The table. An entry is null if the library lacks the function. */
static inline const struct _cl_icd_dispatch *gs_real(void)
{
    if (!atomic_load_explicit(&gs_real_ready, memory_order_acquire))
        gs_real_load();
    return &gs_real_table;
}

/* Releases an object, if not null: GS_RELEASE(Event, event); */
#define GS_RELEASE(what, object)                                                                                       \
    do {                                                                                                               \
        if (object)                                                                                                    \
            gs_real()->clRelease##what(object);                                                                        \
    } while (0)

/* For a layer: `below` is the next table. False: a real library is open already. */
bool gs_real_use(const struct _cl_icd_dispatch *below, unsigned n_entries);

/* The real library's clGetExtensionFunctionAddress(ForPlatform); null platform: without one. */
void *gs_real_extension(cl_platform_id platform, const char *name);

/* The folder that this library lies in, or "". */
const char *gs_library_dir(void);

static inline void gs_set_error(cl_int *errcode_ret, cl_int err)
{
    if (errcode_ret)
        *errcode_ret = err;
}

/* Answers a query with a value, as the specification wants: param_value may be NULL, too small is CL_INVALID_VALUE. */
static inline cl_int gs_query_value(const void *value, size_t bytes, size_t space, void *param_value, size_t *size_ret)
{
    if (param_value && space < bytes)
        return CL_INVALID_VALUE;
    if (param_value && bytes)
        memcpy(param_value, value, bytes);
    if (size_ret)
        *size_ret = bytes;
    return CL_SUCCESS;
}

/* ---- driver.c: what a driver may be asked for ----
 *
 * A loader hands every call on, even if the device's driver lacks the function: Mesa's rusticl has null entries in its
 * table, at which a call crashes, and Oclgrind (OpenCL 1.2) has entries of 2.1 that call themselves. So gpusparc itself
 * calls only functions that are there by these tests; the application's calls are handed on as they are. */

/* An address in the library of the platform's driver; in the loader's, if the table isn't the driver's. */
void *gs_driver_address(cl_platform_id platform);

/* Do the versions of device and platform promise this core function, and is it in the table? False for extensions. */
bool gs_driver_has(cl_device_id dev, const char *function);

/* The driver's text about a device, malloc'd; NULL: none. */
char *gs_device_text(cl_device_id dev, cl_device_info what);

/* Does the device name this extension? */
bool gs_driver_extends(cl_device_id dev, const char *extension);

/* Have platform and devices OpenCL 1.2 or newer, with all functions that gpusparc calls? If not, `why` says so. */
bool gs_driver_usable(cl_platform_id platform, char *why, size_t why_bytes);

#endif
