/* SPDX-License-Identifier: MIT */
/* What the daemon decides against what it does: no job of random tasks takes longer than its bound, whose chunks the
 * same core grants one by one, on a link and one or two GPUs. Tasks have one to three processes; some have left before.
 * Beside them run applications without a task. The devices and the clock are numbers. GS_SEED chooses the cases. */
#include <inttypes.h>

#include "tests/scheduler/desk.h"

#define US UINT64_C(1000)
enum { MAX_TASKS = 3, OF_A_TASK = 3, MAX_OTHERS = 2, MAX_CLIENTS = MAX_TASKS * OF_A_TASK + MAX_OTHERS, LEAVERS = 3 };
enum { SEGMENTS = 3, MAX_UNITS = 8, RESOURCES = 3 };
static const uint64_t HANDOVER = 100 * US, CHUNK[RESOURCES] = {500 * US, 1000 * US, 1000 * US};

struct process {
    struct desk d;
    uint64_t period_ns, segment_ns[SEGMENTS]; /* link, GPU, link; no period: an application without a task */
    uint64_t release_ns, next_ns;             /* of the job under way, or 0; and of the next one */
    uint64_t told_ns;                         /* when it hears which GPU to use; UINT64_MAX: it has */
    unsigned segment;
    uint64_t left_ns;  /* of the segment, not granted yet */
    bool waits;        /* a request of it does, */
    unsigned resource; /* ... for that */
    unsigned out, gpu; /* units; the job's GPU */
    unsigned group;    /* GPUs that it has */
    uint32_t slot;
    double most; /* of its bound */
};

struct unit {
    struct process *of;
    uint64_t ns;
};

/* A device runs its units in order; all are of one process. */
struct device {
    struct unit unit[MAX_UNITS];
    unsigned n;
    uint64_t end_ns; /* of the first */
    struct process *last;
};

struct trial {
    struct bench *b;
    unsigned gpus, depth, n, jobs;
    struct process p[MAX_CLIENTS];
    struct device device[RESOURCES];
};

static uint64_t random_state;

static uint64_t below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static unsigned resource_of(const struct process *p)
{
    if (p->period_ns ? p->segment != 1 : below(2))
        return GS_RESOURCE_PCI;
    return p->period_ns ? p->gpu : 1 + (unsigned)below(p->group);
}

static void ask(struct trial *t, struct process *p)
{
    if (p->waits || (p->period_ns ? !p->left_ns : p->out >= 3))
        return;
    p->waits = true;
    p->resource = resource_of(p);
    p->slot = (p->slot + 1) % GS_MAX_SLOTS;
    atomic_store(&page_of(&p->d)->slot[p->slot], 0);
    assert_int_equal(request(t->b, &p->d, p->slot, p->resource), 0);
}

static void start_unit(struct trial *t, struct device *d)
{
    const struct unit *u = &d->unit[0];
    const uint64_t idle = u->of == d->last ? 0 : below(2) ? HANDOVER : below(HANDOVER + 1);
    d->last = u->of;
    d->end_ns = t->b->now + idle + u->ns;
}

static uint64_t length_of(struct process *p, unsigned resource)
{
    const uint64_t most = CHUNK[resource];
    uint64_t ns = below(3) ? most : HANDOVER + below(most - HANDOVER + 1);
    if (p->period_ns) {
        ns = least(ns, p->left_ns);
        p->left_ns -= ns;
    }
    return ns;
}

/* Who has been granted something has it run, and asks for its next chunk at once. */
static void take_grants(struct trial *t)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < t->n; i++) {
            struct process *p = &t->p[i];
            if (!p->waits || !granted(&p->d, p->slot, p->resource))
                continue;
            struct device *d = &t->device[p->resource];
            d->unit[d->n++] = (struct unit){p, length_of(p, p->resource)};
            if (d->n == 1)
                start_unit(t, d);
            p->out++;
            p->waits = false;
            ask(t, p);
            again = true;
        }
    }
}

