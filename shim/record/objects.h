/* SPDX-License-Identifier: MIT */
/* What we know of each handle that the application holds. The handles are the driver's own; a table leads from a handle
 * to our record of it. Calls with a handle that isn't in the table pass through.
 *
 * Locks, in order: gs_program.lock, gs_context.lock, the table's own (a leaf). */
#ifndef GS_SHIM_RECORD_OBJECTS_H
#define GS_SHIM_RECORD_OBJECTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shim/devices/group.h"
#include "common/rects.h"
#include "shim/events/events.h"
#include "translator/summary/translate.h"

enum gs_type { GS_CONTEXT = 1, GS_QUEUE, GS_MEM, GS_PROGRAM, GS_KERNEL, GS_EVENT };

/* The head of every record. `refs` counts the application's references, as the driver does; `holds` our own uses. The
 * record leaves the table and is freed when holds falls to 0: until then the application may get the handle back from a
 * dependent object (a kernel's program, a queue's context). */
struct gs_object {
    enum gs_type type;
    void *handle;
    struct gs_context *ctx;
    atomic_int refs, holds;
    struct gs_object *next; /* in its chain of the table; the table's lock */
};

/* Kernels of ours (own_kernels.c). */
enum gs_own_kernel {
    GS_OWN_MERGE,      /* stores the bytes that a part has changed: shim/output/output.h */
    GS_OWN_REDUCE_I32, /* combines the parts' copies, in the order of enum gs_atomic_type: shim/output/output.h */
    GS_OWN_REDUCE_U32,
    GS_OWN_REDUCE_I64,
    GS_OWN_REDUCE_U64,
    GS_OWN_REDUCE_F32,
    GS_OWN_REDUCE_F64, /* null on devices without double, which no kernel there needs */
    GS_OWN_KERNELS
};

struct gs_own_kernels {
    _Atomic(cl_program) program; /* made on first need */
    cl_kernel kernel[GS_OWN_KERNELS];
};

/* ---- the heads ----
 *
 * The head of an object has one pointer for each room that keeps something of it, to a struct which the room defines
 * and owns. Beside these a head says what the object is, and has flags that each command asks for: docs/commands.md. */

/* A context over the devices of the group. */
struct gs_context {
    struct gs_object o;
    /* What each command asks for, in one line of the caches: */
    _Alignas(64) pthread_mutex_t lock; /* all below, and every gs_mem and gs_queue of the context */
    unsigned n;
    bool followed;                 /* its bytes are kept account of: several devices, or large transfers by our ring */
    bool pooled;                   /* its buffers are pooled: docs/memory.md */
    atomic_bool user_event_failed; /* the application has made a user event fail, at some time */
    const char *_Atomic given_up;  /* why no launch of it is split any more, or NULL */
    atomic_bool spread;            /* bytes are, or once were, valid elsewhere than at home */
    atomic_int user_events;        /* the application's user events that have no status yet */
    cl_device_id dev[GS_MAX_DEVICES];
    struct gs_context *next; /* in the list of all contexts; the list's lock */
    /* The lock: */
    struct gs_queue *queues; /* queues that the application still holds */
    atomic_uint n_queues;    /* their number; read without the lock */
    struct gs_mem *mems;     /* root objects */
    struct gs_own_kernels own;
    struct gs_ends *ends;        /* order */
    struct gs_staging *staging;  /* staging; made on first need */
    struct gs_shared *shared;    /* memory; made on first need */
    struct gs_paths *paths;      /* transfer */
    struct gs_scratch *scratch;  /* output */
    struct gs_pool_queues *pool; /* pooled, in a pooled context */
    struct gs_kept *kept;        /* api */
};

/* A command queue of the application, on the first device. */
struct gs_queue {
    /* What each command asks for, in one line of the caches: */
    _Alignas(64) struct gs_object o;
    struct gs_timeline *timeline; /* owns a reference */
    struct gs_queue_set *behind;  /* order */
    bool out_of_order, profiling;
    atomic_bool launched; /* at the next wait there may be something for the room choose to learn */

    struct gs_queue *next;                  /* of the context */
    cl_command_queue_properties properties; /* as the application asked for */
    struct gs_queue_times *times;           /* choose */
    cl_queue_properties *list;              /* the application's list, if the driver got another one; owned */
    size_t list_bytes;
};

/* A range that the application has mapped. Rooms below `memory` ask what is pinned, and what is being written. */
struct gs_mapping {
    void *ptr;
    struct gs_range range;
    bool write;
    bool ours; /* carried out by gpusparc, so the driver doesn't know of it: see shim/memory/object.h */
    size_t origin[3], region[3], pitch[2]; /* of an image's map that is ours: its box, and the layout at ptr */
    struct gs_mapping *next;
};
struct gs_mappings {
    struct gs_mapping *newest; /* owned */
    int writes;                /* of a root and its windows: maps by which the host may be writing */
};

/* An image's texels. An image that owns its texels has them as bytes without gaps; ranges are of whole bands: the
 * slices of a volume, the layers of an array, the rows of a plane, the texels of a line. */
