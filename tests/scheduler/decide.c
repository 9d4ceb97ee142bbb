/* SPDX-License-Identifier: MIT */
/* What the core decides of tasks: GEMA, what jobs have used, admission, reloads. */
#include <errno.h>
#include <unistd.h>

#include "tests/scheduler/desk.h"

#define CHAIN1(gpu) "segments.1 = cpu 1ms, pci 1ms, gpu " gpu ", pci 1ms, cpu 1ms\n"
#define CHAIN2(gpu) "segments.2 = cpu 1ms, pci 2ms, gpu " gpu ", pci 2ms, cpu 1ms\n"
#define HEAVY(admission)                                                                                               \
    "[system]\ngpus = 2\ncpus = 4\nadmission = " admission "\n"                                                        \
    "[task a]\nperiod = 100ms\nuser = *\n" CHAIN1("95ms")                                                              \
        CHAIN2("48ms") "[task b]\nperiod = 1000ms\nuser = *\n" CHAIN1(                                                 \
            "100ms") "[task c]\nperiod = 1100ms\nuser = *\n" CHAIN1("900ms")

/* On one GPU, a takes longer than its period: it gets both. */
static void test_gema_decides(void **state)
{
    struct bench *b = start("[system]\ngpus = 2\ncpus = 4\n"
                            "[task a]\nperiod = 100ms\nuser = *\n" CHAIN1("120ms")
                                CHAIN2("60ms") "[task b]\nperiod = 200ms\nuser = *\n" CHAIN1("20ms") CHAIN2("11ms"));
    struct desk a, other;
    sit_down(b, &a, 1001, "");
    join(b, &other, "b", 2);
    assert_int_equal(atomic_load(&page_of(&other)->gpus), 1);
    hello(b, &a, "a", 2);
    assert_int_equal(atomic_load(&page_of(&a)->gpus), 2);
    assert_int_equal(atomic_load(&page_of(&a)->gpu_mask), GS_MASK_ALL_GPUS(2));
    assert_true(b->core->decision.schedulable);
    assert_int_equal(b->core->decision.analysed, 2);
    get_up(b, &a);
    /* An application whose group has one GPU can't be told two. */
    join(b, &a, "a", 1);
    assert_int_equal(atomic_load(&page_of(&a)->gpus), 1);
    assert_int_equal(atomic_load(&page_of(&a)->gpu_mask), GS_MASK_ALL_GPUS(1));
    assert_false(b->core->decision.schedulable);
    stop(b);
}

/* A job that has kept its GPU for so long; the page says so as a client's would. */
static void job_of(struct bench *b, struct desk *d, uint32_t gpus, uint64_t gpu_ns, uint64_t link_ns)
{
    struct gs_msg m = message(GS_MSG_JOBS);
    b->now += 1000 * MS;
    record_job(d, &(struct ended){b->now - 500 * MS, b->now, link_ns, gpu_ns, gpus});
    assert_int_equal(say(b, d, &m), 0);
}

/* The client gets the link and all GPUs, and keeps them as long as nobody else wants them. */
static void lease_all(struct bench *b, struct desk *d)
{
    for (unsigned r = 0; r <= 2; r++) {
        assert_int_equal(request(b, d, r, r), 0);
        give_back(b, d, r);
    }
}

/* The analysis believes what jobs have used, where that is more than their segments, until the config is read again. */
static void test_more_than_the_segments(void **state)
{
    static const char config[] = "[system]\ngpus = 2\ncpus = 4\n"
                                 "[task a]\nperiod = 100ms\nuser = *\n" CHAIN1("60ms") CHAIN2("31ms");
    struct bench *b = start(config);
    struct desk d;
    join(b, &d, "a", 2);
    lease_all(b, &d);
    job_of(b, &d, 0, 900 * MS, 0); /* of how many GPUs it was isn't known */
    job_of(b, &d, 1, 900 * MS, 0); /* the first with one: it may have moved data */
    job_of(b, &d, 1, 60 * MS, 2 * MS);
    job_of(b, &d, 1, 60 * MS + MS / 20, 2 * MS); /* no more than a thousandth of the deadline above */
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 1);
    assert_string_equal(b->log, "");
    const int64_t bound = d.session->member.response_ns;
    job_of(b, &d, 1, 64 * MS, 2 * MS);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 1);
    assert_true(says(b->log, "a job of task %s kept %s for %s, where its segments.%u say %s: its bound now counts %s"));
    assert_non_null(strstr(b->log, "kept a GPU for 64ms, where its segments.1 say 60ms: its bound now counts 66ms"));
    assert_in_range(d.session->member.response_ns, bound + 5 * (int64_t)MS, bound + 7 * (int64_t)MS);
    job_of(b, &d, 1, 65 * MS, 2 * MS); /* counted already */
    job_of(b, &d, 1, 120 * MS, 2 * MS);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 2);
    assert_true(says(b->log, "task %s (process %d): %u instead of %u GPUs from its next job on"));
    assert_true(b->core->decision.schedulable);
    job_of(b, &d, 2, 400 * MS, 400 * MS);
    job_of(b, &d, 3, 400 * MS, 400 * MS); /* a lie */
    job_of(b, &d, 3, 400 * MS, 400 * MS);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 2);
    char *text = gs_core_status(b->core, b->now);
    assert_non_null(strstr(text, "\"gpu\":{\"seen_ns\":120000000,\"segments_ns\":60000000,\"counted_ns\":123750000}"));
    free(text);
    /* No mode is left with which the deadlines are met. */
    assert_null(strstr(b->log, "deadlines may be missed"));
    job_of(b, &d, 2, 130 * MS, 2 * MS);
    job_of(b, &d, 2, 130 * MS, 2 * MS);
    assert_false(b->core->decision.schedulable);
    assert_non_null(strstr(b->log, "by what jobs have used deadlines may be missed: a may take"));
    assert_non_null(strstr(d.notice.u.text.text, "by what jobs have used deadlines may be missed"));
    assert_true(says(d.notice.u.text.text, "%s deadlines may be missed: %s"));
    assert_int_equal(configure(b, config), 0);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 1);
    stop(b);
}

