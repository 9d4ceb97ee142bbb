/* SPDX-License-Identifier: MIT */
/* The application as a client of the daemon: joins it, learns its mode, and tells when its jobs begin and end.
 *
 * A job begins with the first command after the last job ended; with --pace that command is held back until the job's
 * release, a period after that of the job before (the first job's is its first command; until the warm-up is over a
 * late job's is its begin). It ends when its results have been read: when a call that waits (a blocking read or map,
 * clFinish, clWaitForEvents) returns, nothing that the application has enqueued is under way, and the job has read from
 * a device at least once. Reads (and unmaps) that follow are still the job's, so the daemon is told its end when
 * another command begins the next one. */
#ifndef GS_SHIM_SCHEDULE_CLIENT_H
#define GS_SHIM_SCHEDULE_CLIENT_H

#include "common/client/client.h"
#include "shim/record/objects.h"

/* How the commands of the job under way are carried out. */
struct gs_job {
    unsigned number;                /* from 1: another for each time that what follows was decided otherwise */
    bool scheduled;                 /* a daemon is there */
    bool told;                      /* it is a task, and the daemon says how many places share each launch */
    unsigned n;                     /* so many places share each launch, or may; 1: all work is place[0]'s */
    unsigned place[GS_MAX_DEVICES]; /* ascending */
    uint32_t kernel_chunk;          /* work-groups per compute unit and unit; 0: launches aren't cut */
    uint64_t transfer_chunk;        /* bytes per unit; 0: transfers aren't cut */
};

/* Does the next command go by units? Looks for a daemon now and then while there is none: that costs one look at a
 * coarse clock, and no thread. */
bool gs_scheduled(void);

/* Before a command of a scheduled application, with no lock held: begins a job if none is under way, and waits for its
 * release. `reads`: it gets results for the host, or ends such access: the job whose end it may be goes on. */
void gs_job_enter(const struct gs_context *ctx, bool reads, struct gs_job *job);

/* The same for one that goes to a device at once: that the job before has ended the daemon is told by gs_job_tell,
 * which is to be called once the command is on its way. */
void gs_job_enter_quickly(const struct gs_context *ctx, struct gs_job *job);
void gs_job_tell(void);

/* Is this job under way, scheduled as it was when it began, and has no end been seen that it may have come to? */
bool gs_job_goes_on(unsigned number);

/* Where it doesn't: as gs_job_enter_quickly. Is what was decided for the job of that number decided for this one? */
bool gs_job_again(const struct gs_context *ctx, unsigned number);

/* How the commands of the job under way are carried out, without beginning one; scheduled: by units. */
void gs_job_now(struct gs_job *job);

/* A command of the job has been enqueued: its end, which is retained. */
void gs_job_add(cl_event end);

/* The same, of one that ends no sooner than the last that was added, `before`, which needn't be kept any more. */
void gs_job_replace(cl_event before, cl_event end);

/* One that was added has ended. */
void gs_job_ended(cl_event end);

/* So many more commands of the job, or fewer, are under way of which there is no event. */
void gs_job_loose(int more);
bool gs_job_is_loose(void);

/* The host gets results by a command of the job. */
void gs_job_reads(void);

/* A call that waited for commands has returned to the application. */
void gs_job_look(void);

/* The daemon's number for what a place's kernels run on. */
unsigned gs_resource_of(unsigned place);

/* Bytes per unit of a transfer that belongs to no job; 0: transfers aren't cut. */
uint64_t gs_transfer_chunk(void);

/* Takes a unit, waiting for its turn; and gives it back. From any thread or callback. */
void gs_unit_take(unsigned resource, struct gs_grant *grant);
/* Only if that needs no waiting; for one of that length, see gs_client_try_one. */
bool gs_unit_try(unsigned resource, enum gs_length length, struct gs_grant *grant);
void gs_unit_give(const struct gs_grant *grant);

/* In two steps: asks for one; and waits for it so long at most (false: it stays asked for). What is asked for is waited
 * for, or cancelled. */
bool gs_unit_ask(unsigned resource, struct gs_request *request);
bool gs_unit_await(struct gs_request *request, uint64_t ns, struct gs_grant *grant);
/* The same without sleeping, where there are processors to spare: to be woken takes 20 us. */
bool gs_unit_await_awake(struct gs_request *request, uint64_t ns, struct gs_grant *grant);
void gs_unit_cancel(struct gs_request *request);

/* Could one be had if our own were not out? Nobody else waits. */
bool gs_unit_own_out(unsigned resource, enum gs_length length);
/* Does a thread of this application sleep until one of its units is given back? */
bool gs_unit_is_waited(unsigned resource);
/* Has nobody else wanted the resource for a while, as far as this application knows? */
bool gs_unit_is_alone(unsigned resource);
/* Is no other application connected, and may this one have larger units, and more of them? */
bool gs_unit_is_sole(void);
/* Does the daemon write a timeline of all units? */
bool gs_units_recorded(void);
/* The resource was at work for so long, for what needed no unit as nobody else is connected. */
void gs_unit_went(unsigned resource, uint64_t ns);
/* Is the resource leased to this application? */
bool gs_unit_is_ours(unsigned resource);

/* Sleeps as long as nobody needs the ends of units, for so long at most; not where `also` says so. False: there is no
 * daemon. And wakes who sleeps there. */
bool gs_units_sleep(bool (*also)(void), uint64_t ns);
void gs_units_wake(void);

/* Does another application wait for units that are out? */
bool gs_units_wanted(void);

#endif
