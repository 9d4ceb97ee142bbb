/* SPDX-License-Identifier: MIT */
/* The daemon's core without its sockets: who may join as what, what they are told, and what their jobs count for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scheduler/session.h"

#define MS UINT64_C(1000000)

/* A client as the core sees it: what it was sent last of each kind. */
struct desk {
    struct gs_session *session;
    struct gs_msg welcome, refused, notice, answer;
    unsigned welcomes, refusals, notices;
};

struct bench {
    struct gs_core *core;
    uint64_t now;
    int realtime_rank, realtime_calls;
    char log[2048];
};

static void on_send(void *ctx, void *conn, const struct gs_msg *m, int fd)
{
    (void)ctx, (void)fd;
    struct desk *d = conn;
    if (m->type == GS_MSG_WELCOME) {
        assert_true(fd >= 0);
        d->welcome = *m;
        d->welcomes++;
    } else if (m->type == GS_MSG_REFUSED) {
        d->refused = *m;
        d->refusals++;
    } else if (m->type == GS_MSG_NOTICE) {
        d->notice = *m;
        d->notices++;
    } else if (m->type == GS_MSG_ANSWER) {
        d->answer = *m;
    } else {
        fail_msg("the core sent a message of kind %u", m->type);
    }
}

static void on_realtime(void *ctx, pid_t pid, int rank, int ranks)
{
    (void)pid, (void)ranks;
    struct bench *b = ctx;
    b->realtime_rank = rank;
    b->realtime_calls++;
}

static void on_log(void *ctx, bool warning, const char *text)
{
    (void)warning;
    struct bench *b = ctx;
    snprintf(b->log + strlen(b->log), sizeof b->log - strlen(b->log), "%s\n", text);
}

static int configure(struct bench *b, const char *text)
{
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    assert_int_equal(gs_config_parse(text, strlen(text), &config, &mistakes), 0);
    return gs_core_configure(b->core, &config, b->now);
}

static struct bench *start(const char *text)
{
    struct bench *b = calloc(1, sizeof *b);
    const struct gs_core_ops ops = {.send = on_send, .realtime = on_realtime, .log = on_log};
    const struct gs_core_options options = {.gpus = 2, .max_clients = 8, .max_per_user = 4, .socket = "s"};
    b->now = 1000 * MS;
    b->core = gs_core_new(&options, &ops, b);
    assert_non_null(b->core);
    assert_int_equal(configure(b, text), 0);
    return b;
}

static void stop(struct bench *b)
{
    gs_core_free(b->core);
    free(b);
}

static void sit_down(struct bench *b, struct desk *d, uid_t uid, const char *exe)
{
    const struct gs_peer peer = {.uid = uid, .pid = 4711, .exe = exe};
    *d = (struct desk){.session = gs_core_connect(b->core, d, &peer, b->now)};
    assert_non_null(d->session);
}

static void get_up(struct bench *b, struct desk *d)
{
    gs_core_disconnect(d->session, b->now);
    d->session = NULL;
}

static struct gs_msg message(enum gs_msg_type type)
{
    return (struct gs_msg){.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = (uint16_t)type};
}

static int say(struct bench *b, struct desk *d, const struct gs_msg *m)
{
    return gs_core_message(d->session, m, sizeof *m, b->now);
}

static int hello(struct bench *b, struct desk *d, const char *task, uint32_t gpus)
{
    struct gs_msg m = message(GS_MSG_HELLO);
    m.u.hello.gpus = gpus;
    snprintf(m.u.hello.task, sizeof m.u.hello.task, "%s", task);
    return say(b, d, &m);
}

static int request(struct bench *b, struct desk *d, uint32_t slot, uint32_t mask)
{
    struct gs_msg m = message(GS_MSG_REQUEST);
    m.u.request =
        (struct gs_msg_request){.slot = slot, .serial = 7, .mask = mask, .client = d->welcome.u.welcome.client};
    return say(b, d, &m);
}

static struct gs_page *page_of(const struct desk *d)
{
    return d->session->lease.page;
}

static bool granted(const struct desk *d, uint32_t slot, unsigned resource)
{
    return atomic_load(&page_of(d)->slot[slot]) == GS_SLOT_WORD(7, GS_SLOT_GRANTED, resource);
}

/* Gives one unit back as the client library does. */
static void give_back(struct bench *b, struct desk *d, unsigned resource)
{
    uint32_t w = atomic_fetch_sub(&page_of(d)->lease[resource].word, 1);
    struct gs_msg m = message(GS_MSG_LOOK);
    m.u.look.resource = resource;
    if (w & GS_LEASE_ASK)
        assert_int_equal(say(b, d, &m), 0);
}

/* ---- messages ---- */

