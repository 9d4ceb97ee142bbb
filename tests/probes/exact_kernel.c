/* SPDX-License-Identifier: MIT */
/* The exact sum's kernel on the device: thousands of adversarial vectors, in every order and by launches of several
 * sizes, have the bits that the accumulator of the host gives, which probes_longacc checks against exact integers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/suite.h"
#include "scheduler/probes/illcond.h"
#include "scheduler/probes/longacc.h"
#include "scheduler/probes/probe.h"
#include "tests/probes/vectors.h"

enum { ROUNDS = 4000 };

static uint64_t rng = 1;

static unsigned below(unsigned n)
{
    return (unsigned)(gs_probe_random(&rng) >> 33) % n;
}

/* What IEEE 754 has beside finite numbers, here and there. */
static void poke(float *x, size_t n)
{
    const float special[] = {INFINITY, -INFINITY, NAN, -0.0f};
    for (unsigned i = below(3); i > 0; i--)
        x[below((unsigned)n)] = special[below(4)];
}

static void minus_zeroes(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = -0.0f;
}

static void same_bits(void **state)
{
    const size_t locals[] = {32, 64, 256};
    static float x[VECTOR_MAX];
    struct probe_device d;
    assert_true(probe_open(&d, 0));
    cl_program program = probe_build(&d, gs_probe_sum_cl, PROBE_CLOCK_NONE, "-DPROBE_INT64");
    struct probe_exact_sum e = {.kernel = probe_kernel(program, "sum_exact"),
                                .x = probe_buffer(&d, sizeof(x)),
                                .result = probe_buffer(&d, (GS_LONGACC_DIGITS + 1) * sizeof(cl_ulong))};
    assert_true(e.kernel && e.x && e.result);
    for (int round = 0; round < ROUNDS; round++) {
        struct gs_longacc expected = {0}, got;
        cl_event first, last;
        e.n = adversarial(x, &rng);
        if (round % 5 == 0)
            poke(x, e.n);
        if (round % 100 == 99)
            minus_zeroes(x, e.n);
        gs_longacc_add_many(&expected, x, e.n);
        float host = gs_longacc_to_float(&expected);
        for (int order = 0; order < 2; order++) {
            if (order)
                shuffle(x, e.n, &rng);
            e.groups = 1 + below(5);
            e.local = locals[below(3)];
            assert_int_equal(clEnqueueWriteBuffer(d.queue, e.x, CL_TRUE, 0, e.n * sizeof(*x), x, 0, NULL, NULL),
                             CL_SUCCESS);
            assert_true(probe_sum_exactly(&d, &e, &got, &first, &last));
            clReleaseEvent(first);
            clReleaseEvent(last);
            float device = gs_longacc_to_float(&got);
            if (isnan(host) ? !isnan(device) : bits_of(host) != bits_of(device))
                fail_msg("round %d, %zu groups of %zu: %a, on the host %a", round, e.groups, e.local, (double)device,
                         (double)host);
        }
    }
    probe_drop_kernels(&e.kernel, 1);
    probe_drop_buffers(&e.x, 1);
    probe_drop_buffers(&e.result, 1);
    probe_drop_program(&program);
    probe_close(&d);
}

int main(int argc, char **argv)
{
    rng = argc > 1 ? strtoull(argv[1], NULL, 0) : 20141121;
    printf("seed %llu\n", (unsigned long long)rng);
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
