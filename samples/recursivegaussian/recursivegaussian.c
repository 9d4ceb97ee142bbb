/* SPDX-License-Identifier: MIT */
/* Softens a picture by a recursive Gaussian filter: columns, transpose, columns, transpose. */
#include "../picture.h"

static long width = 512, height = 512, sigma = 10;
static const struct sample_option options[] = {
    {"width", "columns of the picture", &width, 1, 65536, NULL},
    {"height", "rows of the picture", &height, 1, 65536, NULL},
    {"sigma", "of the Gaussian, in pixels", &sigma, 1, 100, NULL},
    {0},
};

enum { CHANNELS = 4, GROUP = 256, TILE = 16 };

/* Deriche's coefficients: a for the values, b for the results before, edge for a constant picture's result. */
struct coefficients {
    double a[4], b[2], edge[2];
};

static struct coefficients make_coefficients(void)
{
    const double alpha = 1.695 / (double)sigma, e = exp(-alpha), e2 = exp(-2 * alpha);
    const double k = (1 - e) * (1 - e) / (1 + 2 * alpha * e - e2);
    struct coefficients c = {.a = {k, k * (alpha - 1) * e, k * (alpha + 1) * e, -k * e2}, .b = {-2 * e, e2}};
    c.edge[0] = (c.a[0] + c.a[1]) / (1 + c.b[0] + c.b[1]);
    c.edge[1] = (c.a[2] + c.a[3]) / (1 + c.b[0] + c.b[1]);
    return c;
}

/* One channel of one line, in double precision; the numbers before and after the line are those at its ends. */
static void filter_line(const uint8_t *in, uint8_t *out, long n, size_t step, const struct coefficients *c,
                        double *down)
{
    double x1 = in[0], x2, y1 = c->edge[0] * x1, y2 = y1;
    for (long i = 0; i < n; i++) {
        const double x = in[(size_t)i * step];
        down[i] = c->a[0] * x + c->a[1] * x1 - c->b[0] * y1 - c->b[1] * y2;
        x1 = x;
        y2 = y1;
        y1 = down[i];
    }
    x1 = x2 = in[(size_t)(n - 1) * step];
    y1 = y2 = c->edge[1] * x1;
    for (long i = n - 1; i >= 0; i--) {
        const double y = c->a[2] * x1 + c->a[3] * x2 - c->b[0] * y1 - c->b[1] * y2;
        out[(size_t)i * step] = (uint8_t)fmin(255, fmax(0, rint(down[i] + y)));
        x2 = x1;
        x1 = in[(size_t)i * step];
        y2 = y1;
        y1 = y;
    }
}

/* Rounding to bytes between the two directions may turn out otherwise in single precision: two levels at most. */
static bool check(const uint8_t *in, const uint8_t *out, const struct coefficients *c)
{
    const size_t w = (size_t)width, h = (size_t)height;
    uint8_t *columns = sample_alloc(w * h * CHANNELS), *want = sample_alloc(w * h * CHANNELS);
    double *down = sample_alloc((w + h) * sizeof(*down));
    for (size_t x = 0; x < w * CHANNELS; x++)
        filter_line(in + x, columns + x, height, w * CHANNELS, c, down);
    for (size_t y = 0; y < h; y++)
        for (size_t i = 0; i < CHANNELS; i++)
            filter_line(columns + y * w * CHANNELS + i, want + y * w * CHANNELS + i, width, CHANNELS, c, down);
    for (size_t i = 0; i < w * h * CHANNELS; i++)
        if (abs(out[i] - want[i]) > 2)
            return sample_same(&out[i], &want[i], 1);
    return true;
}

/* Filters along the columns of `in` and puts the transposed result into `out`. */
static void pass(cl_kernel gaussian, cl_kernel transpose, const struct coefficients *c, const cl_mem buffers[4],
                 cl_uint w, cl_uint h)
{
    const cl_float4 a = {{(float)c->a[0], (float)c->a[1], (float)c->a[2], (float)c->a[3]}};
    const cl_float2 b = {{(float)c->b[0], (float)c->b[1]}}, edge = {{(float)c->edge[0], (float)c->edge[1]}};
    const size_t local = GROUP, global = sample_round_up(w, GROUP), tile[2] = {TILE, TILE};
    const size_t tiles[2] = {sample_round_up(w, TILE), sample_round_up(h, TILE)};
    ARGS(gaussian, A(buffers[0]), A(buffers[1]), A(buffers[2]), A(w), A(h), A(a), A(b), A(edge));
    LAUNCH(gaussian, 1, &global, &local);
    ARGS(transpose, A(buffers[2]), A(buffers[3]), A(w), A(h));
    LAUNCH(transpose, 2, tiles, tile);
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Softens a picture by a recursive Gaussian filter.", options);
    const cl_uint w = (cl_uint)width, h = (cl_uint)height;
    const size_t bytes = (size_t)w * h * CHANNELS;
    const struct coefficients c = make_coefficients();
    uint8_t *in = picture_load(w, h, CHANNELS), *out = sample_alloc(bytes);
    cl_program program = sample_program("recursivegaussian.cl", "");
    cl_kernel gaussian = sample_kernel(program, "recursive_gaussian"), transpose = sample_kernel(program, "transpose");
    cl_mem picture = sample_buffer(CL_MEM_READ_WRITE, bytes), down = sample_buffer(CL_MEM_READ_WRITE, 4 * bytes);
    cl_mem filtered = sample_buffer(CL_MEM_READ_WRITE, bytes), turned = sample_buffer(CL_MEM_READ_WRITE, bytes);

    while (sample_next()) {
        sample_write(picture, in, bytes);
        sample_lap(SAMPLE_WRITE);
        pass(gaussian, transpose, &c, (const cl_mem[]){picture, down, filtered, turned}, w, h);
        pass(gaussian, transpose, &c, (const cl_mem[]){turned, down, filtered, picture}, h, w);
        sample_lap(SAMPLE_KERNEL);
        sample_read(picture, out, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool right = sample.no_check || check(in, out, &c);
    sample_output(out, bytes);
    return sample_end(right, "%ldx%ld", width, height);
}
