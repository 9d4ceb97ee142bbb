/* SPDX-License-Identifier: MIT */
/* What `gpusparc profile` is made of: the jobs of an application's traces, and the chain of segments they have in
 * common. docs/profile.md says how a job and its segments are told. */
#ifndef GS_CLI_PROFILE_H
#define GS_CLI_PROFILE_H

#include <jansson.h>
#include <stdint.h>

#include "common/config.h"

struct gs_profile_segment {
    enum gs_resource resource;
    int64_t ns;
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
    int runs;                         /* traces read */
    int devices;                      /* in the group */
    int used;                         /* of these, on so many kernels have run */
    int64_t longest_ns[GS_RESOURCES]; /* the longest command on each */
};

/* Adds the jobs of a trace (docs/trace.md) but the first `warm_up` of each process, as long as one is left. 0, -ENOMEM,
 * or -EINVAL with the reason said on stderr. */
int gs_profile_read(struct gs_profile *p, const char *path, int warm_up);
void gs_profile_free(struct gs_profile *p);

/* The commonest chain, and times over the jobs that have it; the longest cover what the others need of each resource
 * that it has. */
struct gs_profile_times {
    enum gs_resource resource;
    int64_t longest_ns, median_ns, shortest_ns;
};
struct gs_profile_chain {
    struct gs_profile_times *segments; /* owned */
    size_t n;
    size_t jobs;                   /* that have it */
    size_t others;                 /* that have another one */
    struct gs_profile_times whole; /* the response times */
};

/* 0, or -ENOMEM. A profile without jobs gives a chain without segments. */
int gs_profile_chain(const struct gs_profile *p, struct gs_profile_chain *chain);
void gs_profile_chain_free(struct gs_profile_chain *chain);

/* "pci gpu pci" of a job; a static buffer, cut off where it is long. */
const char *gs_profile_shape(const struct gs_profile_job *job);

#endif
