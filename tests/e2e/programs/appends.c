/* SPDX-License-Identifier: MIT */
/* appends FILE SEED together|apart: the kernels a0, a1, ... of a file, each in two work-groups of one launch, or in two
 * launches of one, and what they leave. A work-group's work-items are run in order by the devices that this is for. */
#include "plain.h"

enum { LOCAL = 64, N = 2 * LOCAL, LIST = 1 << 14, BEGIN = 2000, COUNTERS = 8 };
enum { BEHIND = 4000 }; /* a counter in the list's own buffer, behind it */

int main(int argc, char **argv)
{
    static uint32_t in[N], list[LIST];
    static char text[1 << 20], name[32];
    if (argc != 4)
        return 2;
    FILE *f = fopen(argv[1], "r");
    if (!f || fread(text, 1, sizeof text - 1, f) == 0)
        return 2;
    fclose(f);
    uint32_t seed = (uint32_t)strtoul(argv[2], NULL, 10);
    const bool apart = strcmp(argv[3], "apart") == 0;
    start(0);
    cl_program program = build(text, "");
    cl_mem input = buffer(CL_MEM_READ_ONLY, sizeof in, NULL), counters = buffer(0, COUNTERS * 4, NULL);
    cl_mem a = buffer(0, sizeof list, NULL), b = buffer(0, sizeof list, NULL);
    cl_mem sum = buffer(0, 4, NULL), out = buffer(0, sizeof in, NULL), beside = buffer(0, sizeof list, NULL);
    for (unsigned i = 0;; i++) {
        cl_int err;
        snprintf(name, sizeof name, "a%u", i);
        cl_kernel k = clCreateKernel(program, name, &err);
        if (err)
            break;
        uint32_t start_at[COUNTERS], zero = 0;
        for (unsigned c = 0; c < COUNTERS; c++)
            start_at[c] = BEGIN + scramble(seed + 64 * i + c) % 40; /* some count down */
        fill_words(in, N, seed + i);
        CL(clEnqueueWriteBuffer(queue, input, CL_TRUE, 0, sizeof in, in, 0, NULL, NULL));
        fill_words(list, LIST, seed + i + 1);
        CL(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, sizeof list, list, 0, NULL, NULL));
        CL(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, sizeof list, list, 0, NULL, NULL));
        list[0] = scramble(seed + i) % 40;
        list[1] = ~(scramble(seed - i) % 2); /* begins below 0 */
        list[2] = scramble(seed * i) % 3;
        list[BEHIND] = scramble(seed + 5 * i) % 40;
        CL(clEnqueueWriteBuffer(queue, beside, CL_TRUE, 0, sizeof list, list, 0, NULL, NULL));
        CL(clEnqueueWriteBuffer(queue, counters, CL_TRUE, 0, sizeof start_at, start_at, 0, NULL, NULL));
        CL(clEnqueueWriteBuffer(queue, sum, CL_TRUE, 0, 4, &zero, 0, NULL, NULL));
        CL(clEnqueueFillBuffer(queue, out, &zero, 4, 0, sizeof in, 0, NULL, NULL));
        const cl_uint most = BEGIN + scramble(seed + i) % 200;
        const cl_ushort less = (cl_ushort)(BEGIN + scramble(seed ^ i) % 150);
        set_mem(k, 0, input);
        set_mem(k, 1, a);
        set_mem(k, 2, b);
        set_mem(k, 3, counters);
        set_uint(k, 4, most);
        CL(clSetKernelArg(k, 5, sizeof less, &less));
        set_mem(k, 6, sum);
        set_mem(k, 7, out);
        set_mem(k, 8, beside);
        set_uint(k, 9, 8 + scramble(seed + 7 * i) % 30);
        set_uint(k, 10, 20 + scramble(seed + 9 * i) % 150);
        const size_t local = LOCAL, global = apart ? LOCAL : N;
        for (size_t offset = 0; offset < (apart ? N : 1); offset += LOCAL) {
            CL(clEnqueueNDRangeKernel(queue, k, 1, &offset, &global, &local, 0, NULL, NULL));
            CL(clFinish(queue));
        }
        printf("%s\n", name);
        show_buffer(name, queue, a, 0, sizeof list);
        show_buffer(name, queue, b, 0, sizeof list);
        show_buffer(name, queue, counters, 0, COUNTERS * 4);
        show_buffer(name, queue, sum, 0, 4);
        show_buffer(name, queue, out, 0, sizeof in);
        show_buffer(name, queue, beside, 0, sizeof list);
        CL(clReleaseKernel(k));
    }
    CL(clReleaseMemObject(input));
    CL(clReleaseMemObject(counters));
    CL(clReleaseMemObject(a));
    CL(clReleaseMemObject(b));
    CL(clReleaseMemObject(sum));
    CL(clReleaseMemObject(out));
    CL(clReleaseMemObject(beside));
    CL(clReleaseProgram(program));
    finish();
    return 0;
}
