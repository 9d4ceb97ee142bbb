/* SPDX-License-Identifier: MIT */
/* In-order and out-of-order queues, several of them, wait lists, markers and barriers. */
#include "plain.h"

enum { N = 32768, STEPS = 24 };

static const char source[] = "__kernel void advance(__global const uint *in, __global uint *out, uint k)\n"
                             "{ uint i = get_global_id(0), n = get_global_size(0);\n"
                             "  out[i] = in[i] * 3u + in[(i + k) % n] + (uint)get_group_id(0); }\n";

static uint32_t host[N];

static void show_both(const char *name, cl_command_queue q, cl_mem a, cl_mem b)
{
    show_buffer(name, q, a, 0, sizeof host);
    show_buffer(name, q, b, 0, sizeof host);
}

static void in_order(cl_kernel k, cl_mem a, cl_mem b)
{
    CL(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, sizeof host, host, 0, NULL, NULL));
    for (cl_uint s = 0; s < STEPS; s++) {
        SET(k, s % 2 ? b : a, s % 2 ? a : b, s * 7 + 1);
        launch(queue, k, N, 128, 0, NULL, NULL);
    }
    show_both("in order", queue, a, b);
}

/* Every step waits for the one before by event alone, each in another queue. */
static void chained(cl_kernel k, cl_mem a, cl_mem b, cl_command_queue *q, unsigned n)
{
    cl_event last, next;
    CL(clEnqueueWriteBuffer(q[0], a, CL_FALSE, 0, sizeof host, host, 0, NULL, &last));
    for (cl_uint s = 0; s < STEPS; s++) {
        SET(k, s % 2 ? b : a, s % 2 ? a : b, s * 11 + 3);
        CL(clFlush(q[s % n]));
        launch(q[(s + 1) % n], k, N, s % 3 ? 32 : 64, 1, &last, &next);
        CL(clReleaseEvent(last));
        last = next;
    }
    wait_for(last);
    show_both("chained", q[0], a, b);
}

/* Independent launches on disjoint halves, then a marker or a barrier that gathers them. */
static void gathered(cl_kernel k, cl_mem a, cl_mem b, cl_command_queue q)
{
    cl_event two[2], all;
    const size_t half = sizeof host / 2;
    cl_mem la = sub_buffer(a, 0, 0, half), ha = sub_buffer(a, 0, half, half), lb = sub_buffer(b, 0, 0, half),
           hb = sub_buffer(b, 0, half, half);
    CL(clEnqueueWriteBuffer(q, a, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    for (cl_uint s = 0; s < STEPS / 4; s++) {
        set_uint(k, 2, s + 1);
        SET(k, la, lb);
        launch(q, k, N / 2, 64, 0, NULL, &two[0]);
        SET(k, ha, hb);
        launch(q, k, N / 2, 64, 0, NULL, &two[1]);
        if (s % 2)
            CL(clEnqueueMarkerWithWaitList(q, 2, two, &all));
        else
            CL(clEnqueueBarrierWithWaitList(q, 0, NULL, &all));
        RELEASE(two[0], two[1]);
        CL(clEnqueueCopyBuffer(q, b, a, 0, 0, sizeof host, 1, &all, &two[0]));
        CL(clReleaseEvent(all));
        CL(clEnqueueBarrierWithWaitList(q, 1, two, NULL));
        CL(clReleaseEvent(two[0]));
    }
    CL(clFinish(q));
    show_both("gathered", q, a, b);
    RELEASE(la, ha, lb, hb);
}

/* The old calls. */
static void old_barriers(cl_kernel k, cl_mem a, cl_mem b, cl_command_queue q)
{
    cl_event e;
    CL(clEnqueueWriteBuffer(q, a, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    for (cl_uint s = 0; s < 6; s++) {
        SET(k, s % 2 ? b : a, s % 2 ? a : b, s);
        launch(q, k, N, 128, 0, NULL, NULL);
        CL(clEnqueueMarker(q, &e));
        CL(clReleaseEvent(e));
        CL(clEnqueueBarrier(q));
    }
    CL(clFinish(q));
    show_both("old barriers", q, a, b);
}

int main(void)
{
    cl_command_queue q[4];
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem a = buffer(CL_MEM_READ_WRITE, sizeof host, NULL), b = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    fill_words(host, N, 1);
    for (int i = 0; i < 4; i++)
        q[i] = new_queue(i % 2 ? out_of_order() : 0);
    in_order(k, a, b);
    chained(k, a, b, q, 4);
    chained(k, a, b, q + 1, 1);
    gathered(k, a, b, queue);
    gathered(k, a, b, q[1]);
    old_barriers(k, a, b, q[3]);
    RELEASE_ALL(q);
    return FINISH(a, b, k, p);
}
