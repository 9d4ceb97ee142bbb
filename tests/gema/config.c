/* SPDX-License-Identifier: MIT */
/* The config reader: what it understands, and that it finds every mistake in one run, with its line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "common/config.h"
#include "gema/model.h"

static const char good[] = "# a comment\n"
                           "[system]\n"
                           "gpus = 2\n"
                           "cpus = 4 ; four cores\n"
                           "transfer_chunk = 2MiB\n"
                           "kernel_chunk = 16\n"
                           "preemptive = cpu, gpu\n"
                           "pieces = gang\n"
                           "\n"
                           "[task knn]\n"
                           "match = */knn\n"
                           "period = 200ms\n"
                           "mode = auto\n"
                           "segments.1 = cpu 2ms, pci 3ms, gpu 80ms..100ms,\n"
                           "             pci 5ms, cpu 1.5us\n"
                           "  segments.2 = cpu 4ms, gpu 51ms\n"
                           "[task video]\n"
                           "period = 1s\n"
                           "deadline = 0.5s\n"
                           "segments.1 = gpu 1ms\n"
                           "mode = single\n";

static int parse(const char *text, struct gs_config *c, struct gs_mistakes *m)
{
    *m = (struct gs_mistakes){0};
    return gs_config_parse(text, strlen(text), c, m);
}

static void reads_all_keys(void **state)
{
    struct gs_config c;
    struct gs_mistakes m;
    int rc = parse(good, &c, &m);
    gs_mistakes_print(&m, "good");
    assert_int_equal(rc, 0);
    assert_int_equal(c.system.servers[GS_GPU], 2);
    assert_int_equal(c.system.servers[GS_CPU], 4);
    assert_int_equal(c.system.servers[GS_PCI], 1);
    assert_true(c.system.preemptive[GS_CPU] && c.system.preemptive[GS_GPU] && !c.system.preemptive[GS_PCI]);
    assert_int_equal(c.system.pieces, GS_PIECES_GANG);
    assert_int_equal(c.system.transfer_chunk_bytes, 2 << 20);
    assert_int_equal(c.n_tasks, 2);
    const struct gs_config_task *t = &c.tasks[0];
    assert_string_equal(t->name, "knn");
    assert_string_equal(t->match, "*/knn");
    assert_int_equal(t->period_ns, 200000000);
    assert_int_equal(t->deadline_ns, 200000000);
    assert_int_equal(t->chains[1].n_segments, 5);
    assert_int_equal(t->chains[1].segments[2].best_ns, 80000000);
    assert_int_equal(t->chains[1].segments[2].worst_ns, 100000000);
    assert_int_equal(t->chains[1].segments[4].worst_ns, 1500);
    assert_int_equal(t->chains[1].segments[4].resource, GS_CPU);
    assert_int_equal(t->chains[2].n_segments, 2);
    assert_int_equal(c.tasks[1].deadline_ns, 500000000);
    assert_int_equal(c.tasks[1].mode, 1);

    struct gs_model model;
    assert_int_equal(gs_model_from_config(&model, &c, &m), 0);
    assert_string_equal(model.tasks[0].name, "knn"); /* the shorter deadline */
    assert_false(gs_model_may_use(&model, 1, 2));
    gs_model_free(&model);
    gs_config_free(&c);
}

struct expected {
    int line;
    const char *part; /* of the message */
};

static void expect_mistakes(const char *text, const struct expected *e, size_t n)
{
    struct gs_config c;
    struct gs_mistakes m;
    assert_int_equal(parse(text, &c, &m), -EINVAL);
    if (m.n != n)
        gs_mistakes_print(&m, "found");
    assert_int_equal(m.n, n);
    for (size_t i = 0; i < n; i++) {
        if (m.v[i].line != e[i].line || !strstr(m.v[i].text, e[i].part))
            print_error("wanted line %d '%s', found line %d '%s'\n", e[i].line, e[i].part, m.v[i].line, m.v[i].text);
        assert_int_equal(m.v[i].line, e[i].line);
        assert_non_null(strstr(m.v[i].text, e[i].part));
    }
    gs_mistakes_free(&m);
    gs_config_free(&c);
}

