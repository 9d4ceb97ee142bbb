/* SPDX-License-Identifier: MIT */
/* Sorts numbers by a bitonic network, in place, one launch for each of its passes. */
#include "../sample.h"

static long size = 1048576, group = 256, rising = 1;
static const struct sample_option options[] = {
    {"size", "numbers, a power of two", &size, 2, 1L << 31, NULL},
    {"group", "work-items of a work-group, a power of two", &group, 1, 1024, NULL},
    {"rising", "1: smallest first, 0: largest first", &rising, 0, 1, NULL},
    {0},
};

static int by_size(const void *a, const void *b)
{
    const cl_uint x = *(const cl_uint *)a, y = *(const cl_uint *)b;
    return rising ? (x > y) - (x < y) : (x < y) - (x > y);
}

static bool check(const cl_uint *data, const cl_uint *sorted, size_t n)
{
    cl_uint *want = sample_alloc(n * sizeof(*want));
    memcpy(want, data, n * sizeof(*want));
    qsort(want, n, sizeof(*want), by_size);
    return sample_same(sorted, want, n * sizeof(*want));
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Sorts numbers by a bitonic network.", options);
    if ((size & (size - 1)) || (group & (group - 1)))
        sample_die(2, "--size and --group want powers of two, not %ld and %ld", size, group);
    const size_t n = (size_t)size, bytes = n * sizeof(cl_uint), global = n / 2;
    const size_t local = (size_t)group < global ? (size_t)group : global;
    const cl_uint up = (cl_uint)rising;
    cl_uint *data = sample_alloc(bytes), *sorted = sample_alloc(bytes), stages = 0;
    for (size_t i = 0; i < n; i++)
        data[i] = sample_random();
    while ((size_t)1 << stages < n)
        stages++;
    cl_kernel kernel = sample_kernel(sample_program("bitonicsort.cl", ""), "compare_pairs");
    cl_mem buffer = sample_buffer(CL_MEM_READ_WRITE, bytes);

    while (sample_next()) {
        sample_write(buffer, data, bytes);
        sample_lap(SAMPLE_WRITE);
        for (cl_uint stage = 0; stage < stages; stage++)
            for (cl_uint bits = stage + 1; bits-- > 0;) {
                ARGS(kernel, A(buffer), A(stage), A(bits), A(up));
                LAUNCH(kernel, 1, &global, &local);
            }
        sample_lap(SAMPLE_KERNEL);
        sample_read(buffer, sorted, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(data, sorted, n);
    sample_output(sorted, bytes);
    return sample_end(pass, "%ld", size);
}