/* Which GPU of several. */
static void choose(struct trial *t, struct process *p)
{
    struct gs_msg m = message(GS_MSG_CHOOSE);
    m.u.choose = (struct gs_msg_choose){.slot = p->slot,
                                        .client = p->d.welcome.u.welcome.client,
                                        .gpus = GS_MASK_ALL_GPUS(p->group),
                                        .prefer = GS_MAX_RESOURCES};
    assert_int_equal(say(t->b, &p->d, &m), 0);
    const uint32_t word = atomic_load(&page_of(&p->d)->slot[p->slot]);
    assert_int_equal(GS_SLOT_STATE(word), GS_SLOT_CHOSEN);
    p->gpu = GS_SLOT_RESOURCE(word);
}

static void release(struct trial *t, struct process *p)
{
    p->release_ns = p->next_ns;
    p->next_ns = p->release_ns + p->period_ns + (below(3) ? 0 : below(p->period_ns));
    p->segment = 0;
    p->told_ns = p->release_ns;
    choose(t, p);
    if (p->group > 1) /* the answer takes a hand-over at most */
        p->told_ns += below(2) ? HANDOVER : below(HANDOVER + 1);
}

static void begin_job(struct trial *t, struct process *p)
{
    p->told_ns = UINT64_MAX;
    p->left_ns = p->segment_ns[0];
    ask(t, p);
    take_grants(t);
}

static void end_job(struct trial *t, struct process *p)
{
    const uint64_t took = t->b->now - p->release_ns, bound = (uint64_t)p->d.session->member.response_ns;
    const double share = (double)took / (double)bound;
    p->most = share > p->most ? share : p->most;
    p->release_ns = 0;
    t->jobs++;
    if (took > bound)
        fail_msg("a job of task %s, rank %d, took %" PRIu64 " us, its bound is %" PRIu64, p->d.session->task_name,
                 p->d.welcome.u.welcome.priority, took / US, bound / US);
}

static void end_unit(struct trial *t, unsigned resource)
{
    struct device *d = &t->device[resource];
    struct process *p = d->unit[0].of;
    memmove(d->unit, d->unit + 1, --d->n * sizeof *d->unit);
    p->out--;
    give_back(t->b, &p->d, resource);
    if (d->n)
        start_unit(t, d);
    if (p->period_ns && !p->left_ns && !p->out) {
        if (++p->segment < SEGMENTS)
            p->left_ns = p->segment_ns[p->segment];
        else
            end_job(t, p);
    }
    ask(t, p);
    take_grants(t);
}

static uint64_t next_event(const struct trial *t)
{
    uint64_t next = UINT64_MAX;
    for (unsigned r = 0; r <= t->gpus; r++)
        if (t->device[r].n)
            next = least(next, t->device[r].end_ns);
    for (unsigned i = 0; i < t->n; i++)
        if (t->p[i].period_ns)
            next = least(next, least(t->p[i].next_ns, t->p[i].told_ns));
    return next;
}

static void run(struct trial *t, uint64_t until_ns)
{
    for (unsigned i = 0; i < t->n; i++) {
        t->p[i].next_ns = t->b->now + (below(2) ? 0 : below(20 * MS));
        t->p[i].told_ns = UINT64_MAX;
    }
    for (unsigned i = 0; i < t->n; i++)
        if (!t->p[i].period_ns)
            ask(t, &t->p[i]);
    take_grants(t);
    while ((t->b->now = next_event(t)) < until_ns) {
        for (unsigned r = 0; r <= t->gpus; r++)
            while (t->device[r].n && t->device[r].end_ns == t->b->now)
                end_unit(t, r);
        for (unsigned i = 0; i < t->n; i++)
            if (t->p[i].period_ns && t->p[i].next_ns == t->b->now)
                release(t, &t->p[i]);
        for (unsigned i = 0; i < t->n; i++)
            if (t->p[i].period_ns && t->p[i].told_ns == t->b->now)
                begin_job(t, &t->p[i]);
    }
}

