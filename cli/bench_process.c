/* SPDX-License-Identifier: MIT */
/* gpusparc bench: runs programs, one or several in turns, and keeps what they print. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench.h"

extern char **environ;

volatile sig_atomic_t gs_bench_stopped;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Both pipes' reading ends are out[0] and err[0]. The program has a process group of its own, so that Ctrl-C reaches
 * only the bench, which then ends the program and all that it started. */
static int start(char *const argv[], const int out[2], const int err[2], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int failed = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return -failed;
}

/* One that has been started. */
struct program {
    pid_t pid; /* 0: it has ended */
    int out, err;
    struct gs_bench_end *end;
    size_t used;   /* of end->output */
    bool complete; /* end->error is a whole line */
};

/* Keeps the beginning of stdout. */
static bool read_output(struct program *p)
{
    char more[4096];
    const ssize_t n = read(p->out, more, sizeof(more));
    if (n <= 0)
        return n < 0 && errno == EINTR;
    const size_t room = sizeof(p->end->output) - 1 - p->used, take = (size_t)n < room ? (size_t)n : room;
    memcpy(p->end->output + p->used, more, take);
    p->used += take;
    return true;
}

/* Keeps the last line of stderr that isn't empty. */
static bool read_error(struct program *p)
{
    struct gs_bench_end *end = p->end;
    char more[4096];
    const ssize_t n = read(p->err, more, sizeof(more));
    if (n <= 0)
        return n < 0 && errno == EINTR;
    for (ssize_t i = 0; i < n; i++) {
        const size_t used = strlen(end->error);
        if (more[i] == '\n') {
            p->complete = true;
        } else {
            if (p->complete)
                end->error[0] = '\0';
            const size_t at = p->complete ? 0 : used;
            p->complete = false;
            if (at + 1 < sizeof(end->error)) {
                end->error[at] = more[i];
                end->error[at + 1] = '\0';
            }
        }
    }
    return true;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Waits a moment for output of any of them, and keeps it. */
static void read_some(struct program *p, int n, double wait_s)
{
    struct pollfd fds[2 * GS_BENCH_MAX_MODES];
    for (int i = 0; i < n; i++) {
        fds[2 * i] = (struct pollfd){.fd = p[i].out, .events = POLLIN};
        fds[2 * i + 1] = (struct pollfd){.fd = p[i].err, .events = POLLIN};
    }
    if (poll(fds, 2 * (nfds_t)n, wait_s > 0 ? (int)(wait_s * 1e3) + 1 : 0) <= 0)
        return;
    for (int i = 0; i < n; i++) {
        if (fds[2 * i].revents && !read_output(&p[i]))
            close_end(&p[i].out);
        if (fds[2 * i + 1].revents && !read_error(&p[i]))
            close_end(&p[i].err);
    }
}

static int wait_for(pid_t pid, long *max_rss_kib)
{
    struct rusage usage;
    int status;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return -errno;
    *max_rss_kib = usage.ru_maxrss;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int begin(const struct gs_bench_words *command, struct gs_bench_end *end, struct program *p)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    *end = (struct gs_bench_end){0};
    *p = (struct program){.out = -1, .err = -1, .end = end};
    int failed = pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 ? -errno : 0;
    if (!failed)
        failed = start(command->word, out, err, &p->pid);
    close_end(&out[1]);
    close_end(&err[1]);
    if (failed) {
        p->pid = 0;
        close_end(&out[0]);
        close_end(&err[0]);
    }
    p->out = out[0];
    p->err = err[0];
    return end->status = failed;
}

/* `cut`: why it is to end now; 0: it ends by itself. */
static void finish(struct program *p, int cut)
{
    if (cut)
        kill(-p->pid, SIGKILL);
    const int status = wait_for(p->pid, &p->end->max_rss_kib);
    p->end->status = cut ? cut : status;
    p->pid = 0;
    close_end(&p->out);
    close_end(&p->err);
}

/* The next one after `of` that has not ended; -1: there is none. */
static int next_of(const struct program *p, int n, int of)
{
    for (int k = 1; k <= n; k++)
        if (p[(of + k) % n].pid)
            return (of + k) % n;
    return -1;
}

int gs_bench_execute_in_turns(const struct gs_bench_words *commands, int n, double turn_s, double timeout_s,
                              struct gs_bench_end *ends)
{
    struct program p[GS_BENCH_MAX_MODES];
    int err = 0, turn = -1;
    for (int i = 0; i < n; i++) {
        const int failed = begin(&commands[i], &ends[i], &p[i]);
        err = err ? err : failed;
        if (!failed && turn >= 0)
            kill(-p[i].pid, SIGSTOP);
        else if (!failed)
            turn = i;
    }
    const double deadline = now_s() + timeout_s * n;
    double turn_ends = now_s() + turn_s;
    while (turn >= 0) {
        const double now = now_s();
        const int cut = gs_bench_stopped ? -EINTR : now >= deadline ? -ETIMEDOUT : 0;
        for (int i = 0; i < n && cut; i++)
            if (p[i].pid)
                finish(&p[i], cut);
        if (cut)
            break;
        const int next = next_of(p, n, turn);
        read_some(p, n, fmin(fmin(deadline - now, 0.2), next == turn ? 0.2 : turn_ends - now));
        const bool ended = p[turn].out < 0 && p[turn].err < 0;
        if (ended)
            finish(&p[turn], 0); /* until it is gone: drivers take their time */
        else if (next == turn || now_s() < turn_ends)
            continue;
        else
            kill(-p[turn].pid, SIGSTOP);
        turn = next_of(p, n, turn);
        if (turn >= 0)
            kill(-p[turn].pid, SIGCONT);
        turn_ends = now_s() + turn_s;
    }
    for (int i = 0; i < n && !err; i++)
        err = ends[i].status;
    return err;
}

int gs_bench_execute(const struct gs_bench_words *command, double timeout_s, struct gs_bench_end *end)
{
    return gs_bench_execute_in_turns(command, 1, timeout_s, timeout_s, end);
}
