/* SPDX-License-Identifier: MIT */
/* Counts how often a number occurs, in one counter that all work-items share. */
#include "../sample.h"

static long size = 1048576, values = 16, wanted = 3, group = 128;
static const struct sample_option options[] = {
    {"size", "numbers", &size, 1, 1L << 32, NULL},
    {"values", "different numbers, beginning with 0", &values, 1, 1L << 32, NULL},
    {"wanted", "the number to count", &wanted, 0, (1L << 32) - 1, NULL},
    {"group", "work-items of a work-group", &group, 1, 1024, NULL},
    {0},
};

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Counts how often a number occurs, in one counter that all work-items share.", options);
    const cl_ulong n = (cl_ulong)size;
    const size_t bytes = n * sizeof(cl_uint), local = (size_t)group, global = sample_round_up(n, local);
    const cl_uint number = (cl_uint)wanted, zero = 0;
    cl_uint *numbers = sample_alloc(bytes), count = 0, want = 0;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = (cl_uint)((uint64_t)sample_random() * (uint64_t)values >> 32);
        want += numbers[i] == number;
    }
    cl_kernel kernel = sample_kernel(sample_program("atomiccounters.cl", ""), "count_matches");
    cl_mem dnumbers = sample_buffer(CL_MEM_READ_ONLY, bytes), dcount = sample_buffer(CL_MEM_READ_WRITE, sizeof(count));
    ARGS(kernel, A(dnumbers), A(dcount), A(number), A(n));

    while (sample_next()) {
        sample_write(dnumbers, numbers, bytes);
        CHECK(clEnqueueFillBuffer(sample.queue, dcount, &zero, sizeof(zero), 0, sizeof(zero), 0, NULL, NULL));
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dcount, &count, sizeof(count));
        sample_lap(SAMPLE_READ);
    }
    sample_output(&count, sizeof(count));
    return sample_end(sample_same(&count, &want, sizeof(count)), "%ld", size);
}
