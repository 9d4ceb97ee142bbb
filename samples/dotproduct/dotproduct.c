/* SPDX-License-Identifier: MIT */
/* Dot products of many pairs of short vectors. Both operands and the result are windows of one buffer. */
#include "../sample.h"

static long size = 1277952, group = 256;
static const struct sample_option options[] = {
    {"size", "pairs of vectors of four numbers", &size, 1, 1L << 30, NULL},
    {"group", "work-items of a work-group", &group, 1, 1024, NULL},
    {0},
};

static cl_mem window(cl_mem parent, cl_mem_flags flags, size_t origin, size_t bytes)
{
    const cl_buffer_region region = {origin, bytes};
    cl_int error;
    cl_mem buffer = clCreateSubBuffer(parent, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    CHECK(error);
    return sample_keep(buffer);
}

static bool check(const float *a, const float *b, const float *product, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < 4; j++)
            sum += (double)a[4 * i + j] * (double)b[4 * i + j];
        if (!sample_close(&product[i], &(float){(float)sum}, 1, 1e-5))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Dot products of many pairs of short vectors.", options);
    const cl_ulong n = (cl_ulong)size;
    const size_t bytes = n * sizeof(float), local = (size_t)group, global = sample_round_up(n, local);
    float *a = sample_alloc(4 * bytes), *b = sample_alloc(4 * bytes), *product = sample_alloc(bytes);
    for (size_t i = 0; i < 4 * n; i++) {
        a[i] = sample_uniform(-1, 1);
        b[i] = sample_uniform(-1, 1);
    }
    cl_uint align_bits;
    CHECK(clGetDeviceInfo(sample.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(align_bits), &align_bits, NULL));
    const size_t step = sample_round_up(4 * bytes, align_bits / 8);
    cl_mem all = sample_buffer(CL_MEM_READ_WRITE, 2 * step + bytes);
    cl_mem da = window(all, CL_MEM_READ_ONLY, 0, 4 * bytes), db = window(all, CL_MEM_READ_ONLY, step, 4 * bytes);
    cl_mem dproduct = window(all, CL_MEM_WRITE_ONLY, 2 * step, bytes);
    cl_kernel kernel = sample_kernel(sample_program("dotproduct.cl", ""), "dot_product");
    ARGS(kernel, A(da), A(db), A(dproduct), A(n));

    while (sample_next()) {
        sample_write(da, a, 4 * bytes);
        sample_write(db, b, 4 * bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        CHECK(clEnqueueReadBuffer(sample.queue, all, CL_TRUE, 2 * step, bytes, product, 0, NULL, NULL));
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(a, b, product, n);
    sample_output(product, bytes);
    return sample_end(pass, "%ld", size);
}