static void test_senseless_messages(void **state)
{
    (void)state;
    struct bench *b = start("");
    struct gs_msg wrong[6];
    for (int i = 0; i < 6; i++)
        wrong[i] = message(GS_MSG_REQUEST);
    wrong[0].magic++;
    wrong[1].version++;
    wrong[2].type = 0;
    wrong[3].type = GS_MSG_WELCOME;
    wrong[4].type = 9999; /* wrong[5] is right, but comes before the hello */
    for (int i = 0; i < 6; i++) {
        struct desk d;
        sit_down(b, &d, 1001, "");
        assert_int_equal(say(b, &d, &wrong[i]), -EPROTO);
        assert_int_equal(d.refusals, 1);
        assert_int_equal(d.refused.u.text.code, i == 1 ? GS_REFUSED_VERSION : GS_REFUSED_PROTOCOL);
        get_up(b, &d);
    }
    struct desk d;
    sit_down(b, &d, 1001, "");
    assert_int_equal(gs_core_message(d.session, &wrong[5], sizeof wrong[5] - 1, b->now), -EPROTO);
    assert_int_equal(gs_core_message(d.session, &wrong[5], 0, b->now), -EPROTO);
    get_up(b, &d);
    stop(b);
}

static void test_hello(void **state)
{
    (void)state;
    struct bench *b = start("");
    struct desk d;
    sit_down(b, &d, 1001, "/bin/app");
    assert_int_equal(hello(b, &d, "", 2), 0);
    assert_int_equal(d.welcomes, 1);
    assert_int_not_equal(d.welcome.u.welcome.client, 0);
    assert_int_equal(d.welcome.u.welcome.gpus, 2);
    assert_int_equal(d.welcome.u.welcome.priority, 0);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 2);
    assert_int_equal(atomic_load(&page_of(&d)->gpu_mask), GS_MASK_ALL_GPUS(2));
    assert_int_equal(atomic_load(&page_of(&d)->kernel_chunk), 16);
    assert_int_equal(atomic_load(&page_of(&d)->transfer_chunk), 2 << 20);
    assert_int_equal(hello(b, &d, "", 2), -EPROTO); /* once is enough */
    get_up(b, &d);
    static const uint32_t bad_gpus[] = {0, GS_MAX_GPUS + 1, UINT32_MAX};
    for (int i = 0; i < 3; i++) {
        sit_down(b, &d, 1001, "");
        assert_int_equal(hello(b, &d, "", bad_gpus[i]), -EPROTO);
        get_up(b, &d);
    }
    sit_down(b, &d, 1001, "");
    struct gs_msg m = message(GS_MSG_HELLO);
    m.u.hello.gpus = 1;
    memset(m.u.hello.task, 'x', sizeof m.u.hello.task); /* no end */
    assert_int_equal(say(b, &d, &m), -EPROTO);
    get_up(b, &d);
    stop(b);
}

static void test_nobody_takes_all_places(void **state)
{
    (void)state;
    struct bench *b = start("");
    struct desk d[10];
    for (int i = 0; i < 5; i++) {
        sit_down(b, &d[i], 1001, "");
        assert_int_equal(hello(b, &d[i], "", 1), i < 4 ? 0 : -EPROTO);
    }
    assert_int_equal(d[4].refused.u.text.code, GS_REFUSED_FULL);
    for (int i = 5; i < 10; i++) {
        sit_down(b, &d[i], 0, ""); /* root has no limit of its own, but the whole has: 8 */
        assert_int_equal(hello(b, &d[i], "", 1), i < 9 ? 0 : -EPROTO);
    }
    for (int i = 0; i < 10; i++)
        get_up(b, &d[i]);
    stop(b);
}

/* ---- grants ---- */

static void test_grants(void **state)
{
    (void)state;
    struct bench *b = start("");
    struct desk one, two;
    sit_down(b, &one, 1001, "");
    sit_down(b, &two, 1002, "");
    hello(b, &one, "", 2);
    hello(b, &two, "", 2);
    assert_int_equal(request(b, &one, 3, GS_MASK(1)), 0);
    assert_true(granted(&one, 3, 1));
    uint32_t word = atomic_load(&page_of(&one)->lease[1].word);
    assert_int_equal(word & 0xfff, GS_LEASE_LEASED | 1); /* and may take more without asking */
    assert_int_equal(request(b, &two, 5, GS_MASK(1)), 0);
    assert_false(granted(&two, 5, 1));
    assert_true(atomic_load(&page_of(&one)->lease[1].word) & GS_LEASE_ASK);
    give_back(b, &one, 1);
    assert_true(granted(&two, 5, 1));
    assert_false(atomic_load(&page_of(&one)->lease[1].word) & GS_LEASE_LEASED);
    /* Written for a daemon that has died: nothing happens. */
    two.welcome.u.welcome.client++;
    assert_int_equal(request(b, &two, 6, GS_MASK(2)), 0);
    assert_int_equal(atomic_load(&page_of(&two)->slot[6]), 0);
    two.welcome.u.welcome.client--;
    assert_int_equal(request(b, &two, 6, GS_MASK(3)), -EPROTO); /* there is no such GPU */
    assert_int_equal(request(b, &one, GS_MAX_SLOTS, GS_MASK(1)), -EPROTO);
    get_up(b, &one);
    get_up(b, &two);
    stop(b);
}

