/* SPDX-License-Identifier: MIT */
/* Is what the compiler made of a translation the same as of the kernel? tests/e2e/ptx has both, where it is. Each
 * change of one number, operation, address or branch of the translation is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/plan/same_code.h"

static const char *const kernels[] = {"strided", "grouped", "places"};
enum { KERNELS = 3 };
static const char *folder;
static char *own, *translated;

static char *read_text(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    char *text = calloc(1, 1 << 20);
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void the_same(void **state)
{
    (void)state;
    for (int k = 0; k < KERNELS; k++) {
        assert_true(gs_same_code(own, translated, kernels[k]));
        assert_false(gs_same_code(own, own, kernels[k])); /* no argument more */
        assert_false(gs_same_code(own, translated, "nothing"));
    }
    assert_false(gs_same_code("", "", "strided"));
    assert_false(gs_same_code("\177ELF", translated, "strided"));
}

/* Where the kernel's body begins and ends in the translation. */
static char *body_of(const char *kernel, char **end)
{
    char head[64];
    snprintf(head, sizeof head, ".entry %s(", kernel);
    char *at = strstr(translated, head);
    assert_non_null(at);
    *end = strstr(at, "\n}");
    assert_non_null(*end);
    return strstr(at, ".reg .b64");
}

/* The translation with `bytes` at `at` replaced. */
static bool same_with(const char *kernel, const char *at, size_t bytes, const char *by)
{
    char *text = calloc(1, strlen(translated) + strlen(by) + 1);
    assert_non_null(text);
    memcpy(text, translated, (size_t)(at - translated));
    strcat(text, by);
    strcat(text, at + bytes);
    const bool same = gs_same_code(own, text, kernel);
    free(text);
    return same;
}

/* Each place of `what` that a letter, digit or dot doesn't go on, by another; in lines with `in`. */
static int changes_seen(const char *what, const char *by, const char *in)
{
    int n = 0;
    for (int k = 0; k < KERNELS; k++) {
        char *end, *at = body_of(kernels[k], &end);
        while ((at = strstr(at + 1, what)) && at < end) {
            const char *line = at;
            while (line[-1] != '\n')
                line--;
            const size_t bytes = strlen(what);
            const char *found = strstr(line, in);
            if (!found || found > strchr(line, '\n') ||
                (isdigit((unsigned char)at[bytes - 1]) && isdigit((unsigned char)at[bytes])))
                continue;
            if (same_with(kernels[k], at, bytes, by))
                fail_msg("%s: %s for %s isn't seen in: %.60s", kernels[k], by, what, line);
            n++;
        }
    }
    return n;
}

static void other_numbers(void **state)
{
    int n = 0;
    (void)state;
    for (int f = 2; f < 90; f++) {
        char what[16];
        snprintf(what, sizeof what, "%%f%d", f);
        n += changes_seen(what, "%f1", "");
    }
    assert_true(n > 100);
    assert_true(changes_seen("0f3F000000", "0f3F000001", "f32") > 0); /* 0.5 */
}

static void other_operations(void **state)
{
    (void)state;
    assert_true(changes_seen("add.rn.f32", "sub.rn.f32", "") > 6);
    assert_true(changes_seen("fma.rn.f32", "mad.rn.f32", "") > 3);
    assert_true(changes_seen("@%p", "@!%p", "bra") > 4);
    assert_true(changes_seen("ld.global", "ld.volatile.global", "") > 10);
    assert_true(changes_seen("\tbar.sync \t0;", "", "") == 2);
}

static void other_addresses(void **state)
{
    (void)state;
    assert_true(changes_seen("_param_0]", "_param_1]", "ld.param.u64") > 2); /* another buffer */
    assert_true(changes_seen("+4]", "+8]", "ld.") > 0);
    assert_true(changes_seen("%tid.x", "%tid.y", "") > 2);
}

/* Two lines of accesses and floating-point operations in another order. */
static void other_order(void **state)
{
    int n = 0;
    (void)state;
    for (int k = 0; k < KERNELS; k++) {
        char *end, *at = body_of(kernels[k], &end);
        for (char *line = strchr(at, '\n') + 1, *next; line < end; line = next) {
            next = strchr(line, '\n') + 1;
            char *behind = strchr(next, '\n') + 1, both[512];
            const size_t one = (size_t)(next - line), two = (size_t)(behind - next);
            const bool strict = memmem(line, one, ".f32", 4) && memmem(next, two, ".f32", 4);
            if (!strict || (one == two && memcmp(line, next, one) == 0))
                continue;
            snprintf(both, sizeof both, "%.*s%.*s", (int)two, next, (int)one, line);
            if (same_with(kernels[k], line, one + two, both))
                fail_msg("%s: the order isn't seen of: %.120s", kernels[k], line);
            n++;
        }
    }
    assert_true(n > 40);
}

/* Whatever ends early, or holds what isn't understood, is not the same. */
static void damaged(void **state)
{
    (void)state;
    const char *places = strstr(translated, ".entry places(");
    char *end, *begin = body_of("places", &end);
    for (const char *at = places; at <= end; at += 7) {
        char *cut = strndup(translated, (size_t)(at - translated));
        assert_false(gs_same_code(own, cut, "places"));
        free(cut);
    }
    for (const char *line = strchr(begin, '\n'); line < end; line = strchr(line + 1, '\n')) {
        assert_false(same_with("places", line, 1, "\n call helper;\n"));
        assert_false(same_with("places", line, 1, "\n .unknown %f1;\n"));
    }
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : ".";
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same),         cmocka_unit_test(other_numbers),
                                       cmocka_unit_test(other_operations), cmocka_unit_test(other_addresses),
                                       cmocka_unit_test(other_order),      cmocka_unit_test(damaged)};
    own = read_text("sums.ptx");
    translated = read_text("sums.translated.ptx");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(own);
    free(translated);
    return failed;
}
