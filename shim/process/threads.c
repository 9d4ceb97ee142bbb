/* SPDX-License-Identifier: MIT */
#include "shim/process/threads.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/process/process.h"

/* A driver that doesn't return from a call keeps the process no longer than PATIENCE_S: a signal's handler may have
 * called exit() while its thread held a lock of the driver's, which others wait for. Compiling a large program for each
 * device takes seconds by right; such a call gets COMPILING_S, as long as the process computes (COMPUTES_MS in each
 * period of patience: a busy machine may give no more). */
enum { PATIENCE_S = 3, COMPILING_S = 30, COMPUTES_MS = 2 };

/* When the application's handlers of exit() have run for so many seconds of the clock, a serving thread takes it that a
 * handler waits for the thread's work: one to two seconds. */
enum { CLOSED_S = 2 };

static const time_t NEVER = INT64_MAX; /* in_driver.whole while exit() takes the driver apart */

static struct {
    pthread_mutex_t lock;                    /* all below */
    pthread_cond_t left_one, opened;         /* opened: `closed` was unset */
    atomic_uint inside, serving;             /* read without it where nobody is */
    atomic_uint pending;                     /* by threads that are to serve */
    _Atomic time_t whole;                    /* since when, or NEVER; 0: not known. Without the lock */
    unsigned compiling;                      /* of those inside */
    bool ending, closed;                     /* closed: for those that serve, too */
    time_t end_began, close_began, compiled; /* compiled: when a compilation last ended */
    time_t computing;                        /* when the process was last seen to compute since the end began */
    int64_t computed;                        /* how much it had then, ms */
    atomic_bool registered;                  /* a handler of exit() of ours has been. Without the lock */
} in_driver = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .left_one = PTHREAD_COND_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
GS_RANKED(in_driver.lock, GS_RANK_THREADS);
/* How often this thread is inside or serving: a signal's handler may call exit() anywhere. */
static _Thread_local struct {
    unsigned inside, serving;
    bool has_closed; /* as it ends the process */
    bool ends_process;
    bool ours;
} this_thread;

/* CPU time of the process without this thread, which waits: a machine that stalls charges the stall to it. */
static int64_t computed_ms(void)
{
    return (int64_t)(gs_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - gs_clock_ns(CLOCK_THREAD_CPUTIME_ID)) / 1000000;
}

/* Waits until no other thread is left, within the patience since the end began (for all steps together), and anew for a
 * thread that has compiled meanwhile. With the lock held. */
static void await_others(const atomic_uint *threads, unsigned own, time_t began)
{
    while (*threads > own) {
        const time_t now = time(NULL), since = in_driver.compiled > began ? in_driver.compiled : began;
        /* Where compilers run on other machines, this process's CPU time says nothing about them. */
        if (gs_process.settings.remote || computed_ms() - in_driver.computed >= COMPUTES_MS) {
            in_driver.computing = now;
            in_driver.computed = computed_ms();
        }
        const bool compiles =
            in_driver.compiling && now < in_driver.end_began + COMPILING_S && now < in_driver.computing + PATIENCE_S;
        if (now >= since + PATIENCE_S && !compiles)
            break;
        pthread_cond_timedwait(&in_driver.left_one, &in_driver.lock, &(struct timespec){now + 1, 0});
    }
    if (*threads > own)
        gs_debug("the process ends while %u threads are inside the driver for us", *threads - own);
}

static void settle(bool and_close)
{
    if (gs_forked())
        return;
    this_thread.ends_process = true;
    const time_t now = time(NULL);
    const struct timespec soon = {now + PATIENCE_S, 0};
    if (pthread_mutex_timedlock(&in_driver.lock, &soon) !=
        0) /* by this thread, where a signal's handler calls exit() */
        return;
    if (!in_driver.ending) {
        in_driver.end_began = in_driver.computing = now;
        in_driver.computed = computed_ms();
    }
    in_driver.ending = true;
    await_others(&in_driver.inside, this_thread.inside, in_driver.end_began);
    if (and_close) {
        if (!in_driver.closed)
            in_driver.close_began = time(NULL);
        in_driver.closed = true;
        await_others(&in_driver.serving, this_thread.serving, in_driver.close_began);
        if (!this_thread.serving) /* else that may be its own to do */
            await_others(&in_driver.pending, 0, in_driver.close_began);
    }
    pthread_mutex_unlock(&in_driver.lock);
}

void gs_threads_finish(void)
{
    settle(false);
}

static void wait_at_exit(void)
{
    settle(true);
    this_thread.has_closed = true;
}

void gs_threads_register(void)
{
    atexit(wait_at_exit);
}

/* Until the handler of exit() has returned that is being run. */
static void open_again(void)
{
    pthread_mutex_lock(&in_driver.lock);
    in_driver.closed = false;
    pthread_cond_broadcast(&in_driver.opened);
    pthread_mutex_unlock(&in_driver.lock);
    gs_threads_register();
}

void gs_threads_open_again(void)
{
    if (!this_thread.has_closed || gs_forked())
        return;
    this_thread.has_closed = false;
    open_again();
}

