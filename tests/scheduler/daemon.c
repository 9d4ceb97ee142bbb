/* SPDX-License-Identifier: MIT */
/* The real daemon with real processes: what it promises while nothing goes wrong, and to those who mean it ill. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/scheduler/players.h"

#define PLAIN "[system]\ngpus = 2\nrealtime = no\n"

static int set_up(void **state)
{
    (void)state;
    stage_reset();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    end_players();
    unlink(stage_path("log"));
    unlink(stage_path("trace"));
    return 0;
}

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
    (void)state;
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
    (void)state;
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
    (void)state;
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
    gs_client_cancel(c, &rq[1]);
    if (rq[1].open || gs_client_try(c, GPU0, GS_LENGTH_UNKNOWN, &other) != -EAGAIN)
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
    gs_client_cancel(c, &rq[0]);
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
    (void)self;
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
    (void)state;
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
    (void)state;
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
    (void)self;
    _exit(gs_client_is_sole(wide_client()) ? 51 : 0);
}

static void test_alone_in_chunks(void **state)
{
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
    start_daemon(PLAIN, NULL, NULL);
    play(close_all_role, 0);
    assert_true(until(&stage->said[0], 1));
}

/* ---- tasks ---- */

static void low_role(unsigned self)
{
    struct gs_client *c = joined_client("low");
    struct gs_request rq[2];
    struct gs_grant g[2];
    gs_client_request(c, GPU0, 2 * MS, &rq[0]);
    for (unsigned i = 0;; i ^= 1) { /* one runs, the next one is queued: the device is never idle */
        gs_client_wait(c, &rq[i], UINT64_MAX, &g[i]);
        gs_client_request(c, GPU0, 2 * MS, &rq[i ^ 1]);
        rest_ms(2);
        atomic_fetch_add(&stage->said[self], 1);
        gs_client_release(c, &g[i]);
    }
}

static void high_role(unsigned self)
{
    struct gs_client *c = joined_client("high");
    uint64_t longest = 0, more = 0; /* how often it waited for more than two chunks */
    for (int i = 0; i < 100; i++) {
        struct gs_client_mode mode;
        struct gs_grant g;
        gs_client_job_begin(c, 0, &mode);
        uint64_t from = clock_ns(), chunks = atomic_load(&stage->said[0]) + atomic_load(&stage->said[3]);
        gs_client_acquire(c, GPU0, 0, &g);
        uint64_t waited = clock_ns() - from;
        chunks = atomic_load(&stage->said[0]) + atomic_load(&stage->said[3]) - chunks;
        longest = waited > longest ? waited : longest;
        more += chunks > 2;
        rest_ms(1);
        gs_client_release(c, &g);
        gs_client_job_end(c, 0);
        rest_ms(3);
    }
    atomic_store(&stage->said[self + 1], longest);
    atomic_store(&stage->said[self + 3], more);
    atomic_store(&stage->said[self], 1);
    pause();
}

enum { MANY_JOBS = 5000 };

