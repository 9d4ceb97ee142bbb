/* SPDX-License-Identifier: MIT */
/* The PTX reader and the walk through loops and branches, and that no text makes them stumble. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "gema/ptx.h"

/* Two nested loops, a branch over a part, an early way out, a vector load, scopes, and things that are no instructions.
 */
static const char text[] = "// .entry commented(\n"
                           ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".file 1 \"a .entry b.cl\"\n"
                           ".entry nest(.param .u64 .ptr .global .align 4 nest_0)\n"
                           ".reqntid 32, 1, 1\n"
                           "{\n"
                           "\t.reg .pred %p<5>; .reg .b32 %r<9>;\n"
                           "\t.shared .align 4 .b8 buffer[128];\n"
                           "\tld.param.u64 %rd1, [nest_0];\n" /* 0 */
                           "\tmov.u32 %r1, %tid.x;\n"         /* 1 */
                           "\tsetp.gt.u32 %p1|%p2, %r1, 7;\n" /* 2 */
                           "\t@%p1 ret;\n"                    /* 3 */
                           "OUTER:\n"
                           "\t.loc 1 7 3, function_name $L__info, inlined_at 1 2 3\n"
                           "\tld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];\n" /* 4 */
                           "INNER: { .reg .b32 t; add.s32 t, %r1, 1; }\n"          /* 5 */
                           "\tst.shared.f32 [buffer], %f1;\n"                      /* 6 */
                           "\t@!%p2 bra.uni SKIP;\n"                               /* 7 */
                           "\tsin.approx.f32 %f1, %f2;\n"                          /* 8 */
                           "SKIP:\n"
                           "\t@%p3 bra INNER;\n"                                            /* 9 */
                           "\tbar.sync 0;\n"                                                /* 10 */
                           "\t@%p4 bra OUTER;\n"                                            /* 11 */
                           "\tatom.global.add.u32 %r2, [%rd1], 1; /* a ; in a comment */\n" /* 12 */
                           "\tret;\n"                                                       /* 13 */
                           "}\n"
                           ".visible .entry second() { ret; }\n"
                           ".entry calls() { call.uni (r), f, (p); ret; }\n";

static char why[300];

static void reads_instructions(void **state)
{
    struct gs_ptx_kernel k;
    assert_int_equal(gs_ptx_parse(&k, text, "nest", why, sizeof(why)), 0);
    assert_string_equal(k.entry, "nest");
    assert_int_equal(k.n, 14);
    const enum gs_ptx_class expected[] = {GS_PTX_CONSTANT_LOAD, GS_PTX_ARITHMETIC, GS_PTX_ARITHMETIC,   GS_PTX_RETURN,
                                          GS_PTX_GLOBAL_LOAD,   GS_PTX_ARITHMETIC, GS_PTX_SHARED_STORE, GS_PTX_BRANCH,
                                          GS_PTX_SPECIAL,       GS_PTX_BRANCH,     GS_PTX_BARRIER,      GS_PTX_BRANCH,
                                          GS_PTX_ATOMIC,        GS_PTX_RETURN};
    for (size_t i = 0; i < k.n; i++)
        assert_int_equal(k.v[i].class, expected[i]);
    assert_int_equal(k.v[7].target, 9);
    assert_int_equal(k.v[9].target, 5);
    assert_int_equal(k.v[11].target, 4);
    assert_int_equal(k.v[2].n_written, 2); /* p|q */
    assert_int_equal(k.v[4].n_written, 4);
    assert_int_equal(k.v[4].n_read, 1);
    assert_int_equal(k.v[6].n_written, 0);
    assert_int_equal(k.v[12].n_written, 1);
    assert_string_equal(k.name[k.operand[k.v[12].registers]], "%r2");
    /* A predicate is read, and stands behind what is written. */
    assert_int_equal(k.v[9].n_read, 2);
    assert_string_equal(k.name[k.operand[k.v[9].registers]], "%p3");
    assert_int_equal(k.v[4].line, 17);
    gs_ptx_kernel_free(&k);
}

