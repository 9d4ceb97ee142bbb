/* SPDX-License-Identifier: MIT */
/* What the core makes of jobs and of units: response times, warm-ups, use, and when units come back. */
#include "tests/scheduler/desk.h"

static void job(struct bench *b, struct desk *d, uint64_t release_ns, uint64_t end_ns)
{
    struct gs_msg m = message(GS_MSG_JOBS);
    record_job(d, &(struct ended){.release_ns = release_ns, .end_ns = end_ns});
    assert_int_equal(say(b, d, &m), 0);
}

/* One that has lasted so long comes back, and somebody waits. */
static void unit(struct bench *b, struct desk *d, unsigned resource, uint32_t us)
{
    struct gs_msg m = message(GS_MSG_LOOK);
    m.u.look.resource = resource;
    atomic_store(&page_of(d)->lease[resource].longest_us, us);
    assert_int_equal(say(b, d, &m), 0);
}

static void test_jobs(void **state)
{
    struct bench *b = start(TASKS);
    struct desk d;
    join(b, &d, "slow", 2);
    b->now += 5000 * MS;
    job(b, &d, b->now - 1000 * MS, b->now - 950 * MS);
    job(b, &d, b->now - 900 * MS, b->now - 820 * MS);
    job(b, &d, b->now - 800 * MS, b->now - 700 * MS); /* just in time */
    job(b, &d, b->now - 700 * MS, b->now - 599 * MS); /* missed */
    job(b, &d, b->now - 500 * MS, b->now - 501 * MS); /* lies */
    job(b, &d, 0, b->now);
    const struct gs_task_stats *st = gs_jobs_stats(b->core, "slow");
    assert_non_null(st);
    assert_int_equal(st->jobs, 4);
    assert_int_equal(st->misses, 1);
    assert_int_equal(st->response.max_ns, 101 * MS);
    assert_int_equal(st->jitter.count, 3);
    assert_int_equal(st->jitter.max_ns, 30 * MS);
    assert_int_equal(b->core->bad_messages, 2);
    job(b, &d, b->now - 50 * MS, b->now + 1); /* the daemon has looked at its clock before: later */
    assert_int_equal(st->jobs, 4);
    b->now++;
    get_up(b, &d);
    assert_int_equal(gs_jobs_stats(b->core, "slow")->jobs, 5); /* it stays, for the next run */
    assert_int_equal(b->core->bad_messages, 2);
    stop(b);
}

/* Jobs are recorded, and read when there is a reason to: nothing of them is lost, and no page is believed blindly. */
static void test_jobs_are_read_later(void **state)
{
    struct bench *b = start(TASKS);
    struct desk d, plain;
    join(b, &d, "slow", 2);
    b->now += 5000 * MS;
    const struct ended met = {.release_ns = b->now - 100 * MS, .end_ns = b->now};
    const struct ended late = {.release_ns = b->now - 120 * MS, .end_ns = b->now};
    record_job(&d, &met);
    assert_null(gs_jobs_stats(b->core, "slow"));
    free(gs_core_status(b->core, b->now)); /* somebody asks */
    const struct gs_task_stats *st = gs_jobs_stats(b->core, "slow");
    assert_non_null(st);
    assert_int_equal(st->jobs, 1);
    record_job(&d, &late); /* late by the config that it had when it ended */
    assert_int_equal(configure(b, "[system]\ngpus = 2\n[task slow]\nperiod = 200ms\nuser = 1001\n"), 0);
    assert_int_equal(st->jobs, 2);
    assert_int_equal(st->misses, 1);
    record_job(&d, &late);
    atomic_store(&page_of(&d)->job[2].serial, 0); /* not written in full yet */
    struct gs_msg m = message(GS_MSG_JOBS);
    assert_int_equal(say(b, &d, &m), 0);
    assert_int_equal(st->jobs, 2);
    atomic_store(&page_of(&d)->job[2].serial, 3);
    assert_int_equal(say(b, &d, &m), 0);
    assert_int_equal(st->jobs, 3);
    for (unsigned i = 0; i < GS_JOB_RECORDS; i++)
        record_job(&d, &met);
    assert_string_equal(b->log, "");
    assert_int_equal(say(b, &d, &m), 0);
    assert_int_equal(st->jobs, 3 + GS_JOB_RECORDS);
    for (unsigned i = 0; i < GS_JOB_RECORDS + 7; i++)
        record_job(&d, &met);
    get_up(b, &d); /* it is killed: its page is still there */
    assert_non_null(strstr(b->log, "7 jobs of process"));
    assert_true(says(b->log, "%u jobs of process %d ended before the daemon came to count the ones before"));
    assert_int_equal(st->jobs, 3 + 2 * GS_JOB_RECORDS);
    assert_int_equal(st->misses, 1);
    /* Who is no task has none. */
    join(b, &plain, "", 2);
    record_job(&plain, &met);
    assert_int_equal(say(b, &plain, &m), 0);
    assert_int_equal(st->jobs, 3 + 2 * GS_JOB_RECORDS);
    stop(b);
}

