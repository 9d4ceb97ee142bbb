/* SPDX-License-Identifier: MIT */
/* Looks at each lock that is waited for: pthread_mutex_lock and its like are these functions in a library linked with
 * --wrap, which the tests load in place of the shim. What breaks the order is a line in the file GS_LOCK_REPORT, each
 * pair once. A lock without a rank is one as well. To try a lock, or to wait for one for a while, breaks nothing. */
#include "common/lock/rank.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int __real_pthread_mutex_lock(pthread_mutex_t *m);
int __real_pthread_mutex_trylock(pthread_mutex_t *m);
int __real_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __real_pthread_mutex_destroy(pthread_mutex_t *m);
int __real_pthread_rwlock_rdlock(pthread_rwlock_t *l);
int __real_pthread_rwlock_wrlock(pthread_rwlock_t *l);
int __real_pthread_rwlock_unlock(pthread_rwlock_t *l);
int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m);
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *l);
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *l);
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *l);

enum { MOST_HELD = 64, RANKS = 256, PLACES = 1 << 16 };

extern const struct gs_ranked *const __start_gs_ranks[], *const __stop_gs_ranks[];

/* Those made at run time, by address; one that is gone keeps its place, with rank 0. */
static struct gs_ranked made[PLACES];
static pthread_mutex_t made_lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local struct gs_ranked held[MOST_HELD];
static _Thread_local unsigned n_held;

static struct gs_ranked *place_of(const void *lock)
{
    size_t i = (size_t)lock / sizeof(void *) % PLACES;
    while (made[i].lock && made[i].lock != lock)
        i = (i + 1) % PLACES;
    return &made[i];
}

void gs_rank_made(const void *lock, enum gs_rank rank, const char *name)
{
    __real_pthread_mutex_lock(&made_lock);
    *place_of(lock) = (struct gs_ranked){lock, rank, name};
    __real_pthread_mutex_unlock(&made_lock);
}

static struct gs_ranked rank_of(const void *lock)
{
    for (const struct gs_ranked *const *r = __start_gs_ranks; r < __stop_gs_ranks; r++)
        if ((*r)->lock == lock)
            return **r;
    __real_pthread_mutex_lock(&made_lock);
    const struct gs_ranked found = *place_of(lock);
    __real_pthread_mutex_unlock(&made_lock);
    return found.lock && found.rank ? found : (struct gs_ranked){lock, 0, "a lock without a rank"};
}

/* Below zero: nobody wants to hear of it. */
static int open_report(void)
{
    const char *file = getenv("GS_LOCK_REPORT");
    return file ? open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
}

void gs_check_failed(const char *what, int from, int to)
{
    const int fd = open_report();
    if (fd < 0)
        return;
    dprintf(fd, "%s goes from %d to %d\n", what, from, to);
    close(fd);
}

static void report(const struct gs_ranked *wanted, const struct gs_ranked *holds, const void *from)
{
    static _Atomic bool said[RANKS][RANKS];
    const bool again = atomic_exchange(&said[wanted->rank % RANKS][holds ? holds->rank % RANKS : 0], true);
    const int fd = again ? -1 : open_report();
    if (fd < 0)
        return;
    Dl_info in = {0};
    dladdr(from, &in); /* for addr2line */
    dprintf(fd, "%s is waited for%s%s, at 0x%tx\n", wanted->name, holds ? " by who has " : "", holds ? holds->name : "",
            (const char *)from - (const char *)in.dli_fbase);
    close(fd);
}

/* May a thread that has it wait for commands, other threads or the daemon? */
static bool allows_waits(enum gs_rank rank)
{
    switch (rank) {
    case GS_RANK_PACE:
    case GS_RANK_STAGING_SLOTS:
    case GS_RANK_PROGRAM:
    case GS_RANK_POOL:
    case GS_RANK_DAEMON_SEARCH:
    case GS_RANK_JOB:
    case GS_RANK_THREADS:
    case GS_RANK_DRIVER:
        return true;
    default:
        return false;
    }
}

