/* SPDX-License-Identifier: MIT */
/* An application of one kernel whose loop has other bounds in other launches: `longer_launches ITEMS
 * LAUNCHESxROUNDS...`, each launch waited for; `+` among them has the next ones begin with a fresh kernel object, and
 * behind the rounds has each launch one more of them than the one before. */
#include "plain.h"

static const char source[] = "__kernel void advance(__global const uint *in, __global uint *out, uint rounds)\n"
                             "{\n"
                             "    uint i = get_global_id(0), v = in[i];\n"
                             "    for (uint r = 0; r < rounds; r++)\n"
                             "        v = v * 3u + i;\n"
                             "    out[i] = v;\n"
                             "}\n";

enum { MOST = 1 << 20 };
static uint32_t host[MOST];

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    const size_t wanted = strtoul(argv[1], NULL, 10), items = wanted < MOST ? wanted : MOST;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem in = buffer(CL_MEM_READ_WRITE, items * 4, NULL), out = buffer(CL_MEM_READ_WRITE, items * 4, NULL);
    CL(clEnqueueWriteBuffer(queue, in, CL_TRUE, 0, items * 4, host, 0, NULL, NULL));
    for (int a = 2; a < argc; a++) {
        char *rounds;
        const unsigned long n = strtoul(argv[a], &rounds, 10);
        if (strcmp(argv[a], "+") == 0) {
            CL(clReleaseKernel(k));
            k = kernel_of(p, "advance");
        }
        SET(k, in, out);
        char *end = rounds;
        const cl_uint first = n ? (cl_uint)strtoul(rounds + 1, &end, 10) : 0;
        for (unsigned long i = 0; i < n; i++) {
            set_uint(k, 2, *end == '+' ? first + (cl_uint)i : first);
            launch(queue, k, items, 16, 0, NULL, NULL);
            CL(clFinish(queue));
        }
    }
    show_buffer("out", queue, out, 0, items * 4);
    return FINISH(in, out, k, p);
}
