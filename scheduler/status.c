/* SPDX-License-Identifier: MIT */
/* The daemon's state as JSON. docs/daemon.md lists the fields. */
#include "scheduler/session.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "scheduler/worker.h"

#define STATUS_NS UINT64_C(50000000)

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static void resource_name(unsigned resource, char name[16])
{
    snprintf(name, 16, resource == GS_RESOURCE_PCI ? "link" : "gpu%u", resource - 1);
}

/* An executable's path may hold any bytes, and be long; JSON holds Unicode, and control characters take six times as
 * much. Of a long one the end is kept, which has its name. */
static json_t *text(const char *s)
{
    enum { MOST = 255 };
    char plain[MOST + 1];
    const size_t n = strlen(s), cut = n > MOST ? n - (MOST - 3) : 0;
    snprintf(plain, sizeof plain, "%s%s", cut ? "..." : "", s + cut);
    gs_plain(plain, strlen(plain));
    for (size_t i = 3; cut && ((unsigned char)plain[i] & 0xc0) == 0x80; i++)
        plain[i] = '.'; /* the rest of a character that is cut */
    json_t *j = json_string(plain);
    return j ? j : json_string("(a name that is not UTF-8)");
}

/* The first request of the client for the resource; null: none. */
static const struct gs_policy_request *find_request(const struct gs_core *core, const struct gs_session *s,
                                                    unsigned resource)
{
    const struct gs_policy_request *rq;
    for (unsigned k = 0; (rq = gs_policy_waiting(core->policy, s->index, k)); k++)
        if (rq->resource == resource)
            return rq;
    return NULL;
}

/* Who waits for it, tasks first: so many at most that nobody can make the list long. *n: how many there are. */
static json_t *waiting_for(const struct gs_core *core, unsigned resource, size_t *n)
{
    enum { MOST = 32 };
    json_t *list = json_array();
    *n = 0;
    for (int tasks = 1; tasks >= 0; tasks--) {
        for (unsigned i = 0; i < core->options.max_clients; i++) {
            const struct gs_session *s = core->session[i];
            const struct gs_policy_request *rq =
                s && (s->task != NULL) == tasks ? find_request(core, s, resource) : NULL;
            if (!rq || ++*n > MOST)
                continue;
            json_t *j = json_object();
            json_object_set_new(j, "client", number(s->number));
            json_object_set_new(j, "task", text(s->task_name));
            json_object_set_new(j, "since_ns", number(core->now_ns - rq->at_ns));
            json_array_append_new(list, j);
        }
    }
    return list;
}

/* What the client says of its memory on a GPU. All clients' together are a number still. */
#define MOST_MEMORY (INT64_C(1) << 50)
static uint64_t memory_of(const struct gs_session *s, unsigned gpu)
{
    const int64_t bytes = atomic_load(&s->lease.page->memory[gpu]);
    return bytes <= 0 ? 0 : bytes < MOST_MEMORY ? (uint64_t)bytes : MOST_MEMORY;
}

static uint64_t memory_on(const struct gs_core *core, unsigned gpu)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i])
            bytes += memory_of(core->session[i], gpu);
    return bytes;
}

static json_t *resource_json(const struct gs_core *core, unsigned r)
{
    struct gs_policy_view v;
    gs_policy_view(core->policy, r, &v);
    const struct gs_session *holder = v.holder == GS_NO_CLIENT ? NULL : core->session[v.holder];
    uint64_t taken = core->taken[r];
    for (unsigned i = 0; i < core->options.max_clients; i++)
        if (core->session[i])
            taken += gs_jobs_taken(core->session[i], r);
    size_t waiting;
    char name[16];
    resource_name(r, name);
    json_t *j = json_object();
    json_object_set_new(j, "name", json_string(name));
    json_object_set_new(j, "holder", holder ? number(holder->number) : json_null());
    json_object_set_new(j, "holder_task", holder ? text(holder->task_name) : json_null());
    json_object_set_new(j, "units", number(holder ? gs_lease_units(&holder->lease, r) : 0));
    json_object_set_new(j, "contended", json_boolean(v.asked));
    json_object_set_new(j, "alone", json_boolean(v.alone));
    json_object_set_new(j, "busy_ns", number(core->busy_ns[r]));
    json_object_set_new(j, "memory_bytes", r == GS_RESOURCE_PCI ? json_null() : number(memory_on(core, r - 1)));
    json_object_set_new(j, "taken", number(taken));
    json_object_set_new(j, "granted", number(v.grants));
    json_object_set_new(j, "handovers", number(v.handovers));
    json_object_set_new(j, "waiting", waiting_for(core, r, &waiting));
    json_object_set_new(j, "clients_waiting", number(waiting));
    return j;
}

