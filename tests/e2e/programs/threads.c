/* SPDX-License-Identifier: MIT */
/* Several threads, each with its own queue and kernel, over buffers of their own and one that all read. */
#include "plain.h"

enum { N = 8192, THREADS = 4, ROUNDS = 25 };

static const char source[] =
    "__kernel void stir(__global const uint *shared, __global uint *own, uint k)\n"
    "{ uint i = get_global_id(0); own[i] = own[i] * 5u + shared[(i * k) % get_global_size(0)]; }\n";

static uint32_t shared_words[N], result[THREADS][N];
static cl_program program;
static cl_mem shared;

static void *work(void *arg)
{
    const unsigned t = (unsigned)(uintptr_t)arg;
    cl_event e = NULL, done;
    cl_command_queue q = new_queue(t % 2 ? out_of_order() : 0);
    cl_kernel k = kernel_of(program, "stir");
    uint32_t *own = malloc(N * sizeof *own);
    fill_words(own, N, t);
    cl_mem m = buffer_of(own, N * sizeof *own);
    SET(k, shared, m);
    for (cl_uint r = 0; r < ROUNDS; r++) {
        set_uint(k, 2, r * 2 + t + 1);
        launch(q, k, N, 64, e ? 1 : 0, e ? &e : NULL, &done);
        if (e)
            CL(clReleaseEvent(e));
        e = done;
        if (r % 5 == t) {
            CL(clEnqueueReadBuffer(q, m, CL_TRUE, 0, N * sizeof *own, own, 1, &e, NULL));
            for (size_t i = 0; i < N; i += 3)
                own[i]++;
            CL(clReleaseEvent(e));
            CL(clEnqueueWriteBuffer(q, m, CL_FALSE, 0, N * sizeof *own, own, 0, NULL, &e));
        }
        /* Objects come and go beside all this. */
        cl_mem brief = buffer(CL_MEM_READ_WRITE, 4096, NULL);
        CL(clReleaseMemObject(brief));
    }
    CL(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof result[t], result[t], 1, &e, NULL));
    RELEASE(e, m, k, q);
    free(own);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    start(0);
    program = build(source, "");
    fill_words(shared_words, N, 99);
    shared = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof shared_words, shared_words);
    for (uintptr_t t = 0; t < THREADS; t++)
        threads[t] = new_thread(work, (void *)t);
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (unsigned t = 0; t < THREADS; t++)
        show("thread", result[t], sizeof result[t]);
    return FINISH(shared, program);
}
