/* SPDX-License-Identifier: MIT */
/* Specification, section 5.10: functions of the application that run as a command. */
#include "shim/api/home.h"

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue command_queue,
                                                      void(CL_CALLBACK *user_func)(void *), void *args, size_t cb_args,
                                                      cl_uint num_mem_objects, const cl_mem *mem_list,
                                                      const void **args_mem_loc, cl_uint num_events_in_wait_list,
                                                      const cl_event *event_wait_list, cl_event *event)
{
    struct gs_command cmd = GS_COMMAND(.kind = GS_OP_NATIVE, .function = user_func, .args = args, .args_bytes = cb_args,
                                       .n_mems = num_mem_objects, .mems = mem_list, .places = args_mem_loc);
    struct gs_queue *q = gs_command_begin(&cmd);
    if (!q || (num_mem_objects && !mem_list))
        return gs_command_pass(&cmd);
    struct gs_home h;
    gs_home_begin(&h, &cmd, false);
    for (cl_uint i = 0; i < num_mem_objects; i++) {
        struct gs_mem *m = gs_command_mem(&cmd, mem_list[i]);
        if (m)
            gs_home_need(&h, m, gs_window_range(m, 0, m->size));
    }
    cl_int err = gs_home_ready(&h);
    if (!err)
        err = gs_enqueue(&cmd.op, command_queue, h.n, h.v, event);
    gs_timeline_enqueue_untracked(q->timeline); /* it goes without a unit */
    for (cl_uint i = 0; i < num_mem_objects && !err; i++) {
        struct gs_mem *m = gs_command_mem(&cmd, mem_list[i]);
        if (m)
            gs_home_wrote(&h, m, gs_window_range(m, 0, m->size));
    }
    return gs_home_end(&h, err);
}
