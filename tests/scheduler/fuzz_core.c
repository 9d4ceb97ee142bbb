/* SPDX-License-Identifier: MIT */
/* Hostile clients: whatever they send and write into their pages, the core neither crashes nor gives a grant to the
 * wrong one. A libFuzzer target (GS_FUZZ), and with GS_FUZZ_MAIN a program that plays random inputs: GS_SEED, and
 * rounds as its argument. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config.h"
#include "scheduler/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PEOPLE = 6 };

/* The config, and those that a RELOAD brings: other tasks, wrong ones, and GPUs that the daemon can't be given later.
 */
static const char *const config_text[] = {
    ("[system]\ngpus = 3\nwatchdog = 1ms\nrealtime = no\noverruns = 100us\n"
     "[task a]\nperiod = 10ms\nmatch = */a\nuser = *\nsegments.1 = cpu 1ms, pci 1ms, gpu 2ms\n"
     "[task b]\nperiod = 20ms\nuser = 1001\nwarmup = 2\n"),
    ("[system]\ngpus = 3\nwatchdog = 1ms\ngpu_chunk = 50us\npci_chunk = 20us\nliars = yes\nadmission = refuse\n"
     "[task a]\nperiod = 10ms\nuser = *\nmode = multi\nsegments.1 = gpu 9ms\nsegments.3 = gpu 3ms, pci 1ms\n"
     "[task c]\nperiod = 5ms\nuser = 1002\nsegments.1 = gpu 3ms\n"),
    ("[system]\ngpus = 3\ngpu_chunk = 5us\nadmission = best-effort\nprobes = all\noverruns = process\n"
     "[task b]\nperiod = 1ms\nuser = *\nmatch = */y\ngpu_chunk = 10us\nsegments.1 = gpu 1ms\n"),
    "[system]\ngpus = 2\n",
    "[task a]\nperiod = no\n",
    ""};
enum { CONFIGS = sizeof config_text / sizeof *config_text };

static struct gs_core *the_core;
static struct gs_question *question; /* handed out, and not answered yet */
static uint8_t next_config;

struct person {
    struct gs_session *session;
    bool scribbled;               /* wrote into its page what it must not */
    uint32_t asked[GS_MAX_SLOTS]; /* serial + 1 of the last request of each slot; 0: none */
};

struct input {
    const uint8_t *p;
    size_t n;
};

static uint8_t next_byte(struct input *in)
{
    if (!in->n)
        return 0;
    in->n--;
    return *in->p++;
}

static void on_send(void *ctx, void *conn, const struct gs_msg *m, int fd)
{
    if (m->magic != GS_WIRE_MAGIC || m->type <= GS_MSG_CLIENT_END || m->type >= GS_MSG_DAEMON_END)
        abort();
}

/* Only who has joined, and is here, runs as a task; by a priority that tasks have. */
static int on_realtime(void *ctx, void *conn, int priority)
{
    const struct person *who = conn;
    if (!who->session || priority < 0 || (priority && priority < 10) || priority > 89)
        abort();
    return priority % 2; /* at once, or at op 2 */
}

static void on_analyse(void *ctx, struct gs_question *q)
{
    if (question)
        abort();
    question = q;
}

static int configure(const char *text, uint64_t now)
{
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    int err = gs_config_parse(text, strlen(text), &config, &mistakes);
    if (err == 0)
        err = gs_core_fits(the_core, &config, &mistakes);
    gs_mistakes_free(&mistakes);
    if (err < 0)
        gs_config_free(&config);
    return err < 0 ? err : gs_core_configure(the_core, &config, now);
}

static int on_reload(void *ctx, char *text, size_t bytes)
{
    const int err = configure(config_text[next_config % CONFIGS], *(const uint64_t *)ctx);
    snprintf(text, bytes, "%d", err);
    return err;
}

static void on_log(void *ctx, bool warning, const char *text)
{
}

static void connect_person(struct gs_core *core, struct person *who, uint8_t how, uint64_t now)
{
    if (who->session)
        return;
    const struct gs_peer peer = {.uid = how & 4   ? 0
                                        : how & 1 ? 1001
                                                  : 1002, /* root may reload and change tasks */
                                 .pid = 1 << 22,
                                 .exe = how & 2 ? "/x/a" : "/x/y"};
    *who = (struct person){.session = gs_core_connect(core, who, &peer, now)};
}

static void disconnect_person(struct person *who, uint64_t now)
{
    if (who->session)
        gs_core_disconnect(who->session, now);
    who->session = NULL;
}

/* None, one of the configs', or any letters. */
static void name_task(char *name, struct input *in)
{
    const uint8_t b = next_byte(in);
    const size_t n = b < 64 ? 0 : b < 250 ? 1 : b - 250u;
    for (size_t i = 0; i < n; i++)
        name[i] = b < 250 ? (char)('a' + b % 4) : (char)next_byte(in);
}

static uint64_t any_number(struct input *in)
{
    const uint8_t b = next_byte(in);
    return b < 128 ? b * UINT64_C(1000000) : (uint64_t)next_byte(in) << b % 64;
}

