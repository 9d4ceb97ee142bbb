/* SPDX-License-Identifier: MIT */
/* What links cost, as text: it comes back as it was, whatever else the lines say and whatever is missing. */
#include <string.h>

#include "tests/suite.h"
#include "common/links.h"

static struct gs_links parsed(const char *text)
{
    return gs_links_parse(text, strlen(text));
}

static void assert_cost(const struct gs_link_cost *c, double piece_ns, double byte_ns)
{
    assert_true(c->piece_ns > piece_ns - 1 && c->piece_ns < piece_ns + 1);
    assert_true(c->byte_ns > byte_ns - 1e-5 && c->byte_ns < byte_ns + 1e-5);
}

static void text_holds_all_costs(void **state)
{
    const struct gs_links links = {gs_link_cost(40.25, 20), gs_link_cost(21.0, 310)};
    char text[GS_LINKS_TEXT_BYTES];
    assert_cost(&links.host, 40250, 0.05);
    const size_t n = gs_links_print(&links, text);
    const struct gs_links back = gs_links_parse(text, n);
    assert_cost(&back.host, 40250, 0.05);
    assert_cost(&back.peer, 21000, 1.0 / 310);
}

static void one_cost_is_enough(void **state)
{
    const struct gs_links links = {{0, 0}, gs_link_cost(7, 100)};
    char text[GS_LINKS_TEXT_BYTES];
    const size_t n = gs_links_print(&links, text);
    const struct gs_links back = gs_links_parse(text, n);
    assert_cost(&back.host, 0, 0);
    assert_cost(&back.peer, 7000, 0.01);
    const struct gs_links nothing = {{0, 0}, {5, 0}};
    assert_int_equal(gs_links_print(&nothing, text), 0);
}

static void other_lines_are_passed_over(void **state)
{
    const struct gs_links l =
        parsed("ok\nmemory 100 2000000\nno: windows 1 2\nwindows 3\nmemorys 1 1\n\nwindows 9 1000 x\n");
    assert_cost(&l.host, 100, 2);
    assert_cost(&l.peer, 0, 0);
    const struct gs_links cut = parsed("memory 100 20"); /* the writer ended in the middle */
    assert_cost(&cut.host, 0, 0);
    const struct gs_links huge = parsed("memory 99999999999999999999999999 1\nwindows -1 5\n");
    assert_cost(&huge.host, 0, 0);
    assert_cost(&huge.peer, 0, 0);
    const struct gs_links before = parsed("host 738000 43\npeer 738000 43\n"); /* perhaps of busy GPUs */
    assert_cost(&before.host, 0, 0);
    assert_cost(&before.peer, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_holds_all_costs),
        cmocka_unit_test(one_cost_is_enough),
        cmocka_unit_test(other_lines_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
