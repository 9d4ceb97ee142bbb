/* SPDX-License-Identifier: MIT */
/* Blurs a picture with a box filter: two kernels, the second of which reads what the first wrote. */
#include "../picture.h"

static long width = 1024, height = 1024, radius = 8;
static const struct sample_option options[] = {
    {"width", "columns of the picture", &width, 1, 65536, NULL},
    {"height", "rows of the picture", &height, 1, 65536, NULL},
    {"radius", "of the filter, in pixels", &radius, 1, 64, NULL},
    {0},
};

enum { CHANNELS = 4, GROUP = 256, STRIP = 16 };

static long clamp(long n, long end)
{
    return n < 0 ? 0 : (n < end ? n : end - 1);
}

/* The mean along a line of `count` pixels, `step` bytes apart, from the sums up to each. */
static void blur_line(const uint8_t *in, uint8_t *out, long count, size_t step, uint64_t *up_to)
{
    up_to[0] = 0;
    for (long i = 0; i < count + 2 * radius; i++)
        up_to[i + 1] = up_to[i] + in[(size_t)clamp(i - radius, count) * step];
    const uint64_t side = (uint64_t)(2 * radius + 1);
    for (long i = 0; i < count; i++)
        out[(size_t)i * step] = (uint8_t)((up_to[i + 2 * radius + 1] - up_to[i] + side / 2) / side);
}

static bool check(const uint8_t *in, const uint8_t *out, size_t w, size_t h)
{
    uint8_t *rows = sample_alloc(w * h * CHANNELS), *want = sample_alloc(w * h * CHANNELS);
    uint64_t *up_to = sample_alloc((w + h + 2 * (size_t)radius + 1) * sizeof(*up_to));
    for (size_t y = 0; y < h; y++)
        for (size_t c = 0; c < CHANNELS; c++)
            blur_line(in + y * w * CHANNELS + c, rows + y * w * CHANNELS + c, width, CHANNELS, up_to);
    for (size_t x = 0; x < w * CHANNELS; x++)
        blur_line(rows + x, want + x, height, w * CHANNELS, up_to);
    return sample_same(out, want, w * h * CHANNELS);
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Blurs a picture with a box filter.", options);
    const size_t w = (size_t)width, h = (size_t)height, bytes = w * h * CHANNELS;
    const size_t rows_local[2] = {GROUP, 1}, rows_global[2] = {sample_round_up(w, GROUP), h};
    const size_t columns_local[2] = {64, 1}, columns_global[2] = {sample_round_up(w, 64), (h + STRIP - 1) / STRIP};
    const cl_int iw = (cl_int)width, ih = (cl_int)height;
    uint8_t *in = picture_load(w, h, CHANNELS), *out = sample_alloc(bytes);
    char defines[96];
    snprintf(defines, sizeof(defines), "-DRADIUS=%ld -DGROUP=%d -D STRIP=%d", radius, GROUP, STRIP);
    cl_program program = sample_program("boxfilter.cl", defines);
    cl_kernel rows = sample_kernel(program, "box_rows"), columns = sample_kernel(program, "box_columns");
    cl_mem din = sample_buffer(CL_MEM_READ_ONLY, bytes), dmiddle = sample_buffer(CL_MEM_READ_WRITE, bytes);
    cl_mem dout = sample_buffer(CL_MEM_WRITE_ONLY, bytes);
    ARGS(rows, A(din), A(dmiddle), A(iw));
    ARGS(columns, A(dmiddle), A(dout), A(iw), A(ih));

    while (sample_next()) {
        sample_write(din, in, bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(rows, 2, rows_global, rows_local);
        LAUNCH(columns, 2, columns_global, columns_local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dout, out, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(in, out, w, h);
    sample_output(out, bytes);
    return sample_end(pass, "%ldx%ld", width, height);
}
