/* SPDX-License-Identifier: MIT */
#include "tests/suite.h"
#include "tests/scheduler/players.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/scheduler/says.h"

#define HANG_NS (60000 * MS)

struct stage *stage;
static char folder[64];
static pid_t children[256];
static unsigned n_children;
static pid_t owner;

uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void rest_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) < 0 && errno == EINTR)
        ;
}

const char *stage_path(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void clean_up(void)
{
    if (getpid() != owner)
        return;
    end_players();
    static const char *const names[] = {"sock", "sock.lock", "conf", "log", "trace", "sock~"};
    char own[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(stage_path(names[i]));
    snprintf(own, sizeof own, GS_OWN_SOCKET, "sock", (unsigned)geteuid());
    unlink(stage_path(own));
    rmdir(folder);
}

void stage_open(void)
{
    owner = getpid();
    snprintf(folder, sizeof folder, "/tmp/gs-daemon-test.XXXXXX");
    if (!mkdtemp(folder))
        abort();
    setenv("GPUSPARC_SOCKET", stage_path("sock"), 1);
    stage = mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stage == MAP_FAILED)
        abort();
    atexit(clean_up);
}

void stage_reset(void)
{
    memset(stage, 0, sizeof *stage);
}

int stage_set_up(void **state)
{
    stage_reset();
    return 0;
}

int stage_tear_down(void **state)
{
    end_players();
    unlink(stage_path("log"));
    unlink(stage_path("trace"));
    return 0;
}

void write_config(const char *config)
{
    FILE *f = fopen(stage_path("conf"), "w");
    if (!f || fputs(config, f) < 0 || fclose(f) != 0)
        abort();
}

static pid_t remember(pid_t pid)
{
    if (pid < 0 || n_children == sizeof children / sizeof *children)
        abort();
    children[n_children++] = pid;
    return pid;
}

static void forget(pid_t pid)
{
    for (unsigned i = 0; i < n_children; i++)
        if (children[i] == pid)
            children[i] = children[--n_children];
}

/* A file of the kernel's or ours, line by line; with `only` those that have it. */
static void print_file(const char *path, const char *only)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (!only || strstr(line, only))
            fprintf(stderr, "%s: %s%s", path, line, strchr(line, '\n') ? "" : "\n");
    if (f)
        fclose(f);
}

/* What was waited for has not come: what the daemon has said, who has connected, and where each process sleeps. */
static void print_stage(void)
{
    static const char *const files[] = {"comm", "wchan", "syscall", "stack"};
    char path[PATH_MAX], *text = NULL;
    print_file(stage_path("log"), NULL);
    print_file("/proc/net/unix", folder);
    print_file("/proc/loadavg", NULL);
    const int err = gs_client_ask(NULL, GS_MSG_STATUS, NULL, 20000, &text);
    fprintf(stderr, "status: %d %s\n", err, text ? text : "");
    free(text);
    for (unsigned i = 0; i < n_children; i++) {
        snprintf(path, sizeof path, "/proc/%d/task", (int)children[i]);
        DIR *tasks = opendir(path);
        for (const struct dirent *e; tasks && (e = readdir(tasks));)
            for (size_t k = 0; e->d_name[0] != '.' && k < sizeof files / sizeof *files; k++) {
                snprintf(path, sizeof path, "/proc/%d/task/%.20s/%s", (int)children[i], e->d_name, files[k]);
                print_file(path, NULL);
            }
        if (tasks)
            closedir(tasks);
    }
}

static bool answers(void)
{
    char *text;
    int err = gs_client_ask(NULL, GS_MSG_STATUS, NULL, 1000, &text);
    free(text);
    return err == 0;
}

