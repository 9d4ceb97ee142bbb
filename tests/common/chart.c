/* SPDX-License-Identifier: MIT */
/* The pictures: nothing lies on or beyond the frame, what coincides is seen and said, the legend stands beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "common/chart.h"
#include "common/page.h"
#include "common/svg.h"

static char *draw(const struct gs_panel *panel)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    const struct gs_chart chart = {
        .title = "a <title> & \x01\xff", .panels = panel, .n = 1, .columns = 1, .width = 400, .height = 300};
    gs_chart_write(&chart, f);
    fclose(f);
    return text;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        n++;
    }
    return n;
}

/* The frame's edges, and the marks' centres. */
struct frame {
    double left, top, width, height;
};

static struct frame frame_of(const char *text)
{
    struct frame f = {0};
    const char *end = strstr(text, "fill=\"none\" stroke=\"#888\"/>"), *at = end;
    assert_non_null(end);
    while (at > text && strncmp(at, "<rect", 5) != 0)
        at--;
    assert_int_equal(
        sscanf(at, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &f.left, &f.top, &f.width, &f.height), 4);
    return f;
}

static void marks_are_within(const char *text, int wanted)
{
    const struct frame f = frame_of(text);
    int n = 0;
    for (const char *at = text; (at = strstr(at, "<circle cx=")) != NULL; at++) {
        double x, y;
        assert_int_equal(sscanf(at, "<circle cx=\"%lf\" cy=\"%lf\"", &x, &y), 2);
        if (x > f.left + f.width) /* of the legend */
            continue;
        assert_true(x > f.left + 3 && x < f.left + f.width - 3);
        assert_true(y > f.top + 3 && y < f.top + f.height - 3);
        n++;
    }
    assert_int_equal(n, wanted);
}

static void nothing_lies_on_the_frame(void **state)
{
    static const double x[] = {0, 1, 2}, ys[][3] = {{0, 0, 0}, {1, 1, 1}, {-5, 0, 1e9}, {0.1, 100, 1e-6}};
    for (int k = 0; k < 4; k++)
        for (int log = 0; log < 2; log++) {
            const struct gs_curve c = {.name = "one", .x = x, .y = ys[k], .n = 3};
            const struct gs_panel p = {
                .x.label = "x (s)", .y = {.label = "y (m)", .log = log}, .curves = &c, .n_curves = 1};
            char *text = draw(&p);
            int positive = 0;
            for (int i = 0; i < 3; i++)
                positive += ys[k][i] > 0;
            marks_are_within(text, log ? positive : 3);
            assert_non_null(strstr(text, "x (s)"));
            assert_non_null(strstr(text, "y (m)"));
            assert_non_null(strstr(text, "a &lt;title> &amp; ??"));
            free(text);
        }
}

static void what_coincides_is_seen(void **state)
{
    static const double x[] = {1, 2}, y[] = {3, 4}, other[] = {3, 5};
    const struct gs_curve c[] = {{.name = "a", .x = x, .y = y, .n = 2},
                                 {.name = "b", .x = x, .y = y, .n = 2},
                                 {.name = "c", .x = x, .y = other, .n = 2}};
    const struct gs_panel p = {.x.label = "x", .y.label = "y", .curves = c, .n_curves = 3};
    char *text = draw(&p);
    assert_non_null(strstr(text, ">b (as a)<"));
    assert_non_null(strstr(text, ">c<"));
    /* The one below is the wider. */
    assert_non_null(strstr(text, "<path fill=\"none\" stroke-width=\"3.4\""));
    assert_non_null(strstr(text, "<path fill=\"none\" stroke-width=\"2.4\""));
    const struct frame f = frame_of(text);
    const char *key = strstr(text, "class=\"key\"");
    double at;
    assert_int_equal(sscanf(strstr(key, "<path d=\"M"), "<path d=\"M%lf", &at), 1);
    assert_true(at > f.left + f.width);
    free(text);
}

static void bars_are_as_long_as_their_sum(void **state)
{
    static const double a[] = {40, 60}, b[] = {NAN, 50};
    static const char *const names[] = {"write", "kernel"};
    const struct gs_row rows[] = {{.label = "one", .value = a}, {.label = "two", .value = b, .text = "50 %"}};
    const struct gs_panel p = {.kind = GS_PANEL_BARS,
                               .x = {.label = "time (%)", .min = 0, .max = 200},
                               .rows = rows,
                               .n_rows = 2,
                               .names = names,
                               .n_names = 2};
    char *text = draw(&p);
    assert_int_equal(count(text, "<rect class=\"s"), 3);
    assert_non_null(strstr(text, "width=\"80.00\""));  /* 40 of 200 over 400 */
    assert_non_null(strstr(text, "width=\"120.00\"")); /* 60 */
    assert_non_null(strstr(text, "width=\"100.00\"")); /* 50 */
    assert_non_null(strstr(text, ">50 %<"));
    free(text);
}

static void steps_are_round(void **state)
{
    char text[32];
    assert_true(gs_svg_step(10, 10) == 1);
    assert_true(gs_svg_step(11, 10) == 2);
    assert_true(gs_svg_step(0.3, 10) <= 0.0501 && gs_svg_step(0.3, 10) >= 0.0499);
    assert_true(gs_svg_step(4500, 10) == 500);
    assert_true(gs_svg_step(0, 10) == 1);
    assert_string_equal(gs_svg_number(0.1 + 0.2, text), "0.3");
    assert_string_equal(gs_svg_number(1e6, text), "1e6");
    assert_string_equal(gs_svg_number(2e-5, text), "2e-5");
    assert_string_equal(gs_svg_number(1e-15, text), "0");
}

static void a_page_needs_no_other_file(void **state)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    gs_page_begin(f, "a & b");
    gs_page_table(f, "name|#ms");
    gs_page_row(f);
    gs_page_cell(f, "<script>");
    gs_page_number(f, 1500, "%.1f s", 1.5);
    gs_page_table_end(f);
    gs_page_end(f);
    fclose(f);
    assert_non_null(strstr(text, "<title>a &amp; b</title>"));
    assert_non_null(strstr(text, "<td>&lt;script></td><td class=\"n\" data-v=\"1500\">1.5 s</td>"));
    assert_int_equal(count(text, "<script"), 1);
    assert_null(strstr(text, " src="));
    assert_null(strstr(text, "href="));
    assert_null(strstr(text, "http:"));
    assert_null(strstr(text, "https:"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_lies_on_the_frame),     cmocka_unit_test(what_coincides_is_seen),
        cmocka_unit_test(bars_are_as_long_as_their_sum), cmocka_unit_test(steps_are_round),
        cmocka_unit_test(a_page_needs_no_other_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