/* A client that holds and waits dies: all of it passes on. */
static void test_death_passes_everything_on(void **state)
{
    (void)state;
    struct bench *b = start("");
    struct desk one, two;
    sit_down(b, &one, 1001, "");
    sit_down(b, &two, 1002, "");
    hello(b, &one, "", 2);
    hello(b, &two, "", 2);
    for (uint32_t r = 0; r < 3; r++) {
        request(b, &one, r, GS_MASK(r));
        request(b, &two, r, GS_MASK(r));
        assert_false(granted(&two, r, r));
    }
    get_up(b, &one);
    for (uint32_t r = 0; r < 3; r++)
        assert_true(granted(&two, r, r));
    get_up(b, &two);
    stop(b);
}

/* It says that it has units out, for ever and more than there are: the watchdog is for that. Or none while it has one:
 * the next one is let in, as if it had never asked. */
static void test_a_page_full_of_lies(void **state)
{
    (void)state;
    struct bench *b = start("[system]\nwatchdog = 10ms\n");
    struct desk liar, honest;
    sit_down(b, &liar, 1001, "");
    sit_down(b, &honest, 1002, "");
    hello(b, &liar, "", 2);
    hello(b, &honest, "", 2);
    request(b, &liar, 0, GS_MASK(1));
    memset(page_of(&liar), 0xff, sizeof *page_of(&liar));
    request(b, &honest, 0, GS_MASK(1));
    if (!granted(&honest, 0, 1)) {
        b->now = gs_core_next_tick(b->core);
        assert_in_range(b->now, 1000 * MS, 1010 * MS);
        gs_core_tick(b->core, b->now);
    }
    assert_true(granted(&honest, 0, 1));
    give_back(b, &honest, 1);
    /* And it is served itself after that, in its turn. */
    assert_int_equal(request(b, &liar, 1, GS_MASK(1)), 0);
    assert_true(granted(&liar, 1, 1));
    get_up(b, &liar);
    get_up(b, &honest);
    stop(b);
}

/* A word of another generation says nothing of units: nobody waits for them. */
static void test_words_of_another_generation(void **state)
{
    (void)state;
    struct bench *b = start("");
    struct desk one, two;
    sit_down(b, &one, 1001, "");
    sit_down(b, &two, 1002, "");
    hello(b, &one, "", 2);
    hello(b, &two, "", 2);
    request(b, &one, 0, GS_MASK(1));
    atomic_fetch_add(&page_of(&one)->lease[1].word, GS_LEASE_WORD(1, 0));
    request(b, &two, 0, GS_MASK(1));
    assert_true(granted(&two, 0, 1));
    get_up(b, &one);
    get_up(b, &two);
    stop(b);
}

/* Each lease has a generation of its own. */
static void test_generations(void **state)
{
    (void)state;
    struct bench *b = start("");
    struct desk one, two;
    sit_down(b, &one, 1001, "");
    sit_down(b, &two, 1002, "");
    hello(b, &one, "", 2);
    hello(b, &two, "", 2);
    request(b, &one, 0, GS_MASK(1));
    const uint32_t first = atomic_load(&page_of(&one)->lease[1].word);
    request(b, &two, 0, GS_MASK(1));
    give_back(b, &one, 1);
    const uint32_t between = atomic_load(&page_of(&one)->lease[1].word);
    request(b, &one, 1, GS_MASK(1));
    give_back(b, &two, 1);
    assert_true(granted(&one, 1, 1));
    const uint32_t second = atomic_load(&page_of(&one)->lease[1].word);
    assert_true(second & GS_LEASE_LEASED && !(between & GS_LEASE_LEASED));
    assert_int_not_equal(GS_LEASE_GENERATION(first), GS_LEASE_GENERATION(between));
    assert_int_not_equal(GS_LEASE_GENERATION(first), GS_LEASE_GENERATION(second));
    get_up(b, &one);
    get_up(b, &two);
    stop(b);
}

/* ---- tasks ---- */

#define TASKS                                                                                                          \
    "[system]\ngpus = 2\ncpus = 2\n"                                                                                   \
    "[task slow]\nperiod = 100ms\nuser = 1001\nkernel_chunk = 3\ntransfer_chunk = 1MiB\n"                              \
    "[task fast]\nperiod = 10ms\nmatch = */fast\nuser = 1001\nmode = single\n"                                         \
    "[task mine]\nperiod = 50ms\nmatch = */mine\n"

