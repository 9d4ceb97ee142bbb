/* SPDX-License-Identifier: MIT */
/* A lattice of PLANES planes of PLANE numbers that has an array for each of seven directions, in one buffer, and goes
 * round at its ends. Each step takes from the plane above or below, of arrays that aren't spaced alike, so that no one
 * rectangle holds all that crosses.
 * usage: planes [PLANE [PLANES]] */
#include "plain.h"

enum { ARRAYS = 7, STEPS = 5 };

static const char source[] =
    "#define FROM(q, at) out[q * n + i] = in[q * n + i] * 3 + in[q * n + at] + q;\n"
    "__kernel void advance(__global const uint *in, __global uint *out, uint plane, uint planes)\n"
    "{\n"
    "    uint i = get_global_id(0), n = plane * planes, z = i / plane, x = i % plane;\n"
    "    uint up = (z + 1) % planes * plane + x, down = (z + planes - 1) % planes * plane + x;\n"
    "    FROM(0, up) FROM(1, up) FROM(2, i) FROM(3, up) FROM(4, down) FROM(5, i) FROM(6, down)\n"
    "}\n";

int main(int argc, char **argv)
{
    const cl_uint plane = argc > 1 ? (cl_uint)atoi(argv[1]) : 1024, planes = argc > 2 ? (cl_uint)atoi(argv[2]) : 64;
    const size_t items = (size_t)plane * planes, words = ARRAYS * items;
    uint32_t *host = malloc(words * sizeof *host);
    if (!host)
        return 1;
    start(0);
    cl_program p = build(source, "");
    cl_kernel advance = kernel_of(p, "advance");
    cl_mem from = buffer(CL_MEM_READ_WRITE, words * sizeof *host, NULL),
           to = buffer(CL_MEM_READ_WRITE, words * sizeof *host, NULL);
    fill_words(host, words, 1);
    CL(clEnqueueWriteBuffer(queue, from, CL_TRUE, 0, words * sizeof *host, host, 0, NULL, NULL));
    for (int i = 0; i < STEPS; i++) {
        SET(advance, from, to, plane, planes);
        launch(queue, advance, items, 0, 0, NULL, NULL);
        cl_mem last = from;
        from = to;
        to = last;
    }
    CL(clFinish(queue));
    show_buffer("after the last step", queue, from, 0, words * sizeof *host);
    free(host);
    RELEASE(from, to, advance, p);
    return finish();
}
