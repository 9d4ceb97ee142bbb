/* SPDX-License-Identifier: MIT */
/* Prefix sums of whole numbers, in place and level by level. */
#include "../sample.h"

static long size = 2048, group = 512;
static const struct sample_option options[] = {
    {"size", "numbers", &size, 1, (1L << 32) - 1, NULL},
    {"group", "work-items of a work-group, a power of two", &group, 1, 1024, NULL},
    {0},
};

static bool check(const cl_uint *in, const cl_uint *out, size_t n)
{
    cl_uint sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += in[i];
        if (!sample_same(&out[i], &sum, sizeof(sum)))
            return false;
    }
    return true;
}

/* Up: each level's elements are the last ones of the blocks below it. Down: each block gets what lies before it. */
static void sum_up(cl_kernel in_group, cl_kernel add, cl_mem data, cl_uint n)
{
    const size_t local = (size_t)group;
    const cl_uint block = (cl_uint)(2 * local);
    cl_ulong stride = 1;
    for (; stride < n || stride == 1; stride *= block) {
        const cl_uint s = (cl_uint)stride;
        const size_t elements = n / s, global = sample_round_up(elements, block) / 2;
        ARGS(in_group, A(data), A(n), A(s), LOCAL(block * sizeof(cl_uint)));
        if (elements > 0)
            LAUNCH(in_group, 1, &global, &local);
    }
    for (stride /= block; stride >= 1; stride /= block) {
        const cl_uint s = (cl_uint)stride;
        const size_t elements = n / s, global = sample_round_up(elements, local);
        ARGS(add, A(data), A(n), A(s), A(block));
        if (elements > block)
            LAUNCH(add, 1, &global, &local);
    }
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Prefix sums of whole numbers.", options);
    if (group & (group - 1))
        sample_die(2, "--group wants a power of two, not %ld", group);
    const cl_uint n = (cl_uint)size;
    const size_t bytes = n * sizeof(cl_uint);
    cl_uint *in = sample_alloc(bytes), *out = sample_alloc(bytes);
    for (cl_uint i = 0; i < n; i++)
        in[i] = sample_random() % 256;
    cl_program program = sample_program("prefixsum.cl", "");
    cl_kernel in_group = sample_kernel(program, "prefix_group"), add = sample_kernel(program, "prefix_add");
    cl_mem data = sample_buffer(CL_MEM_READ_WRITE, bytes);

    while (sample_next()) {
        sample_write(data, in, bytes);
        sample_lap(SAMPLE_WRITE);
        sum_up(in_group, add, data, n);
        sample_lap(SAMPLE_KERNEL);
        sample_read(data, out, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(in, out, n);
    sample_output(out, bytes);
    return sample_end(pass, "%ld", size);
}
