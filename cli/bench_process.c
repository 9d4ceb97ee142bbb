/* SPDX-License-Identifier: MIT */
/* gpusparc bench: runs one program and keeps what it prints. */
#include <errno.h>
#include <fcntl.h>
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

/* Keeps the beginning of stdout. */
static bool read_output(int fd, struct gs_bench_end *end, size_t *used)
{
    char more[4096];
    const ssize_t n = read(fd, more, sizeof(more));
    if (n <= 0)
        return n < 0 && errno == EINTR;
    const size_t room = sizeof(end->output) - 1 - *used, take = (size_t)n < room ? (size_t)n : room;
    memcpy(end->output + *used, more, take);
    *used += take;
    return true;
}

/* Keeps the last line of stderr that isn't empty. */
static bool read_error(int fd, struct gs_bench_end *end, bool *complete)
{
    char more[4096];
    const ssize_t n = read(fd, more, sizeof(more));
    if (n <= 0)
        return n < 0 && errno == EINTR;
    for (ssize_t i = 0; i < n; i++) {
        const size_t used = strlen(end->error);
        if (more[i] == '\n') {
            *complete = true;
        } else {
            if (*complete)
                end->error[0] = '\0';
            const size_t at = *complete ? 0 : used;
            *complete = false;
            if (at + 1 < sizeof(end->error)) {
                end->error[at] = more[i];
                end->error[at + 1] = '\0';
            }
        }
    }
    return true;
}

/* Reads until both pipes are closed. 0, -ETIMEDOUT or -EINTR. */
static int read_all(int out, int err, double deadline, struct gs_bench_end *end)
{
    struct pollfd p[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    size_t used = 0;
    bool complete = false;
    while (p[0].fd >= 0 || p[1].fd >= 0) {
        const double left = deadline - now_s();
        if (gs_bench_stopped)
            return -EINTR;
        if (left <= 0)
            return -ETIMEDOUT;
        if (poll(p, 2, left < 0.2 ? (int)(left * 1e3) + 1 : 200) <= 0)
            continue;
        if (p[0].revents && !read_output(out, end, &used))
            p[0].fd = -1;
        if (p[1].revents && !read_error(err, end, &complete))
            p[1].fd = -1;
    }
    return 0;
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

int gs_bench_execute(const struct gs_bench_words *command, double timeout_s, struct gs_bench_end *end)
{
    int out[2], err[2];
    pid_t pid;
    *end = (struct gs_bench_end){.status = -EMFILE};
    if (pipe2(out, O_CLOEXEC) < 0)
        return end->status = -errno;
    if (pipe2(err, O_CLOEXEC) < 0) {
        end->status = -errno;
        goto close_out;
    }
    end->status = start(command->word, out, err, &pid);
    close(out[1]);
    close(err[1]);
    out[1] = -1;
    if (end->status == 0) {
        const int cut = read_all(out[0], err[0], now_s() + timeout_s, end);
        if (cut)
            kill(-pid, SIGKILL);
        const int status = wait_for(pid, &end->max_rss_kib);
        end->status = cut ? cut : status;
    }
    close(err[0]);
close_out:
    close(out[0]);
    if (out[1] >= 0)
        close(out[1]);
    return end->status;
}