/* What a client says of its jobs is believed as far as they lasted, and as far as it has had the resources. */
static void test_a_claim_is_bounded(void **state)
{
    static const char config[] = "[system]\ngpus = 2\ncpus = 4\nadmission = refuse\n"
                                 "[task liar]\nperiod = 400ms\nuser = *\nmode = 1\nsegments.1 = gpu 10ms\n"
                                 "[task low]\nperiod = 500ms\nmode = 1\nsegments.1 = gpu 200ms\n";
    struct bench *b = start(config);
    struct gs_msg m = message(GS_MSG_JOBS);
    struct desk d, low;
    join(b, &d, "liar", 2);
    for (int leased = 0; leased < 2; leased++) {
        for (int i = 0; i < 50; i++) {
            b->now += 100 * MS;
            record_job(&d, &(struct ended){b->now - 20 * MS, b->now, 350 * MS, 350 * MS, 1});
            /* It began long ago, it says: when the last one had not ended. */
            record_job(&d, &(struct ended){b->now - 350 * MS, b->now, 350 * MS, 350 * MS, 1});
            /* And one that ended long ago doesn't make room for the next. */
            record_job(&d, &(struct ended){b->now - 901 * MS, b->now - 900 * MS, 0, 0, 1});
            record_job(&d, &(struct ended){b->now - 350 * MS, b->now, 350 * MS, 350 * MS, 1});
            assert_int_equal(say(b, &d, &m), 0);
        }
        const struct gs_demand *seen = &gs_jobs_stats(b->core, "liar")->demand;
        assert_in_range(seen->seen_ns[1][GS_GPU], leased ? 20 * MS : 0, leased ? 20 * MS : 0);
        assert_in_range(seen->seen_ns[1][GS_PCI], leased ? 20 * MS : 0, leased ? 20 * MS : 0);
        /* The first time it hadn't had anything; then it has, for 20 ms between two jobs at a time. */
        for (int i = 0; i < 3 && !leased; i++) {
            lease_all(b, &d);
            b->now += 80 * MS;
        }
    }
    sit_down(b, &low, 0, "");
    assert_int_equal(hello(b, &low, "low", 2), 0);
    assert_true(b->core->decision.schedulable);
    stop(b);
}

/* How long it counts that jobs have used more, by the config: at most so long, as long as the process is there, or
 * until the config is read again. */
static void test_overruns_are_forgotten(void **state)
{
    static const char *const kept[] = {"10s", "process", "reload"};
    for (int k = 0; k < 3; k++) {
        char config[300];
        snprintf(config, sizeof config,
                 "[system]\ngpus = 2\ncpus = 4\noverruns = %s\n"
                 "[task a]\nperiod = 100ms\nuser = *\nmode = 1\n" CHAIN1("60ms"),
                 kept[k]);
        struct bench *b = start(config);
        struct desk d;
        join(b, &d, "a", 2);
        assert_true(gs_core_next_tick(b->core) == UINT64_MAX);
        lease_all(b, &d);
        job_of(b, &d, 1, 60 * MS, 0);
        job_of(b, &d, 1, 120 * MS, 0);
        assert_false(b->core->decision.schedulable);
        /* It counts for half of the time at least, and not for longer than all of it. */
        for (int i = 0; i < 2; i++) {
            assert_false(b->core->decision.schedulable);
            assert_true((gs_core_next_tick(b->core) == UINT64_MAX) == (k > 0));
            b->now += 5000 * MS;
            gs_core_tick(b->core, b->now);
        }
        assert_int_equal(b->core->decision.schedulable, k == 0);
        assert_true(gs_core_next_tick(b->core) == UINT64_MAX);
        assert_int_equal(
            says(b->log, "deadlines are met again: what jobs had used beyond their segments counts no more"), k == 0);
        job_of(b, &d, 1, 120 * MS, 0);
        assert_false(b->core->decision.schedulable);
        get_up(b, &d);
        join(b, &d, "a", 2);
        assert_int_equal(b->core->decision.schedulable, k < 2);
        get_up(b, &d);
        stop(b);
    }
}

