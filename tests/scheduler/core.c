/* SPDX-License-Identifier: MIT */
/* The daemon's core without its sockets: who may join as what, who gets what, and what nobody may do. */
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "tests/scheduler/desk.h"

/* ---- messages ---- */

static void test_senseless_messages(void **state)
{
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
        const char *said = d.refused.u.text.text;
        if (i == 0)
            assert_true(says(said, "the client doesn't speak gpusparc's protocol"));
        else if (i == 1)
            assert_true(says(said, "this daemon is of another version of gpusparc: restart it, or the application"));
        else
            assert_true(says(said, "the client's first message was no hello"));
        get_up(b, &d);
    }
    struct desk d;
    sit_down(b, &d, 1001, "");
    assert_int_equal(gs_core_message(d.session, &wrong[5], sizeof wrong[5] - 1, b->now), -EPROTO);
    assert_int_equal(gs_core_message(d.session, &wrong[5], 0, b->now), -EPROTO);
    stop(b);
}

static void test_hello(void **state)
{
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
        assert_int_equal(join(b, &d, "", bad_gpus[i]), -EPROTO);
        get_up(b, &d);
    }
    sit_down(b, &d, 1001, "");
    struct gs_msg m = message(GS_MSG_HELLO);
    m.u.hello.gpus = 1;
    memset(m.u.hello.task, 'x', sizeof m.u.hello.task); /* no end */
    assert_int_equal(say(b, &d, &m), -EPROTO);
    assert_true(says(d.refused.u.text.text, "the client's hello made no sense"));
    stop(b);
}

/* After its hello a client says something that makes no sense: it is told what. */
static void test_senseless_words(void **state)
{
    struct bench *b = start("");
    for (int i = 0; i < 7; i++) {
        static const enum gs_msg_type types[] = {GS_MSG_HELLO, GS_MSG_REQUEST, GS_MSG_CHOOSE, GS_MSG_LOOK,
                                                 GS_MSG_PLAN,  9999,           GS_MSG_PING};
        struct desk d;
        assert_int_equal(join(b, &d, "", 1), 0);
        struct gs_msg m = message(types[i]);
        if (types[i] == GS_MSG_REQUEST)
            m.u.request = (struct gs_msg_request){.client = d.welcome.u.welcome.client, .resource = 999};
        else if (types[i] == GS_MSG_CHOOSE)
            m.u.choose = (struct gs_msg_choose){.client = d.welcome.u.welcome.client, .slot = GS_MAX_SLOTS, .gpus = 1};
        else if (types[i] == GS_MSG_LOOK)
            m.u.look.resource = 999;
        else if (types[i] == GS_MSG_PLAN)
            memset(m.u.name, 'x', sizeof m.u.name); /* no end */
        const size_t bytes = types[i] == GS_MSG_PING ? sizeof m - 1 : sizeof m;
        assert_int_equal(gs_core_message(d.session, &m, bytes, b->now), -EPROTO);
        const char *said = d.refused.u.text.text;
        if (types[i] == GS_MSG_HELLO)
            assert_true(says(said, "the client said hello twice"));
        else if (types[i] == GS_MSG_LOOK)
            assert_true(says(said, "the client has a resource that is not there"));
        else if (types[i] == GS_MSG_PLAN)
            assert_true(says(said, "the task's name made no sense"));
        else if (types[i] == 9999)
            assert_true(says(said, "the client sent a message of a kind that there is not"));
        else if (types[i] == GS_MSG_PING)
            assert_true(says(said, "the client's message has a wrong length"));
        else
            assert_true(says(said, "the client asked for something that is not there"));
        get_up(b, &d);
    }
    stop(b);
}

static unsigned looks; /* of patterns at a path: each may take 40 us where the path is long */
int fnmatch(const char *pattern, const char *text, int flags);

__attribute__((visibility("default"))) int fnmatch(const char *pattern, const char *text, int flags)
{
    int (*real)(const char *, const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "fnmatch");
    looks++;
    return real(pattern, text, flags);
}

