/* SPDX-License-Identifier: MIT */
/* Bursts of short launches, of which each needs what the one before has written, of two kernels in turn, with one in
 * each that the driver refuses. Between them small writes and reads, some of which block, events that are waited for,
 * and profiles. */
#include "plain.h"

static const char source[] = "__kernel void twist(__global uint *v, uint by)\n"
                             "{ const uint i = get_global_id(0); v[i] = v[i] * 1664525u + by + i; }\n"
                             "__kernel void turn(__global uint *v, uint by)\n"
                             "{ const uint i = get_global_id(0); v[i] = (v[i] << 7 | v[i] >> 25) ^ by; }\n";

enum { ITEMS = 128, LOCAL = 64, BURSTS = 6, LAUNCHES = 150 };

static cl_ulong time_of(cl_event e, cl_profiling_info what)
{
    cl_ulong t = 0;
    CL(clGetEventProfilingInfo(e, what, sizeof t, &t, NULL));
    return t;
}

static void refused(cl_kernel k)
{
    const size_t global = ITEMS + 1, local = 0x7fffffff;
    printf("refused: %d\n",
           clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL) == CL_SUCCESS ? 0 : 1);
}

int main(void)
{
    uint32_t host[ITEMS];
    cl_event event[LAUNCHES];
    start(CL_QUEUE_PROFILING_ENABLE);
    cl_program p = build(source, "");
    cl_kernel k[2] = {kernel_of(p, "twist"), kernel_of(p, "turn")};
    cl_mem b = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    fill_words(host, ITEMS, 5);
    CL(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    for (unsigned r = 0; r < BURSTS; r++) {
        bool ordered = true;
        for (unsigned i = 0; i < LAUNCHES; i++) {
            SET(k[i % 2], b, r * LAUNCHES + i);
            if (i == LAUNCHES / 2)
                refused(k[0]);
            launch(queue, k[i % 2], ITEMS, LOCAL, i % 3 == 1, &event[i ? i - 1 : 0], &event[i]);
            if (i % 50 == 49)
                CL(clWaitForEvents(1, &event[i]));
        }
        if (r % 2)
            CL(clFinish(queue));
        CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 4, sizeof host - 8, host, 1, &event[LAUNCHES - 1], NULL));
        for (unsigned i = 1; i < LAUNCHES; i++)
            ordered = ordered &&
                      time_of(event[i], CL_PROFILING_COMMAND_START) >= time_of(event[i - 1], CL_PROFILING_COMMAND_END);
        RELEASE_ALL(event);
        printf("ordered: %d\n", ordered);
        show("burst", host, sizeof host - 8);
        CL(clEnqueueWriteBuffer(queue, b, r % 2, 8, 16, host, 0, NULL, NULL));
        CL(clFinish(queue));
    }
    show_buffer("end", queue, b, 0, sizeof host);
    CL(clReleaseMemObject(b));
    RELEASE_ALL(k);
    return FINISH(p);
}
