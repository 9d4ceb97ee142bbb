/* SPDX-License-Identifier: MIT */
/* Launches of one kernel at one size that take other times because their other arguments differ: a loop of 300 rounds
 * and one of 8,300. What is known of some says nothing of the others, so they are told apart once that is sure: when
 * two launches with the same arguments were alike, and both far from what is known. Arguments that change with every
 * launch, as a loop's counter does, never are. Pure; the owner locks. Times are in nanoseconds. */
#ifndef GS_SHIM_CHOOSE_CLASSES_H
#define GS_SHIM_CHOOSE_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

enum { GS_STRAYS = 4 };

/* All zeros: nothing is known. Arguments are told apart by a hash of them, never 0. */
struct gs_classes {
    uint64_t of; /* the arguments of the launches that what is known comes from; 0: there were none */
    struct {
        uint64_t args, ns;
    } stray[GS_STRAYS]; /* others, with which one launch took another time; the oldest first */
    unsigned n;
    unsigned in_row; /* measured one after the other that didn't fit */
    unsigned pause;  /* launches from one look at other arguments to the next */
    uint64_t next;   /* the launch from which that is due */
};

/* Before a launch: should it be measured for its arguments' sake? Asked again, it is ever rarer, as long as other
 * arguments make no difference. */
bool gs_classes_wonder(struct gs_classes *c, uint64_t args, uint64_t launch);

/* What one is known to take, or a look at it says that it takes. */
struct gs_span {
    uint64_t least, most; /* UINT64_MAX: nothing is known */
};

/* FITS: it belongs to what is known. STRAY: not yet to anything. APART: its arguments make launches of their own, as
 * one before it has said already. */
enum gs_class { GS_CLASS_FITS, GS_CLASS_STRAY, GS_CLASS_APART };

enum gs_class gs_classes_see(struct gs_classes *c, uint64_t args, struct gs_span known, struct gs_span took);

#endif