/* What was seen is spread over the segments of its resource, or is one of its own. */
static void test_segments_are_stretched(void **state)
{
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    static const char text[] = "[task a]\nperiod = 1s\nsegments.1 = gpu 10ms, cpu 5ms, gpu 31ms\n";
    assert_int_equal(gs_config_parse(text, strlen(text), &config, &mistakes), 0);
    struct gs_model m;
    gs_model_init(&m, 1, 1, 1);
    assert_int_equal(gs_model_add_config_task(&m, config.tasks, &mistakes), 0);
    struct gs_demand d = {0};
    assert_true(gs_demand_add(&d, config.tasks, 1, GS_GPU, 77777777));
    assert_true(gs_demand_add(&d, config.tasks, 1, GS_PCI, 3 * MS));
    assert_int_equal(gs_demand_apply(&d, m.tasks, 1), 0);
    const struct gs_chain *c = &m.tasks[0].chains[1];
    assert_int_equal(c->n, 4);
    assert_int_equal(c->segments[0].worst_ns + c->segments[2].worst_ns, 77777777 + 77777777 / 32);
    assert_in_range(c->segments[0].worst_ns, 19 * MS, 20 * MS);
    assert_int_equal(c->segments[1].worst_ns, 5 * MS);
    assert_int_equal(c->segments[3].resource, GS_PCI);
    assert_int_equal(c->segments[3].worst_ns, 3 * MS + 3 * MS / 32);
    gs_model_free(&m);
    gs_config_free(&config);
}

/* How much longer a bound is with `liars` than without. */
static int64_t bound_with(const char *liars)
{
    char config[512];
    snprintf(config, sizeof config,
             "[system]\ngpus = 1\ncpus = 2\npci_chunk = 1ms\ngpu_chunk = 30ms\nliars = %s\n"
             "[task a]\nperiod = 400ms\nuser = *\nsegments.1 = cpu 1ms, pci 2ms, gpu 20ms, pci 1ms\n",
             liars);
    struct bench *b = start(config);
    struct desk d;
    join(b, &d, "a", 1);
    const int64_t bound = d.session->member.response_ns;
    stop(b);
    return bound;
}

/* With liars = yes each segment may wait for a unit that is kept for as long as it can be; with a number of users all
 * of them together for what these have, and each for a millisecond. */
static void test_liars_count(void **state)
{
    const int64_t without = bound_with("no");
    assert_in_range(bound_with("yes") - without, 159 * MS, 161 * MS); /* twice 50 on the link, and 60 on the GPU */
    assert_in_range(bound_with("1") - without, 66 * MS, 68 * MS);     /* 60, a hundredth of the period, and 3 */
    assert_in_range(bound_with("2") - without, 130 * MS, 132 * MS);
    assert_int_equal(bound_with("3"), bound_with("yes"));
}

/* A set that has good modes is not refused because the first policy doesn't find them. */
static void test_good_modes_are_found(void **state)
{
    const char *source = getenv("GS_SOURCE");
    char path[512];
    snprintf(path, sizeof path, "%s/tests/scheduler/ten_tasks.conf", source ? source : ".");
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    assert_int_equal(gs_config_load(path, &config, &mistakes), 0);
    struct gs_member members[10];
    assert_int_equal(config.n_tasks, 10);
    for (size_t i = 0; i < 10; i++)
        members[i] = (struct gs_member){.task = &config.tasks[i], .gpus_max = 4};
    struct gs_decision d;
    assert_int_equal(gs_taskset_decide(&config, 4, members, 10, &d), 0);
    assert_true(d.schedulable);
    assert_int_equal(d.analysed, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_in_range(members[i].gpus, 1, 4);
        assert_in_range(members[i].response_ns, 1, members[i].task->deadline_ns);
    }
    gs_config_free(&config);
}

static void test_admission_warn(void **state)
{
    struct bench *b = start(HEAVY("warn"));
    struct desk a, c;
    sit_down(b, &c, 1001, "");
    join(b, &a, "a", 2);
    assert_int_equal(a.notices, 0);
    assert_int_equal(hello(b, &c, "c", 2), 0);
    assert_int_equal(c.notices, 1);
    assert_int_equal(c.welcome.u.welcome.priority, 1);
    assert_true(says(c.notice.u.text.text, "with task %s deadlines may be missed: %s"));
    assert_true(says(b->log, "with task %s (process %d) deadlines may be missed: %s"));
    stop(b);
}

static void test_admission_refuse(void **state)
{
    struct bench *b = start(HEAVY("refuse"));
    struct desk a, c;
    sit_down(b, &c, 1001, "");
    join(b, &a, "a", 2);
    assert_int_equal(hello(b, &c, "c", 2), -EPROTO);
    assert_int_equal(c.refused.u.text.code, GS_REFUSED_ADMISSION);
    assert_true(says(c.refused.u.text.text, "task %s is refused: %s"));
    assert_int_equal(c.welcomes, 0);
    get_up(b, &c);
    /* Asked beforehand, the daemon says the same. */
    sit_down(b, &c, 1001, "");
    struct gs_msg m = message(GS_MSG_PLAN);
    strcpy(m.u.name, "c");
    assert_int_equal(say(b, &c, &m), 0);
    assert_int_equal(c.answer.u.text.code, 0);
    stop(b);
}

