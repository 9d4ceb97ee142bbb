/* SPDX-License-Identifier: MIT */
/* gpusparc profile: from jobs to a chain that covers all of them. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/profile.h"

/* No chain is longer than a config holds; one that had to be is given up before the tables grow. */
enum { MOST = GS_CONFIG_MAX_SEGMENTS };

struct sequence {
    enum gs_resource v[MOST];
    size_t n;
};

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool same_shape(const struct gs_profile_job *a, const struct gs_profile_job *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same = a->segments[i].resource == b->segments[i].resource;
    return same;
}

/* The job whose shape most jobs have, and of two such shapes the longer; *count: how many have it. */
static const struct gs_profile_job *commonest(const struct gs_profile *p, size_t *count)
{
    const struct gs_profile_job *best = NULL;
    *count = 0;
    for (size_t i = 0; i < p->n; i++) {
        size_t n = 0;
        for (size_t k = 0; k < p->n; k++)
            n += same_shape(&p->jobs[i], &p->jobs[k]);
        if (n > *count || (n == *count && p->jobs[i].n > best->n)) {
            best = &p->jobs[i];
            *count = n;
        }
    }
    return best;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct gs_profile_times times_of(enum gs_resource resource, int64_t *v, size_t n)
{
    qsort(v, n, sizeof *v, by_size);
    return (struct gs_profile_times){
        .resource = resource, .longest_ns = v[n - 1], .median_ns = v[n / 2], .shortest_ns = v[0]};
}

/* ---- pauses ---- */

/* What a job does on one server, with gaps of `most` at the longest between, as one segment that pauses. */
static int join_job(const struct gs_profile_job *job, int64_t most, struct gs_profile_job *out)
{
    *out =
        (struct gs_profile_job){.segments = calloc(job->n + 1, sizeof *out->segments), .response_ns = job->response_ns};
    if (!out->segments)
        return -ENOMEM;
    for (size_t i = 0; i < job->n; i++) {
        const struct gs_profile_segment *s = &job->segments[i];
        struct gs_profile_segment *gap = out->n > 1 ? &out->segments[out->n - 1] : NULL, *before = gap ? gap - 1 : NULL;
        if (gap && s->server && before->server == s->server && gap->resource == GS_CPU && gap->ns <= most) {
            before->ns += s->ns;
            before->pauses++;
            before->pause_ns += gap->ns;
            before->chunks += s->chunks;
            out->n--;
        } else {
            out->segments[out->n++] = *s;
        }
    }
    return 0;
}

static int join_all(const struct gs_profile *p, int64_t most, struct gs_profile *out)
{
    int err = 0;
    *out = (struct gs_profile){.jobs = calloc(p->n + 1, sizeof *out->jobs)};
    if (!out->jobs)
        return -ENOMEM;
    for (; out->n < p->n && !err; out->n++)
        err = join_job(&p->jobs[out->n], most, &out->jobs[out->n]);
    return err;
}

static bool all_alike(const struct gs_profile *p)
{
    for (size_t i = 1; i < p->n; i++)
        if (!same_shape(&p->jobs[0], &p->jobs[i]))
            return false;
    return true;
}

/* Gaps are pauses up to the shortest length with which all jobs are of one shape: what the host does in all of them,
 * for longer, is a CPU segment. */
static int join(const struct gs_profile *p, struct gs_profile *out)
{
    static const int64_t most[] = {1000000, 10000000, 100000000};
    int err = 0;
    *out = (struct gs_profile){0};
    for (size_t i = 0; i < sizeof most / sizeof *most && !err; i++) {
        gs_profile_free(out);
        err = join_all(p, most[i], out);
        if (!err && all_alike(out))
            break;
    }
    return err;
}

/* ---- one sequence of which each job's is a part ---- */

static bool has(const struct sequence *s, const struct gs_profile_job *job)
{
    size_t at = 0;
    for (size_t i = 0; i < s->n && at < job->n; i++)
        at += s->v[i] == job->segments[at].resource;
    return at == job->n;
}

/* The shortest sequence that has both. False: it is too long for a config. */
static bool add_shape(struct sequence *s, const struct gs_profile_job *job)
{
    static uint16_t common[MOST + 1][MOST + 1]; /* the longest common part of what begins at i and at j */
    struct sequence out = {.n = 0};
    if (job->n > MOST)
        return false;
    memset(common, 0, sizeof common);
    for (size_t i = s->n; i-- > 0;)
        for (size_t j = job->n; j-- > 0;)
            common[i][j] = s->v[i] == job->segments[j].resource  ? (uint16_t)(common[i + 1][j + 1] + 1)
                           : common[i + 1][j] > common[i][j + 1] ? common[i + 1][j]
                                                                 : common[i][j + 1];
    if (s->n + job->n - common[0][0] > MOST)
        return false;
    for (size_t i = 0, j = 0; i < s->n || j < job->n;) {
        const bool both = i < s->n && j < job->n && s->v[i] == job->segments[j].resource;
        const bool first = i < s->n && (both || j == job->n || common[i + 1][j] >= common[i][j + 1]);
        out.v[out.n++] = first ? s->v[i] : job->segments[j].resource;
        i += first;
        j += both || !first;
    }
    *s = out;
    return true;
}

static bool find_sequence(const struct gs_profile *p, const struct gs_profile_job *shape, struct sequence *s)
{
    s->n = 0;
    bool ok = add_shape(s, shape);
    for (size_t i = 0; i < p->n && ok; i++)
        if (!has(s, &p->jobs[i]))
            ok = add_shape(s, &p->jobs[i]);
    return ok;
}

/* Which of the sequence's segments the job's are: those that make their longest times grow least. */
static void place(const struct sequence *s, const struct gs_profile_job *job, const int64_t *longest, size_t *at)
{
    static int64_t cost[MOST + 1][MOST + 1];
    const int64_t never = INT64_MAX / 2;
    for (size_t j = 0; j <= s->n; j++)
        cost[job->n][j] = 0;
    for (size_t i = job->n; i-- > 0;) {
        cost[i][s->n] = never;
        for (size_t j = s->n; j-- > 0;) {
            const struct gs_profile_segment *g = &job->segments[i];
            cost[i][j] = cost[i][j + 1];
            if (g->resource != s->v[j])
                continue;
            const int64_t here = max64(g->ns - longest[j], 0) + cost[i + 1][j + 1];
            cost[i][j] = here < cost[i][j] ? here : cost[i][j];
        }
    }
    for (size_t i = 0, j = 0; i < job->n; j++) {
        const struct gs_profile_segment *g = &job->segments[i];
        if (g->resource == s->v[j] && cost[i][j] == max64(g->ns - longest[j], 0) + cost[i + 1][j + 1])
            at[i++] = j;
    }
}

/* Job i of the profile; v[] gets its times, by segment and job. */
static void cover_job(const struct gs_profile *p, size_t i, const struct sequence *s, int64_t *longest, int64_t *v,
                      struct gs_profile_chain *chain)
{
    const struct gs_profile_job *job = &p->jobs[i];
    size_t at[MOST];
    place(s, job, longest, at);
    for (size_t k = 0; k < job->n; k++) {
        const struct gs_profile_segment *g = &job->segments[k];
        struct gs_profile_times *t = &chain->segments[at[k]];
        v[at[k] * p->n + i] = g->ns;
        longest[at[k]] = max64(longest[at[k]], g->ns);
        t->pauses = g->pauses > t->pauses ? g->pauses : t->pauses;
        t->pause_ns = max64(t->pause_ns, g->pause_ns);
        t->chunks = g->chunks > t->chunks ? g->chunks : t->chunks;
    }
    chain->others += job->n < s->n;
}

/* A job that lacks a segment has it for no time at all, which the analysis covers. Those with most segments come first:
 * they leave least choice, and show the others where their segments belong. */
static int cover(const struct gs_profile *p, const struct sequence *s, struct gs_profile_chain *chain)
{
    int64_t longest[MOST] = {0}, *v = calloc(s->n * p->n + 1, sizeof *v);
    if (!v)
        return -ENOMEM;
    for (size_t n = s->n + 1; n-- > 0;)
        for (size_t i = 0; i < p->n; i++)
            if (p->jobs[i].n == n)
                cover_job(p, i, s, longest, v, chain);
    for (size_t j = 0; j < s->n; j++) {
        struct gs_profile_times *t = &chain->segments[j];
        const struct gs_profile_times most = *t;
        *t = times_of(s->v[j], &v[j * p->n], p->n);
        t->pauses = most.pauses;
        t->pause_ns = most.pause_ns;
        t->chunks = most.chunks;
    }
    free(v);
    chain->jobs = p->n;
    return 0;
}

/* ---- where that is too long: the commonest ---- */

static int64_t sum_of(const struct gs_profile_job *job, enum gs_resource resource)
{
    int64_t sum = 0;
    for (size_t i = 0; i < job->n; i++)
        sum += job->segments[i].resource == resource ? job->segments[i].ns : 0;
    return sum;
}

/* A job with another sequence may have needed more of a resource: the longest segment of it is as much longer. */
static void cover_others(const struct gs_profile *p, struct gs_profile_chain *chain)
{
    for (int r = 0; r < GS_RESOURCES; r++) {
        struct gs_profile_times *longest = NULL;
        int64_t sum = 0, most = 0;
        for (size_t i = 0; i < chain->n; i++) {
            struct gs_profile_times *t = &chain->segments[i];
            if (t->resource != (enum gs_resource)r)
                continue;
            sum += t->longest_ns;
            if (!longest || t->longest_ns > longest->longest_ns)
                longest = t;
        }
        for (size_t i = 0; i < p->n; i++)
            most = max64(most, sum_of(&p->jobs[i], (enum gs_resource)r));
        if (longest && most > sum)
            longest->longest_ns += most - sum;
    }
}

static int take_commonest(const struct gs_profile *p, const struct gs_profile_job *shape,
                          struct gs_profile_chain *chain)
{
    int64_t *v = calloc(chain->jobs, sizeof *v);
    if (!v)
        return -ENOMEM;
    for (size_t j = 0; j < chain->n; j++) {
        size_t n = 0;
        int pauses = 0, chunks = 0;
        int64_t pause_ns = 0;
        for (size_t i = 0; i < p->n; i++) {
            if (!same_shape(&p->jobs[i], shape))
                continue;
            const struct gs_profile_segment *g = &p->jobs[i].segments[j];
            v[n++] = g->ns;
            pauses = g->pauses > pauses ? g->pauses : pauses;
            pause_ns = max64(pause_ns, g->pause_ns);
            chunks = g->chunks > chunks ? g->chunks : chunks;
        }
        chain->segments[j] = times_of(shape->segments[j].resource, v, n);
        chain->segments[j].pauses = pauses;
        chain->segments[j].pause_ns = pause_ns;
        chain->segments[j].chunks = chunks;
    }
    free(v);
    cover_others(p, chain);
    chain->others = p->n - chain->jobs;
    chain->partial = chain->others > 0;
    return 0;
}

static int find_chain(const struct gs_profile *p, struct gs_profile_chain *chain)
{
    struct sequence s;
    const struct gs_profile_job *shape = commonest(p, &chain->jobs);
    if (!shape)
        return 0;
    const bool covers = find_sequence(p, shape, &s);
    int64_t *v = calloc(p->n, sizeof *v);
    chain->n = covers ? s.n : shape->n;
    chain->segments = calloc(chain->n + 1, sizeof *chain->segments);
    int err = v && chain->segments ? 0 : -ENOMEM;
    if (!err)
        err = covers ? cover(p, &s, chain) : take_commonest(p, shape, chain);
    for (size_t i = 0; i < p->n && !err; i++)
        v[i] = p->jobs[i].response_ns;
    if (!err)
        chain->whole = times_of(GS_CPU, v, p->n);
    free(v);
    return err;
}

int gs_profile_chain(const struct gs_profile *p, struct gs_profile_chain *chain)
{
    struct gs_profile joined;
    *chain = (struct gs_profile_chain){0};
    int err = join(p, &joined);
    if (!err)
        err = find_chain(&joined, chain);
    gs_profile_free(&joined);
    return err;
}

void gs_profile_chain_free(struct gs_profile_chain *chain)
{
    free(chain->segments);
    *chain = (struct gs_profile_chain){0};
}

int64_t gs_profile_chunks(int64_t counted, int64_t worst_ns, int64_t chunk_ns)
{
    const int64_t covering = chunk_ns ? (worst_ns + chunk_ns - 1) / chunk_ns : 0;
    return counted > covering ? counted : covering;
}