static void short_jobs_role(unsigned self)
{
    struct gs_client *c = joined_client("high");
    struct gs_client_mode mode;
    for (uint64_t i = 1; i <= 2; i++) { /* seen when somebody asks, though nothing more is called */
        gs_client_job_begin(c, 0, &mode);
        gs_client_job_end_untold(c, 0);
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
    gs_client_job_begin(c, 0, &mode);
    for (unsigned i = 0; i < MANY_JOBS; i++) { /* the same in one step, as long as nothing changes */
        const uint64_t to = clock_ns() + 100000;
        while (clock_ns() < to)
            ;
        if (!gs_client_job_next(c, clock_ns(), mode.version))
            return;
        gs_client_job_tell(c);
    }
    atomic_store(&stage->said[self], 3);
    until(&stage->said[self + 1], 3);
    for (uint64_t i = 4; i <= 6; i++) { /* each time something has */
        if (gs_client_job_next(c, clock_ns(), mode.version))
            return;
        gs_client_mode(c, &mode);
        if (gs_client_job_next(c, clock_ns(), mode.version) != mode.scheduled)
            return;
        atomic_store(&stage->said[self], i);
        until(&stage->said[self + 1], i);
    }
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
    (void)state;
    const uint64_t began = clock_ns();
    const pid_t d = start_daemon(PLAIN "[task high]\nperiod = 20ms\n", NULL, NULL);
    play(short_jobs_role, 0);
    for (uint64_t i = 1; i <= 2; i++) {
        assert_true(until(&stage->said[0], i));
        assert_jobs((unsigned)i);
        atomic_store(&stage->said[1], i);
    }
    assert_true(until(&stage->said[0], 3));
    assert_jobs(2 + 2 * MANY_JOBS);
    assert_in_range(status_number("tasks.0.response.count"), 2 + 2 * MANY_JOBS, 2 + 2 * MANY_JOBS);
    /* One in 20 ms may be told, however long the jobs take on a busy machine. */
    assert_in_range(context_switches(d), 1, MANY_JOBS / 10 + 2 * (clock_ns() - began) / (20 * MS));
    /* What would be decided otherwise for the next job: the chunks, the task's period, whether there is a daemon. */
    write_config(PLAIN "transfer_chunk = 3MiB\n[task high]\nperiod = 20ms\n");
    kill(d, SIGHUP);
    rest_ms(300);
    atomic_store(&stage->said[1], 3);
    assert_true(until(&stage->said[0], 4));
    write_config(PLAIN "transfer_chunk = 3MiB\n[task high]\nperiod = 30ms\n");
    kill(d, SIGHUP);
    rest_ms(300);
    atomic_store(&stage->said[1], 4);
    assert_true(until(&stage->said[0], 5));
    kill(d, SIGKILL);
    rest_ms(300);
    atomic_store(&stage->said[1], 5);
    assert_true(until(&stage->said[0], 6));
}

static void test_urgent_waits_for_two_chunks(void **state)
{
    (void)state;
    start_daemon(PLAIN "[task low]\nperiod = 900ms\n[task high]\nperiod = 20ms\n", NULL, NULL);
    play(low_role, 0);
    play(low_role, 3); /* a second process of the same task */
    assert_true(until(&stage->said[0], 2));
    play(high_role, 1);
    assert_true(until(&stage->said[1], 1));
    print_message("the longest wait was %.2f ms, behind chunks of 2 ms\n", (double)atomic_load(&stage->said[2]) / 1e6);
    /* Counted, not timed, for the tests' machine has other things to do too: what ran, and what stood behind it. The
     * count begins before the daemon hears of the request, so that chunks may end in between. */
    assert_in_range(atomic_load(&stage->said[4]), 0, 49);
    assert_int_equal(status_number("tasks.1.jobs"), 100);
    assert_int_equal(status_number("tasks.1.response.count"), 100);
    uint64_t before = atomic_load(&stage->said[0]);
    assert_true(until(&stage->said[0], before + 5));
}

static void realtime_role(unsigned self)
{
    struct gs_client *c = joined_client("high");
    (void)c;
    atomic_store(&stage->said[self], 1 + (uint64_t)(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK));
    pause();
}

/* The daemon has a priority above the task's, or has said that it may have none. */
static void assert_realtime(pid_t d, pid_t p, uint64_t said)
{
    if (sched_getscheduler(d) != SCHED_FIFO) {
        assert_true(log_contains("SCHED_FIFO is not permitted")); /* said once, and all works */
        return;
    }
    assert_int_equal(said, 1 + SCHED_FIFO);
    struct sched_param daemon, task;
    sched_getparam(d, &daemon);
    sched_getparam(p, &task);
    assert_true(daemon.sched_priority > task.sched_priority);
}

static void test_realtime(void **state)
{
    (void)state;
    pid_t d = start_daemon("[system]\ngpus = 1\n[task low]\nperiod = 900ms\n[task high]\nperiod = 20ms\n", NULL, NULL);
    pid_t p = play(realtime_role, 0);
    assert_true(until(&stage->said[0], 1));
    assert_realtime(d, p, atomic_load(&stage->said[0]));
    /* A second process of the same task is before none of it. */
    pid_t second = play(realtime_role, 1);
    assert_true(until(&stage->said[1], 1));
    assert_realtime(d, second, atomic_load(&stage->said[1]));
    struct sched_param first = {0}, other = {0};
    sched_getparam(p, &first);
    sched_getparam(second, &other);
    assert_int_equal(first.sched_priority, sched_getscheduler(d) == SCHED_FIFO ? other.sched_priority + 1 : 0);
    /* Nobody is before all others where nobody schedules. */
    assert_int_equal(end_process(d, SIGTERM), 0);
    assert_int_equal(sched_getscheduler(p), SCHED_OTHER);
}

/* A task that leaves the daemon, and goes on. */
static void leaver_role(unsigned self)
{
    struct gs_client *c = joined_client("high");
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        atomic_store(&stage->said[self + 1], 1 + (uint64_t)sched_getscheduler(0));
        pause();
    }
    atomic_store(&stage->said[self], 1 + (uint64_t)(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK));
    while (!atomic_load(&stage->flag[self]))
        rest_ms(1);
    gs_client_close(c);
    /* The daemon takes it back when it hears of that. */
    for (int i = 0; i < 2000 && sched_getscheduler(0) != SCHED_OTHER; i++)
        rest_ms(1);
    atomic_store(&stage->said[self + 2], 1 + (uint64_t)sched_getscheduler(0));
    pause();
}

