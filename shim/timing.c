/* SPDX-License-Identifier: MIT */
#include "shim/timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cache.h"
#include "common/hash.h"
#include "shim/client.h"
#include "common/log.h"
#include "shim/learnt.h"
#include "shim/links_beside.h"
#include "shim/report.h"
#include "shim/transfer/peer.h"
#include "shim/watch.h"

enum {
    BUCKETS = 256,
    MOST_SIZES = 4096, /* that are told apart, of all kernels */
    MOST_PENDING = 32,
    MOST_PASSING = 127,                /* launches of a short kernel for each one that is looked at */
    MEASURE_NS = 50 * 1000,            /* what measuring a launch on one device costs: markers, another queue */
    AFFORDABLE = 500,                  /* of the time elapsed, one part may go into measuring what is unknown */
    MOST_PATIENCE_NS = 1000 * 1000000, /* to wait for a translation */
    CACHED_NS = 20 * 1000 * 1000, /* NVIDIA's driver loads its compiler and reads its cache: bench/results/h200x2.md */
    WORTH_TRANSLATING_NS = 1000000, /* one launch that takes so long is enough, where the host has cores for it */
};

struct gs_timing {
    struct gs_timing *next; /* in its bucket */
    uint64_t program;
    char *name;
    uint64_t global[3], local[3]; /* local: zeros for NULL */
    unsigned n;                   /* devices */
    double prepare_ns;            /* what preparing its program took; 0: not known */
    double compile_ns;            /* what compiling it is thought to take at the least */
    bool waited;                  /* a launch waited for that in vain, in this process */
    bool used;                    /* in this process */
    bool refused;                 /* its last plan said no: nothing to be learnt */
    atomic_uint pass;             /* so many launches may go without a look at it */
    struct gs_history h;
};