/* A message that mostly makes sense, so that the input gets beyond the first checks. */
static void build(struct gs_msg *m, const struct person *who, struct input *in)
{
    *m = (struct gs_msg){.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION};
    uint8_t what = next_byte(in);
    m->type = what % 4 == 0               ? (uint16_t)(what / 4 % GS_MSG_CLIENT_END)
              : what >= 208 && what < 224 ? GS_MSG_CHOOSE
                                          : GS_MSG_REQUEST;
    switch (m->type) {
    case GS_MSG_HELLO:
        m->u.hello = (struct gs_msg_hello){
            .gpus = 1 + next_byte(in) % GS_MAX_GPUS, .flags = next_byte(in) % 8, .jobs = next_byte(in) % 4};
        name_task(m->u.hello.task, in);
        break;
    case GS_MSG_REQUEST:
        m->u.request = (struct gs_msg_request){.slot = next_byte(in) % GS_MAX_SLOTS,
                                               .serial = next_byte(in),
                                               .client = who->session->number,
                                               .resource = next_byte(in) % 5,
                                               .flags = what >= 224 ? GS_REQUEST_ALONE : 0,
                                               .cost_ns = next_byte(in) * UINT64_C(1000)};
        break;
    case GS_MSG_CHOOSE:
        m->u.choose = (struct gs_msg_choose){.slot = next_byte(in) % GS_MAX_SLOTS,
                                             .serial = next_byte(in),
                                             .client = who->session->number,
                                             .gpus = (next_byte(in) & 7u) << 1,
                                             .prefer = next_byte(in)};
        break;
    case GS_MSG_LOOK:
    case GS_MSG_RENEW:
        m->u.look.resource = next_byte(in) % 4;
        break;
    case GS_MSG_CANCEL:
        m->u.cancel = (struct gs_msg_cancel){next_byte(in) % GS_MAX_SLOTS, next_byte(in)};
        break;
    case GS_MSG_PLAN:
        name_task(m->u.name, in);
        break;
    case GS_MSG_RELOAD:
        next_config = next_byte(in);
        break;
    case GS_MSG_SET:
        m->u.set = (struct gs_msg_set){.flags = next_byte(in) % 16,
                                       .priority = (int8_t)next_byte(in),
                                       .period_ns = any_number(in),
                                       .deadline_ns = any_number(in)};
        name_task(m->u.set.task, in);
        break;
    default:
        for (size_t i = 0; i < 24; i++)
            m->u.bytes[i] = next_byte(in);
    }
}

static void speak(struct person *who, struct input *in, uint64_t now)
{
    if (!who->session)
        return;
    struct gs_msg m;
    build(&m, who, in);
    size_t n = sizeof m;
    if (next_byte(in) % 16 == 0) { /* spoil it */
        ((unsigned char *)&m)[next_byte(in)] ^= next_byte(in);
        n = next_byte(in) % 4 ? n : next_byte(in);
    }
    if (m.type == GS_MSG_REQUEST && m.u.request.slot < GS_MAX_SLOTS)
        who->asked[m.u.request.slot] = (m.u.request.serial & 0xffff) + 1;
    if (gs_core_message(who->session, &m, n, now) < 0)
        disconnect_person(who, now);
}

/* A job that may have been or not, written in full or not; or many more at once. */
static void write_job(struct gs_page *p, struct input *in, uint64_t now)
{
    const uint32_t serial = atomic_load(&p->jobs);
    struct gs_job_record *r = &p->job[serial % GS_JOB_RECORDS];
    const uint8_t how = next_byte(in);
    atomic_store(&r->gpus, next_byte(in) % 5);
    atomic_store(&r->end_ns, how & 1 ? now : now + next_byte(in));
    atomic_store(&r->release_ns, how & 2 ? now - next_byte(in) : now >> next_byte(in) % 64);
    atomic_store(&r->pci_ns, how & 4 ? next_byte(in) : UINT64_MAX);
    atomic_store(&r->gpu_ns, (uint64_t)next_byte(in) << next_byte(in) % 64);
    atomic_store(&r->serial, how & 8 ? serial + 1 : serial);
    atomic_store(&p->jobs, serial + (how & 0x70 ? 1 : next_byte(in) * 32u));
}

/* Gives a unit back, as an honest client does, ends a job, or writes anything anywhere. */
static void touch_page(struct person *who, struct input *in, uint64_t now)
{
    if (!who->session || !who->session->joined)
        return;
    struct gs_page *p = who->session->lease.page;
    uint8_t how = next_byte(in);
    if (how % 4 == 0) {
        size_t at = (size_t)next_byte(in) << 8 | next_byte(in);
        ((unsigned char *)p)[at % (how & 4 ? offsetof(struct gs_page, jobs) : sizeof *p)] = next_byte(in);
        who->scribbled = true;
        return;
    }
    if (how % 8 == 1) {
        write_job(p, in, now);
        return;
    }
    unsigned r = next_byte(in) % 4;
    uint32_t w = atomic_load(&p->lease[r].word);
    if (!(w & GS_LEASE_LEASED) || !(w & GS_LEASE_UNITS))
        return;
    atomic_fetch_sub(&p->lease[r].word, 1);
    struct gs_msg m = {.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = GS_MSG_LOOK, .u.look.resource = r};
    if (w & GS_LEASE_ASK && gs_core_message(who->session, &m, sizeof m, now) < 0)
        disconnect_person(who, now);
}

