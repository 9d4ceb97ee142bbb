/* SPDX-License-Identifier: MIT */
/* beyond_32_bits [ITEMS GROUP]: work-items and bytes whose numbers take more than 32 bits. Without arguments launches
 * of few work-items that begin at 2^31, 2^32 and beyond, in each dimension, and what they compute. With ITEMS (and
 * work-groups of GROUP) launches of that many in one, two and three dimensions, with an offset and without, over a
 * driver that computes nothing. */
#include "plain.h"

static const char source[] =
    "__kernel void number(__global ulong *v, ulong x, ulong y, ulong z)\n"
    "{ size_t i = (get_global_id(2) - z) * 16 * 64 + (get_global_id(1) - y) * 64 + get_global_id(0) - x;\n"
    "  v[i] = get_global_id(0) ^ get_global_id(1) << 20 ^ get_global_id(2) << 40; }\n"
    "__kernel void every(__global ulong *v, ulong x, ulong y, ulong z)\n"
    "{ size_t i = get_group_id(2) * 16 * 64 + get_group_id(1) * 64 + get_global_id(0) - x;\n"
    "  v[i] = v[i] * 3 + get_global_offset(0) + get_global_size(1) + get_num_groups(0) + get_global_linear_id(); }\n"
    "__kernel void bytes(__global uchar *v) { v[get_global_id(0)] = 1; }\n"
    "__kernel void plane(__global uchar *v, ulong w) { v[get_global_id(1) * w + get_global_id(0)] = 1; }\n"
    "__kernel void space(__global uchar *v, ulong w, ulong h)\n"
    "{ v[(get_global_id(2) * h + get_global_id(1)) * w + get_global_id(0)] = 1; }\n";

static void set_ulong(cl_kernel k, cl_uint i, cl_ulong v)
{
    CL(clSetKernelArg(k, i, sizeof v, &v));
}

static void far_away(cl_program p)
{
    static const size_t far[] = {((size_t)1 << 31) - 32, (size_t)1 << 31, ((size_t)1 << 32) - 32, (size_t)5000000000};
    const size_t size[3] = {64, 16, 8}, local[3] = {16, 1, 1}, bytes = 64 * 16 * 8 * 8;
    static cl_ulong zero[64 * 16 * 8];
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 2; k++) {
                size_t offset[3] = {0, 0, 0};
                offset[d] = far[i];
                cl_kernel kernel = kernel_of(p, k ? "every" : "number");
                cl_mem m = buffer_of(zero, bytes);
                set_mem(kernel, 0, m);
                for (cl_uint a = 0; a < 3; a++)
                    set_ulong(kernel, a + 1, offset[a]);
                CL(clEnqueueNDRangeKernel(queue, kernel, 3, offset, size, local, 0, NULL, NULL));
                printf("%zu in dimension %d: ", far[i], d);
                show_buffer(k ? "every" : "number", queue, m, 0, bytes);
                RELEASE(m, kernel);
            }
}

static void mark(const char *name, const size_t *offset, const size_t *size)
{
    printf("%s %zu %zu %zu %zu %zu %zu\n", name, offset[0], offset[1], offset[2], size[0], size[1], size[2]);
    CL(clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, 0, NULL, NULL)); /* by which the driver's log is cut */
}

static void many(cl_program p, size_t items, size_t group)
{
    const size_t rows = 1000, planes = 5, first = (size_t)7000000000;
    const size_t size[][3] = {{items, 1, 1}, {items / rows, rows, 1}, {items / rows / planes, rows, planes}};
    const size_t local[3] = {group, 1, 1};
    static const char *const name[] = {"bytes", "plane", "space"};
    cl_mem m = buffer(CL_MEM_READ_WRITE, first + items, NULL);
    for (cl_uint d = 0; d < 3; d++)
        for (int far = 0; far < (d == 0 ? 2 : 1); far++) {
            const size_t offset[3] = {far ? first : 0, 0, 0};
            cl_kernel k = kernel_of(p, name[d]);
            set_mem(k, 0, m);
            for (cl_uint a = 0; a < d; a++)
                set_ulong(k, a + 1, size[d][a]);
            CL(clEnqueueNDRangeKernel(queue, k, d + 1, offset, size[d], local, 0, NULL, NULL));
            CL(clFinish(queue));
            mark(name[d], offset, size[d]);
            CL(clReleaseKernel(k));
        }
    CL(clReleaseMemObject(m));
}

int main(int argc, char **argv)
{
    start(0);
    cl_program p = build(source, "-cl-std=CL3.0");
    if (argc > 2)
        many(p, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    else
        far_away(p);
    return FINISH(p);
}