static void test_realtime_ends_with_the_task(void **state)
{
    (void)state;
    pid_t d = start_daemon("[system]\ngpus = 1\n[task high]\nperiod = 20ms\n", NULL, NULL);
    play(leaver_role, 0);
    assert_true(until(&stage->said[0], 1));
    assert_true(until(&stage->said[1], 1));
    if (sched_getscheduler(d) != SCHED_FIFO)
        skip();
    assert_int_equal(atomic_load(&stage->said[0]), 1 + SCHED_FIFO);
    assert_int_equal(atomic_load(&stage->said[1]), 1 + SCHED_OTHER); /* a forked child has none of it */
    atomic_store(&stage->flag[0], 1);
    assert_true(until(&stage->said[2], 1));
    assert_int_equal(atomic_load(&stage->said[2]), 1 + SCHED_OTHER);
}

/* A daemon that has begun without tasks. */
static void test_realtime_after_reload(void **state)
{
    (void)state;
    char *text;
    pid_t d = start_daemon("[system]\ngpus = 1\n", NULL, NULL);
    write_config("[system]\ngpus = 1\n[task high]\nperiod = 20ms\n");
    assert_int_equal(gs_client_ask(NULL, GS_MSG_RELOAD, NULL, 2000, &text), 0);
    free(text);
    pid_t p = play(realtime_role, 0);
    assert_true(until(&stage->said[0], 1));
    assert_realtime(d, p, atomic_load(&stage->said[0]));
}

/* ---- those who mean it ill ---- */

static int raw_connection(void)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    snprintf(addr.sun_path, sizeof addr.sun_path, "%s", getenv("GPUSPARC_SOCKET"));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&addr, sizeof addr) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Ten thousand connections, a thousand of them at a time, some silent, some with noise. */
static void crowd_role(unsigned self)
{
    struct rlimit r = {4096, 4096};
    setrlimit(RLIMIT_NOFILE, &r);
    int fd[1000];
    unsigned x = 1;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 1000; i++) {
            fd[i] = raw_connection();
            char noise[300];
            for (size_t k = 0; k < sizeof noise; k++)
                noise[k] = (char)(x = x * 1103515245 + 12345);
            if (fd[i] >= 0 && i % 3)
                send(fd[i], noise, i % 2 ? 256 : x % 300, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        for (int i = 0; i < 1000; i++)
            close(fd[i]);
        atomic_fetch_add(&stage->said[self], 1);
    }
    atomic_store(&stage->flag[self], 1);
    pause();
}

