/* SPDX-License-Identifier: MIT */
/* gpusparc profile: jobs as the daemon sees them, from its trace (docs/daemon.md): which units an application had, and
 * when its jobs began and ended. A unit lasts from its grant until the application gives it back: for so long nobody
 * else has the resource, whatever the device did in it. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/profile.h"
#include "common/json_file.h"
#include "common/log.h"
#include "common/wire.h"

/* A job that moves to another GPU fetches its data in pieces, from one GPU and to the other by turns. So many turns
 * each are a segment of their own; of more the job counts as on one GPU all the time. */
enum { MOST_TURNS = 32 };

struct unit {
    uint32_t client;
    unsigned resource; /* as common/wire.h numbers them */
    int64_t begin, end;
};

struct job {
    uint32_t client;
    int64_t id, begin, end;
};

struct events {
    struct unit *units; /* owned */
    struct job *jobs;   /* owned */
    size_t n_units, n_jobs;
    bool lost;
};

static int64_t ns_of(const json_t *e, const char *key)
{
    return (int64_t)llround(json_number_value(json_object_get(e, key)) * 1e3);
}

static bool is(const json_t *e, const char *key, const char *value)
{
    const char *s = json_string_value(json_object_get(e, key));
    return s && strcmp(s, value) == 0;
}

static int64_t number(const json_t *e, const char *key)
{
    return json_integer_value(json_object_get(e, key));
}

/* The job's begin and end are written one after the other. */
static void read_event(const json_t *e, struct gs_profile *p, struct events *ev)
{
    enum { RESOURCES = 1 }; /* the process of the resources' tracks */
    const json_t *args = json_object_get(e, "args");
    const bool of_job = is(e, "cat", "job") || is(e, "cat", "warm-up");
    if (is(e, "ph", "M") && is(e, "name", "thread_name") && json_object_get(args, "gpus")) {
        p->devices = (int)number(args, "gpus") > p->devices ? (int)number(args, "gpus") : p->devices;
    } else if (is(e, "ph", "M") && is(e, "name", "lost")) {
        ev->lost = true;
    } else if (is(e, "ph", "X") && number(e, "pid") == RESOURCES && !json_object_get(args, "left")) {
        struct unit *u = &ev->units[ev->n_units++];
        *u = (struct unit){.client = (uint32_t)number(args, "client"),
                           .resource = (unsigned)number(args, "resource"),
                           .begin = ns_of(e, "ts")};
        u->end = u->begin + ns_of(e, "dur");
    } else if (of_job && is(e, "ph", "b")) {
        ev->jobs[ev->n_jobs++] =
            (struct job){.client = (uint32_t)number(e, "tid"), .id = number(e, "id"), .begin = ns_of(e, "ts")};
    } else if (of_job && is(e, "ph", "e") && ev->n_jobs && ev->jobs[ev->n_jobs - 1].id == number(e, "id")) {
        ev->jobs[ev->n_jobs - 1].end = ns_of(e, "ts");
    }
}

static int by_unit(const void *a, const void *b)
{
    const struct unit *x = a, *y = b;
    if (x->client != y->client)
        return (x->client > y->client) - (x->client < y->client);
    if (x->begin != y->begin)
        return (x->begin > y->begin) - (x->begin < y->begin);
    return (x->end > y->end) - (x->end < y->end);
}