struct gs_image {
    cl_image_format format;
    cl_image_desc desc;
    uint64_t band_bytes;
    unsigned band_dim; /* the dimension in which bands are counted */
};

/* Has a box texels, and does it lie within an image of so many? */
static inline bool gs_image_has_box(const size_t all[3], const size_t origin[3], const size_t region[3])
{
    bool within = true;
    for (int d = 0; d < 3; d++)
        within = within && region[d] && origin[d] <= all[d] && region[d] <= all[d] - origin[d];
    return within;
}

/* A memory object. A sub-buffer, or an image made of a buffer, is a window of its root. Its flags:
 *   asked_flags    the call's that made it; unknown for pooled windows
 *   flags          in force: the driver's with kept_flags; of a window with the parent's about the host's access
 *   kept_flags     of a root: the part of asked_flags that the driver wasn't told
 *   gs_mem_flags   the driver's own of the handle */
struct gs_mem {
    struct gs_object o;
    /* What each command asks for: */
    struct gs_mem *root;   /* the object that owns the bytes, perhaps this one; held */
    uint64_t origin, size; /* of the window, in bytes of the root */
    cl_mem_flags flags;
    const struct gs_image *image; /* set if image calls apply, whatever the root is; or null */
    bool shared;                  /* of a root: all places work in one memory of the host's */
    atomic_bool defined;          /* of a root: every byte is written, or nobody asks; never false again. No lock */
    struct gs_mappings mappings;
    struct gs_bytes *bytes; /* memory */

    cl_mem_flags asked_flags;
    bool home_only;        /* can't have replicas: kernels that use the object run on one device */
    bool is_sub_buffer;    /* of the application: the driver's object is released with the record */
    bool empty_properties; /* made with an empty list of properties, which the driver wasn't told */
    /* Of roots only: */
    cl_mem_flags kept_flags;
    bool is_svm;               /* in shared virtual memory, which others reach by address */
    struct gs_mem *next;       /* of the context's roots */
    struct gs_pool_root *pool; /* pooled, in a pooled context, where the driver's object has no bytes */
};

/* Are all bytes of the object's root defined? */
static inline bool gs_is_defined(const struct gs_mem *m)
{
    return atomic_load_explicit(&m->root->defined, memory_order_relaxed);
}

/* How a program was made, and what the translator has made of it. */
struct gs_program {
    struct gs_object o;
    char *source;                    /* NULL: not made from source */
    char *options;                   /* of the last build, compile */
    struct gs_translate_unit *units; /* of a compiled or linked program: its units; owned, with all texts */
    size_t n_units;
    char *link_options; /* of a linked program */
    bool compiled, linked;
    bool from_binary;    /* source and options are those that the binary was built from, ... */
    char headers[65];    /* ... with these headers: gs_summary.headers */
    const char *refusal; /* why all its kernels run on one device; a constant, or `why` */
    char why[512];
    /* The translation, made on the first launch that could use it: */
    atomic_uint_fast64_t prepare_ns; /* the time of translating and compiling; 0: not done yet */
    atomic_uint_fast64_t build_ns;   /* the time of the application's own build, for one device; 0: unknown */
    atomic_uint_fast64_t text_bytes; /* of the translation that is to be compiled; 0: unknown */
    atomic_uint_fast64_t built_ns;   /* from the driver's cache, as gpusparc-compile found; 0: unknown */
    atomic_uint later;               /* of the room choose: is the translation compiled for later processes? */
    atomic_uint kernels;             /* kernels that the application holds */
    atomic_bool preparing;           /* a thread of ours is translating or compiling */
    struct gs_kernel_kind *kinds;    /* owned */
    uint64_t made_of;                /* a hash of the bytes that a program without source is made from; else 0 */
    atomic_uint_fast64_t id;         /* of text and options, by which the book knows the kernels; 0: not made yet */
    pthread_mutex_t lock;            /* all below */
    bool prepared;
    bool moved; /* kernels of the translation take shifts of their pointers, which lead to ranges of buffers */
    struct gs_summary *summary;
    cl_program translated[GS_MAX_DEVICES]; /* [0] for all places, or one for each; owned */
};

struct gs_arg {
    bool set, is_mem, is_svm;
    size_t size;
    void *bytes; /* the value's `size` bytes: in `word`, or in `large`. Null: local memory, or a null object */
    uint64_t word;
    void *large; /* owned */
    size_t cap;
    uint64_t most; /* the largest value so far, as a number of 4 or 8 bytes that isn't one of our handles */
};

/* See shim/plan/kinds.c. */
struct gs_kernel_kind {
    cl_uint n_args;
    atomic_uint_fast64_t id;  /* gs_kernel.id of its kernels; 0: not made yet */
    atomic_bool unsplittable; /* whatever the launch, for the program's sake */
    bool old;                 /* of a former build */
    /* For --stats: why no launch can be split, [1] if without a local size; or null. */
    const char *_Atomic never[2];
    char *name;
    struct gs_kernel_stats *stats;
    struct gs_plan_cache *plans; /* of the last launches; made on first need; owned. The context's lock */
    struct gs_kernel_kind *next;
};

