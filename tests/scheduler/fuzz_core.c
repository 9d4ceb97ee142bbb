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

static const char config_text[] = "[system]\ngpus = 3\nwatchdog = 1ms\nrealtime = no\n"
                                  "[task a]\nperiod = 10ms\nmatch = */a\nuser = *\n"
                                  "[task b]\nperiod = 20ms\nuser = 1001\n";

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
    (void)ctx, (void)conn, (void)fd;
    if (m->magic != GS_WIRE_MAGIC || m->type <= GS_MSG_CLIENT_END || m->type >= GS_MSG_DAEMON_END)
        abort();
}

static void on_log(void *ctx, bool warning, const char *text)
{
    (void)ctx, (void)warning, (void)text;
}

static void connect_person(struct gs_core *core, struct person *who, uint8_t how, uint64_t now)
{
    if (who->session)
        return;
    const struct gs_peer peer = {.uid = how & 1 ? 1001 : 1002, .pid = 1 << 22, .exe = how & 2 ? "/x/a" : "/x/y"};
    *who = (struct person){.session = gs_core_connect(core, who, &peer, now)};
}

static void disconnect_person(struct person *who, uint64_t now)
{
    if (who->session)
        gs_core_disconnect(who->session, now);
    who->session = NULL;
}

/* A message that mostly makes sense, so that the input gets beyond the first checks. */
static void build(struct gs_msg *m, const struct person *who, struct input *in)
{
    *m = (struct gs_msg){.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION};
    uint8_t what = next_byte(in);
    m->type = what % 4 ? GS_MSG_REQUEST : (uint16_t)(what / 4 % GS_MSG_CLIENT_END);
    if (m->type == GS_MSG_HELLO)
        m->u.hello.gpus = 1 + next_byte(in) % GS_MAX_GPUS;
    else if (m->type == GS_MSG_REQUEST)
        m->u.request = (struct gs_msg_request){.slot = next_byte(in) % GS_MAX_SLOTS,
                                               .serial = next_byte(in),
                                               .mask = what & 16 ? 1 : (next_byte(in) & 7u) << 1,
                                               .prefer = next_byte(in),
                                               .client = who->session->number,
                                               .cost_ns = next_byte(in) * UINT64_C(1000)};
    else if (m->type == GS_MSG_LOOK)
        m->u.look.resource = next_byte(in) % 4;
    else if (m->type == GS_MSG_CANCEL)
        m->u.cancel = (struct gs_msg_cancel){next_byte(in) % GS_MAX_SLOTS, next_byte(in)};
    else
        for (size_t i = 0; i < 24; i++)
            m->u.bytes[i] = next_byte(in);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    const struct gs_core_ops ops = {.send = on_send, .log = on_log};
    const struct gs_core_options options = {.gpus = 1, .max_clients = 5, .max_per_user = 3, .socket = ""};
    struct gs_core *core = gs_core_new(&options, &ops, NULL);
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    if (!core || gs_config_parse(config_text, sizeof config_text - 1, &config, &mistakes) < 0 ||
        gs_core_configure(core, &config, 1) < 0)
        abort();
    struct person people[PEOPLE] = {0};
    uint64_t now = 1;
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
    for (unsigned i = 0; i < PEOPLE; i++)
        disconnect_person(&people[i], now);
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
            uint8_t start[] = {p, p, (uint8_t)(p + 30), 4 * GS_MSG_HELLO, 3, 1};
            memcpy(data + p * sizeof start, start, sizeof start);
        }
        LLVMFuzzerTestOneInput(data, sizeof data);
    }
    return 0;
}
#endif
