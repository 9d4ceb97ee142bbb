/* SPDX-License-Identifier: MIT */
/* reads_beside_writes: one thread reads a few bytes by calls that block; another one writes others by calls that don't,
 * in the same queue. Where a read has a unit before it is in the queue, a write that needs one and comes between must
 * not stand before the read. And each read has the bytes of one launch of a third thread's. */
#include "plain.h"

enum { N = 1 << 14, BYTES = N * 4, READS = 40 };

static const char source[] = "__kernel void fill(__global uint *v, uint k) { v[get_global_id(0)] = k; }\n";

static cl_mem filled, written;
static atomic_bool done;

static void *write_others(void *unused)
{
    static uint32_t host[N];
    while (!atomic_load(&done)) {
        CL(clEnqueueWriteBuffer(queue, written, CL_FALSE, 0, BYTES, host, 0, NULL, NULL));
        CL(clFinish(queue));
    }
    return NULL;
}

static void *fill(void *kernel)
{
    for (uint32_t i = 0; !atomic_load(&done); i++) {
        set_uint(kernel, 1, i);
        launch(queue, kernel, N, 64, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    return NULL;
}

int main(void)
{
    static uint32_t host[N];
    pthread_t threads[2];
    unsigned mixed = 0;
    start(0);
    cl_program p = build(source, "");
    cl_kernel kernel = kernel_of(p, "fill");
    filled = buffer_of(host, BYTES);
    written = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    set_mem(kernel, 0, filled);
    threads[0] = new_thread(write_others, NULL);
    threads[1] = new_thread(fill, kernel);
    for (int i = 0; i < READS; i++) {
        CL(clEnqueueReadBuffer(queue, filled, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
        for (int k = 1; k < N; k++)
            mixed += host[k] != host[0];
    }
    atomic_store(&done, true);
    for (int i = 0; i < 2; i++)
        CL(pthread_join(threads[i], NULL));
    printf("%u words of another launch\n", mixed);
    return FINISH(filled, written, kernel, p);
}
