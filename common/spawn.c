/* SPDX-License-Identifier: MIT */
/* Runs a program from inside an application that must not notice.
 *
 * exec() makes a child's end raise SIGCHLD whatever clone() was told, so the program has a parent of its own: a
 * supervisor, cloned without an exit signal, that execs nothing, waits for the program and hands on how it ended. Until
 * then the calling thread sleeps as in vfork(), so that the supervisor may run in its memory. Requests and replies lie
 * in memory files, which need nobody to pump them. */
#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

enum { STACK_BYTES = 128 << 10, DEATH_MS = 2000 };

/* AddressSanitizer would look for the calling thread's stack, which these functions aren't on. */
#define ON_ANOTHER_STACK __attribute__((no_sanitize("address")))

/* How the supervisor ends. */
enum { ENDED_WELL, ENDED_BADLY, ENDED_BY_SIGNAL, ENDED_TOO_LATE, ENDED_BEFORE_IT_BEGAN };
enum { EXEC_FAILED = 126 };

struct job {
    const char *path;
    char *const *argv, *const *envp;
    int in, out, null;
    int timeout_ms;
    uint64_t memory_bytes;
    sigset_t none;
    char *stack;  /* of the program, until it execs */
    pid_t parent; /* the application's process */
    bool beyond;  /* the program goes on when that has ended */
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) /* clang */
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* gcc */
#define HAS_SANITIZER 1
#endif

#ifdef HAS_SANITIZER
/* ThreadSanitizer's own clone() takes every child for a forked one, and marks the process as one. This child runs in
 * the process's memory: all that the calling thread did afterwards would pass for a race. */
int __clone(int (*run)(void *), void *stack, int flags, void *arg, ...);
#define clone __clone
#endif

static void limit(int what, rlim_t soft)
{
    struct rlimit r;
    if (getrlimit((__rlimit_resource_t)what, &r) != 0)
        return;
    r.rlim_cur = r.rlim_max == RLIM_INFINITY || soft < r.rlim_max ? soft : r.rlim_max;
    setrlimit((__rlimit_resource_t)what, &r);
}

static void set_limits(int timeout_ms, uint64_t memory_bytes)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, (rlim_t)1 << 30);
    limit(RLIMIT_STACK, (rlim_t)256 << 20); /* clang recurses as deep as the program nests */
    limit(RLIMIT_CPU, (rlim_t)(timeout_ms / 1000 + 2));
#ifdef HAS_SANITIZER /* they reserve terabytes */
    (void)memory_bytes;
#else
    if (memory_bytes)
        limit(RLIMIT_AS, memory_bytes);
#endif
}

static void close_others(void)
{
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
        return;
    long n = sysconf(_SC_OPEN_MAX);
    for (int fd = 3; fd < (n > 0 && n < 65536 ? n : 65536); fd++)
        close(fd);
}

ON_ANOTHER_STACK static int run_program(void *arg)
{
    const struct job *j = arg;
    if (j->beyond)
        setsid();
    else
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    if (dup2(j->in, 0) != 0 || dup2(j->out, 1) != 1 || dup2(j->null, 2) != 2)
        _exit(EXEC_FAILED);
    close_others();
    set_limits(j->timeout_ms, j->memory_bytes);
    sigprocmask(SIG_SETMASK, &j->none, NULL);
    execve(j->path, j->argv, j->envp);
    _exit(EXEC_FAILED);
}

static int ending(int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGXCPU ? ENDED_TOO_LATE : ENDED_BY_SIGNAL;
    if (WEXITSTATUS(status) == EXEC_FAILED)
        return ENDED_BEFORE_IT_BEGAN;
    return WEXITSTATUS(status) == 0 ? ENDED_WELL : ENDED_BADLY;
}

/* Waits for the program, whose SIGCHLD comes here and is blocked. */
static int await(pid_t pid, int timeout_ms)
{
    int64_t until = gs_now_ms() + timeout_ms;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        int status;
        pid_t done = waitpid(pid, &status, WNOHANG);
        if (done == pid)
            return ending(status);
        int64_t left = until - gs_now_ms();
        if (done < 0 || left <= 0)
            break;
        struct timespec t = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
        sigtimedwait(&child, NULL, &t);
    }
    /* One that sleeps in a driver may not even die: whoever waits for the supervisor doesn't wait for that. */
    kill(pid, SIGKILL);
    for (until = gs_now_ms() + DEATH_MS; waitpid(pid, NULL, WNOHANG) == 0 && gs_now_ms() < until;) {
        struct timespec t = {.tv_nsec = 10000000};
        sigtimedwait(&child, NULL, &t);
    }
    return ENDED_TOO_LATE;
}

ON_ANOTHER_STACK static int supervise(void *arg)
{
    struct job *j = arg;
    if (!j->beyond)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != j->parent) /* it has died before */
        _exit(ENDED_BEFORE_IT_BEGAN);
    signal(SIGCHLD, SIG_DFL);
    pid_t pid = clone(run_program, j->stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, j);
    _exit(pid < 0 ? ENDED_BEFORE_IT_BEGAN : j->beyond ? ENDED_WELL : await(pid, j->timeout_ms));
}

/* Variables that would change how the program is loaded, or are meant for gpusparc in the application. One that goes
 * beyond it has to come by the same devices and the same translation. */
