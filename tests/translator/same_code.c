/* SPDX-License-Identifier: MIT */
/* Which texts of PTX compute the same floating-point numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "translator/summary/same_code.h"

/* A sum of products over a loop, as NVIDIA's compiler writes it. */
static const char own[] =
    "//\n// made by hand\n//\n.version 8.5\n.target sm_90, texmode_independent\n"
    ".address_size 64\n"
    ".entry other(\n.param .u64 other_param_0\n)\n{\n\tret;\n}\n"
    ".entry sum(\n\t.param .u64 .ptr .global .align 4 sum_param_0,\n\t.param .f32 sum_param_1\n)\n{\n"
    "\t.reg .pred \t%p<3>;\n\t.reg .f32 \t%f<9>;\n\t.reg .f64 \t%fd<3>;\n\t.reg .b32 \t%r<9>;\n"
    "\tld.param.f32 \t%f1, [sum_param_1];\n"
    "\tmov.u32 \t%r1, %ctaid.x;\n"
    "\tcvt.rn.f32.u32 \t%f2, %r1;\n"
    "\tmul.ftz.f32 \t%f3, %f1, %f2;\n"
    "\tmov.f32 \t%f4, 0f00000000;\n\n"
    "$L__BB0_1:\n"
    "\tld.global.v2.f32 \t{%f5, %f6}, [%rd1+8]; // two of them\n"
    "\tfma.rn.ftz.f32 \t%f7, %f5, %f3, %f6;\n"
    "\tadd.ftz.f32 \t%f4, %f4, %f7;\n"
    "\tadd.s32 \t%r2, %r2, 1;\n"
    "\tsetp.lt.u32 \t%p1, %r2, %r3;\n"
    "\t@%p1 bra \t$L__BB0_1;\n\n"
    "\tcvt.f64.f32 \t%fd1, %f4;\n"
    "\tst.global.f64 \t[%rd2], %fd1;\n"
    "\tret;\n\n}\n\n";

