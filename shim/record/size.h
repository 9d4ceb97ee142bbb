/* SPDX-License-Identifier: MIT */
/* What is known of one kernel at one size: one record for all rooms, which lives as long as the process. Up to 32, each
 * dimension of the global size counts as it is; above, sizes count alike that lie in the same of 16 steps to the
 * double, so that a kernel whose launches shrink has few records. An application may make a kernel object, or a
 * program, for each launch: kernels of one name share records, in programs of one text over as many devices. Upper
 * rooms hang their knowledge into the record. */
#ifndef GS_SHIM_RECORD_SIZE_H
#define GS_SHIM_RECORD_SIZE_H

#include "shim/driver/enqueue.h"
#include "shim/record/objects.h"

/* Times of units with such launches; shim/schedule/batch.c has the lock. */
struct gs_unit_times {
    uint64_t ns;                     /* expected of the next unit; 0: unknown */
    uint64_t least_ns;               /* the least of launches that had a unit to themselves */
    unsigned factor;                 /* a chunk has so many times the configured work-groups; 0: once */
    uint64_t whole_groups, whole_ns; /* the time of so many work-groups in chunks; 0: unknown */
};

struct gs_size {
    /* In one cache line: */
    _Alignas(64) uint64_t kernel; /* gs_kernel_hash */
    uint64_t size[6];             /* global (the largest of its step), then local; 1 and 0 for what isn't given */
    atomic_ushort left;           /* so many launches more count as too short to gain by a split, without a look */
    struct gs_size *_Atomic next; /* in the same bucket */
    struct gs_size *older;        /* the record made before: gs_sizes() */
    uint64_t program;             /* the program's id; 0: this record stands for all sizes beyond the limit */
    char *name;                   /* the kernel's */
    unsigned n;                   /* devices */
    struct gs_unit_times units;   /* of the room schedule */
    struct gs_timing *choice;     /* the room choose's entry, or null; the book's lock */
};

/* A kernel's name in all processes. Never 0. */
uint64_t gs_kernel_hash(uint64_t program, const char *name, unsigned n);

/* The record of this size, made if need be. Beyond a limit, new sizes of all kernels share one. NULL: no memory. */
struct gs_size *gs_size_make(uint64_t program, const char *name, unsigned n, const uint64_t size[6]);

/* The newest record; `older` leads to all others; or NULL. */
struct gs_size *gs_sizes(void);

/* A launch's record; NULL: not made yet, or the sizes aren't well-formed. */
struct gs_size *gs_size_find(const struct gs_kernel *k, const struct gs_op *launch);

/* Is the launch known to be too short to gain by a split? If so, one on one device needs no look. Now and then false
 * all the same. Any thread. */
bool gs_size_is_short(const struct gs_kernel *k, const struct gs_op *launch);

/* So many launches to come count as too short: of a short kernel GS_PASSING for each that is looked at. */
enum { GS_PASSING = 127 };
static inline void gs_size_pass(struct gs_size *s, unsigned short launches)
{
    atomic_store(&s->left, launches);
}

#endif