static const char *task_by_path(struct bench *b, const char *path)
{
    static struct desk d;
    sit_down(b, &d, 1001, path);
    assert_int_equal(hello(b, &d, "", 1), 0);
    get_up(b, &d);
    return d.welcome.u.welcome.task;
}

static void test_patterns(void **state)
{
    static const struct {
        const char *path, *task;
    } cases[] = {{"/a/a/a/knn", "one"},
                 {"/opt/x/matmul", "two"},
                 {"/usr/rank7", "three"},
                 {"/usr/r[a", "four"},
                 {"/lib/a.so", "five"},
                 {"/bin/ab", "six"},
                 {"/a/none", ""},
                 {"/x/matmul", ""},
                 {"/usr/rankx", ""},
                 {"knn", ""},
                 {"n", ""},
                 {"/bin/abc", ""}};
    struct bench *b = start("[system]\ngpus = 1\n[task one]\nperiod = 1s\nuser = *\nmatch = */knn\n"
                            "[task two]\nperiod = 2s\nuser = *\nmatch = /opt/*/matmul\n"
                            "[task three]\nperiod = 3s\nuser = *\nmatch = */rank[0-9]\n"
                            "[task four]\nperiod = 4s\nuser = *\nmatch = *r\\[a\n"
                            "[task five]\nperiod = 5s\nuser = *\nmatch = /lib/*\n"
                            "[task six]\nperiod = 6s\nuser = *\nmatch = /bin/a?\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(task_by_path(b, cases[i].path), cases[i].task);
    stop(b);
}

/* A path is looked at closely only where it ends as the pattern does: there may be many patterns. */
static void test_a_long_path(void **state)
{
    enum { TASKS_BY_PATH = 20 };
    static char config[TASKS_BY_PATH * 80], path[4000];
    size_t n = (size_t)snprintf(config, sizeof config, "[system]\ngpus = 1\n");
    for (int i = 0; i < TASKS_BY_PATH; i++)
        n += (size_t)snprintf(config + n, sizeof config - n, "[task t%d]\nperiod = %ds\nuser = *\nmatch = */a*/t%d\n",
                              i, i + 1, i);
    for (size_t i = 0; i + 1 < sizeof path; i++)
        path[i] = i % 2 ? 'a' : '/';
    struct bench *b = start_crowd(config);
    looks = 0;
    assert_string_equal(task_by_path(b, path), "");
    assert_int_equal(looks, 0);
    memcpy(path + sizeof path - 5, "/t7", 4);
    assert_string_equal(task_by_path(b, path), "t7");
    assert_in_range(looks, 1, 2); /* when it says hello, and when it joins */
    stop(b);
}

/* A unit that is back by the page of who had it counts as back, whether or not that is still to be heard: it passes on
 * to who waits, and nobody is told that it was kept. */
static void test_a_unit_that_is_back_unheard(void **state)
{
    for (int by_clock = 0; by_clock < 2; by_clock++) {
        struct bench *b = start("[system]\ngpus = 1\ngpu_chunk = 1ms\npci_chunk = 1ms\n");
        struct desk one, other;
        join(b, &one, "", 1);
        sit_down(b, &other, 1002, "");
        hello(b, &other, "", 1);
        request(b, &one, 0, 1);
        request(b, &other, 0, 1);
        assert_true(gs_core_look(b->core, b->now));
        assert_false(granted(&other, 0, 1));
        atomic_fetch_sub(&page_of(&one)->lease[1].word, 1);
        b->now += 1000 * MS;
        if (by_clock)
            gs_core_tick(b->core, b->now);
        else
            assert_false(gs_core_look(b->core, b->now));
        assert_true(granted(&other, 0, 1));
        assert_int_equal(one.notices, 0);
        assert_false(gs_policy_is_behind(b->core->policy, one.session->index));
        get_up(b, &one);
        get_up(b, &other);
        stop(b);
    }
}

/* Who keeps a GPU for too long while another waits loses it, and is told. */
static void test_told_of_a_unit_taken_back(void **state)
{
    struct bench *b = start("");
    struct desk slow, other;
    join(b, &slow, "", 1);
    sit_down(b, &other, 1002, "");
    hello(b, &other, "", 1);
    request(b, &slow, 0, 1);
    assert_true(granted(&slow, 0, 1));
    request(b, &other, 0, 1);
    for (int i = 0; i < 100 && !slow.notices; i++) {
        b->now += 100 * MS;
        gs_core_tick(b->core, b->now);
    }
    assert_true(says(slow.notice.u.text.text, "this process kept %s for %s%s: it was taken back%s"));
    assert_true(granted(&other, 0, 1));
    stop(b);
}

static void test_nobody_takes_all_places(void **state)
{
    struct bench *b = start("");
    struct desk d[10];
    for (int i = 0; i < 5; i++) {
        assert_int_equal(join(b, &d[i], "", 1), i < 4 ? 0 : -EPROTO);
    }
    assert_int_equal(d[4].refused.u.text.code, GS_REFUSED_FULL);
    for (int i = 5; i < 10; i++) {
        sit_down(b, &d[i], 0, ""); /* root has no limit of its own, but the whole has: 8 */
        assert_int_equal(hello(b, &d[i], "", 1), i < 9 ? 0 : -EPROTO);
    }
    stop(b);
}

/* A user who has as many applications as may be has places for tasks still. */
static void test_a_users_places(void **state)
{
    struct bench *b = start(TASKS);
    struct desk d[5], slow;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(join(b, &d[i], "", 1), i < 4 ? 0 : -EPROTO);
    }
    assert_int_equal(join(b, &slow, "slow", 1), 0);
    stop(b);
}

