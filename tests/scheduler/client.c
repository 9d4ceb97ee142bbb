/* SPDX-License-Identifier: MIT */
/* The client's calls with a real daemon: several threads and processes, and what they cost the daemon. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/suite.h"
#include "tests/scheduler/players.h"

#define PLAIN "[system]\ngpus = 2\nrealtime = no\n"

/* ---- a daemon with nothing to do ---- */

static void idle_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g;
    gs_client_acquire(c, GPU0, 0, &g);
    gs_client_release(c, &g);
    atomic_store(&stage->said[self], 1);
    pause();
}

static long context_switches(pid_t pid)
{
    char path[64], line[256];
    long total = 0, n;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
            total += n;
    fclose(f);
    return total;
}

static void test_idle_does_not_wake_up(void **state)
{
    pid_t d = start_daemon(PLAIN, NULL, NULL);
    for (unsigned i = 0; i < 5; i++) {
        play(idle_role, i);
        assert_true(until(&stage->said[i], 1));
    }
    rest_ms(2500); /* the timers of connections that say no hello are behind us */
    long before = context_switches(d);
    rest_ms(1500);
    assert_int_equal(context_switches(d), before);
}

/* What is taken without asking costs the daemon nothing. */
static void alone_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g;
    gs_client_acquire(c, GPU0, 0, &g);
    gs_client_release(c, &g);
    atomic_store(&stage->said[self], 1);
    while (!atomic_load(&stage->flag[self]))
        rest_ms(1);
    for (int i = 0; i < 100000; i++) {
        if (gs_client_try(c, GPU0, GS_LENGTH_UNKNOWN, &g) < 0)
            _exit(20);
        gs_client_release(c, &g);
    }
    atomic_store(&stage->said[self], 2);
    pause();
}

static void test_uncontended_sends_nothing(void **state)
{
    pid_t d = start_daemon(PLAIN, NULL, NULL);
    play(alone_role, 0);
    assert_true(until(&stage->said[0], 1));
    rest_ms(2500);
    long before = context_switches(d);
    atomic_store(&stage->flag[0], 1);
    assert_true(until(&stage->said[0], 2));
    assert_int_equal(context_switches(d), before);
    /* It has learnt of them all the same. */
    assert_int_equal(status_number("resources.1.taken"), 100000);
}

/* ---- one process, many threads ---- */

static void *thread_role(void *arg)
{
    struct gs_client *c = arg;
    for (int i = 0; i < 500; i++) {
        struct gs_grant g;
        if (gs_client_acquire(c, i % 3 ? GPU0 : gs_client_choose(c, GS_MASK_ALL_GPUS(2)), 1000, &g) != 0 || !g.client)
            _exit(21);
        int in = g.resource == GPU0 ? atomic_fetch_add(&stage->inside, 1) + 1 : 0;
        int most = atomic_load(&stage->most_inside);
        while (in > most && !atomic_compare_exchange_weak(&stage->most_inside, &most, in))
            ;
        usleep(20);
        if (g.resource == GPU0)
            atomic_fetch_sub(&stage->inside, 1);
        gs_client_release(c, &g);
    }
    return NULL;
}

static void threads_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, thread_role, c);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    atomic_store(&stage->said[self], 1);
    gs_client_close(c);
}

/* Threads of one process have `depth` units between them, and nobody is forgotten; the same against another process. */
static void test_threads(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    pid_t one = play(threads_role, 0);
    assert_true(until(&stage->said[0], 1));
    assert_in_range(atomic_load(&stage->most_inside), 2, 2);
    assert_int_equal(end_process(one, 0), 0);
    pid_t a = play(threads_role, 1), b = play(threads_role, 2);
    assert_true(until(&stage->said[1], 1));
    assert_true(until(&stage->said[2], 1));
    assert_in_range(atomic_load(&stage->most_inside), 2, 2);
    assert_int_equal(end_process(a, 0), 0);
    assert_int_equal(end_process(b, 0), 0);
    assert_int_equal(status_number("clients"), 0);
}

/* ---- the two-step calls ---- */

