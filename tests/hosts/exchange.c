/* SPDX-License-Identifier: MIT */
/* exchange [MIB [ROUNDS [image]]]: each launch reads all of a buffer, or an image, of so many MiB, the words of the
 * launch before, for words all over it: in two parts, however they are cut, each gives the other what that one lacks,
 * so many MiB in all. Prints the median of a launch in ms; ends with 1 where a word is wrong. */
#include "tests/e2e/programs/plain.h"

enum { MOST_ROUNDS = 101, WIDTH = 1024, TEXEL = 4 /* words */ };

static const char text[] =
    "kernel void spread(global const uint *in, uint n, global uint *out)"
    "{ uint i = get_global_id(0); out[i] = in[i * 2654435761u % n] + i; }"
    "kernel void texels(read_only image2d_t in, uint n, write_only image2d_t out)"
    "{ uint x = get_global_id(0), y = get_global_id(1), i = y * 1024u + x, j = i * 2654435761u % n;"
    "  write_imageui(out, (int2)(x, y), read_imageui(in, (int2)(j % 1024u, j / 1024u)) + i); }";
static const size_t none[3] = {0};

static cl_mem make(bool image, size_t bytes)
{
    const size_t all[3] = {WIDTH, bytes / WIDTH / 16, 1};
    return image ? new_image(CL_MEM_OBJECT_IMAGE2D, all, CL_MEM_READ_WRITE, CL_UNSIGNED_INT32, NULL)
                 : buffer(CL_MEM_READ_WRITE, bytes, NULL);
}

static void carry(cl_mem mem, bool image, bool write, size_t bytes, void *host)
{
    const size_t all[3] = {WIDTH, bytes / WIDTH / 16, 1};
    if (image && write)
        CL(clEnqueueWriteImage(queue, mem, CL_TRUE, none, all, 0, 0, host, 0, NULL, NULL));
    else if (image)
        CL(clEnqueueReadImage(queue, mem, CL_TRUE, none, all, 0, 0, host, 0, NULL, NULL));
    else if (write)
        CL(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
    else
        CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const bool image = argc > 3;
    const size_t n = (size_t)(argc > 1 ? atoi(argv[1]) : 64) * 1024 * 1024 / sizeof(cl_uint);
    const cl_uint rounds = argc > 2 ? (cl_uint)atoi(argv[2]) : 5, each = image ? TEXEL : 1, items = (cl_uint)n / each;
    const size_t flat[2] = {n, 1}, wide[2] = {WIDTH, items / WIDTH}, local[2] = {64, 1};
    cl_uint *values = malloc(n * sizeof *values), *want = malloc(n * sizeof *want), *next = malloc(n * sizeof *next);
    double took[MOST_ROUNDS];
    cl_mem mem[2];
    if (!values || !want || !next || rounds < 1 || rounds >= MOST_ROUNDS)
        return 2;
    start(0);
    for (cl_uint i = 0; i < n; i++)
        values[i] = want[i] = i;
    cl_kernel kernel = kernel_of(build(text, ""), image ? "texels" : "spread");
    for (int i = 0; i < 2; i++)
        mem[i] = make(image, n * sizeof *values);
    carry(mem[0], image, true, n * sizeof *values, values);
    set_uint(kernel, 1, items);
    for (cl_uint r = 0; r <= rounds; r++) { /* the first compiles, and finds what it reads at home */
        const double begin = seconds();
        set_mem(kernel, 0, mem[r % 2]);
        set_mem(kernel, 2, mem[1 - r % 2]);
        CL(clEnqueueNDRangeKernel(queue, kernel, image ? 2 : 1, NULL, image ? wide : flat, local, 0, NULL, NULL));
        CL(clFinish(queue));
        if (r)
            took[r - 1] = (seconds() - begin) * 1e3;
        for (cl_uint i = 0; i < items; i++)
            for (cl_uint k = 0; k < each; k++)
                next[i * each + k] = want[i * 2654435761u % items * each + k] + i;
        cl_uint *const was = want;
        want = next;
        next = was;
    }
    carry(mem[1 - rounds % 2], image, false, n * sizeof *values, values);
    for (cl_uint i = 0; i < n; i++)
        if (values[i] != want[i]) {
            printf("word %u is %u, not %u\n", i, values[i], want[i]);
            return 1;
        }
    qsort(took, rounds, sizeof *took, compare);
    printf("%.1f\n", took[rounds / 2]);
    return 0;
}
