/* SPDX-License-Identifier: MIT */
/* An iteration over a grid, which waits for each step, and what an application may do between two steps: write, fill
 * and map rows, copy them, let a small launch write them, read them in another queue, let a buffer go, enqueue a step
 * without a wait, leave a step out.
 * usage: halos SEED STEPS [ONE-IN [own]], where one step in ONE-IN is followed by such a thing (0: none, so all
 * recurs). own: the buffers are its own memory */
#include "plain.h"

enum { WIDTH = 64, ROWS = 96, WORDS = WIDTH * ROWS, ROW_BYTES = WIDTH * 4, KINDS = 10 };

static const char source[] =
    "__kernel void advance(__global const uint *in, __global uint *out, uint width, uint rows)\n"
    "{\n"
    "    uint i = get_global_id(0), up = i < width ? i : i - width, down = i + width < width * rows ? i + width : i;\n"
    "    out[i] = in[up] * 3 + in[down] * 5 + in[i];\n"
    "}\n"
    "__kernel void exchange(__global uint *a, uint width, uint odd, uint rows)\n"
    "{\n"
    "    uint i = get_global_id(0), x = i % width, y = 2 * (i / width) + odd;\n"
    "    if (y + 1 < rows) {\n"
    "        uint t = a[y * width + x];\n"
    "        a[y * width + x] = a[(y + 1) * width + x] * 7 + t;\n"
    "        a[(y + 1) * width + x] = t;\n"
    "    }\n"
    "}\n"
    "__kernel void mark(__global uint *a, uint at, uint value)\n"
    "{\n"
    "    a[at + get_global_id(0)] = value + get_global_id(0);\n"
    "}\n";

static uint32_t state;
static cl_uint drawn(cl_uint below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 10) % below;
}

static cl_kernel advance, exchange, mark;
static cl_mem grid[2];
static cl_command_queue other;

/* Something that may change or read rows near the middle, where the halos are. */
static void between(uint32_t *host)
{
    const cl_uint kind = drawn(KINDS), row = ROWS / 2 - 4 + drawn(8), rows = 1 + drawn(3);
    const size_t at = (size_t)row * ROW_BYTES, bytes = (size_t)rows * ROW_BYTES;
    cl_mem m = grid[drawn(2)];
    cl_int err;
    for (cl_uint i = 0; i < rows * WIDTH; i++)
        host[i] = drawn(1000);
    if (kind == 0) {
        CL(clEnqueueWriteBuffer(queue, m, CL_TRUE, at, bytes, host, 0, NULL, NULL));
    } else if (kind == 1) {
        CL(clEnqueueWriteBuffer(queue, m, CL_FALSE, at, bytes, host, 0, NULL, NULL));
        CL(clFinish(queue));
    } else if (kind == 2) {
        CL(clEnqueueFillBuffer(queue, m, host, 4, at, bytes, 0, NULL, NULL));
    } else if (kind == 3) {
        uint32_t *mapped;
        MADE(mapped, clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at, bytes, 0, NULL, NULL, &err));
        for (cl_uint i = 0; i < rows * WIDTH; i++)
            mapped[i] += i;
        CL(clEnqueueUnmapMemObject(queue, m, mapped, 0, NULL, NULL));
    } else if (kind == 4) {
        CL(clEnqueueCopyBuffer(queue, grid[0], grid[1], at, at + 2 * ROW_BYTES, bytes, 0, NULL, NULL));
    } else if (kind == 5) {
        SET(mark, m, row * WIDTH, drawn(1000));
        launch(queue, mark, WIDTH, WIDTH, 0, NULL, NULL);
    } else if (kind == 6) {
        CL(clFinish(queue));
        CL(clEnqueueReadBuffer(other, m, CL_TRUE, at, bytes, host, 0, NULL, NULL));
        for (cl_uint i = 0; i < rows * WIDTH; i++)
            state += host[i];
    } else if (kind == 7) {
        CL(clFinish(queue));
        CL(clEnqueueWriteBuffer(other, m, CL_TRUE, at, bytes, host, 0, NULL, NULL));
    } else if (kind == 8) {
        cl_mem copy = buffer(CL_MEM_READ_WRITE, WORDS * 4, NULL);
        CL(clEnqueueCopyBuffer(queue, grid[1], copy, 0, 0, WORDS * 4, 0, NULL, NULL));
        CL(clFinish(queue));
        RELEASE(grid[1]);
        grid[1] = copy;
    } else {
        SET(exchange, m, (cl_uint)WIDTH, drawn(2), (cl_uint)ROWS);
        launch(queue, exchange, WORDS / 2, 16, 0, NULL, NULL);
    }
}

int main(int argc, char **argv)
{
    const cl_uint steps = argc > 2 ? (cl_uint)atoi(argv[2]) : 20, one_in = argc > 3 ? (cl_uint)atoi(argv[3]) : 0;
    const bool own = argc > 4;
    static uint32_t host[WORDS], memory[2][WORDS] __attribute__((aligned(4096)));
    state = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
    start(0);
    other = new_queue(0);
    cl_program p = build(source, "");
    advance = kernel_of(p, "advance");
    exchange = kernel_of(p, "exchange");
    mark = kernel_of(p, "mark");
    fill_words(host, WORDS, 1);
    for (int i = 0; i < 2; i++) {
        grid[i] = buffer(CL_MEM_READ_WRITE | (own ? CL_MEM_USE_HOST_PTR : 0), sizeof host, own ? memory[i] : NULL);
        CL(clEnqueueWriteBuffer(queue, grid[i], CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    }
    const cl_uint in_place = drawn(3); /* 0: from grid to grid; 1: in place, even and odd steps differ; 2: both */
    for (cl_uint i = 0; i < steps; i++) {
        if (in_place != 1) {
            SET(advance, grid[i % 2], grid[1 - i % 2], (cl_uint)WIDTH, (cl_uint)ROWS);
            launch(queue, advance, WORDS, 16, 0, NULL, NULL);
        }
        if (in_place) {
            SET(exchange, grid[1 - i % 2 * (in_place == 2)], (cl_uint)WIDTH, i % 2, (cl_uint)ROWS);
            launch(queue, exchange, WORDS / 2, 16, 0, NULL, NULL);
        }
        if (!one_in || drawn(8))
            CL(clFinish(queue));
        if (one_in && drawn(one_in) == 0)
            between(host);
    }
    CL(clFinish(queue));
    for (int i = 0; i < 2; i++)
        show_buffer(i ? "the other grid" : "a grid", queue, grid[i], 0, sizeof host);
    if (state % 2)
        return 0; /* with all that is still under way */
    RELEASE(grid[0], grid[1], advance, exchange, mark, p, other);
    return finish();
}