struct gs_kernel {
    struct gs_object o;
    cl_uint n_args;
    atomic_bool fresh;           /* since the last launch an argument was set that has undefined bytes */
    atomic_bool risen;           /* since auto mode's last look an argument was set to twice its former maximum */
    atomic_bool unsplittable;    /* whatever the launch, for the sake of the program or the context */
    atomic_uint_fast64_t id;     /* gs_kernel_hash(); 0: not made yet */
    struct gs_kernel_kind *kind; /* the program's */
    struct gs_arg *args;
    struct gs_program *program;              /* held */
    bool svm_info;                           /* clSetKernelExecInfo has told of memory beyond the arguments */
    cl_kernel _Atomic spare[GS_MAX_DEVICES]; /* of the translated program, by place, free for the next launch */
};

/* A compound event; or a user event; or, in a pooled context, a command's event, which is a user event of ours. */
struct gs_event {
    struct gs_object o;
    bool user;
    cl_command_queue pooled; /* of a command in a pooled context: its queue, retained; else null */
    bool profiled;           /* that queue has profiles */
    atomic_bool pending;     /* a user event without a status */
    cl_command_type command;
    unsigned n;
    struct {
        cl_event event; /* owned */
        unsigned device;
        struct gs_event *of; /* the record of `event`, if that is the end of several units; held */
    } part[GS_MOST_PLACED];
    /* Of the end of several units: their earliest QUEUED, SUBMIT and START, and their latest END. */
    pthread_mutex_t times_lock;
    bool has_times;
    cl_ulong times[4];
};

/* Zeros, so many bytes, at the begin of a cache line. */
static inline void *gs_new_lines(size_t bytes)
{
    void *lines = aligned_alloc(64, bytes);
    return lines ? memset(lines, 0, bytes) : NULL;
}

/* The record of a handle; NULL: not ours. */
void *gs_find(enum gs_type type, const void *handle);

/* gs_find with a hold: for an object that another thread may release meanwhile. */
void *gs_find_hold(enum gs_type type, const void *handle);

/* Puts a new record into the table, with refs = holds = 1. All other fields of the head must be 0. */
void gs_insert(struct gs_object *o, enum gs_type type, void *handle, struct gs_context *ctx);

/* The application retains. Returns the record if the last reference was released before, and others kept it. */
struct gs_object *gs_retain(enum gs_type type, const void *handle);

/* The application releases. Returns the record with its last reference (call the driver, then gs_drop()), else null. */
struct gs_object *gs_release(enum gs_type type, const void *handle);

void gs_hold(struct gs_object *o);
void gs_drop(void *record); /* a struct gs_object, or what begins with one: callbacks have a void * */

/* The object's newest mapping at the address; null: none. With the context's lock. */
struct gs_mapping *gs_mapping_at(const struct gs_mem *m, const void *ptr);
/* Takes the mapping out of the object's list. False: it isn't there. With the context's lock. */
bool gs_mapping_take(struct gs_mem *m, const struct gs_mapping *map);

/* Why nothing of the context (NULL: of all contexts) is split any more; NULL: launches may be split. */
static inline const char *gs_given_up(const struct gs_context *c)
{
    const char *reason = c ? atomic_load_explicit(&c->given_up, memory_order_relaxed) : NULL;
    return reason ? reason : atomic_load_explicit(&gs_process.given_up, memory_order_relaxed);
}

/* May the host access the object as `access` asks? A sub-buffer without such flags is like its parent. */
static inline bool gs_host_may(const struct gs_mem *m, cl_map_flags access)
{
    /* NVIDIA's driver (580.159) allows maps that overwrite everything, against the flags. */
    const bool writes = access & CL_MAP_WRITE || (access & CL_MAP_WRITE_INVALIDATE_REGION && !gs_group()->nvidia);
    const cl_mem_flags denies = (access & CL_MAP_READ ? CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS : 0) |
                                (writes ? CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS : 0);
    return !((m->flags | m->root->flags) & denies);
}

/* ---- own_kernels.c: kernels that put the parts' results together on the first device, in one program ---- */

/* The kernel object, made on first need; the application doesn't notice a compilation. With the context's lock held,
 * also while the kernel is used. NULL with the error in *err. */
cl_kernel gs_own_kernel(struct gs_context *ctx, enum gs_own_kernel which, cl_int *err);
/* Compiles the program in advance, in a thread of ours inside the driver: in the first launch that needed it that took
 * 58 to 157 ms on an H100, where Rodinia's pathfinder computes for 84 ms. Without a context's lock. */
void gs_own_compile(struct gs_context *ctx);
void gs_own_free(struct gs_context *ctx);
/* Builds a program of ours for n devices, unnoticed by the application. NULL with the error in *err. */
cl_program gs_own_program(cl_context ctx, const cl_device_id *dev, cl_uint n, const char *text, const char *options,
                          cl_int *err);

#endif