static void test_admission_best_effort(void **state)
{
    struct bench *b = start(HEAVY("best-effort"));
    struct desk a, c;
    sit_down(b, &c, 1001, "");
    join(b, &a, "a", 2);
    assert_int_equal(hello(b, &c, "c", 2), 0);
    assert_int_equal(c.notices, 1);
    assert_true(says(c.notice.u.text.text, "task %s runs below all tasks: %s"));
    assert_true(says(b->log, "task %s (process %d) runs below all tasks: %s"));
    assert_int_equal(c.welcome.u.welcome.priority, 0);
    assert_true(b->core->decision.schedulable);
    /* There is room again: it becomes a task. */
    get_up(b, &a);
    assert_int_equal(c.notices, 2);
    assert_true(says(c.notice.u.text.text, "task %s runs as a task again"));
    assert_true(says(b->log, "task %s (process %d) runs as a task again"));
    assert_false(c.session->degraded);
    assert_non_null(c.session->task);
    stop(b);
}

static struct gs_msg_set change_of(const char *task, uint32_t flags, uint64_t period_ns, int32_t priority)
{
    struct gs_msg_set set = {.flags = flags, .period_ns = period_ns, .priority = priority};
    strcpy(set.task, task);
    return set;
}

static int change(struct bench *b, struct desk *d, const struct gs_msg_set *set)
{
    struct gs_msg m = message(GS_MSG_SET);
    m.u.set = *set;
    assert_int_equal(say(b, d, &m), 0);
    return -(int)d->answer.u.text.code;
}

/* By whom it may, if the analysis has nothing against it, with effect on the one that runs, until the next config. */
static void test_set(void **state)
{
    static const char config[] = "[system]\ngpus = 2\ncpus = 4\n"
                                 "[task a]\nperiod = 100ms\npriority = 1\nuser = *\n" CHAIN1("60ms")
                                     CHAIN2("31ms") "[task b]\nperiod = 1s\npriority = 2\nuser = *\n" CHAIN1("20ms");
    struct bench *b = start(config);
    struct desk a, tool, other;
    join(b, &a, "a", 2);
    assert_int_equal(a.welcome.u.welcome.priority, 1);
    sit_down(b, &tool, geteuid(), "");
    sit_down(b, &other, 1001, "");
    struct gs_msg_set set = change_of("a", GS_SET_PERIOD, 90 * MS, 0);
    assert_int_equal(change(b, &other, &set), geteuid() == 1001 ? 0 : -EPERM);
    assert_int_equal(change(b, &tool, &set), 0);
    assert_int_equal(a.session->task->period_ns, 90 * MS);
    assert_int_equal(a.session->task->deadline_ns, 90 * MS); /* it was the period */
    assert_int_equal(a.task.u.welcome.period_ns, 90 * MS);
    /* Even on two GPUs its job takes longer than that. */
    set = change_of("a", GS_SET_PERIOD, 20 * MS, 0);
    assert_int_equal(change(b, &tool, &set), -EDOM);
    assert_int_equal(a.session->task->period_ns, 90 * MS);
    assert_true(b->core->decision.schedulable);
    /* Of one that isn't there as if it came. */
    set = change_of("b", GS_SET_PERIOD, 15 * MS, 0);
    assert_int_equal(change(b, &tool, &set), -EDOM);
    set = change_of("a", GS_SET_PRIORITY, 0, 2);
    assert_int_equal(change(b, &tool, &set), -EINVAL);
    set = change_of("a", GS_SET_PRIORITY, 0, 7);
    assert_int_equal(change(b, &tool, &set), 0);
    assert_int_equal(a.task.u.welcome.priority, 2); /* its rank */
    set = change_of("a", GS_SET_DEADLINE, 0, 0);
    set.deadline_ns = 100 * MS;
    assert_int_equal(change(b, &tool, &set), -EINVAL);
    set = change_of("nobody", GS_SET_PERIOD, 90 * MS, 0);
    assert_int_equal(change(b, &tool, &set), -ENOENT);
    set = change_of("a", GS_SET_PERIOD | GS_SET_FORCE, 20 * MS, 0);
    assert_int_equal(change(b, &tool, &set), 0);
    assert_false(b->core->decision.schedulable);
    assert_non_null(strstr(b->log, "by this change"));
    /* What was too much already may be made less. */
    set = change_of("a", GS_SET_PERIOD, 25 * MS, 0);
    assert_int_equal(change(b, &tool, &set), 0);
    assert_int_equal(configure(b, config), 0);
    assert_int_equal(a.session->task->period_ns, 100 * MS);
    assert_true(b->core->decision.schedulable);
    stop(b);
    b = start(TASKS);
    sit_down(b, &tool, geteuid(), "");
    set = change_of("slow", GS_SET_PRIORITY, 0, 7);
    assert_int_equal(change(b, &tool, &set), -EINVAL); /* none has one */
    stop(b);
}

