/* SPDX-License-Identifier: MIT */
/* Transforms a picture by the cosine transform of 8 x 8 blocks and back, on a queue that may run its commands out of
 * order: events say what must wait for what. */
#include "../picture.h"

static long size = 2048;
static const struct sample_option options[] = {
    {"size", "rows and columns, a multiple of 32", &size, 32, 32768, NULL},
    {0},
};

/* One block by the definition. */
static bool check_block(const float *in, const float *got, size_t stride)
{
    static double cosine[8][8];
    for (int k = 0; k < 8 && cosine[0][0] == 0; k++)
        for (int n = 0; n < 8; n++)
            cosine[7 - k][n] = (k == 7 ? sqrt(0.125) : 0.5) * cos((2 * n + 1) * (7 - k) * M_PI / 16);
    double rows[8][8];
    for (size_t y = 0; y < 8; y++)
        for (size_t k = 0; k < 8; k++) {
            rows[y][k] = 0;
            for (size_t n = 0; n < 8; n++)
                rows[y][k] += cosine[k][n] * (double)in[y * stride + n];
        }
    for (size_t j = 0; j < 8; j++)
        for (size_t k = 0; k < 8; k++) {
            double sum = 0;
            for (size_t y = 0; y < 8; y++)
                sum += cosine[j][y] * rows[y][k];
            if (!sample_close(&got[j * stride + k], &(float){(float)sum}, 1, 1e-2))
                return false;
        }
    return true;
}

static bool check(const float *in, const float *transformed, const float *back, size_t n)
{
    for (size_t y = 0; y < n; y += 8)
        for (size_t x = 0; x < n; x += 8)
            if (!check_block(in + y * n + x, transformed + y * n + x, n))
                return false;
    return sample_close(back, in, n * n, 1e-3);
}

static cl_command_queue open_queue(void)
{
    cl_int error;
    cl_command_queue queue =
        clCreateCommandQueue(sample.context, sample.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    if (error == CL_INVALID_QUEUE_PROPERTIES)
        queue = clCreateCommandQueue(sample.context, sample.device, 0, &error);
    CHECK(error);
    return queue;
}

static void transform(const float *in, float *transformed, float *back, size_t n)
{
    const size_t bytes = n * n * sizeof(float), local[2] = {32, 2}, global[2] = {n, n / 8};
    const cl_uint stride = (cl_uint)n;
    cl_program program = sample_program("dct8x8.cl", "");
    cl_kernel dct = sample_kernel(program, "dct8x8"), idct = sample_kernel(program, "idct8x8");
    cl_mem din = sample_buffer(CL_MEM_READ_ONLY, bytes), dmiddle = sample_buffer(CL_MEM_READ_WRITE, bytes);
    cl_mem dback = sample_buffer(CL_MEM_WRITE_ONLY, bytes);
    cl_command_queue queue = open_queue();
    ARGS(dct, A(din), A(dmiddle), A(stride));
    ARGS(idct, A(dmiddle), A(dback), A(stride));

    while (sample_next()) {
        cl_event written, done[2], read[2];
        CHECK(clEnqueueWriteBuffer(queue, din, CL_FALSE, 0, bytes, in, 0, NULL, &written));
        CHECK(clWaitForEvents(1, &written));
        sample_lap(SAMPLE_WRITE);
        CHECK(clEnqueueNDRangeKernel(queue, dct, 2, NULL, global, local, 1, &written, &done[0]));
        CHECK(clEnqueueNDRangeKernel(queue, idct, 2, NULL, global, local, 1, &done[0], &done[1]));
        CHECK(clWaitForEvents(2, done));
        sample_lap(SAMPLE_KERNEL);
        CHECK(clEnqueueReadBuffer(queue, dmiddle, CL_FALSE, 0, bytes, transformed, 1, &done[0], &read[0]));
        CHECK(clEnqueueReadBuffer(queue, dback, CL_FALSE, 0, bytes, back, 1, &done[1], &read[1]));
        CHECK(clWaitForEvents(2, read));
        sample_lap(SAMPLE_READ);
        clReleaseEvent(written);
        for (int i = 0; i < 2; i++) {
            clReleaseEvent(done[i]);
            clReleaseEvent(read[i]);
        }
    }
    CHECK(clReleaseCommandQueue(queue));
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Transforms a picture by the cosine transform of 8 x 8 blocks, and back.", options);
    if (size % 32 != 0)
        sample_die(2, "--size wants a multiple of 32, not %ld", size);
    const size_t n = (size_t)size, bytes = n * n * sizeof(float);
    const uint8_t *picture = picture_load(n, n, 1);
    float *in = sample_alloc(bytes), *transformed = sample_alloc(bytes), *back = sample_alloc(bytes);
    for (size_t i = 0; i < n * n; i++)
        in[i] = (float)picture[i] - 128.0f;

    transform(in, transformed, back, n);
    const bool pass = sample.no_check || check(in, transformed, back, n);
    sample_output(transformed, bytes);
    sample_output(back, bytes);
    return sample_end(pass, "%ldx%ld", size, size);
}
