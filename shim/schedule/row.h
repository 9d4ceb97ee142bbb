/* SPDX-License-Identifier: MIT */
/* Rows: shim. Launches that come right after one another in the unit of an application that is connected alone, made by
 * the one thread that launches in that queue. Each like one that has joined the unit by gs_follow() is handed on as
 * without a daemon (shim/record/fast_path.h): nothing is noted but that it came, by this thread and for itself alone.
 * After a few of them one joins the unit by gs_follow() again, which looks at the clock and counts them. A launch that
 * joins by that touches some 50 lines of code and takes three locks: 0.25 us of 4 on an H200. A free row has no unit:
 * where the application waits for its queue after every few launches, a unit's begin and its end took 4 of its 40 us.
 * What goes by it, between two waits, isn't expected to take longer than GS_ROW_FREE_NS, and that is how long another
 * application that comes meanwhile may find the device at work without a unit. Small writes and reads, and waits, go by
 * it as well. After some calls the next launch goes by a unit again, and is timed. Paced tasks have none, nor has
 * anybody while the daemon writes a timeline. tests/e2e/programs/locks.c counts the locks. */
#ifndef GS_SHIM_SCHEDULE_ROW_H
#define GS_SHIM_SCHEDULE_ROW_H

#include "shim/schedule/client.h"
#include "shim/schedule/job.h"
#include "shim/record/fast_path.h"
#include "shim/record/objects.h"

struct gs_deferred;

/* Why isn't a launch split? There is one device; whatever its arguments are; or it is known to be short at its size. */
enum gs_row_ways { GS_ROW_ALONE, GS_ROW_ALWAYS, GS_ROW_BY_SIZE };

/* A kernel at one size that has joined the unit. */
struct gs_row_kind {
    cl_kernel kernel;
    uint64_t size; /* a hash: of another size it would only be expected to take as long */
    uint32_t ns;   /* expected of it */
    enum gs_row_ways ways;
    bool joined; /* the unit under way: others go by free rows alone */
};

/* A thread's row. What is enqueued by it comes after the unit's last command, and the unit isn't ended before. */
enum { GS_ROW_KINDS = 6, GS_ROW_FREE_NS = 1000 * 1000 };
struct gs_row {
    _Alignas(GS_LINE) _Atomic(cl_command_queue) queue; /* null: it has none. Taken away under gs_deferred_lock */
    atomic_uint left;                                  /* so many launches more; its thread's to write, ... */
    unsigned n;                                        /* ... as what follows: launches that aren't counted yet, ... */
    uint64_t ns;                                       /* ... what is expected of them, ... */
    uint64_t most_ns;                                  /* ... and the most that may be */
    struct gs_deferred *held;                          /* the unit. gs_deferred_lock */
    unsigned job, gone, kinds; /* the kinds are of this job, and of when so many kernels had gone */
    struct gs_row_kind kind[GS_ROW_KINDS];
    /* Of a free row; `queue` and gs_queue.free_row are taken away by gs_row_end_free(). */
    bool free;
    struct gs_queue *q;                 /* as long as it is one */
    bool timed;                         /* a launch has gone by a unit since the last one */
    bool paused;                        /* the application has waited for something since it began */
    unsigned left_out;                  /* so many are left out, after one in which it hadn't */
    atomic_bool disturbed;              /* or one that another thread has ended, which waited for something else */
    bool waited;                        /* all up to this call had ended when this many were brief: */
    unsigned waited_call, waited_brief; /* see gs_has_drained() */
    uint64_t past_ns;                   /* expected of what has ended, and not told yet */
    bool told;                          /* the application is a task, whose jobs end where it has waited */
};
extern atomic_uint gs_kernels_gone __attribute__((visibility("hidden"))); /* since there is a daemon */
extern struct gs_row gs_rows[GS_FAST_PATH_THREADS] __attribute__((visibility("hidden")));

/* Without a locked operation. */
static inline unsigned gs_row_left(const struct gs_row *r)
{
    return atomic_load_explicit(&r->left, memory_order_relaxed);
}
static inline void gs_row_leave(struct gs_row *r, unsigned left)
{
    atomic_store_explicit(&r->left, left, memory_order_relaxed);
}

/* Has this thread a row in that queue? */
static inline bool gs_row_is_in(const struct gs_fast_path_thread *t, cl_command_queue queue)
{
    return atomic_load_explicit(&gs_rows[t - gs_fast_path_threads].queue, memory_order_relaxed) == queue && queue &&
           gs_fast_path_is_mine(t);
}

