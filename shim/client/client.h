/* SPDX-License-Identifier: MIT */
/* The application as a client of the daemon: joins it, and takes units and gives them back. */
#ifndef GS_SHIM_CLIENT_CLIENT_H
#define GS_SHIM_CLIENT_CLIENT_H

#include "common/client/client.h"
#include "shim/record/objects.h"

/* Does any command go by units, or has one? */
static inline bool gs_units_used(void)
{
    return atomic_load_explicit(&gs_process.client, memory_order_acquire) || gs_process.settings.pace;
}

static inline bool gs_online(void)
{
    const struct gs_client *c = atomic_load_explicit(&gs_process.client, memory_order_acquire);
    return c && gs_client_scheduled(c);
}

/* Does the next command go by units? Looks for a daemon while there is none: at first, and where gs_time_is() has said
 * that it is time to look again. */
__attribute__((cold)) bool gs_look_scheduled(void);
static inline bool gs_scheduled(void)
{
    return (gs_units_used() || !atomic_load_explicit(&gs_process.looked, memory_order_relaxed)) && gs_look_scheduled();
}

/* The application's memory objects, with their replicas, take so many bytes more on a place, or fewer: for the daemon's
 * status. What changes as the daemon is joined may be missed. From any thread. */
void gs_memory_used(unsigned place, int64_t bytes);

/* The daemon's number for what a place's kernels run on. */
unsigned gs_resource_of(unsigned place);

/* Bytes per unit of a transfer that belongs to no job; 0: transfers aren't cut. */
uint64_t gs_transfer_chunk(void);

/* ---- units ---- */

struct gs_deferred;

/* The states of a unit; client.c has the table from state and event to the next state.
 *
 *   QUEUED <--> GRANTED --> SUBMITTED --> COMPLETE or FAILED
 *                  '-------------------------------^
 */
enum gs_unit_state {
    GS_UNIT_QUEUED,    /* it has no grant */
    GS_UNIT_GRANTED,   /* it may be submitted. Or it isn't needed: then it goes back to the queued ones */
    GS_UNIT_SUBMITTED, /* the driver has it, or is about to get it */
    GS_UNIT_COMPLETE,
    GS_UNIT_FAILED, /* while it ran, or the driver has refused it */
    GS_UNIT_STATES
};

enum gs_unit_event {
    GS_UNIT_GRANT,
    GS_UNIT_FORGET, /* it isn't needed */
    GS_UNIT_SUBMIT,
    GS_UNIT_COMPLETES,
    GS_UNIT_FAILS,
    GS_UNIT_EVENTS
};

/* A sub-kernel, a chunk of a transfer, or a batch of short commands. All zero: queued. `held`: the command that it
 * belongs to; null: one that no gs_deferred stands for. */
struct gs_unit {
    _Atomic(enum gs_unit_state) state;
    bool waited;           /* what it took was waited for; else no more is known than that it took no longer */
    struct gs_grant grant; /* while it is granted or submitted */
    struct gs_deferred *held;
};

/* A unit that is granted or submitted has a grant. This gives it back with the state after those, at once: others may
 * wait for it. What must not happen is reported where locks are checked (common/lock/rank.h). */
void gs_unit_on(struct gs_unit *u, enum gs_unit_event event);

static inline bool gs_unit_is(const struct gs_unit *u, enum gs_unit_state state)
{
    return atomic_load(&u->state) == state;
}

/* Has a unit granted, waiting for its turn, by a request that is open perhaps (or null); the grant goes back by
 * gs_unit_on alone. From any thread or callback. */
void gs_unit_take(struct gs_unit *u, unsigned resource, struct gs_request *request);
/* Only if that needs no waiting; for one of that length, see gs_client_try. */
bool gs_unit_try(struct gs_unit *u, unsigned resource, enum gs_length length);
/* The same, waiting for so long at most. False: the request may still be open; then gs_unit_take waits for it, or
 * gs_unit_drop_request gives it up, which waits for the daemon's answer. */
bool gs_unit_try_wait(struct gs_unit *u, unsigned resource, uint64_t ns, struct gs_request *request);
void gs_unit_drop_request(struct gs_request *request);

/* Has nobody else wanted the resource for a while, as far as this application knows? */
bool gs_unit_is_alone(unsigned resource);

/* Is no other application connected, and may this one have larger units, and more of them? */
bool gs_units_are_alone(void);

/* Does another application wait for units that are out? */
static inline bool gs_units_wanted(void)
{
    return gs_process.client && gs_client_wanted(gs_process.client);
}

/* ---- job.c ---- */

/* The application's jobs: how their commands are carried out, and when they begin and end.
 *
 * A job begins with the first command after the last job ended; with --pace that command is held back until the job's
 * release, a period after that of the job before (the first job's is its first command; until the warm-up is over a
 * late job's is its begin). It ends when its results have been read: when a call that waits (a blocking read or map,
 * clFinish, clWaitForEvents) returns, nothing that the application has enqueued is under way, and the job has read from
 * a device at least once. Reads (and unmaps) that follow are still the job's, so the daemon is told its end when
 * another command begins the next one. */

/* How the commands of the job under way are carried out. */
struct gs_job {
    bool scheduled;                 /* a daemon is there */
    bool told;                      /* it is a task, and the daemon says how many places share each launch */
    unsigned n;                     /* so many places share each launch, or may; 1: all work is place[0]'s */
    unsigned place[GS_MAX_DEVICES]; /* ascending */
    uint32_t kernel_chunk;          /* work-groups per compute unit and unit; 0: launches aren't cut */
    uint64_t transfer_chunk;        /* bytes per unit; 0: transfers aren't cut */
};

/* Before a command of a scheduled application, with no lock held: begins a job if none is under way, and waits for its
 * release. `reads`: it gets results for the host, or ends such access: the job whose end it may be goes on. */
void gs_job_enter(const struct gs_context *ctx, bool reads, struct gs_job *job);

/* How the commands of the job under way are carried out, without beginning one; scheduled: by units. */
void gs_job_now(struct gs_job *job);

/* A command of the job has been enqueued: its end, which is retained. */
void gs_job_add(cl_event end);

/* The host gets results by a command of the job. */
void gs_job_reads(void);

/* A call that waited returns, and all that is under way has events: has the job ended? By gs_wait_ended. */
void gs_job_look(void);

/* Is a job under way? Read without its lock where a late answer will do. */
extern atomic_bool gs_job_open;

/* Jobs of the process that have ended. */
unsigned gs_jobs_ended(void);

/* The daemon has gone in the middle of a job: nobody wants to know its end. */
void gs_job_drop(void);

#endif
