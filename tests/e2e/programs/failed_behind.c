/* SPDX-License-Identifier: MIT */
/* Launches and reads in turn, in order, of which the first waits for a user event that fails: none of them may do
 * anything, and each fails; what is enqueued afterwards does its work. */
#include "plain.h"

enum { COMMANDS = 40, WORDS = 1 << 16, BYTES = WORDS * 4, UNTOUCHED = 0x5a };

int main(void)
{
    static uint8_t host[COMMANDS][BYTES];
    const uint32_t zero = 0;
    cl_event event[COMMANDS];
    cl_int status;
    start(0);
    cl_program p = build("__kernel void add(__global uint *v) { v[get_global_id(0)] += 1u; }\n", "");
    cl_kernel k = kernel_of(p, "add");
    cl_mem changed = buffer(CL_MEM_READ_WRITE, BYTES, NULL), read = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    memset(host, UNTOUCHED, sizeof host);
    CL(clEnqueueFillBuffer(queue, changed, &zero, 4, 0, BYTES, 0, NULL, NULL));
    CL(clEnqueueFillBuffer(queue, read, &zero, 4, 0, BYTES, 0, NULL, NULL));
    set_mem(k, 0, changed);
    launch(queue, k, WORDS, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    cl_event user = new_user_event();
    for (int i = 0; i < COMMANDS; i++)
        if (i % 2 == 0)
            launch(queue, k, WORDS, 64, i == 0, i ? NULL : &user, &event[i]);
        else
            CL(clEnqueueReadBuffer(queue, read, CL_FALSE, 0, BYTES, host[i], 0, NULL, &event[i]));
    CL(clFlush(queue));
    CL(clSetUserEventStatus(user, -5));
    printf("the last is waited for: %d\n", clWaitForEvents(1, &event[COMMANDS - 1]));
    int failed = 0;
    for (int i = 0; i < COMMANDS; i++) {
        CL(clGetEventInfo(event[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        failed += status < 0;
        CL(clReleaseEvent(event[i]));
    }
    clFinish(queue);
    size_t written = 0;
    for (int i = 0; i < COMMANDS; i++)
        for (int b = 0; b < BYTES; b++)
            written += host[i][b] != UNTOUCHED;
    printf("%d of %d have failed, and have read %zu bytes\n", failed, COMMANDS, written);
    show_buffer("changed", queue, changed, 0, BYTES);
    launch(queue, k, WORDS, 64, 0, NULL, NULL);
    show_buffer("changed again", queue, changed, 0, BYTES);
    return FINISH(user, read, changed, k, p);
}