/* The queue, if it has a free one there and no other application is connected; else null. */
static inline struct gs_queue *gs_row_free_in(const struct gs_fast_path_thread *t, cl_command_queue queue)
{
    const struct gs_row *r = &gs_rows[t - gs_fast_path_threads];
    return gs_row_is_in(t, queue) && r->free && gs_row_left(r) && gs_unit_is_sole() ? r->q : NULL;
}

/* May this launch be handed on; if the row isn't free, one without a wait list and an event? Then gs_fast_path_end() is
 * to be called. */
bool gs_row_takes(struct gs_fast_path_thread *t, cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                  const size_t *global, const size_t *local);

/* The same for a small transfer that doesn't block, where the row is free. A read needn't be the next job's. */
bool gs_row_moves(struct gs_fast_path_thread *t, cl_command_queue queue, bool reads);

/* What is waited for in the queue of a free row: all that is in it now. And it has ended. */
struct gs_row_wait {
    cl_command_queue queue;
    unsigned call, brief;
};
struct gs_row_wait gs_row_waits(const struct gs_queue *q);
void gs_row_waited(struct gs_fast_path_thread *t, const struct gs_row_wait *wait);

/* The host gets results by it. */
static inline void gs_row_reads(const struct gs_fast_path_thread *t)
{
    if (gs_rows[t - gs_fast_path_threads].told)
        gs_job_reads();
}

/* A command has been handed on by it: before gs_fast_path_end(). */
extern _Atomic(cl_event) gs_row_newest __attribute__((visibility("hidden"))); /* the last one's, by a task's; or null */
static inline void gs_row_enqueued(const struct gs_fast_path_thread *t, const cl_event *event, cl_int err)
{
    if (gs_rows[t - gs_fast_path_threads].told)
        atomic_store_explicit(&gs_row_newest, event && !err ? *event : NULL, memory_order_relaxed);
}

/* The application lets go of an event: its handle may become another's (perhaps before its command has ended: that is
 * the driver's to say). */
static inline void gs_row_forget(cl_event event)
{
    if (atomic_load_explicit(&gs_row_newest, memory_order_relaxed) == event)
        atomic_store(&gs_row_newest, NULL);
}

/* Whatever thread is about to wait for these events: is the newest of what a task's free row has enqueued among them?
 * Once they have ended, so has all of that, unless there is more by now. */
struct gs_row_end {
    cl_event newest; /* null: no */
    unsigned out;
};
struct gs_row_end gs_row_ends_with(cl_uint n, const cl_event *events);
void gs_row_has_ended(const struct gs_row_end *end);

/* This thread waits for what ends so. A task's job may have ended then if all that its free row has enqueued has ended;
 * where nobody knows, there is no such row in this thread for a while. */
enum gs_row_pause { GS_ROW_NONE, GS_ROW_ALL_ENDS, GS_ROW_NOT_KNOWN };
enum gs_row_pause gs_row_pauses(const struct gs_row_end *end, struct gs_row_wait *wait);

/* Is something under way by a task's free row of this thread, as far as is known? Another thread's is ended, and its
 * end told to the job by a marker. */
bool gs_row_is_out(void);

/* This launch goes by a unit, and was found to be like f. `joins`: it has joined the last one in its queue, and has no
 * event: those like it may go on in a row, if there may be one. With the context's lock held. */
void gs_row_open(struct gs_queue *q, const struct gs_kernel *k, const struct gs_followed *f, cl_uint dims,
                 const size_t *global, const size_t *local, bool joins);

/* Does this thread have a free row from now on, by which this call, that has been counted, goes on? `kernel`: it is a
 * launch of that one, at this size; null: a transfer. With the context's lock held. */
bool gs_row_go_free(struct gs_queue *q, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local);

/* There is a free row in the queue no more. Not with gs_deferred_lock held. */
void gs_row_end_free(struct gs_queue *q);

/* The unit's row comes to its end, and is counted. With gs_deferred_lock held, which is let go meanwhile if it is
 * another thread's: then the caller has a reference to the unit, and no row will be in it again. */
void gs_row_end(struct gs_deferred *h);

/* The same if it is this thread's, or there is none. False: it is another's. With gs_deferred_lock held. */
bool gs_row_end_own(struct gs_deferred *h);

#endif
