/* SPDX-License-Identifier: MIT */
#include "lazy.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 256, MOST_REPORTS = 20, MOST_WAITED = 8 };

/* A thread of the application or of gpusparc. */
struct caller {
    atomic_bool taken;
    pid_t tid;
    const char *_Atomic what; /* the call that it is in, or null */
    /* lock: */
    uint64_t waits_since_ns; /* 0: it doesn't */
    bool told;
    cl_uint n;
    cl_event events[MOST_WAITED];
    cl_command_queue queue;
};

_Thread_local unsigned lazy_in_callback;
_Thread_local bool lazy_own_thread;
static _Thread_local struct caller *own;
static _Thread_local unsigned depth;
static struct caller callers[MOST_THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what the callers wait for; a leaf */
static pthread_mutex_t driver;                           /* recursive; lazy.lock */
static pthread_mutex_t random_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t random_state = 1;
static atomic_uint reports;
static atomic_bool over, forked;
static pthread_key_t gone;

uint64_t lazy_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void lazy_sleep_us(unsigned us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

unsigned lazy_random(unsigned n)
{
    pthread_mutex_lock(&random_lock);
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    const unsigned r = (unsigned)((random_state * 0x2545f4914f6cdd1d) >> 33) % n;
    pthread_mutex_unlock(&random_lock);
    return r;
}

/* Who calls: of each frame the file and the place in it, for addr2line. */
static int add_callers(char *text, size_t room)
{
    enum { MOST = 16 };
    void *frames[MOST];
    const int n = backtrace(frames, MOST);
    size_t at = 0;
    for (int i = 1; i < n && at < room; i++) {
        Dl_info in;
        if (dladdr(frames[i], &in) && in.dli_fname)
            at += (size_t)snprintf(text + at, room - at, " %s+%#tx", basename(in.dli_fname),
                                   (char *)frames[i] - (char *)in.dli_fbase);
    }
    return (int)(at < room ? at : room - 1);
}

void lazy_report(const char *format, ...)
{
    char text[2048];
    va_list args;
    if (atomic_fetch_add(&reports, 1) >= MOST_REPORTS)
        return;
    int n = snprintf(text, sizeof text, "lazy: ");
    va_start(args, format);
    n += vsnprintf(text + n, sizeof text - (size_t)n - 1, format, args);
    va_end(args);
    if ((size_t)n > sizeof text / 2)
        n = sizeof text / 2;
    n += snprintf(text + n, sizeof text - (size_t)n, "; from");
    n += add_callers(text + n, sizeof text - (size_t)n - 1);
    text[n++] = '\n';
    const char *file = getenv("LAZY_REPORT");
    const int fd = file ? open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : 2;
    if (write(fd, text, (size_t)n) < 0) {
        /* nobody to tell */
    }
    if (fd > 2)
        close(fd);
}

static void let_go(void *caller)
{
    struct caller *c = caller;
    atomic_store(&c->taken, false);
}

static struct caller *find_own(void)
{
    for (int i = 0; !own && i < MOST_THREADS; i++)
        if (!atomic_exchange(&callers[i].taken, true)) {
            own = &callers[i];
            own->tid = (pid_t)syscall(SYS_gettid);
            pthread_setspecific(gone, own);
        }
    return own;
}

/* The driver's own handler of exit(): what uses it from here on uses what has been taken apart. */
static void end(void)
{
    if (forked)
        return;
    lazy_callbacks_end();
    for (int i = 0; i < MOST_THREADS; i++) {
        const char *what = callers[i].taken ? atomic_load(&callers[i].what) : NULL;
        if (what && &callers[i] != own)
            lazy_report("thread %d is within %s when the driver takes itself apart at exit()", callers[i].tid, what);
    }
    atomic_store(&over, true);
}

static void in_child(void)
{
    atomic_store(&forked, true);
}

void lazy_calls_start(void)
{
    const char *seed = getenv("LAZY_SEED");
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&driver, &attr);
    pthread_key_create(&gone, let_go);
    pthread_atfork(NULL, NULL, in_child);
    random_state = (seed ? strtoull(seed, NULL, 10) : 1) * 0x9e3779b97f4a7c15u | 1;
    atexit(end);
}

bool lazy_is_over(void)
{
    return atomic_load(&over) || atomic_load(&forked);
}

void lazy_driver_lock(void)
{
    if (lazy.lock && !lazy_is_over())
        pthread_mutex_lock(&driver);
}

void lazy_driver_unlock(void)
{
    if (lazy.lock && !lazy_is_over())
        pthread_mutex_unlock(&driver);
}

static bool is_free(void)
{
    return atomic_load(&forked) || lazy_own_thread;
}

void lazy_enter(const char *what)
{
    if (is_free() || depth++)
        return;
    if (atomic_load(&over))
        lazy_report("thread %d calls %s when the driver has taken itself apart at exit()", (int)syscall(SYS_gettid),
                    what);
    if (find_own())
        atomic_store(&own->what, what);
    if (lazy.inside && !lazy_in_callback)
        lazy_callbacks_inside();
    lazy_driver_lock();
    if (lazy.slow && lazy_random(16) == 0)
        lazy_sleep_us(lazy_random(1500));
}

void lazy_leave(void)
{
    if (is_free() || --depth)
        return;
    lazy_driver_unlock();
    if (lazy.slow && lazy_random(16) == 0)
        lazy_sleep_us(lazy_random(1500));
    if (own)
        atomic_store(&own->what, NULL);
}

void lazy_forbidden(const char *what)
{
    if (lazy_in_callback && !is_free())
        lazy_report("%s is called within a callback", what);
}

void lazy_wait_begin(cl_uint n, const cl_event *events, cl_command_queue queue)
{
    if (is_free())
        return;
    lazy_driver_unlock();
    if (!own)
        return;
    pthread_mutex_lock(&lock);
    own->n = n < MOST_WAITED ? n : MOST_WAITED;
    if (own->n)
        memcpy(own->events, events, own->n * sizeof *events);
    own->queue = queue;
    own->told = false;
    own->waits_since_ns = lazy_now_ns();
    pthread_mutex_unlock(&lock);
}

void lazy_wait_end(void)
{
    if (is_free())
        return;
    if (own) {
        pthread_mutex_lock(&lock);
        own->waits_since_ns = 0;
        pthread_mutex_unlock(&lock);
    }
    lazy_driver_lock();
}

/* The events are the waiter's, which lets none of them go while it waits. */
void lazy_calls_look(void)
{
    pthread_mutex_lock(&lock);
    const uint64_t now = lazy_now_ns();
    for (int i = 0; i < MOST_THREADS; i++) {
        struct caller *c = &callers[i];
        if (!c->taken || !c->waits_since_ns || c->told || now - c->waits_since_ns < (uint64_t)lazy.stuck_ms * 1000000)
            continue;
        char why[640];
        if (!lazy_explain(why, sizeof why, c->events, c->n, c->queue))
            continue;
        c->told = true;
        lazy_report("thread %d is in %s for %u ms: %s", c->tid, c->what, lazy.stuck_ms, why);
    }
    pthread_mutex_unlock(&lock);
}

bool lazy_thread(void *(*run)(void *))
{
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const bool started = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}
