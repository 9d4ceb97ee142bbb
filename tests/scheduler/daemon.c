/* SPDX-License-Identifier: MIT */
/* The real daemon with real processes: what it promises tasks, what those do who mean it ill, and what it writes. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/suite.h"
#include "tests/scheduler/players.h"

#define PLAIN "[system]\ngpus = 2\nrealtime = no\n"

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

static void test_urgent_waits_for_two_chunks(void **state)
{
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
    joined_client("high");
    /* On a busy machine it is welcome before it has it. */
    for (int i = 0; i < 2000 && sched_getscheduler(0) == SCHED_OTHER; i++)
        rest_ms(1);
    atomic_store(&stage->said[self], 1 + (uint64_t)(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK));
    pause();
}

/* The daemon has a priority above the task's, or has said that it may have none. */
static void assert_realtime(pid_t d, pid_t p, uint64_t said)
{
    if (sched_getscheduler(d) != SCHED_FIFO) {
        assert_true(log_says("SCHED_FIFO is not permitted (%s): tasks compete with all processes for the CPUs; run the "
                             "daemon as root or with CAP_SYS_NICE, or set `realtime = no`"));
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
    for (int i = 0; i < 2000 && sched_getscheduler(0) == SCHED_OTHER; i++)
        rest_ms(1);
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
    pid_t d = start_daemon("[system]\ngpus = 1\n[task high]\nperiod = 20ms\n", NULL, NULL);
    play(leaver_role, 0);
    assert_true(until(&stage->said[0], 1));
    assert_true(until(&stage->said[1], 1));
    if (sched_getscheduler(d) != SCHED_FIFO)
        LEFT_OUT("the daemon may not have real-time priority");
    assert_int_equal(atomic_load(&stage->said[0]), 1 + SCHED_FIFO);
    assert_int_equal(atomic_load(&stage->said[1]), 1 + SCHED_OTHER); /* a forked child has none of it */
    atomic_store(&stage->flag[0], 1);
    assert_true(until(&stage->said[2], 1));
    assert_int_equal(atomic_load(&stage->said[2]), 1 + SCHED_OTHER);
}

/* A daemon that has begun without tasks. */
static void test_realtime_after_reload(void **state)
{
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

/* Ten thousand connections, a thousand of them at a time, some silent, some with noise. */
static void crowd_role(unsigned self)
{
    struct rlimit r = {4096, 4096};
    setrlimit(RLIMIT_NOFILE, &r);
    int fd[1000];
    unsigned x = 1;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 1000; i++) {
            fd[i] = raw_connection(SOCK_NONBLOCK);
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
    int fd = raw_connection(SOCK_NONBLOCK);
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
    pid_t d = start_daemon(PLAIN, NULL, NULL);
    pid_t a = play(busy_role, 0);
    play(busy_role, 1);
    assert_true(until(&stage->said[0], 10));
    assert_true(until(&stage->said[1], 10));
    for (int i = 0; i < 16; i++) /* so many states stay open */
        status_number("daemon.clients");
    unsigned before = open_descriptors(d);
    pid_t crowd = play(crowd_role, 2);
    for (uint64_t round = 1; round <= 10; round++) {
        uint64_t at = atomic_load(&stage->said[0]);
        assert_true(until(&stage->said[2], round));
        assert_true(until(&stage->said[0], at + 10)); /* the others go on */
    }
    end_process(crowd, SIGKILL);
    assert_true(until_status("daemon.clients", 2));
    /* Those that say no hello have two seconds. Fewer than before is right too: the daemon may not have closed the
       connection of the last question when they were counted. */
    unsigned after = open_descriptors(d);
    for (int i = 0; i < 6000 && after > before; i++) {
        rest_ms(10);
        after = open_descriptors(d);
    }
    assert_true(after <= before); /* not counted again: some of the crowd may stand in the kernel's line still */
    assert_true(resident_kib(d) < 64 * 1024);
    assert_int_equal(kill(a, 0), 0);
}

static void test_flood(void **state)
{
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
    if (geteuid() != 0)
        LEFT_OUT("only root can be another user");
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

static void leaving_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g[2];
    gs_client_acquire(c, GPU0, 0, &g[0]);
    gs_client_release(c, &g[0]);
    rest_ms(1);
    gs_client_acquire(c, GPU0, 0, &g[0]);
    gs_client_acquire(c, GPU0, 0, &g[1]);
    rest_ms(2);
    atomic_store(&stage->said[self], 1);
    pause();
}

/* A process ends with two units of a GPU out: they are in the trace as one, behind the one that it has given back. */
static void test_trace_of_who_leaves(void **state)
{
    char path[200];
    snprintf(path, sizeof path, "%s", stage_path("trace"));
    pid_t d = start_daemon(PLAIN, "--trace", path);
    pid_t app = play(leaving_role, 0);
    assert_true(until(&stage->said[0], 1));
    end_process(app, SIGKILL);
    end_process(d, SIGTERM);
    json_t *events = json_load_file(path, 0, NULL), *e;
    assert_true(json_is_array(events));
    size_t i;
    unsigned units = 0;
    double end = 0;
    json_array_foreach(events, i, e)
    {
        if (json_string_value(json_object_get(e, "ph"))[0] != 'X' || json_integer_value(json_object_get(e, "pid")) != 1)
            continue;
        const double begin = json_number_value(json_object_get(e, "ts")),
                     took = json_number_value(json_object_get(e, "dur"));
        assert_true(begin >= end);
        assert_true(!units || took >= 2000);
        end = begin + took;
        units++;
    }
    json_decref(events);
    assert_int_equal(units, 2);
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
    const struct CMUnitTest tests[] = {
        ON_STAGE(test_urgent_waits_for_two_chunks),
        ON_STAGE(test_realtime),
        ON_STAGE(test_realtime_ends_with_the_task),
        ON_STAGE(test_realtime_after_reload),
        ON_STAGE(test_crowd),
        ON_STAGE(test_flood),
        ON_STAGE(test_other_user),
        ON_STAGE(test_trace),
        ON_STAGE(test_trace_of_who_leaves),
        ON_STAGE(test_systemd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
