/* SPDX-License-Identifier: MIT */
/* Hostile processes at the real daemon's socket, with pages of their own: 1, 20 and 400 connections, of three users
 * where the tests run as root. A task and an application without one get what they ask for meanwhile. GS_SEED chooses
 * what the hostile do. No time is asserted: liars.c has the bounds, by a clock given by hand. */
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/random.h"
#include "tests/suite.h"
#include "tests/scheduler/players.h"

#define CONFIG                                                                                                         \
    "[system]\ngpus = 2\ncpus = 4\ngpu_chunk = 1ms\npci_chunk = 1ms\n"                                                 \
    "[task high]\nperiod = 100ms\nuser = *\nwarmup = 0\nsegments.1 = cpu 1ms, gpu 2ms\n"                               \
    "[task low]\nperiod = 1s\nuser = *\nsegments.1 = cpu 1ms, gpu 2ms\n"

enum { USERS = 3, GRANTS = 60, PLAIN_GRANTS = 10 }; /* who has no task waits for a unit of each of 400 others */
enum { STOP = 100, CONNECTIONS, HABIT };            /* in stage->flag */

enum habit {
    KEEPS,    /* asks, and never gives back */
    PRETENDS, /* has as many units as may be by its page, and gives one back now and then */
    ALL,      /* all that it can think of */
    HABITS
};

/* ---- a client that keeps to nothing ---- */

struct raw {
    int fd;
    struct gs_page *page; /* null: not joined */
    uint32_t number, slot;
};

static struct gs_msg message(unsigned type)
{
    return (struct gs_msg){.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = (uint16_t)type};
}

static void send_raw(struct raw *r, const struct gs_msg *m, size_t n)
{
    if (r->fd >= 0 && send(r->fd, m, n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        /* The daemon has had enough of it, or doesn't read so fast. */
    }
}

static void hang_up(struct raw *r)
{
    if (r->page)
        munmap(r->page, GS_PAGE_BYTES);
    if (r->fd >= 0)
        close(r->fd);
    *r = (struct raw){.fd = -1};
}

static void call(struct raw *r, const char *task)
{
    *r = (struct raw){.fd = raw_connection(SOCK_NONBLOCK)};
    if (r->fd < 0)
        return;
    struct gs_msg m = message(GS_MSG_HELLO);
    m.u.hello.gpus = 2;
    snprintf(m.u.hello.task, sizeof m.u.hello.task, "%s", task);
    send_raw(r, &m, sizeof m);
}

/* Reads what has come; a page among it is its own. */
static void listen_to(struct raw *r)
{
    struct gs_msg m;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec io = {.iov_base = &m, .iov_len = sizeof m};
    for (;;) {
        struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        ssize_t n = r->fd < 0 ? -1 : recvmsg(r->fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n < 0 && (r->fd < 0 || errno == EAGAIN))
            return;
        if (n <= 0) {
            hang_up(r);
            return;
        }
        const struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        if (!c || c->cmsg_type != SCM_RIGHTS)
            continue;
        int passed;
        memcpy(&passed, CMSG_DATA(c), sizeof passed);
        void *p = m.type == GS_MSG_WELCOME ? mmap(NULL, GS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, passed, 0)
                                           : MAP_FAILED;
        close(passed);
        if (p == MAP_FAILED)
            continue;
        r->page = p;
        r->number = m.u.welcome.client;
    }
}

static void ask_for(struct raw *r, unsigned resource)
{
    struct gs_msg m = message(GS_MSG_REQUEST);
    const uint32_t slot = r->slot++ % GS_MAX_SLOTS;
    if (GS_SLOT_STATE(atomic_load(&r->page->slot[slot])) == GS_SLOT_WAITING)
        return;
    atomic_store(&r->page->slot[slot], GS_SLOT_WORD(r->slot & 0xffff, GS_SLOT_WAITING, 0));
    m.u.request =
        (struct gs_msg_request){.slot = slot, .serial = r->slot & 0xffff, .resource = resource, .client = r->number};
    send_raw(r, &m, sizeof m);
}

/* As if so many units were out. */
static void pretend(struct raw *r, unsigned resource, uint32_t units)
{
    _Atomic uint32_t *word = &r->page->lease[resource].word;
    uint32_t w = atomic_load(word);
    if (w & GS_LEASE_LEASED)
        atomic_compare_exchange_strong(word, &w, (w & ~GS_LEASE_UNITS) | units);
    struct gs_msg m = message(GS_MSG_LOOK);
    m.u.look.resource = resource;
    send_raw(r, &m, sizeof m);
}

static void do_anything(struct raw *r)
{
    struct gs_msg m = message(rnd(16));
    for (size_t i = 0; i < 32; i++)
        m.u.bytes[i] = (unsigned char)rnd(256);
    switch (rnd(12)) {
    case 0:
        hang_up(r);
        break;
    case 1:
        send_raw(r, &m, rnd(4) ? sizeof m : rnd(sizeof m));
        break;
    case 2:
        m.type = rnd(2) ? GS_MSG_STATUS : GS_MSG_PLAN;
        snprintf(m.u.name, sizeof m.u.name, "%s", rnd(2) ? "low" : "high");
        send_raw(r, &m, sizeof m);
        break;
    case 3:
        m.type = GS_MSG_PING;
        for (unsigned i = 0; i < 50; i++)
            send_raw(r, &m, sizeof m);
        break;
    case 4:
        for (unsigned i = 0; r->page && i < 64; i++)
            ((volatile unsigned char *)r->page)[rnd(sizeof *r->page)] = (unsigned char)rnd(256);
        break;
    case 5:
        if (r->page)
            pretend(r, rnd(3), rnd(256));
        break;
    default:
        if (r->page)
            ask_for(r, rnd(4) ? GPU0 : rnd(3));
    }
}

static void hostile_role(unsigned self)
{
    const unsigned n = atomic_load(&stage->flag[CONNECTIONS]), habit = atomic_load(&stage->flag[HABIT]);
    const uid_t user = 20001 + self;
    if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setgid(user) < 0 || setuid(user) < 0))
        _exit(20);
    random_state += self;
    struct raw *r = calloc(n, sizeof *r);
    for (unsigned i = 0; i < n; i++)
        r[i].fd = -1;
    while (!atomic_load(&stage->flag[STOP])) {
        for (unsigned i = 0; i < n; i++) {
            if (r[i].fd < 0)
                call(&r[i], habit == ALL && i == 0 && rnd(2) == 0 ? "low" : "");
            listen_to(&r[i]);
            if (habit == ALL && (r[i].page || rnd(50) == 0)) /* else it waits for its welcome */
                do_anything(&r[i]);
            else if (habit == ALL)
                continue;
            else if (r[i].page && !(atomic_load(&r[i].page->lease[GS_RESOURCE_GPU(0)].word) & GS_LEASE_LEASED))
                ask_for(&r[i], GPU0);
            else if (r[i].page && habit == PRETENDS && rnd(500) == 0)
                pretend(&r[i], GS_RESOURCE_GPU(0), 1 + rnd(2));
            atomic_fetch_add(&stage->said[self], r[i].page != NULL);
        }
        usleep(1000);
    }
}

