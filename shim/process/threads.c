/* SPDX-License-Identifier: MIT */
#include "shim/process/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/process/fork.h"
#include "shim/process/exit.h"
#include "shim/process/upward.h"

/* A driver that doesn't come back from a call keeps the process no longer than that: a signal's handler that calls
 * exit() may have come while its thread held a lock of the driver's, for which the others would wait for ever. To
 * compile a large program for each device takes seconds by right, for as long as the process computes in them. */
enum { PATIENCE_S = 3, COMPILING_S = 30, COMPUTES_MS = 100 /* in so long as there is patience */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
GS_RANKED(lock, GS_RANK_THREADS);
static pthread_cond_t left_one = PTHREAD_COND_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER; /* `closed` was unset */
static atomic_uint inside, serving;                      /* read without it where nobody is */
static unsigned compiling;                               /* of those inside */
static bool ending, closed;                              /* closed: for those that serve, too */
static time_t end_began, close_began, compiled;          /* compiled: when a compilation last ended */
static time_t computing;  /* when the process was last seen to compute since the end began */
static int64_t computed;  /* how much it had then, ms */
static atomic_bool first; /* no handler of exit() has been registered since that of exit.h; also without the lock */
/* How often this thread is among them: a signal's handler may call exit() where it is. */
static _Thread_local unsigned own_inside, own_serving;
static _Thread_local bool has_closed; /* this thread has, as it ends the process */
static _Thread_local bool ends_process;

/* Of the whole process. */
static int64_t computed_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* With the lock held. Until no other is left, or for as long as there is patience: since the end began, whoever of its
 * steps waits, and anew for who has compiled meanwhile and is to finish. */
static void await_others(const atomic_uint *threads, unsigned own, time_t began)
{
    while (*threads > own) {
        const time_t now = time(NULL), since = compiled > began ? compiled : began;
        if (gs_above_process.compiles_elsewhere() || computed_ms() - computed >= COMPUTES_MS) {
            computing = now;
            computed = computed_ms();
        }
        const bool compiles = compiling && now < end_began + COMPILING_S && now < computing + PATIENCE_S;
        if (now >= since + PATIENCE_S && !compiles)
            break;
        pthread_cond_timedwait(&left_one, &lock, &(struct timespec){now + 1, 0});
    }
    if (*threads > own)
        gs_debug("the process ends while %u threads are inside the driver for us", *threads - own);
}

static void settle(bool and_close)
{
    if (gs_forked())
        return;
    ends_process = true;
    const time_t now = time(NULL);
    const struct timespec soon = {now + PATIENCE_S, 0};
    if (pthread_mutex_timedlock(&lock, &soon) != 0) /* by this thread, where a signal's handler calls exit() */
        return;
    if (!ending) {
        end_began = computing = now;
        computed = computed_ms();
    }
    ending = true;
    await_others(&inside, own_inside, end_began);
    if (and_close) {
        if (!closed)
            close_began = time(NULL);
        closed = true;
        await_others(&serving, own_serving, close_began);
    }
    pthread_mutex_unlock(&lock);
}

void gs_threads_settle(void)
{
    settle(false);
}

static void wait_at_exit(void)
{
    settle(true);
    has_closed = true;
}

void gs_threads_register(void)
{
    atexit(wait_at_exit);
}

void gs_threads_reopen(void)
{
    if (!has_closed || gs_forked())
        return;
    has_closed = false;
    pthread_mutex_lock(&lock);
    closed = false;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
    gs_threads_register(); /* which runs as soon as the handler has returned that is being run */
}

static _Thread_local bool ours;

struct start {
    void *(*run)(void *);
    void *arg;
};

static void *begin(void *arg)
{
    const struct start start = *(struct start *)arg;
    free(arg);
    ours = true;
    return start.run(start.arg);
}

bool gs_threads_ours(void)
{
    return ours;
}

bool gs_threads_start(const char *name, pthread_t *thread, void *(*run)(void *), void *arg)
{
    static atomic_bool registered;
    sigset_t all, old;
    pthread_t own;
    if (!atomic_exchange(&registered, true))
        gs_threads_register();
    struct start *start = malloc(sizeof *start);
    if (!start)
        return false;
    *start = (struct start){run, arg};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const bool started = pthread_create(&own, NULL, begin, start) == 0;
    if (!started)
        free(start);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (started)
        pthread_setname_np(own, name);
    if (started && thread)
        *thread = own;
    else if (started)
        pthread_detach(own);
    return started;
}

static void see_to_first(void)
{
    if (!atomic_exchange(&first, true))
        gs_exit_handler_first();
}

void gs_threads_come_first(void)
{
    atomic_store(&first, false);
    if (!atomic_load(&inside) || gs_forked())
        return;
    pthread_mutex_lock(&lock);
    if (inside && !ending)
        see_to_first();
    pthread_mutex_unlock(&lock);
}

/* Unless it is shut. */
static bool come_in(atomic_uint *threads, unsigned *own, const bool *shut)
{
    pthread_mutex_lock(&lock);
    const bool may = !*shut;
    atomic_fetch_add(threads, may);
    *own += may;
    if (may)
        see_to_first();
    pthread_mutex_unlock(&lock);
    return may;
}

static void go_out(atomic_uint *threads, unsigned *own)
{
    pthread_mutex_lock(&lock);
    atomic_fetch_sub(threads, 1);
    --*own;
    pthread_cond_broadcast(&left_one);
    pthread_mutex_unlock(&lock);
}

bool gs_threads_enter(void)
{
    return come_in(&inside, &own_inside, &ending);
}

void gs_threads_leave(void)
{
    go_out(&inside, &own_inside);
}

bool gs_threads_ends(void)
{
    pthread_mutex_lock(&lock);
    const bool ends = ending;
    pthread_mutex_unlock(&lock);
    return ends;
}

void gs_threads_compile(bool begins)
{
    pthread_mutex_lock(&lock);
    compiling += begins ? 1 : -1u;
    if (!begins)
        compiled = time(NULL);
    pthread_cond_broadcast(&left_one);
    pthread_mutex_unlock(&lock);
}

bool gs_threads_build(bool *counted)
{
    *counted = !gs_forked() && gs_threads_enter();
    if (*counted)
        gs_threads_compile(true);
    if (*counted || gs_forked() || ends_process)
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
    return come_in(&serving, &own_serving, &closed);
}

void gs_threads_serve_patiently(void)
{
    while (!gs_threads_serve()) {
        pthread_mutex_lock(&lock);
        while (closed)
            pthread_cond_wait(&opened, &lock);
        pthread_mutex_unlock(&lock);
    }
}

void gs_threads_served(void)
{
    go_out(&serving, &own_serving);
}
