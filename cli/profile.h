/* SPDX-License-Identifier: MIT */
/* What `gpusparc profile` is made of: the jobs of an application's traces, and the chain of segments they have in
 * common. docs/profile.md says how a job and its segments are told. */
#ifndef GS_CLI_PROFILE_H
#define GS_CLI_PROFILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/config.h"

struct gs_profile_segment {
    enum gs_resource resource;
    int64_t ns;
    int pauses; /* in which it was given up in between, and for how long in all, beside ns */
    int64_t pause_ns;
    int chunks;      /* of the link, or of the GPU that had most */
    unsigned server; /* what it is on: a later one on the same may be the same segment, after a pause; 0: it can't */
};

struct gs_profile_job {
    struct gs_profile_segment *segments; /* owned */
    size_t n;
    int64_t response_ns;
};

/* The jobs of an application that had one number of GPUs. All zeros is none. */
struct gs_profile {
    struct gs_profile_job *jobs; /* owned */
    size_t n;
    int runs;             /* traces read */
    int devices;          /* in the group */
    int used;             /* of these, on so many kernels have run */
    bool moves_piecewise; /* a job fetched its data from another GPU in so many pieces that it counts as one */
    int64_t longest_ns[GS_RESOURCES]; /* the longest command, or unit, on each */
};

/* Adds the jobs of a trace (docs/trace.md) but the first `warm_up` of each process, as long as one is left. 0, -ENOMEM,
 * or -EINVAL with the reason said on stderr. */
int gs_profile_read(struct gs_profile *p, const char *path, int warm_up);
/* Adds the jobs of a daemon's trace, which had one GPU each (`single`) or all. `warm_up` below 0: of each process one
 * job on each GPU of its group that they take. As above. */
int gs_profile_read_units(struct gs_profile *p, const char *path, int warm_up, bool single);
void gs_profile_free(struct gs_profile *p);

/* The shortest chain of which each job's is a part: a job that lacks a segment has it for no time. */
struct gs_profile_times {
    enum gs_resource resource;
    int64_t longest_ns, median_ns, shortest_ns;
    int pauses; /* the most of a job, and their longest time */
    int64_t pause_ns;
    int chunks; /* the most of a job; 0: not known */
};
struct gs_profile_chain {
    struct gs_profile_times *segments; /* owned */
    size_t n;
    size_t jobs;                   /* that it covers */
    size_t others;                 /* of these, that lack some of it; or, where it is partial, beside them */
    bool partial;                  /* that chain were too long: it is the commonest, others had another sequence */
    struct gs_profile_times whole; /* the response times */
};

/* 0, or -ENOMEM. A profile without jobs gives a chain without segments. */
int gs_profile_chain(const struct gs_profile *p, struct gs_profile_chain *chain);
void gs_profile_chain_free(struct gs_profile_chain *chain);

/* How many chunks a segment has that lasts `worst_ns`: the `counted`, and at least so many of `chunk_ns` that they
 * cover it. A unit that was granted alone lasts longer than a chunk, which is the longest unit's share. chunk_ns 0: not
 * known. */
int64_t gs_profile_chunks(int64_t counted, int64_t worst_ns, int64_t chunk_ns);

#endif
