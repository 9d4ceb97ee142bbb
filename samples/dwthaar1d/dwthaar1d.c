/* SPDX-License-Identifier: MIT */
/* The Haar wavelet transform of a signal, several levels in a launch, until one average is left. */
#include "../sample.h"

static long size = 1048576, group = 1024;
static const struct sample_option options[] = {
    {"size", "numbers in the signal, a power of two", &size, 2, 1L << 31, NULL},
    {"group", "work-items of a work-group, a power of two", &group, 1, 1024, NULL},
    {0},
};

static bool check(const float *signal, const float *got, size_t n)
{
    double *now = sample_alloc(n * sizeof(*now));
    float *want = sample_alloc(n * sizeof(*want));
    for (size_t i = 0; i < n; i++)
        now[i] = (double)signal[i];
    for (size_t left = n / 2; left > 0; left /= 2)
        for (size_t i = 0; i < left; i++) {
            const double a = now[2 * i], b = now[2 * i + 1];
            now[i] = (a + b) / sqrt(2);
            want[left + i] = (float)((a - b) / sqrt(2));
        }
    want[0] = (float)now[0];
    return sample_close(got, want, n, 1e-4);
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "The Haar wavelet transform of a signal.", options);
    if ((size & (size - 1)) || (group & (group - 1)))
        sample_die(2, "--size and --group want powers of two, not %ld and %ld", size, group);
    const size_t n = (size_t)size, bytes = n * sizeof(float);
    float *signal = sample_alloc(bytes), *result = sample_alloc(bytes);
    for (size_t i = 0; i < n; i++)
        signal[i] = sinf((float)i * 0.001f) * 10.0f + sample_uniform(-1, 1);
    cl_kernel kernel = sample_kernel(sample_program("dwthaar1d.cl", ""), "haar");
    cl_mem in = sample_buffer(CL_MEM_READ_ONLY, bytes), out = sample_buffer(CL_MEM_READ_WRITE, bytes);
    cl_mem averages[2] = {sample_buffer(CL_MEM_READ_WRITE, bytes / 2), sample_buffer(CL_MEM_READ_WRITE, bytes / 2)};

    while (sample_next()) {
        sample_write(in, signal, bytes);
        sample_lap(SAMPLE_WRITE);
        cl_mem from = in, to = averages[0];
        for (cl_uint length = (cl_uint)n; length > 1;) {
            const size_t global = length / 2, local = (size_t)group < global ? (size_t)group : global;
            ARGS(kernel, A(from), A(out), A(to), A(length), LOCAL(2 * local * sizeof(float)));
            LAUNCH(kernel, 1, &global, &local);
            length = (cl_uint)(global / local);
            from = to;
            to = to == averages[0] ? averages[1] : averages[0];
        }
        CHECK(clEnqueueCopyBuffer(sample.queue, from, out, 0, 0, sizeof(float), 0, NULL, NULL));
        sample_lap(SAMPLE_KERNEL);
        sample_read(out, result, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(signal, result, n);
    sample_output(result, bytes);
    return sample_end(pass, "%ld", size);
}