static void hello_paced(struct bench *b, struct desk *d, const char *task, uint32_t jobs)
{
    struct gs_msg m = message(GS_MSG_HELLO);
    m.u.hello.gpus = 2;
    m.u.hello.flags = GS_HELLO_PACED;
    m.u.hello.jobs = jobs;
    snprintf(m.u.hello.task, sizeof m.u.hello.task, "%s", task);
    sit_down(b, d, 1001, "");
    assert_int_equal(say(b, d, &m), 0);
}

/* Jobs of a warm-up count for nothing, and until it is over the process has no CPU priority. */
static void test_warmup(void **state)
{
    struct bench *b = start(TASKS "[task long]\nperiod = 300ms\nuser = 1001\nwarmup = 5\n");
    struct desk d;
    hello_paced(b, &d, "slow", 0);
    assert_int_equal(d.welcome.u.welcome.warmup, 2); /* the daemon chooses its GPUs: a job in each mode */
    assert_int_equal(d.welcome.u.welcome.flags, GS_WELCOME_CHOOSES);
    assert_int_equal(d.cpu_priority, 0);
    b->now += 5000 * MS;
    job(b, &d, b->now - 4000 * MS, b->now - 3000 * MS);
    job(b, &d, 0, b->now); /* senseless: not even that */
    assert_int_equal(d.session->warmup_left, 1);
    assert_int_equal(b->realtime_calls, 0);
    job(b, &d, b->now - 3000 * MS, b->now - 2000 * MS);
    assert_int_equal(d.cpu_priority, 29); /* of rank 2; each of four tasks has 10 */
    const struct gs_task_stats *st = gs_jobs_stats(b->core, "slow");
    assert_int_equal(st->warmup_jobs, 2);
    assert_int_equal(st->jobs + st->misses + st->response.count, 0);
    job(b, &d, b->now - 1000 * MS, b->now - 950 * MS);
    job(b, &d, b->now - 900 * MS, b->now - 500 * MS);
    assert_int_equal(st->jobs, 2);
    assert_int_equal(st->misses, 1);
    assert_int_equal(st->jitter.count, 1); /* not against the warm-up's */
    assert_int_equal(st->warmup_jobs, 2);
    get_up(b, &d);
    hello_paced(b, &d, "slow", 1); /* it had a job before this daemon came */
    assert_int_equal(d.session->warmup_left, 1);
    get_up(b, &d);
    hello_paced(b, &d, "slow", UINT32_MAX);
    assert_int_equal(d.session->warmup_left, 0);
    get_up(b, &d);
    hello_paced(b, &d, "fast", 0); /* has one of two GPUs anyhow: a job on each */
    assert_int_equal(d.welcome.u.welcome.warmup, 2);
    assert_int_equal(d.welcome.u.welcome.flags, 0);
    get_up(b, &d);
    join(b, &d, "slow", 2); /* not paced: nothing but what the config says */
    assert_int_equal(d.session->warmup_left, 0);
    get_up(b, &d);
    join(b, &d, "long", 2);
    assert_int_equal(d.session->warmup_left, 5);
    stop(b);
}