static void requests_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_request rq[3];
    struct gs_grant g[3], other;
    /* Another player holds both GPUs: these wait, but which it is to be is said at once. */
    if (gs_client_choose(c, GS_MASK_ALL_GPUS(2)) != GPU0 || gs_client_choose(c, GS_MASK(2)) != 2)
        _exit(29);
    for (unsigned i = 0; i < 2; i++)
        if (gs_client_request(c, GS_RESOURCE_GPU(i), 0, &rq[i]) != 0 || rq[i].held)
            _exit(30);
    if (gs_client_wait(c, &rq[0], 5 * MS, &g[0]) != -ETIMEDOUT || !rq[0].open)
        _exit(31);
    if (gs_client_cancel(c, &rq[1], &other) || rq[1].open ||
        gs_client_try(c, GPU0, GS_LENGTH_UNKNOWN, &other) != -EAGAIN)
        _exit(32);
    if (gs_client_request(c, GS_MAX_RESOURCES, 0, &rq[2]) != -EINVAL)
        _exit(33);
    atomic_store(&stage->said[self], 1);
    if (gs_client_wait(c, &rq[0], UINT64_MAX, &g[0]) != 0 || g[0].resource != GPU0)
        _exit(34);
    gs_client_release(c, &g[0]);
    /* Granted before it could be cancelled: given back. */
    if (gs_client_request(c, GPU0, 0, &rq[0]) != 0 || !rq[0].held)
        _exit(35);
    if (!gs_client_cancel(c, &rq[0], NULL))
        _exit(38);
    /* Or used. */
    if (gs_client_request(c, GPU0, 0, &rq[0]) != 0 || !rq[0].held || !gs_client_cancel(c, &rq[0], &other) ||
        rq[0].open || other.resource != GPU0)
        _exit(39);
    gs_client_release(c, &other);
    memset(g, 1, sizeof g); /* all of a grant is set, whatever it was before */
    for (int i = 0; i < 2; i++)
        if (gs_client_try(c, GPU0, GS_LENGTH_UNKNOWN, &g[i]) != 0 || g[i].asked || g[i].alone)
            _exit(36);
    if (gs_client_try(c, GPU0, GS_LENGTH_UNKNOWN, &g[2]) != -EAGAIN) /* the depth */
        _exit(37);
    gs_client_release(c, &g[0]);
    gs_client_release(c, &g[1]);
    gs_client_release(c, &g[1]); /* once more than it has: nothing */
    gs_client_close(c);
}

static void take(struct gs_client *c, enum gs_length length, struct gs_grant *g)
{
    if (gs_client_try(c, GPU0, length, g) != 0)
        _exit(40);
}

static bool is_refused(struct gs_client *c, enum gs_length length)
{
    struct gs_grant g;
    return gs_client_try(c, GPU0, length, &g) == -EAGAIN;
}

/* Pieces keep no unit from what comes behind them, and are as many as units at most. */
static void pieces_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant first, unit[2], piece[3];
    gs_client_acquire(c, GPU0, 0, &first);
    gs_client_release(c, &first);
    rest_ms(150); /* nobody has wanted the resource for a while */
    for (int i = 0; i < 2; i++)
        take(c, GS_LENGTH_PIECE, &piece[i]);
    take(c, GS_LENGTH_UNIT, &unit[0]);
    take(c, GS_LENGTH_UNKNOWN, &unit[1]);
    if (!is_refused(c, GS_LENGTH_PIECE) || !is_refused(c, GS_LENGTH_UNIT) || !is_refused(c, GS_LENGTH_UNKNOWN))
        _exit(41);
    gs_client_release(c, &piece[0]);
    gs_client_release(c, &piece[1]);
    if (!is_refused(c, GS_LENGTH_UNIT)) /* a piece's place isn't one for a unit */
        _exit(42);
    take(c, GS_LENGTH_PIECE, &piece[0]);
    gs_client_close(c);
}

static void test_pieces(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    assert_int_equal(end_process(play(pieces_role, 0), 0), 0);
}

static struct gs_client *wide_client(void)
{
    struct gs_client *c;
    const struct gs_client_options o = {.gpus = 2, .hello_wait_ms = 2000, .wide = true};
    struct gs_client_mode mode;
    if (gs_client_open(&c, &o) < 0)
        _exit(43);
    gs_client_mode(c, &mode);
    if (!mode.scheduled)
        _exit(44);
    return c;
}

