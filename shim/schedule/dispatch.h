/* SPDX-License-Identifier: MIT */
/* Commands of a scheduled application: each consists of units, and each unit is given to the driver once the daemon has
 * granted it. The first unit is enqueued at once, in the place where the command belongs, behind a *gate*: the driver
 * has looked at its arguments, and has an event for it. The gate is opened when the commands before have ended and the
 * unit is granted. The other units follow from a thread of ours, on queues that hold granted units alone, so that no
 * unit waits for another. Where nothing before it still runs, and the unit can be had at once, there is no gate.
 * The application's call waits for a moment at most: docs/daemon.md, "What the shim has to keep to". */
#ifndef GS_SHIM_SCHEDULE_DISPATCH_H
#define GS_SHIM_SCHEDULE_DISPATCH_H

#include "shim/order/command.h"
#include "shim/client/client.h"
#include "shim/record/size.h"

/* ---- batch.c: how much goes into a unit, by how long such commands took before: short ones share one, and where
 * chunks turn out to be short they become larger. A unit is to be short, so that nobody waits long for it, and not so
 * short that asking for it, and hearing of its end, takes longer than it does: 36 us for a launch of its own (an H200).
 * docs/daemon.md, "How long a unit lasts", has the bound that follows ---- */

enum { GS_BATCH_SIZES = 12 };

/* A unit of short commands isn't to be longer than the first; where the next unit would have to wait for others of the
 * same application alone, than the second. */
enum { GS_BATCH_NS = 200 * 1000, GS_BATCH_ALONE_NS = 600 * 1000 };

/* Nor, where no other application is connected, such a unit, or a launch that goes whole, than this. */
enum { GS_BATCH_SOLE_NS = 5 * 1000 * 1000 };

/* The commands of one unit. All zeros: none yet. */
struct gs_batch {
    unsigned n, sizes;
    uint64_t expected_ns; /* that they take; 0: unknown */
    struct gs_size *size[GS_BATCH_SIZES];
    uint64_t ns[GS_BATCH_SIZES];     /* what was expected of each of these when its first came */
    unsigned factor[GS_BATCH_SIZES]; /* by which each would have been cut when its first came */
};

/* Adds a launch of that size (NULL: another command, which stays alone). False: it isn't to be in this unit, which
 * would take longer than most_ns. The first always is. *full: another of that size isn't to be any more. */
bool gs_batch_add(struct gs_batch *b, struct gs_size *size, uint64_t most_ns, bool *full);

/* The unit took so long: what is expected of its sizes from now on. */
void gs_batch_learn(const struct gs_batch *b, uint64_t took_ns);

/* The same as far as it is known: its end was heard took_ns after that of the unit before, or after its own grant if
 * that came later, which was since_grant_ns ago. `waited`: it had not ended yet when somebody looked first. */
void gs_batch_complete(const struct gs_batch *b, uint64_t took_ns, uint64_t since_grant_ns, bool waited);

/* So many times the configured work-groups are a chunk of a launch of that size: 1, 2, 4, ... */
unsigned gs_chunk_factor(struct gs_size *size);

/* Have units of that size, each one of so many parts, been so short that a whole launch might share a unit? */
bool gs_parts_are_short(struct gs_size *size, unsigned parts);

/* A launch of so many work-groups in several chunks by that factor took so long. */
void gs_chunk_learn(struct gs_size *size, unsigned factor, unsigned chunks, uint64_t groups, uint64_t took_ns);

/* Have so many, or more, last taken no longer than a unit may where nobody else waits, or is there? They may be one. */
bool gs_whole_is_short(struct gs_size *size, uint64_t groups, bool sole);

/* ---- dispatch.c ---- */

/* How long the units of some commands ran, without the time in which they waited for grants: for kernels by place, for
 * all else by resource. A unit's time begins when it is granted, or when the one before on its resource has ended, and
 * ends when the driver says so. */
struct gs_taken {
    atomic_int refs; /* its owner's, and those of the commands under way */
    atomic_uint_fast64_t kernel_ns[GS_MAX_DEVICES], other_ns[GS_MAX_RESOURCES];
};
struct gs_taken *gs_taken_new(void); /* null: no memory */
void gs_taken_drop(struct gs_taken *s);
/* Have all its commands ended? */
static inline bool gs_taken_is_complete(const struct gs_taken *s)
{
    return atomic_load(&s->refs) == 1;
}