/* A page that claims to have been busy since before it was there. */
static void test_usage_is_bounded(void **state)
{
    struct bench *b = start("");
    struct desk d;
    join(b, &d, "", 2);
    atomic_store(&page_of(&d)->lease[1].busy_ns, UINT64_MAX);
    b->now += 3 * MS;
    char *text = gs_core_status(b->core, b->now);
    assert_non_null(text);
    free(text);
    assert_int_equal(b->core->busy_ns[1], 3 * MS);
    /* Nor has it taken more units than there was time for; what it says doesn't overflow what all have taken. */
    struct desk other;
    join(b, &other, "", 2);
    atomic_store(&page_of(&d)->lease[1].taken, UINT64_MAX);
    atomic_store(&page_of(&other)->lease[1].taken, UINT64_MAX / 2);
    b->now += 3 * MS;
    text = gs_core_status(b->core, b->now);
    char want[40];
    snprintf(want, sizeof want, "\"taken\":%d", 6 * 100000 + 3 * 100000);
    assert_non_null(strstr(text, want));
    free(text);
    get_up(b, &other);
    get_up(b, &d);
    assert_int_equal(b->core->taken[1], 6 * 100000 + 3 * 100000);
    stop(b);
}

/* Jobs that began before the machine did, and counters that jump, leave numbers that can be. */
static void test_lies_overflow_nothing(void **state)
{
    struct bench *b = start("[system]\ngpus = 2\n[task slow]\nperiod = 100ms\nuser = *\nsegments.1 = gpu 1ms\n");
    struct desk d;
    b->now = UINT64_C(1) << 62;
    join(b, &d, "slow", 1);
    struct gs_msg m = message(GS_MSG_JOBS);
    for (int i = 0; i < 20; i++) {
        b->now += MS;
        record_job(&d, &(struct ended){1, b->now, UINT64_MAX, UINT64_MAX, 1});
        atomic_store(&page_of(&d)->job_since_ns, UINT64_MAX);
        atomic_store(&page_of(&d)->lease[1].longest_us, UINT32_MAX);
        say(b, &d, &m);
        b->now += MS;
        atomic_store(&page_of(&d)->jobs, d.session->jobs_read + UINT32_MAX / 2);
        say(b, &d, &m);
        atomic_store(&page_of(&d)->jobs, d.session->jobs_read);
    }
    char *text = gs_core_status(b->core, b->now);
    assert_null(strstr(text, ":-"));
    free(text);
    stop(b);
}

/* The log says of units that last longer than the analysis believes: once, until one lasts yet longer. */
static void test_long_units(void **state)
{
    struct bench *b = start("[system]\ngpus = 2\npci_chunk = 100us\ngpu_chunk = 1ms\n"
                            "[task slow]\nperiod = 100ms\nuser = 1001\ngpu_chunk = 3ms\nwarmup = 1\n");
    struct desk app, task;
    sit_down(b, &app, 1001, "/bin/app");
    hello(b, &app, "", 2);
    join(b, &task, "slow", 2);
    b->now += 5000 * MS;
    unit(b, &app, GS_RESOURCE_PCI, 200);
    unit(b, &app, GS_RESOURCE_GPU(1), 2000);
    assert_string_equal(b->log, "");
    unit(b, &app, GS_RESOURCE_PCI, 201);
    assert_non_null(strstr(b->log, "a unit of /bin/app kept the link for 201us"));
    assert_true(says(
        b->log,
        "a unit of %s%s kept %s for %s, where %s %s allows %u of %s: the bounds of what it kept waiting may not hold"));
    assert_non_null(strstr(b->log, "pci_chunk allows 2 of 100us"));
    b->log[0] = '\0';
    unit(b, &app, GS_RESOURCE_PCI, 251);
    assert_string_equal(b->log, "");
    unit(b, &app, GS_RESOURCE_PCI, 252);
    assert_non_null(strstr(b->log, "252us"));
    b->log[0] = '\0';
    /* A task's own; not in its warm-up. */
    unit(b, &task, GS_RESOURCE_GPU(0), 9000);
    job(b, &task, b->now - 100 * MS, b->now - 50 * MS);
    unit(b, &task, GS_RESOURCE_GPU(0), 6000);
    assert_string_equal(b->log, "");
    unit(b, &task, GS_RESOURCE_GPU(0), 6001);
    assert_non_null(strstr(b->log, "a unit of task slow kept a GPU for 6.001ms, where its gpu_chunk allows 2 of 3ms"));
    b->log[0] = '\0';
    stop(b);
}

