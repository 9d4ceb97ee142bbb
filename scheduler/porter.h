/* SPDX-License-Identifier: MIT */
/* Threads that carry messages between a user's sockets and the daemon, and wake the user's threads, where that may take
 * long. Whoever sends to a socket, receives from it or closes it, wakes (in the kernel, uninterrupted) all that poll
 * the other end: a client may have a million pollers, which take 5 to 10 ms. So the daemon's thread gets one end of a
 * pair of sockets, of which a porter has the other end, and nobody else can poll either. Waking a thread looks through
 * one list of the kernel with all waits, and these may be as many. */
#ifndef GS_SCHEDULER_PORTER_H
#define GS_SCHEDULER_PORTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    GS_PORTERS = 16,  /* users with a porter; the last of the unnamed ones serves all others, too */
    GS_CARRIED = 640, /* sockets of a porter */
    /* Wake-ups and closes waiting for a porter. Further wake-ups are left out, which is noticed in a second. */
    GS_CHORES = 1024,
    GS_SLOW_NS = 100000 /* a call that takes longer makes its user slow */
};
#define GS_SLOW_FOR_NS UINT64_C(600000000000) /* a user is slow for so long after the last such call */

struct gs_porter;
struct gs_porters {
    struct {
        uid_t uid;
        struct gs_porter *porter;
    } user[GS_PORTERS];
    unsigned n;
};

/* A call on a socket of this user has taken GS_SLOW_NS or longer. named: the config trusts the user. */
void gs_porters_slow(struct gs_porters *p, uid_t uid, bool named, uint64_t now_ns);

/* Two wake-ups of the user's threads, one right after the other, have taken so long. */
void gs_porters_slow_to_wake(struct gs_porters *p, uid_t uid, bool named, uint64_t now_ns);

/* The porter that carries the user's messages; null: the daemon does. A named user never shares a porter. */
struct gs_porter *gs_porters_of(const struct gs_porters *p, uid_t uid, bool named, uint64_t now_ns);
/* The porter that wakes the user's threads while the user is slow (gs_porters_slow_to_wake); null: the daemon does.
 * Never another user's, which may rest. */
struct gs_porter *gs_porters_waker(const struct gs_porters *p, uid_t uid, uint64_t now_ns);
void gs_porters_end(struct gs_porters *p);

/* Gives `client` to the porter, and returns the daemon's end of a pair that stands for it: message by message in either
 * direction, descriptors only to the client, each after the one before was received. The porter closes `client` when
 * either end is closed. -1: no place or no descriptor, and `client` stays the caller's. */
int gs_porter_carry(struct gs_porter *p, int client);

/* Wakes a thread that sleeps on the word, later; the word may be gone by then. */
void gs_porter_wake(struct gs_porter *p, _Atomic uint32_t *word);
/* Closes a socket, later. False: no place, and it stays the caller's. */
bool gs_porter_close(struct gs_porter *p, int fd);

/* Has everything been received that was sent on this socket? */
bool gs_all_received(int fd);

#endif
