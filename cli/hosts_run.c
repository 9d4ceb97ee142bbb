/* SPDX-License-Identifier: MIT */
#include "cli/hosts_run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"

enum { EXIT_OWN_FAILURE = 125, SLICE_MS = 200, AFTERWARDS_MS = 300, MOST_PROCESSES = 4096 };

static volatile sig_atomic_t application; /* its process, for the signals that are handed on; or 0 */

static void hand_on(int signal_number)
{
    const int saved = errno;
    if (application > 0)
        kill(application, signal_number);
    errno = saved;
}

/* A terminal's signals reach the application by themselves. */
static void take_signals(void)
{
    struct sigaction on = {.sa_handler = hand_on}, off = {.sa_handler = SIG_IGN};
    sigemptyset(&on.sa_mask);
    sigemptyset(&off.sa_mask);
    sigaction(SIGTERM, &on, NULL);
    sigaction(SIGHUP, &on, NULL);
    sigaction(SIGINT, &off, NULL);
    sigaction(SIGQUIT, &off, NULL);
}

static void give_signals_back(const struct sigaction was[4])
{
    static const int which[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    for (int i = 0; i < 4; i++)
        sigaction(which[i], &was[i], NULL);
}

static void remember_signals(struct sigaction was[4])
{
    static const int which[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    for (int i = 0; i < 4; i++)
        sigaction(which[i], NULL, &was[i]);
}

static pid_t parent_of(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    const char *after = strrchr(text, ')'); /* of its name, which may hold anything */
    int parent = 0;
    return after && sscanf(after + 1, " %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

/* The application and all that it has started. */
static void end_application(pid_t pid)
{
    static pid_t of[MOST_PROCESSES], all[MOST_PROCESSES];
    unsigned n = 0, k = 0;
    DIR *dir = opendir("/proc");
    for (const struct dirent *e; dir && (e = readdir(dir)) && n < MOST_PROCESSES;)
        if (*e->d_name >= '1' && *e->d_name <= '9')
            of[n++] = (pid_t)atoi(e->d_name);
    if (dir)
        closedir(dir);
    all[k++] = pid;
    for (unsigned i = 0; i < k; i++)
        for (unsigned j = 0; j < n && k < MOST_PROCESSES; j++)
            if (of[j] != pid && parent_of(of[j]) == all[i])
                all[k++] = of[j];
    for (unsigned i = 0; i < k; i++)
        kill(all[i], SIGKILL);
}

static int status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* As it would have ended without a process between. */
static void die_alike(int status)
{
    if (!WIFSIGNALED(status))
        return;
    prctl(PR_SET_DUMPABLE, 0); /* the core is the application's */
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
}

/* Waits for the application's end, or a host's. *status is waitpid's. */
static struct gs_host *watch(struct gs_hosts *hosts, pid_t pid, int *status)
{
    const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct gs_host *lost = NULL;
    pid_t done = 0;
    while (!lost && !done) {
        lost = gs_hosts_attend(hosts, pidfd, pidfd < 0 ? 20 : SLICE_MS);
        done = waitpid(pid, status, WNOHANG);
    }
    /* One that has failed may have noticed a server's end before we did. */
    if (!lost && !(WIFEXITED(*status) && WEXITSTATUS(*status) == 0))
        for (int ms = 0; ms < AFTERWARDS_MS && !lost; ms += 50)
            lost = gs_hosts_attend(hosts, -1, 50);
    if (!done) {
        end_application(pid);
        waitpid(pid, status, 0);
    }
    if (pidfd >= 0)
        close(pidfd);
    return lost;
}

/* The variables are the application's alone: a server that is started later on localhost must see its own devices. */
static pid_t start_application(const struct gs_hosts *hosts, void (*start)(void *arg), void *arg,
                               const struct sigaction signals[4])
{
    const pid_t parent = getpid(), pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without us nobody tells it of a server's end */
    if (getppid() != parent || gs_hosts_set_environment(hosts) < 0)
        _exit(EXIT_OWN_FAILURE);
    signal(SIGPIPE, SIG_DFL);
    give_signals_back(signals);
    start(arg);
    _exit(EXIT_OWN_FAILURE);
}

static void drop(struct gs_hosts *hosts, const struct gs_host *lost)
{
    unsigned n = 0;
    for (unsigned i = 0; i < hosts->n; i++)
        if (&hosts->host[i] != lost && hosts->host[i].state != GS_HOST_OUT) {
            hosts->host[n] = hosts->host[i];
            hosts->host[n++].tries = 0;
        }
    hosts->n = n;
}

int gs_hosts_run(struct gs_hosts *hosts, const struct gs_hosts_wishes *wishes, void (*start)(void *arg), void *arg)
{
    char why[512];
    int status = 0;
    struct sigaction signals[4];
    remember_signals(signals);
    for (;;) {
        if (gs_hosts_start(hosts, wishes->all, why, sizeof why) < 0) {
            gs_hosts_end(hosts);
            gs_error("%s", why);
            return EXIT_OWN_FAILURE;
        }
        const pid_t pid = start_application(hosts, start, arg, signals);
        if (pid < 0) {
            gs_hosts_end(hosts);
            gs_error("the application can't be started: %s", strerror(errno));
            return EXIT_OWN_FAILURE;
        }
        application = pid;
        take_signals();
        struct gs_host *lost = watch(hosts, pid, &status);
        application = 0;
        if (!lost) {
            gs_hosts_end(hosts);
            die_alike(status);
            return status_of(status);
        }
        gs_error("host %s is lost: %s; the application was ended", lost->name, lost->why);
        struct gs_hosts left = *hosts;
        drop(&left, &left.host[lost - hosts->host]);
        gs_hosts_end(hosts);
        if (!wishes->retry || !left.n)
            return EXIT_OWN_FAILURE;
        *hosts = left;
        gs_warn("the application begins again without it");
    }
}