/* It keeps its pace though it runs below all tasks: it hears of a new one. */
static void test_set_below_all_tasks(void **state)
{
    struct bench *b = start(HEAVY("best-effort"));
    struct desk a, c, tool;
    sit_down(b, &c, 1001, "");
    sit_down(b, &tool, geteuid(), "");
    join(b, &a, "a", 2);
    hello(b, &c, "c", 2);
    const struct gs_msg_set set = change_of("c", GS_SET_PERIOD | GS_SET_FORCE, 1050 * MS, 0);
    assert_int_equal(change(b, &tool, &set), 0);
    assert_true(c.session->degraded);
    assert_int_equal(c.task.u.welcome.period_ns, 1050 * MS);
    stop(b);
}

static void test_reload(void **state)
{
    struct bench *b = start(TASKS);
    struct desk d;
    join(b, &d, "slow", 2);
    assert_int_equal(configure(b, "[system]\ngpus = 1\n"), -EBUSY);
    assert_non_null(d.session->task); /* the old one stays */
    assert_int_equal(configure(b, "[system]\ngpus = 2\nkernel_chunk = 5\n[task slow]\nperiod = 7ms\nuser = 1001\n"), 0);
    assert_int_equal(d.session->task->period_ns, 7 * MS);
    assert_int_equal(atomic_load(&page_of(&d)->kernel_chunk), 5);
    assert_int_equal(configure(b, "[system]\ngpus = 2\n"), 0);
    assert_null(d.session->task);
    assert_int_equal(d.notices, 1);
    assert_true(
        says(d.notice.u.text.text, "task %s is in the daemon's config no more: this process runs below all tasks"));
    assert_true(says(b->log, "task %s is in the config no more: process %d runs below all tasks"));
    assert_int_equal(d.cpu_priority, 0);
    stop(b);
}

/* A bound doesn't count what a task does of which nothing is known: the reason says so. */
static void test_unknown_tasks(void **state)
{
    struct bench *b = start("[system]\ngpus = 2\ncpus = 2\ngpu_chunk = 1ms\npci_chunk = 1ms\n[task known]\nperiod = "
                            "100ms\nuser = *\n" CHAIN1("10ms") "[task x]\nperiod = 10ms\nuser = *\n");
    struct desk d, x, y;
    sit_down(b, &x, 1001, "");
    sit_down(b, &y, 1001, "");
    join(b, &d, "known", 2);
    assert_non_null(strstr(b->core->decision.reason, "known meets its deadline, with at most "));
    assert_null(strstr(b->core->decision.reason, "Not proven"));
    hello(b, &x, "x", 2);
    assert_non_null(strstr(b->core->decision.reason, "Not proven: x is not counted"));
    assert_false(b->core->decision.proven);
    hello(b, &y, "x", 2);
    assert_non_null(strstr(b->core->decision.reason, "Not proven: x, x are not counted"));
    assert_false(b->core->decision.proven);
    get_up(b, &d);
    assert_null(strstr(b->core->decision.reason, "Not proven"));
    stop(b);
}

/* An analysis of hundreds of processes would keep out who wants to join: of a task 16 run as it. */
static void test_many_processes_of_one_task(void **state)
{
    enum { AS_TASK = 16, MORE = 2 };
    struct bench *b = start_crowd("[system]\ngpus = 1\n[task a]\nperiod = 100ms\nuser = *\n");
    struct desk d[AS_TASK + MORE], late;
    for (unsigned i = 0; i < AS_TASK + MORE; i++) {
        sit_down(b, &d[i], 1001 + i % 2, "");
        hello(b, &d[i], "a", 1);
        assert_int_equal(gs_core_tasks_above(d[i].session), i < AS_TASK ? 0 : -1);
    }
    assert_true(says(d[AS_TASK].notice.u.text.text, "task %s runs below all tasks: %d processes run as it already"));
    assert_true(says(b->log, "task %s (process %d) runs below all tasks: %d processes run as it already"));
    get_up(b, &d[0]);
    assert_int_equal(gs_core_tasks_above(d[AS_TASK].session), 0);
    assert_int_equal(gs_core_tasks_above(d[AS_TASK + 1].session), -1);
    assert_int_equal(configure(b, "[system]\ngpus = 1\nadmission = refuse\n[task a]\nperiod = 100ms\nuser = *\n"), 0);
    sit_down(b, &late, 1003, "");
    assert_int_equal(hello(b, &late, "a", 1), -EPROTO);
    assert_true(says(late.refused.u.text.text, "task %s is refused: %d processes run as it already"));
    get_up(b, &late);
    for (unsigned i = 1; i < AS_TASK + MORE; i++)
        get_up(b, &d[i]);
    assert_int_equal(configure(b, "[system]\ngpus = 1\nadmission = refuse\n[task a]\nperiod = 100ms\nuser = *\n"), 0);
    for (unsigned i = 0; i <= AS_TASK; i++) {
        sit_down(b, &d[i], 1001 + i % 2, "");
        const int err = hello(b, &d[i], "a", 1);
        assert_int_equal(d[i].refusals, i == AS_TASK);
        assert_int_equal(err < 0, i == AS_TASK);
    }
    stop(b);
}