static int by_job(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    if (x->client != y->client)
        return (x->client > y->client) - (x->client < y->client);
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* ---- one job's segments ---- */

struct building {
    struct gs_profile_job *job;
    bool single;                  /* the job has one GPU at a time */
    bool by_gpu;                  /* ... and a segment is on one of them */
    unsigned gpu;                 /* of the last GPU segment; 0: none yet */
    unsigned turns;               /* how many times it has gone from one GPU to another */
    int chunks[GS_MAX_RESOURCES]; /* of the last segment, by resource */
    int64_t ended;
};

static int push(struct building *b, enum gs_resource resource, int64_t ns, unsigned server)
{
    struct gs_profile_segment *v = realloc(b->job->segments, (b->job->n + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    b->job->segments = v;
    v[b->job->n++] = (struct gs_profile_segment){.resource = resource, .ns = ns, .server = server};
    return 0;
}

/* The link is one server, all GPUs of a job that has several are one, and of others each is. */
static unsigned server_of(const struct building *b, const struct unit *u)
{
    const unsigned link = 1, gpus = 2;
    return u->resource == GS_RESOURCE_PCI ? link : b->single && b->by_gpu ? gpus + u->resource : gpus;
}

static void count_chunk(struct building *b, const struct unit *u)
{
    struct gs_profile_segment *last = &b->job->segments[b->job->n - 1];
    if (u->resource < GS_MAX_RESOURCES && ++b->chunks[u->resource] > last->chunks)
        last->chunks = b->chunks[u->resource];
}

/* Units that overlap or follow each other at once are one segment; a gap is the host's. */
static int add_unit(struct building *b, const struct unit *u)
{
    const enum gs_resource resource = u->resource == GS_RESOURCE_PCI ? GS_PCI : GS_GPU;
    const unsigned server = server_of(b, u);
    const int64_t begin = u->begin > b->ended ? u->begin : b->ended;
    int err = 0;
    struct gs_profile_segment *last = b->job->n ? &b->job->segments[b->job->n - 1] : NULL;
    if (u->end <= begin) {
        if (last && last->server == server)
            count_chunk(b, u);
        return 0;
    }
    if (begin > b->ended)
        err = push(b, GS_CPU, begin - b->ended, 0);
    last = b->job->n ? &b->job->segments[b->job->n - 1] : NULL;
    if (!err && last && last->server == server) {
        last->ns += u->end - begin;
    } else if (!err) {
        err = push(b, resource, u->end - begin, server);
        memset(b->chunks, 0, sizeof b->chunks);
    }
    if (!err)
        count_chunk(b, u);
    if (resource == GS_GPU) {
        b->turns += b->single && b->gpu && b->gpu != u->resource;
        b->gpu = u->resource;
    }
    b->ended = u->end;
    return err;
}

static int make(struct gs_profile_job *job, const struct job *j, const struct unit *units, size_t n, bool single,
                bool by_gpu, unsigned *turns)
{
    struct building b = {.job = job, .single = single, .by_gpu = by_gpu, .ended = j->begin};
    int err = 0;
    for (size_t i = 0; i < n && !err; i++)
        err = add_unit(&b, &units[i]);
    if (!err && j->end > b.ended)
        err = push(&b, GS_CPU, j->end - b.ended, 0);
    job->response_ns = (j->end > b.ended ? j->end : b.ended) - j->begin;
    *turns = b.turns;
    return err;
}

static int add_job(struct gs_profile *p, const struct job *j, const struct unit *units, size_t n, bool single)
{
    struct gs_profile_job *v = realloc(p->jobs, (p->n + 1) * sizeof *v);
    unsigned turns;
    if (!v)
        return -ENOMEM;
    p->jobs = v;
    v[p->n] = (struct gs_profile_job){0};
    int err = make(&v[p->n], j, units, n, single, true, &turns);
    if (!err && turns > MOST_TURNS) {
        free(v[p->n].segments);
        v[p->n] = (struct gs_profile_job){0};
        err = make(&v[p->n], j, units, n, single, false, &turns);
        p->moves_piecewise = true;
    }
    p->n++;
    return err;
}

/* ---- all of a trace ---- */

static int add_jobs(struct gs_profile *p, const struct events *ev, int warm_up, bool single)
{
    uint32_t used = 0;
    int before = 0, err = 0;
    for (size_t i = 0, at = 0; i < ev->n_jobs && !err; i++) {
        const struct job *j = &ev->jobs[i];
        const bool last = i + 1 == ev->n_jobs || ev->jobs[i + 1].client != j->client;
        before = i && ev->jobs[i - 1].client == j->client ? before + 1 : 0;
        while (at < ev->n_units && (ev->units[at].client < j->client ||
                                    (ev->units[at].client == j->client && ev->units[at].begin < j->begin)))
            at++;
        size_t n = 0;
        while (at + n < ev->n_units && ev->units[at + n].client == j->client && ev->units[at + n].begin <= j->end)
            n++;
        if ((before < warm_up && !last) || !n || j->end <= j->begin)
            continue;
        err = add_job(p, j, &ev->units[at], n, single);
        for (size_t k = at; k < at + n; k++) {
            const struct unit *u = &ev->units[k];
            const enum gs_resource r = u->resource == GS_RESOURCE_PCI ? GS_PCI : GS_GPU;
            if (u->end - u->begin > p->longest_ns[r])
                p->longest_ns[r] = u->end - u->begin;
            if (r == GS_GPU)
                used |= GS_MASK(u->resource);
        }
    }
    const int gpus = __builtin_popcount(used);
    p->used = gpus > p->used ? gpus : p->used;
    return err;
}

int gs_profile_read_units(struct gs_profile *p, const char *path, int warm_up, bool single)
{
    json_error_t error;
    json_t *list = gs_json_load(path, GS_FILE_TRACE, 0, &error);
    if (!json_is_array(list)) {
        gs_error("the daemon's trace can't be read: %s", list ? "there is no list of events in it" : error.text);
        json_decref(list);
        return -EINVAL;
    }
    struct events ev = {.units = calloc(json_array_size(list) + 1, sizeof *ev.units),
                        .jobs = calloc(json_array_size(list) + 1, sizeof *ev.jobs)};
    int err = ev.units && ev.jobs ? 0 : -ENOMEM;
    size_t i;
    json_t *e;
    if (!err)
        json_array_foreach(list, i, e) read_event(e, p, &ev);
    json_decref(list);
    if (ev.lost)
        gs_warn("the daemon's trace lacks some units: segments may be too short");
    if (!err) {
        qsort(ev.units, ev.n_units, sizeof *ev.units, by_unit);
        qsort(ev.jobs, ev.n_jobs, sizeof *ev.jobs, by_job);
        err = add_jobs(p, &ev, warm_up < 0 ? (single ? p->devices : 1) : warm_up, single);
    }
    p->runs++;
    free(ev.units);
    free(ev.jobs);
    return err;
}