static void reads_chunks(void **state)
{
    struct gs_config c;
    struct gs_mistakes m;
    struct gs_model model;
    assert_int_equal(parse("[system]\ngpus=2\ncpus=1\ndepth=3\nhandover=20us\npci_chunk=100us\n"
                           "[task a]\nperiod=10ms\ngpu_chunk=2ms\nsegments.1=gpu 5ms\n"
                           "[task b]\nperiod=20ms\npci_chunk=50us\nwarmup=0\nsegments.1=pci 1ms, gpu 5ms\n",
                           &c, &m),
                     0);
    assert_int_equal(gs_model_from_config(&model, &c, &m), 0);
    assert_true(model.chunked[GS_PCI] && model.chunked[GS_GPU] && !model.chunked[GS_CPU]);
    assert_int_equal(model.depth, 3);
    assert_int_equal(model.handover_ns, 20000);
    assert_int_equal(model.tasks[0].chunk_ns[GS_GPU], 2000000);
    assert_int_equal(model.tasks[0].chunk_ns[GS_PCI], 100000); /* the system's */
    assert_int_equal(model.tasks[1].chunk_ns[GS_GPU], 0);      /* not known: a whole segment */
    assert_int_equal(model.tasks[1].chunk_ns[GS_PCI], 50000);
    assert_int_equal(c.tasks[0].warmup, -1); /* as the daemon does by default */
    assert_int_equal(c.tasks[1].warmup, 0);
    gs_model_free(&model);
    gs_config_free(&c);

    /* How many chunks a segment may have, alone and behind its pauses. */
    assert_int_equal(parse("[system]\ngpus=2\ncpus=1\ndepth=1\ngpu_chunk=1ms\npci_chunk=1ms\n[task a]\nperiod=10ms\n"
                           "segments.1=gpu 4ms..5ms chunks 60, pci 1ms pauses 3 1ms chunks 7, cpu 1ms\n",
                           &c, &m),
                     0);
    assert_int_equal(gs_model_from_config(&model, &c, &m), 0);
    const struct gs_segment *s = model.tasks[0].chains[1].segments;
    assert_int_equal(s[0].chunks, 60);
    assert_int_equal(s[0].best_ns, 4000000);
    assert_int_equal(s[0].worst_ns, 5000000);
    assert_int_equal(s[1].chunks, 7);
    assert_int_equal(s[1].pauses, 3);
    assert_int_equal(s[1].pause_ns, 1000000);
    assert_int_equal(s[2].chunks, 0);
    assert_true(gs_model_counts_handovers(&model, 0, 1));
    gs_model_free(&model);
    gs_config_free(&c);
    static const char *const bad_chunks[][2] = {
        {"gpu 5ms chunks", "is not a duration"},
        {"gpu 5ms chunks many", "'many' is no number of chunks"},
        {"gpu 5ms chunks 0", "'0' is no number"},
        {"gpu 5ms chunks 1000001", "is no number"},
        {"gpu 5ms chunks 7 8", "'7 8' is no number"},
        {"cpu 5ms chunks 7", "a CPU segment has no chunks"},
        {"gpu 5ms chunks 4", "4 chunks, each of 1ms at most, are shorter than the segment's 5ms"}};
    for (size_t i = 0; i < sizeof bad_chunks / sizeof *bad_chunks; i++) {
        char text[200];
        snprintf(text, sizeof text, "[system]\ngpu_chunk=1ms\n[task a]\nperiod=10ms\nsegments.1=%s\n",
                 bad_chunks[i][0]);
        assert_int_equal(parse(text, &c, &m), -EINVAL);
        assert_int_equal(m.n, 1);
        assert_non_null(strstr(m.v[0].text, bad_chunks[i][1]));
        gs_mistakes_free(&m);
        gs_config_free(&c);
    }

    static const char *const bad[] = {"preemptive = cpu, gpu\ngpu_chunk = 1ms",
                                      "pieces = any\ngpu_chunk = 1ms",
                                      "handover = 0",
                                      "pci_chunk = much",
                                      "warmup = 1",
                                      "overruns = never",
                                      "overruns = 0",
                                      "liars = 0",
                                      "liars = -1",
                                      "liars = 2x",
                                      "liars = 1001",
                                      "liars = 99999999999999999999",
                                      "liars ="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[200];
        snprintf(text, sizeof text, "[system]\n%s\n", bad[i]);
        assert_int_equal(parse(text, &c, &m), -EINVAL);
        assert_int_equal(m.n, 1);
        gs_mistakes_free(&m);
        gs_config_free(&c);
    }
    /* Without a chunk's length everything is as it was: whole segments. */
    assert_int_equal(parse(good, &c, &m), 0);
    assert_int_equal(gs_model_from_config(&model, &c, &m), 0);
    assert_false(model.chunked[GS_PCI] || model.chunked[GS_GPU]);
    gs_model_free(&model);
    gs_config_free(&c);
}

