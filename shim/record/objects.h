/* SPDX-License-Identifier: MIT */
/* What we know of each handle that the application holds. The handles are the driver's own; a side table leads from a
 * handle to what hangs off it. A handle that isn't in the table is none of ours: its calls pass through.
 *
 * Locks, in the order in which they are taken: gs_program.lock, gs_context.lock, the table's own (leaf). */
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

/* The head of every object. `refs` counts the application's references as the driver does; `holds` counts our own uses.
 * The object leaves the table and is freed when holds falls to 0: until then the application may get the handle back
 * from what depends on it (a kernel's program, a queue's context). */
struct gs_object {
    enum gs_type type;
    void *handle;
    struct gs_context *ctx;
    atomic_int refs, holds;
    struct gs_object *next; /* in its chain of the table; protected by the table's lock */
};

/* Kernels of ours (own_kernels.c). */
enum gs_own_kernel {
    GS_OWN_MERGE,      /* the bytes of a part that differ from those before it: shim/output/output.h */
    GS_OWN_REDUCE_I32, /* what parts left combined, in the order of enum gs_atomic_type: shim/output/output.h */
    GS_OWN_REDUCE_U32,
    GS_OWN_REDUCE_I64,
    GS_OWN_REDUCE_U64,
    GS_OWN_REDUCE_F32,
    GS_OWN_REDUCE_F64, /* none where the device lacks double: no kernel of it asks */
    GS_OWN_KERNELS
};

struct gs_own_kernels {
    _Atomic(cl_program) program; /* made on first need */
    cl_kernel kernel[GS_OWN_KERNELS];
};

/* ---- the heads ----
 *
 * What a room keeps of an object hangs off its head: one pointer for each room, to a struct that the room defines, and
 * owned. Beside these a head has what the object is, and flags that each command asks for: docs/commands.md. */

/* A context over the devices of the group. */
struct gs_context {
    struct gs_object o;
    /* What each command asks for, in one line of the caches: */
    _Alignas(64) pthread_mutex_t lock; /* what stands below, and every gs_mem and gs_queue of the context */
    unsigned n;
    bool shared_memory;            /* the devices work in the host's memory */
    bool followed;                 /* it has several devices, or one whose large transfers are carried */
    bool pooled;                   /* its buffers are pooled: docs/memory.md */
    atomic_bool user_event_failed; /* the application has made a user event fail, at some time */
    const char *_Atomic given_up;  /* why none of its launches is split any more, or NULL */
    atomic_bool spread;            /* bytes are, or once were, valid elsewhere than at home */
    atomic_int user_events;        /* the application's user events that have no status yet */
    cl_device_id dev[GS_MAX_DEVICES];
    cl_device_id parent;     /* of sub-devices, or null: in the context too, for image commands */
    struct gs_context *next; /* in the list of all; protected by that list's lock */
    /* The lock: */
    struct gs_queue *queues; /* those the application still holds */
    atomic_uint n_queues;    /* so many; read without the lock */
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

struct gs_carry;

/* A command queue of the application, on the first device. */
struct gs_queue {
    /* What each command asks for, in one line of the caches: */
    _Alignas(64) struct gs_object o;
    struct gs_timeline *timeline;     /* events; a reference */
    struct gs_carry *_Atomic carried; /* put: by a call under way, whose it is; changed with the context's lock */
    bool out_of_order, profiling;
    atomic_bool launched; /* there may be something for the room choose to learn at the next wait */

    struct gs_queue *next;                  /* of the context */
    cl_command_queue_properties properties; /* as the application asked for */
    struct gs_queue_set *behind;            /* order */
    struct gs_queue_times *times;           /* choose */
    cl_queue_properties *list;              /* the application's, where the driver's is another; owned */
    size_t list_bytes;
};

/* What the application has mapped. Rooms below the room memory ask for it: which memory is pinned, what is split. */
struct gs_mapping {
    void *ptr;
    struct gs_range range;
    bool write;
    bool ours;                             /* the driver doesn't know of it: see shim/memory/object.h */
    size_t origin[3], region[3], pitch[2]; /* of an image's that is ours: what of it, and how it lies at ptr */
    struct gs_mapping *next;
};
struct gs_mappings {
    struct gs_mapping *newest; /* owned */
    struct gs_mapping *spare;  /* the last that has ended, for the next; or null; owned */
    int writes;                /* of a root, with its windows': bytes that the host may be writing */
};

/* An image's texels. The bytes of an image that owns its texels are these laid out without gaps; its ranges are of
 * whole bands: the slices of a volume, the layers of an array, the rows of a plane, the texels of a line. */
struct gs_image {
    cl_image_format format;
    cl_image_desc desc;
    uint64_t band_bytes;
    unsigned band_dim; /* the dimension that bands are counted in */
};

/* A memory object: what it is. A sub-buffer, and an image made of a buffer, is a window of its root. */
struct gs_mem {
    struct gs_object o;
    /* What each command asks for: */
    struct gs_mem *root;          /* itself, or the object that owns the bytes; held */
    uint64_t origin, size;        /* of the window, in bytes of the root */
    cl_mem_flags flags;           /* that hold of it */
    const struct gs_image *image; /* image calls apply to it, whatever its root is; or null */
    bool shared;                  /* of a root: its bytes are one memory of the host's, in which all places work */
    atomic_bool defined; /* of a root: every byte has been written, and stays so; or nobody asks. Without the lock */
    struct gs_mappings mappings;
    struct gs_bytes *bytes; /* memory */