/* Each task of the config that doesn't run has a place, however many others come. */
static void test_places_for_tasks(void **state)
{
    struct bench *b = start(TASKS);
    struct desk d[9], slow, fast, again, mine;
    for (int i = 0; i < 9; i++) {
        sit_down(b, &d[i], 1002 + (uid_t)i, "");
        assert_int_equal(hello(b, &d[i], "", 1), i < 5 ? 0 : -EPROTO);
    }
    sit_down(b, &fast, 1001, "");
    sit_down(b, &again, 1001, "");
    sit_down(b, &mine, 0, "");
    assert_int_equal(join(b, &slow, "slow", 1), 0);
    assert_int_equal(hello(b, &again, "slow", 1), -EPROTO);
    assert_int_equal(again.refused.u.text.code, GS_REFUSED_FULL);
    assert_true(says(again.refused.u.text.text, "the daemon schedules as many processes as it can already"));
    assert_int_equal(hello(b, &fast, "fast", 1), 0);
    assert_int_equal(hello(b, &mine, "mine", 1), 0);
    stop(b);
}

/* ---- grants ---- */

/* Two users' applications, without tasks. */
static void sit_down_both(struct bench *b, struct desk *one, struct desk *two)
{
    sit_down(b, one, 1001, "");
    sit_down(b, two, 1002, "");
    hello(b, one, "", 2);
    hello(b, two, "", 2);
}

static void test_grants(void **state)
{
    struct bench *b = start("");
    struct desk one, two;
    sit_down_both(b, &one, &two);
    assert_int_equal(request(b, &one, 3, 1), 0);
    assert_true(granted(&one, 3, 1));
    uint32_t word = atomic_load(&page_of(&one)->lease[1].word);
    assert_int_equal(word & 0xfff, GS_LEASE_LEASED | 1); /* and may take more without asking */
    assert_int_equal(request(b, &two, 5, 1), 0);
    assert_false(granted(&two, 5, 1));
    assert_true(atomic_load(&page_of(&one)->lease[1].word) & GS_LEASE_ASK);
    give_back(b, &one, 1);
    assert_true(granted(&two, 5, 1));
    assert_false(atomic_load(&page_of(&one)->lease[1].word) & GS_LEASE_LEASED);
    /* Written for a daemon that has died: nothing happens. */
    two.welcome.u.welcome.client++;
    assert_int_equal(request(b, &two, 6, 2), 0);
    assert_int_equal(atomic_load(&page_of(&two)->slot[6]), 0);
    two.welcome.u.welcome.client--;
    assert_int_equal(request(b, &two, 6, 3), -EPROTO); /* there is no such GPU */
    assert_int_equal(request(b, &one, GS_MAX_SLOTS, 1), -EPROTO);
    stop(b);
}