struct measurement {
    struct measurement *next;
    struct gs_timing *t;
    cl_program program;  /* not retained; null for splits */
    cl_event begin, end; /* begin: null for one device */
    struct gs_trial trial;
    unsigned dim;
    double cut[GS_MAX_DEVICES];
    cl_event part[GS_MAX_DEVICES];
    struct gs_asked asked;
    struct gs_spent *spent; /* by units: in the place of the profiles; held */
    bool split;
    unsigned place[GS_MAX_DEVICES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below; a leaf */
static struct gs_timing *timings[BUCKETS];
static unsigned n_timings;
static struct measurement *pending;
static atomic_uint n_pending; /* read without the lock too */
static unsigned n_measured;
static struct gs_machine machine;
static struct gs_budget budget;
static bool machine_learnt; /* it is not only a guess or a measurement of links, but corrected by splits */
static bool links_known;    /* measured links went into it; or they are being measured */
static char links_name[GS_LINKS_NAME_BYTES];
static char learnt_name[sizeof "learnt-" + GS_HASH_HEX_BYTES]; /* of the entry on disk; empty: nothing has been read */

__attribute__((constructor)) static void begin(void)
{
    budget.begin_ns = gs_now_ns();
}

/* Where nothing has been learnt: measured on two H200 (bench/results/h200x2.md) and on PoCL's sub-devices. */
static struct gs_machine first_guess(const struct gs_group *g)
{
    if (g->shared_memory)
        return (struct gs_machine){
            .link = {{1e4, 0.2}, {1e4, 0.2}}, .split_ns = 3e4, .first_ns = 3e5, .prepare_ns = 15e7};
    return (struct gs_machine){
        .link = {{4e4, 0.05}, {4e4, 0.004}}, .split_ns = 12e4, .first_ns = 15e5, .prepare_ns = 125e6};
}

static bool learns(const struct gs_context *ctx)
{
    return gs_settings()->mode == GS_MODE_AUTO && ctx->n > 1 && !gs_settings()->verify;
}

static void add_text(struct gs_hash *h, const char *s)
{
    gs_hash_add(h, s ? s : "", strlen(s ? s : "") + 1);
}

static uint64_t program_id(struct gs_program *p)
{
    uint64_t id = atomic_load(&p->id);
    unsigned char digest[GS_HASH_BYTES];
    struct gs_hash h;
    if (id)
        return id;
    gs_hash_begin(&h);
    pthread_mutex_lock(&p->lock);
    if (!p->n_units) {
        add_text(&h, p->source);
        add_text(&h, p->options);
    }
    for (size_t i = 0; i < p->n_units; i++) {
        add_text(&h, p->units[i].source);
        add_text(&h, p->units[i].options);
        for (size_t k = 0; k < p->units[i].n_headers; k++)
            add_text(&h, p->units[i].header_texts[k]);
    }
    add_text(&h, p->link_options);
    pthread_mutex_unlock(&p->lock);
    gs_hash_end(&h, digest);
    memcpy(&id, digest, sizeof id);
    id = id ? id : 1;
    atomic_store(&p->id, id);
    return id;
}

static bool is_of(const struct gs_timing *t, uint64_t program, const char *name, const uint64_t size[6], unsigned n)
{
    return t->program == program && t->n == n && memcmp(t->global, size, sizeof t->global) == 0 &&
           memcmp(t->local, size + 3, sizeof t->local) == 0 && strcmp(t->name, name) == 0;
}

static unsigned bucket_of(uint64_t program, const uint64_t size[6])
{
    uint64_t x = program;
    for (int i = 0; i < 6; i++)
        x = (x ^ size[i]) * 0x9e3779b97f4a7c15u;
    return (unsigned)(x >> 56) % BUCKETS;
}

static struct gs_timing *find(uint64_t program, const char *name, const uint64_t size[6], unsigned n)
{
    struct gs_timing *t = timings[bucket_of(program, size)];
    while (t && !is_of(t, program, name, size, n))
        t = t->next;
    return t;
}

/* The power of two that is not smaller. */
static void round_up(uint64_t *v)
{
    uint64_t power = 1;
    while (power < *v && power << 1)
        power <<= 1;
    *v = power;
}

/* With the lock held. NULL: no memory. An application with ever new sizes has them looked at by powers of two in the
 * end. */
static struct gs_timing *find_or_make(uint64_t program, const char *name, const uint64_t wanted[6], unsigned n)
{
    uint64_t size[6];
    memcpy(size, wanted, sizeof size);
    struct gs_timing *t = find(program, name, size, n);
    if (!t && n_timings >= MOST_SIZES) {
        for (unsigned d = 0; d < 3; d++)
            round_up(&size[d]);
        t = find(program, name, size, n);
    }
    if (t)
        return t;
    const unsigned b = bucket_of(program, size);
    t = calloc(1, sizeof *t);
    if (!t || !(t->name = strdup(name))) {
        free(t);
        return NULL;
    }
    t->program = program;
    t->n = n;
    memcpy(t->global, size, sizeof t->global);
    memcpy(t->local, size + 3, sizeof t->local);
    gs_history_init(&t->h);
    t->next = timings[b];
    timings[b] = t;
    n_timings++;
    return t;
}

/* What is learnt holds for these devices and this driver, and for the way that bytes go between them. */
static void name_entries(const struct gs_context *ctx)
{
    gs_links_name(ctx->dev, ctx->n, gs_group()->shared_memory, gs_settings()->transfer, links_name);
    snprintf(learnt_name, sizeof learnt_name, "learnt-%s", links_name + sizeof "links-" - 1);
}

static double within(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

/* With the lock held. */
static void use_links(const struct gs_links *links, const char *how)
{
    const struct gs_link_cost *cost[GS_LINKS] = {[GS_LINK_HOST] = &links->host, [GS_LINK_PEER] = &links->peer};
    for (int l = 0; l < GS_LINKS && !machine_learnt; l++) {
        if (!(cost[l]->piece_ns > 0) || !(cost[l]->byte_ns > 0))
            continue;
        /* The bounds of what splits may teach: see learn_machine() in choice.c. */
        machine.link[l].piece_ns = within(cost[l]->piece_ns, 1e3, 1e6);
        machine.link[l].byte_ns = within(cost[l]->byte_ns, 0.001, 5);
        links_known = true;
        gs_debug("between devices, %s (%s): %.0f ns for a transfer, %.4f for a byte",
                 l == GS_LINK_PEER ? "by windows" : "through the host", how, cost[l]->piece_ns, cost[l]->byte_ns);
    }
}

void gs_timing_links(const struct gs_links *links)
{
    char name[GS_LINKS_NAME_BYTES];
    pthread_mutex_lock(&lock);
    const bool loaded = learnt_name[0];
    if (loaded)
        use_links(links, "measured");
    memcpy(name, links_name, sizeof name);
    pthread_mutex_unlock(&lock);
    if (loaded)
        gs_links_write(name, links);
}

/* The first launch that could be split: are there figures to choose by? Where windows may be had their probe brings
 * them; where the devices share memory nothing goes between them. With the lock held. */
static void want_links(const struct gs_outlook *o)
{
    const enum gs_transfer_path path = gs_settings()->transfer;
    const bool moves = !gs_group()->shared_memory || path == GS_TRANSFER_PINNED || path == GS_TRANSFER_PLAIN;
    if (links_known || machine_learnt || !moves || o->peer_possible)
        return;
    links_known = true;
    gs_links_measure_beside(gs_timing_links);
}

static bool read_learnt(struct gs_learnt *l)
{
    size_t bytes = 0;
    char *text = gs_settings()->forget ? NULL : gs_cache_read(learnt_name, &bytes);
    const bool good = text && gs_learnt_parse(l, text, bytes) == 0;
    free(text);
    return good;
}

/* Begins with what earlier processes have learnt. With the lock held. */
static void load(const struct gs_context *ctx)
{
    struct gs_learnt l = {0};
    machine = first_guess(gs_group());
    name_entries(ctx);
    const struct gs_links links = gs_links_read(links_name);
    use_links(&links, "kept");
    if (!read_learnt(&l))
        return;
    machine_learnt = l.machine.split_ns > 0;
    if (machine_learnt)
        machine = l.machine;
    for (size_t i = 0; i < l.n; i++) {
        const struct gs_learnt_kernel *k = &l.v[i];
        struct gs_timing *t = find_or_make(k->program, k->name, k->size, k->n);
        if (!t)
            break;
        t->h = k->h;
        t->prepare_ns = (double)k->prepare_ns;
    }
    gs_learnt_free(&l);
}

static struct gs_learnt_kernel to_learnt(const struct gs_timing *t)
{
    struct gs_learnt_kernel k = {.program = t->program, .n = t->n, .prepare_ns = (uint64_t)t->prepare_ns, .h = t->h};
    memcpy(k.size, t->global, sizeof t->global);
    memcpy(k.size + 3, t->local, sizeof t->local);
    memcpy(k.name, t->name, strnlen(t->name, sizeof k.name - 1));
    return k;
}

/* The process ends: what it has learnt comes before what others have. No OpenCL calls here. */
__attribute__((destructor)) static void save(void)
{
    struct gs_learnt mine = {0}, others = {0};
    const struct timespec soon = {time(NULL) + 1, 0};
    size_t bytes;
    int err = 0;
    if (gs_forked() || !learnt_name[0] || pthread_mutex_timedlock(&lock, &soon) != 0)
        return;
    mine.machine = machine;
    for (unsigned b = 0; b < BUCKETS; b++)
        for (const struct gs_timing *t = timings[b]; t && !err; t = t->next) {
            const struct gs_learnt_kernel k = to_learnt(t);
            if (t->used && strlen(t->name) < sizeof k.name && gs_learnt_worth(&k, &machine))
                err = gs_learnt_add(&mine, &k);
        }
    pthread_mutex_unlock(&lock);
    const size_t own = mine.n;
    if (own && read_learnt(&others))
        for (size_t i = 0; i < others.n && !err; i++) {
            struct gs_learnt_kernel *k = &others.v[i];
            k->h.launches = k->h.expected;
            if (!gs_learnt_has(&mine, k))
                err = gs_learnt_add(&mine, k);
        }
    char *text = own && !err ? gs_learnt_print(&mine, &bytes) : NULL;
    if (text)
        gs_cache_write(learnt_name, text, bytes);
    free(text);
    gs_learnt_free(&mine);
    gs_learnt_free(&others);
}

static cl_ulong profile(cl_event event, cl_profiling_info what)
{
    cl_ulong value = 0;
    return gs_real()->clGetEventProfilingInfo(event, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : 0;
}

/* From the end of `begin`, or else from the event's own start, to its end; 0 where there is no profile. */
static uint64_t duration(cl_event begun, cl_event end)
{
    const cl_ulong from = begun ? profile(begun, CL_PROFILING_COMMAND_END) : profile(end, CL_PROFILING_COMMAND_START);
    const cl_ulong to = profile(end, CL_PROFILING_COMMAND_END);
    return from && to > from ? to - from : 0;
}

static void forget(struct measurement *m)
{
    gs_real()->clReleaseEvent(m->end);
    if (m->begin)
        gs_real()->clReleaseEvent(m->begin);
    for (unsigned p = 0; p < GS_MAX_DEVICES; p++)
        if (m->part[p])
            gs_real()->clReleaseEvent(m->part[p]);
    gs_spent_drop(m->spent);
    free(m);
}

static uint64_t part_took(const struct measurement *m, unsigned p)
{
    return m->spent ? atomic_load(&m->spent->kernel_ns[m->place[p]]) : duration(NULL, m->part[p]);
}

/* By units: what went over the link, and what the GPU that did most had to do. */
static uint64_t units_took(const struct measurement *m)
{
    uint64_t most = 0;
    for (unsigned p = 0; p < m->trial.outlook.n; p++) {
        const uint64_t ns = part_took(m, p) + atomic_load(&m->spent->other_ns[gs_resource_of(m->place[p])]);
        most = ns > most ? ns : most;
    }
    return most + atomic_load(&m->spent->other_ns[GS_RESOURCE_PCI]);
}

/* From the parts' own profiles, each by its device's clock, and when they were enqueued by the host's; 0: they don't
 * tell. Where other work was still before them it can't be seen when they could have begun: then it is taken to be when
 * the first of them did, and after what was to be moved. */
static uint64_t parts_took(const struct measurement *m)
{
    const struct gs_outlook *o = &m->trial.outlook;
    uint64_t begin = UINT64_MAX, end = 0;
    for (unsigned p = 0; p < o->n; p++) {
        const cl_ulong asked = profile(m->part[p], CL_PROFILING_COMMAND_QUEUED);
        const cl_ulong from = profile(m->part[p], CL_PROFILING_COMMAND_START);
        const cl_ulong to = profile(m->part[p], CL_PROFILING_COMMAND_END);
        if (!asked || from < asked || to < from)
            return 0;
        const uint64_t began = m->asked.part_ns[p] + (from - asked), ended = m->asked.part_ns[p] + (to - asked);
        begin = began < begin ? began : begin;
        end = ended > end ? ended : end;
    }
    return m->asked.idle ? end - m->asked.begin_ns : end - begin + (uint64_t)gs_move_ns(&machine, o->link, o->scatter);
}

/* NVIDIA's markers that wait for other devices have no profiles worth the name (0 or less between two of them on
 * H200s), so they are believed only where there is no better way and it isn't shorter than a part; and nothing has
 * taken longer than until it was heard of. */
static uint64_t split_took(const struct measurement *m, uint64_t longest_ns)
{
    if (m->spent)
        return units_took(m);
    const struct gs_outlook *o = &m->trial.outlook;
    const uint64_t heard_ns = gs_now_ns() - m->asked.begin_ns, marked_ns = duration(m->begin, m->end);
    const uint64_t parts_ns = o->merge.bytes || o->on_trial ? 0 : parts_took(m);
    const uint64_t at_most_ns = m->asked.idle ? heard_ns : 0; /* else it waited for its turn as well */
    const uint64_t took_ns = parts_ns >= longest_ns ? parts_ns : marked_ns >= longest_ns ? marked_ns : at_most_ns;
    gs_debug("%s: a split took %" PRIu64 " us by its parts, %" PRIu64 " by markers, and was heard of after %" PRIu64,
             m->t->name, parts_ns / 1000, marked_ns / 1000, heard_ns / 1000);
    return took_ns < heard_ns ? took_ns : heard_ns;
}

/* For who asks for such lines: what becomes of each launch, and why. */
static void say_choice(const struct gs_timing *t)
{
    gs_debug("%s, launch %" PRIu64 ": %s; expected on one device %.0f us, split %.0f us", t->name, t->h.launches,
             t->h.last_split ? "split" : t->h.reason, t->h.single_ns / 1e3, t->h.split_ns / 1e3);
}

static void say_outlook(const struct gs_timing *t, const struct gs_trial *trial, uint64_t now_ns)
{
    const struct gs_outlook *o = &trial->outlook;
    say_choice(t);
    gs_debug("%s: bytes to bring home %" PRIu64 ", to the parts %" PRIu64 ", left there %" PRIu64
             " (come home: %.2f), by %s; to be read %.0f; at risk %.0f us, earned %.0f us",
             t->name, o->gather.bytes, o->scatter.bytes, o->leave.bytes, t->h.return_rate,
             o->link == GS_LINK_PEER ? "windows" : "the host", t->h.read_bytes, trial->risk_ns / 1e3,
             gs_budget_left(&budget, now_ns) / 1e3);
}

static void say_split(const struct measurement *m, uint64_t took_ns, const uint64_t *part_ns)
{
    char parts[GS_MAX_DEVICES * 64] = "";
    const struct gs_asked *a = &m->asked;
    for (unsigned p = 0, at = 0; p < m->trial.outlook.n; p++) {
        const uint64_t asked_ns = a->part_ns[p] - a->begin_ns;
        const uint64_t waited_ns = m->spent ? 0
                                            : profile(m->part[p], CL_PROFILING_COMMAND_START) -
                                                  profile(m->part[p], CL_PROFILING_COMMAND_QUEUED);
        at += (unsigned)snprintf(parts + at, sizeof parts - at,
                                 " %" PRIu64 " (enqueued after %" PRIu64 ", began after %" PRIu64 ")",
                                 part_ns[p] / 1000, asked_ns / 1000, (asked_ns + waited_ns) / 1000);
    }
    gs_debug("%s: a split took %" PRIu64 " us, its parts, ready after %" PRIu64 ",%s", m->t->name, took_ns / 1000,
             (a->ready_ns - a->begin_ns) / 1000, parts);
}

static void learn_split(struct measurement *m)
{
    struct gs_history *h = &m->t->h;
    const struct gs_outlook *o = &m->trial.outlook;
    uint64_t part_ns[GS_MAX_DEVICES];
    uint64_t longest_ns = 0;
    bool all = true;
    for (unsigned p = 0; p < o->n; p++) {
        part_ns[p] = part_took(m, p);
        longest_ns = part_ns[p] > longest_ns ? part_ns[p] : longest_ns;
        all = all && part_ns[p];
    }
    const uint64_t took_ns = split_took(m, longest_ns);
    machine_learnt = true;
    say_split(m, took_ns, part_ns);
    gs_choice_learn_split(h, &machine, &budget, took_ns, part_ns, o, m->trial.single_ns, m->trial.risk_ns);
    /* Parts that were cut otherwise say nothing of the present cut. */
    if (!all || m->trial.moves != h->balance.moves)
        return;
    gs_balance_learn(&h->balance, m->dim, o->n, m->cut, part_ns);
    gs_choice_rebalance(h, &machine, o->link, m->trial.all);
}

static bool on_cpu(void)
{
    return gs_group()->type & CL_DEVICE_TYPE_CPU;
}

/* A program that took NVIDIA's compiler long once will again, once for all devices that are the same
 * (bench/results/h200x2.md). If the driver had it in its cache, its size tells: PoCL takes 2.5 s for 370 KB and two
 * devices (Mandelbulber). PoCL's own builds say little: most of its compiling comes with the first launches. */
static double least_compile_ns(const struct gs_program *p)
{
    enum { BYTE_NS = 4000 };
    const double built = (double)atomic_load(&p->build_ns), text = BYTE_NS * (double)atomic_load(&p->text_bytes);
    return on_cpu() ? text * p->o.ctx->n : built > text ? built : text;
}

/* How long preparing is expected to take where nothing is cached. */
static double new_ns(const struct gs_timing *t)
{
    return t->prepare_ns > 0 ? t->prepare_ns : t->compile_ns > machine.prepare_ns ? t->compile_ns : machine.prepare_ns;
}

/* A thread of ours prepares programs beside the application: on GPUs' hosts that takes little from it, but that an end
 * of the application in those moments waits for the compiler. What was prepared before comes from the translator's
 * cache and NVIDIA's; PoCL has none for this. */
static double prepare_cost(const struct gs_timing *t)
{
    return on_cpu() ? new_ns(t) : t->prepare_ns > 0 ? t->prepare_ns / 32 : new_ns(t) / 8;
}

/* What a measurement says about a program: it is to be prepared, or at least translated, before the next launch. */
struct wanted {
    cl_program program; /* null: nothing of any */
    uint64_t id;
    bool prepare, peer;
};

/* With the lock held. */
static void want(struct wanted *w, const struct measurement *m)
{
    const struct gs_timing *t = m->t;
    const bool prepare = gs_choice_foresees(&t->h, &machine, t->n, prepare_cost(t));
    if (!m->program || (w->program && w->prepare) ||
        (!prepare && (on_cpu() || gs_measured_best(&t->h.single) < WORTH_TRANSLATING_NS ||
                      !gs_choice_foresees(&t->h, &machine, t->n, 0))))
        return;
    const bool peer = prepare && gs_choice_foresees_peer(&t->h, &machine, t->n);
    *w = (struct wanted){m->program, t->program, prepare, peer};
}

/* Without locks. */
static void open_peer(struct gs_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    if (gs_peer_possible(ctx))
        gs_peer_ready(ctx);
    pthread_mutex_unlock(&ctx->lock);
}

/* Without locks. The program may be gone, and its handle another's by now. */
static void do_wanted(const struct wanted *w)
{
    struct gs_program *p = w->program ? gs_find_hold(GS_PROGRAM, w->program) : NULL;
    if (!p)
        return;
    if (atomic_load(&p->id) == w->id && !atomic_load(&p->preparing) && !gs_prepared(p)) {
        if (w->prepare)
            gs_prepare_beside(p, (struct gs_patience){0});
        else
            gs_translate_beside(p);
        if (w->peer)
            open_peer(p->o.ctx);
    }
    gs_drop(&p->o);
}

static void learn_single(struct measurement *m)
{
    const uint64_t took_ns = m->spent ? part_took(m, 0) : duration(NULL, m->end);
    gs_debug("%s: one device took %" PRIu64 " us", m->t->name, took_ns / 1000);
    gs_choice_learn_single(&m->t->h, took_ns);
}

/* Looks at the measurements that are under way. With the lock held. */
static void poll(struct wanted *w)
{
    for (struct measurement **at = &pending; *at;) {
        struct measurement *m = *at;
        cl_int status = CL_COMPLETE;
        gs_real()->clGetEventInfo(m->end, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (status > CL_COMPLETE || (m->spent && !gs_spent_settled(m->spent))) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        n_pending--;
        if (status == CL_COMPLETE && m->split)
            learn_split(m);
        else if (status == CL_COMPLETE)
            learn_single(m);
        if (status == CL_COMPLETE)
            want(w, m);
        forget(m);
    }
}

/* Where a kernel keeps what is known of this size. */
static unsigned place_of(cl_uint dims, const size_t *global, const size_t *local)
{
    uint64_t x = 0;
    for (cl_uint d = 0; d < dims; d++)
        x = (x ^ global[d] ^ (local ? (uint64_t)local[d] << 32 : 0)) * 0x9e3779b97f4a7c15u;
    return (unsigned)(x >> 56) % GS_KERNEL_TIMINGS;
}

struct gs_timing *gs_timing_of(struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local)
{
    uint64_t size[6] = {1, 1, 1, 0, 0, 0};
    struct wanted wanted = {0};
    if (!learns(k->o.ctx) || (!atomic_load(&k->program->preparing) && k->program->refusal))
        return NULL;
    for (cl_uint d = 0; d < dims; d++) {
        size[d] = global[d];
        size[3 + d] = local ? local[d] : 0;
    }
    const uint64_t program = program_id(k->program);
    _Atomic(struct gs_timing *) *last = &k->timing[place_of(dims, global, local)];
    struct gs_timing *t = atomic_load(last);
    pthread_mutex_lock(&lock);
    if (!learnt_name[0])
        load(k->o.ctx);
    if (!t || !is_of(t, program, k->name, size, k->o.ctx->n))
        t = find_or_make(program, k->name, size, k->o.ctx->n);
    const uint64_t prepare_ns = atomic_load(&k->program->prepare_ns);
    if (t)
        t->used = true;
    if (t && prepare_ns)
        t->prepare_ns = (double)prepare_ns;
    if (t)
        t->compile_ns = least_compile_ns(k->program);
    if (pending)
        poll(&wanted);
    pthread_mutex_unlock(&lock);
    atomic_store(last, t);
    do_wanted(&wanted);
    return t;
}

void gs_timing_reads(struct gs_timing *t, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    t->h.read_bytes = (double)bytes;
    if (bytes && !gs_choice_is_short(&t->h, &machine, t->n))
        atomic_store(&t->pass, 0);
    pthread_mutex_unlock(&lock);
}

void gs_timing_read(uint64_t bytes, uint64_t took_ns, bool several)
{
    pthread_mutex_lock(&lock);
    if (learnt_name[0])
        gs_choice_learn_read(&machine, bytes, took_ns, several);
    gs_debug("a read of %" PRIu64 " bytes from %s took %" PRIu64 " us; a byte now counts as %.4f ns", bytes,
             several ? "several devices" : "one device", took_ns / 1000, machine.read_ns[several]);
    pthread_mutex_unlock(&lock);
}

bool gs_timing_worth(struct gs_timing *t, bool prepared, const char **reason)
{
    pthread_mutex_lock(&lock);
    const bool worth = gs_choice_worth_planning(&t->h, &machine, t->n, prepared ? 0 : prepare_cost(t));
    *reason = worth ? NULL : t->h.reason;
    if (!worth)
        say_choice(t);
    if (!worth && gs_choice_is_short(&t->h, &machine, t->n))
        atomic_store(&t->pass, MOST_PASSING);
    pthread_mutex_unlock(&lock);
    return worth;
}

bool gs_timing_passes(const struct gs_kernel *k, cl_uint dims, const size_t *global, const size_t *local)
{
    if (!global || dims > 3)
        return false;
    struct gs_timing *t = atomic_load(&k->timing[place_of(dims, global, local)]);
    const unsigned left = t ? atomic_load_explicit(&t->pass, memory_order_relaxed) : 0;
    if (!left)
        return false;
    for (cl_uint d = 0; d < 3; d++)
        if (t->global[d] != (d < dims ? global[d] : 1) || t->local[d] != (d < dims && local ? local[d] : 0))
            return false;
    /* Two threads at once may take one for two. */
    atomic_store_explicit(&t->pass, left - 1, memory_order_relaxed);
    return true;
}

const char *gs_timing_waits(struct gs_timing *t, struct gs_context *ctx)
{
    static const char reason[] = "its translation is being made";
    pthread_mutex_lock(&lock);
    t->h.launches++;
    t->h.reason = reason;
    t->h.last_split = false;
    t->waited = true;
    say_choice(t);
    const bool peer = gs_choice_foresees_peer(&t->h, &machine, t->n);
    pthread_mutex_unlock(&lock);
    if (peer)
        open_peer(ctx);
    return reason;
}

struct gs_patience gs_timing_patience(struct gs_timing *t)
{
    pthread_mutex_lock(&lock);
    const double gain = t->waited ? 0 : t->h.single_ns - t->h.split_ns;
    const double expected = new_ns(t), cached = on_cpu() || expected < CACHED_NS ? expected : CACHED_NS;
    pthread_mutex_unlock(&lock);
    const double most = gain > 4.0 * MOST_PATIENCE_NS ? MOST_PATIENCE_NS : gain / 4;
    return (struct gs_patience){.cached_ns = most < cached ? 0 : (uint64_t)most,
                                .new_ns = most < expected ? 0 : (uint64_t)most};
}

/* Has this kernel gained by splits before, or was there never a time to try? */
static bool may_gain_again(const struct gs_timing *t)
{
    return (gs_choice_split_known(&t->h) || (t->prepare_ns <= 0 && !t->h.failures)) &&
           gs_choice_foresees(&t->h, &machine, t->n, prepare_cost(t));
}

void gs_timing_foresee(struct gs_kernel *k)
{
    struct gs_program *p = k->program;
    bool worth = false, peer = false;
    if (!p || !learns(k->o.ctx) || atomic_load(&p->preparing) || p->refusal)
        return;
    pthread_mutex_lock(&lock);
    if (!learnt_name[0])
        load(k->o.ctx);
    const bool any = n_timings;
    pthread_mutex_unlock(&lock);
    if (!any || gs_prepared(p))
        return;
    const uint64_t program = program_id(p);
    pthread_mutex_lock(&lock);
    for (unsigned b = 0; b < BUCKETS; b++)
        for (struct gs_timing *t = timings[b]; t; t = t->next) {
            if (t->program != program || t->n != k->o.ctx->n || strcmp(t->name, k->name) != 0)
                continue;
            t->compile_ns = least_compile_ns(p);
            worth = worth || may_gain_again(t);
            peer = peer || (may_gain_again(t) && gs_choice_foresees_peer(&t->h, &machine, t->n));
        }
    pthread_mutex_unlock(&lock);
    if (worth)
        gs_prepare_beside(p, (struct gs_patience){0});
    if (peer)
        open_peer(k->o.ctx);
}

bool gs_timing_pays(struct gs_program *p)
{
    const uint64_t program = atomic_load(&p->id);
    bool pays = false;
    pthread_mutex_lock(&lock);
    for (unsigned b = 0; b < BUCKETS && !pays; b++)
        for (struct gs_timing *t = timings[b]; t && !pays; t = t->next) {
            if (t->program != program || t->n != p->o.ctx->n)
                continue;
            struct gs_history h = t->h;
            h.launches++; /* the one that asks, perhaps, isn't counted yet */
            t->compile_ns = least_compile_ns(p);
            pays = gs_choice_foresees(&h, &machine, t->n, prepare_cost(t));
        }
    pthread_mutex_unlock(&lock);
    return pays;
}

void gs_timing_prepared(struct gs_program *p)
{
    const uint64_t program = atomic_load(&p->id);
    pthread_mutex_lock(&lock);
    for (unsigned b = 0; b < BUCKETS; b++)
        for (struct gs_timing *t = timings[b]; t && program; t = t->next)
            if (t->program == program && t->n == p->o.ctx->n)
                t->prepare_ns = (double)atomic_load(&p->prepare_ns);
    pthread_mutex_unlock(&lock);
}

void gs_timing_refused(struct gs_timing *t)
{
    pthread_mutex_lock(&lock);
    t->h.launches++;
    t->h.last_split = false;
    t->refused = true;
    pthread_mutex_unlock(&lock);
}

bool gs_timing_cut(struct gs_timing *t, unsigned n, unsigned *dim, double cut[GS_MAX_DEVICES])
{
    pthread_mutex_lock(&lock);
    const bool known = t->h.balance.n == n;
    *dim = t->h.balance.dim;
    memcpy(cut, t->h.balance.cut, sizeof t->h.balance.cut);
    pthread_mutex_unlock(&lock);
    return known;
}

bool gs_timing_choose(struct gs_timing *t, struct gs_context *ctx, struct gs_trial *trial, const char **reason)
{
    trial->outlook.link = gs_peer_open(ctx) ? GS_LINK_PEER : GS_LINK_HOST;
    trial->outlook.peer_possible = gs_peer_possible(ctx);
    trial->outlook.pinned = ctx->pinned;
    pthread_mutex_lock(&lock);
    struct gs_history *h = &t->h;
    t->refused = false;
    want_links(&trial->outlook);
    if (trial->return_rate >= 0)
        h->return_rate = trial->return_rate;
    const uint64_t now_ns = gs_now_ns();
    const bool split = gs_choose(h, &machine, &trial->outlook, &budget, now_ns, &trial->risk_ns);
    say_outlook(t, trial, now_ns);
    const bool wants_peer = h->wants_peer;
    *reason = h->reason;
    trial->single_ns = h->single_ns;
    trial->moves = h->balance.moves;
    trial->measured = split && n_pending < MOST_PENDING && (trial->outlook.on_trial || gs_choice_wants_split(h));
    pthread_mutex_unlock(&lock);
    if (wants_peer)
        gs_peer_ready(ctx);
    return split;
}

bool gs_timing_measures(struct gs_timing *t)
{
    pthread_mutex_lock(&lock);
    const uint64_t spent = (uint64_t)(n_measured + 1) * MEASURE_NS;
    const bool affordable = spent < (gs_now_ns() - budget.begin_ns) / AFFORDABLE;
    const bool wants =
        !t->refused && n_pending < MOST_PENDING && gs_choice_wants_single(&t->h, &machine, t->n, affordable);
    pthread_mutex_unlock(&lock);
    return wants;
}

void gs_timing_sieve(struct gs_queue *q, struct gs_timing *t)
{
    struct gs_sieve *s = &q->sieve;
    unsigned i = 0;
    if (!s->n)
        s->begin_ns = gs_now_ns();
    while (i < s->n && s->seen[i].of != t)
        i++;
    if (i == GS_SIEVED)
        return;
    if (i == s->n) {
        s->seen[s->n++].of = t;
        s->seen[i].launches = 0;
    }
    s->seen[i].launches++;
}

struct gs_sieve gs_timing_before_wait(struct gs_queue *q)
{
    struct gs_sieve s = {0};
    if (!q || !learns(q->o.ctx))
        return s;
    pthread_mutex_lock(&q->o.ctx->lock);
    s = q->sieve;
    q->sieve.n = 0;
    pthread_mutex_unlock(&q->o.ctx->lock);
    return s;
}

void gs_timing_after_wait(const struct gs_sieve *before, cl_int err)
{
    if (!before->n && !n_pending)
        return;
    const uint64_t all_ns = before->n ? gs_now_ns() - before->begin_ns : 0;
    struct wanted wanted = {0};
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < before->n && !err; i++)
        gs_choice_learn_bound(&before->seen[i].of->h, all_ns, before->seen[i].launches);
    poll(&wanted);
    pthread_mutex_unlock(&lock);
    do_wanted(&wanted);
}

/* A measurement that ends with `end`, which is retained. NULL: no memory. */
static struct measurement *measure(struct gs_timing *t, cl_event end)
{
    struct measurement *m = calloc(1, sizeof *m);
    if (!m || gs_real()->clRetainEvent(end) != CL_SUCCESS) {
        free(m);
        return NULL;
    }
    m->t = t;
    m->end = end;
    return m;
}

static void keep(struct measurement *m)
{
    pthread_mutex_lock(&lock);
    m->next = pending;
    pending = m;
    n_pending++;
    n_measured++;
    m->t->h.asked += !m->split;
    pthread_mutex_unlock(&lock);
}

void gs_timing_learn_single(struct gs_timing *t, const struct gs_kernel *k, cl_event ran)
{
    struct measurement *m = measure(t, ran);
    if (!m)
        return;
    m->program = k->program->o.handle;
    keep(m);
}

void gs_timing_learn_split(struct gs_timing *t, const struct gs_trial *trial, const struct gs_plan *plan,
                           const struct gs_asked *asked, cl_event begun, cl_event end, const cl_event *parts)
{
    struct measurement *m = measure(t, end);
    if (!m)
        return;
    bool whole = gs_real()->clRetainEvent(begun) == CL_SUCCESS;
    m->begin = whole ? begun : NULL;
    m->split = true;
    m->trial = *trial;
    m->asked = *asked;
    m->dim = plan->dim;
    gs_plan_cut(plan, m->cut);
    for (unsigned p = 0; p < plan->n_parts && whole; p++) {
        whole = gs_real()->clRetainEvent(parts[p]) == CL_SUCCESS;
        m->part[p] = whole ? parts[p] : NULL;
    }
    if (whole)
        keep(m);
    else
        forget(m);
}

void gs_timing_learn_units(struct gs_timing *t, const struct gs_trial *trial, const struct gs_plan *plan, cl_event end,
                           struct gs_spent *spent, const unsigned *place)
{
    struct measurement *m = measure(t, end);
    if (!m)
        return;
    atomic_fetch_add(&spent->refs, 1);
    m->spent = spent;
    memcpy(m->place, place, sizeof m->place);
    m->split = trial;
    if (trial) {
        m->trial = *trial;
        m->dim = plan->dim;
        gs_plan_cut(plan, m->cut);
    }
    keep(m);
}

void gs_timing_report(struct gs_timing *t, struct gs_kernel_stats *stats)
{
    pthread_mutex_lock(&lock);
    const double single = t->h.single_ns, split = t->h.split_ns;
    pthread_mutex_unlock(&lock);
    gs_report_choice(stats, single > 0 ? (uint64_t)single : 0, split > 0 ? (uint64_t)split : 0);
}