/* The reasons that the thread has given to wait under the context's lock, the innermost last. */
enum { MOST_REASONS = 8 };
static _Thread_local struct {
    const char *why;
    uint64_t most_ns, begin_ns;
} reason[MOST_REASONS];
static _Thread_local unsigned reasons;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * GS_S + (uint64_t)t.tv_nsec;
}

static bool has_context(void)
{
    unsigned i = 0;
    while (i < n_held && held[i].rank != GS_RANK_CONTEXT)
        i++;
    return i < n_held;
}

int gs_check_may_wait(const char *why, uint64_t most_ns)
{
    if (reasons == MOST_REASONS)
        abort();
    reason[reasons].why = why;
    reason[reasons].most_ns = most_ns;
    reason[reasons++].begin_ns = now_ns();
    return 0;
}

static void report_long(const char *what, const char *verb, uint64_t ns)
{
    const int fd = has_context() ? open_report() : -1;
    if (fd < 0)
        return;
    dprintf(fd, "%s %s %" PRIu64 " ns under GS_RANK_CONTEXT; admitted are %" PRIu64 " for %s\n", what, verb, ns,
            reason[reasons - 1].most_ns, reason[reasons - 1].why);
    close(fd);
}

/* How long a thread of a machine that isn't busy may stand still by itself. On a busy one all takes longer, by GS_BUSY
 * (cmake/GsTest.cmake). */
enum { STALL_MS = 250 };

void gs_check_waited(const int *unused)
{
    (void)unused;
    const uint64_t most_ns = reason[reasons - 1].most_ns, took_ns = now_ns() - reason[reasons - 1].begin_ns;
    if (most_ns != GS_WITHOUT_LIMIT && took_ns > GS_BUSY * (most_ns + STALL_MS * GS_MS))
        report_long(reason[reasons - 1].why, "took", took_ns);
    reasons--;
}

void gs_check_waits(const char *what, const void *but, uint64_t ns)
{
    if (reasons && ns > reason[reasons - 1].most_ns)
        report_long(what, "asks to wait for", ns);
    for (unsigned i = 0; i < n_held; i++) {
        if (allows_waits(held[i].rank) || held[i].lock == but || (held[i].rank == GS_RANK_CONTEXT && reasons))
            continue;
        static _Atomic bool said[RANKS];
        const int fd = atomic_exchange(&said[held[i].rank % RANKS], true) ? -1 : open_report();
        Dl_info in = {0};
        dladdr(__builtin_return_address(0), &in);
        if (fd < 0)
            continue;
        dprintf(fd, "%s is waited for under %s, at 0x%tx\n", what, held[i].name,
                (const char *)__builtin_return_address(0) - (const char *)in.dli_fbase);
        close(fd);
    }
}

static void look(const void *lock, const void *from)
{
    const struct gs_ranked wanted = rank_of(lock);
    if (!wanted.rank)
        report(&wanted, NULL, from);
    for (unsigned i = 0; i < n_held; i++)
        if (held[i].rank > wanted.rank || held[i].lock == lock)
            report(&wanted, &held[i], from);
}

static int note(const void *lock, int rc)
{
    if (rc == 0 && n_held < MOST_HELD)
        held[n_held++] = rank_of(lock);
    return rc;
}

static void note_unlock(const void *lock)
{
    for (unsigned i = n_held; i-- > 0;)
        if (held[i].lock == lock) {
            for (; i + 1 < n_held; i++)
                held[i] = held[i + 1];
            n_held--;
            return;
        }
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
    look(m, __builtin_return_address(0));
    return note(m, __real_pthread_mutex_lock(m));
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *m)
{
    return note(m, __real_pthread_mutex_trylock(m));
}

int __wrap_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    return note(m, __real_pthread_mutex_timedlock(m, until));
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
    note_unlock(m);
    return __real_pthread_mutex_unlock(m);
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *m)
{
    gs_rank_made(m, 0, "");
    return __real_pthread_mutex_destroy(m);
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
    look(l, __builtin_return_address(0));
    return note(l, __real_pthread_rwlock_rdlock(l));
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    look(l, __builtin_return_address(0));
    return note(l, __real_pthread_rwlock_wrlock(l));
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    note_unlock(l);
    return __real_pthread_rwlock_unlock(l);
}
