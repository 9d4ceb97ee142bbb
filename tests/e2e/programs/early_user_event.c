/* SPDX-License-Identifier: MIT */
/* A user event that is older than the daemon: says so, and goes on once there is a line on its standard input. What
 * waits for the event has to leave units for what the host waits for before it gives it its status. */
#include "plain.h"

enum { N = 64, WAITING = 8 };

static const char source[] = "__kernel void add(__global uint *v, uint k)\n"
                             "{ v[get_global_id(0)] += k; }\n";

int main(void)
{
    char line[16];
    start(0);
    cl_command_queue other = new_queue(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "add");
    const uint32_t zero[N] = {0};
    cl_mem a = buffer_of((void *)zero, sizeof zero), b = buffer_of((void *)zero, sizeof zero);
    cl_event gate = new_user_event();
    fprintf(stderr, "ready\n");
    if (!fgets(line, sizeof line, stdin))
        return 1;
    sleep_ms(1000); /* it is looked for twice a second */
    SET(k, b, 1);
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
    end_user_event(gate);
    show_buffer("waited", queue, a, 0, sizeof zero);
    show_buffer("didn't", other, b, 0, sizeof zero);
    return FINISH(a, b, k, p, other);
}
