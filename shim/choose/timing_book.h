/* SPDX-License-Identifier: MIT */
/* What the files behind shim/choose/timing.h share: the book of all kernels at all their sizes, and its one lock.
 * timing_book.c keeps it, and the files that it comes from and goes to; timing_measured.c writes down what launches
 * took; timing_ahead.c says what a launch waits for, and when a program is prepared; timing.c answers a launch. */
#ifndef GS_SHIM_CHOOSE_TIMING_BOOK_H
#define GS_SHIM_CHOOSE_TIMING_BOOK_H

#include "shim/choose/timing.h"

/* struct gs_size's `choice`. */
struct gs_timing {
    struct gs_size *at;  /* the size that it is of */
    double prepare_ns;   /* what preparing its program took; 0: not known */
    double compile_ns;   /* what compiling it is thought to take at the least */
    bool waited;         /* a launch waited for that in vain, in this process */
    bool used, split;    /* in this process */
    bool refused;        /* its last plan said no: nothing to be learnt */
    bool begun;          /* the first that is measured has been seen running */
    uint64_t awaited_ns; /* what launches have waited for its first measurement; since it began, if it has */
    uint64_t tries_ns;   /* what they have waited to hear of its first splits */
    struct gs_history h;
};

extern struct gs_book {
    pthread_mutex_t lock; /* all below and what the entries hold; a leaf */
    struct gs_machine machine;
    struct gs_budget budget;
    atomic_bool any_split;          /* of this process; read without the lock too */
    atomic_uint_fast64_t waited_ns; /* when the last call returned that waited for commands; without the lock */
    atomic_uint n_pending;          /* measured launches under way; read without the lock too */
    uint64_t awaited_ns;            /* what the application has waited for first measurements */
    uint64_t compiled_ns;           /* ... and for what the driver does before these begin */
    bool machine_learnt;            /* it is not only a guess or a measurement of links, but corrected by splits */
    char links_name[GS_LINKS_NAME_BYTES];
    char learnt_name[sizeof "learnt-" + GS_HASH_HEX_BYTES]; /* of the entry on disk; empty: nothing has been read */
    struct measurement *pending;                            /* under way */
    unsigned n_measured;                                    /* so far */
} gs_book;

/* timing_book.c */

/* Does the choice learn in this mode, of this context's devices? Else nothing is written down. */
bool gs_book_is_kept(const struct gs_context *ctx);

/* Begins with what earlier processes have learnt, the first time. With the lock held. */
void gs_book_open(const struct gs_context *ctx);

/* What is known of this size, made if need be. With the lock held. NULL: no memory. */
struct gs_timing *gs_book_of(struct gs_size *s);

/* All of one program on n devices, or of one of its kernels (name: NULL, all), beginning with null; NULL: no more. With
 * the lock held. */
struct gs_timing *gs_book_next(const struct gs_timing *t, uint64_t program, const char *name, unsigned n);

/* timing_measured.c */

/* Looks at the measurements that are under way. With the lock held. */
void gs_measured_look(void);

/* Is a split of t under way that is being measured? With the lock held. */
bool gs_measured_splits(const struct gs_timing *t);

/* May one more be begun? With the lock held. */
bool gs_measured_has_room(void);

/* timing_ahead.c */

/* At the least, for what is known before it has been. */
double gs_prepare_compile_ns(const struct gs_program *p);

/* What preparing it took: in this process, or in one before; or by what it takes again, as gpusparc-compile says. 0:
 * not known. With the lock held. */
double gs_prepared_ns(const struct gs_timing *t, const struct gs_program *p);

/* What it costs the application, of launches to come, that the program is prepared. With the lock held. */
double gs_prepare_cost_ns(const struct gs_timing *t);

/* timing.c */

/* For who asks for such lines: what becomes of each launch, and why. */
void gs_timing_say(const struct gs_timing *t);

#endif
