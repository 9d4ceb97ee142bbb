/* SPDX-License-Identifier: MIT */
#include "shim/within.h"

#include <stdatomic.h>
#include <stdlib.h>

struct callback {
    void(CL_CALLBACK *notify)(cl_event, cl_int, void *);
    void *data;
};

static _Thread_local unsigned depth;

bool gs_within_callback(void)
{
    return depth;
}

static atomic_bool ever;

bool gs_within_ever(void)
{
    return atomic_load(&ever);
}

static void CL_CALLBACK call(cl_event event, cl_int status, void *data)
{
    const struct callback c = *(struct callback *)data;
    free(data);
    depth++;
    c.notify(event, status, c.data);
    depth--;
}

cl_int gs_within_set(cl_event event, cl_int type, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data)
{
    struct callback *c = notify ? malloc(sizeof *c) : NULL;
    atomic_store(&ever, true);
    if (!c)
        return gs_real()->clSetEventCallback(event, type, notify, data);
    *c = (struct callback){notify, data};
    const cl_int err = gs_real()->clSetEventCallback(event, type, call, c);
    if (err)
        free(c);
    return err;
}