static json_t *gpus_json(uint32_t mask)
{
    json_t *list = json_array();
    for (unsigned g = 0; g < GS_MAX_GPUS; g++)
        if (mask & GS_MASK(GS_RESOURCE_GPU(g)))
            json_array_append_new(list, number(g));
    return list;
}

/* By GPU: those on which it has any. */
static json_t *memory_json(const struct gs_session *s)
{
    json_t *j = json_object();
    for (unsigned g = 0; g < s->core->gpus; g++) {
        char name[16];
        resource_name(GS_RESOURCE_GPU(g), name);
        if (memory_of(s, g))
            json_object_set_new(j, name, number(memory_of(s, g)));
    }
    return j;
}

static json_t *client_json(const struct gs_core *core, const struct gs_session *s)
{
    uint64_t job = atomic_load(&s->lease.page->job_since_ns);
    json_t *j = json_object();
    json_object_set_new(j, "client", number(s->number));
    json_object_set_new(j, "pid", number((uint64_t)s->pid));
    json_object_set_new(j, "uid", number(s->uid));
    json_object_set_new(j, "exe", text(s->exe));
    json_object_set_new(j, "task", text(s->task_name));
    json_object_set_new(j, "degraded", json_boolean(s->degraded));
    json_object_set_new(j, "priority", json_integer(s->task ? gs_taskset_rank(&core->config, s->task) : 0));
    json_object_set_new(j, "gpus", number(s->told.gpus));
    json_object_set_new(j, "gpu_list", gpus_json(s->told.gpu_mask));
    json_object_set_new(j, "since_ns", number(core->now_ns - s->since_ns));
    json_object_set_new(j, "job_ns", job && job <= core->now_ns ? number(core->now_ns - job) : json_null());
    json_object_set_new(j, "warmup_left", number(s->warmup_left));
    json_object_set_new(j, "taken_back", number(s->taken_back));
    json_object_set_new(j, "behind", json_boolean(gs_policy_is_behind(core->policy, s->index)));
    json_object_set_new(j, "memory_bytes", memory_json(s));
    return j;
}

static json_t *histogram_json(const struct gs_histogram *h)
{
    return json_pack("{s:I s:I s:I s:I s:I}", "count", (json_int_t)h->count, "min_ns", (json_int_t)h->min_ns,
                     "median_ns", (json_int_t)gs_histogram_quantile(h, 0.5), "p99_ns",
                     (json_int_t)gs_histogram_quantile(h, 0.99), "max_ns", (json_int_t)h->max_ns);
}

/* What the task's jobs have used with so many GPUs, beside what their segments say and what the bound counts. */
static json_t *demand_json(const struct gs_config_task *t, const struct gs_demand *d, unsigned gpus)
{
    static const enum gs_resource kinds[] = {GS_PCI, GS_GPU};
    json_t *j = json_object();
    json_object_set_new(j, "gpus", number(gpus));
    for (size_t i = 0; i < 2; i++) {
        const enum gs_resource k = kinds[i];
        const int64_t said = gs_demand_said(t, gpus, k), counted = d->counted_ns[gpus][k];
        json_object_set_new(j, k == GS_PCI ? "link" : gs_resource_names[k],
                            json_pack("{s:I s:I s:I}", "seen_ns", (json_int_t)d->seen_ns[gpus][k], "segments_ns",
                                      (json_int_t)said, "counted_ns", (json_int_t)(counted > said ? counted : said)));
    }
    return j;
}