pid_t start_daemon(const char *config, const char *arg1, const char *arg2)
{
    write_config(config);
    const char *build = getenv("GS_BUILD");
    char program[512], conf[160];
    snprintf(program, sizeof program, "%s/bin/gpusparcd", build ? build : "build");
    snprintf(conf, sizeof conf, "%s", stage_path("conf"));
    pid_t pid = remember(fork());
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int log = open(stage_path("log"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(log, STDERR_FILENO);
        execl(program, "gpusparcd", "--config", conf, arg1, arg2, (char *)NULL);
        _exit(127);
    }
    const uint64_t end = clock_ns() + HANG_NS;
    while (!answers()) {
        const bool ended = waitpid(pid, NULL, WNOHANG) == pid;
        if (ended)
            forget(pid);
        if (ended || clock_ns() > end) {
            print_stage();
            fail_msg("the daemon %s", ended ? "has ended" : "doesn't answer");
        }
        rest_ms(10);
    }
    return pid;
}

int end_process(pid_t pid, int sig)
{
    int st;
    if (sig)
        kill(pid, sig);
    if (waitpid(pid, &st, 0) != pid)
        abort();
    forget(pid);
    return WIFEXITED(st) ? WEXITSTATUS(st) : -WTERMSIG(st);
}

static bool find_in_log(const char *text, bool (*is_in)(const char *line, const char *text))
{
    char line[4096];
    bool found = false;
    FILE *f = fopen(stage_path("log"), "r");
    while (f && !found && fgets(line, sizeof line, f))
        found = is_in(line, text);
    if (f)
        fclose(f);
    return found;
}

static bool has(const char *line, const char *text)
{
    return strstr(line, text) != NULL;
}

bool log_contains(const char *text)
{
    return find_in_log(text, has);
}

bool log_says(const char *sentence)
{
    return find_in_log(sentence, says);
}

pid_t play(void (*role)(unsigned self), unsigned self)
{
    pid_t pid = remember(fork());
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        n_children = 0;
        role(self);
        _exit(0);
    }
    return pid;
}

void end_players(void)
{
    while (n_children) {
        kill(children[n_children - 1], SIGCONT);
        end_process(children[n_children - 1], SIGKILL);
    }
}

static void print_notice(void *arg, int level, const char *text)
{
    fprintf(stderr, "notice %d: %s\n", level, text);
}

struct gs_client *joined_client(const char *task)
{
    struct gs_client *c;
    const struct gs_client_options o = {.task = task, .gpus = 2, .hello_wait_ms = 20000, .notice = print_notice};
    struct gs_client_mode mode;
    if (gs_client_open(&c, &o) < 0)
        _exit(11);
    gs_client_mode(c, &mode);
    if (!mode.scheduled || (task && strcmp(mode.task, task) != 0))
        _exit(12);
    return c;
}

bool until(_Atomic uint64_t *v, uint64_t at_least)
{
    const uint64_t end = clock_ns() + HANG_NS;
    while (atomic_load(v) < at_least && clock_ns() < end)
        usleep(200);
    const bool there = atomic_load(v) >= at_least;
    if (!there && getpid() == owner)
        print_stage();
    return there;
}

bool until_status(const char *path, long long n)
{
    const uint64_t end = clock_ns() + HANG_NS;
    long long is; /* asked once: it may be another the next time */
    while ((is = status_number(path)) != n && clock_ns() < end)
        rest_ms(2);
    if (is != n)
        print_stage();
    return is == n;
}

long long status_number(const char *path)
{
    char *text, copy[128];
    if (gs_client_ask(NULL, GS_MSG_STATUS, NULL, 20000, &text) < 0) {
        free(text);
        return -1;
    }
    json_t *whole = json_loads(text, 0, NULL), *j = whole;
    free(text);
    snprintf(copy, sizeof copy, "%s", path);
    for (char *save, *part = strtok_r(copy, ".", &save); part && j; part = strtok_r(NULL, ".", &save))
        j = json_is_array(j) ? json_array_get(j, (size_t)atoi(part)) : json_object_get(j, part);
    long long v = !j ? -1 : json_is_array(j) ? (long long)json_array_size(j) : json_integer_value(j);
    json_decref(whole);
    return v;
}

int raw_connection(int flags)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    snprintf(addr.sun_path, sizeof addr.sun_path, "%s", getenv("GPUSPARC_SOCKET"));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&addr, sizeof addr) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}
