/* SPDX-License-Identifier: MIT */
/* columns [ROUNDS [WIDTH HEIGHT [PITCH]]]: kernels whose work-items each go down a column of a picture, or along a row,
 * so that the parts of a split pass vertical bands on: of random pictures, whose elements, pitch and offset in the
 * buffer are random too, with what the host reads and writes in between. With a size: that picture alone, of words; the
 * buffers end with its last row. */
#include "plain.h"

enum { BYTES = 1 << 20, MOST_WIDTH = 300, MOST_HEIGHT = 400 };

/* T is the element. Each column is made of the one to its left and the one to its right, each row of its neighbours. */
static const char source[] =
    "__kernel void columns(__global const T *in, __global T *out, uint first, uint width, uint pitch, uint height,\n"
    "                      uint k)\n"
    "{\n"
    "    uint x = get_global_id(0), left = x ? x - 1 : 0, right = min(x + 1, width - 1);\n"
    "    if (x >= width)\n"
    "        return;\n"
    "    T sum = (T)k;\n"
    "    for (uint y = 0; y < height; y++) {\n"
    "        uint row = first + y * pitch;\n"
    "        sum = sum * (T)3 + in[row + left] + in[row + x] + in[row + right];\n"
    "        out[row + x] = sum;\n"
    "    }\n"
    "}\n"
    "__kernel void rows(__global const T *in, __global T *out, uint first, uint width, uint pitch, uint height, uint "
    "k)\n"
    "{\n"
    "    uint y = get_global_id(0);\n"
    "    if (y >= height)\n"
    "        return;\n"
    "    T sum = (T)k;\n"
    "    for (uint x = 0; x < width; x++) {\n"
    "        sum = sum * (T)5 + in[first + y * pitch + x];\n"
    "        out[first + y * pitch + x] = sum;\n"
    "    }\n"
    "}\n"
    "__kernel void turn(__global const T *in, __global T *out, uint first, uint width, uint pitch, uint height, uint "
    "k)\n"
    "{\n"
    "    uint x = get_global_id(0), y = get_global_id(1);\n"
    "    if (x < width && y < height)\n"
    "        out[first + x * height + y] = in[first + y * pitch + x] + (T)k;\n"
    "}\n";

static const char *const types[] = {"uchar", "ushort", "uint", "uint2", "uint4"};
enum { TYPES = sizeof types / sizeof *types };
static const unsigned bytes_of[TYPES] = {1, 2, 4, 8, 16};

static uint32_t drawn = 1;

static unsigned draw(unsigned n)
{
    drawn = drawn * 1664525 + 1013904223;
    return (drawn >> 8) % n;
}

static void read_later(cl_mem m, size_t begin, size_t n, void *host)
{
    cl_event e;
    CL(clEnqueueReadBuffer(queue, m, CL_FALSE, begin, n, host, 0, NULL, &e));
    wait_for(e);
    show("later", host, n);
}

static void run(cl_kernel k, cl_mem in, cl_mem out, const unsigned numbers[5], size_t items, size_t beside)
{
    const size_t local = 16, global[2] = {(items + local - 1) / local * local, beside};
    SET(k, in, out);
    for (cl_uint i = 0; i < 5; i++)
        set_uint(k, 2 + i, numbers[i]);
    CL(clEnqueueNDRangeKernel(queue, k, beside ? 2 : 1, NULL, global, beside ? NULL : &local, 0, NULL, NULL));
}

/* What the host does with the picture between two launches. */
static void host_access(cl_mem m, size_t bytes, unsigned char *host)
{
    const size_t begin = draw((unsigned)bytes), n = 1 + draw((unsigned)(bytes - begin));
    switch (draw(4)) {
    case 0:
        fill_words((uint32_t *)(void *)host, n / 4 + 1, (uint32_t)n);
        CL(clEnqueueWriteBuffer(queue, m, CL_TRUE, begin, n, host, 0, NULL, NULL));
        break;
    case 1:
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, begin, n, host, 0, NULL, NULL));
        show("some", host, n);
        break;
    case 2:
        read_later(m, begin, n, host);
        break;
    default:
        break;
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 12;
    const unsigned fixed_width = argc > 3 ? (unsigned)atoi(argv[2]) : 0,
                   fixed_height = fixed_width ? (unsigned)atoi(argv[3]) : 0,
                   fixed_pitch = argc > 4 ? (unsigned)atoi(argv[4]) : fixed_width;
    const size_t all = fixed_width ? ((size_t)fixed_pitch * (fixed_height - 1) + fixed_width) * 4 : BYTES * 4;
    cl_kernel kernels[TYPES][3];
    cl_program programs[TYPES];
    cl_mem m[2];
    uint32_t *host = malloc(all + 8);
    if (!host)
        return 1;
    start(0);
    for (int t = fixed_width ? 2 : 0; t < (fixed_width ? 3 : TYPES); t++) {
        char option[32];
        snprintf(option, sizeof option, "-DT=%s", types[t]);
        programs[t] = build(source, option);
        kernels[t][0] = kernel_of(programs[t], "columns");
        kernels[t][1] = kernel_of(programs[t], "rows");
        kernels[t][2] = kernel_of(programs[t], "turn");
    }
    fill_words(host, all / 4, 5);
    for (int i = 0; i < 2; i++)
        m[i] = buffer_of(host, all);
    for (int r = 0; r < rounds; r++) {
        const unsigned t = fixed_width ? 2 : draw(TYPES), bytes = bytes_of[t];
        const unsigned width = fixed_width ? fixed_width : 70 + draw(MOST_WIDTH - 70);
        const unsigned height = fixed_width ? fixed_height : 40 + draw(MOST_HEIGHT - 40);
        const unsigned pitch = fixed_width ? fixed_pitch : width + draw(2) * draw(100);
        const unsigned room = (unsigned)(all / bytes) - (height - 1) * pitch - width;
        const unsigned numbers[5] = {fixed_width ? 0 : draw(room), width, pitch, height, (unsigned)r};
        const unsigned n = fixed_width ? 2 : 1 + draw(4);
        for (unsigned i = 0; i < n; i++) {
            const unsigned which = fixed_width ? i : draw(3);
            run(kernels[t][which], m[0], m[1], numbers, which == 1 ? height : width, which == 2 ? height : 0);
            if (!fixed_width)
                host_access(m[draw(2)], all, (unsigned char *)host);
            const cl_mem swap = m[0];
            m[0] = m[1];
            m[1] = swap;
        }
        if (!fixed_width && draw(3) == 0)
            CL(clEnqueueCopyBuffer(queue, m[0], m[1], 0, 0, all, 0, NULL, NULL));
    }
    if (fixed_width) { /* what the host reads lies in columns */
        const unsigned numbers[5] = {0, fixed_width, fixed_pitch, fixed_height, 7};
        run(kernels[2][0], m[0], m[1], numbers, fixed_width, 0);
        read_later(m[1], 0, all, host);
    }
    for (int i = 0; i < 2; i++)
        show_buffer(i ? "other" : "last", queue, m[i], 0, all);
    for (int t = fixed_width ? 2 : 0; t < (fixed_width ? 3 : TYPES); t++) {
        for (int k = 0; k < 3; k++)
            CL(clReleaseKernel(kernels[t][k]));
        CL(clReleaseProgram(programs[t]));
    }
    RELEASE(m[0], m[1]);
    free(host);
    return finish();
}