/* `own` with the first `what` as `with`; the last two calls' texts stay. */
static const char *changed(const char *text, const char *what, const char *with)
{
    static char bufs[2][4096];
    static unsigned turn;
    char *buf = bufs[turn++ % 2];
    const char *at = strstr(text, what);
    assert_non_null(at);
    snprintf(buf, sizeof bufs[0], "%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
    return buf;
}

static bool same(const char *a, const char *b)
{
    /* Without the 0 at the end, as a binary has it. */
    char *ends = strndup(b, strlen(b));
    assert_non_null(ends);
    const struct gs_code ca = {a, strlen(a)}, cb = {ends, strlen(ends)};
    const bool is = gs_same_code(&ca, &cb, "sum", 2);
    assert_int_equal(gs_same_code(&cb, &ca, "sum", 2), is);
    free(ends);
    return is;
}

static void what_changes_no_bit(void **state)
{
    assert_true(same(own, own));
    /* The hidden argument: other integers. */
    assert_true(
        same(own, changed(changed(own, "sum_param_1\n)", "sum_param_1,\n\t.param .align 8 .b8 sum_param_2[96]\n)"),
                          "cvt.rn.f32.u32 \t%f2, %r1;",
                          "ld.param.u32 \t%r7, [sum_param_2+72];\n\tadd.s32 \t%r8, %r1, %r7;\n"
                          "\tcvt.rn.f32.u32 \t%f2, %r8;")));
    /* Other registers, another order, an address elsewhere, what is computed twice. */
    assert_true(
        same(own, changed(changed(own, "\t%f3, %f1, %f2;", "\t%f8, %f1, %f2;"), "%f5, %f3, %f6", "%f5, %f8, %f6")));
    assert_true(same(own, changed(changed(own, "\tmov.f32 \t%f4, 0f00000000;\n", ""), "\tld.param.f32",
                                  "\tmov.f32 \t%f4, 0f00000000;\n\tld.param.f32")));
    assert_true(same(own, changed(own, "[%rd1+8]", "[%rd9]")));
    assert_true(same(own, changed(own, "\tfma.rn", "\tmul.ftz.f32 \t%f8, %f1, %f2;\n\tfma.rn")));
    /* Another kernel's code. */
    assert_true(same(own, changed(own, "{\n\tret;", "{\n\tadd.f32 \t%f1, %f1, %f1;\n\tret;")));
}

static void what_may_change_one(void **state)
{
    /* The factors of a product in another order: of three, that is other bits. */
    assert_false(
        same(own, changed(changed(own, "\t%f3, %f1, %f2;", "\t%f3, %f1, %f1;"), "%f5, %f3, %f6", "%f5, %f2, %f6")));
    assert_false(same(own, changed(own, "%f5, %f3, %f6", "%f6, %f3, %f5")));
    /* Two roundings instead of one, a constant, a mode, a width. */
    assert_false(same(own, changed(own, "fma.rn.ftz.f32 \t%f7, %f5, %f3, %f6;",
                                   "mul.ftz.f32 \t%f8, %f5, %f3;\n\tadd.ftz.f32 \t%f7, %f8, %f6;")));
    assert_false(same(own, changed(own, "0f00000000", "0f80000000")));
    assert_false(same(own, changed(own, "mul.ftz.f32", "mul.f32")));
    assert_false(same(own, changed(own, "cvt.rn.f32.u32", "cvt.rz.f32.u32")));
    /* A sum of two sums, as a loop that is unrolled has it. */
    assert_false(same(
        own, changed(own, "add.ftz.f32 \t%f4, %f4, %f7;",
                     "add.ftz.f32 \t%f4, %f4, %f7;\n\tadd.ftz.f32 \t%f8, %f8, %f7;\n\tadd.ftz.f32 \t%f4, %f4, %f8;")));
    /* The factors change places: of three numbers made of integers, and of three that are loaded. */
    static const char *const before[] = {"%f2, %f5", "%f6, %f2", "%f5, %f6"};
    const char *three = changed(own, "mul.ftz.f32 \t%f3, %f1, %f2;",
                                "mov.u32 \t%r5, %tid.x;\n\tcvt.rn.f32.u32 \t%f5, %r5;\n"
                                "\tld.param.u32 \t%r6, [sum_param_0];\n\tcvt.rn.f32.u32 \t%f6, %r6;\n"
                                "\tmul.ftz.f32 \t%f7, %f2, %f5;\n\tmul.ftz.f32 \t%f3, %f7, %f6;");
    char *of_integers = strdup(three);
    for (int i = 0; i < 3; i++) {
        const char *last[] = {"%f6", "%f5", "%f2"};
        char other[64], first[64];
        snprintf(first, sizeof first, "\t%%f7, %s;", before[i]);
        snprintf(other, sizeof other, "\t%%f3, %%f7, %s;", last[i]);
        const char *turned = changed(changed(of_integers, "\t%f7, %f2, %f5;", first), "\t%f3, %f7, %f6;", other);
        assert_int_equal(same(of_integers, turned), i == 0);
    }
    /* What two conversions come from is the same: it can't be told. */
    const char *twins = changed(of_integers, "[sum_param_0]", "[sum_param_1]");
    assert_true(same(twins, twins));
    twins = changed(of_integers, "ld.param.u32 \t%r6, [sum_param_0];", "add.s32 \t%r6, %r5, 1;");
    assert_false(same(twins, twins));
    free(of_integers);
    const char *loads = changed(own, "mul.ftz.f32 \t%f3, %f1, %f2;",
                                "ld.param.u64 \t%rd5, [sum_param_0];\n\tld.global.f32 \t%f5, [%rd5];\n"
                                "\tld.shared.f32 \t%f6, [%rd6];\n\tmul.ftz.f32 \t%f7, %f1, %f5;\n"
                                "\tmul.ftz.f32 \t%f3, %f7, %f6;");
    char *of_loads = strdup(loads);
    assert_false(same(of_loads, changed(changed(of_loads, "\t%f7, %f1, %f5;", "\t%f7, %f1, %f6;"), "\t%f3, %f7, %f6;",
                                        "\t%f3, %f7, %f5;")));
    free(of_loads);
    /* What becomes an integer needn't be told apart. */
    const char *rounded =
        changed(own, "\tcvt.f64", "\tcvt.rzi.s32.f32 \t%r7, %f4;\n\tcvt.rzi.s32.f32 \t%r8, %f7;\n\tcvt.f64");
    assert_true(same(rounded, rounded));
    /* Where a line of the source begins is no statement. */
    assert_false(same(changed(own, "\tfma", "\t.loc 1 2 3\n\tfma"),
                      changed(changed(own, "\tfma.rn", "\t.loc 1 2 3\n\tfma.rz"), "sm_90", "sm_90")));
    assert_true(same(own, changed(own, "\tfma", "\t.loc 1 2 3\n\tfma")));
    /* One instruction more. */
    assert_false(same(own, changed(own, "\tcvt.f64", "\tabs.f32 \t%f4, %f4;\n\tcvt.f64")));
}

static void what_cannot_be_told(void **state)
{
    const char *const odd[] = {"",
                               "\x7f"
                               "ELF",
                               ".entry",
                               ".entry sum",
                               ".entry sum(",
                               ".entry sum() {",
                               ".entry summer() { ret; }",
                               ".entry sum() { add.f32 %f1 }"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_false(same(own, odd[i]));
    const char *call = changed(own, "\tcvt.f64", "\t{\n\tcall.uni (retval0), erf, (param0);\n\t}\n\tcvt.f64");
    assert_false(same(call, call));
    const char *half = changed(own, "\tcvt.f64", "\tfma.rn.f16 \t%rs1, %rs2, %rs3, %rs4;\n\tcvt.f64");
    assert_false(same(half, half));
    const char *from_half = changed(own, "\tcvt.f64", "\tcvt.f32.f16 \t%f4, %rs1;\n\tcvt.f64");
    assert_true(same(from_half, from_half));
    const char *packed = changed(own, "\tcvt.f64", "\tcvt.rn.f16x2.f32 \t%r7, %f4, %f7;\n\tcvt.f64");
    assert_false(same(packed, packed));
    const char *power = changed(own, "\tcvt.f64", "\tex2.approx.ftz.f32 \t%f4, %f4;\n\tcvt.f64"); /* no pair */
    assert_true(same(power, power));
    /* Floating-point numbers in registers of other names can't be followed. */
    const char *named = changed(own, "add.ftz.f32 \t%f4, %f4, %f7;", "add.ftz.f32 \t%r4, %r4, %r7;");
    assert_false(same(named, named));
    const char *pairs = changed(own, "\tcvt.f64", "\tadd.rn.f32x2 \t%rd4, %rd5, %rd6;\n\tcvt.f64");
    assert_false(same(pairs, pairs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_changes_no_bit), cmocka_unit_test(what_may_change_one),
                                       cmocka_unit_test(what_cannot_be_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
