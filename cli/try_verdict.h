/* SPDX-License-Identifier: MIT */
/* gpusparc try: what follows from the times of its runs. Pure. */
#ifndef GS_CLI_TRY_VERDICT_H
#define GS_CLI_TRY_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/bench_interval.h"

/* The ways of a run: without gpusparc, on one device, on all as `auto` chooses, and split wherever that can be done. */
enum gs_try_way { GS_TRY_PLAIN, GS_TRY_SINGLE, GS_TRY_ALL, GS_TRY_MULTI, GS_TRY_WAYS };
extern const char *const gs_try_names[GS_TRY_WAYS];

enum { GS_TRY_MOST = 40 /* rounds */ };

/* Wall times in seconds, a round's beside each other: each round runs all ways once. 0: that way isn't run. */
struct gs_try_times {
    size_t n;
    double s[GS_TRY_WAYS][GS_TRY_MOST];
    double first_s[GS_TRY_WAYS]; /* of the run before them, which compiles and learns */
};

enum gs_try_outcome { GS_TRY_FASTER, GS_TRY_SLOWER, GS_TRY_SAME, GS_TRY_UNSURE };

/* A ratio of times: the median over the rounds, and the interval that holds it with 95 %; zeros: too few rounds. */
struct gs_try_factor {
    double times, low, high;
};

struct gs_try_verdict {
    enum gs_try_outcome outcome;
    struct gs_try_factor all, by_single; /* of all: by one device */
    double by_more;                      /* and by the others beside it: all.times / by_single.times */
    size_t outliers;                     /* runs that took 1.5 times their way's median and more */
    size_t runs;
};

/* Of a way's times, in seconds; 0: no round was finished. */
double gs_try_median(const struct gs_try_times *t, int way);

/* One of these: `nth` from 0. */
struct gs_try_outlier {
    enum gs_try_way way;
    size_t round; /* from 1 */
    double s, usual_s;
};
bool gs_try_find_outlier(const struct gs_try_times *t, size_t nth, struct gs_try_outlier *outlier);

/* What the factors come by, as far as one run's statistics tell. */
struct gs_try_causes {
    unsigned n;          /* devices */
    const char *devices; /* "GPUs" or another plural */
    bool known;          /* there are statistics */
    bool split;          /* launches were split */
    bool staged;         /* bytes went by pinned memory, which is faster than the driver's own way */
};

/* Over all rounds. base: what all is compared with. alpha: the probability that an interval misses. `all` is GS_TRY_ALL
 * or GS_TRY_MULTI. */
struct gs_try_verdict gs_try_judge(const struct gs_try_times *t, enum gs_try_way base, enum gs_try_way all,
                                   double alpha);

/* Is the interval narrow enough that more rounds wouldn't change what is said? */
bool gs_try_is_narrow(const struct gs_try_verdict *v);

/* One sentence: "1.43 times as fast on 2 GPUs (1.38 to 1.49): 1.30 by faster transfers, 1.10 by the second GPU". Other
 * devices get no part in it where nothing was split. */
void gs_try_say(char *text, size_t bytes, const struct gs_try_verdict *v, const struct gs_try_causes *c);

/* What would have a kernel split that wasn't, for that reason of --stats: docs/messages.md. */
const char *gs_try_remedy(const char *reason);

#endif