static json_t *demands_json(const struct gs_config_task *t, const struct gs_demand *d)
{
    json_t *list = json_array();
    for (unsigned g = 1; d && g <= GS_MAX_GPUS; g++)
        if (d->seen_ns[g][GS_PCI] || d->seen_ns[g][GS_GPU])
            json_array_append_new(list, demand_json(t, d, g));
    return list;
}

static json_t *task_json(struct gs_core *core, const struct gs_config_task *t)
{
    static const struct gs_histogram none;
    const struct gs_task_stats *st = gs_jobs_stats(core, t->name);
    const struct gs_session *runs = NULL;
    unsigned instances = 0, warming = 0;
    for (unsigned i = 0; i < core->options.max_clients; i++) {
        if (core->session[i] && strcmp(core->session[i]->task_name, t->name) == 0) {
            runs = core->session[i];
            instances++;
            warming += runs->warmup_left > 0;
        }
    }
    json_t *j = json_object();
    json_object_set_new(j, "task", text(t->name));
    json_object_set_new(j, "running", number(instances));
    json_object_set_new(j, "priority", json_integer(gs_taskset_rank(&core->config, t)));
    json_object_set_new(j, "degraded", json_boolean(runs && runs->degraded));
    json_object_set_new(j, "gpus", runs ? number(runs->told.gpus) : json_null());
    json_object_set_new(j, "period_ns", number((uint64_t)t->period_ns));
    json_object_set_new(j, "deadline_ns", number((uint64_t)t->deadline_ns));
    json_object_set_new(j, "bound_ns",
                        runs && runs->member.analysed ? number((uint64_t)runs->member.response_ns) : json_null());
    json_object_set_new(j, "warming", number(warming));
    json_object_set_new(j, "warmup_jobs", number(st ? st->warmup_jobs : 0));
    json_object_set_new(j, "jobs", number(st ? st->jobs : 0));
    json_object_set_new(j, "misses", number(st ? st->misses : 0));
    json_object_set_new(j, "response", histogram_json(st ? &st->response : &none));
    json_object_set_new(j, "jitter", histogram_json(st ? &st->jitter : &none));
    json_object_set_new(j, "used", demands_json(t, st ? &st->demand : NULL));
    return j;
}

static json_t *daemon_json(const struct gs_core *core)
{
    json_t *j = json_object();
    json_object_set_new(j, "version", json_string(GS_VERSION));
    json_object_set_new(j, "pid", number((uint64_t)getpid()));
    json_object_set_new(j, "socket", text(core->options.socket));
    json_object_set_new(j, "config", core->options.config_path ? text(core->options.config_path) : json_null());
    json_object_set_new(j, "gpus", number(core->gpus));
    json_object_set_new(j, "depth", number(core->depth));
    json_object_set_new(j, "uptime_ns", number(core->now_ns - core->started_ns));
    json_object_set_new(j, "clients", number(core->n_sessions));
    json_object_set_new(j, "reloads", number(core->reloads));
    json_object_set_new(j, "refused", number(core->refused));
    json_object_set_new(j, "bad_messages", number(core->bad_messages));
    json_object_set_new(j, "taken_back", number(core->taken_back));
    json_object_set_new(j, "log_dropped", number(gs_log_dropped()));
    return j;
}

static json_t *user_json(const struct gs_user *u, uint64_t now_ns)
{
    static const char *const names[GS_USER_EVENTS] = {"connections", "questions", "turned_away", "refused",
                                                      "log_left_out"};
    json_t *j = json_object();
    json_object_set_new(j, "uid", number(u->uid));
    json_object_set_new(j, "floods", json_boolean(gs_user_floods(u, now_ns)));
    for (unsigned e = 0; e < GS_USER_EVENTS; e++)
        json_object_set_new(j, names[e], number(u->count[e]));
    return j;
}

static json_t *decision_json(const struct gs_core *core)
{
    json_t *j = json_object();
    json_object_set_new(j, "schedulable", json_boolean(core->decision.schedulable));
    json_object_set_new(j, "proven", json_boolean(core->decision.proven));
    json_object_set_new(j, "analysed", number(core->decision.analysed));
    json_object_set_new(j, "reason", json_string(core->decision.reason));
    json_object_set_new(j, "age_ns", number(core->now_ns - core->decided_ns));
    json_object_set_new(j, "decisions", number(core->decisions));
    return j;
}

