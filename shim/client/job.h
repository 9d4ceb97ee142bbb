/* SPDX-License-Identifier: MIT */
/* The application's jobs: how their commands are carried out, and when they begin and end.
 *
 * A job begins with the first command after the last job ended; with --pace that command is held back until the job's
 * release, a period after that of the job before (the first job's is its first command; until the warm-up is over a
 * late job's is its begin). It ends when its results have been read: when a call that waits (a blocking read or map,
 * clFinish, clWaitForEvents) returns, nothing that the application has enqueued is under way, and the job has read from
 * a device at least once. Reads (and unmaps) that follow are still the job's, so the daemon is told its end when
 * another command begins the next one. */
#ifndef GS_SHIM_CLIENT_JOB_H
#define GS_SHIM_CLIENT_JOB_H

#include "shim/record/objects.h"

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

/* A call that waited for commands returns to the application, and of each that is under way there is an event: has the
 * job ended? By gs_wait_ended. */
void gs_job_look(void);

/* Is a job under way? Read without its lock where a late answer will do. */
extern atomic_bool gs_job_open;

/* Jobs of the process that have ended. */
unsigned gs_jobs_ended(void);

/* The daemon has gone in the middle of a job: nobody wants to know its end. */
void gs_job_drop(void);

#endif
