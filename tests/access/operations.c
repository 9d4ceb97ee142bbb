/* SPDX-License-Identifier: MIT */
/* What a launch computes, by its work program: against a count by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "translator/summary/access_program.h"

/* for (i = 0; i < n; i++) for (j = 0; j < i; j++); if (unknown) ...; for (k = 0; unknown; k++) */
enum { ZERO, ONE, N, I, J, UNKNOWN, K, I_GOES_ON, J_GOES_ON, NODES };
static const struct gs_node nodes[NODES] = {
    [ZERO] = {.op = GS_N_CONST, .type = GS_I32, .partner = GS_NO_NODE},
    [ONE] = {.op = GS_N_CONST, .type = GS_I32, .imm = 1, .partner = GS_NO_NODE},
    [N] = {.op = GS_N_ARG, .type = GS_I32, .partner = GS_NO_NODE},
    [I] = {.op = GS_N_IV, .type = GS_I32, .a = ZERO, .b = ONE, .c = 0, .partner = GS_NO_NODE},
    [J] = {.op = GS_N_IV, .type = GS_I32, .a = ZERO, .b = ONE, .c = 1, .partner = GS_NO_NODE},
    [UNKNOWN] = {.op = GS_N_OPAQUE, .type = GS_I32, .partner = GS_NO_NODE},
    [K] = {.op = GS_N_IV, .type = GS_I32, .a = ZERO, .b = ONE, .c = 2, .partner = GS_NO_NODE},
    [I_GOES_ON] = {.op = GS_N_LT, .type = GS_I32, .a = I, .b = N, .partner = GS_NO_NODE},
    [J_GOES_ON] = {.op = GS_N_LT, .type = GS_I32, .a = J, .b = I, .partner = GS_NO_NODE},
};
static const struct gs_loop loops[] = {
    {GS_LOOP_LT, GS_I32, GS_I32, false, ZERO, ONE, N, I_GOES_ON},
    {GS_LOOP_LT, GS_I32, GS_I32, false, ZERO, ONE, I, J_GOES_ON},
    {GS_LOOP_UNBOUNDED, GS_I32, GS_I32, false, 0, 0, 0, UNKNOWN},
};
static const struct gs_scope contexts[] = {
    {GS_C_ROOT, true, 0, 0, 2}, {GS_C_LOOP, true, 0, 0, 0},          {GS_C_GUARD, true, 1, I_GOES_ON, 3},
    {GS_C_LOOP, true, 2, 1, 0}, {GS_C_GUARD, true, 3, J_GOES_ON, 5}, {GS_C_GUARD, true, 0, UNKNOWN, 1000},
    {GS_C_LOOP, true, 0, 2, 7},
};
static const struct gs_access_program work = {1, NODES, 3, 7, 0, nodes, loops, contexts, NULL};

static double count(int32_t n, uint64_t items)
{
    const struct gs_arg_value arg = {.bytes = &n, .size = sizeof n};
    const struct gs_geometry launch = {1, {0, 0, 0}, {items, 1, 1}, {1, 1, 1}};
    const struct gs_kernel_summary kernel = {.n_args = 1, .work = &work};
    return gs_summary_operations(&kernel, &launch, &arg);
}

static void loops_count_as_often_as_they_run(void **state)
{
    (void)state;
    for (int32_t n = 1; n < 200; n += 2) { /* the iteration in the middle is the average one */
        double expected = 2 + 7;
        for (int32_t i = 0; i < n; i++)
            expected += 3 + 5.0 * i;
        assert_true(count(n, 1) == expected);
        assert_true(count(n, 1000) == 1000 * expected);
    }
    assert_true(count(0, 10) == 10 * (2 + 7));
    assert_true(count(-5, 10) == 10 * (2 + 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_count_as_often_as_they_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
