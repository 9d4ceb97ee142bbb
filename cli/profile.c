/* SPDX-License-Identifier: MIT */
/* gpusparc profile: from an application's traces to jobs. */
#include "cli/profile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/json_file.h"
#include "common/log.h"

enum { MAX_DEVICES = 64 };

/* One command of the application, or of gpusparc for it. */
struct command {
    long long pid;
    enum gs_resource resource;
    bool reads, staged; /* a piece of a transfer through gpusparc's pinned ring */
    int device;
    int64_t asked, begin, end;
};

struct commands {
    struct command *v; /* owned */
    size_t n;
};

/* A call of the application. */
struct call {
    long long pid;
    int64_t begin, end;
    int64_t latest; /* end of the calls of its process up to this one */
};

struct calls {
    struct call *v; /* owned; by process, and then by begin */
    size_t n;
};

static int64_t ns_of(const json_t *us)
{
    return (int64_t)llround(json_number_value(us) * 1e3);
}

static const char *string_or_empty(const json_t *e, const char *key)
{
    const char *s = json_string_value(json_object_get(e, key));
    return s ? s : "";
}

/* What a command occupies; false: nothing that counts. */
static bool classify(const char *category, struct command *c)
{
    static const struct {
        const char *category;
        enum gs_resource resource;
    } table[] = {{"kernel", GS_GPU}, {"merge", GS_GPU},    {"reduce", GS_GPU}, {"copy", GS_GPU},
                 {"upload", GS_PCI}, {"download", GS_PCI}, {"peer", GS_GPU}}; /* as the shim asks for units */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(category, table[i].category) != 0)
            continue;
        c->resource = table[i].resource;
        return true;
    }
    return false;
}

/* One event of the trace: a command or nothing. */
static bool read_event(const json_t *e, struct command *c)
{
    const json_t *args = json_object_get(e, "args"), *asked = json_object_get(args, "asked");
    const char *ph = json_string_value(json_object_get(e, "ph")), *cat = json_string_value(json_object_get(e, "cat")),
               *why = json_string_value(json_object_get(args, "for"));
    *c = (struct command){0};
    if (!ph || strcmp(ph, "X") != 0 || !cat || !classify(cat, c) || (why && strcmp(why, "verify") == 0))
        return false;
    c->pid = json_integer_value(json_object_get(e, "pid"));
    c->device = (int)json_integer_value(json_object_get(args, "device"));
    c->begin = ns_of(json_object_get(e, "ts"));
    c->end = c->begin + ns_of(json_object_get(e, "dur"));
    c->asked = asked ? ns_of(asked) : c->begin;
    if (c->asked > c->begin)
        c->asked = c->begin;
    /* Half of what goes from one device to another isn't read by the application. */
    c->reads = strcmp(cat, "download") == 0 && !why && strcmp(string_or_empty(e, "name"), "pinned") != 0;
    c->staged = c->resource == GS_PCI && strcmp(string_or_empty(e, "name"), "staged") == 0;
    return c->device >= 0 && c->device < MAX_DEVICES;
}

static bool read_call(const json_t *e, struct call *c)
{
    const char *cat = json_string_value(json_object_get(e, "cat"));
    if (!cat || strcmp(cat, "api") != 0)
        return false;
    *c = (struct call){.pid = json_integer_value(json_object_get(e, "pid")), .begin = ns_of(json_object_get(e, "ts"))};
    c->end = c->begin + ns_of(json_object_get(e, "dur"));
    return true;
}

static int by_call(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->pid != y->pid)
        return (x->pid > y->pid) - (x->pid < y->pid);
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void sort_calls(struct calls *calls)
{
    if (calls->n)
        qsort(calls->v, calls->n, sizeof *calls->v, by_call);
    for (size_t i = 0; i < calls->n; i++) {
        struct call *c = &calls->v[i];
        c->latest = i && c[-1].pid == c->pid && c[-1].latest > c->end ? c[-1].latest : c->end;
    }
}