void gs_threads_driver_ends(bool is)
{
    atomic_store(&in_driver.whole, is ? NEVER : time(NULL));
}

void gs_threads_end(void)
{
    gs_threads_driver_ends(false);
    settle(true);
}

struct start {
    const char *name;
    void *(*run)(void *);
    void *arg;
};

static void *begin(void *arg)
{
    const struct start start = *(struct start *)arg;
    free(arg);
    this_thread.ours = true;
    pthread_setname_np(pthread_self(), start.name);
    return start.run(start.arg);
}

bool gs_threads_own(void)
{
    return this_thread.ours;
}

/* The process may allow itself a small stack (ulimit -s 128). Compilers need more. */
static bool create(pthread_t *thread, struct start *start)
{
    enum { STACK_BYTES = 8 << 20 };
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    const bool created = pthread_create(thread, &attr, begin, start) == 0;
    pthread_attr_destroy(&attr);
    return created;
}

bool gs_threads_start(const char *name, pthread_t *thread, void *(*run)(void *), void *arg)
{
    sigset_t all, old;
    pthread_t own;
    if (!atomic_exchange(&in_driver.registered, true))
        gs_threads_register();
    struct start *start = malloc(sizeof *start);
    if (!start)
        return false;
    *start = (struct start){name, run, arg};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const bool started = create(&own, start);
    if (!started)
        free(start);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (started && thread)
        *thread = own;
    else if (started)
        pthread_detach(own);
    return started;
}

/* Unless it is shut. */
static bool come_in(atomic_uint *threads, unsigned *own, const bool *shut)
{
    GS_LOCKED(&in_driver.lock);
    if (*shut)
        return false;
    atomic_fetch_add(threads, 1);
    ++*own;
    return true;
}

static void go_out(atomic_uint *threads, unsigned *own)
{
    GS_LOCKED(&in_driver.lock);
    atomic_fetch_sub(threads, 1);
    --*own;
    pthread_cond_broadcast(&in_driver.left_one);
}

bool gs_threads_enter(void)
{
    return come_in(&in_driver.inside, &this_thread.inside, &in_driver.ending);
}

void gs_threads_leave(void)
{
    go_out(&in_driver.inside, &this_thread.inside);
}

bool gs_threads_ends(void)
{
    GS_LOCKED(&in_driver.lock);
    return in_driver.ending;
}

void gs_threads_compile(bool begins)
{
    GS_LOCKED(&in_driver.lock);
    in_driver.compiling += begins ? 1 : -1u;
    if (!begins)
        in_driver.compiled = time(NULL);
    pthread_cond_broadcast(&in_driver.left_one);
}

static void *run_inside(void *arg)
{
    const struct start *own = arg;
    this_thread.inside = 1;
    own->run(own->arg);
    gs_threads_leave();
    return NULL;
}

void gs_threads_compile_by_own(void *(*run)(void *), void *arg)
{
    struct start own = {NULL, run, arg};
    unsigned counted = 0; /* the thread's: a signal's handler that calls exit() in this one waits for it */
    pthread_t thread;
    if (this_thread.ours || gs_forked() || !come_in(&in_driver.inside, &counted, &in_driver.ending)) {
        run(arg);
    } else if (gs_threads_start("gs-compile", &thread, run_inside, &own)) {
        int state;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* `own`, and what `arg` is, may be on this stack */
        pthread_join(thread, NULL);
        pthread_setcancelstate(state, NULL);
    } else {
        run(arg);
        go_out(&in_driver.inside, &counted);
    }
}

bool gs_threads_build(bool *counted)
{
    *counted = !gs_forked() && gs_threads_enter();
    if (*counted)
        gs_threads_compile(true);
    if (*counted || gs_forked() || this_thread.ends_process)
        return true;
    sleep(PATIENCE_S);
    return false;
}

void gs_threads_built(bool counted)
{
    if (!counted)
        return;
    gs_threads_compile(false);
    gs_threads_leave();
}

bool gs_threads_serve(void)
{
    return come_in(&in_driver.serving, &this_thread.serving, &in_driver.closed);
}

bool gs_threads_pending(void)
{
    unsigned own = 0;
    return come_in(&in_driver.pending, &own, &in_driver.closed);
}

void gs_threads_pending_done(void)
{
    unsigned own = 1;
    go_out(&in_driver.pending, &own);
}

/* Whether a handler of exit() waits for a thread of the application's, or polls, can't be seen: it takes long. */
static bool is_kept_waiting(void)
{
    const time_t late = time(NULL) + CLOSED_S;
    GS_LOCKED(&in_driver.lock);
    while (in_driver.closed)
        if (pthread_cond_timedwait(&in_driver.opened, &in_driver.lock, &(struct timespec){late, 0}) != 0)
            break;
    return in_driver.closed && atomic_load(&in_driver.whole) <= late - CLOSED_S;
}

void gs_threads_serve_wait(void)
{
    while (!gs_threads_serve())
        if (is_kept_waiting())
            open_again();
}

void gs_threads_served(void)
{
    go_out(&in_driver.serving, &this_thread.serving);
}
