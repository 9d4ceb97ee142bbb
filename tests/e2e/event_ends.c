/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that calls the program's `has_released` right after each release of an event,
 * when its handle may be another event's already. */
#include <dlfcn.h>

#include "layer.h"

static struct _cl_icd_dispatch below, own;

static cl_int CL_API_CALL release_event(cl_event event)
{
    void (*has_released)(cl_event) = NULL;
    const cl_int err = below.clReleaseEvent(event);
    *(void **)&has_released = dlsym(RTLD_DEFAULT, "has_released");
    if (has_released)
        has_released(event);
    return err;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    const cl_int err = layer_begin(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret, &below, &own);
    own.clReleaseEvent = release_event;
    return err;
}
