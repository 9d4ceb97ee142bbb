/* SPDX-License-Identifier: MIT */
/* The daemon's timeline, in the Chrome / Perfetto trace format: a track per resource with the units on it, coloured by
 * task, and a second one where the next unit is granted while one runs (depth = 2); a track per client with its jobs,
 * and marks for releases, deadlines and misses; a track per client with its waits, several where it waits for several
 * resources at once; an arrow from each request to its grant. Spans of one track don't overlap. A thread of its own
 * writes the file, so that a slow disk delays no grant; what it can't keep up with is left out and counted, and a disk
 * that is full ends the trace behind its last whole event, not the daemon. */
#ifndef GS_SCHEDULER_TRACE_H
#define GS_SCHEDULER_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gs_trace;

/* Creates or empties the file. 0 or -errno. The caller closes the trace; the path must outlive it. Each user's clients
 * have a quarter of most_bytes at most; further events are left out and counted. A pipe may take any number. */
#define GS_TRACE_BYTES (UINT64_C(4) << 30)
int gs_trace_open(struct gs_trace **out, const char *path, uint64_t most_bytes);

/* Writes the rest and closes. 0, or an -errno that hasn't been reported yet (an early end of the trace has).
 * -ETIMEDOUT: nothing can be written now, perhaps later; the process should end. */
int gs_trace_close(struct gs_trace *t);

/* Whose event it is; client: the daemon's number. */
struct gs_traced {
    uint32_t client;
    uid_t uid;
    pid_t pid;
    const char *task; /* empty: none */
};

/* Times are CLOCK_MONOTONIC nanoseconds. */
void gs_trace_resource(struct gs_trace *t, unsigned resource);
void gs_trace_client(struct gs_trace *t, const struct gs_traced *who, unsigned gpus);
/* Grants come in the order of grant_ns. */
void gs_trace_grant(struct gs_trace *t, const struct gs_traced *who, unsigned resource, uint64_t request_ns,
                    uint64_t grant_ns);
/* So many events never got here; the trace gives their sum. */
void gs_trace_lost(struct gs_trace *t, uint64_t events);
/* `asked`: of a grant that was traced before. */
void gs_trace_unit(struct gs_trace *t, const struct gs_traced *who, unsigned resource, bool asked, uint64_t begin_ns,
                   uint64_t end_ns);
/* Units that a client has out as it ends: overlapping, or without a gap between. */
void gs_trace_units_left(struct gs_trace *t, const struct gs_traced *who, unsigned resource, uint64_t begin_ns,
                         uint64_t end_ns);
/* deadline_ns counts from the release; 0: a job of the task's warm-up, which has none. */
void gs_trace_job(struct gs_trace *t, const struct gs_traced *who, uint64_t release_ns, uint64_t end_ns,
                  uint64_t deadline_ns);

#endif
