/* SPDX-License-Identifier: MIT */
/* Normally distributed random numbers from many small Mersenne twisters. */
#include "../sample.h"

static long generators = 4096, each = 5860, group = 128;
static const struct sample_option options[] = {
    {"generators", "which run side by side", &generators, 1, 1 << 24, NULL},
    {"each", "numbers from each, an even number", &each, 2, 1L << 30, NULL},
    {"group", "work-items of a work-group", &group, 1, 1024, NULL},
    {0},
};

enum { WORDS = 19, MIDDLE = 9, TWISTS = 64 };

/* The twists of the kernels' text, read from there. */
static void read_twists(cl_uint *twist)
{
    size_t bytes;
    const char *at = strstr(sample_file("mersennetwister.cl", &bytes), "twists[");
    for (int i = 0; i < TWISTS && at; i++) {
        at = strstr(at, "0x");
        twist[i] = at ? (cl_uint)strtoul(at, (char **)&at, 16) : 0;
    }
}

static cl_uint temper(cl_uint x)
{
    x ^= x >> 12;
    x ^= x << 7 & 0x9d2c5680;
    x ^= x << 15 & 0xefc60000;
    return x ^ x >> 18;
}

/* One generator after the other, by the recurrence over the whole sequence. */
static bool check_one(cl_uint seed, cl_uint twist, const float *numbers, size_t stride, cl_uint *sequence)
{
    const size_t n = (size_t)each;
    sequence[0] = seed;
    for (cl_uint i = 1; i < WORDS; i++)
        sequence[i] = 1812433253u * (sequence[i - 1] ^ sequence[i - 1] >> 30) + i;
    for (size_t i = 0; i < n; i++) {
        const cl_uint x = (sequence[i] & ~1u) | (sequence[i + 1] & 1u);
        sequence[i + WORDS] = sequence[i + MIDDLE] ^ x >> 1 ^ (x & 1 ? twist : 0);
    }
    for (size_t i = 0; i < n; i += 2) {
        const float u = ((float)temper(sequence[i + WORDS]) + 1.0f) / 4294967296.0f;
        const float v = ((float)temper(sequence[i + 1 + WORDS]) + 1.0f) / 4294967296.0f;
        const double radius = sqrt(-2 * log((double)u)), angle = 2 * M_PI * (double)v;
        if (!sample_close(&numbers[i * stride], &(float){(float)(radius * cos(angle))}, 1, 1e-4) ||
            !sample_close(&numbers[(i + 1) * stride], &(float){(float)(radius * sin(angle))}, 1, 1e-4))
            return false;
    }
    return true;
}

static bool check(const cl_uint *seeds, const float *numbers)
{
    cl_uint twist[TWISTS], *sequence = sample_alloc(((size_t)each + WORDS + 1) * sizeof(*sequence));
    read_twists(twist);
    for (long g = 0; g < generators; g++)
        if (!check_one(seeds[g], twist[g % TWISTS], numbers + g, (size_t)generators, sequence))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Normally distributed random numbers from many small Mersenne twisters.", options);
    if (each % 2)
        sample_die(2, "--each wants an even number, not %ld", each);
    const cl_uint count = (cl_uint)generators, rows = (cl_uint)each;
    const size_t seed_bytes = count * sizeof(cl_uint), bytes = (size_t)count * rows * sizeof(float);
    const size_t local = (size_t)group, global = sample_round_up(count, local);
    cl_uint *seeds = sample_alloc(seed_bytes);
    float *numbers = sample_alloc(bytes);
    for (cl_uint g = 0; g < count; g++)
        seeds[g] = sample_random();
    cl_program program = sample_program("mersennetwister.cl", "");
    cl_kernel twister = sample_kernel(program, "twister"), normal = sample_kernel(program, "box_muller");
    cl_mem dseeds = sample_buffer(CL_MEM_READ_ONLY, seed_bytes), dnumbers = sample_buffer(CL_MEM_READ_WRITE, bytes);
    ARGS(twister, A(dseeds), A(dnumbers), A(count), A(rows));
    ARGS(normal, A(dnumbers), A(count), A(rows));

    while (sample_next()) {
        sample_write(dseeds, seeds, seed_bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(twister, 1, &global, &local);
        LAUNCH(normal, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dnumbers, numbers, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(seeds, numbers);
    sample_output(numbers, bytes);
    return sample_end(pass, "%ldx%ld", generators, each);
}
