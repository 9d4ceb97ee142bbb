/* SPDX-License-Identifier: MIT */
/* An iteration over the inner part of a grid, or of a lattice, whose edges no step writes; it waits for each step, and
 * between two steps it may write, read, copy or fill columns of the edges, or rows that have them, in this queue or in
 * another, or let a small launch write them.
 * usage: interior SEED STEPS [ONE-IN], where one step in ONE-IN is followed by such a thing (0: none) */
#include "plain.h"

enum { WIDTH = 40, HEIGHT = 24, DEPTH = 8, WORDS = WIDTH * HEIGHT * DEPTH, ROWS = HEIGHT * DEPTH, KINDS = 8 };

static const char source[] =
    "__kernel void plane(__global const uint *in, __global uint *out, int w, int h)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), i = y * w + x;\n"
    "    if (x >= 1 && x < w - 1 && y >= 1 && y < h - 1)\n"
    "        out[i] = in[i] + 3 * in[i - 1] + 5 * in[i + 1] + 7 * in[i - w] + 11 * in[i + w];\n"
    "}\n"
    "__kernel void space(__global const uint *in, __global uint *out, int w, int h, int d)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), p = w * h, i = z * p + y * w + x;\n"
    "    if (x >= 1 && x < w - 1 && y >= 1 && y < h - 1 && z >= 1 && z < d - 1)\n"
    "        out[i] = in[i] + 3 * in[i - 1] + 5 * in[i + w] + 7 * in[i - p] + 11 * in[i + p];\n"
    "}\n"
    "__kernel void back(__global uint *in, __global const uint *out, int w, int h)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), i = y * w + x;\n"
    "    if (x >= 1 && x < w - 1 && y >= 1 && y < h - 1)\n"
    "        in[i] = out[i] + in[i];\n"
    "}\n"
    "__kernel void edges(__global uint *a, int w, uint value)\n"
    "{\n"
    "    int y = get_global_id(0);\n"
    "    a[y * w] += a[y * w + w - 1] * value;\n"
    "}\n";

static uint32_t state;
static cl_uint drawn(cl_uint below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 10) % below;
}

static cl_mem grid[2];
static cl_command_queue other;
static cl_kernel plane, space, back, edges;

/* Something with `bytes` of some rows, at their left or right edge. */
static void between(uint32_t *host)
{
    const cl_uint kind = drawn(KINDS), words = drawn(4) ? 1 : WIDTH, rows = 1 + drawn(ROWS / 2);
    const size_t x = words > 1 || drawn(2) ? 0 : WIDTH - 1, y = drawn(ROWS - rows), origin[3] = {x * 4, y, 0},
                 region[3] = {words * 4, rows, 1}, zero[3] = {0}, pitch = WIDTH * 4;
    const cl_command_queue q = drawn(2) ? queue : other;
    cl_mem m = grid[drawn(2)];
    if (q == other || drawn(2))
        CL(clFinish(queue));
    for (cl_uint i = 0; i < rows * words; i++)
        host[i] = drawn(1000);
    if (kind < 3) {
        CL(clEnqueueWriteBufferRect(q, m, CL_TRUE, origin, zero, region, pitch, 0, words * 4, 0, host, 0, NULL, NULL));
    } else if (kind < 5) {
        CL(clEnqueueReadBufferRect(q, m, CL_TRUE, origin, zero, region, pitch, 0, words * 4, 0, host, 0, NULL, NULL));
        for (cl_uint i = 0; i < rows * words; i++)
            state += host[i];
    } else if (kind == 5) {
        CL(clEnqueueCopyBufferRect(queue, grid[0], grid[1], origin, origin, region, pitch, 0, pitch, 0, 0, NULL, NULL));
    } else if (kind == 6) {
        CL(clEnqueueFillBuffer(queue, m, host, 4, (y * WIDTH + x) * 4, region[0], 0, NULL, NULL));
    } else {
        SET(edges, m, (cl_uint)WIDTH, drawn(100));
        launch(queue, edges, ROWS, drawn(2) ? ROWS : 1, 0, NULL, NULL);
    }
    CL(clFinish(q));
}

int main(int argc, char **argv)
{
    const cl_uint steps = argc > 2 ? (cl_uint)atoi(argv[2]) : 20, one_in = argc > 3 ? (cl_uint)atoi(argv[3]) : 0;
    static uint32_t host[WORDS];
    state = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
    start(0);
    other = new_queue(0);
    cl_program p = build(source, "");
    plane = kernel_of(p, "plane");
    space = kernel_of(p, "space");
    back = kernel_of(p, "back");
    edges = kernel_of(p, "edges");
    fill_words(host, WORDS, 1);
    for (int i = 0; i < 2; i++) {
        grid[i] = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
        CL(clEnqueueWriteBuffer(queue, grid[i], CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    }
    const size_t in_plane[2] = {WIDTH, ROWS}, in_space[3] = {WIDTH, HEIGHT, DEPTH}, group[3] = {8, 1, 1};
    const cl_uint lattice = drawn(2);
    for (cl_uint i = 0; i < steps; i++) {
        if (lattice) {
            SET(space, grid[i % 2], grid[1 - i % 2], (cl_uint)WIDTH, (cl_uint)HEIGHT, (cl_uint)DEPTH);
            CL(clEnqueueNDRangeKernel(queue, space, 3, NULL, in_space, group, 0, NULL, NULL));
        } else {
            SET(i % 2 ? back : plane, grid[0], grid[1], (cl_uint)WIDTH, (cl_uint)ROWS);
            CL(clEnqueueNDRangeKernel(queue, i % 2 ? back : plane, 2, NULL, in_plane, group, 0, NULL, NULL));
        }
        if (!one_in || drawn(8))
            CL(clFinish(queue));
        if (one_in && drawn(one_in) == 0)
            between(host);
    }
    CL(clFinish(queue));
    for (int i = 0; i < 2; i++)
        show_buffer(i ? "the other grid" : "a grid", queue, grid[i], 0, sizeof host);
    printf("%u\n", state);
    RELEASE(grid[0], grid[1], plane, space, back, edges, p, other);
    return finish();
}