static void test_tasks_by_name_and_path(void **state)
{
    (void)state;
    struct bench *b = start(TASKS);
    struct desk d;
    sit_down(b, &d, 1001, "/opt/other");
    assert_int_equal(hello(b, &d, "slow", 2), 0);
    assert_string_equal(d.welcome.u.welcome.task, "slow");
    assert_int_equal(d.welcome.u.welcome.priority, 1); /* deadline-monotonic */
    assert_int_equal(atomic_load(&page_of(&d)->kernel_chunk), 3);
    assert_int_equal(atomic_load(&page_of(&d)->transfer_chunk), 1 << 20);
    assert_int_equal(b->realtime_rank, 1);
    get_up(b, &d);
    sit_down(b, &d, 1001, "/opt/fast");
    assert_int_equal(hello(b, &d, "", 2), 0);
    assert_string_equal(d.welcome.u.welcome.task, "fast");
    assert_int_equal(d.welcome.u.welcome.priority, 3);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 1);
    assert_int_equal(atomic_load(&page_of(&d)->gpu_mask), GS_MASK_ALL_GPUS(2)); /* any one of them */
    get_up(b, &d);
    struct gs_msg m = message(GS_MSG_HELLO);
    m.u.hello.gpus = 1;
    m.u.hello.flags = GS_HELLO_NO_TASK;
    sit_down(b, &d, 1001, "/opt/fast");
    assert_int_equal(say(b, &d, &m), 0);
    assert_string_equal(d.welcome.u.welcome.task, "");
    get_up(b, &d);
    sit_down(b, &d, 1001, "");
    assert_int_equal(hello(b, &d, "nobody", 2), -EPROTO);
    assert_int_equal(d.refused.u.text.code, GS_REFUSED_TASK);
    get_up(b, &d);
    stop(b);
}

static int request_alone(struct bench *b, struct desk *d, uint32_t slot, unsigned resource)
{
    struct gs_msg m = message(GS_MSG_REQUEST);
    m.u.request = (struct gs_msg_request){.slot = slot,
                                          .serial = 7,
                                          .mask = GS_MASK(resource),
                                          .client = d->welcome.u.welcome.client,
                                          .flags = GS_REQUEST_ALONE};
    return say(b, d, &m);
}

/* A GPU for a measurement: not for everybody, not while tasks run, and a task that comes asks for it. */
static void test_alone(void **state)
{
    (void)state;
    struct bench *b = start(TASKS);
    struct desk stranger, probe, task;
    sit_down(b, &stranger, 1001, "");
    sit_down(b, &probe, 0, "");
    hello(b, &stranger, "", 2);
    hello(b, &probe, "", 2);
    assert_int_equal(request_alone(b, &stranger, 0, 1), 0);
    assert_int_equal(atomic_load(&page_of(&stranger)->slot[0]), GS_SLOT_WORD(7, GS_SLOT_CANCELLED, 0));
    assert_int_equal(request_alone(b, &stranger, GS_MAX_SLOTS + 1000, 1), 0); /* answered nowhere */
    assert_int_equal(request_alone(b, &probe, 0, 1), 0);
    assert_true(granted(&probe, 0, 1));
    assert_int_equal(probe.notices, 0);

    sit_down(b, &task, 1001, "");
    assert_int_equal(hello(b, &task, "slow", 2), 0);
    assert_int_equal(atomic_load(&page_of(&probe)->yield), GS_MASK(1));
    request(b, &task, 0, GS_MASK(1));
    assert_false(granted(&task, 0, 1));
    give_back(b, &probe, 1);
    assert_true(granted(&task, 0, 1));
    give_back(b, &task, 1);
    assert_int_equal(request_alone(b, &probe, 1, 1), 0);
    assert_false(granted(&probe, 1, 1));
    assert_non_null(strstr(probe.notice.u.text.text, "while tasks run: slow (process 4711); it waits"));
    get_up(b, &task);
    assert_true(granted(&probe, 1, 1));
    assert_int_equal(atomic_load(&page_of(&probe)->yield), 0);

    struct gs_msg renew = message(GS_MSG_RENEW);
    renew.u.look.resource = 1;
    assert_int_equal(say(b, &probe, &renew), 0);
    renew.u.look.resource = UINT32_MAX;
    assert_int_equal(say(b, &probe, &renew), 0);
    get_up(b, &probe);

    assert_int_equal(configure(b, "[system]\ngpus = 2\nprobes = all\n"), 0);
    assert_int_equal(request_alone(b, &stranger, 2, 1), 0);
    assert_true(granted(&stranger, 2, 1));
    get_up(b, &stranger);
    stop(b);
}

static void test_other_users_tasks(void **state)
{
    (void)state;
    struct bench *b = start(TASKS);
    struct desk d;
    static const char *const names[] = {"fast", "mine"};
    for (int i = 0; i < 2; i++) {
        sit_down(b, &d, 1002, "");
        assert_int_equal(hello(b, &d, names[i], 2), -EPROTO);
        assert_int_equal(d.refused.u.text.code, GS_REFUSED_TASK);
        get_up(b, &d);
    }
    /* Matched by its path it runs, but below all tasks, and its user is told why. */
    sit_down(b, &d, 1002, "/home/x/fast");
    assert_int_equal(hello(b, &d, "", 2), 0);
    assert_int_equal(d.welcome.u.welcome.priority, 0);
    assert_int_equal(d.notices, 1);
    assert_non_null(strstr(d.notice.u.text.text, "user = "));
    get_up(b, &d);
    assert_int_equal(b->realtime_calls, 0);
    sit_down(b, &d, geteuid(), "");
    assert_int_equal(hello(b, &d, "mine", 2), 0);
    get_up(b, &d);
    stop(b);
}

