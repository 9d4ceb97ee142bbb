/* SPDX-License-Identifier: MIT */
/* How long a segment waits for servers of one kind. Internal to the analyses; the theorems are in docs/analysis.md. */
#ifndef GS_GEMA_DELAY_H
#define GS_GEMA_DELAY_H

#include "gema/model.h"

/* One segment of a higher priority. It becomes ready at most `jitter` later than at its earliest, and has then waited
 * for `slack` at most when it still has all its work before it. */
struct gs_stream {
    int64_t worst, jitter, slack;
    int64_t latest; /* after the job's release, when it becomes ready */
    int64_t before; /* sum of the worst times of the streams before it in its group */
    int64_t start;  /* after the release, when it begins at its earliest, all that comes before on these servers done */
};

/* The segments that one task has on these servers. Where its mode isn't known yet it has a group for each mode, and the
 * smallest of them counts. */
struct gs_group {
    size_t first, n; /* of its streams */
    int pieces;      /* each segment has so many, one server each; 1 where it has none */
    bool next;       /* another mode of the group before */
    bool only;       /* the mode is known */
    int64_t period;
    int64_t sum; /* of its streams' worst times */
    /* So long after it became ready at the latest each stream has done its work, if nothing else did any: the largest
     * of worst - jitter. And the largest jitter, without and with slack. */
    int64_t settled, jitter, late;
    int64_t latest; /* after the job's release, when a stream begins its work at the latest */
};

enum gs_group_kind { GS_GROUP_ONLY, GS_GROUP_FIRST, GS_GROUP_NEXT };

/* A task's least work in sequence, and how many servers it takes at once. */
struct gs_level {
    int64_t sum;
    int pieces;
};

/* How one group's work goes on growing, one per unit at least and for so long; scratch of gs_delay_safe. */
struct gs_growth {
    int64_t work;    /* now, all its pieces */
    int64_t alone;   /* for how long, if none of its pieces was carried into the window */
    int64_t carried; /* if one was */
    int64_t each;    /* what that one adds */
    int64_t room;    /* what all of them may add, for a task doesn't work more than the time that passes */
};

/* The servers of one kind, and all higher priorities' segments on them. */
struct gs_servers {
    int m;
    struct gs_stream *streams; /* owned */
    struct gs_group *groups;   /* owned */
    struct gs_level *levels;   /* owned; of the groups before `levelled`, one for each task, ascending by sum */
    struct gs_growth *growth;  /* owned; of each group */
    size_t n_streams, n_groups, n_levels, levelled;
};

int gs_servers_init(struct gs_servers *s, int m, size_t max_streams, size_t max_groups);
void gs_servers_free(struct gs_servers *s);
/* Takes out again what was put in later. */
void gs_servers_cut(struct gs_servers *s, size_t streams, size_t groups);
void gs_servers_begin(struct gs_servers *s, int pieces, int64_t period, enum gs_group_kind kind);
/* `best`: after the release, when the segment becomes ready at its earliest. In the order of the chain. */
void gs_servers_add(struct gs_servers *s, int64_t worst, int64_t jitter, int64_t slack, int64_t best);

/* Do the streams, of tasks with one mode each, take all the servers' time? Then the formula of gs_delay_paper has no
 * solution, and its search would go on to the limit. */
bool gs_servers_full(const struct gs_servers *s);

/* What one task needs to know of its waiting on one kind of server. */
struct gs_wait {
    int pieces; /* of its own segments */
    bool preemptive;
    bool chunked; /* not preemptive, but others may come between its chunks */
    enum gs_pieces policy;
    const int64_t
        *lower;  /* the m longest pieces of lower priorities, descending, 0 where there are fewer; NULL: none */
    int64_t own; /* the longest of its own segments here, or the most that is granted of one at a time; or of what else
                  * may have held a server before the segment became ready, and no more when it does (theorem 10) */
    int64_t excess; /* by so much together may lower priorities hold servers longer than `lower` says */
    int pauses;     /* of the segment: after each of them lower priorities may hold the server */
    int64_t pause_ns;
    int spread; /* its pieces wait for one another after each pause, and so for work on this many servers; 0: one */
    /* Set by gs_wait_prepare: */
    int busy;       /* while a segment waits, so many servers at least are at work */
    bool carry_all; /* the window starts where the segment becomes ready, see docs/analysis.md, theorem 3 */
    int extra;      /* own pieces that the last one may have to wait for */
    int64_t known;  /* the delay of the last segment, which is no longer than the next one; -1: not yet */
    int64_t flat;   /* the delay is `known` for windows up to this length; -1: not known */
};

void gs_wait_prepare(struct gs_wait *w, struct gs_servers *s);

/* The delay that a segment of `worst` suffers at most, cut off at `limit`; *blocking: what of it lower priorities
 * cause. */
int64_t gs_delay_safe(struct gs_wait *w, struct gs_servers *s, int64_t worst, int64_t limit, int64_t *blocking);

/* The same by the published formula, GPU-SPARC section IV-B. */
int64_t gs_delay_paper(struct gs_wait *w, struct gs_servers *s, int64_t worst, int64_t limit, int64_t *blocking);

#endif