/* Of the processes of a task the one that joined first goes first: in its bound, in its processor priority, on the GPU;
 * whatever place among the clients it has. */
static void test_processes_of_one_task(void **state)
{
    struct bench *b = start("[system]\ngpus = 1\ncpus = 2\ngpu_chunk = 1ms\npci_chunk = 1ms\nhandover = 50us\n"
                            "[task a]\nperiod = 100ms\nuser = *\nsegments.1 = gpu 10ms\n"
                            "[task b]\nperiod = 300ms\nuser = *\nsegments.1 = gpu 10ms\n");
    struct desk gone, first, second, low;
    sit_down(b, &first, 1001, "");
    sit_down(b, &second, 1001, "");
    sit_down(b, &low, 1001, "");
    join(b, &gone, "a", 1);
    hello(b, &first, "a", 1);
    hello(b, &low, "b", 1);
    assert_int_equal(first.cpu_priority, gone.cpu_priority - 1);
    get_up(b, &gone);
    hello(b, &second, "a", 1);
    assert_true(second.session->index < first.session->index);
    assert_int_equal(first.cpu_priority, 49);
    assert_int_equal(second.cpu_priority, 48);
    assert_int_equal(low.cpu_priority, 29);
    assert_in_range(first.session->member.response_ns, 12 * MS, 13 * MS);
    assert_in_range(second.session->member.response_ns, 22 * MS, 23 * MS);
    assert_int_equal(request(b, &low, 0, 1), 0);
    assert_int_equal(request(b, &second, 0, 1), 0);
    assert_int_equal(request(b, &first, 0, 1), 0);
    give_back(b, &low, 1);
    assert_true(granted(&first, 0, 1));
    assert_false(granted(&second, 0, 1));
    stop(b);
}

/* More processes than a task has processor priorities: the last ones share one, and nothing is proven of them. */
static void test_shared_priorities(void **state)
{
    char config[4096] = "[system]\ngpus = 1\ncpus = 2\ngpu_chunk = 1ms\npci_chunk = 1ms\n";
    for (int i = 0; i < 20; i++)
        snprintf(config + strlen(config), sizeof config - strlen(config),
                 "[task t%d]\nperiod = %dms\nuser = *\nsegments.1 = gpu 1ms\n", i, 1000 + i);
    struct bench *b = start_large(config);
    struct desk d[3];
    for (int i = 0; i < 3; i++) {
        join(b, &d[i], "t0", 1);
        analyse(b);
        assert_int_equal(d[i].cpu_priority, i ? 48 : 49);
        const char *said = strstr(b->core->decision.reason, "Not proven: processes of t0 have one processor priority");
        assert_int_equal(said != NULL, i == 2);
    }
    stop(b);
}

/* What a reload changes of a task reaches the application that runs as it: a paced one would keep its old period. */
static void test_reload_tells_the_task(void **state)
{
    struct bench *b = start(TASKS);
    struct desk d, other;
    sit_down(b, &other, 1001, "/opt/other");
    join(b, &d, "slow", 2);
    hello(b, &other, "", 2);
    assert_int_equal(configure(b, TASKS), 0);
    assert_int_equal(d.tasks, 0); /* nothing has changed */
    assert_int_equal(configure(b, "[system]\ngpus = 2\n[task slow]\nperiod = 7ms\nuser = 1001\nmode = single\n"), 0);
    assert_int_equal(d.tasks, 1);
    assert_int_equal(d.task.u.welcome.client, d.welcome.u.welcome.client);
    assert_string_equal(d.task.u.welcome.task, "slow");
    assert_int_equal(d.task.u.welcome.period_ns, 7 * MS);
    assert_int_equal(d.task.u.welcome.flags, 0);
    assert_int_equal(configure(b, "[system]\ngpus = 2\n"), 0);
    assert_int_equal(d.tasks, 2);
    assert_string_equal(d.task.u.welcome.task, "");
    assert_int_equal(d.task.u.welcome.period_ns, 0);
    assert_int_equal(other.tasks, 0);
    stop(b);
}

/* A task that a reload takes away, by a mistake, comes back with the next one; so does one under another name, and one
 * that wasn't there when the application started. Not for who is none by its own will, nor for another user. */