/* A client that has joined, and sends as fast as it can what it may send. */
static void flood_role(unsigned self)
{
    joined_client(NULL);
    int fd = raw_connection();
    struct gs_msg m = {.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = GS_MSG_HELLO, .u.hello.gpus = 1};
    send(fd, &m, sizeof m, MSG_NOSIGNAL);
    m.type = GS_MSG_PING;
    for (;;) {
        if (send(fd, &m, sizeof m, MSG_NOSIGNAL) < 0)
            usleep(10);
        atomic_fetch_add(&stage->said[self], 1);
    }
}

static void busy_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    for (;;) {
        struct gs_grant g;
        gs_client_acquire(c, GPU0, 0, &g);
        if (!g.client)
            _exit(50); /* it lost its daemon */
        usleep(200);
        gs_client_release(c, &g);
        atomic_fetch_add(&stage->said[self], 1);
    }
}

static unsigned open_descriptors(pid_t pid)
{
    char path[64];
    unsigned n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static long resident_kib(pid_t pid)
{
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%*s %ld", &pages) != 1)
        pages = -1;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void test_crowd(void **state)
{
    (void)state;
    pid_t d = start_daemon(PLAIN, NULL, NULL);
    pid_t a = play(busy_role, 0);
    play(busy_role, 1);
    assert_true(until(&stage->said[0], 10));
    assert_true(until(&stage->said[1], 10));
    unsigned before = open_descriptors(d);
    pid_t crowd = play(crowd_role, 2);
    for (uint64_t round = 1; round <= 10; round++) {
        uint64_t at = atomic_load(&stage->said[0]);
        assert_true(until(&stage->said[2], round));
        assert_true(until(&stage->said[0], at + 10)); /* the others go on */
    }
    end_process(crowd, SIGKILL);
    assert_true(until_status("daemon.clients", 2));
    for (int i = 0; i < 6000 && open_descriptors(d) != before; i++) /* those that say no hello have two seconds */
        rest_ms(10);
    assert_int_equal(open_descriptors(d), before);
    assert_true(resident_kib(d) < 64 * 1024);
    assert_int_equal(kill(a, 0), 0);
}

static void test_flood(void **state)
{
    (void)state;
    start_daemon(PLAIN, NULL, NULL);
    play(busy_role, 0);
    play(busy_role, 1);
    assert_true(until(&stage->said[0], 10));
    play(flood_role, 2);
    assert_true(until(&stage->said[2], 1000));
    for (unsigned i = 0; i < 2; i++) {
        uint64_t at = atomic_load(&stage->said[i]);
        assert_true(until(&stage->said[i], at + 20));
    }
}

static void other_user_role(unsigned self)
{
    if (setgid(1001) < 0 || setuid(1001) < 0)
        _exit(60);
    struct gs_client *c;
    const struct gs_client_options o = {.task = "mine", .gpus = 1, .hello_wait_ms = 2000};
    struct gs_client_mode mode;
    if (gs_client_open(&c, &o) < 0)
        _exit(61);
    gs_client_mode(c, &mode);
    /* Refused as a task, it is scheduled below all tasks, and knows it. */
    if (!mode.scheduled || mode.refused != GS_REFUSED_TASK || mode.task[0] || mode.priority != 0)
        _exit(62);
    char *text;
    if (gs_client_ask(NULL, GS_MSG_RELOAD, NULL, 2000, &text) != -EPERM)
        _exit(63);
    atomic_store(&stage->said[self], 1);
}

static void test_other_user(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    start_daemon(PLAIN "[task mine]\nperiod = 10ms\n", "--mode", "666");
    chmod(stage_path(""), 0755);
    pid_t p = play(other_user_role, 0);
    assert_int_equal(end_process(p, 0), 0);
    /* By the file's mode, others don't even get in. */
    chmod(stage_path("sock"), 0600);
    p = play(other_user_role, 0);
    assert_int_equal(end_process(p, 0), 62);
}

/* ---- the trace ---- */

static void test_trace(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s", stage_path("trace"));
    pid_t d =
        start_daemon(PLAIN "[task low]\nperiod = 900ms\n[task high]\nperiod = 20ms\ndeadline = 1ms\n", "--trace", path);
    play(low_role, 0);
    play(high_role, 1);
    assert_true(until(&stage->said[1], 1));
    end_process(d, SIGTERM);
    json_t *events = json_load_file(path, 0, NULL), *e;
    assert_true(json_is_array(events));
    size_t i;
    unsigned units = 0, arrows = 0, heads = 0, jobs = 0, missed = 0;
    json_array_foreach(events, i, e)
    {
        const char *ph = json_string_value(json_object_get(e, "ph")),
                   *name = json_string_value(json_object_get(e, "name"));
        long long pid = json_integer_value(json_object_get(e, "pid"));
        units += ph[0] == 'X' && pid == 1;
        arrows += ph[0] == 's';
        heads += ph[0] == 'f';
        jobs += ph[0] == 'b';
        missed += strcmp(name, "deadline missed") == 0;
    }
    json_decref(events);
    assert_int_equal(jobs, 100);
    assert_int_equal(missed, 100); /* a job of 1 ms of device time has a deadline of 1 ms */
    assert_true(units > 150);
    assert_true(arrows > 100);
    assert_true(heads + 2 >= arrows && heads <= arrows); /* those under way at the end have none */
}

/* What the daemon tells systemd next; "" if it tells nothing for two seconds. */
static const char *told(int fd)
{
    static char text[256];
    struct timeval patience = {.tv_sec = 2};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t n = recv(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* As a unit of Type=notify: ready once it listens, reloading and ready again, stopping. */
static void test_systemd(void **state)
{
    (void)state;
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(addr.sun_path, sizeof addr.sun_path, "%s", stage_path("notify"));
    unlink(addr.sun_path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    setenv("NOTIFY_SOCKET", addr.sun_path, 1);
    pid_t daemon = start_daemon(PLAIN, NULL, NULL);
    unsetenv("NOTIFY_SOCKET");
    assert_true(daemon > 0);
    assert_string_equal(told(fd), "READY=1");
    kill(daemon, SIGHUP);
    uint64_t before = clock_ns() / 1000, said;
    assert_int_equal(sscanf(told(fd), "RELOADING=1\nMONOTONIC_USEC=%" SCNu64, &said), 1);
    assert_true(said + 1000000 > before && said <= clock_ns() / 1000);
    assert_string_equal(told(fd), "READY=1");
    assert_int_equal(end_process(daemon, SIGTERM), 0);
    assert_string_equal(told(fd), "STOPPING=1");
    assert_true(recv(fd, &said, sizeof said, MSG_DONTWAIT) < 0); /* and no more */
    close(fd);
    unlink(addr.sun_path);
}

int main(void)
{
    stage_open();
    cmocka_set_test_filter(getenv("GS_TEST")); /* one test alone, by its name */
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_idle_does_not_wake_up),
        CASE(test_uncontended_sends_nothing),
        CASE(test_threads),
        CASE(test_requests),
        CASE(test_pieces),
        CASE(test_wide),
        CASE(test_alone_in_chunks),
        CASE(test_wanted),
        CASE(test_application_closes_our_descriptors),
        CASE(test_urgent_waits_for_two_chunks),
        CASE(test_short_jobs_cost_no_message),
        CASE(test_realtime),
        CASE(test_realtime_ends_with_the_task),
        CASE(test_realtime_after_reload),
        CASE(test_crowd),
        CASE(test_flood),
        CASE(test_other_user),
        CASE(test_trace),
        CASE(test_systemd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
