/* SPDX-License-Identifier: MIT */
/* User events: commands that wait for one, in several queues, while others go on; one that fails; one never set. */
#include "plain.h"

enum { N = 20000 };

static const char source[] = "__kernel void add(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k + (uint)get_num_groups(0); }\n"
                             "__kernel void freely(__global uint *v) { v[get_global_id(0)] += 3u; }\n";

static uint32_t host[N];

int main(void)
{
    cl_event gate, wrote, ran, after;
    start(0);
    cl_command_queue other = new_queue(out_of_order());
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "add");
    fill_words(host, N, 4);
    cl_mem a = buffer_of(host, sizeof host), b = buffer_of(host, sizeof host);

    /* Split before there is a gate. */
    SET(k, a, 1);
    launch(queue, k, N, 50, 0, NULL, NULL);
    gate = new_user_event();
    /* The held-back write comes before the launch that waits for it, and after what another queue does meanwhile. */
    uint32_t *later = malloc(sizeof host);
    fill_words(later, N, 77);
    CL(clEnqueueWriteBuffer(other, a, CL_FALSE, 0, sizeof host / 2, later, 1, &gate, &wrote));
    set_uint(k, 1, 2);
    launch(other, k, N, 50, 1, &wrote, &ran);
    SET(k, b, 3);
    launch(queue, k, N, 50, 0, NULL, NULL);
    show_buffer("beside the gate", queue, b, 0, sizeof host);
    CL(clFlush(other));
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    CL(clWaitForEvents(1, &ran));
    show_buffer("behind the gate", queue, a, 0, sizeof host);
    set_mem(k, 0, a);
    launch(other, k, N, 50, 1, &ran, &after);
    CL(clWaitForEvents(1, &after));
    show_buffer("after the gate", other, a, 0, sizeof host);
    RELEASE(gate, wrote, ran, after);

    /* One that has ended already, and one that is let go without ever getting a status. */
    gate = new_user_event();
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    launch(queue, k, N, 50, 1, &gate, NULL);
    CL(clReleaseEvent(gate));
    gate = new_user_event();
    CL(clReleaseEvent(gate));
    cl_kernel freely = kernel_of(p, "freely"); /* nothing is pending any more */
    set_mem(freely, 0, a);
    launch(queue, freely, N, 50, 0, NULL, NULL);
    CL(clReleaseKernel(freely));
    launch(queue, k, N, 50, 0, NULL, NULL);
    show_buffer("let go", queue, a, 0, sizeof host);

    /* One that fails: nothing may be written, and what other queues do is none of its business. */
    launch(queue, k, N, 50, 0, NULL, NULL);
    CL(clFinish(queue));
    cl_event failed = new_user_event();
    launch(other, k, N, 50, 1, &failed, &after);
    CL(clSetUserEventStatus(failed, -5));
    cl_int status = 0;
    printf("wait: %d\n", clWaitForEvents(1, &after));
    CL(clGetEventInfo(after, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    printf("status below zero: %d\n", status < 0);
    RELEASE(after, failed);
    show_buffer("after a failure", queue, a, 0, sizeof host);
    set_mem(k, 0, b);
    launch(queue, k, N, 50, 0, NULL, NULL);
    show_buffer("and the other buffer", queue, b, 0, sizeof host);
    free(later);
    return FINISH(a, b, k, p, other);
}
