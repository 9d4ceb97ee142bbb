/* SPDX-License-Identifier: MIT */
/* Compresses a picture to DXT1, half a byte for each pixel. */
#include "../picture.h"

static long size = 512;
static const struct sample_option options[] = {
    {"size", "rows and columns of the picture, a multiple of 4", &size, 4, 32768, NULL},
    {0},
};

enum { PIXELS = 16, CHANNELS = 4 };

static void unpack(cl_uint color, int rgb[3])
{
    const int r = (int)(color >> 11 & 31), g = (int)(color >> 5 & 63), b = (int)(color & 31);
    rgb[0] = r << 3 | r >> 2;
    rgb[1] = g << 2 | g >> 4;
    rgb[2] = b << 3 | b >> 2;
}

static void make_palette(cl_uint colors, int palette[4][3])
{
    unpack(colors & 0xffff, palette[0]);
    unpack(colors >> 16, palette[1]);
    for (int c = 0; c < 3; c++) {
        palette[2][c] = (2 * palette[0][c] + palette[1][c]) / 3;
        palette[3][c] = (palette[0][c] + 2 * palette[1][c]) / 3;
    }
}

static long distance(const int *a, const int *b)
{
    long sum = 0;
    for (int c = 0; c < 3; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

static long nearest(const int *pixel, int palette[4][3])
{
    long best = distance(pixel, palette[0]);
    for (int i = 1; i < 4; i++)
        best = distance(pixel, palette[i]) < best ? distance(pixel, palette[i]) : best;
    return best;
}

/* What a plain compressor makes of the block: the corners of the box around its colors. */
static long box_error(int pixel[PIXELS][3])
{
    cl_uint corner[2] = {0, 0};
    for (int c = 0; c < 3; c++) {
        int low = 255, high = 0;
        for (int i = 0; i < PIXELS; i++) {
            low = pixel[i][c] < low ? pixel[i][c] : low;
            high = pixel[i][c] > high ? pixel[i][c] : high;
        }
        const int steps = c == 1 ? 63 : 31, shift = c == 0 ? 11 : (c == 1 ? 5 : 0);
        corner[0] |= (cl_uint)lround(high * steps / 255.0) << shift;
        corner[1] |= (cl_uint)lround(low * steps / 255.0) << shift;
    }
    int palette[4][3];
    long sum = 0;
    make_palette(corner[0] | corner[1] << 16, palette);
    for (int i = 0; i < PIXELS; i++)
        sum += nearest(pixel[i], palette);
    return sum;
}

/* Every pixel must have the best of its block's colors, and the picture be better than the plain compressor's. */
static bool check(const uint8_t *in, const cl_uint2 *blocks, size_t n)
{
    double total = 0, plain_total = 0;
    for (size_t b = 0; b < n / 4 * (n / 4); b++) {
        int pixel[PIXELS][3], palette[4][3];
        const cl_uint colors = blocks[b].s[0];
        make_palette(colors, palette);
        for (size_t i = 0; i < PIXELS; i++) {
            const size_t x = b % (n / 4) * 4 + i % 4, y = b / (n / 4) * 4 + i / 4;
            for (size_t c = 0; c < 3; c++)
                pixel[i][c] = in[(y * n + x) * CHANNELS + c];
            const long error = distance(pixel[i], palette[blocks[b].s[1] >> (2 * i) & 3]);
            if (error != nearest(pixel[i], palette) || (colors & 0xffff) < colors >> 16) {
                fprintf(stderr, "%s: block %zu, pixel %zu: another color is nearer\n", sample.name, b, i);
                return false;
            }
            total += (double)error;
        }
        plain_total += (double)box_error(pixel);
    }
    const double decibels = 10 * log10(255.0 * 255.0 * 3 * (double)(n * n) / total);
    if (total > plain_total || decibels < 20)
        fprintf(stderr, "%s: the error is %.0f, a plain compressor's %.0f; %.1f dB\n", sample.name, total, plain_total,
                decibels);
    return total <= plain_total && decibels >= 20;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Compresses a picture to DXT1.", options);
    if (size % 4 != 0)
        sample_die(2, "--size wants a multiple of 4, not %ld", size);
    const size_t n = (size_t)size, in_bytes = n * n * CHANNELS, out_bytes = n * n / 2;
    const size_t local = 64, global = n * n / PIXELS * local;
    const cl_uint width = (cl_uint)n;
    uint8_t *in = picture_load(n, n, CHANNELS);
    cl_uint2 *blocks = sample_alloc(out_bytes);
    cl_kernel kernel = sample_kernel(sample_program("dxtcompression.cl", ""), "compress");
    cl_mem din = sample_buffer(CL_MEM_READ_ONLY, in_bytes), dout = sample_buffer(CL_MEM_WRITE_ONLY, out_bytes);
    ARGS(kernel, A(din), A(dout), A(width));

    while (sample_next()) {
        sample_write(din, in, in_bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dout, blocks, out_bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(in, blocks, n);
    sample_output(blocks, out_bytes);
    return sample_end(pass, "%ldx%ld", size, size);
}
