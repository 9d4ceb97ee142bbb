/* SPDX-License-Identifier: MIT */
/* What the files behind shim/choose/timing.h share: the book of all kernels at all sizes, and its one lock.
 * timing_book.c keeps it and reads and writes its files; timing_measured.c enters what launches took; timing_ahead.c
 * says what a launch waits for, and when a program is prepared; timing.c answers a launch. */
#ifndef GS_SHIM_CHOOSE_TIMING_BOOK_H
#define GS_SHIM_CHOOSE_TIMING_BOOK_H

#include "shim/choose/timing.h"

/* One entry of the book: struct gs_size's `choice`. */
struct gs_timing {
    struct gs_size *at;       /* the size of this entry */
    double prepare_ns;        /* the time that preparing the program took; 0: unknown */
    double compile_ns;        /* at least so long, as is thought, compiling the program will take */
    _Atomic(cl_program) asks; /* the program of a launch whose time wasn't known; it may be gone by now */
    bool waited;              /* a launch has waited for the preparation in vain, in this process */
    bool used;                /* in this process */
    bool refused;             /* the last plan said that the launch can't be split: nothing to measure */
    bool begun;               /* the first measured launch was seen running */
    uint64_t last_ns;         /* when it was launched last, ... */
    uint64_t before_ns;       /* ... and before that; 0: never */
    uint64_t awaited_ns;      /* how long launches have waited for the first measurement; from 0 again when it runs */
    uint64_t tries_ns;        /* how long launches have waited for the times of the first splits */
    struct gs_history h;
};

extern struct gs_book {
    pthread_mutex_t lock; /* all below, and the entries. Under it: the cache's file, the driver's event states */
    struct gs_machine machine;
    struct gs_budget budget;
    atomic_bool any_split;          /* of this process; read without the lock too */
    atomic_uint_fast64_t waited_ns; /* when a call last returned that had waited for commands; without the lock */
    atomic_uint n_pending;          /* measured launches under way; read without the lock too */
    uint64_t awaited_ns;            /* how long the application has waited for first measurements, ... */
    uint64_t compiled_ns;           /* ... and for what the driver does before these begin */
    bool machine_learnt;            /* the machine's figures were corrected by splits */
    char learnt_name[sizeof "learnt-" + GS_HASH_HEX_BYTES]; /* the file; empty: not read yet */
    struct measurement *pending;                            /* measured launches under way */
    unsigned n_measured;                                    /* measured launches, ever */
} gs_book;

/* timing_book.c */

/* Does the choice learn in this mode, in this context? If not, nothing is noted. */
bool gs_book_is_kept(const struct gs_context *ctx);

/* Reads what earlier processes have learnt, the first time, and may measure links between hosts: 30 s at most. Without
 * the lock. */
void gs_book_open(const struct gs_context *ctx);

/* The entry of this size, made if need be. NULL: no memory. With the lock held. */
struct gs_timing *gs_book_of(struct gs_size *s);

/* The entry after t (null: the first) of a program's kernel (name NULL: any) on n devices; NULL: none. Lock held. */
struct gs_timing *gs_book_next(const struct gs_timing *t, uint64_t program, const char *name, unsigned n);

/* timing_measured.c */

/* Learns from measurements that have ended. With the lock held. */
void gs_measured_look(void);

/* Is a measured split of t under way? With the lock held. */
bool gs_measured_splits(const struct gs_timing *t);

/* May one more measurement begin? With the lock held. */
bool gs_measured_has_room(void);

/* timing_ahead.c */

/* How long compiling will take at least, before it has ever been done. */
double gs_compile_ns(const struct gs_program *p);

/* How long preparing the program took, here or in an earlier process; 0: unknown. With the lock held. */
double gs_prepare_ns(const struct gs_timing *t, const struct gs_program *p);

/* What preparing the program now costs the application, to be won by launches to come. With the lock held. */
double gs_prepare_cost_ns(const struct gs_timing *t);

/* The application has waited: is t->asks to be compiled for later processes? Without locks. */
void gs_leave_for_later(struct gs_timing *t);

/* timing.c */

/* Logs what becomes of a launch, and why. */
void gs_timing_log(const struct gs_timing *t);

#endif
