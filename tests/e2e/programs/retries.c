/* SPDX-License-Identifier: MIT */
/* An application that looks at every event and tries again what failed: each step reads what the one before wrote and
 * writes another buffer, so that it may be done over. */
#include "plain.h"

enum { N = 20000, WIDTH = 200, STEPS = 12, TRIES = 4 };

static const char source[] = "__kernel void retried(__global const uint *in, __global uint *out, uint k)\n"
                             "{ uint i = get_global_id(0), n = get_global_size(0);\n"
                             "  out[i] = in[i] * 3u + in[(i + k) % n] + in[n - 1u - i] + (uint)get_group_id(0); }\n"
                             "__kernel void columns(__global const uint *in, __global uint *out, uint k)\n"
                             "{ uint x = get_global_id(0), width = get_global_size(0);\n"
                             "  for (uint y = 0; y < 100; y++)\n"
                             "    out[y * width + x] = in[y * width + x] * k + in[y * width + (x ? x - 1 : 0)]; }\n";

static uint32_t host[N], got[N];

/* Waits for a command that was enqueued; its error otherwise. */
static cl_int ends(cl_int err, const cl_event *e)
{
    if (err)
        return err;
    err = clWaitForEvents(1, e);
    clReleaseEvent(*e);
    return err;
}

static cl_int advance(cl_kernel k, size_t global, cl_mem in, cl_mem out, cl_uint by)
{
    const size_t local = global == N ? 80 : 8;
    cl_event e = NULL;
    SET(k, in, out, by);
    return ends(clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, &e), &e);
}

static cl_int read_all(cl_mem m, cl_bool blocking)
{
    cl_event e = NULL;
    memset(got, 0, sizeof got);
    return ends(clEnqueueReadBuffer(queue, m, blocking, 0, sizeof got, got, 0, NULL, &e), &e);
}

static cl_int copy_all(cl_mem from, cl_mem to)
{
    cl_event e = NULL;
    return ends(clEnqueueCopyBuffer(queue, from, to, 0, 0, sizeof got, 0, NULL, &e), &e);
}

/* Until it works. */
#define AGAIN(call)                                                                                                    \
    do {                                                                                                               \
        cl_int err_ = CL_SUCCESS;                                                                                      \
        for (int try_ = 0; try_ < TRIES && (try_ == 0 || err_); try_++)                                                \
            err_ = (call);                                                                                             \
        check(err_, #call, __LINE__);                                                                                  \
    } while (0)

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel retried = kernel_of(p, "retried"), columns = kernel_of(p, "columns");
    cl_mem m[3];
    fill_words(host, N, 3);
    for (int i = 0; i < 3; i++)
        m[i] = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    AGAIN(clEnqueueWriteBuffer(queue, m[0], CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    for (cl_uint s = 0; s < STEPS; s++) {
        AGAIN(advance(s % 4 == 0 ? retried : columns, s % 4 == 0 ? N : WIDTH, m[s % 3], m[(s + 1) % 3], s * 5 + 1));
        if (s % 4 == 1) {
            AGAIN(read_all(m[(s + 1) % 3], s % 8 == 1));
            show("step", got, sizeof got);
        }
        if (s % 4 == 2)
            AGAIN(copy_all(m[(s + 1) % 3], m[(s + 2) % 3]));
    }
    for (int i = 0; i < 3; i++) {
        AGAIN(read_all(m[i], CL_TRUE));
        show("end", got, sizeof got);
        CL(clReleaseMemObject(m[i]));
    }
    return FINISH(retried, columns, p);
}
