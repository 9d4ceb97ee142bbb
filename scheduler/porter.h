/* SPDX-License-Identifier: MIT */
/* Threads that carry messages between a user's sockets and the daemon, and wake its threads, where that may take long.
 * Who sends to a socket, receives from it or closes it wakes, in the kernel and without an interrupt meanwhile, all
 * that poll its other end: a client may have a million of these, which takes 5 to 10 ms. So the daemon's own thread
 * gets one end of a pair of sockets instead, whose other end is the porter's: nobody else can poll either. Who wakes a
 * thread looks through all waits that the kernel keeps in one list with its own, which may be as many. */
#ifndef GS_SCHEDULER_PORTER_H
#define GS_SCHEDULER_PORTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    GS_PORTERS = 16,  /* users that have one; the last unnamed one is for all others, too */
    GS_CARRIED = 640, /* sockets of a porter */
    /* Wake-ups and ends that a porter has still to do. A wake-up more is left out, which is noticed in a second. */
    GS_CHORES = 1024,
    GS_SLOW_NS = 100000 /* a call that takes longer makes its user a slow one */
};
#define GS_SLOW_FOR_NS UINT64_C(600000000000) /* so long after the last such call it is one */

struct gs_porter;
struct gs_porters {
    struct {
        uid_t uid;
        struct gs_porter *porter;
    } user[GS_PORTERS];
    unsigned n;
};

/* A call on a socket of this user's has taken GS_SLOW_NS or longer. named: the config trusts the user. */
void gs_porters_slow(struct gs_porters *p, uid_t uid, bool named, uint64_t now_ns);

/* So have two wake-ups of its threads, one right after the other. */
void gs_porters_slow_to_wake(struct gs_porters *p, uid_t uid, bool named, uint64_t now_ns);

/* Who carries the user's messages; null: the daemon itself. A named user is one whom the config trusts: never one of
 * all others. */
struct gs_porter *gs_porters_of(const struct gs_porters *p, uid_t uid, bool named, uint64_t now_ns);
/* Who wakes the user's threads: its own porter, after gs_porters_slow_to_wake, for as long as a user is slow; null: the
 * daemon itself. Another's porter may rest. */
struct gs_porter *gs_porters_waker(const struct gs_porters *p, uid_t uid, uint64_t now_ns);
void gs_porters_end(struct gs_porters *p);

/* The daemon's end of a pair, through which `client` is heard and spoken to from now on: message by message in either
 * direction, descriptors only to the client, each when the one before it has been received. The porter closes `client`
 * when either end is closed. -1: there is no place or no descriptor, and `client` is the caller's still. */
int gs_porter_carry(struct gs_porter *p, int client);

/* Wakes a thread that sleeps on the word, some time; the word may be gone by then. */
void gs_porter_wake(struct gs_porter *p, _Atomic uint32_t *word);
/* Closes a socket, some time. False: there is no place, and it is the caller's still. */
bool gs_porter_close(struct gs_porter *p, int fd);

/* All that was sent on this socket has been received. */
bool gs_all_received(int fd);

#endif
