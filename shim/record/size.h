/* SPDX-License-Identifier: MIT */
/* What is known of one kernel at one size: one record, which every room asks for here, and which lasts as long as the
 * process. Each dimension of the global size counts as the next of 16 steps to twice as much, so that a kernel whose
 * launches shrink has few of them; up to 32 it counts as it is. An application may make a kernel object, or a program,
 * for each launch: kernels of one name in programs of one text, over as many devices, have the same records. Upper
 * rooms hang what they know into the record. */
#ifndef GS_SHIM_RECORD_SIZE_H
#define GS_SHIM_RECORD_SIZE_H

#include "shim/record/objects.h"

/* What the daemon's units of such launches took; shim/schedule/batch.c has the lock. */
struct gs_unit_times {
    uint64_t ns;                     /* expected of the next; 0: not known */
    uint64_t least_ns;               /* the least of launches that had a unit to themselves */
    unsigned factor;                 /* chunks are so many times the configured work-groups; 0: 1 */
    uint64_t whole_groups, whole_ns; /* what so many work-groups took in chunks; 0: not known */
};

struct gs_size {
    /* In one line of the caches: */
    _Alignas(64) uint64_t kernel; /* gs_kernel_hash */
    uint64_t size[6];             /* global, the largest of its step, and local; of what isn't given 1 and 0 */
    atomic_ushort left;           /* known to be too short to gain by a split: launches that need no look at it */
    struct gs_size *_Atomic next; /* in its bucket */
    struct gs_size *older;        /* came before this one: gs_sizes() */
    uint64_t program;             /* its id; 0: the record stands for all sizes beyond the most that are told apart */
    char *name;                   /* the kernel's */
    unsigned n;                   /* devices */
    struct gs_unit_times units;   /* of the room schedule */
    struct gs_timing *choice;     /* of the room choose, or null; its book's lock */
};

/* What a kernel is known by, in other processes too. Never 0. */
uint64_t gs_kernel_hash(uint64_t program, const char *name, unsigned n);

/* The record of this size; made if need be. Of ever new ones those to come share one in the end. NULL: no memory. */
struct gs_size *gs_size_make(uint64_t program, const char *name, unsigned n, const uint64_t size[6]);

/* The newest of all, from which `older` leads to the others; or NULL. */
struct gs_size *gs_sizes(void);

/* A launch's record; NULL: none has been made, or the sizes aren't well-formed. */
struct gs_size *gs_size_find(const struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local);

/* Is the launch known to be too short to gain by a split? Then on one device nobody needs to look at it; now and then
 * somebody does all the same. Any thread. */
bool gs_size_is_short(const struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local);

/* Launches of a short kernel for each one that is looked at. */
enum { GS_PASSING = 127 };

static inline void gs_size_pass(struct gs_size *s)
{
    atomic_store(&s->left, GS_PASSING);
}

static inline void gs_size_refuse(struct gs_size *s)
{
    atomic_store(&s->left, 0);
}

#endif