/* ---- those who want to work ---- */

static void work(unsigned self, const char *task, int grants)
{
    struct gs_client *c = joined_client(task);
    for (int i = 0; i < grants; i++) {
        struct gs_grant g;
        if (gs_client_acquire(c, GPU0, MS, &g) != 0 || !g.client)
            _exit(21);
        usleep(1000);
        gs_client_release(c, &g);
        atomic_fetch_add(&stage->said[self], 1);
        usleep(2000);
    }
    gs_client_close(c);
}

static void task_role(unsigned self)
{
    work(self, "high", GRANTS);
}

static void plain_role(unsigned self)
{
    work(self, NULL, PLAIN_GRANTS);
}

static void attack(unsigned connections, enum habit habit)
{
    const unsigned users = geteuid() == 0 && connections >= USERS ? USERS : 1;
    stage_reset();
    chmod(stage_path(""), 0711);
    pid_t d = start_daemon(CONFIG, "--mode", "0666");
    /* One user alone has 256 places, of which two are for those who want to work. */
    const unsigned each = connections / users;
    atomic_store(&stage->flag[CONNECTIONS], users == 1 && each > 250 ? 250 : each);
    atomic_store(&stage->flag[HABIT], habit);
    pid_t hostile[USERS];
    for (unsigned u = 0; u < users; u++)
        hostile[u] = play(hostile_role, u);
    for (unsigned u = 0; u < users; u++)
        assert_true(until(&stage->said[u], 1));
    pid_t task = play(task_role, 10), plain = play(plain_role, 11);
    assert_true(until(&stage->said[10], GRANTS));
    assert_true(until(&stage->said[11], PLAIN_GRANTS));
    assert_int_equal(end_process(task, 0), 0);
    assert_int_equal(end_process(plain, 0), 0);
    if (habit != ALL) {
        assert_true(status_number("daemon.taken_back") >= 1);
        char who[64];
        snprintf(who, sizeof who, "process %d of user %u", (int)hostile[0],
                 geteuid() == 0 ? 20001u : (unsigned)geteuid());
        assert_true(log_contains(who) || users > 1);
        assert_true(log_contains("it stands behind all others for 1s"));
    }
    atomic_store(&stage->flag[STOP], 1);
    for (unsigned u = 0; u < users; u++)
        assert_int_equal(end_process(hostile[u], 0), 0);
    assert_true(until_status("daemon.clients", 0));
    assert_int_equal(end_process(d, SIGTERM), 0);
    unlink(stage_path("log"));
}

static void test_keeps(void **state)
{
    attack(1, KEEPS);
    attack(20, KEEPS);
    attack(400, KEEPS);
}

static void test_pretends(void **state)
{
    attack(1, PRETENDS);
    attack(20, PRETENDS);
    attack(400, PRETENDS);
}