static bool is_hidden_variable(const char *v, bool beyond)
{
    static const char *const kept[] = {
        "GPUSPARC_ALLOW=", "GPUSPARC_CACHE_SIZE=", "GPUSPARC_DEVICES=",    "GPUSPARC_GPUS=",
        "GPUSPARC_REAL=",  "GPUSPARC_TRANSFER=",   "GPUSPARC_TRANSLATOR=", "GPUSPARC_TRANSLATE_TIMEOUT="};
    for (size_t i = 0; beyond && i < sizeof kept / sizeof *kept; i++)
        if (strncmp(v, kept[i], strlen(kept[i])) == 0)
            return false;
    return strncmp(v, "LD_PRELOAD=", 11) == 0 || strncmp(v, "LD_AUDIT=", 9) == 0 ||
           strncmp(v, "OPENCL_LAYERS=", 14) == 0 || strncmp(v, "GPUSPARC_", 9) == 0;
}

/* more: variables, of which the last is null; or null. */
static char **make_environment(const char *const *more)
{
    static char here[] = "LIBCLANG_NOTHREADS=1"; /* parse on the main thread, whose stack is large */
    size_t n = 0, k = 0;
    while (environ && environ[n])
        n++;
    while (more && more[k])
        k++;
    char **envp = calloc(n + k + 2, sizeof *envp);
    k = 0;
    for (size_t i = 0; envp && i < n; i++)
        if (!is_hidden_variable(environ[i], more))
            envp[k++] = environ[i];
    if (envp)
        envp[k++] = here;
    for (size_t i = 0; envp && more && more[i]; i++)
        envp[k++] = (char *)(uintptr_t)more[i];
    return envp;
}

/* Keeps clear of 0, 1 and 2, which an application may have closed. */
static int keep_clear(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    int other = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return other;
}

static int memory_file(const char *text, size_t bytes)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_FSIZE, &r) != 0 || r.rlim_cur < bytes)
        return -1; /* beyond it, writing would raise SIGXFSZ in the application */
    int fd = keep_clear(memfd_create("gpusparc", MFD_CLOEXEC));
    for (size_t at = 0; fd >= 0 && at < bytes;) {
        ssize_t n = pwrite(fd, text + at, bytes - at, (off_t)at);
        if (n <= 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return fd;
}

static int read_back(int fd, char **text, size_t *bytes)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -EPIPE;
    *text = malloc((size_t)st.st_size + 1);
    if (!*text)
        return -ENOMEM;
    for (*bytes = 0; *bytes < (size_t)st.st_size;) {
        ssize_t n = pread(fd, *text + *bytes, (size_t)st.st_size - *bytes, (off_t)*bytes);
        if (n <= 0) {
            free(*text);
            *text = NULL;
            return -EPIPE;
        }
        *bytes += (size_t)n;
    }
    return 0;
}

/* The supervisor's exit status. */
static int run_supervised(struct job *j, char *stack)
{
    sigset_t all, old;
    sigfillset(&all);
    sigemptyset(&j->none);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int status = 0, result = ENDED_BEFORE_IT_BEGAN;
    j->parent = getpid();
    pid_t pid = clone(supervise, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, j);
    if (pid > 0) {
        pid_t done;
        do
            done = waitpid(pid, &status, __WALL);
        while (done < 0 && errno == EINTR);
        if (done == pid)
            result = WIFEXITED(status) ? WEXITSTATUS(status) : ENDED_BY_SIGNAL;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return result;
}

static int translate_ending(int end, const char **how)
{
    switch (end) {
    case ENDED_WELL:
        return 0;
    case ENDED_TOO_LATE:
        *how = "took too long and was killed";
        return -ETIME;
    case ENDED_BY_SIGNAL:
        *how = "crashed";
        return -EPIPE;
    case ENDED_BADLY:
        *how = "failed";
        return -EPIPE;
    default:
        *how = "could not be started";
        return -EPIPE;
    }
}

int gs_spawn(const char *path, const char *input, size_t bytes, int timeout_ms, uint64_t memory_bytes, char **output,
             size_t *output_bytes, const char **how)
{
    char name[] = "gpusparc-worker";
    char *argv[] = {name, NULL};
    struct job j = {
        .path = path, .argv = argv, .timeout_ms = timeout_ms, .memory_bytes = memory_bytes, .out = -1, .null = -1};
    char **envp = make_environment(NULL);
    char *stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    int err = -ENOMEM;
    *output = NULL;
    *how = "could not be started";
    j.in = memory_file(input, bytes);
    j.out = memory_file(NULL, 0);
    j.null = keep_clear(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!envp || stacks == MAP_FAILED)
        goto Done;
    err = -EPIPE;
    if (j.in < 0 || j.out < 0 || j.null < 0)
        goto Done;
    j.envp = envp;
    j.stack = stacks + STACK_BYTES;
    err = translate_ending(run_supervised(&j, stacks), how);
    if (err == 0)
        err = read_back(j.out, output, output_bytes);
Done:
    if (stacks != MAP_FAILED)
        munmap(stacks, 2 * STACK_BYTES);
    if (j.in >= 0)
        close(j.in);
    if (j.out >= 0)
        close(j.out);
    if (j.null >= 0)
        close(j.null);
    free(envp);
    return err;
}

void gs_spawn_beyond(const char *path, const char *name, int limit_ms, const char *const *more)
{
    char *argv[] = {(char *)(uintptr_t)name, NULL};
    char **envp = make_environment(more);
    char *stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    const int null = keep_clear(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (envp && stacks != MAP_FAILED && null >= 0)
        run_supervised(&(struct job){.path = path,
                                     .argv = argv,
                                     .envp = envp,
                                     .in = null,
                                     .out = null,
                                     .null = null,
                                     .timeout_ms = limit_ms,
                                     .stack = stacks + STACK_BYTES,
                                     .beyond = true},
                       stacks);
    if (stacks != MAP_FAILED)
        munmap(stacks, 2 * STACK_BYTES);
    if (null >= 0)
        close(null);
    free(envp);
}