static void test_reload_finds_tasks(void **state)
{
    struct bench *b = start(TASKS);
    struct desk named, by_path, early, never, stranger;
    sit_down(b, &by_path, 1001, "/opt/fast");
    sit_down(b, &early, 1001, "");
    sit_down(b, &never, 1001, "/opt/fast");
    sit_down(b, &stranger, 1002, "/opt/fast");
    join(b, &named, "slow", 2);
    hello(b, &by_path, "", 2);
    struct gs_msg m = message(GS_MSG_HELLO);
    m.u.hello.gpus = 2;
    m.u.hello.flags = GS_HELLO_NO_TASK;
    assert_int_equal(say(b, &never, &m), 0);
    m.u.hello.flags |= GS_HELLO_REFUSED; /* "late" was not there */
    strcpy(m.u.hello.task, "late");
    assert_int_equal(say(b, &early, &m), 0);
    assert_string_equal(early.welcome.u.welcome.task, "");
    hello(b, &stranger, "", 2);
    assert_int_equal(configure(b, "[system]\ngpus = 2\n"), 0);
    assert_null(named.session->task);
    assert_null(by_path.session->task);
    assert_int_equal(configure(b, "[system]\ngpus = 2\n[task slow]\nperiod = 100ms\nuser = 1001\n[task quick]\n"
                                  "match = */fast\nperiod = 10ms\nuser = 1001\n[task late]\nperiod = 1s\nuser = *\n"),
                     0);
    assert_string_equal(named.task.u.welcome.task, "slow");
    assert_string_equal(by_path.task.u.welcome.task, "quick");
    assert_int_equal(by_path.task.u.welcome.priority, 3);
    assert_string_equal(early.task.u.welcome.task, "late");
    assert_non_null(strstr(b->log, "is task quick by the new config"));
    assert_true(says(b->log, "process %d is task %s by the new config"));
    assert_null(never.session->task);
    assert_null(stranger.session->task);
    assert_int_equal(never.tasks + stranger.tasks, 0);
    stop(b);
}

/* A task that comes by a reload is admitted as any other, and takes no place of one that is there. */
static void test_reload_admits(void **state)
{
    struct bench *b = start(HEAVY("best-effort"));
    struct desk a, c;
    sit_down(b, &c, 1001, "");
    join(b, &a, "a", 2);
    hello(b, &c, "c", 2);
    assert_true(c.session->degraded);
    assert_int_equal(c.welcome.u.welcome.period_ns, 1100 * MS); /* it keeps its pace */
    assert_int_equal(configure(b, HEAVY("refuse")), 0);
    assert_true(c.session->degraded);
    assert_false(a.session->degraded);
    assert_int_equal(configure(b, HEAVY("warn")), 0);
    assert_false(c.session->degraded);
    assert_non_null(c.session->task);
    assert_int_equal(c.task.u.welcome.priority, 1);
    stop(b);
}

/* One that is another task by the new config, and refused, is none. */
static void test_reload_refuses_another_name(void **state)
{
    struct bench *b = start("[system]\ngpus = 2\n[task app]\nperiod = 1s\nuser = *\nmatch = */app\n"
                            "[task a]\nperiod = 100ms\nuser = *\n");
    struct desk a, app;
    sit_down(b, &app, 1001, "/bin/app");
    join(b, &a, "a", 2);
    hello(b, &app, "", 2);
    assert_string_equal(app.welcome.u.welcome.task, "app");
    assert_int_equal(configure(b, HEAVY("refuse") "match = */app\n"), 0);
    assert_null(app.session->task);
    assert_string_equal(app.task.u.welcome.task, "");
    assert_int_equal(app.task.u.welcome.period_ns, 0);
    stop(b);
}

/* Nobody is asked to leave by a reload with which deadlines may be missed; but it is said, to all who should know. */
static void test_reload_says_what_is_late(void **state)
{
    struct bench *b = start(HEAVY("refuse"));
    struct desk a;
    join(b, &a, "a", 2);
    assert_null(gs_core_worry(b->core));
    assert_int_equal(a.notices, 0);
    assert_int_equal(configure(b, "[system]\ngpus = 2\ncpus = 4\nadmission = refuse\n[task a]\nperiod = 50ms\nuser = "
                                  "*\n" CHAIN1("95ms") CHAIN2("48ms")),
                     0);
    assert_non_null(a.session->task);
    assert_non_null(strstr(b->log, "by the new config deadlines may be missed: a may take"));
    assert_int_equal(a.notices, 1);
    assert_non_null(strstr(a.notice.u.text.text, "deadlines may be missed"));
    assert_non_null(gs_core_worry(b->core));
    assert_int_equal(configure(b, HEAVY("refuse")), 0);
    assert_int_equal(a.notices, 1);
    assert_null(gs_core_worry(b->core));
    stop(b);
}

/* What a reload says of SCHED_FIFO counts for those that run already. */
static void test_reload_changes_realtime(void **state)
{
    static const char plain[] = "[system]\ngpus = 2\nrealtime = no\n[task slow]\nperiod = 100ms\nuser = *\n";
    static const char fifo[] = "[system]\ngpus = 2\n[task slow]\nperiod = 100ms\nuser = *\n";
    struct bench *b = start(fifo);
    struct desk d;
    join(b, &d, "slow", 2);
    assert_int_equal(d.cpu_priority, 49);
    assert_int_equal(configure(b, plain), 0);
    assert_int_equal(d.cpu_priority, 0);
    assert_int_equal(configure(b, fifo), 0);
    assert_int_equal(d.cpu_priority, 49);
    stop(b);
}

