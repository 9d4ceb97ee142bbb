/* SPDX-License-Identifier: MIT */
/* Counts how often each value occurs among the pixels of a gray picture, in bins in local memory. */
#include "../picture.h"

static long size = 16777216, per_group = 32768;
static const struct sample_option options[] = {
    {"size", "pixels, of one byte each", &size, 1, 1L << 34, NULL},
    {"per-group", "pixels for one work-group", &per_group, 1, 65535 * 64, NULL},
    {0},
};

enum { BINS = 256, GROUP = 64 };

static bool check(const uint8_t *data, const uint64_t *histogram)
{
    uint64_t want[BINS] = {0};
    for (long i = 0; i < size; i++)
        want[data[i]]++;
    return sample_same(histogram, want, sizeof(want));
}

static void add_up(const cl_uint *sums, size_t groups, uint64_t *histogram)
{
    memset(histogram, 0, BINS * sizeof(*histogram));
    for (size_t i = 0; i < groups * BINS; i++)
        histogram[i % BINS] += sums[i];
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Counts how often each value occurs among the pixels of a picture.", options);
    const size_t bytes = (size_t)size, groups = (bytes + (size_t)per_group - 1) / (size_t)per_group;
    const size_t local = GROUP, global = groups * local, sums_bytes = groups * BINS * sizeof(cl_uint);
    const size_t side = (size_t)ceil(sqrt((double)size));
    const cl_uint bytes_per_group = (cl_uint)per_group;
    const cl_ulong all = bytes;
    uint8_t *data = picture_load(side, side, 1);
    cl_uint *sums = sample_alloc(sums_bytes);
    uint64_t histogram[BINS] = {0};
    cl_program program = sample_program("histogram.cl", "-DGROUP=64");
    cl_kernel kernel = sample_kernel(program, "histogram");
    cl_mem ddata = sample_buffer(CL_MEM_READ_ONLY, bytes), dsums = sample_buffer(CL_MEM_WRITE_ONLY, sums_bytes);
    ARGS(kernel, A(ddata), A(dsums), A(bytes_per_group), A(all));

    while (sample_next()) {
        sample_write(ddata, data, bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dsums, sums, sums_bytes);
        add_up(sums, groups, histogram);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(data, histogram);
    sample_output(histogram, sizeof(histogram));
    return sample_end(pass, "%ld", size);
}