static void sit(struct trial *t, struct process *p, const char *task)
{
    sit_down(t->b, &p->d, 1001, "");
    p->group = 1 + (unsigned)below(t->gpus);
    assert_int_equal(hello(t->b, &p->d, task, p->group), 0);
}

/* Random tasks, and their processes. True: all deadlines are met, says the daemon. */
static bool begin(struct trial *t)
{
    char config[2048], name[GS_WIRE_NAME];
    struct process task[MAX_TASKS] = {0}, leaver[LEAVERS] = {0};
    const unsigned tasks = 1 + (unsigned)below(MAX_TASKS);
    t->gpus = 1 + (unsigned)below(2);
    t->depth = 2 + (unsigned)below(2);
    int n = snprintf(config, sizeof config,
                     "[system]\ngpus = %u\ncpus = 2\ndepth = %u\nhandover = 100us\npci_chunk = 500us\ngpu_chunk = "
                     "1ms\nrealtime = no\n",
                     t->gpus, t->depth);
    for (unsigned i = 0; i < tasks; i++) {
        task[i].period_ns = (30 + below(200)) * MS;
        for (unsigned s = 0; s < SEGMENTS; s++)
            task[i].segment_ns[s] = (200 + below(s == 1 ? 15000 : 3000)) * US;
        n += snprintf(config + n, sizeof config - (size_t)n,
                      "[task t%u]\nperiod = %" PRIu64 "ms\nmode = 1\nuser = *\nsegments.1 = pci %" PRIu64
                      "us, gpu %" PRIu64 "us, pci %" PRIu64 "us\n",
                      i, task[i].period_ns / MS, task[i].segment_ns[0] / US, task[i].segment_ns[1] / US,
                      task[i].segment_ns[2] / US);
    }
    t->b = start_crowd(config);
    for (unsigned i = 0; i < LEAVERS; i++)
        sit(t, &leaver[i], "");
    for (unsigned i = 0; i < tasks; i++)
        for (unsigned k = 1 + (unsigned)below(OF_A_TASK); k; k--) {
            t->p[t->n] = task[i];
            snprintf(name, sizeof name, "t%u", i);
            sit(t, &t->p[t->n++], name);
            if (leaver[k - 1].d.session && below(2)) /* the next one has its place */
                get_up(t->b, &leaver[k - 1].d);
        }
    for (unsigned i = 0; i < LEAVERS; i++)
        if (leaver[i].d.session)
            get_up(t->b, &leaver[i].d);
    for (unsigned k = (unsigned)below(MAX_OTHERS + 1); k; k--)
        sit(t, &t->p[t->n++], "");
    return t->b->core->decision.schedulable;
}

static void test_no_job_exceeds_its_bound(void **state)
{
    const char *given = getenv("GS_SEED");
    const uint64_t seed = given ? strtoull(given, NULL, 0) : 20141;
    print_message("GS_SEED=%" PRIu64 "\n", seed);
    unsigned sets = 0, jobs = 0, tight = 0;
    for (unsigned i = 0; i < 1000; i++) {
        random_state = seed + i;
        struct trial *t = calloc(1, sizeof *t);
        if (begin(t)) {
            assert_null(strstr(t->b->core->decision.reason, "Not proven"));
            run(t, t->b->now + 3000 * MS);
            sets++;
            jobs += t->jobs;
            for (unsigned k = 0; k < t->n; k++)
                tight += t->p[k].most > 0.8;
        }
        for (unsigned k = 0; k < t->n; k++)
            get_up(t->b, &t->p[k].d);
        stop(t->b);
        free(t);
    }
    print_message("%u sets, %u jobs; %u processes had one of more than 80 %% of the bound\n", sets, jobs, tight);
    assert_true(sets > 100 && jobs > 10000 && tight > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_job_exceeds_its_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