/* What liars are counted with, by the number of users and the window, which is a period. */
static void liars_have_patience(void **state)
{
    static const struct {
        const char *liars, *period;
        int users;
        int64_t late_ms, patience_ms, excess_ms; /* excess: and a nanosecond for each user; -1: no limit */
    } cases[] = {{"no", "400ms", 0, 0, 0, 0},
                 {"yes", "400ms", GS_LIARS_ANY, 0, 60, -1},
                 {"1", "400ms", 1, 1, 60, 60 + 4},
                 {"1000", "400ms", 1000, 1, 60, 1000 * (60 + 4)},
                 {"2", "599s", 2, 1, 60, 2 * (60 + 5990)},
                 {"2", "1200s", 2, 1, 60, 2 * (3 * 60 + 12000)}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gs_config c;
        struct gs_mistakes m = {0};
        struct gs_model model;
        char text[200];
        snprintf(text, sizeof text,
                 "[system]\ngpus = 1\ncpus = 1\npci_chunk = 1ms\ngpu_chunk = 30ms\nliars = %s\n[task a]\nperiod = %s\n"
                 "segments.1 = gpu 1ms\n",
                 cases[i].liars, cases[i].period);
        assert_int_equal(parse(text, &c, &m), 0);
        assert_int_equal(c.system.liars, cases[i].users);
        assert_int_equal(gs_model_from_config(&model, &c, &m), 0);
        assert_int_equal(model.late_ns, cases[i].late_ms * 1000000);
        assert_int_equal(model.patience_ns[GS_GPU], cases[i].patience_ms * 1000000);
        assert_int_equal(model.patience_ns[GS_PCI], cases[i].patience_ms ? 50000000 : 0);
        assert_int_equal(model.tasks[0].excess_ns,
                         cases[i].excess_ms < 0 ? INT64_MAX : cases[i].excess_ms * 1000000 + cases[i].users);
        gs_model_free(&model);
        gs_config_free(&c);
    }
}

static void finds_every_mistake(void **state)
{
    static const char bad[] = "key = before\n"                   /* 1 */
                              "[system]\n"                       /* 2 */
                              "gpus = 0\n"                       /* 3 */
                              "cpus = many\n"                    /* 4 */
                              "transfer_chunk = 2MB\n"           /* 5 */
                              "pieces = some\n"                  /* 6 */
                              "preemptive = cpu, disk\n"         /* 7 */
                              "nonsense\n"                       /* 8 */
                              "speed = 9\n"                      /* 9 */
                              "[task a b]\n"                     /* 10 */
                              "period = 1ms\n"                   /* 11 */
                              "[task a]\n"                       /* 12 */
                              "deadline = 2ms\n"                 /* 13 */
                              "segments.1 = cpu 1ms, dsp 3ms,\n" /* 14 */
                              "    gpu 4, gpu 3ms..2ms,\n"       /* 15 */
                              "    pci\n"                        /* 16 */
                              "segments.x = cpu 1ms\n"           /* 17 */
                              "deadline = 1ms\n"                 /* 18 */
                              "[task a]\n"                       /* 19 */
                              "[task c\n"                        /* 20 */
                              "[task d]\n"                       /* 21 */
                              "period = 1ms\n"                   /* 22 */
                              "deadline = 1.5ms\n"               /* 23 */
                              "mode = 0\n"                       /* 24 */
                              "period = 0.0000001ms\n"           /* 25 */
                              "[tasks]\n"                        /* 26 */
                              "[task e]\n"                       /* 27 */
                              "period = 0.5ns\n"                 /* 28 */
                              "deadline = -4ms\n";               /* 29 */
    static const struct expected want[] = {
        {1, "before the first section"},
        {3, "not between 1 and 64"},
        {4, "whole number"},
        {5, "not a size"},
        {6, "own, any, gang"},
        {7, "'disk'"},
        {8, "neither"},
        {9, "no key 'speed'"},
        {10, "no name"},
        {12, "has no period"},
        {14, "'dsp 3ms'"},
        {15, "'4' is not a duration"},
        {15, "longer than the longest"},
        {16, "'pci'"},
        {17, "number of GPUs"},
        {18, "given already, in line 13"},
        {19, "already, in line 12"},
        {20, "[NAME]"},
        {21, "longer than its period"},
        {24, "mode"},
        {25, "given already"},
        {26, "neither [system]"},
        {28, "whole nanoseconds"},
        {29, "negative"},
    };
    expect_mistakes(bad, want, sizeof want / sizeof *want);
}

