/* SPDX-License-Identifier: MIT */
#include "cli/device_check_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/child.h"
#include "common/clock.h"

extern char **environ;

enum { POLL_NS = 5000000, DEATH_MS = 2000 };

static volatile sig_atomic_t interrupted;
static struct sigaction old_int, old_term;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

void gs_check_begin(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
}

void gs_check_end(void)
{
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
}

bool gs_check_interrupted(void)
{
    return interrupted;
}

/* Has it ended by then? Its status as waitpid has it. An interruption ends the wait, too, where it may. */
static bool await(pid_t pid, int64_t until_ms, bool may_interrupt, int *status)
{
    pid_t done;
    while ((done = waitpid(pid, status, WNOHANG)) != pid) {
        if ((done < 0 && errno != EINTR) || gs_now_ms() >= until_ms || (may_interrupt && interrupted))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return true;
}

struct gs_check_process gs_check_start(char *const argv[], const char *out, const char *err)
{
    struct gs_check_process p = {.failed = -EINTR, .begin_ms = gs_now_ms()};
    if (!interrupted)
        p.failed = gs_child_start(argv, out, err, &p.pid);
    return p;
}

int gs_check_await(const struct gs_check_process *p, double limit_s)
{
    int status = 0;
    if (p->failed)
        return p->failed;
    if (!await(p->pid, p->begin_ms + (int64_t)(limit_s * 1e3), true, &status)) {
        kill(-p->pid, SIGKILL);
        await(p->pid, gs_now_ms() + DEATH_MS, false, &status);
        return interrupted ? -EINTR : -ETIMEDOUT;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void gs_check_describe(int status, const char *err, double limit_s, char *text, size_t bytes)
{
    char line[512];
    gs_last_line(err, line, sizeof line);
    const char *colon = *line ? ": " : "";
    if (status == -ETIMEDOUT)
        snprintf(text, bytes, "it had not ended after %g s and was killed: a driver or a device hangs%s%s", limit_s,
                 colon, line);
    else if (status < 0)
        snprintf(text, bytes, "it can't be run: %s; is gpusparc installed whole?", strerror(-status));
    else if (status > 128)
        snprintf(text, bytes, "it crashed by signal %d (%s)%s%s", status - 128, strsignal(status - 128), colon, line);
    else
        snprintf(text, bytes, "it failed with exit status %d%s%s", status, colon, line);
}
