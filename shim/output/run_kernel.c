/* SPDX-License-Identifier: MIT */
#include "shim/output/run_kernel.h"

cl_int gs_run_output_kernel(cl_command_queue queue, const struct gs_put_launch *launch, const struct gs_events *wait,
                            struct gs_events *done)
{
    cl_event event;
    const cl_int err = gs_put_kernel(queue, launch, wait->n, wait->v, &event);
    return err ? err : gs_events_add(done, event);
}
