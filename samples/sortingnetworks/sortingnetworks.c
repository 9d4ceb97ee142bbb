/* SPDX-License-Identifier: MIT */
/* Sorts many arrays of keys with their values by bitonic networks. */
#include "../sample.h"

static long arrays = 64, length = 16384;
static const struct sample_option options[] = {
    {"arrays", "to sort", &arrays, 1, 1L << 28, NULL},
    {"length", "of an array, a power of two; an array must fit into whole blocks of 512", &length, 2, 1L << 28, NULL},
    {0},
};

enum { BLOCK = 256 };

static int by_number(const void *a, const void *b)
{
    const cl_uint x = *(const cl_uint *)a, y = *(const cl_uint *)b;
    return (x > y) - (x < y);
}

/* Each array has its own keys in order, and each key the value that came with it, each value once. */
static bool check(const cl_uint *keys, const cl_uint *sorted, const cl_uint *values)
{
    const size_t n = (size_t)length;
    cl_uint *want = sample_alloc(n * sizeof(*want));
    bool *seen = sample_alloc(n);
    for (size_t a = 0; a < (size_t)arrays; a++) {
        memcpy(want, keys + a * n, n * sizeof(*want));
        qsort(want, n, sizeof(*want), by_number);
        if (!sample_same(sorted + a * n, want, n * sizeof(*want)))
            return false;
        memset(seen, 0, n);
        for (size_t i = 0; i < n; i++) {
            const size_t value = values[a * n + i];
            if (value >= n || seen[value] || keys[a * n + value] != sorted[a * n + i]) {
                fprintf(stderr, "%s: array %zu: key %zu has value %zu\n", sample.name, a, i, value);
                return false;
            }
            seen[value] = true;
        }
    }
    return true;
}

struct kernels {
    cl_kernel sort_local, merge_global, merge_local;
};

static void sort(const struct kernels *k, cl_mem in[2], cl_mem out[2], size_t n)
{
    const size_t local = BLOCK, global = n / 2;
    const cl_uint array = (cl_uint)length, run_in_block = array < 2 * BLOCK ? array : 2 * BLOCK;
    ARGS(k->sort_local, A(in[0]), A(in[1]), A(out[0]), A(out[1]), A(run_in_block), A(array));
    LAUNCH(k->sort_local, 1, &global, &local);
    for (cl_uint run = 4 * BLOCK; run <= array; run *= 2) {
        for (cl_uint stride = run / 2; stride > BLOCK; stride /= 2) {
            ARGS(k->merge_global, A(out[0]), A(out[1]), A(run), A(stride), A(array));
            LAUNCH(k->merge_global, 1, &global, &local);
        }
        ARGS(k->merge_local, A(out[0]), A(out[1]), A(run), A(array));
        LAUNCH(k->merge_local, 1, &global, &local);
    }
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Sorts many arrays of keys with their values by bitonic networks.", options);
    const size_t n = (size_t)arrays * (size_t)length, bytes = n * sizeof(cl_uint);
    if ((length & (length - 1)) || n % (2 * BLOCK))
        sample_die(2, "--length wants a power of two, and all arrays together must fill blocks of %d", 2 * BLOCK);
    cl_uint *keys = sample_alloc(bytes), *values = sample_alloc(bytes);
    cl_uint *sorted = sample_alloc(bytes), *sorted_values = sample_alloc(bytes);
    for (size_t i = 0; i < n; i++) {
        keys[i] = sample_random() % 65536; /* some of them equal */
        values[i] = (cl_uint)(i % (size_t)length);
    }
    cl_program program = sample_program("sortingnetworks.cl", "-DBLOCK=256");
    const struct kernels k = {sample_kernel(program, "sort_local"), sample_kernel(program, "merge_global"),
                              sample_kernel(program, "merge_local")};
    cl_mem in[2] = {sample_buffer(CL_MEM_READ_ONLY, bytes), sample_buffer(CL_MEM_READ_ONLY, bytes)};
    cl_mem out[2] = {sample_buffer(CL_MEM_READ_WRITE, bytes), sample_buffer(CL_MEM_READ_WRITE, bytes)};

    while (sample_next()) {
        sample_write(in[0], keys, bytes);
        sample_write(in[1], values, bytes);
        sample_lap(SAMPLE_WRITE);
        sort(&k, in, out, n);
        sample_lap(SAMPLE_KERNEL);
        sample_read(out[0], sorted, bytes);
        sample_read(out[1], sorted_values, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(keys, sorted, sorted_values);
    sample_output(sorted, bytes);
    sample_output(sorted_values, bytes);
    return sample_end(pass, "%ldx%ld", arrays, length);
}
