/* SPDX-License-Identifier: MIT */
/* A thread makes user events while another one writes to a buffer that several devices use: bytes that are
 * brought home for a user event never overwrite bytes that the other thread has written meanwhile. */
#include "plain.h"

enum { N = 1 << 15, BYTES = N * 4, ROUNDS = 12, WRITTEN = 8192 };

static const char source[] =
    "__kernel void add(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = v[i] * 3u + k + i; }\n"
    "__kernel void sum(__global const uint *v, __global uint *out, uint n)\n"
    "{ uint i = get_global_id(0), s = 0; for (uint k = 0; k < 8; k++) s += v[(i * 997u + k * n / 8u) % n]; out[i] = s; "
    "}\n";

static atomic_int turn; /* even: the writer's */

static void *make_events(void *nothing)
{
    unsigned chance = 1;
    for (int round = 0; round < ROUNDS; round++) {
        cl_event user;
        while (atomic_load(&turn) < 2 * round + 1)
            usleep(20);
        for (int k = 0; k < 3; k++) {
            chance = chance * 1103515245u + 12345u;
            usleep((chance >> 16) % 1000);
            user = new_user_event();
            end_user_event(user);
        }
        atomic_fetch_add(&turn, 1);
    }
    return nothing;
}

int main(void)
{
    static uint32_t host[N];
    pthread_t thread;
    start(0);
    cl_program p = build(source, "");
    cl_kernel add = kernel_of(p, "add"), sum = kernel_of(p, "sum");
    fill_words(host, N, 1);
    cl_mem v = buffer_of(host, BYTES), out = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    set_mem(add, 0, v);
    SET(sum, v, out, N);
    pthread_create(&thread, NULL, make_events, NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        set_uint(add, 1, round);
        if (round % 3) /* every device wants all of it; else its part */
            launch(queue, sum, N, 64, 0, NULL, NULL);
        launch(queue, add, N, 64, 0, NULL, NULL);
        CL(clFinish(queue));
        fill_words(host, WRITTEN / 4, round + 7);
        atomic_fetch_add(&turn, 1);
        CL(clEnqueueWriteBuffer(queue, v, CL_TRUE, BYTES / 4 * 3, WRITTEN, host, 0, NULL, NULL));
        while (atomic_load(&turn) < 2 * (int)round + 2)
            usleep(20);
        show_buffer("v", queue, v, 0, BYTES);
    }
    pthread_join(thread, NULL);
    show_buffer("out", queue, out, 0, BYTES);
    return 0;
}