static void test_priority_counts(void **state)
{
    (void)state;
    struct bench *b = start(TASKS);
    struct desk app, slow, fast;
    sit_down(b, &app, 1002, "");
    sit_down(b, &slow, 1001, "");
    sit_down(b, &fast, 1001, "");
    hello(b, &app, "", 2);
    hello(b, &slow, "slow", 2);
    hello(b, &fast, "fast", 2);
    request(b, &app, 0, GS_MASK(1));
    request(b, &app, 1, GS_MASK(1)); /* one behind the other */
    assert_true(granted(&app, 1, 1));
    request(b, &app, 2, GS_MASK(1));
    request(b, &slow, 0, GS_MASK(1));
    request(b, &fast, 0, GS_MASK(1));
    give_back(b, &app, 1);
    give_back(b, &app, 1);
    assert_true(granted(&fast, 0, 1));
    give_back(b, &fast, 1);
    assert_true(granted(&slow, 0, 1));
    give_back(b, &slow, 1);
    assert_true(granted(&app, 2, 1));
    get_up(b, &app);
    get_up(b, &slow);
    get_up(b, &fast);
    stop(b);
}

/* ---- jobs ---- */

static void job(struct bench *b, struct desk *d, uint64_t release_ns, uint64_t end_ns)
{
    struct gs_msg m = message(GS_MSG_JOB);
    m.u.job = (struct gs_msg_job){.release_ns = release_ns, .end_ns = end_ns};
    assert_int_equal(say(b, d, &m), 0);
}

static void test_jobs(void **state)
{
    (void)state;
    struct bench *b = start(TASKS);
    struct desk d;
    sit_down(b, &d, 1001, "");
    hello(b, &d, "slow", 2);
    b->now += 5000 * MS;
    job(b, &d, b->now - 1000 * MS, b->now - 950 * MS);
    job(b, &d, b->now - 900 * MS, b->now - 820 * MS);
    job(b, &d, b->now - 800 * MS, b->now - 700 * MS); /* just in time */
    job(b, &d, b->now - 700 * MS, b->now - 599 * MS); /* missed */
    job(b, &d, b->now - 500 * MS, b->now + 1);        /* lies */
    job(b, &d, b->now - 500 * MS, b->now - 501 * MS);
    job(b, &d, 0, b->now);
    const struct gs_task_stats *st = gs_jobs_stats(b->core, "slow");
    assert_non_null(st);
    assert_int_equal(st->jobs, 4);
    assert_int_equal(st->misses, 1);
    assert_int_equal(st->response.max_ns, 101 * MS);
    assert_int_equal(st->jitter.count, 3);
    assert_int_equal(st->jitter.max_ns, 30 * MS);
    assert_int_equal(b->core->bad_messages, 3);
    get_up(b, &d);
    assert_int_equal(gs_jobs_stats(b->core, "slow")->jobs, 4); /* it stays, for the next run */
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
    (void)state;
    struct bench *b = start(TASKS "[task long]\nperiod = 300ms\nuser = 1001\nwarmup = 5\n");
    struct desk d;
    hello_paced(b, &d, "slow", 0);
    assert_int_equal(d.welcome.u.welcome.warmup, 2); /* the daemon chooses its GPUs: a job in each mode */
    assert_int_equal(d.welcome.u.welcome.flags, GS_WELCOME_CHOOSES);
    assert_int_equal(b->realtime_rank, 0);
    b->now += 5000 * MS;
    job(b, &d, b->now - 4000 * MS, b->now - 3000 * MS);
    job(b, &d, 0, b->now); /* senseless: not even that */
    assert_int_equal(d.session->warmup_left, 1);
    assert_int_equal(b->realtime_calls, 0);
    job(b, &d, b->now - 3000 * MS, b->now - 2000 * MS);
    assert_int_equal(b->realtime_rank, 2);
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
    hello_paced(b, &d, "fast", 0); /* has one GPU anyhow */
    assert_int_equal(d.welcome.u.welcome.warmup, 1);
    assert_int_equal(d.welcome.u.welcome.flags, 0);
    get_up(b, &d);
    sit_down(b, &d, 1001, "");
    hello(b, &d, "slow", 2); /* not paced: nothing but what the config says */
    assert_int_equal(d.session->warmup_left, 0);
    get_up(b, &d);
    sit_down(b, &d, 1001, "");
    hello(b, &d, "long", 2);
    assert_int_equal(d.session->warmup_left, 5);
    get_up(b, &d);
    stop(b);
}

/* A page that claims to have been busy since before it was there. */
static void test_usage_is_bounded(void **state)
{
    (void)state;
    struct bench *b = start("");
    struct desk d;
    sit_down(b, &d, 1001, "");
    hello(b, &d, "", 2);
    atomic_store(&page_of(&d)->lease[1].busy_ns, UINT64_MAX);
    b->now += 3 * MS;
    char *text = gs_core_status(b->core, b->now);
    assert_non_null(text);
    free(text);
    assert_int_equal(b->core->busy_ns[1], 3 * MS);
    get_up(b, &d);
    stop(b);
}

/* ---- when units come back ---- */

enum { US = 1000 };

/* One client has a unit for length_ns, while the other waits; then it is the other's turn. Returns whether the end was
 * foretold, which must then be right by `within`. */
