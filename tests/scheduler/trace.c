/* SPDX-License-Identifier: MIT */
/* The daemon's trace: spans of one track lie apart, whatever overlaps and however late clients report their units. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/suite.h"
#include "scheduler/trace.h"

enum { PID_UNITS = 1, PID_WAITS = 3, CLIENTS = 3, UNITS = 600, RESOURCES = 2, MOST = 8192, BATCH = 100 };

struct span {
    long long pid, tid, begin_ns, end_ns;
};

static struct span spans[MOST];
static size_t n_spans;

static long long ns_of(const json_t *event, const char *key)
{
    return (long long)(json_number_value(json_object_get(event, key)) * 1000 + 0.5);
}

/* Reads the spans of the file, which is removed. */
static void load(const char *path)
{
    json_t *events = json_load_file(path, 0, NULL), *e;
    size_t i;
    n_spans = 0;
    assert_true(json_is_array(events));
    json_array_foreach(events, i, e)
    {
        if (json_string_value(json_object_get(e, "ph"))[0] != 'X')
            continue;
        assert_true(n_spans < MOST);
        const long long begin = ns_of(e, "ts");
        spans[n_spans++] = (struct span){.pid = json_integer_value(json_object_get(e, "pid")),
                                         .tid = json_integer_value(json_object_get(e, "tid")),
                                         .begin_ns = begin,
                                         .end_ns = begin + ns_of(e, "dur")};
    }
    json_decref(events);
    unlink(path);
}

static void expect_no_overlap(void)
{
    for (size_t i = 0; i < n_spans; i++)
        for (size_t j = 0; j < i; j++) {
            const struct span *x = &spans[i], *y = &spans[j];
            if (x->pid == y->pid && x->tid == y->tid)
                assert_true(x->end_ns <= y->begin_ns || y->end_ns <= x->begin_ns);
        }
}

static size_t count(long long pid, long long beyond_tid)
{
    size_t n = 0;
    for (size_t i = 0; i < n_spans; i++)
        n += spans[i].pid == pid && spans[i].tid > beyond_tid;
    return n;
}

static const struct gs_traced a = {.client = 7, .uid = 1, .pid = 70, .task = "a"},
                              b = {.client = 8, .uid = 2, .pid = 80, .task = "b"};

/* Two units are out at a time, of clients in turn for ten units each, and clients report theirs a hundred at a time. */
static void test_two_tracks(void **state)
{
    char path[] = "/tmp/gs_trace_XXXXXX";
    struct gs_trace *t;
    struct {
        uint64_t begin_ns, end_ns;
    } unit[CLIENTS][UNITS];
    size_t n[CLIENTS] = {0}, told[CLIENTS] = {0}, all = 0;
    uint64_t end = 1000;
    unsigned seed = 44;
    printf("seed %u\n", seed);
    close(mkstemp(path));
    assert_int_equal(gs_trace_open(&t, path, GS_TRACE_BYTES), 0);
    for (unsigned r = 0; r < RESOURCES; r++)
        gs_trace_resource(t, r);
    while (all < UNITS) {
        const unsigned c = (unsigned)(all / 10 % CLIENTS);
        const uint64_t took = 200 + (uint64_t)rand_r(&seed) % 800,
                       begin = end - 150; /* granted while the last one runs */
        end += took;
        unit[c][n[c]].begin_ns = begin;
        unit[c][n[c]++].end_ns = end;
        all++;
        for (unsigned of = 0; of < CLIENTS; of++)
            if (n[of] - told[of] == BATCH || all == UNITS)
                for (; told[of] < n[of]; told[of]++)
                    gs_trace_unit(t, &(struct gs_traced){.client = of, .task = ""}, 1, false,
                                  unit[of][told[of]].begin_ns, unit[of][told[of]].end_ns);
    }
    assert_int_equal(gs_trace_close(t), 0);
    load(path);
    assert_int_equal(n_spans, UNITS);
    expect_no_overlap();
    assert_true(count(PID_UNITS, 1) > UNITS / 4); /* not on the resource's first track ... */
    for (size_t i = 0; i < n_spans; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t k = 0; k < j; k++)
                if (spans[i].tid != spans[j].tid && spans[j].tid != spans[k].tid && spans[i].tid != spans[k].tid)
                    fail_msg("three tracks for two units at a time");
}

/* A client waits for a link and a GPU at once; another one has waits of its own. */
static void test_waits(void **state)
{
    char path[] = "/tmp/gs_trace_XXXXXX";
    struct gs_trace *t;
    close(mkstemp(path));
    assert_int_equal(gs_trace_open(&t, path, GS_TRACE_BYTES), 0);
    for (uint64_t i = 0; i < 1000; i++) {
        gs_trace_grant(t, &a, 0, 1000 * i, 1000 * i + 400);
        gs_trace_grant(t, &a, 1, 1000 * i + 100, 1000 * i + 500);
        gs_trace_grant(t, &b, 1, 1000 * i + 100, 1000 * i + 600);
    }
    assert_int_equal(gs_trace_close(t), 0);
    load(path);
    assert_int_equal(n_spans, 3000);
    assert_int_equal(count(PID_WAITS, 0), 3000);
    assert_int_equal(count(PID_WAITS, 3), 0); /* two tracks for the first client, one for the second */
    expect_no_overlap();
}

/* Of units that a client invents, all at once, as many are kept as can be out: 16 times a depth of two, and pieces. */
static void test_invented_units(void **state)
{
    char path[] = "/tmp/gs_trace_XXXXXX";
    struct gs_trace *t;
    close(mkstemp(path));
    assert_int_equal(gs_trace_open(&t, path, GS_TRACE_BYTES), 0);
    for (uint64_t i = 0; i < 1000; i++)
        gs_trace_unit(t, &a, 0, false, 1000 + i, 9000 - i);
    assert_int_equal(gs_trace_close(t), 0);
    load(path);
    assert_int_equal(n_spans, 36);
    expect_no_overlap();
}

/* A user who asks without end has a quarter of the file, and all together have all of it. */
static void test_a_file_has_an_end(void **state)
{
    enum { MOST_BYTES = 200000, USERS = 6 };
    char path[] = "/tmp/gs_trace_XXXXXX";
    struct gs_trace *t;
    struct stat st;
    off_t before = 0;
    close(mkstemp(path));
    assert_int_equal(gs_trace_open(&t, path, MOST_BYTES), 0);
    assert_int_equal(gs_trace_close(t), 0);
    assert_int_equal(stat(path, &st), 0);
    const off_t empty = st.st_size;
    for (unsigned users = 1; users <= USERS; users++) {
        assert_int_equal(gs_trace_open(&t, path, MOST_BYTES), 0);
        for (uid_t user = 0; user < users; user++)
            for (uint64_t i = 0; i < 2000; i++)
                gs_trace_grant(t, &(struct gs_traced){.client = user, .uid = user, .task = "a"}, 0, i, i + 1);
        assert_int_equal(gs_trace_close(t), 0);
        assert_int_equal(stat(path, &st), 0);
        const off_t most = MOST_BYTES / 4 * (users < 4 ? users : 4);
        assert_in_range(st.st_size - empty, most - 1000, most + 100); /* and how many were lost */
        assert_true(st.st_size >= before);
        before = st.st_size;
    }
    load(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_tracks),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_invented_units),
        cmocka_unit_test(test_a_file_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