/* ---- the text, a piece at a time ---- */

enum part {
    CLIENTS,
    RESOURCES,
    TASKS,
    USERS,
    PARTS
}; /* in this order: what clients say of themselves is summed up first */
static const char *const part_name[PARTS] = {"clients", "resources", "tasks", "users"};
enum { AT_ONCE = 4 }; /* clients, tasks or users, or one resource: looking for all who wait for it takes as long */

/* A list whose elements are written one after the other. */
struct list {
    char *text;
    size_t bytes, room;
};

struct gs_report {
    enum part part;
    unsigned next; /* of the part */
    bool failed;   /* no memory */
    uint64_t begun_ns;
    struct list list[PARTS];
};

static void add(struct gs_report *r, struct list *l, json_t *element)
{
    char *s = element ? json_dumps(element, JSON_COMPACT) : NULL;
    json_decref(element);
    const size_t n = s ? strlen(s) : 0;
    if (s && l->bytes + n + 2 > l->room) {
        char *v = realloc(l->text, l->room = 2 * l->room + n + 2);
        if (v)
            l->text = v;
        else
            r->failed = true;
    }
    r->failed = r->failed || !s;
    if (!r->failed) {
        if (l->bytes)
            l->text[l->bytes++] = ',';
        memcpy(l->text + l->bytes, s, n + 1);
        l->bytes += n;
    }
    free(s);
}

static void add_client(struct gs_core *core, struct gs_report *r, unsigned i)
{
    struct gs_session *s = core->session[i];
    if (!s)
        return;
    gs_jobs_read(s);
    gs_jobs_collect_usage(s);
    add(r, &r->list[CLIENTS], client_json(core, s));
}

static struct gs_report *begin(const struct gs_core *core)
{
    struct gs_report *r = calloc(1, sizeof *r);
    if (r)
        r->begun_ns = core->now_ns;
    return r;
}

static void discard(struct gs_report *r)
{
    for (int i = 0; r && i < PARTS; i++)
        free(r->list[i].text);
    free(r);
}

/* A little more of it. False: it is whole. */
static bool go_on(struct gs_core *core, struct gs_report *r)
{
    const size_t ends[PARTS] = {core->options.max_clients, core->gpus + 1, core->config.n_tasks, core->users.n};
    for (unsigned n = 0; n < AT_ONCE && r->part < PARTS; r->next++) {
        if (r->next >= ends[r->part]) {
            r->part++;
            r->next = UINT_MAX; /* so that it is 0 next */
            continue;
        }
        n += r->part == RESOURCES ? AT_ONCE : r->part != CLIENTS || core->session[r->next];
        if (r->part == CLIENTS)
            add_client(core, r, r->next);
        else if (r->part == RESOURCES)
            add(r, &r->list[RESOURCES], resource_json(core, r->next));
        else if (r->part == TASKS)
            add(r, &r->list[TASKS], task_json(core, &core->config.tasks[r->next]));
        else
            add(r, &r->list[USERS], user_json(&core->users.user[r->next], core->now_ns));
    }
    return r->part < PARTS;
}

/* The whole text; null: no memory. */
static char *finish(const struct gs_core *core, const struct gs_report *r)
{
    json_t *j = json_object();
    json_object_set_new(j, "daemon", daemon_json(core));
    json_object_set_new(j, "decision", decision_json(core));
    char *head = json_dumps(j, JSON_COMPACT), *whole = NULL;
    json_decref(j);
    size_t n = head ? strlen(head) : 0, room = n + 1;
    for (int i = 0; i < PARTS; i++)
        room += strlen(part_name[i]) + r->list[i].bytes + sizeof ",\"\":[]";
    if (head && !r->failed && (whole = malloc(room))) {
        memcpy(whole, head, n - 1); /* all but its last brace */
        n--;
        for (int i = 0; i < PARTS; i++)
            n += (size_t)snprintf(whole + n, room - n, ",\"%s\":[%s]", part_name[i],
                                  r->list[i].text ? r->list[i].text : "");
        memcpy(whole + n, "}", 2);
    }
    free(head);
    return whole;
}