static bool turn(struct bench *b, struct desk *has, struct desk *waits, uint64_t length_ns, bool within)
{
    uint64_t from, until;
    const uint64_t end = b->now + length_ns;
    request(b, waits, 0, GS_MASK(1));
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
    (void)state;
    struct bench *b = start("");
    struct desk d[2];
    uint64_t from, until;
    for (int i = 0; i < 2; i++) {
        sit_down(b, &d[i], 1001, "");
        hello(b, &d[i], "", 2);
    }
    request(b, &d[0], 0, GS_MASK(1));
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
    get_up(b, &d[0]);
    get_up(b, &d[1]);
    stop(b);
}

static void test_awake(void **state)
{
    (void)state;
    struct bench *b = start("");
    assert_false(gs_core_stays_awake(b->core, 2));
    assert_true(gs_core_stays_awake(b->core, 16));
    configure(b, "[system]\nawake = no\n");
    assert_false(gs_core_stays_awake(b->core, 16));
    configure(b, "[system]\nawake = yes\n");
    assert_true(gs_core_stays_awake(b->core, 2));
    stop(b);
}

/* ---- GEMA and admission ---- */

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
    (void)state;
    struct bench *b = start("[system]\ngpus = 2\ncpus = 4\n"
                            "[task a]\nperiod = 100ms\nuser = *\n" CHAIN1("120ms")
                                CHAIN2("60ms") "[task b]\nperiod = 200ms\nuser = *\n" CHAIN1("20ms") CHAIN2("11ms"));
    struct desk a, other;
    sit_down(b, &a, 1001, "");
    sit_down(b, &other, 1001, "");
    hello(b, &other, "b", 2);
    assert_int_equal(atomic_load(&page_of(&other)->gpus), 1);
    hello(b, &a, "a", 2);
    assert_int_equal(atomic_load(&page_of(&a)->gpus), 2);
    assert_int_equal(atomic_load(&page_of(&a)->gpu_mask), GS_MASK_ALL_GPUS(2));
    assert_true(b->core->decision.schedulable);
    assert_int_equal(b->core->decision.analysed, 2);
    get_up(b, &a);
    /* An application whose group has one GPU can't be told two. */
    sit_down(b, &a, 1001, "");
    hello(b, &a, "a", 1);
    assert_int_equal(atomic_load(&page_of(&a)->gpus), 1);
    assert_int_equal(atomic_load(&page_of(&a)->gpu_mask), GS_MASK_ALL_GPUS(1));
    assert_false(b->core->decision.schedulable);
    get_up(b, &a);
    get_up(b, &other);
    stop(b);
}

/* A job that has kept its GPU for so long; the page says so as a client's would. */
static void job_of(struct bench *b, struct desk *d, uint32_t gpus, unsigned gpu, uint64_t gpu_ns, uint64_t link_ns)
{
    struct gs_msg m = message(GS_MSG_JOB);
    b->now += 1000 * MS;
    m.u.job = (struct gs_msg_job){b->now - 500 * MS, b->now, gpus};
    atomic_fetch_add(&page_of(d)->lease[GS_RESOURCE_GPU(gpu)].busy_ns, gpu_ns);
    atomic_fetch_add(&page_of(d)->lease[GS_RESOURCE_PCI].busy_ns, link_ns);
    assert_int_equal(say(b, d, &m), 0);
}

/* The analysis believes what jobs have used, where that is more than their segments, until the config is read again. */
static void test_more_than_the_segments(void **state)
{
    (void)state;
    static const char config[] = "[system]\ngpus = 2\ncpus = 4\n"
                                 "[task a]\nperiod = 100ms\nuser = *\n" CHAIN1("60ms") CHAIN2("31ms");
    struct bench *b = start(config);
    struct desk d;
    sit_down(b, &d, 1001, "");
    hello(b, &d, "a", 2);
    job_of(b, &d, 0, 0, 900 * MS, 0); /* of how many GPUs it was isn't known */
    job_of(b, &d, 1, 0, 900 * MS, 0); /* the first with one: it may have moved data */
    job_of(b, &d, 1, 0, 60 * MS, 2 * MS);
    job_of(b, &d, 1, 1, 60 * MS + MS / 20, 2 * MS); /* no more than a thousandth of the deadline above */
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 1);
    assert_string_equal(b->log, "");
    const int64_t bound = d.session->member.response_ns;
    job_of(b, &d, 1, 0, 64 * MS, 2 * MS);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 1);
    assert_non_null(strstr(b->log, "kept a GPU for 64ms, where its segments.1 say 60ms: its bound now counts 66ms"));
    assert_in_range(d.session->member.response_ns, bound + 5 * (int64_t)MS, bound + 7 * (int64_t)MS);
    job_of(b, &d, 1, 1, 65 * MS, 2 * MS); /* counted already */
    job_of(b, &d, 1, 1, 120 * MS, 2 * MS);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 2);
    assert_true(b->core->decision.schedulable);
    job_of(b, &d, 2, 1, 400 * MS, 400 * MS);
    job_of(b, &d, 3, 1, 400 * MS, 400 * MS); /* a lie */
    job_of(b, &d, 3, 1, 400 * MS, 400 * MS);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 2);
    char *text = gs_core_status(b->core, b->now);
    assert_non_null(strstr(text, "\"gpu\":{\"seen_ns\":120000000,\"segments_ns\":60000000,\"counted_ns\":123750000}"));
    free(text);
    assert_int_equal(configure(b, config), 0);
    assert_int_equal(atomic_load(&page_of(&d)->gpus), 1);
    get_up(b, &d);
    stop(b);
}

