/* SPDX-License-Identifier: MIT */
/* Transposes a matrix, tile by tile in local memory. */
#include "../sample.h"

static long size = 2048, width, height;
static const struct sample_option options[] = {
    {"size", "rows and columns of a square matrix", &size, 1, 1 << 16, NULL},
    {"width", "columns; 0: size", &width, 0, 1 << 16, NULL},
    {"height", "rows; 0: size", &height, 0, 1 << 16, NULL},
    {0},
};

enum { TILE = 16 };

static bool check(const float *in, const float *out, size_t w, size_t h)
{
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++)
            if (!sample_same(&out[x * h + y], &in[y * w + x], sizeof(*in)))
                return false;
    return true;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Transposes a matrix.", options);
    const cl_uint w = (cl_uint)(width ? width : size), h = (cl_uint)(height ? height : size);
    const size_t n = (size_t)w * h, bytes = n * sizeof(float), local[2] = {TILE, TILE};
    const size_t global[2] = {sample_round_up(w, TILE), sample_round_up(h, TILE)};
    float *in = sample_alloc(bytes), *out = sample_alloc(bytes);
    for (size_t i = 0; i < n; i++)
        in[i] = sample_uniform(0, 1);
    cl_kernel kernel = sample_kernel(sample_program("matrixtranspose.cl", "-DTILE=16"), "transpose");
    cl_mem din = sample_buffer(CL_MEM_READ_ONLY, bytes), dout = sample_buffer(CL_MEM_WRITE_ONLY, bytes);
    ARGS(kernel, A(din), A(dout), A(w), A(h));

    while (sample_next()) {
        sample_write(din, in, bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 2, global, local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dout, out, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(in, out, w, h);
    sample_output(out, bytes);
    return sample_end(pass, "%ux%u", w, h);
}