/* Alone it has many units out, but for those that may be long; and no more once somebody else is connected. */
static void wide_role(unsigned self)
{
    enum { MANY = 32 };
    struct gs_client *c = wide_client();
    struct gs_grant g[MANY], unknown[2];
    gs_client_acquire(c, GPU0, 0, &g[0]);
    gs_client_release(c, &g[0]);
    if (!gs_client_is_sole(c))
        _exit(45);
    for (int i = 0; i < 2; i++)
        take(c, GS_LENGTH_UNKNOWN, &unknown[i]);
    if (!is_refused(c, GS_LENGTH_UNKNOWN))
        _exit(46);
    for (int i = 2; i < MANY; i++)
        take(c, GS_LENGTH_UNIT, &g[i]);
    if (!is_refused(c, GS_LENGTH_UNIT))
        _exit(47);
    for (int i = 4; i < MANY; i++)
        gs_client_release(c, &g[i]);
    atomic_store(&stage->said[self], 1);
    while (!atomic_load(&stage->flag[self]))
        rest_ms(1);
    if (gs_client_is_sole(c) || !is_refused(c, GS_LENGTH_UNIT))
        _exit(48);
    for (int i = 2; i < 4; i++)
        gs_client_release(c, &g[i]);
    for (int i = 0; i < 2; i++)
        gs_client_release(c, &unknown[i]);
    take(c, GS_LENGTH_UNIT, &g[0]);
    take(c, GS_LENGTH_UNIT, &g[1]);
    if (!is_refused(c, GS_LENGTH_UNIT))
        _exit(49);
    atomic_store(&stage->said[self], 2);
    while (atomic_load(&stage->flag[self]) != 2)
        rest_ms(1);
    for (int i = 0; i < 2000 && !gs_client_is_sole(c); i++)
        rest_ms(1);
    _exit(gs_client_is_sole(c) ? 0 : 50);
}

static void present_role(unsigned self)
{
    joined_client(NULL);
    atomic_store(&stage->said[self], 1);
    pause();
}

static void test_wide(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    pid_t p = play(wide_role, 0);
    assert_true(until(&stage->said[0], 1));
    pid_t other = play(present_role, 1);
    assert_true(until(&stage->said[1], 1));
    atomic_store(&stage->flag[0], 1);
    assert_true(until(&stage->said[0], 2));
    end_process(other, SIGKILL);
    atomic_store(&stage->flag[0], 2);
    assert_int_equal(end_process(p, 0), 0);
}

static void narrow_role(unsigned self)
{
    _exit(gs_client_is_sole(wide_client()) ? 51 : 0);
}

static void test_alone_in_chunks(void **state)
{
    start_daemon(PLAIN "alone = chunks\n", NULL, NULL);
    assert_int_equal(end_process(play(narrow_role, 0), 0), 0);
}

static void hold_both_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g[2];
    for (unsigned i = 0; i < 2; i++)
        gs_client_acquire(c, GS_RESOURCE_GPU(i), 0, &g[i]);
    atomic_store(&stage->said[self], 1);
    while (!atomic_load(&stage->flag[self]))
        rest_ms(1);
    gs_client_release(c, &g[0]);
    gs_client_release(c, &g[1]);
    atomic_store(&stage->said[self], 2);
    pause();
}

static void test_requests(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    play(hold_both_role, 0);
    assert_true(until(&stage->said[0], 1));
    pid_t p = play(requests_role, 1);
    assert_true(until(&stage->said[1], 1));
    atomic_store(&stage->flag[0], 1);
    assert_int_equal(end_process(p, 0), 0);
}

/* Whoever has units out can tell whether somebody else waits for them, and only then. */
static void wanted_role(unsigned self)
{
    struct gs_client *holder = joined_client(NULL), *other = joined_client(NULL);
    struct gs_request rq;
    struct gs_grant g, later;
    if (gs_client_wanted(holder) || gs_client_acquire(holder, GPU0, 0, &g) != 0 || gs_client_wanted(holder))
        _exit(30);
    if (gs_client_request(other, GPU0, 0, &rq) != 0)
        _exit(31);
    for (int i = 0; i < 2000 && !gs_client_wanted(holder); i++)
        rest_ms(1);
    if (!gs_client_wanted(holder) || gs_client_wanted(other))
        _exit(32);
    gs_client_release(holder, &g);
    if (gs_client_wanted(holder) || gs_client_wait(other, &rq, 2000 * MS, &later) != 0 || gs_client_wanted(other))
        _exit(33);
    gs_client_release(other, &later);
    atomic_store(&stage->said[self], 1);
}

static void test_wanted(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    assert_int_equal(end_process(play(wanted_role, 0), 0), 0);
    assert_int_equal(atomic_load(&stage->said[0]), 1);
}

/* An application that closes every descriptor it didn't open, and opens its own in their place, comes back by itself,
 * and not a byte of ours ends up in its files. */