static void test_anything(void **state)
{
    attack(1, ALL);
    attack(20, ALL);
    attack(400, ALL);
}

/* ---- who is heard first ---- */

static void holder_role(unsigned self)
{
    struct gs_client *c = joined_client("high");
    struct gs_grant g;
    if (gs_client_acquire(c, GPU0, MS, &g) != 0)
        _exit(21);
    atomic_store(&stage->said[self], 1);
    pause();
}

static void join_as(struct raw *r, const char *task)
{
    call(r, task);
    for (int i = 0; i < 5000 && !r->page; i++) {
        rest_ms(1);
        listen_to(r);
    }
    assert_non_null(r->page);
}

static json_int_t waits_for(const json_t *waiting, size_t i)
{
    return json_integer_value(json_object_get(json_array_get(waiting, i), "since_ns"));
}

/* A task asks last, when a hundred others have: the daemon hears it before most of them. It is stopped meanwhile, so
 * that all of them have asked when it looks. */
static void test_tasks_are_heard_first(void **state)
{
    enum { MANY = 100, MOST_BEFORE = 8 };
    struct raw other[MANY], task;
    stage_reset();
    pid_t d = start_daemon("[system]\ngpus = 1\nrealtime = no\nwatchdog = 100s\n[task high]\nperiod = 100ms\n"
                           "[task low]\nperiod = 1s\n",
                           NULL, NULL);
    play(holder_role, 0);
    assert_true(until(&stage->said[0], 1));
    for (unsigned i = 0; i < MANY; i++)
        join_as(&other[i], "");
    join_as(&task, "low");
    kill(d, SIGSTOP);
    rest_ms(20);
    for (unsigned i = 0; i < MANY; i++)
        ask_for(&other[i], GPU0);
    ask_for(&task, GPU0);
    kill(d, SIGCONT);
    for (int i = 0; i < 2000 && status_number("resources.1.clients_waiting") <= MANY; i++)
        rest_ms(5);
    /* 32 of those who wait are told of, the task first. */
    unsigned before = 0;
    char *text;
    assert_int_equal(gs_client_ask(NULL, GS_MSG_STATUS, NULL, 2000, &text), 0);
    json_t *now = json_loads(text, 0, NULL);
    json_t *waiting = json_object_get(json_array_get(json_object_get(now, "resources"), 1), "waiting");
    assert_int_equal(json_array_size(waiting), 32);
    assert_string_equal(json_string_value(json_object_get(json_array_get(waiting, 0), "task")), "low");
    for (size_t i = 1; i < 32; i++)
        before += waits_for(waiting, i) > waits_for(waiting, 0);
    json_decref(now);
    free(text);
    assert_in_range(before, 0, MOST_BEFORE);
    for (unsigned i = 0; i < MANY; i++)
        hang_up(&other[i]);
    hang_up(&task);
    end_process(d, SIGTERM);
}

static void pinging_role(unsigned self)
{
    struct raw r;
    const struct gs_msg m = message(GS_MSG_PING);
    join_as(&r, "low");
    while (!stage->flag[self])
        send_raw(&r, &m, sizeof m);
}

static bool has_grant(const struct raw *r, uint32_t slot)
{
    return GS_SLOT_STATE(atomic_load(&r->page->slot[slot])) == GS_SLOT_GRANTED;
}

static void await_grant(const struct raw *r, uint32_t slot)
{
    for (int i = 0; i < 60000 && !has_grant(r, slot); i++)
        rest_ms(1);
    assert_true(has_grant(r, slot));
}

/* One process of a lower task floods the daemon, which doesn't listen to that task for most of the time. Another one
 * has what the highest waits for: the daemon sees in its page that it has given that back, and hears nothing. */
static void test_a_holder_among_a_flood(void **state)
{
    struct raw holder, waiter;
    stage_reset();
    pid_t d = start_daemon("[system]\ngpus = 1\nrealtime = no\nwatchdog = 1000s\n[task high]\nperiod = 100ms\n"
                           "priority = 2\n[task low]\nperiod = 1s\npriority = 1\n",
                           NULL, NULL);
    join_as(&holder, "low");
    join_as(&waiter, "high");
    play(pinging_role, 1);
    ask_for(&holder, GPU0);
    await_grant(&holder, 0);
    ask_for(&waiter, GPU0);
    while (!(atomic_load(&holder.page->lease[GPU0].word) & GS_LEASE_ASK))
        rest_ms(1);
    atomic_fetch_sub(&holder.page->lease[GPU0].word, 1);
    await_grant(&waiter, 0);
    stage->flag[1] = 1;
    hang_up(&holder);
    hang_up(&waiter);
    end_process(d, SIGTERM);
}

int main(void)
{
    seed_run(0, NULL, 33);
    stage_open();
    const struct CMUnitTest tests[] = {
        ON_STAGE(test_keeps),
        ON_STAGE(test_pretends),
        ON_STAGE(test_anything),
        ON_STAGE(test_tasks_are_heard_first),
        ON_STAGE(test_a_holder_among_a_flood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