/* Where the segments say how many chunks a job has the bounds count on it. */
static void test_many_chunks(void **state)
{
    for (int depth = 1; depth <= 2; depth++) {
        char config[300];
        snprintf(config, sizeof config,
                 "[system]\ngpus = 2\ndepth = %d\ngpu_chunk = 1ms\npci_chunk = 1ms\n[task t]\nperiod = 1s\nuser = *\n"
                 "segments.1 = pci 1ms, gpu 3ms chunks 6, gpu 2ms chunks 4\n",
                 depth);
        struct bench *b = start(config);
        struct desk d, other;
        join(b, &d, "t", 1);
        join(b, &other, "", 1);
        for (int chunks = 10; chunks <= 30; chunks += 5) {
            for (int i = 0; i < chunks; i++, b->now += MS) {
                if (i % 2) { /* asked for; the others are taken */
                    request(b, &d, 1, GS_RESOURCE_GPU(i % 4 / 2));
                    give_back(b, &d, GS_RESOURCE_GPU(i % 4 / 2));
                } else {
                    atomic_fetch_add(&page_of(&d)->lease[GS_RESOURCE_GPU(0)].taken, 1);
                }
            }
            struct gs_msg m = message(GS_MSG_JOBS);
            record_job(&d, &(struct ended){b->now - 5 * MS, b->now, 0, 0, 1});
            say(b, &d, &m);
            const char *said = strstr(b->log, "a job of task t had more than");
            assert_int_equal(said != NULL, chunks > 20); /* the next job may have begun */
        }
        /* A lie about its GPUs. */
        struct gs_msg m = message(GS_MSG_JOBS);
        record_job(&d, &(struct ended){b->now - MS, b->now, 0, 0, UINT32_MAX});
        say(b, &d, &m);
        assert_non_null(strstr(b->log, "more than 12 chunks of a GPU, where its segments.1 say 10:"));
        assert_true(says(b->log, "a job of task %s had more than %lld chunks of %s, where its segments.%u say "
                                 "%lld: the bounds may not hold"));
        get_up(b, &other);
        get_up(b, &d);
        stop(b);
    }
}

/* ---- when units come back ---- */

enum { US = 1000 };

/* One client has a unit for length_ns, while the other waits; then it is the other's turn. Returns whether the end was
 * foretold, which must then be right by `within`. */
static bool turn(struct bench *b, struct desk *has, struct desk *waits, uint64_t length_ns, bool within)
{
    uint64_t from, until;
    const uint64_t end = b->now + length_ns;
    request(b, waits, 0, 1);
    const bool foretold = gs_core_foretell(b->core, b->now, &from, &until);
    if (foretold) {
        assert_in_range(until - from, 1, GS_RHYTHM_WIDEST_NS);
        assert_true((from < end && end <= until) == within);
    }
    b->now = end;
    give_back(b, has, 1);
    assert_true(granted(waits, 0, 1));
    return foretold;
}

static int turns(struct bench *b, struct desk d[2], int n, uint64_t length_ns, uint64_t jitter_ns, bool within)
{
    int foretold = 0;
    for (int i = 0; i < n; i++) {
        const uint64_t length = length_ns + (uint64_t)(i / 2 % 2) * jitter_ns; /* the same for both */
        foretold += turn(b, &d[0], &d[1], length, within);
        const struct desk other = d[0];
        d[0] = d[1];
        d[1] = other;
    }
    return foretold;
}

