/* SPDX-License-Identifier: MIT */
/* Specification, section 5.6: shared virtual memory. Its commands are the driver's; see gs_svm_end. */
#include "shim/api/api.h"
#include "shim/choose/timing.h"

CL_API_ENTRY void *CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    const struct gs_context *c = gs_find(GS_CONTEXT, context);
    if (!gs_real()->clSVMAlloc || (c && gs_svm_refuse(gs_group(), c->n)))
        return NULL;
    return gs_real()->clSVMAlloc(context, flags, size, alignment);
}

cl_int gs_svm_end(cl_int err, bool reads, bool blocking)
{
    if (!err && reads && gs_scheduled())
        gs_job_reads();
    if (blocking) {
        gs_timing_waited();
        gs_wait_ended();
    }
    return err;
}
