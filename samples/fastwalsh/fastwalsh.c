/* SPDX-License-Identifier: MIT */
/* The fast Walsh transform, in place, one launch for each of its passes. */
#include "../sample.h"

static long size = 1048576, group = 256;
static const struct sample_option options[] = {
    {"size", "numbers, a power of two", &size, 2, 1L << 31, NULL},
    {"group", "work-items of a work-group, a power of two", &group, 1, 1024, NULL},
    {0},
};

/* By recursion from the two halves of the data: the largest step first, where the device begins with the smallest. */
static void transform(double *data, size_t n)
{
    if (n == 1)
        return;
    for (size_t i = 0; i < n / 2; i++) {
        const double a = data[i], b = data[i + n / 2];
        data[i] = a + b;
        data[i + n / 2] = a - b;
    }
    transform(data, n / 2);
    transform(data + n / 2, n / 2);
}

static bool check(const float *data, const float *got, size_t n)
{
    double *exact = sample_alloc(n * sizeof(*exact));
    float *want = sample_alloc(n * sizeof(*want));
    for (size_t i = 0; i < n; i++)
        exact[i] = (double)data[i];
    transform(exact, n);
    for (size_t i = 0; i < n; i++)
        want[i] = (float)exact[i];
    return sample_close(got, want, n, 1e-6 * sqrt((double)n));
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "The fast Walsh transform.", options);
    if ((size & (size - 1)) || (group & (group - 1)))
        sample_die(2, "--size and --group want powers of two, not %ld and %ld", size, group);
    const size_t n = (size_t)size, bytes = n * sizeof(float), global = n / 2;
    const size_t local = (size_t)group < global ? (size_t)group : global;
    float *data = sample_alloc(bytes), *result = sample_alloc(bytes);
    for (size_t i = 0; i < n; i++)
        data[i] = sample_uniform(-1, 1);
    cl_kernel kernel = sample_kernel(sample_program("fastwalsh.cl", ""), "walsh_pass");
    cl_mem buffer = sample_buffer(CL_MEM_READ_WRITE, bytes);

    while (sample_next()) {
        sample_write(buffer, data, bytes);
        sample_lap(SAMPLE_WRITE);
        for (size_t s = 1; s < n; s *= 2) {
            const cl_uint step = (cl_uint)s;
            ARGS(kernel, A(buffer), A(step));
            LAUNCH(kernel, 1, &global, &local);
        }
        sample_lap(SAMPLE_KERNEL);
        sample_read(buffer, result, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(data, result, n);
    sample_output(result, bytes);
    return sample_end(pass, "%ld", size);
}
