/* SPDX-License-Identifier: MIT */
/* Convolves a matrix with a small mask. The buffers lie in the host's own memory. */
#include "../sample.h"

static long width = 64, height = 64, side = 3;
static const struct sample_option options[] = {
    {"width", "columns of the matrix", &width, 1, 32768, NULL},
    {"height", "rows of the matrix", &height, 1, 32768, NULL},
    {"side", "rows and columns of the mask, an odd number", &side, 1, 31, NULL},
    {0},
};

/* All weights are whole multiples of 1/64 and the sums small: exact in single precision too. */
static bool check(const cl_uint *in, const float *mask, const cl_uint *out)
{
    for (long i = 0; i < width * height; i++) {
        int64_t sum = 32;
        for (long m = 0; m < side * side; m++) {
            const long x = i % width + m % side - side / 2, y = i / width + m / side - side / 2;
            if (x >= 0 && x < width && y >= 0 && y < height)
                sum += (int64_t)(mask[m] * 64) * in[y * width + x];
        }
        const cl_uint want = (cl_uint)(sum / 64);
        if (!sample_same(&out[i], &want, sizeof(want)))
            return false;
    }
    return true;
}

static cl_mem in_host_memory(cl_mem_flags flags, void *memory, size_t bytes)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(sample.context, flags | CL_MEM_USE_HOST_PTR, bytes, memory, &error);
    CHECK(error);
    return sample_keep(buffer);
}

/* What the device has comes into the host's memory, and the other way, by mapping. */
static void synchronize(cl_mem buffer, cl_map_flags flags, size_t bytes)
{
    cl_int error;
    void *p = clEnqueueMapBuffer(sample.queue, buffer, CL_TRUE, flags, 0, bytes, 0, NULL, NULL, &error);
    CHECK(error);
    CHECK(clEnqueueUnmapMemObject(sample.queue, buffer, p, 0, NULL, NULL));
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Convolves a matrix with a small mask.", options);
    if (side % 2 == 0)
        sample_die(2, "--side wants an odd number, not %ld", side);
    const size_t n = (size_t)(width * height), bytes = n * sizeof(cl_uint), weights = (size_t)(side * side);
    const cl_int w = (cl_int)width, h = (cl_int)height, s = (cl_int)side;
    cl_uint *in = sample_alloc(bytes), *out = sample_alloc(bytes);
    float *mask = sample_alloc(weights * sizeof(float));
    for (size_t i = 0; i < n; i++)
        in[i] = sample_random() % 256;
    for (size_t i = 0; i < weights; i++)
        mask[i] = (float)(sample_random() % 64) / 64.0f;
    cl_kernel kernel = sample_kernel(sample_program("simpleconvolution.cl", ""), "convolve");
    cl_mem din = in_host_memory(CL_MEM_READ_ONLY, in, bytes), dout = in_host_memory(CL_MEM_WRITE_ONLY, out, bytes);
    cl_mem dmask = in_host_memory(CL_MEM_READ_ONLY, mask, weights * sizeof(float));
    ARGS(kernel, A(din), A(dmask), A(dout), A(w), A(h), A(s));

    while (sample_next()) {
        synchronize(din, CL_MAP_WRITE | CL_MAP_READ, bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &n, NULL);
        sample_lap(SAMPLE_KERNEL);
        synchronize(dout, CL_MAP_READ, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(in, mask, out);
    sample_output(out, bytes);
    return sample_end(pass, "%ldx%ld", width, height);
}
