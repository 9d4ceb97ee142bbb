/* SPDX-License-Identifier: MIT */
/* The daemon's state as one text, put together a piece at a time, and who asks for it. */
#include "scheduler/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scheduler/status_json.h"
#include "scheduler/worker.h"

#define STATUS_NS UINT64_C(50000000)

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
    add(r, &r->list[CLIENTS], gs_client_json(core, s));
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
            add(r, &r->list[RESOURCES], gs_resource_json(core, r->next));
        else if (r->part == TASKS)
            add(r, &r->list[TASKS], gs_task_json(core, &core->config.tasks[r->next]));
        else
            add(r, &r->list[USERS], gs_user_json(&core->users.user[r->next], core->now_ns));
    }
    return r->part < PARTS;
}

/* The whole text; null: no memory. */
static char *finish(const struct gs_core *core, const struct gs_report *r)
{
    json_t *j = json_object();
    json_object_set_new(j, "daemon", gs_daemon_json(core));
    json_object_set_new(j, "decision", gs_decision_json(core));
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
    gs_worker_empty(f->file);
    *f = (struct gs_status_file){0};
}

/* A user who asks all the time gets what others have been told. So does everybody while those who have the earlier
 * states keep these from being emptied. */
static bool is_good_for(const struct gs_session *s)
{
    const struct gs_core *core = s->core;
    const bool trusted = gs_user_is_trusted(s->uid);
    const struct gs_status_file *f = last(core);
    const bool recent = core->now_ns - f->begun_ns < STATUS_NS || gs_worker_emptying() >= GS_STATUS_FILES;
    return f->file && (f->begun_ns >= s->told_to_wait_ns || (!trusted && recent));
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

/* Keeps the text as the last state, in place of the oldest. Nobody has the file mapped for writing, so none may be:
 * with F_SEAL_WRITE the kernel would wait until a thread of ordinary priority has run on each processor. */
static int keep(struct gs_core *core, const char *text, uint64_t begun_ns)
{
    struct gs_status_file f = {.bytes = strlen(text), .begun_ns = begun_ns};
    f.file = memfd_create("gpusparc-state", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (f.file < 0 || fchmod(f.file, 0400) < 0 || write(f.file, text, f.bytes) != (ssize_t)f.bytes ||
        fcntl(f.file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0) {
        if (f.file >= 0)
            close(f.file);
        return -ENOMEM;
    }
    struct gs_status_file *oldest = &core->status[++core->status_made % GS_STATUS_FILES];
    drop(oldest);
    *oldest = f;
    return 0;
}

/* An open file of the asker's own, to read: its locks are gone with its own last descriptor, and aren't taken away one
 * by one when the daemon drops the state. */
static void answer(struct gs_session *s, const struct gs_status_file *f)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        gs_core_answer(s, -ENOMEM, "the daemon has no memory left");
    else
        gs_core_answer_file(s, fd, f->bytes);
    if (fd >= 0)
        close(fd);
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
        answer(s, last(core));
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
