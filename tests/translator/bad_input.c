/* SPDX-License-Identifier: MIT */
/* Programs that nobody should write: an answer or a clear refusal, in bounded time, whatever comes. bad_input
 * TRANSLATOR */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/suite.h"
#include "translator/summary/summary_text.h"
#include "translator/summary/translate.h"

static const char *translator;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Text made of a pattern, `n` times, between two others. "%u" in the pattern is the number. */
static char *repeat(const char *before, const char *pattern, unsigned n, const char *after)
{
    struct gs_writer w = {0};
    char buf[1024];
    gs_put_raw(&w, before, strlen(before));
    for (unsigned i = 0; i < n; i++) {
        const char *number = strstr(pattern, "%u");
        int k = number ? snprintf(buf, sizeof buf, "%.*s%u%s", (int)(number - pattern), pattern, i, number + 2)
                       : snprintf(buf, sizeof buf, "%s", pattern);
        gs_put_raw(&w, buf, (size_t)k);
    }
    gs_put_raw(&w, after, strlen(after));
    assert_false(w.failed);
    return w.text;
}

/* What the translator made of it. Frees the text. */
struct answer {
    int err;
    bool refused, changed;
    uint32_t kernels;
    double seconds;
    char why[512];
};

static struct answer ask_for(char *text, int timeout_ms)
{
    struct answer a = {0};
    struct gs_summary *s = NULL;
    struct gs_translate_unit unit = {.source = text, .options = ""};
    struct gs_translate_request req = {
        .units = &unit, .n_units = 1, .device = {"", "OpenCL C 1.2", "", "", 64, 1, NULL}};
    double begin = seconds();
    a.err = gs_translate(&req, translator, timeout_ms, &s, a.why, sizeof a.why);
    a.seconds = seconds() - begin;
    if (s) {
        a.refused = s->refusal != NULL;
        a.changed = s->changed;
        a.kernels = s->n_kernels;
        if (s->refusal) {
            snprintf(a.why, sizeof a.why, "%s", s->refusal);
            assert_string_equal(s->units[0], text); /* nothing else may come of it */
            assert_null(strchr(s->refusal, '\n'));
        }
    }
    gs_summary_free(s);
    free(text);
    return a;
}

/* An answer, or a failure that says what happened. */
static struct answer ask(char *text)
{
    struct answer a = ask_for(text, 20000);
    if (a.err != 0 || a.refused)
        assert_true(strlen(a.why) > 10);
    assert_true(a.err == 0 || a.err == -EPIPE || a.err == -ETIME);
    assert_true(a.seconds < 80); /* the limit is twenty */
    return a;
}

static void a_hundred_thousand_lines(void **state)
{
    struct answer a = ask(repeat("", "int f%u(int a)\n{\n    a += 3;\n    return a * (int)get_group_id(0);\n}\n", 20000,
                                 "__kernel void k(__global int *p) { p[0] = f19999(1); }\n"));
    assert_true(a.err == 0 && !a.refused && a.changed && a.kernels == 1);
    print_message("100,000 lines in 20,000 functions: %.2f s\n", a.seconds);
    a = ask(repeat("__kernel void k(__global int *p) {\n", "p[%u] += 1;\n", 100000, "}\n"));
    assert_true(a.err == 0 && !a.refused && a.kernels == 1);
    print_message("100,000 lines in one kernel: %.2f s\n", a.seconds);
}

static void a_thousand_kernels(void **state)
{
    struct answer a =
        ask(repeat("int f(int a) { return a + (int)get_num_groups(0); }\n",
                   "__kernel void k%u(__global int *p, __global int *q) { p[0] = f(q[1]); }\n", 1000, ""));
    assert_true(a.err == 0 && !a.refused && a.kernels == 1000);
    print_message("1,000 kernels: %.2f s\n", a.seconds);
}

static void a_long_chain_of_calls(void **state)
{
    struct answer a = ask(
        repeat("int f(int a) { return (int)get_group_id(0); }\n#define NEXT(n, m) int n(int a) { return m(a); }\n",
               "int g%u(int a) { return f(a); }\n", 3000, "__kernel void k(__global int *p) { p[0] = g2999(1); }\n"));
    assert_true(a.err == 0 && a.changed);
}

