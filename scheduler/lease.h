/* SPDX-License-Identifier: MIT */
/* The daemon's side of a client's page. Whatever the client may have written there, each call ends after a fixed number
 * of steps, and the daemon's own memory holds all that it relies on: the page is told, and asked for counts, never
 * believed beyond the client's own affairs. */
#ifndef GS_SCHEDULER_LEASE_H
#define GS_SCHEDULER_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"

/* Wakes a thread that sleeps on a word of the page, now or later; wake is null: gs_lease_wake does. */
struct gs_waker {
    void (*wake)(void *ctx, void *conn, _Atomic uint32_t *word);
    void *ctx, *conn;
};

struct gs_lease_side {
    struct gs_page *page;
    struct gs_waker waker; /* the caller's to fill in */
    bool whole;            /* the client can't take memory out of the page: with Linux 6.6 and CAP_LINUX_IMMUTABLE */
    uint16_t generation[GS_MAX_RESOURCES];
};

/* Wakes a thread that sleeps on the word, which may be gone. The kernel looks through a list in which the client may
 * have a million waits on other words. */
void gs_lease_wake(_Atomic uint32_t *word);

/* Makes a page of a sealed size. *fd is for the client, and the caller's to close. 0 or -errno. */
int gs_lease_open(struct gs_lease_side *s, int *fd);
void gs_lease_close(struct gs_lease_side *s);

/* The lease begins, with one unit out. */
void gs_lease_begin(struct gs_lease_side *s, unsigned resource, bool ask);
/* One unit more. */
void gs_lease_add(struct gs_lease_side *s, unsigned resource);
/* From now on the client asks before each unit. Returns how many units it says are out. */
unsigned gs_lease_ask(struct gs_lease_side *s, unsigned resource);
void gs_lease_allow(struct gs_lease_side *s, unsigned resource);
/* How many units of the present lease are out. */
unsigned gs_lease_units(const struct gs_lease_side *s, unsigned resource);
void gs_lease_end(struct gs_lease_side *s, unsigned resource);
/* Asks for a resource held alone; forgotten when a lease begins. */
void gs_lease_yield(struct gs_lease_side *s, unsigned resource);

/* Answers in a slot, and wakes the thread that sleeps on it. */
void gs_lease_answer(struct gs_lease_side *s, uint32_t slot, uint32_t serial, uint32_t state, unsigned resource);

/* Tells the client whether it is the only one, and so need not keep to small units. It keeps the units that it has
 * out. */
void gs_lease_tell_sole(struct gs_lease_side *s, bool sole);

struct gs_told {
    uint32_t gpus, gpu_mask, kernel_chunk;
    uint64_t transfer_chunk;
};
void gs_lease_tell(struct gs_lease_side *s, const struct gs_told *told);

#endif