    cl_mem_flags asked_flags; /* by the application; of pooled windows not known */
    bool home_only;           /* it can't have replicas: kernels that use it run on one device */
    bool is_sub_buffer;       /* one of the application's: the driver's goes when its record does */
    bool empty_properties;    /* made with an empty list of properties, of which the driver wasn't told */
    atomic_int carried;       /* references to its handle that are ours: gs_keep_mem() */
    /* Of roots only: */
    cl_mem_flags kept_flags;   /* those of asked_flags that the driver wasn't told */
    bool is_svm;               /* it lies in shared virtual memory, which others reach by its address */
    struct gs_mem *next;       /* of the context's roots */
    struct gs_pool_root *pool; /* pooled, in a pooled context, where the driver's object has no bytes */
};

/* Are all its bytes defined? */
static inline bool gs_is_defined(const struct gs_mem *m)
{
    return atomic_load_explicit(&m->root->defined, memory_order_relaxed);
}

/* How a program came to be, and what the translator made of it. */
struct gs_program {
    struct gs_object o;
    char *source;                    /* NULL: not made from source */
    char *options;                   /* of the last build, compile */
    struct gs_translate_unit *units; /* of a compiled or linked program: what it is made of; owned, with all texts */
    size_t n_units;
    char *link_options; /* of a linked program */
    bool compiled, linked;
    bool from_binary;    /* the source and options are those that its binary was once built from, ... */
    char headers[65];    /* ... with these headers: gs_summary.headers */
    const char *refusal; /* why its kernels run on one device; a constant, or `why` */
    char why[512];
    /* The second half: made once, on the first launch that could use it. */
    atomic_uint_fast64_t prepare_ns; /* how long translating and compiling took; 0: not done yet */
    atomic_uint_fast64_t build_ns;   /* the same of the application's own build, for one device; 0: not known */
    atomic_uint_fast64_t text_bytes; /* of its translation, which is to be compiled; 0: not known */
    atomic_uint_fast64_t built_ns;   /* the same from the driver's cache, by gpusparc-compile; 0: not known */
    atomic_uint later;               /* of the room choose: whether it is compiled for later processes */
    atomic_uint kernels;             /* of it, that the application holds */
    atomic_bool preparing;           /* a thread of ours is at it */
    struct gs_kernel_kind *kinds;    /* owned */
    uint64_t made_of; /* where the source isn't known a hash of the bytes that the program is made from; else 0 */
    atomic_uint_fast64_t id; /* of text and options, for what was learnt of its kernels; 0: not made yet */
    pthread_mutex_t lock;    /* all below */
    bool prepared;
    struct gs_summary *summary;
    cl_program translated[GS_MAX_DEVICES]; /* [0] for all parts, or one for each; owned */
};

struct gs_arg {
    bool set, is_mem, is_svm;
    bool has_value; /* false: local memory, or a null object */
    size_t size;
    void *bytes; /* `size` of them where there is a value: in `word`, or `large` */
    uint64_t word;
    void *large; /* owned */
    size_t cap;
    uint64_t most; /* the largest value so far, as a whole number of 4 or 8 bytes that is no handle of ours */
};

/* See shim/plan/kinds.c. */
struct gs_kernel_kind {
    cl_uint n_args;
    atomic_uint_fast64_t id;  /* of its kernels; 0: not made yet */
    atomic_bool unsplittable; /* for what the program is */
    bool old;                 /* of a former build */
    /* For --stats: why no launch can be split, [1] of those without a local size; or null. */
    const char *_Atomic never[2];
    char *name;
    struct gs_kernel_stats *stats;
    struct gs_plan_cache *plans; /* of its last launches; made on first need; owned. ctx lock */
    struct gs_kernel_kind *next;
};

struct gs_kernel {
    struct gs_object o;
    cl_uint n_args;
    atomic_bool fresh; /* since the last launch an argument was set of which bytes are undefined */
    atomic_bool risen; /* since auto mode last looked at a launch an argument was set to twice its former maximum */
    atomic_bool unsplittable;    /* whatever the launch, for what its program is, or its context */
    atomic_uint_fast64_t id;     /* gs_kernel_hash(); 0: not made yet */
    struct gs_kernel_kind *kind; /* the program's */
    struct gs_arg *args;
    struct gs_program *program; /* held */
    const char *name;           /* the kind's */
    bool svm_info;              /* clSetKernelExecInfo has told of more than arguments */
    struct gs_kernel_stats *stats;
    cl_kernel _Atomic spare[GS_MAX_DEVICES]; /* of the translated program, that no launch is about to use; by place */
};

/* An event that stands for several commands; or a user event; or, of a command in a pooled context, one of ours. */
struct gs_event {
    struct gs_object o;
    bool user;
    cl_command_queue pooled; /* the queue of such a command, with a reference; else null */
    bool profiled;           /* ... which has profiles */
    atomic_bool pending;     /* a user event without a status */
    cl_command_type command;
    unsigned n;
    struct {
        cl_event event; /* owned */
        unsigned device;
        struct gs_event *of; /* what is known of it, if it is the end of several units; held */
    } part[GS_MAX_DEVICES * 2];
    /* Of the end of several units: the earliest QUEUED, SUBMIT and START of them, and the latest END. */
    pthread_mutex_t times_lock;
    bool has_times;
    cl_ulong times[4];
};

/* Zeros, so many bytes, at the beginning of a line of the caches. */
static inline void *gs_new_lines(size_t bytes)
{
    void *lines = aligned_alloc(64, bytes);
    return lines ? memset(lines, 0, bytes) : NULL;
}

/* Looks a handle up. NULL: not ours. */
void *gs_find(enum gs_type type, const void *handle);

/* The same as gs_find, held: for an object that another thread may let go meanwhile. */
void *gs_find_hold(enum gs_type type, const void *handle);

/* Puts a new object, all zeros but for its own fields, into the table: refs = holds = 1. */
void gs_insert(struct gs_object *o, enum gs_type type, void *handle, struct gs_context *ctx);

/* The application retains. When it had released its last reference, the object is returned: others have kept it. */
struct gs_object *gs_retain(enum gs_type type, const void *handle);

/* The application releases. When it was the last reference, the object is returned: the caller calls the driver and
 * then gs_drop()s it. */
struct gs_object *gs_release(enum gs_type type, const void *handle);

void gs_hold(struct gs_object *o);
void gs_drop(struct gs_object *o);

/* Keeps a memory object that a unit or a transfer of ours uses later, when the application may have let it go: the
 * driver's, and of one of the application's also what we know of it, with its replicas and windows. Null: there is none
 * to be kept. Any thread. */
cl_int gs_keep_mem(cl_mem mem);
/* The end of that. Of a sub-buffer that the application has let go this may be the driver's last release. */
void gs_drop_mem(cl_mem mem);

/* The object's newest mapping at the address; null: there is none. With the context's lock. */
struct gs_mapping *gs_mapping_at(const struct gs_mem *m, const void *ptr);
/* The mapping is the object's no more. False: it wasn't. The same lock. */
bool gs_mapping_take(struct gs_mem *m, const struct gs_mapping *map);

/* Why nothing of the context (NULL: of any) is split any more, or NULL. */
static inline const char *gs_given_up(const struct gs_context *c)
{
    const char *reason = c ? atomic_load_explicit(&c->given_up, memory_order_relaxed) : NULL;
    return reason ? reason : atomic_load_explicit(&gs_process.given_up, memory_order_relaxed);
}

/* May the host read the object, write it, or both, as `access` says? A sub-buffer that says nothing of that is as its
 * parent. */
static inline bool gs_host_may(const struct gs_mem *m, cl_map_flags access)
{
    /* NVIDIA's driver (580.159) takes maps by which everything is written anew. */
    const bool writes = access & CL_MAP_WRITE || (access & CL_MAP_WRITE_INVALIDATE_REGION && !gs_group()->nvidia);
    const cl_mem_flags denies = (access & CL_MAP_READ ? CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS : 0) |
                                (writes ? CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS : 0);
    return !((m->flags | m->root->flags) & denies);
}

/* ---- own_kernels.c: these bring the results of parts together on the first device. They are one program ---- */

/* The kernel object, made on first need; the application hears nothing of a compilation. The context's lock is held,
 * also while the object is used. NULL: *err says why. */
cl_kernel gs_own_kernel(struct gs_context *ctx, enum gs_own_kernel which, cl_int *err);
/* Compiles the program beforehand, by a thread of ours that is inside the driver: in the launch that needs it first it
 * took 58 to 157 ms on an H100, of 84 ms that Rodinia's pathfinder computes. Without a context's lock. */
void gs_own_compile(struct gs_context *ctx);
void gs_own_free(struct gs_context *ctx);
/* Builds a program of ours for n devices, of which the application hears nothing either. NULL: *err says why. */
cl_program gs_own_program(cl_context ctx, const cl_device_id *dev, cl_uint n, const char *text, const char *options,
                          cl_int *err);

#endif
