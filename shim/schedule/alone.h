/* SPDX-License-Identifier: MIT */
/* Alone mode: shim. As long as no other application is connected to the daemon one thread hands the short commands of
 * one queue, in order, to the driver as without a daemon: launches of known kernels at known sizes, small transfers,
 * and waits (shim/record/fast_path.h). They take no unit. What bounds the work that another application finds when it
 * comes are markers: one after GS_ALONE_CALLS commands, or after launches that are expected to take GS_ALONE_NS. Before
 * the next one the thread waits until the one before has ended, so no more than two such intervals are ever under way.
 * What an interval takes, or a wait of the application's, says how long its launches do. Those that turn out long go by
 * units again.
 *
 * What waits for other commands is never waited for here: they may wait for the application. Where such a command is in
 * an interval that hasn't ended by the time of the next marker, alone mode ends; or where a user event has no status,
 * for which a device may wait that carries out what is in other queues first. It does too once another application
 * is connected (the next command sees it), once another thread uses the queue by a unit, and with the job for which it
 * was decided how its commands are carried out. Paced tasks have no alone mode, nor has anybody while the daemon writes
 * a timeline. */
#ifndef GS_SHIM_SCHEDULE_ALONE_H
#define GS_SHIM_SCHEDULE_ALONE_H

#include "shim/schedule/client.h"
#include "shim/schedule/job.h"
#include "shim/record/enqueue.h"
#include "shim/record/fast_path.h"
#include "shim/record/objects.h"

enum { GS_ALONE_CALLS = 128, GS_ALONE_NS = 2500 * 1000, GS_ALONE_KINDS = 6 };

/* Why isn't a launch split? There is one device; whatever its arguments are; or it is known to be short at its size. */
enum gs_alone_ways { GS_ALONE_ONE_DEVICE, GS_ALONE_ALWAYS, GS_ALONE_BY_SIZE };

/* A kernel at one size that is known to be short. */
struct gs_alone_kind {
    cl_kernel kernel;
    uint64_t size;         /* a hash: of another size it would only be expected to take as long */
    struct gs_size *known; /* see batch.h */
    uint32_t ns;           /* expected of it */
    enum gs_alone_ways ways;
};

/* What goes alone between two markers. */
struct gs_alone_interval {
    uint64_t ns;     /* that its launches are expected to take */
    unsigned uses;   /* their kinds, a bit each */
    bool behind;     /* a command of it may wait for other commands */
    uint64_t end_ns; /* when the marker behind it was enqueued */
};

/* A thread's. Only the one that goes alone has a queue. */
struct gs_alone {
    _Alignas(GS_LINE) _Atomic(cl_command_queue) queue; /* where it goes alone; or null. Taken away by gs_alone_end() */
    atomic_uint left;                                  /* commands until the next marker; its thread's to write, ... */
    unsigned n;                                        /* ... as what follows: commands since all was waited for, ... */
    struct gs_alone_interval now;                      /* ... and what has been handed on since the last marker */
    unsigned job, gone, kinds; /* the kinds are of this job, and of when so many kernels had gone */
    struct gs_alone_kind kind[GS_ALONE_KINDS];
    struct gs_queue *q;              /* as long as it goes alone there */
    bool begun;                      /* its thread hasn't seen yet that it goes alone no more */
    _Atomic(cl_event) marker;        /* the last one, which may not have ended; or null; owned */
    struct gs_alone_interval marked; /* the interval that it ends */
    uint64_t since_ns;               /* when the marker before that ended, at the earliest, or all did */
    bool exact;                      /* ... and the latest */
    bool timed;                      /* a launch has gone by a unit since it went alone last */
    bool told;                       /* the application is a task, whose jobs end where it has waited */
    unsigned left_out;               /* so many commands go by units before it may go alone again */
    atomic_bool disturbed;           /* another thread has ended it, which waited for something else */
    bool waited;                     /* all up to this call had ended: */
    unsigned waited_call;
    uint64_t past_ns; /* expected of what has ended, and not told to the daemon yet */
};
extern atomic_uint gs_kernels_gone __attribute__((visibility("hidden"))); /* since there is a daemon */
extern struct gs_alone gs_alone_of[GS_FAST_PATH_THREADS] __attribute__((visibility("hidden")));

/* Without a locked operation. */
static inline unsigned gs_alone_left(const struct gs_alone *a)
{
    return atomic_load_explicit(&a->left, memory_order_relaxed);
}
static inline void gs_alone_leave(struct gs_alone *a, unsigned left)
{
    atomic_store_explicit(&a->left, left, memory_order_relaxed);
}

/* Does this thread go alone in that queue? */
static inline bool gs_alone_is_in(const struct gs_fast_path_thread *t, cl_command_queue queue)
{
    return atomic_load_explicit(&gs_alone_of[t - gs_fast_path_threads].queue, memory_order_relaxed) == queue && queue &&
           gs_fast_path_is_mine(t);
}