static void test_ends_are_foretold(void **state)
{
    struct bench *b = start("");
    struct desk d[2];
    uint64_t from, until;
    for (int i = 0; i < 2; i++) {
        join(b, &d[i], "", 2);
    }
    request(b, &d[0], 0, 1);
    assert_false(gs_core_foretell(b->core, b->now, &from, &until)); /* nobody waits */
    assert_int_equal(turns(b, d, 8, 200 * US, 0, true), 0);         /* each has to be known first */
    assert_int_equal(turns(b, d, 50, 200 * US, 2 * US, true), 50);
    /* Suddenly longer: what comes after the window ends the foretelling, for longer each time it is wrong. */
    const int wrong = turns(b, d, 40, 260 * US, 0, false);
    assert_in_range(wrong, 1, 12);
    assert_in_range(turns(b, d, 4000, 260 * US, 0, true), 100, 3999); /* learnt again */
    turns(b, d, 40, 200 * US, 300 * US, false);
    assert_int_equal(turns(b, d, 200, 200 * US, 300 * US, true), 0); /* nothing that could be relied on */
    assert_false(gs_core_foretell(b->core, b->now, &from, &until));
    stop(b);
}

static void test_awake(void **state)
{
    struct bench *b = start("");
    assert_false(gs_core_stays_awake(b->core, 2));
    assert_true(gs_core_stays_awake(b->core, 16));
    configure(b, "[system]\nawake = no\n");
    assert_false(gs_core_stays_awake(b->core, 16));
    configure(b, "[system]\nawake = yes\n");
    assert_true(gs_core_stays_awake(b->core, 2));
    stop(b);
}

static void test_histogram(void **state)
{
    struct gs_histogram h = {0};
    assert_int_equal(gs_histogram_quantile(&h, 0.5), 0);
    for (uint64_t v = 1; v <= 100000; v++)
        gs_histogram_add(&h, v * v);
    for (int q = 1; q <= 100; q++) {
        uint64_t exact = (uint64_t)q * 1000 * (uint64_t)q * 1000, got = gs_histogram_quantile(&h, q / 100.0);
        assert_true(got >= exact && got <= exact + exact / 16 + 1);
    }
    gs_histogram_add(&h, 0);
    gs_histogram_add(&h, UINT64_MAX);
    assert_int_equal(h.min_ns, 0);
    assert_true(gs_histogram_quantile(&h, 1) == UINT64_MAX);
}

/* However many jobs a message is for, a grant waits for a few of them; the last ones are heard when it leaves. */
static void test_many_jobs_are_read_in_pieces(void **state)
{
    struct bench *b = start_slow(TASKS);
    struct desk d;
    join(b, &d, "slow", 2);
    analyse(b);
    b->now += 5000 * MS;
    const struct ended met = {.release_ns = b->now - 100 * MS, .end_ns = b->now};
    const struct gs_msg m = message(GS_MSG_JOBS);
    for (unsigned i = 0; i < GS_JOB_RECORDS; i++)
        record_job(&d, &met);
    assert_int_equal(gs_core_message(d.session, &m, sizeof m, b->now), 0);
    const struct gs_task_stats *st = gs_jobs_stats(b->core, "slow");
    assert_in_range(st->jobs, 1, 32);
    unsigned pieces = 1;
    for (; gs_core_has_work(b->core, GS_WORK_ANSWERS); pieces++)
        gs_core_work(b->core, GS_WORK_ANSWERS, b->now);
    assert_int_equal(st->jobs, GS_JOB_RECORDS);
    assert_in_range(pieces, GS_JOB_RECORDS / 32, GS_JOB_RECORDS);
    for (unsigned i = 0; i < GS_JOB_RECORDS; i++)
        record_job(&d, &met);
    assert_true(gs_core_hear_out(d.session, b->now));
    assert_in_range(st->jobs, GS_JOB_RECORDS + 1, GS_JOB_RECORDS + 32);
    unsigned heard = 1;
    for (; gs_core_hear_out(d.session, b->now); heard++)
        for (unsigned i = 0; i < 100; i++)
            record_job(&d, &met); /* by whoever has a copy of its page, without end */
    assert_in_range(heard, 1, GS_JOB_RECORDS);
    stop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_ends_are_foretold),
        cmocka_unit_test(test_awake),
        cmocka_unit_test(test_long_units),
        cmocka_unit_test(test_many_chunks),
        cmocka_unit_test(test_usage_is_bounded),
        cmocka_unit_test(test_lies_overflow_nothing),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_jobs_are_read_later),
        cmocka_unit_test(test_many_jobs_are_read_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
