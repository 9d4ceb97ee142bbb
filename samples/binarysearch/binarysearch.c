/* SPDX-License-Identifier: MIT */
/* Looks for keys in a sorted array that the device may use where it lies in the host's memory. */
#include "../sample.h"

static long size = 1048576, searches = 8, group = 256, groups = 16;
static const struct sample_option options[] = {
    {"size", "numbers in the array", &size, 1, 1L << 30, NULL},
    {"searches", "keys to look for, one after the other", &searches, 1, 1 << 20, NULL},
    {"group", "work-items of a work-group", &group, 1, 1024, NULL},
    {"groups", "work-groups", &groups, 1, 1 << 20, NULL},
    {0},
};

/* Where in the array, how far, 1 if it is there, its value: all 0 if it isn't. */
static cl_uint4 search(cl_kernel kernel, cl_mem found, cl_uint key)
{
    const size_t local = (size_t)group, global = local * (size_t)groups;
    cl_uint begin = 0, end = (cl_uint)size;
    cl_uint4 result = {{0}};
    do {
        const cl_uint part = (cl_uint)((end - begin + global - 1) / global);
        result = (cl_uint4){{0}};
        sample_write(found, &result, sizeof(result));
        CHECK(clSetKernelArg(kernel, 2, sizeof(key), &key));
        CHECK(clSetKernelArg(kernel, 3, sizeof(begin), &begin));
        CHECK(clSetKernelArg(kernel, 4, sizeof(end), &end));
        CHECK(clSetKernelArg(kernel, 5, sizeof(part), &part));
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(found, &result, sizeof(result));
        sample_lap(SAMPLE_READ);
        begin = result.s[0];
        end = result.s[1];
    } while (result.s[2] && end - begin > 1);
    return result;
}

static bool check(const cl_uint *sorted, const cl_uint *keys, const cl_uint4 *results)
{
    for (long i = 0; i < searches; i++) {
        size_t low = 0, high = (size_t)size;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (sorted[middle] < keys[i])
                low = middle + 1;
            else
                high = middle;
        }
        const bool there = low < (size_t)size && sorted[low] == keys[i];
        const cl_uint4 want = {{(cl_uint)low, (cl_uint)low + 1, 1, keys[i]}};
        if (there ? !sample_same(&results[i], &want, sizeof(want)) : results[i].s[2] && results[i].s[3] == keys[i])
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Looks for keys in a sorted array.", options);
    if (group * groups < 2)
        sample_die(2, "one work-item alone narrows nothing; give --group or --groups");
    const size_t n = (size_t)size, bytes = n * sizeof(cl_uint);
    cl_uint *sorted = aligned_alloc(4096, sample_round_up(bytes, 4096)), last = 0;
    cl_uint *keys = sample_alloc((size_t)searches * sizeof(*keys)), zero = 0;
    cl_uint4 *results = sample_alloc((size_t)searches * sizeof(*results));
    cl_int error;
    if (!sorted)
        sample_die(1, "no memory for %zu bytes", bytes);
    for (size_t i = 0; i < n; i++)
        sorted[i] = last += 1 + sample_random() % 3;
    for (long i = 0; i < searches; i++) /* half of them are there, the others most likely not */
        keys[i] = sorted[sample_random() % n] + (i % 2 ? 1 : 0);
    cl_kernel kernel = sample_kernel(sample_program("binarysearch.cl", ""), "narrow");
    cl_mem dsorted =
        sample_keep(clCreateBuffer(sample.context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, bytes, sorted, &error));
    CHECK(error);
    cl_mem found = sample_buffer(CL_MEM_WRITE_ONLY, sizeof(cl_uint4));
    ARGS(kernel, A(dsorted), A(found), A(zero), A(zero), A(zero), A(zero));

    while (sample_next()) {
        void *mapped = clEnqueueMapBuffer(sample.queue, dsorted, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL,
                                          NULL, &error);
        CHECK(error);
        CHECK(clEnqueueUnmapMemObject(sample.queue, dsorted, mapped, 0, NULL, NULL));
        sample_lap(SAMPLE_WRITE);
        for (long i = 0; i < searches; i++)
            results[i] = search(kernel, found, keys[i]);
    }
    const bool pass = sample.no_check || check(sorted, keys, results);
    sample_output(results, (size_t)searches * sizeof(*results));
    const int status = sample_end(pass, "%ld", size);
    free(sorted);
    return status;
}
