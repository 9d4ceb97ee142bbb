/* SPDX-License-Identifier: MIT */
/* Who gets which resource next: the daemon's queues and grant rules, without a socket, a clock or shared memory.
 *
 * The rules (GPU-SPARC, section III-A: non-preemptive, by fixed priority; docs/daemon.md gives the reasons):
 * - A resource has at most one holder, which has at most `depth` units of it at a time: one that runs, the others
 * behind it.
 * - The order of those who wait: larger priority first; within one priority above 0, the processes of one task, whoever
 * joined first; at priority 0, the applications without a task, whoever has had the least time of this resource while
 * others wanted it too. Of two that both want it all the time neither has more than the other by more than a unit of
 * each: docs/daemon.md has the proof.
 * - A unit that lasts longer than the config allows, and keeps others waiting, is taken back, and its client stands
 * behind all others for a while (patience.h).
 * - The first in this order is served as soon as the resource has no units out, or is its own with fewer than `depth`
 * out. Nobody overtakes it. So a resource that somebody wants never idles, and a more urgent one waits for `depth`
 * units at most.
 * - Who was served last keeps the resource as a *lease* while nobody else wants it: it takes units without asking. A
 * lease is asked back the moment somebody else wants the resource, and goes at once if no unit is out.
 * - A request may want a resource *alone*, for a whole measurement: one unit that lasts. It waits, in nobody's way,
 * until no client with a priority is there; when one comes, the holder is told to yield. As long as none is there, the
 * watchdog gives the holder ten times as long, counted from when it last renewed.
 *
 * All calls come from one thread, with times that never go back. Not one of them allocates but new and join. */
#ifndef GS_SCHEDULER_POLICY_H
#define GS_SCHEDULER_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"

struct gs_policy_state;

#define GS_NO_CLIENT UINT32_MAX

struct gs_policy_request {
    uint32_t slot, serial;
    unsigned resource;
    uint64_t cost_ns; /* expected; 0: unknown */
    bool alone;
    uint64_t at_ns; /* set by the policy: when the request came */
    uint64_t order; /* set by the policy: counts all requests */
};

/* What the policy does to the world; called from inside its calls, and must not call back. */
struct gs_policy_ops {
    /* From now on the holder asks before each unit, and says when one is given back. Returns how many units the holder
     * has out. */
    unsigned (*ask)(void *ctx, uint32_t client, unsigned resource);
    /* Nobody else wants the resource any more: the holder may take units without asking. */
    void (*allow)(void *ctx, uint32_t client, unsigned resource);
    /* The lease is over: no unit is out, or (`forced`) units that are out no longer count. */
    void (*end)(void *ctx, uint32_t client, unsigned resource, bool forced);
    /* Grants one unit for the request. `fresh`: a lease begins. `ask`: the client must ask for the next one. */
    void (*grant)(void *ctx, uint32_t client, const struct gs_policy_request *rq, unsigned resource, bool fresh,
                  bool ask);
    /* A client with a priority has come: the holder, which has the resource alone, should give it back soon. */
    void (*yield)(void *ctx, uint32_t client, unsigned resource);
    /* How many units a holder has out that need not ask. Only for gs_policy_choose. */
    unsigned (*units)(void *ctx, uint32_t client, unsigned resource);
};

/* Clients are numbered 0 ... max_clients-1 by the caller. Null: out of memory. */
struct gs_policy_state *gs_policy_new(unsigned resources, unsigned depth, unsigned max_clients,
                                      const struct gs_policy_ops *ops, void *ctx);
void gs_policy_free(struct gs_policy_state *p);

/* `user`: the process's user. Priority 0: fair sharing, below all others. 0, -ENOMEM, or -EINVAL: the number is taken
 * or too large, or the priority is negative. */
int gs_policy_join(struct gs_policy_state *p, uint32_t client, uint32_t user, int priority, uint64_t now_ns);
/* The longest chunks of the client's units, by the config; 0, as at first: unknown. */
void gs_policy_set_chunks(struct gs_policy_state *p, uint32_t client, uint64_t pci_ns, uint64_t gpu_ns);
void gs_policy_set_priority(struct gs_policy_state *p, uint32_t client, int priority, uint64_t now_ns);

/* The client is gone: forgets its requests, and passes its resources on. `end` isn't called for it. */
void gs_policy_leave(struct gs_policy_state *p, uint32_t client, uint64_t now_ns);

/* 0; -EINVAL: there is no such resource or slot; -EBUSY: the slot waits already. */
int gs_policy_request(struct gs_policy_state *p, uint32_t client, const struct gs_policy_request *rq, uint64_t now_ns);

/* The GPU in the mask of which the client would get a unit first if it asked now; among equals `prefer`, then the least
 * used. Changes nothing. GS_MAX_RESOURCES: the mask is empty, or has a resource that is no GPU. */
unsigned gs_policy_choose(const struct gs_policy_state *p, uint32_t client, uint32_t mask, unsigned prefer);

/* True: the request was waiting, and is forgotten. False: it wasn't waiting (any more). */
bool gs_policy_cancel(struct gs_policy_state *p, uint32_t client, uint32_t slot, uint32_t serial, uint64_t now_ns);

/* The client says that it has given units back: it has `units` out now. Ignored unless it is a holder that was asked.
 */
void gs_policy_look(struct gs_policy_state *p, uint32_t client, unsigned resource, unsigned units, uint64_t now_ns);

/* The holder still works with the resource that it has alone. */
void gs_policy_renew(struct gs_policy_state *p, uint32_t client, unsigned resource, uint64_t now_ns);

/* Takes resources back from holders that have kept others waiting longer than a unit may last. watchdog_ns: the upper
 * limit, and the limit where the config has no chunks. next_expiry: when that may happen; UINT64_MAX: not before
 * another event. expire: does it, and returns a mask of the resources. */
uint64_t gs_policy_next_expiry(const struct gs_policy_state *p, uint64_t watchdog_ns);
uint32_t gs_policy_expire(struct gs_policy_state *p, uint64_t now_ns, uint64_t watchdog_ns);

/* The offence behind the resource taken back last; valid inside `end`. */
struct gs_policy_offence {
    uint64_t kept_ns;   /* how long the holder kept the unit, by the clock that counts */
    uint64_t waited_ns; /* how long others waited, leaving out users that were short */
    uint64_t behind_ns; /* so long the client stands behind others; 0: it is a task */
    bool news;          /* of a task, or the client's first while its user has few */
};
const struct gs_policy_offence *gs_policy_offence(const struct gs_policy_state *p);

/* For observers. */
bool gs_policy_is_behind(const struct gs_policy_state *p, uint32_t client);
struct gs_policy_view {
    uint32_t holder;    /* GS_NO_CLIENT: nobody's */
    bool asked;         /* somebody else wants the resource */
    bool alone;         /* the holder has it for a whole measurement */
    unsigned units;     /* out; known only while asked */
    uint64_t grants;    /* units granted by request so far */
    uint64_t handovers; /* leases begun so far */
};
void gs_policy_view(const struct gs_policy_state *p, unsigned resource, struct gs_policy_view *view);
/* The i-th waiting request of the client, in order; null: no more. */
const struct gs_policy_request *gs_policy_waiting(const struct gs_policy_state *p, uint32_t client, unsigned i);
/* The client's time of the link (0) or the GPUs (1) while others wanted it too; priority 0 only. */
uint64_t gs_policy_share_ns(const struct gs_policy_state *p, uint32_t client, unsigned kind);

#endif
