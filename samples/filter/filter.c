/* SPDX-License-Identifier: MIT */
/* Softens a gray picture with a Gaussian filter of whole weights. */
#include "../picture.h"

static long width = 1024, height = 768, radius = 7, group = 32;
static const struct sample_option options[] = {
    {"width", "columns of the picture", &width, 1, 65536, NULL},
    {"height", "rows of the picture", &height, 1, 65536, NULL},
    {"radius", "of the filter, in pixels", &radius, 1, 32, NULL},
    {"group", "side of a work-group", &group, 1, 32, NULL},
    {0},
};

/* The weights of one row or column; a pixel's weight is the product of its row's and its column's. */
static cl_int gaussian(cl_int *weight)
{
    const double sigma = (double)radius / 2;
    cl_int sum = 0;
    for (long i = -radius; i <= radius; i++) {
        weight[i + radius] = (cl_int)lround(100 * exp(-(double)(i * i) / (2 * sigma * sigma)));
        sum += weight[i + radius];
    }
    return sum;
}

static long clamp(long n, long end)
{
    return n < 0 ? 0 : (n < end ? n : end - 1);
}

/* First along the rows, then along the columns: the same whole numbers as over the square. */
static bool check(const uint8_t *in, const uint8_t *out, const cl_int *weight, cl_int sum)
{
    cl_int *rows = sample_alloc((size_t)(width * height) * sizeof(*rows));
    uint8_t *want = sample_alloc((size_t)(width * height));
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++)
            for (long i = -radius; i <= radius; i++)
                rows[y * width + x] += weight[i + radius] * in[y * width + clamp(x + i, width)];
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++) {
            cl_int total = sum / 2;
            for (long i = -radius; i <= radius; i++)
                total += weight[i + radius] * rows[clamp(y + i, height) * width + x];
            want[y * width + x] = (uint8_t)(total / sum);
        }
    const bool pass = sample_same(out, want, (size_t)(width * height));
    return pass;
}

static void filter(const uint8_t *in, uint8_t *out, const cl_int *weights, cl_int sum)
{
    const size_t bytes = (size_t)(width * height), side = (size_t)group, local[2] = {side, side};
    const size_t weights_bytes = (size_t)(4 * radius * radius + 4 * radius + 1) * sizeof(cl_int);
    const size_t global[2] = {sample_round_up((size_t)width, side), sample_round_up((size_t)height, side)};
    const cl_int w = (cl_int)width, h = (cl_int)height;
    char defines[64];
    snprintf(defines, sizeof(defines), "-DRADIUS=%ld -DGROUP=%ld", radius, group);
    cl_program program = sample_program("filter.cl", defines);
    cl_kernel kernel = sample_kernel(program, "filter");
    cl_mem din = sample_buffer(CL_MEM_READ_ONLY, bytes), dout = sample_buffer(CL_MEM_WRITE_ONLY, bytes);
    cl_mem dweights = sample_buffer(CL_MEM_READ_ONLY, weights_bytes);
    ARGS(kernel, A(din), A(dout), A(dweights), A(sum), A(w), A(h));

    while (sample_next()) {
        sample_write(din, in, bytes);
        sample_write(dweights, weights, weights_bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 2, global, local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dout, out, bytes);
        sample_lap(SAMPLE_READ);
    }
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Softens a gray picture with a Gaussian filter.", options);
    const long side = 2 * radius + 1;
    cl_int weight[2 * 32 + 1], *weights = sample_alloc((size_t)(side * side) * sizeof(*weights));
    const cl_int row_sum = gaussian(weight);
    for (long y = 0; y < side; y++)
        for (long x = 0; x < side; x++)
            weights[y * side + x] = weight[y] * weight[x];
    uint8_t *in = picture_load((size_t)width, (size_t)height, 1), *out = sample_alloc((size_t)(width * height));

    filter(in, out, weights, row_sum * row_sum);
    const bool pass = sample.no_check || check(in, out, weight, row_sum * row_sum);
    sample_output(out, (size_t)(width * height));
    return sample_end(pass, "%ldx%ld", width, height);
}
