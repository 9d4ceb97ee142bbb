/* SPDX-License-Identifier: MIT */
/* Death and standstill, with real processes: nobody waits for the dead. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/suite.h"
#include "tests/scheduler/players.h"

/* The watchdog doesn't help where a death isn't noticed: then a test hangs. */
#define PLAIN "[system]\ngpus = 2\nrealtime = no\nwatchdog = 1000s\n"
#define WATCHED "[system]\ngpus = 2\nrealtime = no\nwatchdog = 50ms\n"

enum { LEFT = 50, LISTENER }; /* said when a child that is left may end; by a client's listener */

/* From now on nothing is taken back any more. */
static void call_watchdog_off(pid_t daemon)
{
    write_config(PLAIN);
    kill(daemon, SIGHUP);
    assert_true(until_status("daemon.reloads", 1));
}

/* ---- roles ---- */

/* Takes GPU 0 once told to, says 1, holds it until told 2, says 2. */
static void hold_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g;
    while (!atomic_load(&stage->flag[self]))
        rest_ms(1);
    gs_client_acquire(c, GPU0, 0, &g);
    atomic_store(&stage->said[self], 1);
    while (atomic_load(&stage->flag[self]) < 2)
        rest_ms(1);
    gs_client_release(c, &g);
    atomic_store(&stage->said[self], 2);
    gs_client_acquire(c, GPU0, 0, &g);
    atomic_store(&stage->said[self], 3);
    gs_client_release(c, &g);
    pause();
}

static pid_t holder(unsigned self)
{
    pid_t pid = play(hold_role, self);
    atomic_store(&stage->flag[self], 1);
    assert_true(until(&stage->said[self], 1));
    return pid;
}

/* Starts a player that asks and has to wait. */
static pid_t waiter(unsigned self, unsigned waiting_before)
{
    pid_t pid = play(hold_role, self);
    atomic_store(&stage->flag[self], 1);
    assert_true(until_status("resources.1.waiting", waiting_before + 1));
    return pid;
}

/* Uses GPU 0 again and again, counts, and watches that nobody else is inside while a daemon schedules. */
static void busy_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    for (;;) {
        struct gs_grant g;
        gs_client_acquire(c, GPU0, 100000, &g);
        if (g.client) {
            int in = atomic_fetch_add(&stage->inside, 1) + 1;
            if (in > atomic_load(&stage->most_inside))
                atomic_store(&stage->most_inside, in);
        }
        usleep(200);
        if (g.client)
            atomic_fetch_sub(&stage->inside, 1);
        gs_client_release(c, &g);
        atomic_fetch_add(&stage->said[self], 1);
    }
}

/* ---- clients that die ---- */

static void test_killed_while_holding(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    pid_t a = holder(0);
    waiter(1, 0);
    end_process(a, SIGKILL);
    assert_true(until(&stage->said[1], 1));
}

static void test_killed_while_waiting(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    holder(0);
    pid_t b = waiter(1, 0);
    waiter(2, 1);
    end_process(b, SIGKILL);
    atomic_store(&stage->flag[0], 2);
    assert_true(until(&stage->said[2], 1));
}

/* A child that lives on after fork, with a copy of every descriptor, keeps nothing for its dead parent. */
static void fork_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g;
    gs_client_acquire(c, GPU0, 0, &g);
    pid_t parent = getpid();
    if (fork() == 0) {
        /* In the child the client works alone, and does nothing in the parent's name. */
        struct gs_grant own;
        gs_client_release(c, &g);
        if (gs_client_acquire(c, GPU0, 0, &own) != 0 || own.client != 0)
            atomic_store(&stage->said[self + 1], 99);
        atomic_store(&stage->said[self + 1], getppid() == parent ? 1 : 98);
        (void)(until(&stage->said[LEFT], 1) || until(&stage->said[LEFT], 1)); /* longer than a test waits */
        _exit(0);
    }
    atomic_store(&stage->said[self], 1);
    pause();
}

