/* SPDX-License-Identifier: MIT */
/* Commands of a scheduled application. Each consists of units, and the driver gets each unit once the daemon has
 * granted it. The first unit is enqueued at once, in the command's place, behind a *gate*: the driver checks the
 * arguments, and there is an event. The gate opens when the commands before have ended and the unit is granted. A
 * thread of ours enqueues the other units, in queues that hold granted units alone, so that no unit waits for another.
 * If no command before still runs and the unit can be had at once, no gate is needed. The application's call waits for
 * a moment at most: docs/daemon.md, "What the shim has to keep to". */
#ifndef GS_SHIM_SCHEDULE_DISPATCH_H
#define GS_SHIM_SCHEDULE_DISPATCH_H

#include "shim/order/command.h"
#include "shim/client/client.h"
#include "shim/record/size.h"

/* ---- batch.c: how much goes into a unit, by the times of earlier commands ----
 *
 * Short commands share a unit, and chunks that prove short become larger. A unit is to be short, so that nobody waits
 * long for it, but not shorter than the time for asking and for hearing of its end: 36 us for a launch of its own (an
 * H200). docs/daemon.md, "How long a unit lasts", has the bound that follows. */

enum { GS_BATCH_SIZES = 12 };

/* A unit of short commands should last no longer than GS_BATCH_NS; than GS_BATCH_ALONE_NS where the application
 * is alone on the resource, and its other units are out; than GS_BATCH_SOLE_NS where the application is sole. Launches
 * that could be cut but go whole have the last two bounds as well. */
enum { GS_BATCH_NS = 200 * 1000, GS_BATCH_ALONE_NS = 600 * 1000, GS_BATCH_SOLE_NS = 5 * 1000 * 1000 };

/* The commands of one unit, by their sizes. All zeros: none yet. */
struct gs_batch {
    unsigned n, sizes;
    uint64_t expected_ns; /* for the whole unit; 0: unknown */
    struct gs_size *size[GS_BATCH_SIZES];
    uint64_t ns[GS_BATCH_SIZES];     /* of each size: the time expected when its first launch came */
    unsigned factor[GS_BATCH_SIZES]; /* of each size: gs_chunk_factor() at that time */
};

/* Adds a launch of that size (NULL: another command, which shares with none). False: the unit would take longer than
 * most_ns; the first command is always added. *full: no further launch of that size fits. */
bool gs_batch_add(struct gs_batch *b, struct gs_size *size, uint64_t most_ns, bool *full);

/* The unit took so long: learns what to expect of its sizes. */
void gs_batch_learn(const struct gs_batch *b, uint64_t took_ns);

/* gs_batch_learn for a unit whose end was heard took_ns after the end of the unit before (or after its own grant, if
 * that came later) and since_grant_ns after its grant. `waited`: the unit was still running when first looked at. */
void gs_batch_complete(const struct gs_batch *b, uint64_t took_ns, uint64_t since_grant_ns, bool waited);

/* A chunk of a launch of that size has so many times the configured work-groups: 1, 2, 4, ... */
unsigned gs_chunk_factor(struct gs_size *size);

/* Were units of one part each so short that the whole launch, of so many parts, might share a unit? */
bool gs_batch_parts_short(struct gs_size *size, unsigned parts);

/* A launch of `groups` work-groups, in several chunks cut by that factor, took so long. */
void gs_chunk_learn(struct gs_size *size, unsigned factor, unsigned chunks, uint64_t groups, uint64_t took_ns);

/* Did the last launch in chunks, of `groups` work-groups or more, take no longer than GS_BATCH_ALONE_NS (`sole`:
 * GS_BATCH_SOLE_NS)? Then a launch of `groups` may go as one unit. */
bool gs_whole_is_short(struct gs_size *size, uint64_t groups, bool sole);

/* ---- deferred.c ---- */

/* How long the units of some commands ran, without waiting for grants: kernels by place, all else by resource. A unit's
 * time begins with its grant, or with the end of the unit before on its resource, and ends when the driver says so. */