static void chooses_the_kernel(void **state)
{
    struct gs_ptx_kernel k;
    assert_int_equal(gs_ptx_parse(&k, text, NULL, why, sizeof(why)), -EINVAL);
    assert_non_null(strstr(why, "nest, second, calls"));
    assert_int_equal(gs_ptx_parse(&k, text, "commented", why, sizeof(why)), -EINVAL);
    assert_int_equal(gs_ptx_parse(&k, "nothing", NULL, why, sizeof(why)), -EINVAL);
    assert_int_equal(gs_ptx_parse(&k, ".entry e() { bra NOWHERE; }", NULL, why, sizeof(why)), -EINVAL);
    assert_non_null(strstr(why, "NOWHERE"));
    assert_int_equal(gs_ptx_parse(&k, ".entry e() { add.s32 a, b", NULL, why, sizeof(why)), -EINVAL);
    assert_int_equal(gs_ptx_parse(&k, ".entry e() { add.s32 a, b;", NULL, why, sizeof(why)), -EINVAL);
}

static char *walked(const struct gs_ptx_walk_options *o)
{
    struct gs_ptx_kernel k;
    struct gs_ptx_trace t;
    assert_int_equal(gs_ptx_parse(&k, text, "nest", why, sizeof(why)), 0);
    assert_int_equal(gs_ptx_walk(&k, o, &t, why, sizeof(why)), 0);
    char *s = gs_ptx_instruction_string(&k, &t, true);
    free(t.v);
    gs_ptx_kernel_free(&k);
    return s;
}

/* Blanks in what is expected are for the reader. */
static void same_string(char *s, const char *expected)
{
    char dense[100] = "";
    for (size_t n = 0; *expected; expected++)
        if (*expected != ' ')
            dense[n++] = *expected;
    assert_string_equal(s, dense);
    free(s);
}

static void walks_a_kernel(void **state)
{
    static const struct {
        const char *path;
        uint64_t inner, outer;
        const char *expected;
    } cases[] = {{"nt", 1, 1, "LCCC L CLCC |C LC"},
                 {"nn", 1, 1, "LCCC L CLCSC |C LC"},
                 {"ntn", 2, 1, "LCCC L CLCC CLCSC |C LC"},
                 /* The inner loop is counted afresh in each turn of the outer one. */
                 {"ntttttt", 3, 2, "LCCC L CLCC CLCC CLCC |C L CLCC CLCC CLCC |C LC"}};
    same_string(walked(&(struct gs_ptx_walk_options){.path = "t"}), "LCCC");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gs_ptx_loop loops[] = {{"INNER", cases[i].inner}, {"OUTER", cases[i].outer}};
        same_string(walked(&(struct gs_ptx_walk_options){.path = cases[i].path, .loop = loops, .n_loops = 2}),
                    cases[i].expected);
    }
    const struct gs_ptx_loop loops[] = {{"INNER", 1}, {"OUTER", 1}};
    const struct gs_ptx_expand expand[] = {{"sin", 3}, {"atom.global", 2}};
    same_string(walked(&(struct gs_ptx_walk_options){
                    .path = "nn", .loop = loops, .n_loops = 2, .expand = expand, .n_expand = 2}),
                "LCCC L CLCSSSC |C LLC");
}

static void refuses(const char *kernel, const char *path, const struct gs_ptx_loop *loop, size_t n_loops,
                    const char *sentence)
{
    struct gs_ptx_kernel k;
    struct gs_ptx_trace t;
    struct gs_ptx_walk_options o = {.path = path, .loop = loop, .n_loops = n_loops};
    assert_int_equal(gs_ptx_parse(&k, text, kernel, why, sizeof(why)), 0);
    assert_int_equal(gs_ptx_walk(&k, &o, &t, why, sizeof(why)), -EINVAL);
    if (!strstr(why, sentence))
        fail_msg("'%s' lacks '%s'", why, sentence);
    assert_null(t.v);
    gs_ptx_kernel_free(&k);
}

static void unknown_paths(void **state)
{
    const struct gs_ptx_loop inner[] = {{"INNER", 2}}, both[] = {{"INNER", 1}, {"OUTER", 100000000}},
                             no[] = {{"SKIP", 2}};
    refuses("nest", NULL, NULL, 0, "line 14");
    refuses("nest", "n", NULL, 0, "it is not told whether 'bra.uni' is taken");
    refuses("nest", "nt", NULL, 0, "--loop INNER=N");
    refuses("nest", "ntt", inner, 1, "--loop OUTER=N");
    refuses("nest", "n", no, 1, "no branch leads back");
    refuses("nest", "tnn", NULL, 0, "2 letters more");
    refuses("nest", "t", inner, 1, "doesn't come to the loop at INNER");
    refuses("calls", NULL, NULL, 0, "inline");
    refuses("nest", "nt", both, 2, "not told");
}