static void checks_across_sections(void **state)
{
    static const char bad[] = "[task a]\nperiod = 1s\nmode = multi\nsegments.1 = gpu 1ms\npriority = 3\n"
                              "[task b]\nperiod = 1s\nsegments.4 = gpu 1ms\npriority = 3\n"
                              "[task c]\nperiod = 1s\nmode = 3\npriority = 4\n"
                              "[system]\ngpus = 2\n[system]\ngpus = 3\n"
                              "[task d]\nperiod = 1s\n";
    static const struct expected want[] = {{1, "no segments.2"},    {6, "the priority of task a"},
                                           {8, "2 GPUs"},           {10, "mode = 3"},
                                           {17, "than in line 15"}, {18, "has no priority"}};
    expect_mistakes(bad, want, sizeof want / sizeof *want);
}

/* Three profiles in one file. */
static void sections_that_agree_may_repeat(void **state)
{
    struct gs_config c;
    struct gs_mistakes m;
    assert_int_equal(parse("[system]\ngpus = 2\ncpus = 4\nhandover = 1ms\n[task a]\nperiod = 1s\n"
                           "[system]\ngpus = 2\ncpus = 4\n[task b]\nperiod = 1s\n"
                           "[system]\nhandover = 1000us\nlinks = 2\n[task c]\nperiod = 1s\n",
                           &c, &m),
                     0);
    assert_int_equal(c.n_tasks, 3);
    assert_int_equal(c.system.servers[GS_GPU], 2);
    assert_int_equal(c.system.servers[GS_PCI], 2);
    assert_int_equal(c.system.line, 1);
    gs_config_free(&c);
}

/* A text belongs to the config once, however often it is given; the second is long enough for a block of its own. */
static void texts_may_repeat(void **state)
{
#define HOSTS "hosts = a-rather-long-name-of-a-host-one,b,c,d"
    struct gs_config c;
    struct gs_mistakes m;
    assert_int_equal(parse("[system]\n" HOSTS "\n[system]\n" HOSTS "\n[system]\ngpus = 1\n" HOSTS "\n", &c, &m), 0);
    assert_string_equal(c.system.hosts, HOSTS + strlen("hosts = "));
    gs_config_free(&c);
    static const struct expected want[] = {{4, "hosts: another value than in line 2"},
                                           {6, "hosts: another value than in line 2"}};
    expect_mistakes("[system]\n" HOSTS "\n[system]\n" HOSTS ",e\n[system]\nhosts = a\n", want, 2);
#undef HOSTS
}

static void comments_behind_values(void **state)
{
    static const char bad[] = "[system]\n# a comment\n  # another\ngpus = 2 # two\ncpus = 4 ; four\n"
                              "[task a]\nperiod = 1s\t# often\nmatch = /opt/c#/a\n"
                              "segments.1 = gpu 1ms, # here\n  cpu 1ms\n";
    static const struct expected want[] = {
        {4, "behind a value it is ';'"}, {7, "behind a value it is ';'"}, {9, "behind a value it is ';'"}};
    expect_mistakes(bad, want, sizeof want / sizeof *want);
}

/* What is no config file at all is told soon; one with some wrong lines is read to its end. */
static void other_files_end_soon(void **state)
{
    struct gs_config c;
    struct gs_mistakes m;
    char text[20000] = "";
    for (int i = 0; i < 300; i++)
        strcat(text, "a line of a letter\n");
    assert_int_equal(parse(text, &c, &m), -EINVAL);
    assert_int_equal(m.n, 20);
    assert_non_null(strstr(m.v[19].text, "this is no config file"));
    gs_mistakes_free(&m);
    gs_config_free(&c);
    strcpy(text, "[system]\ngpus = 1\n[task a]\nperiod = 1s\n");
    for (int i = 1; i <= 60; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\nsegments.%d = gpu 1ms\n",
                 i % 2 ? "" : "nonsense", i);
    assert_int_equal(parse(text, &c, &m), -EINVAL);
    assert_int_equal(m.n, 30 + 59); /* and the system has one GPU */
    gs_mistakes_free(&m);
    gs_config_free(&c);
}

static void long_lines_are_whole_or_refused(void **state)
{
    char text[8192] = "[system]\ngpus=1\ncpus=1\n[task a]\nperiod=1s\nsegments.1 = cpu 1ns";
    for (int i = 2; i <= 200; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", cpu %dns", i);
    struct gs_config c;
    struct gs_mistakes m;
    assert_int_equal(parse(text, &c, &m), 0);
    assert_int_equal(c.tasks[0].chains[1].n_segments, 200);
    for (int i = 0; i < 200; i++)
        assert_int_equal(c.tasks[0].chains[1].segments[i].worst_ns, i + 1);
    gs_config_free(&c);

    strcpy(text, "[task a]\nperiod=1s\nmatch = /");
    memset(text + strlen(text), 'x', 500);
    static const struct expected want[] = {{3, "too long"}};
    expect_mistakes(text, want, 1);
}