static void test_killed_with_a_child_left(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    pid_t a = play(fork_role, 0);
    assert_true(until(&stage->said[0], 1));
    assert_true(until(&stage->said[1], 1));
    assert_int_equal(atomic_load(&stage->said[1]), 1);
    waiter(2, 0); /* the child's release has not let it in */
    end_process(a, SIGKILL);
    assert_true(until(&stage->said[2], 1));
    atomic_store(&stage->said[LEFT], 1);
}

/* Nor one that is made past the C library, so that nobody of ours could close its copies. */
static void silent_fork_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g;
    gs_client_acquire(c, GPU0, 0, &g);
    if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
        (void)(until(&stage->said[LEFT], 1) || until(&stage->said[LEFT], 1)); /* longer than a test waits */
        _exit(0);
    }
    atomic_store(&stage->said[self], 1);
    pause();
}

static void test_killed_with_a_silent_child_left(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    pid_t a = play(silent_fork_role, 0);
    assert_true(until(&stage->said[0], 1));
    waiter(1, 0);
    end_process(a, SIGKILL);
    assert_true(until(&stage->said[1], 1));
    atomic_store(&stage->said[LEFT], 1);
}

/* Holds GPU 0, then sends half a message on its own connection, and another on a fresh one, for ever. */
static void babble_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant g;
    gs_client_acquire(c, GPU0, 0, &g);
    atomic_store(&stage->said[self], 1);
    char half[100] = "half a message";
    for (;;) {
        int fd = raw_connection(0);
        if (fd < 0)
            _exit(13);
        for (int i = 0; i < 20; i++)
            if (send(fd, half, sizeof half, MSG_NOSIGNAL) < 0)
                break;
        close(fd);
        atomic_fetch_add(&stage->said[self], 1);
    }
}

static void test_killed_in_the_middle_of_a_message(void **state)
{
    start_daemon(PLAIN, NULL, NULL);
    pid_t a = play(babble_role, 0);
    assert_true(until(&stage->said[0], 5));
    waiter(1, 0);
    /* Of who has closed its connection by the time it is looked at nothing is read: it goes on until something is. */
    while (status_number("daemon.bad_messages") == 0)
        usleep(1000);
    end_process(a, SIGKILL);
    assert_true(until(&stage->said[1], 1));
}

/* ---- clients that stand still ---- */

static void test_stopped_with_a_grant(void **state)
{
    pid_t d = start_daemon(WATCHED, NULL, NULL), a = holder(0);
    kill(a, SIGSTOP);
    play(hold_role, 1);
    atomic_store(&stage->flag[1], 1);
    assert_true(until(&stage->said[1], 1));
    assert_int_equal(status_number("daemon.taken_back"), 1);
    assert_true(log_says("process %d of user %u (%s) kept %s for %s%s: it was taken back%s"));
    call_watchdog_off(d);
    /* It comes back to life: its late release changes nothing, and it is served like all others. */
    kill(a, SIGCONT);
    atomic_store(&stage->flag[0], 2);
    assert_true(until(&stage->said[0], 2));
    rest_ms(20);
    assert_int_equal(atomic_load(&stage->said[0]), 2); /* the other one still holds it */
    atomic_store(&stage->flag[1], 2);
    assert_true(until(&stage->said[0], 3));
}

/* Gives a unit back that was taken from it, when it has another one. */
static void late_role(unsigned self)
{
    struct gs_client *c = joined_client(NULL);
    struct gs_grant lost, held;
    gs_client_acquire(c, GPU0, 0, &lost);
    atomic_store(&stage->said[self], 1);
    while (!atomic_load(&stage->flag[self]))
        rest_ms(1);
    gs_client_acquire(c, GPU0, 0, &held);
    gs_client_release(c, &lost);
    atomic_store(&stage->said[self], 2);
    while (atomic_load(&stage->flag[self]) < 2)
        rest_ms(1);
    gs_client_release(c, &held);
    pause();
}

