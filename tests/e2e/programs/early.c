/* SPDX-License-Identifier: MIT */
/* A user event that is older than the daemon: says so, and goes on once there is a line on its standard input. What
 * waits for the event has to leave units for what the host waits for before it gives it its status. */
#include <time.h>

#include "plain.h"

enum { N = 64, WAITING = 8 };

static const char source[] = "__kernel void add(__global uint *v, uint k)\n"
                             "{ v[get_global_id(0)] += k; }\n";

int main(void)
{
    cl_int err;
    cl_event gate;
    cl_command_queue other;
    char line[16];
    start(0);
    MADE(other, clCreateCommandQueue(context, device, 0, &err));
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "add");
    const uint32_t zero[N] = {0};
    cl_mem a = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero, (void *)zero),
           b = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero, (void *)zero);
    MADE(gate, clCreateUserEvent(context, &err));
    fprintf(stderr, "ready\n");
    if (!fgets(line, sizeof line, stdin))
        return 1;
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL); /* it is looked for twice a second */
    set_mem(k, 0, b);
    set_uint(k, 1, 1);
    launch(other, k, N, N, 0, NULL, NULL);
    CL(clFinish(other));
    set_mem(k, 0, a);
    for (int i = 0; i < WAITING; i++)
        launch(queue, k, N, N, 1, &gate, NULL);
    CL(clFlush(queue));
    set_mem(k, 0, b);
    for (int i = 0; i < WAITING; i++) {
        launch(other, k, N / 2, N / 2, 0, NULL, NULL);
        CL(clFinish(other));
    }
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    CL(clReleaseEvent(gate));
    show_buffer("waited", queue, a, 0, sizeof zero);
    show_buffer("didn't", other, b, 0, sizeof zero);
    RELEASE(a, b, k, p, other);
    finish();
    return 0;
}
