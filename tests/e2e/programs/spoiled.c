/* SPDX-License-Identifier: MIT */
/* An application that doesn't look at its events: after a launch whose work fails while it runs it reads, writes, and
 * reads again. What the launch should have written is an error until it is written anew; what it left alone isn't.
 * `soon`: it reads while the launch runs. */
#include "plain.h"

enum { N = 40000 };

static const char source[] = "__kernel void put(__global uint *v, uint x) { v[get_global_id(0)] = x; }\n";

static uint32_t host[N], got[N];

static void read_it(const char *when, cl_mem m)
{
    size_t wrong = 0;
    memset(got, 0xa5, sizeof got);
    const cl_int err = clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL);
    for (size_t i = 0; i < N && !err; i++)
        wrong += got[i] != host[i];
    printf("%s: error %d, %zu words wrong\n", when, err, wrong);
}

int main(int argc, char **argv)
{
    (void)argv;
    start(0);
    cl_kernel k = kernel_of(build(source, ""), "put");
    fill_words(host, N, 3);
    cl_mem spoiled = buffer(CL_MEM_READ_WRITE, sizeof host, NULL), other = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    CL(clEnqueueWriteBuffer(queue, spoiled, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    CL(clEnqueueWriteBuffer(queue, other, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    set_mem(k, 0, spoiled);
    set_uint(k, 1, 7);
    launch(queue, k, N, 64, 0, NULL, NULL);
    if (argc < 2)
        clFinish(queue);
    for (size_t i = 0; i < N; i++)
        host[i] = 7;
    read_it("what it wrote", spoiled);
    fill_words(host, N, 3);
    read_it("another buffer", other);
    fill_words(host, N, 9);
    CL(clEnqueueWriteBuffer(queue, spoiled, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    read_it("written anew", spoiled);
    CL(clReleaseMemObject(spoiled));
    CL(clReleaseMemObject(other));
    finish();
    return 0;
}