/* Every lease in an honest client's page is one that the policy knows of, and every grant answers its own request. */
static void check(struct gs_core *core, const struct person *people)
{
    for (unsigned i = 0; i < PEOPLE; i++) {
        const struct gs_session *s = people[i].session;
        if (!s || !s->joined || people[i].scribbled)
            continue;
        for (unsigned r = 0; r <= core->gpus; r++) {
            struct gs_policy_view v;
            gs_policy_view(core->policy, r, &v);
            uint32_t w = atomic_load(&s->lease.page->lease[r].word);
            if (w & GS_LEASE_LEASED && v.holder != s->index)
                abort();
            if ((w & GS_LEASE_UNITS) > core->depth)
                abort();
        }
        for (unsigned k = 0; k < GS_MAX_SLOTS; k++) {
            uint32_t w = atomic_load(&s->lease.page->slot[k]);
            if (GS_SLOT_STATE(w) == GS_SLOT_GRANTED && GS_SLOT_SERIAL(w) + 1 > people[i].asked[k] + 0x10000)
                abort();
            if (GS_SLOT_STATE(w) == GS_SLOT_GRANTED && !people[i].asked[k])
                abort();
        }
    }
}

/* What the daemon does beside its messages: an analysis is done, priorities are given, others go on that have waited
 * for one, those that were refused go. */
static void turn(struct gs_core *core, struct person *people, uint8_t how, uint64_t now)
{
    if (question && how % 2) {
        struct gs_question *q = question;
        question = NULL;
        gs_question_answer(q);
        gs_core_answered(core, q, now);
    }
    for (enum gs_work k = GS_WORK_JOINS; k <= GS_WORK_ANSWERS; k++)
        if (gs_core_has_work(core, k))
            gs_core_work(core, k, now);
    for (unsigned i = 0; i < PEOPLE; i++)
        if (people[i].session && gs_core_refused(people[i].session))
            disconnect_person(&people[i], now);
        else if (people[i].session && gs_core_joined(people[i].session) && how & 2)
            gs_core_has_priority(people[i].session, 0, now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    uint64_t now = 1;
    /* The first byte: does the core analyse by itself, or does that take until op 2? */
    const bool slow = next_byte(&in) & 1;
    const struct gs_core_ops ops = {.send = on_send,
                                    .log = on_log,
                                    .realtime = on_realtime,
                                    .reload = on_reload,
                                    .analyse = slow ? on_analyse : NULL};
    const struct gs_core_options options = {.gpus = 1, .max_clients = 5, .max_per_user = 3, .socket = ""};
    struct gs_core *core = the_core = gs_core_new(&options, &ops, &now);
    if (!core || configure(config_text[0], now) < 0)
        abort();
    struct person people[PEOPLE] = {0};
    while (in.n) {
        uint8_t op = next_byte(&in);
        struct person *who = &people[op % PEOPLE];
        now += op * UINT64_C(1000);
        switch (op / PEOPLE % 8) {
        case 0:
            connect_person(core, who, next_byte(&in), now);
            break;
        case 1:
            if (next_byte(&in) % 8 == 0)
                disconnect_person(who, now);
            break;
        case 2:
            turn(core, people, next_byte(&in), now);
            break;
        case 3:
            touch_page(who, &in, now);
            break;
        case 4:
            if (gs_core_next_tick(core) <= now)
                gs_core_tick(core, now);
            break;
        default:
            speak(who, &in, now);
        }
        check(core, people);
    }
    gs_core_end(core);
    for (unsigned i = 0; i < PEOPLE; i++)
        disconnect_person(&people[i], now);
    question = NULL; /* the core's, answered or not */
    gs_core_free(core);
    return 0;
}

#ifdef GS_FUZZ_MAIN
int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
    const char *given = getenv("GS_SEED");
    uint64_t x = given ? strtoull(given, NULL, 0) : 5;
    printf("GS_SEED=%" PRIu64 ", %u rounds\n", x, rounds);
    uint8_t data[4096];
    for (unsigned i = 0; i < rounds; i++) {
        for (size_t k = 0; k < sizeof data; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            data[k] = (uint8_t)(x >> 56);
        }
        /* Everybody joins first, so that random bytes meet clients that are in. */
        for (uint8_t p = 0; p < PEOPLE; p++) {
            uint8_t start[] = {p, p, (uint8_t)(p + 30), 4 * GS_MSG_HELLO, 3, 0, 0, 1, 1};
            memcpy(data + 1 + p * sizeof start, start, sizeof start);
        }
        LLVMFuzzerTestOneInput(data, sizeof data);
    }
    return 0;
}
#endif
