/* SPDX-License-Identifier: MIT */
/* The order of locks in an application's process: the shim's, and those of the daemon's client there. A thread waits
 * for a lock only while all locks that it holds have smaller ranks. It holds several of equal rank only where another
 * lock says in which order (fork). So no two threads wait for each other. docs/locking.md says what each lock protects,
 * and where a call may wait under it. A build with GS_CHECK_LOCKS checks each wait (common/lock/check.c). */
#ifndef GS_COMMON_LOCK_RANK_H
#define GS_COMMON_LOCK_RANK_H

#include <stdbool.h>
#include <stdint.h>

/* The outermost first. */
enum gs_rank {
    GS_RANK_CONTEXTS = 1,
    GS_RANK_PACE,
    GS_RANK_STAGING_SLOTS,
    GS_RANK_PROGRAM,
    GS_RANK_CONTEXT,
    GS_RANK_POOL,
    GS_RANK_DAEMON_SEARCH,
    GS_RANK_JOB,
    GS_RANK_BOOK,
    GS_RANK_WORKER,
    GS_RANK_DEFERRED,
    GS_RANK_CLIENTS,
    GS_RANK_CLIENT_LOSS,
    GS_RANK_CLIENT,
    GS_RANK_COPY_POOL,
    GS_RANK_FURTHER_QUEUES,
    GS_RANK_POOL_COMMANDS,
    GS_RANK_KINDS,
    GS_RANK_SHORT_RUNS,
    GS_RANK_SIZES,
    GS_RANK_KNOWN_TIMES,
    GS_RANK_EVENT_TIMES,
    GS_RANK_COMPLETION,
    GS_RANK_CALLBACKS,
    GS_RANK_REPORT,
    GS_RANK_TRACE,
    GS_RANK_TRACE_CLOCK,
    GS_RANK_PLACE_WINDOWS,
    GS_RANK_OBJECTS,
    GS_RANK_THREADS,
    GS_RANK_DRIVER,
    GS_RANK_GATES,
    GS_RANK_EXITS,
};

#define GS_US UINT64_C(1000)
#define GS_MS UINT64_C(1000000)
#define GS_S UINT64_C(1000000000)
#define GS_WITHOUT_LIMIT UINT64_MAX

#ifdef GS_CHECK_LOCKS

struct gs_ranked {
    const void *lock;
    enum gs_rank rank;
    const char *name;
};
#define GS_RANKED_NAME(what, counter) gs_##what##_##counter
#define GS_RANKED_AS(counter, lock_, rank_)                                                                            \
    static const struct gs_ranked GS_RANKED_NAME(ranked, counter) = {&(lock_), rank_, #rank_};                         \
    static const struct gs_ranked *const GS_RANKED_NAME(ranks, counter) __attribute__((used, section("gs_ranks"))) =   \
        &GS_RANKED_NAME(ranked, counter)
/* The rank of a lock that is made at compile time. */
#define GS_RANKED(lock, rank) GS_RANKED_AS(__COUNTER__, lock, rank)
/* The rank of a lock that is made at run time. */
#define gs_rank_lock(lock, rank) gs_rank_made(lock, rank, #rank)
void gs_rank_made(const void *lock, enum gs_rank rank, const char *name);
/* The thread begins to wait for a command, another thread or the daemon, which not all locks allow. `but`: a lock that
 * is let go meanwhile, or null. */
#define GS_WAITS(what, but) gs_check_waits(what, but, 0)
/* Likewise, and asks not to wait for longer than `ns`. */
#define GS_WAITS_FOR(what, but, ns) gs_check_waits(what, but, ns)
void gs_check_waits(const char *what, const void *but, uint64_t ns);
/* From here to the end of the block the thread may wait under the context's lock. why: a reason, a row of the table in
 * docs/locking.md; most_ns: for how long, as `60 * GS_S`, or GS_WITHOUT_LIMIT. */
#define GS_MAY_WAIT(why, most_ns)                                                                                      \
    const int gs_may_wait_ __attribute__((cleanup(gs_check_waited), unused)) = gs_check_may_wait(why, most_ns)
int gs_check_may_wait(const char *why, uint64_t most_ns);
void gs_check_waited(const int *unused);
/* Reports a forbidden step from one state to another. */
#define GS_CHECK(good, what, from, to) ((good) ? (void)0 : gs_check_failed((what), (int)(from), (int)(to)))
void gs_check_failed(const char *what, int from, int to);
/* A line of what happens, for a model that replays it (tests/e2e/lock_notes.c). */
#define GS_NOTE(...) gs_note(__VA_ARGS__)
void gs_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#else

#define GS_RANKED(lock, rank) _Static_assert((rank) > 0, "")
#define gs_rank_lock(lock, rank) ((void)(rank))
#define GS_WAITS(what, but) ((void)0)
#define GS_WAITS_FOR(what, but, ns) ((void)0)
#define GS_MAY_WAIT(why, most_ns) ((void)0)
#define GS_CHECK(good, what, from, to) ((void)(good))
#define GS_NOTE(...) ((void)0)

#endif
#endif
