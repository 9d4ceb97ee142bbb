/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that calls the program's `has_released` right after each release of an event,
 * when its handle may be another event's already. */
#include <dlfcn.h>

#include "layer.h"

static cl_int CL_API_CALL release_event(cl_event event)
{
    void (*has_released)(cl_event) = NULL;
    const cl_int err = below.clReleaseEvent(event);
    *(void **)&has_released = dlsym(RTLD_DEFAULT, "has_released");
    if (has_released)
        has_released(event);
    return err;
}

static void layer_start(void)
{
    layer.clReleaseEvent = release_event;
}