/* Which GPU it would get first: told at once, no unit, and the holders don't hear of it. */
static void test_choose(void **state)
{
    struct bench *b = start(TASKS);
    struct desk fast, slow, plain;
    sit_down(b, &fast, 1001, "/opt/fast");
    sit_down(b, &plain, 1001, "");
    hello(b, &fast, "", 2);
    join(b, &slow, "slow", 2);
    hello(b, &plain, "", 2);
    struct gs_msg m = message(GS_MSG_CHOOSE);
    m.u.choose = (struct gs_msg_choose){5, 7, slow.welcome.u.welcome.client, .gpus = GS_MASK_ALL_GPUS(2), .prefer = 1};
    _Atomic uint32_t *slot = &page_of(&slow)->slot[5];
    assert_int_equal(say(b, &slow, &m), 0);
    assert_int_equal(atomic_load(slot), GS_SLOT_WORD(7, GS_SLOT_CHOSEN, 1));
    assert_int_equal(request(b, &fast, 0, 1), 0); /* more urgent, ... */
    assert_int_equal(request(b, &plain, 0, 2), 0);
    assert_int_equal(say(b, &slow, &m), 0);
    assert_int_equal(atomic_load(slot), GS_SLOT_WORD(7, GS_SLOT_CHOSEN, 2));
    give_back(b, &fast, 1); /* ... but idle */
    assert_int_equal(say(b, &slow, &m), 0);
    assert_int_equal(atomic_load(slot), GS_SLOT_WORD(7, GS_SLOT_CHOSEN, 1));
    for (unsigned r = 1; r <= 2; r++) {
        assert_int_equal(atomic_load(&page_of(&slow)->lease[r].word), 0);
        assert_int_equal(atomic_load(&page_of(r == 1 ? &fast : &plain)->lease[r].word) & GS_LEASE_ASK, 0);
    }
    const uint64_t bad = b->core->bad_messages;
    m.u.choose.gpus = GS_MASK_PCI;
    assert_int_equal(say(b, &slow, &m), -EPROTO);
    m.u.choose = (struct gs_msg_choose){GS_MAX_SLOTS, 7, fast.welcome.u.welcome.client, .gpus = GS_MASK(1)};
    assert_int_equal(say(b, &fast, &m), -EPROTO);
    assert_int_equal(b->core->bad_messages, bad + 2);
    stop(b);
}

/* It says that it has units out, for ever and more than there are: the watchdog is for that. Or none while it has one:
 * the next one is let in, as if it had never asked. */
static void test_a_page_full_of_lies(void **state)
{
    struct bench *b = start("[system]\nwatchdog = 10ms\n");
    struct desk liar, honest;
    sit_down(b, &honest, 1002, "");
    join(b, &liar, "", 2);
    hello(b, &honest, "", 2);
    request(b, &liar, 0, 1);
    memset(page_of(&liar), 0xff, sizeof *page_of(&liar));
    request(b, &honest, 0, 1);
    if (!granted(&honest, 0, 1)) {
        b->now = gs_core_next_tick(b->core);
        assert_in_range(b->now, 1000 * MS, 1010 * MS);
        gs_core_tick(b->core, b->now);
    }
    assert_true(granted(&honest, 0, 1));
    give_back(b, &honest, 1);
    /* And it is served itself after that, in its turn. */
    assert_int_equal(request(b, &liar, 1, 1), 0);
    assert_true(granted(&liar, 1, 1));
    stop(b);
}

/* A word of another generation says nothing of units: nobody waits for them. */
static void test_words_of_another_generation(void **state)
{
    struct bench *b = start("");
    struct desk one, two;
    sit_down_both(b, &one, &two);
    request(b, &one, 0, 1);
    atomic_fetch_add(&page_of(&one)->lease[1].word, GS_LEASE_WORD(1, 0));
    request(b, &two, 0, 1);
    assert_true(granted(&two, 0, 1));
    stop(b);
}