static void close_all_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g;
    gs_client_acquire(c, GPU0, 0, &g);
    closefrom(3);
    for (int i = 0; i < 100; i++) {
        gs_client_release(c, &g);
        gs_client_acquire(c, i % 2 ? GPU0 : GS_RESOURCE_PCI, 0, &g);
    }
    rest_ms(100); /* it has come back, with new descriptors */
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0)
        _exit(40);
    for (int fd = 299; fd > 2; fd--)
        if (fd != pair[0] && fd != pair[1])
            dup2(pair[0], fd);
    for (int i = 0; i < 1000; i++) {
        gs_client_release(c, &g);
        gs_client_acquire(c, i % 2 ? GPU0 : GS_RESOURCE_PCI, 0, &g);
        if (i % 100 == 0)
            usleep(1000);
    }
    char byte;
    if (recv(pair[1], &byte, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN)
        _exit(41);
    atomic_store(&stage->said[self], 1);
    pause();
}

static void test_application_closes_our_descriptors(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    play(close_all_role, 0);
    assert_true(until(&stage->said[0], 1));
}

/* An application that closes the connection alone: the listener, which still waits there, is woken. */
static void close_connection_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g;
    struct sockaddr_un peer;
    socklen_t n = sizeof peer;
    for (int fd = 3; fd < 1024; fd++, n = sizeof peer)
        if (getpeername(fd, (struct sockaddr *)&peer, &n) == 0 && peer.sun_family == AF_UNIX && n > sizeof(sa_family_t))
            close(fd);
    gs_client_acquire(c, GPU0, 0, &g);
    gs_client_release(c, &g);
    while (!gs_client_scheduled(c))
        rest_ms(1);
    atomic_store(&stage->said[self], 1);
    pause();
}

static void test_application_closes_our_connection(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    play(close_connection_role, 0);
    assert_true(until(&stage->said[0], 1));
}

/* ---- jobs ---- */

enum { MANY_JOBS = 5000 };

static void short_jobs_role(unsigned self)
{
    struct gs_client *c = joined_client("high");
    struct gs_client_mode mode;
    for (uint64_t i = 1; i <= 2; i++) { /* seen when somebody asks, though nothing more is called */
        gs_client_job_begin(c, 0, &mode);
        gs_client_job_end(c, 0);
        atomic_store(&stage->said[self], i);
        until(&stage->said[self + 1], i);
    }
    for (unsigned i = 0; i < MANY_JOBS; i++) {
        const uint64_t to = clock_ns() + 100000;
        gs_client_job_begin(c, 0, &mode);
        while (clock_ns() < to)
            ;
        gs_client_job_end(c, 0);
    }
    atomic_store(&stage->said[self], 3);
    pause();
}

static void assert_jobs(unsigned n)
{
    rest_ms(50);
    for (int i = 0; i < 100 && status_number("tasks.0.jobs") != n; i++)
        rest_ms(20);
    assert_int_equal(status_number("tasks.0.jobs"), n);
}

/* A message each would wake the daemon as often. */
static void test_short_jobs_cost_no_message(void **state)
{
    const uint64_t began = clock_ns();
    const pid_t d = start_daemon(PLAIN "[task high]\nperiod = 20ms\n", NULL, NULL);
    play(short_jobs_role, 0);
    for (uint64_t i = 1; i <= 2; i++) {
        assert_true(until(&stage->said[0], i));
        assert_jobs((unsigned)i);
        atomic_store(&stage->said[1], i);
    }
    assert_true(until(&stage->said[0], 3));
    assert_jobs(2 + MANY_JOBS);
    assert_in_range(status_number("tasks.0.response.count"), 2 + MANY_JOBS, 2 + MANY_JOBS);
    /* One in 20 ms may be told, however long the jobs take on a busy machine. */
    assert_in_range(context_switches(d), 1, MANY_JOBS / 10 + 2 * (clock_ns() - began) / (20 * MS));
}

int main(void)
{
    stage_open();
    cmocka_set_test_filter(getenv("GS_TEST")); /* one test alone, by its name */
    const struct CMUnitTest tests[] = {
        ON_STAGE(test_idle_does_not_wake_up),
        ON_STAGE(test_uncontended_sends_nothing),
        ON_STAGE(test_threads),
        ON_STAGE(test_requests),
        ON_STAGE(test_pieces),
        ON_STAGE(test_wide),
        ON_STAGE(test_alone_in_chunks),
        ON_STAGE(test_wanted),
        ON_STAGE(test_application_closes_our_descriptors),
        ON_STAGE(test_application_closes_our_connection),
        ON_STAGE(test_short_jobs_cost_no_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