struct gs_taken {
    atomic_int refs; /* of the owner, and of each command under way */
    atomic_uint_fast64_t kernel_ns[GS_MAX_DEVICES], other_ns[GS_MAX_RESOURCES];
};
struct gs_taken *gs_taken_new(void); /* null: no memory */
void gs_taken_drop(struct gs_taken *s);
/* Have all commands ended that count here? */
static inline bool gs_taken_is_complete(const struct gs_taken *s)
{
    return atomic_load(&s->refs) == 1;
}

/* Is this the event of the last command under way in a queue, or of one of its units? */
bool gs_is_last_event(cl_command_queue queue, cl_event event);

/* ---- dispatch.c ---- */

/* A command's units, and where they go. */
struct gs_units {
    struct gs_queue *q;     /* the application's queue */
    cl_command_queue queue; /* the driver's, for the first unit, behind the wait list */
    unsigned resource;      /* what the units need */
    cl_uint n_wait;
    const cl_event *wait; /* null if n_wait is 0 */
    unsigned n;           /* all units, the first included */
    /* For units after the first, in turns, so that two may run side by side; retained while they do. May be null. */
    cl_command_queue more[GS_UNIT_QUEUES];
    /* Enqueues a unit; the caller owns the event. gs_run_units alone enqueues unit 0, and only that has a wait list. */
    cl_int (*enqueue)(void *work, unsigned unit, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                      cl_event *event);
    void (*free)(void *work); /* called when the last unit has been enqueued, or none will be; or null */
    void *work;
    struct gs_taken *spent; /* the units' times are added here; or null */
    bool kernel;            /* the units are a kernel of the application, on `place` */
    bool pieces;            /* each unit moves bytes, no more than a unit is for */
    unsigned place;
    struct gs_size *size; /* of a launch whose time is learnt, and which may share a unit; else null */
    unsigned factor;      /* of several units: the factor that they were cut by, ... */
    uint64_t groups;      /* ... and the work-groups of all together */
};

/* gs_units.enqueue of a command of one unit: `op` is the operation. */
cl_int gs_enqueue_unit(void *op, unsigned unit, cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
                       cl_event *event);

/* Enqueues the first unit at once, if need be behind a gate, and sees to the others. The caller owns *end, the event of
 * the last unit (end null: nobody needs one), and after an error the units' work. With the context's lock held. */
cl_int gs_run_units(const struct gs_units *units, cl_event *end);

/* ---- unit_ends.c ---- */

/* Widens the times in `record` by those of `event`; `offset_ns` brings these to the first device's clock. */
void gs_record_times(struct gs_event *record, cl_event event, int64_t offset_ns);

/* All commands have ended that were in the queue when its newest had this number. !well: one has failed, so units are
 * looked at one by one. */
void gs_queue_drained(struct gs_queue *q, unsigned upto, bool well);

/* Waits for threads that are just enqueueing a marker behind commands without events. */
void gs_units_await(void);

/* A call that waited for commands returns to the application: the job may have ended. */
void gs_wait_ended(void);

/* So many threads more, or fewer, wait in the driver for a queue, and will call gs_queue_drained(). */
void gs_queue_waits(int more);

/* Waits until all commands in the application's in-order queue have ended. False: the last command isn't one of units
 * (of_several: of several units), and nothing was waited for. Call without the context's lock. */
bool gs_queue_await(struct gs_queue *q, bool of_several);

/* A command that doesn't go through gs_run_units is about to be enqueued: a unit without an event gets a marker. */
__attribute__((cold)) void gs_queue_close_unit(cl_command_queue queue);
static inline void gs_queue_close(cl_command_queue queue)
{
    if (gs_units_used())
        gs_queue_close_unit(queue);
}

/* The application releases its queue. After this only commands that retain the queue use the handle. */
void gs_queue_leave(cl_command_queue queue);

/* Are all commands in the application's in-order queue known to have ended, or served? With the context's lock held. */
bool gs_queue_is_idle(struct gs_queue *q);

/* Has the driver got the last command in the queue, with all before? Not while chunks of it wait for units. */
bool gs_queue_is_submitted(struct gs_queue *q);

/* Looks at a few units that may have ended unseen, and gives those back: of `resource`, or of `queue` if not null. */
void gs_units_look(unsigned resource, cl_command_queue queue);

/* A unit has ended that was submitted for a command without a gs_deferred. */
void gs_unit_over(struct gs_unit *u);

#endif
