/* SPDX-License-Identifier: MIT */
/* Specification, section 5.6: shared virtual memory. Its commands are the driver's; see gs_svm_read. */
#include "shim/api/api.h"
#include "shim/client/job.h"

cl_int gs_svm_read(cl_int err, bool reads, bool blocking)
{
    if (!err && reads && gs_scheduled())
        gs_job_reads();
    if (blocking)
        gs_wait_ended();
    return err;
}