/* Each lease has a generation of its own. */
static void test_generations(void **state)
{
    struct bench *b = start("");
    struct desk one, two;
    sit_down_both(b, &one, &two);
    request(b, &one, 0, 1);
    const uint32_t first = atomic_load(&page_of(&one)->lease[1].word);
    request(b, &two, 0, 1);
    give_back(b, &one, 1);
    const uint32_t between = atomic_load(&page_of(&one)->lease[1].word);
    request(b, &one, 1, 1);
    give_back(b, &two, 1);
    assert_true(granted(&one, 1, 1));
    const uint32_t second = atomic_load(&page_of(&one)->lease[1].word);
    assert_true(second & GS_LEASE_LEASED && !(between & GS_LEASE_LEASED));
    assert_int_not_equal(GS_LEASE_GENERATION(first), GS_LEASE_GENERATION(between));
    assert_int_not_equal(GS_LEASE_GENERATION(first), GS_LEASE_GENERATION(second));
    stop(b);
}

/* ---- tasks ---- */

/* Processes come and go whose priority can't be set: the log has some lines a second of them, and one of each. */
static void test_priority_that_cant_be_set(void **state)
{
    struct bench *b = start(TASKS);
    unsigned lines = 0;
    b->realtime_error = -EPERM;
    for (int i = 0; i < 40; i++) {
        struct desk d;
        sit_down(b, &d, 1001, "/opt/other");
        assert_int_equal(hello(b, &d, "slow", 2), 0);
        get_up(b, &d);
    }
    for (const char *at = b->log; (at = strstr(at, "can't be given its CPU priority: Operation not permitted")); at++)
        lines++;
    assert_int_equal(lines, 5);
    stop(b);
}

/* Who joins as a task is welcome when it has its priority, or after 10 ms, eight at a time. */
static void test_welcome_waits_for_the_priority(void **state)
{
    struct bench *b = start_crowd(TASKS);
    struct desk d[10], plain;
    b->realtime_error = 1; /* later */
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(join(b, &d[i], "slow", 2), 0);
        assert_int_equal(d[i].welcomes + d[i].tasks, 0);
        assert_true(gs_core_joined(d[i].session));
    }
    sit_down(b, &plain, 1002, "");
    assert_int_equal(hello(b, &plain, "", 2), 0);
    assert_int_equal(plain.welcomes, 1);
    gs_core_has_priority(d[1].session, 0, b->now);
    assert_int_equal(d[1].welcomes, 1);
    gs_core_has_priority(d[1].session, 0, b->now); /* for threads that were new */
    assert_int_equal(d[1].welcomes, 1);
    /* It hears of the new config when it is welcome. */
    assert_int_equal(configure(b, "[system]\ngpus = 2\n[task slow]\nperiod = 70ms\nuser = *\n"), 0);
    assert_int_equal(d[1].tasks, 1);
    assert_int_equal(d[0].tasks + d[0].welcomes, 0);
    get_up(b, &d[2]);
    gs_core_has_priority(d[0].session, -EPERM, b->now);
    assert_int_equal(d[0].welcomes, 1);
    assert_int_equal(d[0].welcome.u.welcome.period_ns, 70 * MS);
    assert_true(strstr(b->log, "can't be given its CPU priority: Operation not permitted"));
    get_up(b, &d[0]);
    for (unsigned i = 0; i < 3; i += 2) {
        assert_int_equal(join(b, &d[i], "slow", 2), 0);
    }
    assert_int_equal(gs_core_next_tick(b->core), b->now + 10 * MS);
    b->now += 10 * MS;
    for (unsigned round = 0, n; round < 2; round++) {
        assert_true(gs_core_next_tick(b->core) <= b->now);
        gs_core_tick(b->core, b->now);
        n = 0;
        for (unsigned i = 0; i < 10; i++)
            n += i != 1 && d[i].welcomes == 1;
        assert_int_equal(n, round ? 9 : 8);
    }
    assert_int_equal(gs_core_next_tick(b->core), UINT64_MAX);
    stop(b);
}