/* Did one call last from `begin` to `end`, at the least? */
static bool within_call(const struct calls *calls, long long pid, int64_t begin, int64_t end)
{
    size_t from = 0, to = calls->n; /* the first that begins later is among these, or at the end */
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const struct call *c = &calls->v[middle];
        if (c->pid < pid || (c->pid == pid && c->begin <= begin))
            from = middle + 1;
        else
            to = middle;
    }
    return from && calls->v[from - 1].pid == pid && calls->v[from - 1].latest >= end;
}

static int by_asking(const void *a, const void *b)
{
    const struct command *x = a, *y = b;
    if (x->pid != y->pid)
        return (x->pid > y->pid) - (x->pid < y->pid);
    return (x->asked > y->asked) - (x->asked < y->asked);
}

static int by_begin(const void *a, const void *b)
{
    const struct command *x = a, *y = b;
    if (x->begin != y->begin)
        return (x->begin > y->begin) - (x->begin < y->begin);
    return (x->asked > y->asked) - (x->asked < y->asked);
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A segment under way: the commands of one resource that follow one another. */
struct building {
    enum gs_resource resource;
    int64_t begin, end;
    int64_t busy[MAX_DEVICES], until[MAX_DEVICES]; /* the link has index 0 alone */
};

static void begin_segment(struct building *b, enum gs_resource resource, int64_t begin)
{
    memset(b, 0, sizeof *b);
    b->resource = resource;
    b->begin = b->end = begin;
}

static void add_command(struct building *b, const struct command *c)
{
    int d = b->resource == GS_GPU ? c->device : 0;
    int64_t from = max64(c->begin, b->until[d]);
    if (c->end > from) {
        b->busy[d] += c->end - from;
        b->until[d] = c->end;
    }
    b->end = max64(b->end, c->end);
}

/* Its time: from the end of the segment before to its own, or what a device of it has worked if that is more, since two
 * segments may have overlapped. */
static int64_t time_of(const struct building *b)
{
    int64_t most = b->end - b->begin;
    for (int d = 0; d < MAX_DEVICES; d++)
        most = max64(most, b->busy[d]);
    return most;
}

static int push_segment(struct gs_profile_job *job, enum gs_resource resource, int64_t ns)
{
    struct gs_profile_segment *v = realloc(job->segments, (job->n + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    job->segments = v;
    v[job->n++] = (struct gs_profile_segment){.resource = resource, .ns = ns};
    return 0;
}

/* Asked for when all before it had ended: the application was at work, or asleep, in between. Not so between two pieces
 * of a transfer, which the daemon is asked for one before the other has ended: then it was gpusparc that copied. */
static bool host_between(const struct command *before, const struct command *c, int64_t ended,
                         const struct calls *calls)
{
    const bool pieces = before->staged && c->staged && before->reads == c->reads;
    return c->asked > ended && !(pieces && within_call(calls, c->pid, ended, c->asked));
}

/* The chain of one job's commands. Sorts them by their begin. */
static int make_job(struct command *v, size_t n, const struct calls *calls, struct gs_profile_job *job)
{
    struct building b;
    int64_t released = v[0].asked, ended = 0;
    int err = 0;
    *job = (struct gs_profile_job){0};
    qsort(v, n, sizeof *v, by_begin);
    for (size_t i = 0; i < n && !err; i++) {
        bool host = i > 0 && host_between(&v[i - 1], &v[i], ended, calls);
        if (i > 0 && (host || v[i].resource != b.resource))
            err = push_segment(job, b.resource, time_of(&b));
        if (host && !err)
            err = push_segment(job, GS_CPU, v[i].asked - ended);
        if (i == 0 || host)
            begin_segment(&b, v[i].resource, i == 0 ? released : v[i].asked);
        else if (v[i].resource != b.resource)
            begin_segment(&b, v[i].resource, ended);
        add_command(&b, &v[i]);
        ended = max64(ended, v[i].end);
    }
    job->response_ns = ended - released;
    return err ? err : push_segment(job, b.resource, time_of(&b));
}

/* How many of the commands, in the order of asking, are the first job: it ends when all its commands have, among them
 * one that reads results, and what comes next isn't another read. */
static size_t job_length(const struct command *v, size_t n)
{
    bool reads = false;
    int64_t ended = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (v[i].pid != v[0].pid || (reads && !v[i].reads && v[i].asked >= ended)))
            return i;
        reads = reads || v[i].reads;
        ended = max64(ended, v[i].end);
    }
    return n;
}

static int add_jobs(struct gs_profile *p, struct commands *all, const struct calls *calls, int warm_up)
{
    long long pid = -1;
    int before = 0;
    qsort(all->v, all->n, sizeof *all->v, by_asking);
    for (size_t at = 0, n; at < all->n; at += n) {
        n = job_length(&all->v[at], all->n - at);
        before = all->v[at].pid == pid ? before + 1 : 0;
        pid = all->v[at].pid;
        bool last = at + n == all->n || all->v[at + n].pid != pid;
        if (before < warm_up && !last)
            continue;
        struct gs_profile_job *v = realloc(p->jobs, (p->n + 1) * sizeof *v);
        if (!v)
            return -ENOMEM;
        p->jobs = v;
        int err = make_job(&all->v[at], n, calls, &v[p->n]);
        p->n++;
        if (err)
            return err;
        for (size_t i = at; i < at + n; i++)
            p->longest_ns[all->v[i].resource] =
                max64(p->longest_ns[all->v[i].resource], all->v[i].end - all->v[i].begin);
    }
    return 0;
}

static int read_events(struct gs_profile *p, const json_t *events, int warm_up)
{
    struct commands all = {calloc(json_array_size(events) + 1, sizeof *all.v), 0};
    struct calls calls = {calloc(json_array_size(events) + 1, sizeof *calls.v), 0};
    uint64_t used = 0;
    size_t i;
    json_t *e;
    if (!all.v || !calls.v) {
        free(all.v);
        free(calls.v);
        return -ENOMEM;
    }
    json_array_foreach(events, i, e)
    {
        const json_t *devices = json_object_get(json_object_get(e, "args"), "devices");
        if ((int)json_array_size(devices) > p->devices)
            p->devices = (int)json_array_size(devices);
        calls.n += read_call(e, &calls.v[calls.n]);
        if (!read_event(e, &all.v[all.n]))
            continue;
        if (strcmp(json_string_value(json_object_get(e, "cat")), "kernel") == 0)
            used |= UINT64_C(1) << all.v[all.n].device;
        all.n++;
    }
    sort_calls(&calls);
    int err = add_jobs(p, &all, &calls, warm_up), devices = __builtin_popcountll(used);
    p->used = devices > p->used ? devices : p->used;
    p->runs++;
    free(all.v);
    free(calls.v);
    return err;
}

int gs_profile_read(struct gs_profile *p, const char *path, int warm_up)
{
    json_error_t error;
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) {
        p->runs++; /* of an application that used no OpenCL */
        return 0;
    }
    json_t *events = gs_json_load(path, GS_FILE_TRACE, 0, &error);
    if (!events || !json_is_array(events)) {
        const bool torn = !events && strstr(error.text, "end of file");
        gs_error("%s is no trace: %s%s", path, events ? "there is no list of events in it" : error.text,
                 torn ? "; of one that was cut off all but the last line is good: put a ] in its place" : "");
        json_decref(events);
        return -EINVAL;
    }
    int err = read_events(p, events, warm_up);
    json_decref(events);
    return err;
}

void gs_profile_free(struct gs_profile *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->jobs[i].segments);
    free(p->jobs);
    *p = (struct gs_profile){0};
}
