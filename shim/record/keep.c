/* SPDX-License-Identifier: MIT */
#include "shim/record/keep.h"

cl_int gs_keep_mem(cl_mem mem)
{
    struct gs_mem *m = gs_find_hold(GS_MEM, mem);
    if (m && m->is_sub_buffer) /* its record holds the driver's object */
        return CL_SUCCESS;
    const cl_int err = gs_real()->clRetainMemObject(mem);
    if (m && !err)
        atomic_fetch_add(&m->carried, 1);
    else if (m)
        gs_drop(&m->o);
    return err;
}

void gs_let_go_of_mem(cl_mem mem)
{
    struct gs_mem *m = gs_find(GS_MEM, mem);
    const bool by_record = m && m->is_sub_buffer;
    if (m && !by_record)
        atomic_fetch_sub(&m->carried, 1);
    if (m)
        gs_drop(&m->o); /* first: while it is known, the handle must not become another object's */
    if (!by_record)
        gs_real()->clReleaseMemObject(mem);
}
