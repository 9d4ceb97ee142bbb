/* SPDX-License-Identifier: MIT */
/* Steps of a finite difference scheme in three dimensions. The device's volumes have a margin that the host's has not:
 * rectangular transfers put the one into the other. */
#include "../sample.h"

static long size = 376, steps = 5;
static const struct sample_option options[] = {
    {"size", "points along each axis", &size, 1, 4096, NULL},
    {"steps", "in time", &steps, 1, 1000, NULL},
    {0},
};

enum { RADIUS = 4 };

static const float weight[RADIUS + 1] = {0.4f, 0.05f, 0.025f, 0.015f, 0.01f};

/* out[i] += w * in[i + distance] for a row, along which only x changes; where `along` is set, the distance is along the
 * row itself, and what lies beyond its ends is 0. */
static void add_row(float *out, const float *in, long n, float w, long distance, bool along)
{
    const long first = along && distance < 0 ? -distance : 0, end = along && distance > 0 ? n - distance : n;
    for (long x = first; x < end; x++)
        out[x] += w * in[x + distance];
}

/* Row by row, on volumes without a margin: what lies outside is 0. */
static void step_on_host(const float *in, float *out, long n)
{
    for (long row = 0; row < n * n; row++) {
        const long y = row % n, z = row / n;
        for (long x = 0; x < n; x++)
            out[row * n + x] = weight[0] * in[row * n + x];
        for (long d = -RADIUS; d <= RADIUS; d++) {
            const float w = weight[labs(d)];
            if (d == 0)
                continue;
            add_row(out + row * n, in + row * n, n, w, d, true);
            if (y + d >= 0 && y + d < n)
                add_row(out + row * n, in + row * n, n, w, d * n, false);
            if (z + d >= 0 && z + d < n)
                add_row(out + row * n, in + row * n, n, w, d * n * n, false);
        }
    }
}

static bool check(const float *volume, const float *got)
{
    const size_t points = (size_t)(size * size * size);
    float *now = sample_alloc(points * sizeof(float)), *next = sample_alloc(points * sizeof(float));
    memcpy(now, volume, points * sizeof(float));
    for (long step = 0; step < steps; step++) {
        step_on_host(now, next, size);
        float *swap = now;
        now = next;
        next = swap;
    }
    return sample_close(got, now, points, 1e-4);
}

/* Between the host's volume and the inside of the device's. */
static void transfer(cl_mem volume, float *host, bool to_device)
{
    const size_t n = (size_t)size, row = (n + 2 * RADIUS) * sizeof(float), slice = row * (n + 2 * RADIUS);
    const size_t inside[3] = {RADIUS * sizeof(float), RADIUS, RADIUS}, corner[3] = {0, 0, 0};
    const size_t region[3] = {n * sizeof(float), n, n};
    if (to_device)
        CHECK(clEnqueueWriteBufferRect(sample.queue, volume, CL_FALSE, inside, corner, region, row, slice, 0, 0, host,
                                       0, NULL, NULL));
    else
        CHECK(clEnqueueReadBufferRect(sample.queue, volume, CL_TRUE, inside, corner, region, row, slice, 0, 0, host, 0,
                                      NULL, NULL));
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Steps of a finite difference scheme in three dimensions.", options);
    const size_t n = (size_t)size, bytes = n * n * n * sizeof(float), side = n + 2 * RADIUS;
    const size_t local[2] = {32, 8}, global[2] = {sample_round_up(n, 32), sample_round_up(n, 8)};
    const size_t device_bytes = side * side * side * sizeof(float);
    const cl_uint points = (cl_uint)n;
    const float zero = 0;
    float *volume = sample_alloc(bytes), *result = sample_alloc(bytes);
    for (size_t i = 0; i < n * n * n; i++)
        volume[i] = sample_uniform(0, 1);
    cl_kernel kernel = sample_kernel(sample_program("fdtd3d.cl", "-DRADIUS=4"), "fdtd3d");
    cl_mem in = sample_buffer(CL_MEM_READ_WRITE, device_bytes), out = sample_buffer(CL_MEM_READ_WRITE, device_bytes);
    cl_mem dweight = sample_buffer(CL_MEM_READ_ONLY, sizeof(weight));

    while (sample_next()) {
        sample_write(dweight, weight, sizeof(weight));
        CHECK(clEnqueueFillBuffer(sample.queue, in, &zero, sizeof(zero), 0, device_bytes, 0, NULL, NULL));
        CHECK(clEnqueueFillBuffer(sample.queue, out, &zero, sizeof(zero), 0, device_bytes, 0, NULL, NULL));
        transfer(in, volume, true);
        sample_lap(SAMPLE_WRITE);
        for (long step = 0; step < steps; step++) {
            ARGS(kernel, A(out), A(in), A(dweight), A(points), A(points), A(points));
            LAUNCH(kernel, 2, global, local);
            cl_mem swap = in;
            in = out;
            out = swap;
        }
        sample_lap(SAMPLE_KERNEL);
        transfer(in, result, false);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(volume, result);
    sample_output(result, bytes);
    return sample_end(pass, "%ldx%ldx%ld", size, size, size);
}