static void test_tasks_by_name_and_path(void **state)
{
    struct bench *b = start(TASKS);
    struct desk d;
    sit_down(b, &d, 1001, "/opt/other");
    assert_int_equal(hello(b, &d, "slow", 2), 0);
    assert_string_equal(d.welcome.u.welcome.task, "slow");
    assert_int_equal(d.welcome.u.welcome.priority, 1); /* deadline-monotonic */
    assert_int_equal(atomic_load(&page_of(&d)->kernel_chunk), 3);
    assert_int_equal(atomic_load(&page_of(&d)->transfer_chunk), 1 << 20);
    assert_int_equal(d.cpu_priority, 22); /* each of three tasks has 13 */
    get_up(b, &d);
    assert_int_equal(d.cpu_priority, 0); /* the process may go on */
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
    const uint64_t refused = b->core->refused;
    assert_int_equal(hello(b, &d, "nobody", 2), -EPROTO);
    assert_int_equal(d.refused.u.text.code, GS_REFUSED_TASK);
    assert_true(says(d.refused.u.text.text, "there is no task %s in the daemon's config"));
    assert_int_equal(b->core->refused, refused + 1);
    assert_int_equal(b->core->bad_messages, 0); /* what it said made sense */
    stop(b);
}

static int request_alone(struct bench *b, struct desk *d, uint32_t slot, unsigned resource)
{
    struct gs_msg m = message(GS_MSG_REQUEST);
    m.u.request = (struct gs_msg_request){.slot = slot,
                                          .serial = 7,
                                          .resource = resource,
                                          .client = d->welcome.u.welcome.client,
                                          .flags = GS_REQUEST_ALONE};
    return say(b, d, &m);
}

/* A GPU for a measurement: not for everybody, not while tasks run, and a task that comes asks for it. */
static void test_alone(void **state)
{
    struct bench *b = start(TASKS);
    struct desk stranger, probe, task;
    sit_down(b, &probe, 0, "");
    join(b, &stranger, "", 2);
    hello(b, &probe, "", 2);
    assert_int_equal(request_alone(b, &stranger, 0, 1), 0);
    assert_int_equal(atomic_load(&page_of(&stranger)->slot[0]), GS_SLOT_WORD(7, GS_SLOT_CANCELLED, 0));
    assert_int_equal(request_alone(b, &stranger, GS_MAX_SLOTS + 1000, 1), 0); /* answered nowhere */
    assert_int_equal(request_alone(b, &probe, 0, 1), 0);
    assert_true(granted(&probe, 0, 1));
    assert_int_equal(probe.notices, 0);

    assert_int_equal(join(b, &task, "slow", 2), 0);
    assert_int_equal(atomic_load(&page_of(&probe)->yield), GS_MASK(1));
    request(b, &task, 0, 1);
    assert_false(granted(&task, 0, 1));
    give_back(b, &probe, 1);
    assert_true(granted(&task, 0, 1));
    give_back(b, &task, 1);
    assert_int_equal(request_alone(b, &probe, 1, 1), 0);
    assert_false(granted(&probe, 1, 1));
    assert_true(says(probe.notice.u.text.text, "the measurement waits until no task runs: there is %s (process %d)%s"));
    assert_non_null(strstr(probe.notice.u.text.text, "there is slow (process 4711)"));
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
    stop(b);
}

static void test_other_users_tasks(void **state)
{
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
    assert_true(
        says(d.notice.u.text.text, "task %s is not this user's: a line `user = NAME` in its section would make it so"));
    get_up(b, &d);
    assert_int_equal(b->realtime_calls, 0);
    sit_down(b, &d, geteuid(), "");
    assert_int_equal(hello(b, &d, "mine", 2), 0);
    stop(b);
}