/* The queue, if it does and nobody else is connected; else null. */
static inline struct gs_queue *gs_alone_in(const struct gs_fast_path_thread *t, cl_command_queue queue)
{
    return gs_alone_is_in(t, queue) && gs_unit_is_sole() ? gs_alone_of[t - gs_fast_path_threads].q : NULL;
}

/* Puts a marker behind the interval, and waits for the one before. Returns the queue, or null: it goes alone no more.
 */
struct gs_queue *gs_alone_mark(cl_command_queue queue);

/* gs_alone_in() for a command that doesn't block: behind a marker where the interval is used up. With no lock held. */
static inline struct gs_queue *gs_alone_goes(const struct gs_fast_path_thread *t, cl_command_queue queue)
{
    const struct gs_alone *a = &gs_alone_of[t - gs_fast_path_threads];
    struct gs_queue *q = gs_alone_in(t, queue);
    return q && (!gs_alone_left(a) || a->now.ns >= GS_ALONE_NS / 2) ? gs_alone_mark(queue) : q;
}

/* Where gs_alone_goes(): may this launch be handed on? `waits`: it has a wait list. Then gs_fast_path_end() is to be
 * called. */
bool gs_alone_takes(struct gs_fast_path_thread *t, cl_command_queue queue, const struct gs_op *op, bool waits);

/* The same for a small transfer that doesn't block. A read needn't be the next job's. */
bool gs_alone_moves(struct gs_fast_path_thread *t, cl_command_queue queue, bool reads, bool waits);

/* What is waited for in the queue: all that is in it now. And it has ended. */
struct gs_alone_wait {
    cl_command_queue queue;
    unsigned call;
    uint64_t begin_ns; /* 0: it is waited for others as well */
};
struct gs_alone_wait gs_alone_waits(const struct gs_queue *q);
void gs_alone_waited(struct gs_fast_path_thread *t, const struct gs_alone_wait *wait);

/* The host gets results by it. */
static inline void gs_alone_reads(const struct gs_fast_path_thread *t)
{
    if (gs_alone_of[t - gs_fast_path_threads].told)
        gs_job_reads();
}

/* A command has been handed on: before gs_fast_path_end(). */
extern _Atomic(cl_event) gs_alone_newest __attribute__((visibility("hidden"))); /* the last one's, of a task; or null */
static inline void gs_alone_enqueued(const struct gs_fast_path_thread *t, const cl_event *event, cl_int err)
{
    if (gs_alone_of[t - gs_fast_path_threads].told)
        atomic_store_explicit(&gs_alone_newest, event && !err ? *event : NULL, memory_order_relaxed);
}

/* The application lets go of an event: its handle may become another's (perhaps before its command has ended: that is
 * the driver's to say). */
static inline void gs_alone_forget(cl_event event)
{
    if (atomic_load_explicit(&gs_alone_newest, memory_order_relaxed) == event)
        atomic_store(&gs_alone_newest, NULL);
}

/* Whatever thread is about to wait for these events: is the newest of what a task has enqueued alone among them? Once
 * they have ended, so has all of that, unless there is more by now. */
struct gs_alone_ends {
    cl_event newest; /* null: no */
    unsigned out;
};
struct gs_alone_ends gs_alone_ends_with(cl_uint n, const cl_event *events);
void gs_alone_has_ended(const struct gs_alone_ends *end);

/* This thread waits for what ends so. A task's job may have ended then if all that this thread has enqueued alone has;
 * where nobody knows, it doesn't go alone for a while. */
enum gs_alone_pause { GS_ALONE_NOT, GS_ALONE_ALL_ENDS, GS_ALONE_NOT_KNOWN };
enum gs_alone_pause gs_alone_pauses(const struct gs_alone_ends *end, struct gs_alone_wait *wait);

/* It was GS_ALONE_NOT, and they have ended. */
void gs_alone_paused(const struct gs_alone_wait *wait, cl_uint n, const cl_event *events);

/* A task's job may have ended. Where something may be under way that has been enqueued alone, alone mode ends, and a
 * marker tells the job of its end. */
void gs_alone_settle(void);

/* A launch has gone by a unit: those like it may go without one later, once it is known how long they take. With the
 * context's lock held. */
void gs_alone_note(struct gs_queue *q, const struct gs_kernel *k, const struct gs_followed *f, const struct gs_op *op);

/* Does this thread go alone from now on, by which this call, that has been counted, goes on? `launch`: what the call
 * asks for; null: a transfer. With the context's lock held. */
bool gs_alone_begin(struct gs_queue *q, const struct gs_op *launch);

/* Nobody goes alone in the queue any more. Not with gs_deferred_lock held. */
void gs_alone_end(struct gs_queue *q);

/* The application enqueues something there that isn't looked into: it may wait for whatever it likes. */
void gs_alone_touch(struct gs_queue *q);

#endif