static void deep_nesting(void **state)
{
    ask(repeat("__kernel void k(__global int *p) { p[0] = ", "(", 10000, "1; }\n"));
    ask(repeat("__kernel void k(__global int *p) { p[0] = 1", " + p[%u]", 50000, "; }\n"));
    ask(repeat("__kernel void k(__global int *p) { p[0] = ", "-+", 50000, "p[1]; }\n"));
    ask(repeat("__kernel void k(__global int *p) {", "if (p[%u])\n", 20000, "p[0] = 1; }\n"));
    ask(repeat("__kernel void k(__global int *p) {", "{", 20000, ""));
    ask(repeat("__kernel void k(__global int *p) { p[0] = ", "p[", 5000, "0"));
    ask(repeat("", "#if 1\n", 100000, "__kernel void k(__global int *p) { p[0] = 1; }\n"));
    ask(repeat("#define A(x) x\n__kernel void k(__global int *p) { p[0] = ", "A(", 3000, "1"));
}

static void recursion(void **state)
{
    struct answer a =
        ask(strdup("int g(int);\nint f(int a) { return g(a) + (int)get_group_id(0); }\nint g(int a) { return f(a); }\n"
                   "__kernel void k(__global int *p) { p[0] = f(1); k(p); }\n"));
    assert_true(a.err == 0);
    ask(strdup("#include \"main.cl\"\n__kernel void k(__global int *p) { }\n"));
    ask(strdup("#include __FILE__\n__kernel void k(__global int *p) { }\n"));
    ask(strdup("#define A B\n#define B A\n__kernel void k(__global int *p) { p[A] = 1; }\n"));
}

static void macros_that_explode(void **state)
{
    struct answer a = ask_for(repeat("#define M B0\n", "#define B%u ", 1, "B1 B1\n"), 3000);
    struct gs_writer w = {0};
    char line[64];
    for (int i = 0; i < 60; i++) {
        int n = snprintf(line, sizeof line, "#define X%d X%d + X%d\n", i, i + 1, i + 1);
        gs_put_raw(&w, line, (size_t)n);
    }
    static const char kernel[] = "#define X60 1\n__kernel void k(__global int *p) { p[0] = X0; }\n";
    gs_put_raw(&w, kernel, sizeof kernel - 1);
    a = ask_for(w.text, 3000);
    assert_true(a.err == -ETIME || a.err == -EPIPE);
    assert_true(a.seconds < 60);
}

static void fragments_of_programs(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "/*",
        "\"",
        "'",
        "#",
        "#define",
        "#include",
        "#include \"",
        "__kernel",
        "__kernel void",
        "__kernel void k(",
        "\\",
        "\xff\xfe\x80",
        "\r\n__kernel void k(__global int *p)\r\n{\r\np[get_group_id(0)] = 1;\r\n}",
        "__kernel void k(__global int *p) { p[0] = get_group_id(0); } // no newline",
        "#line 100 \"other\"\n__kernel void k(__global int *p) { p[0] = get_group_id(0); }",
        "?\?=define A\n__kernel void k() {}",
        "#pragma OPENCL EXTENSION all : enable\n#pragma unroll\n__kernel void k() {}",
        "__kernel void k(__global void *p) {} __kernel void k(__global void *p) {}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(ask(strdup(texts[i])).err, 0);
}

/* Random pieces of OpenCL C, one after the other. */
static void random_pieces(void **state)
{
    static const char *const pieces[] = {"__kernel ", "void ",
                                         "k",         "(",
                                         ")",         "{",
                                         "}",         "__global int *p",
                                         ",",         ";",
                                         "\n",        "#define ",
                                         "#if ",      "#endif\n",
                                         "f",         "get_group_id(0)",
                                         "int ",      "return",
                                         "=",         "p[0]",
                                         "##",        "\\\n",
                                         "/*",        "*/",
                                         "#include ", "\"x\"",
                                         "a",         " ",
                                         "DEF(",      "#define DEF(n) void n",
                                         "__local ",  "struct s "};
    uint64_t seed = 20261120;
    printf("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < 60; i++) {
        struct gs_writer w = {0};
        for (int k = 0; k < 40; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const char *piece = pieces[(seed >> 33) % (sizeof pieces / sizeof *pieces)];
            gs_put_raw(&w, piece, strlen(piece));
        }
        struct answer a = ask(w.text);
        if (a.err != 0)
            fail_msg("program %d: %s", i, a.why);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    translator = argv[1];
    setenv("XDG_CACHE_HOME", "/dev/null", 1); /* where nobody makes a folder, not even root */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_lines),
        cmocka_unit_test(a_thousand_kernels),
        cmocka_unit_test(a_long_chain_of_calls),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(recursion),
        cmocka_unit_test(macros_that_explode),
        cmocka_unit_test(fragments_of_programs),
        cmocka_unit_test(random_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