char *gs_core_status(struct gs_core *core, uint64_t now_ns)
{
    core->now_ns = now_ns;
    struct gs_report *r = begin(core);
    while (r && go_on(core, r))
        ;
    char *text = r ? finish(core, r) : NULL;
    discard(r);
    return text;
}

/* ---- who asks ---- */

static const struct gs_status_file *last(const struct gs_core *core)
{
    return &core->status[core->status_made % GS_STATUS_FILES];
}

static void drop(struct gs_status_file *f)
{
    if (!f->file)
        return;
    close(f->given);
    gs_worker_empty(f->file);
    *f = (struct gs_status_file){0};
}

/* A user who asks all the time gets what others have been told. So does everybody while those who have the earlier
 * states keep these from being emptied. */
static bool is_good_for(const struct gs_session *s)
{
    const struct gs_core *core = s->core;
    const bool privileged = s->uid == 0 || s->uid == geteuid();
    const struct gs_status_file *f = last(core);
    const bool recent = core->now_ns - f->begun_ns < STATUS_NS || gs_worker_emptying() >= GS_STATUS_FILES;
    return f->file && (f->begun_ns >= s->told_to_wait_ns || (!privileged && recent));
}

/* Users in turn. */
static struct gs_session *next_asker(const struct gs_core *core)
{
    struct gs_session *s;
    TAILQ_FOREACH (s, &core->asking, waiting)
        if (s->uid != core->answered)
            return s;
    return TAILQ_FIRST(&core->asking);
}

/* Keeps the text as the last state, in place of the oldest. */
static int keep(struct gs_core *core, const char *text, uint64_t begun_ns)
{
    char path[32];
    struct gs_status_file f = {.bytes = strlen(text), .begun_ns = begun_ns};
    f.file = memfd_create("gpusparc-state", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    snprintf(path, sizeof path, "/proc/self/fd/%d", f.file);
    f.given = f.file < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (f.given < 0 || fchmod(f.file, 0400) < 0 || write(f.file, text, f.bytes) != (ssize_t)f.bytes ||
        fcntl(f.file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0) {
        if (f.file >= 0)
            close(f.file);
        if (f.given >= 0)
            close(f.given);
        return -ENOMEM;
    }
    struct gs_status_file *oldest = &core->status[++core->status_made % GS_STATUS_FILES];
    drop(oldest);
    *oldest = f;
    return 0;
}

void gs_status_ask(struct gs_session *s)
{
    struct gs_core *core = s->core;
    if (s->waits) {
        gs_core_answer(s, -EBUSY, "this connection waits for another answer");
        return;
    }
    s->told_to_wait_ns = core->now_ns;
    s->waits = GS_WAITS_FOR_STATUS;
    TAILQ_INSERT_TAIL(&core->asking, s, waiting);
    while (!core->ops.analyse && gs_status_has_work(core))
        gs_status_work(core);
}

bool gs_status_has_work(const struct gs_core *core)
{
    return !TAILQ_EMPTY(&core->asking);
}

void gs_status_work(struct gs_core *core)
{
    struct gs_session *s = next_asker(core);
    if (!s)
        return;
    if (is_good_for(s)) {
        core->answered = s->uid;
        gs_members_wait_no_more(s);
        gs_core_answer_file(s, last(core)->given, last(core)->bytes);
        return;
    }
    if (!core->report)
        core->report = begin(core);
    if (core->report && go_on(core, core->report))
        return;
    char *whole = core->report ? finish(core, core->report) : NULL;
    const int err = whole ? keep(core, whole, core->report->begun_ns) : -ENOMEM;
    free(whole);
    discard(core->report);
    core->report = NULL;
    if (err == 0)
        return;
    gs_members_wait_no_more(s);
    gs_core_answer(s, -ENOMEM, "the daemon has no memory left");
}

void gs_status_free(struct gs_core *core)
{
    discard(core->report);
    for (unsigned i = 0; i < GS_STATUS_FILES; i++)
        drop(&core->status[i]);
}
