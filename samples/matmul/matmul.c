/* SPDX-License-Identifier: MIT */
/* Multiplies two matrices, tile by tile in local memory. */
#include "../sample.h"

static long size = 2048, height, inner, width, tile = 32;
static const struct sample_option options[] = {
    {"size", "rows and columns of square matrices", &size, 1, 1 << 16, NULL},
    {"height", "rows of the result; 0: size", &height, 0, 1 << 16, NULL},
    {"inner", "columns of the left and rows of the right matrix; 0: size", &inner, 0, 1 << 16, NULL},
    {"width", "columns of the result; 0: size", &width, 0, 1 << 16, NULL},
    {"tile", "side of a tile, which is a work-group", &tile, 1, 32, NULL},
    {0},
};

/* Row by row: each row of the result is a sum of rows of b, in double precision. */
static bool check(const float *a, const float *b, const float *c, size_t h, size_t k, size_t w)
{
    double *sum = sample_alloc(w * sizeof(*sum));
    float *want = sample_alloc(w * sizeof(*want));
    bool pass = true;
    for (size_t y = 0; y < h && pass; y++) {
        memset(sum, 0, w * sizeof(*sum));
        for (size_t i = 0; i < k; i++) {
            const double factor = (double)a[y * k + i];
            for (size_t x = 0; x < w; x++)
                sum[x] += factor * (double)b[i * w + x];
        }
        for (size_t x = 0; x < w; x++)
            want[x] = (float)sum[x];
        pass = sample_close(c + y * w, want, w, 1e-6 * (double)k);
    }
    return pass;
}

static void multiply(const float *a, const float *b, float *c, cl_uint h, cl_uint k, cl_uint w)
{
    const size_t a_bytes = sizeof(float) * h * k, b_bytes = sizeof(float) * k * w, c_bytes = sizeof(float) * h * w;
    const size_t side = (size_t)tile, local[2] = {side, side};
    const size_t global[2] = {sample_round_up(w, side), sample_round_up(h, side)};
    char define[32];
    snprintf(define, sizeof(define), "-DTILE=%ld", tile);
    cl_program program = sample_program("matmul.cl", define);
    cl_kernel kernel = sample_kernel(program, "matmul");
    cl_mem da = sample_buffer(CL_MEM_READ_ONLY, a_bytes), db = sample_buffer(CL_MEM_READ_ONLY, b_bytes);
    cl_mem dc = sample_buffer(CL_MEM_WRITE_ONLY, c_bytes);
    ARGS(kernel, A(dc), A(da), A(db), A(h), A(k), A(w));

    while (sample_next()) {
        sample_write(da, a, a_bytes);
        sample_write(db, b, b_bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 2, global, local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dc, c, c_bytes);
        sample_lap(SAMPLE_READ);
    }
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Multiplies two matrices.", options);
    const cl_uint h = (cl_uint)(height ? height : size), k = (cl_uint)(inner ? inner : size);
    const cl_uint w = (cl_uint)(width ? width : size);
    const size_t a_count = (size_t)h * k, b_count = (size_t)k * w, c_count = (size_t)h * w;
    float *a = sample_alloc(a_count * sizeof(float)), *b = sample_alloc(b_count * sizeof(float));
    float *c = sample_alloc(c_count * sizeof(float));
    for (size_t i = 0; i < a_count; i++)
        a[i] = sample_uniform(-1, 1);
    for (size_t i = 0; i < b_count; i++)
        b[i] = sample_uniform(-1, 1);

    multiply(a, b, c, h, k, w);
    const bool pass = sample.no_check || check(a, b, c, h, k, w);
    sample_output(c, c_count * sizeof(float));
    return sample_end(pass, "%ux%ux%u", h, k, w);
}
