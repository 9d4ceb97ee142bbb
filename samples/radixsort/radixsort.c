/* SPDX-License-Identifier: MIT */
/* Sorts floating point numbers by their bits, four at a time. The program is compiled in two parts with a common
 * header, which are then linked. */
#include "../sample.h"

static long size = 1048576;
static const struct sample_option options[] = {
    {"size", "numbers", &size, 1, 1L << 30, NULL},
    {0},
};

enum { GROUP = 256, DIGITS = 16, DIGIT_BITS = 4 };

struct kernels {
    cl_kernel to_keys, from_keys, sort_groups, count_digits, reorder, scan_groups, add_sums;
};

static cl_program from_source(const char *file)
{
    size_t bytes;
    cl_int error;
    const char *text = sample_file(file, &bytes);
    cl_program program = clCreateProgramWithSource(sample.context, 1, &text, &bytes, &error);
    CHECK(error);
    return program;
}

static cl_program compile(const char *file, cl_program header)
{
    const char *name = "local_scan.h";
    cl_program program = from_source(file);
    CHECK(clCompileProgram(program, 1, &sample.device, "", 1, &header, &name, NULL, NULL));
    return program;
}

static struct kernels build(void)
{
    cl_int error;
    cl_program header = from_source("local_scan.h.cl");
    cl_program parts[2] = {compile("radixsort.cl", header), compile("scan.cl", header)};
    cl_program program = clLinkProgram(sample.context, 1, &sample.device, "", 2, parts, NULL, NULL, &error);
    CHECK(error);
    const struct kernels k = {
        .to_keys = sample_kernel(program, "to_keys"),
        .from_keys = sample_kernel(program, "from_keys"),
        .sort_groups = sample_kernel(program, "sort_groups"),
        .count_digits = sample_kernel(program, "count_digits"),
        .reorder = sample_kernel(program, "reorder"),
        .scan_groups = sample_kernel(program, "scan_groups"),
        .add_sums = sample_kernel(program, "add_sums"),
    };
    CHECK(clReleaseProgram(header));
    CHECK(clReleaseProgram(parts[0]));
    CHECK(clReleaseProgram(parts[1]));
    CHECK(clReleaseProgram(program)); /* its kernels keep it */
    return k;
}

/* Sums before each of n numbers: of the groups, of the groups' sums, and so on; sums[0] is for the first level. */
static void scan(const struct kernels *k, cl_mem data, cl_uint n, const cl_mem *sums)
{
    const size_t local = GROUP, global = sample_round_up(n, GROUP);
    const cl_uint groups = (cl_uint)(global / GROUP);
    ARGS(k->scan_groups, A(data), A(sums[0]), A(n));
    LAUNCH(k->scan_groups, 1, &global, &local);
    if (groups == 1)
        return;
    scan(k, sums[0], groups, sums + 1);
    ARGS(k->add_sums, A(data), A(sums[0]), A(n));
    LAUNCH(k->add_sums, 1, &global, &local);
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static bool check(const float *numbers, const float *sorted)
{
    const size_t n = (size_t)size;
    float *want = sample_alloc(n * sizeof(*want));
    memcpy(want, numbers, n * sizeof(*want));
    qsort(want, n, sizeof(*want), by_value);
    return sample_same(sorted, want, n * sizeof(*want));
}

struct buffers {
    cl_mem data, other, count, begin, sums[8];
    size_t padded, groups;
};

static struct buffers make_buffers(void)
{
    struct buffers b = {.padded = sample_round_up((size_t)size, GROUP)};
    b.groups = b.padded / GROUP;
    b.data = sample_buffer(CL_MEM_READ_WRITE, b.padded * sizeof(float));
    b.other = sample_buffer(CL_MEM_READ_WRITE, b.padded * sizeof(float));
    b.count = sample_buffer(CL_MEM_READ_WRITE, b.groups * DIGITS * sizeof(cl_uint));
    b.begin = sample_buffer(CL_MEM_READ_WRITE, b.groups * DIGITS * sizeof(cl_uint));
    size_t level = b.groups * DIGITS;
    for (int i = 0; i < 8; i++) {
        level = sample_round_up(level, GROUP) / GROUP;
        b.sums[i] = sample_buffer(CL_MEM_READ_WRITE, level * sizeof(cl_uint));
    }
    return b;
}

static void sort(const struct kernels *k, const struct buffers *b)
{
    const size_t local = GROUP;
    ARGS(k->to_keys, A(b->data));
    LAUNCH(k->to_keys, 1, &b->padded, &local);
    for (cl_uint shift = 0; shift < 32; shift += DIGIT_BITS) {
        ARGS(k->sort_groups, A(b->data), A(b->other), A(shift));
        LAUNCH(k->sort_groups, 1, &b->padded, &local);
        ARGS(k->count_digits, A(b->other), A(b->count), A(b->begin), A(shift));
        LAUNCH(k->count_digits, 1, &b->padded, &local);
        scan(k, b->count, (cl_uint)(b->groups * DIGITS), b->sums);
        ARGS(k->reorder, A(b->other), A(b->data), A(b->count), A(b->begin), A(shift));
        LAUNCH(k->reorder, 1, &b->padded, &local);
    }
    ARGS(k->from_keys, A(b->data));
    LAUNCH(k->from_keys, 1, &b->padded, &local);
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Sorts floating point numbers by their bits.", options);
    const size_t n = (size_t)size, bytes = n * sizeof(float);
    const float last = INFINITY; /* behind all numbers: what fills up the last work-group */
    float *numbers = sample_alloc(bytes), *sorted = sample_alloc(bytes);
    for (size_t i = 0; i < n; i++)
        numbers[i] = sample_uniform(-1000, 1000);
    const struct kernels k = build();
    const struct buffers b = make_buffers();

    while (sample_next()) {
        sample_write(b.data, numbers, bytes);
        if (b.padded > n)
            CHECK(clEnqueueFillBuffer(sample.queue, b.data, &last, sizeof(last), bytes,
                                      b.padded * sizeof(float) - bytes, 0, NULL, NULL));
        sample_lap(SAMPLE_WRITE);
        sort(&k, &b);
        sample_lap(SAMPLE_KERNEL);
        sample_read(b.data, sorted, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(numbers, sorted);
    sample_output(sorted, bytes);
    return sample_end(pass, "%ld", size);
}