/* As compilers write loops whose end they can't turn round: left from inside, by one branch or by one of two. */
static const char inside[] = ".entry one() {\n"
                             "mov.u32 %r1, 0;\n"
                             "@%p1 bra END;\n"
                             "LOOP: ld.global.u32 %r2, [%rd1];\n"
                             "@%p2 bra END;\n"
                             "bra.uni LOOP;\n"
                             "END: ret; }\n"
                             ".entry two() {\n"
                             "LOOP: ld.global.u32 %r2, [%rd1];\n"
                             "@%p1 bra END;\n"
                             "@%p2 bra END;\n"
                             "bra.uni LOOP;\n"
                             "END: ret; }\n";

/* The walk's string, or null with `why`. */
static char *walk_inside(const char *kernel, const char *path, uint64_t turns)
{
    const struct gs_ptx_loop loop = {"LOOP", turns};
    const struct gs_ptx_walk_options o = {.path = path, .loop = &loop, .n_loops = 1};
    struct gs_ptx_kernel k;
    struct gs_ptx_trace t;
    assert_int_equal(gs_ptx_parse(&k, inside, kernel, why, sizeof why), 0);
    char *s = gs_ptx_walk(&k, &o, &t, why, sizeof why) ? NULL : gs_ptx_instruction_string(&k, &t, false);
    free(t.v);
    gs_ptx_kernel_free(&k);
    return s;
}

static void loops_left_from_inside(void **state)
{
    same_string(walk_inside("one", "n", 3), "CC LCC LCC LC C");
    char *s = walk_inside("one", "n", 500);
    assert_int_equal(strlen(s), 2 + 499 * 3 + 2 + 1);
    free(s);
    assert_null(walk_inside("one", "nt", 500)); /* once that was a loop of one turn */
    assert_non_null(strstr(why, "1 letter more"));
    assert_null(walk_inside("one", "t", 500));
    assert_non_null(strstr(why, "doesn't come to the loop at LOOP"));
    same_string(walk_inside("two", "nnnt", 2), "LCCC LCC C");
    assert_null(walk_inside("two", "nnt", 3));
    assert_non_null(strstr(why, "leaves the loop at LOOP in turn 2, and --loop says that it has 3"));
    assert_null(walk_inside("two", "nnnnnn", 2));
    assert_non_null(strstr(why, "left from inside"));
}

/* Texts with bytes changed, cut or doubled at random: an answer, whatever it is, and no harm (run it with sanitizers).
 */
static void broken_texts(void **state)
{
    static const char odd[] = "{}[]();:,.@!%|/*\"\n\tx0$_";
    uint64_t rng = 4711;
    for (int round = 0; round < 20000; round++) {
        char broken[sizeof(text) + 64];
        size_t n = sizeof(text);
        memcpy(broken, text, n);
        for (int i = 0; i < 1 + round % 4; i++) {
            rng = rng * 6364136223846793005u + 1442695040888963407u;
            size_t at = (size_t)(rng >> 33) % (n - 1);
            switch ((rng >> 20) % 3) {
            case 0:
                broken[at] = odd[(rng >> 40) % (sizeof(odd) - 1)];
                break;
            case 1:
                broken[at] = '\0';
                break;
            default:
                memmove(broken + at, broken + at + 1, n - at - 1);
                n--;
            }
        }
        struct gs_ptx_kernel k;
        struct gs_ptx_trace t;
        const struct gs_ptx_loop loops[] = {{"INNER", 2}, {"OUTER", 2}};
        struct gs_ptx_walk_options o = {.path = "nnnnn", .loop = loops, .n_loops = 2};
        why[0] = '\0';
        if (gs_ptx_parse(&k, broken, "nest", why, sizeof(why)) == 0) {
            if (gs_ptx_walk(&k, &o, &t, why, sizeof(why)) == 0)
                free(t.v);
            gs_ptx_kernel_free(&k);
        } else {
            assert_true(why[0] != '\0');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_instructions),     cmocka_unit_test(chooses_the_kernel),
        cmocka_unit_test(walks_a_kernel),         cmocka_unit_test(unknown_paths),
        cmocka_unit_test(loops_left_from_inside), cmocka_unit_test(broken_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