/* A reload that gives a task to another user takes it from whoever runs as it. */
static void test_reload_changes_owners(void **state)
{
    struct bench *b = start(TASKS);
    struct desk d;
    join(b, &d, "slow", 2);
    assert_int_equal(configure(b, "[system]\ngpus = 2\n[task slow]\nperiod = 100ms\nuser = 1002\n"), 0);
    assert_null(d.session->task);
    assert_int_equal(d.notices, 1);
    assert_int_equal(d.cpu_priority, 0);
    stop(b);
}

/* Tasks with some of the GPUs are spread over them. */
static void test_tasks_are_spread(void **state)
{
    struct bench *b = start("[system]\ngpus = 4\ncpus = 4\n"
                            "[task a]\nperiod = 100ms\nuser = *\nmode = 2\n" CHAIN2("30ms") /* */
                            "[task b]\nperiod = 200ms\nuser = *\nmode = 2\n" CHAIN2("30ms"));
    struct desk one, two;
    sit_down(b, &two, 1001, "");
    join(b, &one, "a", 4);
    hello(b, &two, "b", 4);
    const uint32_t of_one = atomic_load(&page_of(&one)->gpu_mask), of_two = atomic_load(&page_of(&two)->gpu_mask);
    assert_int_equal(of_one & of_two, 0);
    assert_int_equal(of_one | of_two, GS_MASK_ALL_GPUS(4));
    stop(b);
}

/* Times count to the nanosecond, and what isn't proven is said. */
static void test_decisions_are_safe(void **state)
{
    static const struct {
        const char *segments;
        bool fits;
    } cases[] = {{"segments.1 = cpu 40ms, gpu 59.999ms\n", true},
                 {"segments.1 = cpu 40.0003ms, gpu 59.9998ms\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "[system]\ngpus = 1\ncpus = 1\n[task a]\nperiod = 100ms\nuser = *\n%s",
                 cases[i].segments);
        struct bench *b = start(text);
        struct desk d;
        join(b, &d, "a", 1);
        assert_int_equal(b->core->decision.schedulable, cases[i].fits);
        assert_non_null(strstr(b->core->decision.reason, "Not proven: no gpu_chunk and pci_chunk"));
        assert_false(b->core->decision.proven);
        get_up(b, &d);
        stop(b);
    }
    struct bench *b = start("[system]\ngpus = 1\ncpus = 1\ngpu_chunk = 1ms\npci_chunk = 1ms\n"
                            "[task a]\nperiod = 100ms\nuser = *\nsegments.1 = gpu 10ms\n");
    struct desk d;
    join(b, &d, "a", 1);
    assert_null(strstr(b->core->decision.reason, "Not proven"));
    assert_true(b->core->decision.schedulable && b->core->decision.proven);
    stop(b);
    /* One chunk at a time: hand-overs are as many as chunks. */
    for (int counted = 0; counted < 2; counted++) {
        char text[256];
        snprintf(text, sizeof text,
                 "[system]\ngpus = 1\ncpus = 1\ndepth = 1\ngpu_chunk = 1ms\npci_chunk = 1ms\n"
                 "[task a]\nperiod = 100ms\nuser = *\nsegments.1 = gpu 10ms%s\n",
                 counted ? " chunks 20" : "");
        b = start(text);
        join(b, &d, "a", 1);
        const bool said = strstr(b->core->decision.reason, "Not proven: the chunks of a are not counted (depth = 1)");
        assert_int_equal(b->core->decision.proven, counted);
        assert_int_equal(said, !counted);
        get_up(b, &d);
        stop(b);
    }
    b = start("[system]\ngpus = 1\ncpus = 1\ngpu_chunk = 40us\npci_chunk = 1ms\n"
              "[task a]\nperiod = 100ms\nuser = *\nsegments.1 = gpu 10ms\n");
    join(b, &d, "a", 1);
    assert_non_null(strstr(b->core->decision.reason, "Not proven: the chunks of a are not counted (shorter than a "
                                                     "hand-over)"));
    assert_false(b->core->decision.proven);
    stop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gema_decides),
        cmocka_unit_test(test_more_than_the_segments),
        cmocka_unit_test(test_a_claim_is_bounded),
        cmocka_unit_test(test_overruns_are_forgotten),
        cmocka_unit_test(test_segments_are_stretched),
        cmocka_unit_test(test_liars_count),
        cmocka_unit_test(test_good_modes_are_found),
        cmocka_unit_test(test_admission_warn),
        cmocka_unit_test(test_admission_refuse),
        cmocka_unit_test(test_admission_best_effort),
        cmocka_unit_test(test_unknown_tasks),
        cmocka_unit_test(test_processes_of_one_task),
        cmocka_unit_test(test_shared_priorities),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_set_below_all_tasks),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_many_processes_of_one_task),
        cmocka_unit_test(test_reload_tells_the_task),
        cmocka_unit_test(test_reload_finds_tasks),
        cmocka_unit_test(test_reload_admits),
        cmocka_unit_test(test_reload_refuses_another_name),
        cmocka_unit_test(test_reload_says_what_is_late),
        cmocka_unit_test(test_reload_changes_realtime),
        cmocka_unit_test(test_reload_changes_owners),
        cmocka_unit_test(test_tasks_are_spread),
        cmocka_unit_test(test_decisions_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
