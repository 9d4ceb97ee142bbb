/* SPDX-License-Identifier: MIT */
/* The task model of GPU-SPARC section IV-A, with a number of GPUs per task instead of two modes: a sporadic task
 * releases jobs at least a period apart; a job is a chain of segments, one after another, each of which occupies CPU,
 * PCI or GPU servers. Times are integer nanoseconds (or any integer unit, if all are in it).
 *
 * A task set is made from a config file or JSON, or by gs_model_init, gs_model_add_task and gs_model_set_chain; then
 * gs_model_finish puts it in order of priority and checks it, and after that it isn't changed. */
#ifndef GS_GEMA_MODEL_H
#define GS_GEMA_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/config.h"

struct gs_segment {
    enum gs_resource resource;
    int64_t best_ns, worst_ns; /* 0 <= best <= worst; of each piece, for a GPU segment */
    /* Of the link or GPUs: it gives its servers up at most so many times before it has ended, for so long in all,
     * beside its own time. Its pieces wait for one another before each pause. Where servers aren't granted in chunks it
     * keeps them. */
    int pauses;
    int64_t pause_ns;
    int chunks; /* where chunked, of each piece: so many at most; 0: not known, which matters where depth is 1 or chunks
                 * are short */
    int64_t back_ns; /* an analyzer's: by so much longer it keeps servers from less urgent tasks */
};

/* What a job does with a given number of GPUs. A segment whose worst time is 0 is left out: it occupies nothing. */
struct gs_chain {
    struct gs_segment *segments; /* owned */
    size_t n;                    /* 0: the task can't run with this number of GPUs */
};

struct gs_task {
    char *name;                     /* owned */
    int64_t period_ns, deadline_ns; /* 0 < deadline <= period */
    int64_t priority;               /* larger is more urgent; orders the tasks in gs_model_finish */
    int fixed_mode;                 /* number of GPUs it must have; 0: any for which it has a chain */
    int64_t chunk_ns[GS_RESOURCES]; /* the longest chunk of its segments, where chunked; 0: a whole segment */
    int64_t excess_ns;              /* by so much together may units last longer that one of its jobs waits for */
    struct gs_chain *chains;        /* owned; [1 .. number of GPUs], index 0 unused */
};

struct gs_model {
    int servers[GS_RESOURCES]; /* each at least 1 */
    bool preemptive[GS_RESOURCES];
    enum gs_pieces pieces; /* of GPU segments with more than one GPU */
    /* Granted in chunks, as the daemon does it (docs/analysis.md, "Chunks"): a segment has up to `depth` chunks on its
     * server, stays on it, and gives way between chunks. Not the CPU, not preemptive ones, not gangs. */
    bool chunked[GS_RESOURCES];
    int depth;
    int64_t handover_ns;            /* a server idles for so long at most when it passes from one task to another */
    int64_t chunk_ns[GS_RESOURCES]; /* the longest chunk of applications below all tasks; 0: there are none */
    /* Theorem 10. By so much beyond `depth` chunks may such an application keep a server, all units of one job together
     * by excess_ns; and besides each by late_ns. */
    int64_t patience_ns[GS_RESOURCES], late_ns;
    int liars;             /* users that they are of, or a GS_LIARS_ */
    struct gs_task *tasks; /* owned; after gs_model_finish the most urgent first */
    size_t n_tasks;
};

/* An empty task set on the machine given. */
void gs_model_init(struct gs_model *m, int cpus, int links, int gpus);
void gs_model_free(struct gs_model *m);
int gs_model_copy(struct gs_model *to, const struct gs_model *from);

/* What the config says of the machine and of how it grants: all but the number of servers. */
void gs_model_set_rules(struct gs_model *m, const struct gs_config *config);

/* Of how many users the applications below all tasks are. After `depth` and chunk_ns, and before tasks are added. */
void gs_model_set_liars(struct gs_model *m, int liars);

/* Appends a task without chains; its priority is deadline-monotonic (ties: the order of adding). Returns its index, or
 * -ENOMEM. */
int gs_model_add_task(struct gs_model *m, const char *name, int64_t period_ns, int64_t deadline_ns);

/* Gives a task its chain for a number of GPUs; the segments are copied. 0, -ENOMEM, or -EINVAL for gpus outside 1 to m.
 */
int gs_model_set_chain(struct gs_model *m, size_t task, int gpus, const struct gs_segment *segments, size_t n);

/* Sorts by priority and checks all that the analyses rely on. 0; -EINVAL: a time, a number of servers or a mode is out
 * of its range, or a task has no chain it may use; -EOVERFLOW: the times are so long that 64 bits might not hold the
 * sums. */
int gs_model_finish(struct gs_model *m);

/* Adds the config's task to the set; every mistake that stands in its way is noted. 0, -EINVAL with a mistake, -ENOMEM.
 */
int gs_model_add_config_task(struct gs_model *m, const struct gs_config_task *task, struct gs_mistakes *mistakes);

/* The whole config as a finished task set: 0, -EINVAL with mistakes (among them a task without segments), -ENOMEM.
 * *m is to be freed in every case. */
int gs_model_from_config(struct gs_model *m, const struct gs_config *config, struct gs_mistakes *mistakes);

/* Are all hand-overs of the chain counted? Where only one chunk is granted at a time, or where chunks are short, it has
 * to be known how many there are. Else of a segment that doesn't say it no chunk but the last is taken to be shorter
 * than a hand-over. */
bool gs_model_counts_handovers(const struct gs_model *m, size_t task, int gpus);

/* Is a chunk that isn't the segment's last shorter than a hand-over for sure? Then with several granted at once the
 * next one may be granted too late. */
bool gs_model_has_short_chunks(const struct gs_model *m, size_t task, const struct gs_segment *s);

/* Have tasks segments on this resource, the link or GPUs, which count as whole though the daemon grants it in chunks?
 * Then the bounds are of something else than the daemon does. */
bool gs_model_counts_whole(const struct gs_model *m, enum gs_resource resource);

/* Does a task have a usable chain for this number of GPUs, its fixed mode considered? */
bool gs_model_may_use(const struct gs_model *m, size_t task, int gpus);

/* Sum of worst (best) times of a chain, with the pauses (without), pieces counted once: the job's time if nothing else
 * ran. */
int64_t gs_chain_worst(const struct gs_chain *c);
int64_t gs_chain_best(const struct gs_chain *c);

#endif