static void test_a_late_release_counts_for_nothing(void **state)
{
    pid_t d = start_daemon(WATCHED, NULL, NULL);
    play(late_role, 0);
    assert_true(until(&stage->said[0], 1));
    pid_t b = play(hold_role, 1);
    atomic_store(&stage->flag[1], 1);
    assert_true(until(&stage->said[1], 1)); /* taken back */
    call_watchdog_off(d);
    end_process(b, SIGKILL);
    atomic_store(&stage->flag[0], 1);
    assert_true(until(&stage->said[0], 2));
    waiter(2, 0);
    rest_ms(50);
    assert_int_equal(atomic_load(&stage->said[2]), 0); /* the other unit is still out */
    atomic_store(&stage->flag[0], 2);
    assert_true(until(&stage->said[2], 1));
}

/* ---- daemons that die ---- */

static void test_daemon_killed_under_ten(void **state)
{
    pid_t d = start_daemon(PLAIN, NULL, NULL);
    for (unsigned i = 0; i < 10; i++)
        play(busy_role, i);
    for (unsigned i = 0; i < 10; i++)
        assert_true(until(&stage->said[i], 5));
    for (int round = 0; round < 3; round++) {
        uint64_t before[10];
        end_process(d, SIGKILL);
        for (unsigned i = 0; i < 10; i++)
            before[i] = atomic_load(&stage->said[i]);
        uint64_t killed = clock_ns();
        for (unsigned i = 0; i < 10; i++)
            assert_true(until(&stage->said[i], before[i] + 2));
        print_message("all ten went on after %.1f ms\n", (double)(clock_ns() - killed) / 1e6);
        rest_ms(50);
        atomic_store(&stage->most_inside, 0);
        d = start_daemon(PLAIN, NULL, NULL);
        assert_true(until_status("clients", 10));
        rest_ms(50); /* those granted in the last moment before may still be inside */
        atomic_store(&stage->most_inside, atomic_load(&stage->inside));
        for (unsigned i = 0; i < 10; i++)
            assert_true(until(&stage->said[i], atomic_load(&stage->said[i]) + 5));
        assert_true(atomic_load(&stage->most_inside) <= 1); /* one application at a time */
    }
}

static void notice_without_end(void *arg, int level, const char *text)
{
    atomic_store(&stage->said[LISTENER], 1);
    for (;;)
        pause();
}

/* Keeps GPU 0 until it is told that this was taken back, and hears nothing from then on. Then it asks for it again. */
static void deaf_role(unsigned self)
{
    struct gs_client *c;
    const struct gs_client_options o = {.gpus = 2, .hello_wait_ms = 20000, .notice = notice_without_end};
    struct gs_grant g;
    if (gs_client_open(&c, &o) < 0 || gs_client_acquire(c, GPU0, 0, &g) < 0 || !g.client)
        _exit(11);
    atomic_store(&stage->said[self], 1);
    while (!atomic_load(&stage->flag[self]))
        rest_ms(1);
    gs_client_acquire(c, GPU0, 0, &g);
    atomic_store(&stage->said[self], 2);
    pause();
}

/* Who waits for a daemon that dies goes on even where the thread that listens to it is held by something else. */
static void test_daemon_killed_while_listener_is_held(void **state)
{
    pid_t d = start_daemon(WATCHED, NULL, NULL);
    play(deaf_role, 0);
    assert_true(until(&stage->said[0], 1));
    holder(1);
    assert_true(until(&stage->said[LISTENER], 1));
    call_watchdog_off(d);
    atomic_store(&stage->flag[0], 1);
    assert_true(until_status("resources.1.waiting", 1));
    end_process(d, SIGKILL);
    assert_true(until(&stage->said[0], 2));
}

static void notice_without_end_of_a_loss(void *arg, int level, const char *text)
{
    if (level == GS_NOTICE_NO_TASK)
        notice_without_end(arg, level, text);
}