/* The units behind the first, carried out in order by one thread. */
struct gs_units {
    unsigned n; /* all units, the first included */
    /* For them; retained while they are. Several: they may run side by side, and take turns. The others are null. */
    cl_command_queue queue[GS_UNIT_QUEUES];
    bool first_apart; /* no other unit may be enqueued before the first has ended */
    /* Enqueues a unit; its event is the dispatcher's. The first only for gs_run_units; the others have no wait list. */
    cl_int (*enqueue)(void *work, unsigned unit, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                      cl_event *event);
    void (*free)(void *work); /* once the last one has been enqueued, or none will be */
    void *work;
    struct gs_taken *spent; /* what they take is added to it; or null */
    bool kernel;            /* they are a kernel of the application, on `place` */
    bool pieces;            /* each moves bytes, no more than a unit is for */
    unsigned place;
    struct gs_size *size; /* of a launch that may share a unit, by what is expected of its time: batch.c; else null */
    unsigned factor;      /* of several: by which they were cut, ... */
    uint64_t groups;      /* ... and how many work-groups they have in all */
};

/* Adds the times of one command to the record of several: by the first device's clock, once `offset_ns` is added. */
void gs_record_times(struct gs_event *record, cl_event event, int64_t offset_ns);

/* Where a command of units goes: the application's queue; the driver's, for its first unit, which comes after the wait
 * list; and the resource that its units are of. */
struct gs_destination {
    struct gs_queue *q;
    cl_command_queue queue;
    unsigned resource;
    cl_uint n_wait;
    const cl_event *wait;
};

/* What is enqueued there by now: taken before the wait. A call may have its number and not be enqueued yet; units are
 * told apart by the order in which they are. */
struct gs_queue_mark {
    unsigned call, order;
};
struct gs_queue_mark gs_queue_mark(struct gs_queue *q);
/* All of it has ended, or else was waited for in vain: some of it has failed. */
void gs_queue_drained(struct gs_queue *q, struct gs_queue_mark upto, bool well);

/* Waits for threads that are just enqueueing markers behind commands of which there is no event. */
void gs_units_await(void);

/* A call that waited for commands returns to the application: the job may have ended. */
void gs_wait_ended(void);

/* So many threads more, or fewer, wait in the driver for what is in a queue, and say gs_queue_drained() then. */
void gs_queue_waits(int more);

/* Waits for what a command that is enqueued in the application's queue, in order, would come after, where that is a
 * command of ours (of several units: only then, if so asked) or nothing. False: it is something else, and nothing was
 * waited for. Without the context's lock. */
bool gs_queue_await(struct gs_queue *q, bool of_several);

/* Is this the event of the last command under way in a queue, or of one of its units? */
bool gs_is_last_event(cl_command_queue queue, cl_event event);

/* The application has made one of its user events fail: commands that are held back behind the event fail now. */
void gs_deferred_fail(void);

/* A command that doesn't go through gs_run_units is about to be enqueued: a unit without an event gets a marker. */
__attribute__((cold)) void gs_queue_close_unit(cl_command_queue queue);
static inline void gs_queue_close(cl_command_queue queue)
{
    if (gs_units_used())
        gs_queue_close_unit(queue);
}

/* The application releases its queue: no function here uses the handle but for commands that retain the queue. */
void gs_queue_leave(cl_command_queue queue);

/* Is all in the application's queue, in order, known to have ended, or on the device? With the context's lock held. */
bool gs_queue_is_idle(struct gs_queue *q);

/* Has the driver got what was last enqueued there, and behind what? Not so while chunks of it wait for units. */
bool gs_queue_is_submitted(struct gs_queue *q);

/* Units whose ends have not been seen yet, though they may have come: they are looked at now, and given back. Those
 * that need `resource`, or those in `queue`. */
void gs_units_look(unsigned resource, cl_command_queue queue);

/* A unit that was submitted for a command which no gs_deferred stands for has ended. */
void gs_unit_over(struct gs_unit *u);

/* Enqueues the first unit at once, if need be behind a gate, and sees to the others. *end is the caller's: the event
 * that completes with the last unit; null where nobody needs one. After an error the units' work is the caller's too.
 * With the context's lock held. */
cl_int gs_run_units(const struct gs_destination *to, const struct gs_units *units, cl_event *end);

#endif
