/* SPDX-License-Identifier: MIT */
/* Prices options by the formula of Black and Scholes. The host reaches all buffers by mapping them. */
#include "../sample.h"

static long size = 1048576, group = 128, groups = 1024;
static const struct sample_option options[] = {
    {"size", "options", &size, 1, 1L << 32, NULL},
    {"group", "work-items of a work-group", &group, 1, 1024, NULL},
    {"groups", "work-groups, which share the options among them", &groups, 1, 1 << 24, NULL},
    {0},
};

static const float rate = 0.02f, volatility = 0.30f;

enum { SPOT, STRIKE, YEARS, CALL, PUT, BUFFERS };

static void *map(cl_mem buffer, cl_map_flags flags, size_t bytes)
{
    cl_int error;
    void *p = clEnqueueMapBuffer(sample.queue, buffer, CL_TRUE, flags, 0, bytes, 0, NULL, NULL, &error);
    CHECK(error);
    return p;
}

static void unmap(cl_mem buffer, void *p)
{
    CHECK(clEnqueueUnmapMemObject(sample.queue, buffer, p, 0, NULL, NULL));
}

static bool check(float *const data[BUFFERS], size_t n)
{
    const double r = (double)rate, v = (double)volatility;
    for (size_t i = 0; i < n; i++) {
        const double s = (double)data[SPOT][i], k = (double)data[STRIKE][i], t = (double)data[YEARS][i];
        const double d1 = (log(s / k) + (r + v * v / 2) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
        const double call = s * erfc(-d1 / sqrt(2)) / 2 - k * exp(-r * t) * erfc(-d2 / sqrt(2)) / 2;
        const double put = call - s + k * exp(-r * t);
        if (!sample_close(&data[CALL][i], &(float){(float)call}, 1, 1e-4) ||
            !sample_close(&data[PUT][i], &(float){(float)put}, 1, 1e-4))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Prices options by the formula of Black and Scholes.", options);
    const cl_uint n = (cl_uint)size;
    const size_t bytes = (size_t)n * sizeof(float), local = (size_t)group, global = local * (size_t)groups;
    float *data[BUFFERS];
    cl_mem buffers[BUFFERS];
    for (int b = 0; b < BUFFERS; b++) {
        data[b] = sample_alloc(bytes);
        buffers[b] = sample_buffer((b < CALL ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY) | CL_MEM_ALLOC_HOST_PTR, bytes);
    }
    for (size_t i = 0; i < n; i++) {
        data[SPOT][i] = sample_uniform(5, 30);
        data[STRIKE][i] = sample_uniform(1, 100);
        data[YEARS][i] = sample_uniform(0.25f, 10);
    }
    cl_kernel kernel = sample_kernel(sample_program("blackscholes.cl", ""), "black_scholes");
    ARGS(kernel, A(buffers[SPOT]), A(buffers[STRIKE]), A(buffers[YEARS]), A(buffers[CALL]), A(buffers[PUT]), A(rate),
         A(volatility), A(n));

    while (sample_next()) {
        for (int b = SPOT; b <= YEARS; b++) {
            void *p = map(buffers[b], CL_MAP_WRITE_INVALIDATE_REGION, bytes);
            memcpy(p, data[b], bytes);
            unmap(buffers[b], p);
        }
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        for (int b = CALL; b <= PUT; b++) {
            void *p = map(buffers[b], CL_MAP_READ, bytes);
            memcpy(data[b], p, bytes);
            unmap(buffers[b], p);
        }
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(data, n);
    sample_output(data[CALL], bytes);
    sample_output(data[PUT], bytes);
    return sample_end(pass, "%ld", size);
}