static void forking_role(unsigned self)
{
    struct gs_client *c;
    const struct gs_client_options o = {
        .gpus = 2, .task = "t", .hello_wait_ms = 20000, .notice = notice_without_end_of_a_loss};
    if (gs_client_open(&c, &o) < 0 || !gs_client_scheduled(c))
        _exit(11);
    atomic_store(&stage->said[self], 1);
    while (!atomic_load(&stage->flag[self]))
        rest_ms(1);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    atomic_store(&stage->said[self], 2);
    pause();
}

/* The application's own thread goes on where its user is told of the loss for ever: nobody may read its stderr. */
static void test_a_loss_that_nobody_hears_of(void **state)
{
    pid_t d = start_daemon(PLAIN "[task t]\nperiod = 100ms\n", NULL, NULL);
    play(forking_role, 0);
    assert_true(until(&stage->said[0], 1));
    end_process(d, SIGKILL);
    assert_true(until(&stage->said[LISTENER], 1));
    atomic_store(&stage->flag[0], 1);
    assert_true(until(&stage->said[0], 2));
}

/* How many have connected to one of the daemon's sockets, which it has not accepted. */
static unsigned knocking(void)
{
    const size_t length = strlen(stage_path("sock"));
    char line[512], path[256];
    unsigned n = 0, inode;
    FILE *f = fopen("/proc/net/unix", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n += sscanf(line, "%*s %*s %*s %*s %*s %*s %u %255s", &inode, path) == 2 && inode == 0 &&
             strncmp(path, stage_path("sock"), length) == 0;
    fclose(f);
    return n;
}

/* A daemon that hangs is as good as dead after the client has asked it twice. When it goes on it has its clients again
 * without their doing: they are stopped meanwhile. */
static void test_daemon_stopped(void **state)
{
    pid_t d = start_daemon(PLAIN, NULL, NULL), client[] = {holder(0), waiter(1, 0)};
    kill(d, SIGSTOP);
    assert_true(until(&stage->said[1], 1));
    unsigned came = 0;
    for (int i = 0; i < 6000 && !(came = knocking()); i++) /* the holder asks nothing, and so doesn't miss it */
        rest_ms(10);
    assert_int_not_equal(came, 0);
    rest_ms(300); /* it has said hello by now */
    for (unsigned i = 0; i < 2; i++)
        kill(client[i], SIGSTOP);
    kill(d, SIGCONT);
    assert_true(until_status("clients", 2));
}

static void test_two_daemons(void **state)
{
    pid_t d = start_daemon(PLAIN, NULL, NULL);
    const char *build = getenv("GS_BUILD");
    char command[700];
    snprintf(command, sizeof command, "%s/bin/gpusparcd 2>>%s", build ? build : "build", stage_path("log"));
    int rc = system(command);
    assert_int_equal(WEXITSTATUS(rc), 1);
    char who[64];
    snprintf(who, sizeof who, "another daemon (process %d of user %u", (int)d, (unsigned)geteuid());
    assert_true(log_contains(who));
    assert_int_equal(status_number("daemon.pid"), d);
    /* Killed, it leaves its socket's file behind: the next one takes the place. */
    end_process(d, SIGKILL);
    assert_int_equal(access(stage_path("sock"), F_OK), 0);
    d = start_daemon(PLAIN, NULL, NULL);
    assert_int_equal(status_number("daemon.pid"), d);
    assert_int_equal(end_process(d, SIGTERM), 0);
    assert_int_not_equal(access(stage_path("sock"), F_OK), 0);
    assert_int_not_equal(access(stage_path("sock.lock"), F_OK), 0);
}

/* Locks the file of a daemon that has died. */
static void lock_role(unsigned self)
{
    if (setgid(1001) < 0 || setuid(1001) < 0)
        _exit(60);
    const int fd = open(stage_path("sock.lock"), O_RDONLY | O_CLOEXEC);
    atomic_store(&stage->said[self], fd < 0 ? 1 : flock(fd, LOCK_EX | LOCK_NB) < 0 ? 2 : 3);
    pause();
}

/* Another user who locks the file that a crashed daemon has left keeps no daemon from starting. */
static void test_a_lock_of_somebody_else(void **state)
{
    if (geteuid() != 0)
        LEFT_OUT("only root can be another user");
    end_process(start_daemon(PLAIN, NULL, NULL), SIGKILL);
    struct stat st;
    assert_int_equal(stat(stage_path("sock.lock"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    chmod(stage_path(""), 0755);
    play(lock_role, 0);
    assert_true(until(&stage->said[0], 1));
    assert_int_equal(atomic_load(&stage->said[0]), 1); /* it can't even open it */
    chmod(stage_path("sock.lock"), 0644);              /* as daemons left it once */
    play(lock_role, 1);
    assert_true(until(&stage->said[1], 1));
    assert_int_equal(atomic_load(&stage->said[1]), 3);
    pid_t d = start_daemon(PLAIN, NULL, NULL);
    assert_int_equal(status_number("daemon.pid"), d);
    assert_true(log_contains("of user 1001 had locked"));
    assert_true(log_says("process %d of user %u had locked %s, which an earlier daemon had left: it is made anew"));
    assert_int_equal(stat(stage_path("sock.lock"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(end_process(d, SIGTERM), 0);
}

static void test_full_disk(void **state)
{
    pid_t d = start_daemon(PLAIN, "--trace", "/dev/full");
    for (unsigned i = 0; i < 3; i++)
        play(busy_role, i);
    for (unsigned i = 0; i < 3; i++)
        assert_true(until(&stage->said[i], 300));
    assert_int_equal(status_number("clients"), 3);
    assert_int_equal(end_process(d, SIGTERM), 0);
    assert_true(log_contains("No space left on device"));
}

/* A disk that is full in the middle of an event leaves a file that can be read, and one word in the log. */
static void test_full_disk_amid(void **state)
{
    char path[160];
    snprintf(path, sizeof path, "%s", stage_path("trace"));
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = (struct rlimit){.rlim_cur = 100001, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    pid_t d = start_daemon(PLAIN, "--trace", path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    for (unsigned i = 0; i < 3; i++)
        play(busy_role, i);
    for (int i = 0; i < 200 && !log_contains(" ends here, "); i++)
        rest_ms(50);
    for (unsigned i = 0; i < 3; i++) /* nobody waits for the disk */
        assert_true(until(&stage->said[i], atomic_load(&stage->said[i]) + 5));
    assert_int_equal(end_process(d, SIGTERM), 0);
    assert_true(log_contains(path));
    assert_true(log_says("the trace %s ends here, it can't be written: %s"));
    assert_false(log_contains("is not whole"));
    json_t *events = json_load_file(path, 0, NULL);
    assert_true(json_array_size(events) > 100);
    json_decref(events);
    unlink(path);
}

/* Has the trace's writer, a thread that a busy machine lets wait, written so much? */
static bool until_written(const char *path, off_t bytes)
{
    struct stat st;
    for (int i = 0; i < 3000; i++) {
        if (stat(path, &st) == 0 && st.st_size >= bytes)
            return true;
        rest_ms(10);
    }
    return false;
}

/* Whenever the daemon is killed, its trace is a whole array. */
static void test_killed_with_a_trace(void **state)
{
    char path[160];
    snprintf(path, sizeof path, "%s", stage_path("trace"));
    for (unsigned round = 0; round < 6; round++) {
        stage_reset();
        pid_t d = start_daemon(PLAIN, "--trace", path);
        for (unsigned i = 0; i < 3; i++)
            play(busy_role, i);
        assert_true(until(&stage->said[0], 1 + 150 * round));
        assert_true(round < 4 || until_written(path, 60000)); /* it writes 64 KiB at once */
        end_process(d, SIGKILL);
        json_t *events = json_load_file(path, 0, NULL);
        assert_non_null(events);
        assert_true(json_array_size(events) >= (round < 4 ? 2 : 100));
        json_decref(events);
        end_players();
    }
    unlink(path);
}

/* A pipe that nobody reads keeps no daemon from its end. */
static void test_stuck_trace(void **state)
{
    char path[160];
    snprintf(path, sizeof path, "%s", stage_path("trace"));
    unlink(path); /* of a test that has failed */
    assert_int_equal(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    pid_t d = start_daemon(PLAIN, "--trace", path);
    for (unsigned i = 0; i < 3; i++)
        play(busy_role, i);
    for (unsigned i = 0; i < 3; i++) /* some 300 bytes each */
        assert_true(until(&stage->said[i], 500));
    assert_int_equal(end_process(d, SIGTERM), 0);
    assert_true(log_says("the trace %s is not whole: %s"));
    close(reader);
    unlink(path);
}

/* ---- the config ---- */

static void test_wrong_config_on_reload(void **state)
{
    const char *good = PLAIN "[task t]\nperiod = 100ms\nuser = *\n";
    start_daemon(good, NULL, NULL);
    holder(0);
    write_config(PLAIN "[task t]\nperiod = 100ms\nmode = many\n");
    char *text;
    assert_int_equal(gs_client_ask(NULL, GS_MSG_RELOAD, NULL, 2000, &text), -EINVAL);
    assert_non_null(text);
    assert_non_null(strstr(text, "/conf:7: "));
    assert_non_null(strstr(text, "the old config stays"));
    free(text);
    assert_int_equal(status_number("tasks"), 1);
    write_config("[system]\ngpus = 1\n");
    assert_int_equal(gs_client_ask(NULL, GS_MSG_RELOAD, NULL, 2000, &text), -EINVAL);
    assert_non_null(strstr(text, "/conf:2: gpus: 1 instead of 2 needs a restart of the daemon"));
    free(text);
    write_config("[system]\n; two\ndepth = 3\ngpus = 2\n");
    assert_int_equal(gs_client_ask(NULL, GS_MSG_RELOAD, NULL, 2000, &text), -EINVAL);
    assert_non_null(strstr(text, "/conf:3: depth: 3 instead of 2 needs a restart of the daemon"));
    free(text);
    write_config(PLAIN "[task t]\nperiod = 100ms\n[task u]\nperiod = 10ms\n");
    assert_int_equal(gs_client_ask(NULL, GS_MSG_RELOAD, NULL, 2000, &text), 0);
    free(text);
    assert_int_equal(status_number("tasks"), 2);
    assert_int_equal(status_number("clients"), 1); /* nobody was dropped */
    atomic_store(&stage->flag[0], 2);
    assert_true(until(&stage->said[0], 3));
}

int main(void)
{
    stage_open();
    cmocka_set_test_filter(getenv("GS_TEST")); /* one test alone, by its name */
    const struct CMUnitTest tests[] = {
        ON_STAGE(test_killed_while_holding),
        ON_STAGE(test_killed_while_waiting),
        ON_STAGE(test_killed_with_a_child_left),
        ON_STAGE(test_killed_with_a_silent_child_left),
        ON_STAGE(test_killed_in_the_middle_of_a_message),
        ON_STAGE(test_stopped_with_a_grant),
        ON_STAGE(test_a_late_release_counts_for_nothing),
        ON_STAGE(test_daemon_killed_under_ten),
        ON_STAGE(test_daemon_killed_while_listener_is_held),
        ON_STAGE(test_a_loss_that_nobody_hears_of),
        ON_STAGE(test_daemon_stopped),
        ON_STAGE(test_two_daemons),
        ON_STAGE(test_a_lock_of_somebody_else),
        ON_STAGE(test_full_disk),
        ON_STAGE(test_full_disk_amid),
        ON_STAGE(test_killed_with_a_trace),
        ON_STAGE(test_stuck_trace),
        ON_STAGE(test_wrong_config_on_reload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
