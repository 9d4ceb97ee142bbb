/* SPDX-License-Identifier: MIT */
#include "tests/scheduler/desk.h"

static void on_send(void *ctx, void *conn, const struct gs_msg *m, int fd)
{
    struct desk *d = conn;
    if (m->type == GS_MSG_WELCOME) {
        assert_true(fd >= 0);
        d->welcome = *m;
        d->welcomes++;
    } else if (m->type == GS_MSG_TASK) {
        assert_true(fd < 0);
        d->task = *m;
        d->tasks++;
    } else if (m->type == GS_MSG_REFUSED) {
        d->refused = *m;
        d->refusals++;
    } else if (m->type == GS_MSG_NOTICE) {
        d->notice = *m;
        d->notices++;
    } else if (m->type == GS_MSG_ANSWER) {
        d->answer = *m;
    } else {
        fail_msg("the core sent a message of kind %u", m->type);
    }
}

static int on_realtime(void *ctx, void *conn, int priority)
{
    ((struct desk *)conn)->cpu_priority = priority;
    ((struct bench *)ctx)->realtime_calls++;
    return ((struct bench *)ctx)->realtime_error;
}

static void on_log(void *ctx, bool warning, const char *text)
{
    struct bench *b = ctx;
    snprintf(b->log + strlen(b->log), sizeof b->log - strlen(b->log), "%s\n", text);
}

int configure(struct bench *b, const char *text)
{
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    assert_int_equal(gs_config_parse(text, strlen(text), &config, &mistakes), 0);
    const int err = gs_core_configure(b->core, &config, b->now);
    work_off(b);
    return err;
}

static void on_analyse(void *ctx, struct gs_question *q)
{
    struct bench *b = ctx;
    assert_null(b->question);
    b->question = q;
}

void work_off(struct bench *b)
{
    for (bool some = true; some;) {
        some = false;
        for (enum gs_work k = GS_WORK_JOINS; k <= GS_WORK_ANSWERS; k++)
            if (gs_core_has_work(b->core, k)) {
                gs_core_work(b->core, k, b->now);
                some = true;
            }
    }
}

void analyse(struct bench *b)
{
    struct gs_question *q = b->question;
    b->question = NULL;
    assert_non_null(q);
    gs_question_answer(q);
    gs_core_answered(b->core, q, b->now);
    work_off(b);
}

static struct bench *start_with(const char *text, bool slow, unsigned max_clients)
{
    struct bench *b = calloc(1, sizeof *b);
    const struct gs_core_ops ops = {
        .send = on_send, .realtime = on_realtime, .log = on_log, .analyse = slow ? on_analyse : NULL};
    const struct gs_core_options options = {
        .gpus = 2, .max_clients = max_clients, .max_per_user = max_clients / 2, .socket = "s"};
    b->now = 1000 * MS;
    b->core = gs_core_new(&options, &ops, b);
    assert_non_null(b->core);
    assert_int_equal(configure(b, text), 0);
    return b;
}

struct bench *start(const char *text)
{
    return start_with(text, false, 8);
}

struct bench *start_crowd(const char *text)
{
    return start_with(text, false, 32);
}

struct bench *start_slow(const char *text)
{
    return start_with(text, true, 8);
}

struct bench *start_large(const char *text)
{
    return start_with(text, true, 200);
}

void stop(struct bench *b)
{
    while (b->sit)
        get_up(b, b->at[b->sit - 1]);
    gs_core_free(b->core);
    free(b);
}

void sit_down(struct bench *b, struct desk *d, uid_t uid, const char *exe)
{
    const struct gs_peer peer = {.uid = uid, .pid = 4711, .exe = exe};
    *d = (struct desk){.session = gs_core_connect(b->core, d, &peer, b->now)};
    assert_non_null(d->session);
    assert_true(b->sit < sizeof b->at / sizeof *b->at);
    b->at[b->sit++] = d;
}

void get_up(struct bench *b, struct desk *d)
{
    unsigned i = 0;
    while (b->at[i] != d)
        i++;
    b->at[i] = b->at[--b->sit];
    gs_core_disconnect(d->session, b->now);
    d->session = NULL;
}

struct gs_msg message(enum gs_msg_type type)
{
    return (struct gs_msg){.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = (uint16_t)type};
}

int say(struct bench *b, struct desk *d, const struct gs_msg *m)
{
    return gs_core_message(d->session, m, sizeof *m, b->now);
}

int hello(struct bench *b, struct desk *d, const char *task, uint32_t gpus)
{
    struct gs_msg m = message(GS_MSG_HELLO);
    m.u.hello.gpus = gpus;
    snprintf(m.u.hello.task, sizeof m.u.hello.task, "%s", task);
    return say(b, d, &m);
}

int join(struct bench *b, struct desk *d, const char *task, uint32_t gpus)
{
    sit_down(b, d, 1001, "");
    return hello(b, d, task, gpus);
}

int request(struct bench *b, struct desk *d, uint32_t slot, unsigned resource)
{
    struct gs_msg m = message(GS_MSG_REQUEST);
    m.u.request =
        (struct gs_msg_request){.slot = slot, .serial = 7, .resource = resource, .client = d->welcome.u.welcome.client};
    return say(b, d, &m);
}

struct gs_page *page_of(const struct desk *d)
{
    return d->session->lease.page;
}

bool granted(const struct desk *d, uint32_t slot, unsigned resource)
{
    return atomic_load(&page_of(d)->slot[slot]) == GS_SLOT_WORD(7, GS_SLOT_GRANTED, resource);
}

/* Gives one unit back as the client library does. */
void give_back(struct bench *b, struct desk *d, unsigned resource)
{
    uint32_t w = atomic_fetch_sub(&page_of(d)->lease[resource].word, 1);
    struct gs_msg m = message(GS_MSG_LOOK);
    m.u.look.resource = resource;
    if (w & GS_LEASE_ASK)
        assert_int_equal(say(b, d, &m), 0);
}

void record_job(struct desk *d, const struct ended *job)
{
    struct gs_page *p = page_of(d);
    const uint32_t serial = atomic_load(&p->jobs);
    struct gs_job_record *r = &p->job[serial % GS_JOB_RECORDS];
    atomic_store(&r->gpus, job->gpus);
    atomic_store(&r->release_ns, job->release_ns);
    atomic_store(&r->end_ns, job->end_ns);
    atomic_store(&r->pci_ns, job->pci_ns);
    atomic_store(&r->gpu_ns, job->gpu_ns);
    atomic_store(&r->serial, serial + 1);
    atomic_store(&p->jobs, serial + 1);
}
