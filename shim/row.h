/* SPDX-License-Identifier: MIT */
/* Rows: shim. Launches that come right after one another in the unit of an application that is connected alone, made by
 * the one thread that launches in that queue. Each like one that has joined the unit by gs_follow() is handed on as
 * without a daemon (shim/hot.h): nothing is noted but that it came, by this thread and for itself alone. After a few of
 * them one joins the unit by gs_follow() again, which looks at the clock and counts them. A launch that joins by that
 * touches some 50 lines of code and takes three locks: 0.25 us of 4 on an H200. */
#ifndef GS_SHIM_ROW_H
#define GS_SHIM_ROW_H

#include "shim/hot.h"
#include "shim/objects.h"

struct gs_held;

/* Why isn't a launch split? There is one device; whatever its arguments are; or it is known to be short at its size. */
enum gs_row_ways { GS_ROW_ALONE, GS_ROW_ALWAYS, GS_ROW_BY_SIZE };

/* A kernel at one size that has joined the unit. */
struct gs_row_kind {
    cl_kernel kernel;
    uint64_t size; /* a hash: of another size it would only be expected to take as long */
    uint32_t ns;   /* expected of it */
    enum gs_row_ways ways;
};

/* A thread's row. What is enqueued by it comes after the unit's last command, and the unit isn't ended before. */
enum { GS_ROW_KINDS = 6 };
struct gs_row {
    _Alignas(GS_LINE) _Atomic(cl_command_queue) queue; /* null: it has none. Taken away under gs_held_lock */
    unsigned left;                                     /* so many launches more; its thread's, as what follows */
    unsigned n;                                        /* launches that aren't counted in the unit yet, ... */
    uint64_t ns;                                       /* ... what is expected of them, ... */
    uint64_t most_ns;                                  /* ... and the most that may be */
    struct gs_held *held;                              /* the unit. gs_held_lock */
    unsigned job, kinds;
    struct gs_row_kind kind[GS_ROW_KINDS];
};
extern struct gs_row gs_rows[GS_HOT_THREADS] __attribute__((visibility("hidden")));

/* Has this thread a row in that queue? */
static inline bool gs_row_is_in(const struct gs_hot_thread *t, cl_command_queue queue)
{
    return atomic_load_explicit(&gs_rows[t - gs_hot_threads].queue, memory_order_relaxed) == queue && queue &&
           gs_hot_is_mine(t);
}

/* May this launch, without a wait list and an event, be handed on? Then gs_hot_end() is to be called. */
bool gs_row_takes(struct gs_hot_thread *t, cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *global,
                  const size_t *local);

/* This launch, which was found to be like f, has joined the last unit in its queue, and has no event: those like it may
 * go on in a row, if there may be one. With the context's lock held. */
void gs_row_open(struct gs_queue *q, const struct gs_kernel *k, const struct gs_followed *f, cl_uint dims,
                 const size_t *global, const size_t *local);

/* The unit's row comes to its end, and is counted. With gs_held_lock held, which is let go meanwhile if it is another
 * thread's: then the caller has a reference to the unit, and no row will be in it again. */
void gs_row_end(struct gs_held *h);

/* The same if it is this thread's, or there is none. False: it is another's. With gs_held_lock held. */
bool gs_row_end_own(struct gs_held *h);

#endif