/* What was seen is spread over the segments of its resource, or is one of its own. */
static void test_segments_are_stretched(void **state)
{
    (void)state;
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

/* A set that has good modes is not refused because the first policy doesn't find them. */
static void test_good_modes_are_found(void **state)
{
    (void)state;
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
    (void)state;
    struct bench *b = start(HEAVY("warn"));
    struct desk a, c;
    sit_down(b, &a, 1001, "");
    sit_down(b, &c, 1001, "");
    hello(b, &a, "a", 2);
    assert_int_equal(a.notices, 0);
    assert_int_equal(hello(b, &c, "c", 2), 0);
    assert_int_equal(c.notices, 1);
    assert_int_equal(c.welcome.u.welcome.priority, 1);
    assert_non_null(strstr(b->log, "with task c"));
    get_up(b, &a);
    get_up(b, &c);
    stop(b);
}

static void test_admission_refuse(void **state)
{
    (void)state;
    struct bench *b = start(HEAVY("refuse"));
    struct desk a, c;
    sit_down(b, &a, 1001, "");
    sit_down(b, &c, 1001, "");
    hello(b, &a, "a", 2);
    assert_int_equal(hello(b, &c, "c", 2), -EPROTO);
    assert_int_equal(c.refused.u.text.code, GS_REFUSED_ADMISSION);
    assert_int_equal(c.welcomes, 0);
    get_up(b, &c);
    /* Asked beforehand, the daemon says the same. */
    sit_down(b, &c, 1001, "");
    struct gs_msg m = message(GS_MSG_PLAN);
    strcpy(m.u.name, "c");
    assert_int_equal(say(b, &c, &m), 0);
    assert_int_equal(c.answer.u.text.code, 0);
    get_up(b, &c);
    get_up(b, &a);
    stop(b);
}

static void test_admission_best_effort(void **state)
{
    (void)state;
    struct bench *b = start(HEAVY("best-effort"));
    struct desk a, c;
    sit_down(b, &a, 1001, "");
    sit_down(b, &c, 1001, "");
    hello(b, &a, "a", 2);
    assert_int_equal(hello(b, &c, "c", 2), 0);
    assert_int_equal(c.notices, 1);
    assert_int_equal(c.welcome.u.welcome.priority, 0);
    assert_true(b->core->decision.schedulable);
    /* There is room again: it becomes a task. */
    get_up(b, &a);
    assert_int_equal(c.notices, 2);
    assert_false(c.session->degraded);
    assert_non_null(c.session->task);
    get_up(b, &c);
    stop(b);
}

static void test_reload(void **state)
{
    (void)state;
    struct bench *b = start(TASKS);
    struct desk d;
    sit_down(b, &d, 1001, "");
    hello(b, &d, "slow", 2);
    assert_int_equal(configure(b, "[system]\ngpus = 1\n"), -EBUSY);
    assert_non_null(d.session->task); /* the old one stays */
    assert_int_equal(configure(b, "[system]\ngpus = 2\nkernel_chunk = 5\n[task slow]\nperiod = 7ms\nuser = 1001\n"), 0);
    assert_int_equal(d.session->task->period_ns, 7 * MS);
    assert_int_equal(atomic_load(&page_of(&d)->kernel_chunk), 5);
    assert_int_equal(configure(b, "[system]\ngpus = 2\n"), 0);
    assert_null(d.session->task);
    assert_int_equal(d.notices, 1);
    assert_int_equal(b->realtime_rank, 0);
    get_up(b, &d);
    stop(b);
}

/* To read the config again is root's and the daemon's own user's. */
static void test_who_may_reload(void **state)
{
    (void)state;
    struct bench *b = start(TASKS);
    const struct gs_msg m = message(GS_MSG_RELOAD);
    struct desk d;
    sit_down(b, &d, 1001, "");
    assert_int_equal(say(b, &d, &m), 0);
    assert_int_equal(d.answer.u.text.code, EPERM);
    get_up(b, &d);
    sit_down(b, &d, 0, "");
    assert_int_equal(say(b, &d, &m), 0);
    assert_int_equal(d.answer.u.text.code, ENOTSUP); /* here is no file to read */
    get_up(b, &d);
    stop(b);
}

/* A reload that gives a task to another user takes it from whoever runs as it. */
static void test_reload_changes_owners(void **state)
{
    (void)state;
    struct bench *b = start(TASKS);
    struct desk d;
    sit_down(b, &d, 1001, "");
    hello(b, &d, "slow", 2);
    assert_int_equal(configure(b, "[system]\ngpus = 2\n[task slow]\nperiod = 100ms\nuser = 1002\n"), 0);
    assert_null(d.session->task);
    assert_int_equal(d.notices, 1);
    assert_int_equal(b->realtime_rank, 0);
    get_up(b, &d);
    stop(b);
}

/* Twenty lines a second, whatever happens. */
static void test_the_log_is_bounded(void **state)
{
    (void)state;
    struct bench *b = start("");
    unsigned lines = 0;
    for (int i = 0; i < 100; i++)
        gs_core_log(b->core, true, "x");
    for (const char *c = b->log; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 20);
    stop(b);
}

/* Units taken without asking count on when their client has gone. */
static void test_taken_units_stay_counted(void **state)
{
    (void)state;
    struct bench *b = start("");
    struct desk d;
    for (unsigned i = 1; i <= 3; i++) {
        sit_down(b, &d, 1001, "");
        hello(b, &d, "", 2);
        atomic_store(&page_of(&d)->lease[1].taken, 10 * i);
        if (i < 3)
            get_up(b, &d);
    }
    char *text = gs_core_status(b->core, b->now);
    assert_non_null(strstr(text, "\"taken\":60"));
    free(text);
    get_up(b, &d);
    stop(b);
}

/* Tasks with some of the GPUs are spread over them. */
static void test_tasks_are_spread(void **state)
{
    (void)state;
    struct bench *b = start("[system]\ngpus = 4\ncpus = 4\n"
                            "[task a]\nperiod = 100ms\nuser = *\nmode = 2\n" CHAIN2("30ms") /* */
                            "[task b]\nperiod = 200ms\nuser = *\nmode = 2\n" CHAIN2("30ms"));
    struct desk one, two;
    sit_down(b, &one, 1001, "");
    sit_down(b, &two, 1001, "");
    hello(b, &one, "a", 4);
    hello(b, &two, "b", 4);
    const uint32_t of_one = atomic_load(&page_of(&one)->gpu_mask), of_two = atomic_load(&page_of(&two)->gpu_mask);
    assert_int_equal(of_one & of_two, 0);
    assert_int_equal(of_one | of_two, GS_MASK_ALL_GPUS(4));
    get_up(b, &one);
    get_up(b, &two);
    stop(b);
}

/* Times are rounded to the safe side, and what isn't proven is said. */
static void test_decisions_are_safe(void **state)
{
    (void)state;
    static const struct {
        const char *segments;
        bool fits;
    } cases[] = {{"segments.1 = cpu 40ms, gpu 59.999ms\n", true},
                 {"segments.1 = cpu 40.0004ms, gpu 59.9998ms\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "[system]\ngpus = 1\ncpus = 1\n[task a]\nperiod = 100ms\nuser = *\n%s",
                 cases[i].segments);
        struct bench *b = start(text);
        struct desk d;
        sit_down(b, &d, 1001, "");
        hello(b, &d, "a", 1);
        assert_int_equal(b->core->decision.schedulable, cases[i].fits);
        assert_non_null(strstr(b->core->decision.reason, "Not proven: no gpu_chunk and pci_chunk"));
        get_up(b, &d);
        stop(b);
    }
    struct bench *b = start("[system]\ngpus = 1\ncpus = 1\ngpu_chunk = 1ms\npci_chunk = 1ms\n"
                            "[task a]\nperiod = 100ms\nuser = *\nsegments.1 = gpu 10ms\n");
    struct desk d;
    sit_down(b, &d, 1001, "");
    hello(b, &d, "a", 1);
    assert_null(strstr(b->core->decision.reason, "Not proven"));
    get_up(b, &d);
    stop(b);
}

static void test_histogram(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_senseless_messages),
        cmocka_unit_test(test_hello),
        cmocka_unit_test(test_nobody_takes_all_places),
        cmocka_unit_test(test_grants),
        cmocka_unit_test(test_death_passes_everything_on),
        cmocka_unit_test(test_a_page_full_of_lies),
        cmocka_unit_test(test_words_of_another_generation),
        cmocka_unit_test(test_generations),
        cmocka_unit_test(test_tasks_by_name_and_path),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_other_users_tasks),
        cmocka_unit_test(test_priority_counts),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_ends_are_foretold),
        cmocka_unit_test(test_awake),
        cmocka_unit_test(test_usage_is_bounded),
        cmocka_unit_test(test_gema_decides),
        cmocka_unit_test(test_more_than_the_segments),
        cmocka_unit_test(test_segments_are_stretched),
        cmocka_unit_test(test_good_modes_are_found),
        cmocka_unit_test(test_admission_warn),
        cmocka_unit_test(test_admission_refuse),
        cmocka_unit_test(test_admission_best_effort),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_who_may_reload),
        cmocka_unit_test(test_reload_changes_owners),
        cmocka_unit_test(test_the_log_is_bounded),
        cmocka_unit_test(test_taken_units_stay_counted),
        cmocka_unit_test(test_tasks_are_spread),
        cmocka_unit_test(test_decisions_are_safe),
        cmocka_unit_test(test_histogram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