static void units_are_exact(void **state)
{
    static const struct {
        const char *text;
        int rc;
        int64_t ns;
    } cases[] = {{"1ns", 0, 1},
                 {"1.5us", 0, 1500},
                 {"0.001us", 0, 1},
                 {"2 ms", 0, 2000000},
                 {"1.50s", 0, 1500000000},
                 {"0", 0, 0},
                 {"0.0001us", -EINVAL, 0},
                 {"ms", -EINVAL, 0},
                 {".5ms", 0, 500000},
                 {"1.ms", 0, 1000000},
                 {".ms", -EINVAL, 0},
                 {"1e3ms", -EINVAL, 0},
                 {"1,5ms", -EINVAL, 0},
                 {"-1ms", -ERANGE, 0},
                 {"99999999999999999999s", -ERANGE, 0},
                 {"18446744073709551617ns", -ERANGE, 0},
                 {"1125899906842624ns", 0, INT64_C(1) << 50},
                 {"1125899906842625ns", -ERANGE, 0},
                 {"5", -EINVAL, 0},
                 {"", -EINVAL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns = 0;
        int rc = gs_parse_duration(cases[i].text, strlen(cases[i].text), &ns);
        if (rc != cases[i].rc || ns != cases[i].ns)
            print_error("'%s': %d, %lld\n", cases[i].text, rc, (long long)ns);
        assert_int_equal(rc, cases[i].rc);
        assert_int_equal(ns, cases[i].ns);
    }
    static const int64_t back[] = {0,         1,          999,        1000,       1500,       1000001,
                                   999999999, 1000000000, 1000000001, 1234567000, 90000000000};
    for (size_t i = 0; i < sizeof back / sizeof *back; i++) {
        char buf[GS_DURATION_SIZE];
        int64_t ns;
        gs_format_duration(back[i], buf);
        assert_int_equal(gs_parse_duration(buf, strlen(buf), &ns), 0);
        assert_int_equal(ns, back[i]);
    }
}

/* Five digits, no more; a bound isn't shown below what it is, nor what is left above. */
static void durations_are_shown_short(void **state)
{
    static const struct {
        int64_t ns;
        enum gs_rounding rounding;
        const char *text;
    } cases[] = {{127849997, GS_ROUND_UP, "127.85ms"},
                 {127850001, GS_ROUND_UP, "127.86ms"},
                 {24350003, GS_ROUND_DOWN, "24.35ms"},
                 {24359999, GS_ROUND_DOWN, "24.359ms"},
                 {15649997, GS_ROUND_NEAREST, "15.65ms"},
                 {999999600, GS_ROUND_NEAREST, "1s"},
                 {1234567891234, GS_ROUND_UP, "1234.6s"},
                 {40000000, GS_ROUND_UP, "40ms"},
                 {12345, GS_ROUND_UP, "12.345us"},
                 {7, GS_ROUND_UP, "7ns"},
                 {0, GS_ROUND_UP, "0ns"},
                 {1500000000, GS_ROUND_NEAREST, "1.5s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buf[GS_DURATION_SIZE];
        assert_string_equal(gs_show_duration(cases[i].ns, cases[i].rounding, buf), cases[i].text);
    }
}

static void missing_file_is_a_mistake(void **state)
{
    struct gs_config c;
    struct gs_mistakes m = {0};
    assert_int_equal(gs_config_load("no/such/folder/gpusparc.conf", &c, &m), -ENOENT);
    assert_int_equal(m.n, 1);
    gs_mistakes_free(&m);
    gs_config_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_keys),
        cmocka_unit_test(reads_chunks),
        cmocka_unit_test(liars_have_patience),
        cmocka_unit_test(finds_every_mistake),
        cmocka_unit_test(checks_across_sections),
        cmocka_unit_test(sections_that_agree_may_repeat),
        cmocka_unit_test(texts_may_repeat),
        cmocka_unit_test(comments_behind_values),
        cmocka_unit_test(other_files_end_soon),
        cmocka_unit_test(long_lines_are_whole_or_refused),
        cmocka_unit_test(units_are_exact),
        cmocka_unit_test(durations_are_shown_short),
        cmocka_unit_test(missing_file_is_a_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
