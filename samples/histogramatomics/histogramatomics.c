/* SPDX-License-Identifier: MIT */
/* Counts how often each value occurs among the pixels of a gray picture, with atomic operations. */
#include "../picture.h"

static long size = 16777216, per_group = 32768, group = 256;
static const struct sample_option options[] = {
    {"size", "pixels, of one byte each, a multiple of 4", &size, 4, 1L << 34, NULL},
    {"per-group", "pixels for one work-group, a multiple of 4", &per_group, 4, 1 << 30, NULL},
    {"group", "work-items of a work-group", &group, 1, 1024, NULL},
    {0},
};

enum { BINS = 256 };

static bool check(const uint8_t *data, const cl_uint *histogram)
{
    cl_uint want[BINS] = {0};
    for (long i = 0; i < size; i++)
        want[data[i]]++;
    return sample_same(histogram, want, sizeof(want));
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Counts how often each value occurs among the pixels of a picture, atomically.", options);
    if (size % 4 != 0 || per_group % 4 != 0)
        sample_die(2, "--size and --per-group want multiples of 4, not %ld and %ld", size, per_group);
    const size_t bytes = (size_t)size, side = (size_t)ceil(sqrt((double)size)), local = (size_t)group;
    const size_t global = (bytes + (size_t)per_group - 1) / (size_t)per_group * local;
    const cl_uint words = (cl_uint)(size / 4), words_per_group = (cl_uint)(per_group / 4), zero = 0;
    uint8_t *data = picture_load(side, side, 1);
    cl_uint histogram[BINS] = {0};
    cl_kernel kernel = sample_kernel(sample_program("histogramatomics.cl", ""), "histogram");
    cl_mem ddata = sample_buffer(CL_MEM_READ_ONLY, bytes), dbins = sample_buffer(CL_MEM_READ_WRITE, sizeof(histogram));
    ARGS(kernel, A(ddata), A(dbins), A(words_per_group), A(words));

    while (sample_next()) {
        sample_write(ddata, data, bytes);
        CHECK(clEnqueueFillBuffer(sample.queue, dbins, &zero, sizeof(zero), 0, sizeof(histogram), 0, NULL, NULL));
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dbins, histogram, sizeof(histogram));
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(data, histogram);
    sample_output(histogram, sizeof(histogram));
    return sample_end(pass, "%ld", size);
}
