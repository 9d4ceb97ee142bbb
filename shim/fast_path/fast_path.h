/* SPDX-License-Identifier: MIT */
/* For calls that are handed on with nothing to be noted: shim. Between two calls of an application the driver works for
 * some microseconds and leaves little in the nearest caches of what was there before. So such a call costs what it
 * touches, lines of code and of memory, and its locked operations, which wait for all that the driver has under way;
 * not its instructions. These calls therefore look at one line that is hardly ever written, at one of their own thread,
 * and at one or two of the object. Whatever else there may be to be done has a bit in `care`, and is done elsewhere. */
#ifndef GS_SHIM_FAST_PATH_H
#define GS_SHIM_FAST_PATH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/driver/real.h"

enum { GS_LINE = 64 };

/* These lie together, and what they seldom need elsewhere. */
#define GS_FAST_PATH __attribute__((hot, aligned(GS_LINE)))
#define GS_COLD __attribute__((noinline, cold))

/* So small a transfer that its book-keeping would count. Larger ones may go another way than the driver's own. */
enum { GS_SMALL_BYTES = 64 * 1024 };

/* Why calls can't just be handed on. None is ever taken back, but for START. */
enum gs_care {
    GS_CARE_START = 1,   /* no kernel has been made: the rest isn't known yet */
    GS_CARE_FORKED = 2,  /* this is a child: the objects are none of ours */
    GS_CARE_WATCHED = 4, /* --stats, --trace */
    GS_CARE_DAEMON = 8,  /* there is a daemon, or has been one; or jobs are paced */
    GS_CARE_GIVEN_UP = 16,
    GS_CARE_DIVIDED = 32, /* in some context a launch has been carried out elsewhere than at home */
};

/* Read by all threads. */
struct gs_fast_path {
    _Alignas(GS_LINE) atomic_uint care;
    atomic_uint events;      /* of ours */
    atomic_uint small_bytes; /* a transfer of so many has no other way than the driver's own */
    /* The driver's, once START is gone. */
    __typeof__(&clReleaseEvent) release_event;
    __typeof__(&clWaitForEvents) wait;
};
extern struct gs_fast_path gs_fast_path __attribute__((visibility("hidden")));
_Static_assert(sizeof gs_fast_path == GS_LINE, "one line");

/* One thread's: it alone writes here, so that it takes no locked operation to do so. Threads whose places are taken
 * hand on with the context's lock. */
enum { GS_FAST_PATH_THREADS = 64 };
struct gs_fast_path_thread {
    _Alignas(GS_LINE) void *_Atomic owner; /* its thread pointer: what a thread leaves its heir may take over */
    atomic_uint passing;                   /* commands that it is handing on */
    atomic_uint until_look;                /* so many more, then one goes the other way: gs_fast_path_look */
};
extern struct gs_fast_path_thread gs_fast_path_threads[GS_FAST_PATH_THREADS] __attribute__((visibility("hidden")));

static inline struct gs_fast_path_thread *gs_fast_path_thread(void)
{
    const uint64_t x = (uint64_t)(uintptr_t)__builtin_thread_pointer() * 0x9e3779b97f4a7c15u;
    return &gs_fast_path_threads[x >> 58];
}

static inline bool gs_fast_path_cares(unsigned bits)
{
    return atomic_load_explicit(&gs_fast_path.care, memory_order_acquire) & bits;
}

/* Is the place this thread's? */
static inline bool gs_fast_path_is_mine(const struct gs_fast_path_thread *t)
{
    return atomic_load_explicit(&t->owner, memory_order_relaxed) == __builtin_thread_pointer();
}

/* May this thread's next command be handed on here? Changes nothing. */
static inline bool gs_fast_path_may(const struct gs_fast_path_thread *t)
{
    return !gs_fast_path_cares(~0u) && gs_fast_path_is_mine(t) &&
           atomic_load_explicit(&t->until_look, memory_order_relaxed);
}

/* What a call counts for: one that blocks comes less often. */
enum { GS_FAST_PATH_BLOCKS = 8 };
static inline void gs_fast_path_count(struct gs_fast_path_thread *t, unsigned calls)
{
    const unsigned left = atomic_load_explicit(&t->until_look, memory_order_relaxed);
    atomic_store_explicit(&t->until_look, left > calls ? left - calls : 0, memory_order_relaxed);
}

/* Is there nothing to take care of, as far as this thread has looked lately? Counts as a call. */
static inline bool gs_fast_path_pass(void)
{
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    if (!gs_fast_path_may(t))
        return false;
    gs_fast_path_count(t, 1);
    return true;
}

/* It may: true, hand it on and call gs_fast_path_end. What is handed on must not block. From here on whoever changes
 * what this thread has looked at, and then calls gs_fast_path_barrier, sees `passing`, or the change is seen here: that
 * makes this thread's processor show what it has written before it goes on. */
static inline bool gs_fast_path_begin(struct gs_fast_path_thread *t)
{
    gs_fast_path_count(t, 1);
    const unsigned n = atomic_load_explicit(&t->passing, memory_order_relaxed);
    atomic_store_explicit(&t->passing, n + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(&gs_fast_path.care, memory_order_acquire))
        return true;
    atomic_store_explicit(&t->passing, n, memory_order_release);
    return false;
}

static inline void gs_fast_path_end(struct gs_fast_path_thread *t)
{
    const unsigned n = atomic_load_explicit(&t->passing, memory_order_relaxed);
    atomic_store_explicit(&t->passing, n - 1, memory_order_release);
}

/* The application has made a kernel: what there is to take care of is known. */
void gs_fast_path_start(void);

/* A command goes the other way, which looks for a daemon: this thread gets a place, if there is one, and may make some
 * calls before it comes here again. */
void gs_fast_path_look(void);

/* There is something to take care of from now on. */
static inline void gs_fast_path_care(enum gs_care what)
{
    if (!gs_fast_path_cares(what))
        atomic_fetch_or(&gs_fast_path.care, what);
}

/* Once there is: waits until nothing is being handed on any more, but by this thread itself. */
void gs_fast_path_barrier(void);

#endif
