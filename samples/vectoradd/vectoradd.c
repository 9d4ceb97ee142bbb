/* SPDX-License-Identifier: MIT */
/* Adds two vectors. */
#include "../sample.h"

static long size = 114447872, group = 256;
static const struct sample_option options[] = {
    {"size", "numbers in a vector", &size, 1, 1L << 32, NULL},
    {"group", "work-items of a work-group", &group, 1, 1024, NULL},
    {0},
};

static bool check(const float *a, const float *b, const float *sum, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!sample_close(&sum[i], &(float){a[i] + b[i]}, 1, 0))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Adds two vectors.", options);
    const cl_ulong n = (cl_ulong)size;
    const size_t bytes = n * sizeof(float), local = (size_t)group, global = sample_round_up(n, local);
    float *a = sample_alloc(bytes), *b = sample_alloc(bytes), *sum = sample_alloc(bytes);
    for (size_t i = 0; i < n; i++) {
        a[i] = sample_uniform(-100, 100);
        b[i] = sample_uniform(-100, 100);
    }
    cl_program program = sample_program("vectoradd.cl", "");
    cl_kernel kernel = sample_kernel(program, "vector_add");
    cl_mem da = sample_buffer(CL_MEM_READ_ONLY, bytes), db = sample_buffer(CL_MEM_READ_ONLY, bytes);
    cl_mem dsum = sample_buffer(CL_MEM_WRITE_ONLY, bytes);
    ARGS(kernel, A(da), A(db), A(dsum), A(n));

    while (sample_next()) {
        sample_write(da, a, bytes);
        sample_write(db, b, bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dsum, sum, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(a, b, sum, n);
    sample_output(sum, bytes);
    return sample_end(pass, "%ld", size);
}