/* A number that no user has isn't another one's, which it would be with its upper bits cut off. */
static void test_senseless_users(void **state)
{
    static const char *const users[] = {"4294968297", "-4294966295", "1001x", "", "4294967295"};
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        char text[128];
        snprintf(text, sizeof text, "[system]\ngpus = 2\n[task t]\nperiod = 1s\nuser = %s\n", users[i]);
        struct bench *b = start(text);
        struct desk d;
        assert_int_equal(join(b, &d, "t", 2), -EPROTO);
        assert_int_equal(d.refused.u.text.code, GS_REFUSED_TASK);
        assert_true(says(b->log, "task %s is given to user %s, whom this machine doesn't know: only root may run it"));
        get_up(b, &d);
        stop(b);
    }
}

/* To read the config again is root's and the daemon's own user's. */
static void test_who_may_reload(void **state)
{
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
    stop(b);
}

static unsigned lines_in(const char *log)
{
    unsigned n = 0;
    for (; *log; log++)
        n += *log == '\n';
    return n;
}

/* No user can fill them all, so that others' are left out; nor all users together. Who is no task has nothing to tell
 * of its jobs, and a task only once. */
static void test_nobody_fills_the_log(void **state)
{
    struct bench *b = start(TASKS);
    struct desk plain, slow;
    const struct gs_msg m = message(GS_MSG_JOBS);
    sit_down(b, &plain, 1002, "");
    hello(b, &plain, "", 2);
    join(b, &slow, "slow", 2);
    b->log[0] = '\0';
    for (uint32_t i = 1; i <= 30; i++) {
        b->now += 2000 * MS;
        atomic_store(&page_of(&plain)->jobs, i << 24);
        atomic_store(&page_of(&slow)->jobs, i << 24);
        say(b, &plain, &m);
        say(b, &slow, &m);
    }
    assert_int_equal(lines_in(b->log), 1);
    b->now += 2000 * MS;
    b->log[0] = '\0';
    for (uid_t u = 0; u < 10; u++)
        for (int i = 0; i < 10; i++) {
            plain.session->uid = 2000 + u;
            gs_core_log_of(plain.session, true, "%u", (unsigned)u);
            assert_true(lines_in(b->log) <= 5 * (u + 1));
        }
    assert_int_equal(lines_in(b->log), 15);
    for (int i = 0; i < 10; i++)
        gs_core_log(b->core, true, "what all should know");
    assert_int_equal(lines_in(b->log), 20);
    b->now += 2000 * MS;
    gs_core_tick(b->core, b->now);
    gs_core_log(b->core, true, "in another second");
    assert_true(says(b->log, "%u more messages were left out"));
    stop(b);
}

/* Units taken without asking count on when their client has gone. */
static void test_taken_units_stay_counted(void **state)
{
    struct bench *b = start("");
    struct desk d;
    for (unsigned i = 1; i <= 3; i++) {
        join(b, &d, "", 2);
        atomic_store(&page_of(&d)->lease[1].taken, 10 * i);
        b->now += MS;
        if (i < 3)
            get_up(b, &d);
    }
    char *text = gs_core_status(b->core, b->now);
    assert_non_null(strstr(text, "\"taken\":60"));
    free(text);
    stop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_senseless_messages),
        cmocka_unit_test(test_hello),
        cmocka_unit_test(test_nobody_takes_all_places),
        cmocka_unit_test(test_a_users_places),
        cmocka_unit_test(test_places_for_tasks),
        cmocka_unit_test(test_grants),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_a_page_full_of_lies),
        cmocka_unit_test(test_words_of_another_generation),
        cmocka_unit_test(test_generations),
        cmocka_unit_test(test_priority_that_cant_be_set),
        cmocka_unit_test(test_welcome_waits_for_the_priority),
        cmocka_unit_test(test_tasks_by_name_and_path),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_other_users_tasks),
        cmocka_unit_test(test_senseless_users),
        cmocka_unit_test(test_who_may_reload),
        cmocka_unit_test(test_nobody_fills_the_log),
        cmocka_unit_test(test_senseless_words),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_a_long_path),
        cmocka_unit_test(test_a_unit_that_is_back_unheard),
        cmocka_unit_test(test_told_of_a_unit_taken_back),
        cmocka_unit_test(test_taken_units_stay_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
