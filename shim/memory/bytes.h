/* SPDX-License-Identifier: MIT */
/* Which bytes of a memory object are valid where, for the rooms of bytes alone: memory, transfer and coherence. */
#ifndef GS_SHIM_MEMORY_BYTES_H
#define GS_SHIM_MEMORY_BYTES_H

#include "shim/memory/object.h"

/* A transfer into a place that isn't known to have ended. */
struct gs_pending {
    cl_event event;            /* owned */
    struct gs_rangeset brings; /* what wasn't valid there before; owned */
};

/* Frees a transfer that nobody waits for any more. */
void gs_pending_drop(struct gs_pending *a);

/* Notes a transfer of r into a place, enqueued behind all others, that ends with `event`; the place's `ready` is this
 * event now. Retains `event`. With the context's lock held. */
cl_int gs_pending_add(struct gs_mem *root, unsigned to, const struct gs_rect *r, cl_event event);

/* One copy of a memory object. Place i is device i; place 0 holds the application's own handle. */
struct gs_replica {
    cl_mem mem;                 /* null until needed; of a window: the same window of the root's replica */
    struct gs_range range;      /* of a root: the bytes that `mem` has room for; all of them at home */
    struct gs_rangeset valid;   /* which bytes are up to date here */
    cl_event ready;             /* the last transfer into this place, or null */
    struct gs_pending *pending; /* in the order in which they were enqueued */
    size_t n_pending, pending_cap;
    /* of a root its newest window, of a window this window: shim/memory/object.h */
    struct gs_place_window *made;
};

/* What launches in parts fetch of a root, by iterations (shim/coherence/prefetch.h). */
enum { GS_PREFETCH_ITERATIONS = 4 };
struct gs_prefetch {
    unsigned places;
    uint64_t most_bytes;
    struct gs_rangeset *iteration[GS_PREFETCH_ITERATIONS]; /* by place what was fetched; the present one first */
    bool unlike;               /* the present one is like no other: too much, or no memory to note it */
    unsigned expected;         /* the one that the present one will be like; 0: unknown */
    bool brought;              /* that one's bytes have been brought */
    unsigned right, vain;      /* so many in a row were as expected; so often bytes came in vain */
    struct gs_rangeset sets[]; /* of all iterations; owned */
};

/* With the context's lock held. */
struct gs_bytes {
    struct gs_side *uses; /* of a root and its windows; the callers' */
    unsigned calls;       /* calls that use the object without the lock */
    unsigned carried;     /* of a root: calls that use it or its windows so, those that have a marker among them */
    unsigned let_go;      /* releases by the application meanwhile, which the last of these calls passes on */
    struct gs_mem *prev;  /* of the context's roots */
    int users;            /* handles of the object and its windows in the application's hands */
    bool keeps_root;      /* a window that retains the driver's object of its root */
    atomic_uint windows;  /* of a root: so many windows keep it */
    /* of roots only */
    void *base;                   /* if `shared`, the bytes' address in the host's memory; else null */
    bool to_share;                /* may become `shared` before a launch with the root is planned */
    struct gs_rangeset undefined; /* bytes that nobody has written yet: any value will do */
    cl_event split_end;           /* the end of the last split launch with writes to this root, or null; owned */
    struct gs_rangeset sent;      /* bytes that the host's last write sent to other places than home */
    struct gs_rangeset spoiled;   /* bytes with no known value, as such a launch failed */
    bool lost;                    /* all bytes are spoiled for good: no memory to note which */
    struct gs_traffic traffic;
    struct gs_prefetch *prefetch;    /* made at the first fetch of a launch in parts; or null; owned */
    uint64_t settled;                /* the serial number of the last command for which gs_settle has looked */
    struct gs_pinned_memory *mapped; /* the host's memory for maps that are ours, or null; owned */
    struct gs_replica *place;        /* one of each of the context's devices; [0] of roots is home */
};

/* Sets up a new root: all its bytes at home; undefined unless `defined`. -ENOMEM. */
int gs_bytes_init(struct gs_mem *root, bool defined);

#endif
