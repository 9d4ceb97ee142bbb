/* SPDX-License-Identifier: MIT */
/* The application as a client of the daemon: joins the daemon, takes units, gives units back. */
#ifndef GS_SHIM_CLIENT_CLIENT_H
#define GS_SHIM_CLIENT_CLIENT_H

#include "common/client/client.h"
#include "shim/record/objects.h"

/* Do commands go by units, or did any? (With --pace, too.) */
static inline bool gs_units_used(void)
{
    return atomic_load_explicit(&gs_process.client, memory_order_acquire) || gs_process.settings.pace;
}

static inline bool gs_online(void)
{
    const struct gs_client *c = atomic_load_explicit(&gs_process.client, memory_order_acquire);
    return c && gs_client_scheduled(c);
}

/* Does the next command go by units? Looks for a daemon if there is none: at first, and when gs_time_is() says so. */
__attribute__((cold)) bool gs_look_scheduled(void);
static inline bool gs_scheduled(void)
{
    return (gs_units_used() || !atomic_load_explicit(&gs_process.looked, memory_order_relaxed)) && gs_look_scheduled();
}

/* The application's memory objects and replicas take so many bytes more (or fewer) on a place: for the daemon's status,
 * and for --stats. Changes while the daemon is being joined may be missed. Any thread. */
void gs_memory_used(unsigned place, int64_t bytes);

/* The daemon's number of the resource that a place's kernels run on. */
unsigned gs_resource_of(unsigned place);

/* Bytes per unit of a transfer outside jobs; 0: transfers aren't cut. */
uint64_t gs_transfer_chunk(void);

/* ---- units ---- */

struct gs_deferred;

/* The states of a unit; client.c has the table from state and event to the next state.
 *
 *   QUEUED <--> GRANTED --> SUBMITTED --> COMPLETE or FAILED
 *                  '-------------------------------^
 */
enum gs_unit_state {
    GS_UNIT_QUEUED,    /* no grant */
    GS_UNIT_GRANTED,   /* may be submitted; or isn't needed, and goes back to QUEUED */
    GS_UNIT_SUBMITTED, /* the driver has the unit, or is about to get it */
    GS_UNIT_COMPLETE,
    GS_UNIT_FAILED, /* failed while it ran, or refused by the driver */
    GS_UNIT_STATES
};

enum gs_unit_event {
    GS_UNIT_GRANT,
    GS_UNIT_FORGET, /* the grant isn't needed */
    GS_UNIT_SUBMIT,
    GS_UNIT_COMPLETES,
    GS_UNIT_FAILS,
    GS_UNIT_EVENTS
};

/* A chunk of a kernel or of a transfer, or a batch of short commands. All zeros: queued. */
struct gs_unit {
    _Atomic(enum gs_unit_state) state;
    bool waited;              /* the unit's end was waited for; else only an upper bound of its time is known */
    struct gs_grant grant;    /* while granted or submitted */
    struct gs_deferred *held; /* the unit's command; null: a command without a gs_deferred */
};

/* Changes the state. A granted or submitted unit has a grant, which leaving these states gives back at once, since
 * others may wait. A forbidden step is reported in checked builds (common/lock/rank.h). */
void gs_unit_on(struct gs_unit *u, enum gs_unit_event event);

static inline bool gs_unit_is(const struct gs_unit *u, enum gs_unit_state state)
{
    return atomic_load(&u->state) == state;
}

/* Waits until the unit is granted. request: an open one, or null. gs_unit_on gives the grant back. Any thread. */
void gs_unit_take(struct gs_unit *u, unsigned resource, struct gs_request *request);
/* Has the unit granted if that needs no waiting. length: see gs_client_try. */
bool gs_unit_try(struct gs_unit *u, unsigned resource, enum gs_length length);
/* gs_unit_try, waiting for ns at most. False: the request may still be open; gs_unit_take then goes on with it, or
 * gs_unit_drop_request gives it up, waiting for the daemon's answer. */
bool gs_unit_try_wait(struct gs_unit *u, unsigned resource, uint64_t ns, struct gs_request *request);
void gs_unit_drop_request(struct gs_request *request);

/* Has nobody else wanted the resource for a while, as far as this application knows? */
bool gs_unit_is_alone(unsigned resource);

/* Is no other application connected, so that units may be larger, and more? */
bool gs_app_is_sole(void);

/* Does another application wait for units that are granted to this one? */
static inline bool gs_units_wanted(void)
{
    return gs_process.client && gs_client_wanted(gs_process.client);
}

/* ---- job.c ---- */

/* A job is one round of a task.
 *
 * It begins with the first command after the last job's end. With --pace that command waits for the job's release: a
 * period after the last release (the first job's release is its first command; during the warm-up a late job's is the
 * begin). The job ends when its results have been read: a waiting call (blocking read or map, clFinish,
 * clWaitForEvents) returns, no command is under way, and at least one read was made. Further reads and unmaps still
 * count for that job, so the daemon hears of its end when another command begins the next job. */

/* How a job's commands are carried out. */
struct gs_job {
    bool scheduled; /* there is a daemon */
    bool told;      /* the application is a task, and the daemon says how many places share each launch */
    unsigned n;     /* places that share each launch, or may; 1: all work is place[0]'s */
    unsigned place[GS_MAX_DEVICES]; /* ascending */
    uint32_t kernel_chunk;          /* work-groups per compute unit and unit; 0: launches aren't cut */
    uint64_t transfer_chunk;        /* bytes per unit; 0: transfers aren't cut */
};

/* Before a command of a scheduled application, with no lock held: begins a job if none is under way, and waits for its
 * release. `reads`: the command gets results for the host, or ends the host's access; the present job goes on. Fills
 * *job, and returns it. */
const struct gs_job *gs_job_enter(const struct gs_context *ctx, bool reads, struct gs_job *job);

/* How commands are carried out now, without beginning a job. Null: as without a daemon; else `job`. */
const struct gs_job *gs_job_now(struct gs_job *job);

/* A command of the job has been enqueued; `end` is its event. Retains `end`. */
void gs_job_add(cl_event end);

/* A command of the job gets results for the host. */
void gs_job_reads(void);

/* A waiting call returns, and all commands under way have events: has the job ended? Called by gs_wait_ended. */
void gs_job_look(void);

/* Is a job under way? Read without the lock where a late answer is good enough. */
extern atomic_bool gs_job_open;

/* Jobs that have ended in this process. */
extern atomic_uint gs_jobs_ended;

/* The daemon has gone during a job: nobody wants to know of the end. */
void gs_job_drop(void);

#endif
