/* SPDX-License-Identifier: MIT */
/* The warp scheduler simulator. Each scheduler may issue one instruction every scheduler_cycles; which warp gets the
 * slot is the policy's choice among those that can issue. */
#include "gema/warpsched.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ACTIVE = 8 };
#define NOBODY UINT32_MAX

struct warp {
    size_t next;      /* op */
    uint64_t free_at; /* the front end takes its next instruction */
    uint64_t finish;
    uint64_t *ready;   /* by register: when its value is there */
    bool *from_memory; /* by register: a load writes it */
    unsigned barriers; /* issued */
};

struct scheduler {
    uint32_t *warp; /* those it serves; two-level: the first `active` of them are the active set */
    unsigned n, active;
    unsigned turn; /* index of the warp that round robin looks at first */
    uint32_t last; /* GTO: who issued last */
    uint64_t slot; /* variable: slots so far */
    uint64_t *due; /* variable: by index, the next slot that the warp owns */
};

struct simulation {
    const struct gs_timing_program *p;
    const struct gs_warpsched_options *o;
    struct gs_timing_profile profile; /* the costs, in whole cycles */
    struct warp *warp;
    struct scheduler *scheduler;
    struct gs_warpsched_result *r;
    uint64_t now, n_issued;
    unsigned unfinished;
};

static const char *const names[GS_WARPSCHED_POLICIES] = {
    [GS_WARPSCHED_LRR] = "lrr",
    [GS_WARPSCHED_GTO] = "gto",
    [GS_WARPSCHED_TWO_LEVEL] = "two-level",
    [GS_WARPSCHED_VARIABLE] = "variable",
};

const char *gs_warpsched_policy_name(enum gs_warpsched_policy policy)
{
    return names[policy];
}

enum gs_warpsched_policy gs_warpsched_policy_of(const char *name)
{
    int i = 0;
    while (i < GS_WARPSCHED_POLICIES && strcmp(names[i], name) != 0)
        i++;
    return (enum gs_warpsched_policy)i;
}

static bool is_load(enum gs_ptx_class c)
{
    return c == GS_PTX_GLOBAL_LOAD || c == GS_PTX_ATOMIC;
}

static bool is_done(const struct simulation *s, uint32_t w)
{
    return s->warp[w].next == s->p->n;
}

/* When the registers that the warp's next instruction reads or writes are free; *memory: the latest is a load's. */
static uint64_t operands_at(const struct simulation *s, const struct warp *w, bool *memory)
{
    const struct gs_timing_op *op = &s->p->op[w->next];
    uint64_t at = 0;
    *memory = false;
    for (unsigned i = 0; i < (unsigned)op->n_written + op->n_read; i++) {
        uint32_t reg = s->p->operand[op->first + i];
        if (w->ready[reg] > at) {
            at = w->ready[reg];
            *memory = w->from_memory[reg];
        }
    }
    return at;
}

/* All warps that are still running have issued as many barriers as this one. */
static bool barrier_is_open(const struct simulation *s, const struct warp *w)
{
    for (unsigned i = 0; w->barriers && i < s->o->warps; i++)
        if (!is_done(s, i) && s->warp[i].barriers < w->barriers)
            return false;
    return true;
}

static bool can_issue(const struct simulation *s, uint32_t w)
{
    const struct warp *v = &s->warp[w];
    bool memory;
    return !is_done(s, w) && v->free_at <= s->now && operands_at(s, v, &memory) <= s->now && barrier_is_open(s, v);
}

static uint64_t whole(double cycles)
{
    return (uint64_t)ceil(cycles);
}

static void issue(struct simulation *s, uint32_t w)
{
    struct warp *v = &s->warp[w];
    const struct gs_timing_op *op = &s->p->op[v->next];
    const struct gs_timing_cost *cost = &s->profile.cost[op->class];
    uint64_t result = s->now + whole(cost->latency[s->o->latency]);
    s->r->issue[s->n_issued++] = (struct gs_warpsched_issue){s->now, w, (uint32_t)v->next};
    v->free_at = s->now + whole(cost->issue);
    if (is_load(op->class) && s->o->blocking_loads && result > v->free_at)
        v->free_at = result;
    for (unsigned i = 0; i < op->n_written; i++) {
        v->ready[s->p->operand[op->first + i]] = result;
        v->from_memory[s->p->operand[op->first + i]] = is_load(op->class);
    }
    uint64_t end = is_load(op->class) && result > v->free_at ? result : v->free_at;
    v->finish = end > v->finish ? end : v->finish;
    v->barriers += op->class == GS_PTX_BARRIER;
    v->next++;
    s->unfinished -= v->next == s->p->n;
}

/* Among the first n warps of the scheduler, from its turn on, the first that can issue; NOBODY. Moves the turn behind
 * it. */
static uint32_t round_robin(struct simulation *s, struct scheduler *q, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned k = (q->turn + i) % n;
        if (can_issue(s, q->warp[k])) {
            q->turn = (k + 1) % n;
            return q->warp[k];
        }
    }
    return NOBODY;
}

/* All warps start together, so the oldest is that of the lowest number. */
static uint32_t greedy_then_oldest(struct simulation *s, struct scheduler *q)
{
    if (q->last != NOBODY && can_issue(s, q->last))
        return q->last;
    for (unsigned i = 0; i < q->n; i++)
        if (can_issue(s, q->warp[i]))
            return q->last = q->warp[i];
    return NOBODY;
}

static bool waits_for_memory(const struct simulation *s, uint32_t w)
{
    bool memory;
    return operands_at(s, &s->warp[w], &memory) > s->now && memory;
}

/* Active warps that are done or wait for memory change places with the first pending warp that is neither. */
static void refill_active(struct simulation *s, struct scheduler *q)
{
    for (unsigned i = 0; i < q->active; i++) {
        if (!is_done(s, q->warp[i]) && !waits_for_memory(s, q->warp[i]))
            continue;
        unsigned j = q->active;
        while (j < q->n && (is_done(s, q->warp[j]) || waits_for_memory(s, q->warp[j])))
            j++;
        if (j == q->n)
            return;
        uint32_t out = q->warp[i];
        q->warp[i] = q->warp[j];
        memmove(&q->warp[j], &q->warp[j + 1], (q->n - j - 1) * sizeof(*q->warp)); /* pending is first in, first out */
        q->warp[q->n - 1] = out;
    }
}

static unsigned rate_of(const struct simulation *s, uint32_t w)
{
    return s->o->rate ? s->o->rate[w] : 0;
}

/* The index of the warp that owns this slot: the rated one whose slot is longest due, else the next of the others. */
static unsigned slot_owner(struct simulation *s, struct scheduler *q)
{
    unsigned owner = NOBODY;
    for (unsigned i = 0; i < q->n; i++)
        if (rate_of(s, q->warp[i]) && !is_done(s, q->warp[i]) && q->due[i] <= q->slot &&
            (owner == NOBODY || q->due[i] < q->due[owner]))
            owner = i;
    if (owner != NOBODY) {
        q->due[owner] += rate_of(s, q->warp[owner]);
        return owner;
    }
    for (unsigned i = 0; i < q->n; i++) {
        unsigned k = (q->turn + i) % q->n;
        if (!rate_of(s, q->warp[k]) && !is_done(s, q->warp[k])) {
            q->turn = (k + 1) % q->n;
            return k;
        }
    }
    return NOBODY;
}

static uint32_t variable_rate(struct simulation *s, struct scheduler *q)
{
    unsigned owner = slot_owner(s, q);
    q->slot++;
    if (owner != NOBODY && can_issue(s, q->warp[owner]))
        return q->warp[owner];
    return s->o->strict ? NOBODY : round_robin(s, q, q->n);
}

static uint32_t choose(struct simulation *s, struct scheduler *q)
{
    switch (s->o->policy) {
    case GS_WARPSCHED_GTO:
        return greedy_then_oldest(s, q);
    case GS_WARPSCHED_TWO_LEVEL:
        refill_active(s, q);
        return round_robin(s, q, q->active);
    case GS_WARPSCHED_VARIABLE:
        return variable_rate(s, q);
    default:
        return round_robin(s, q, q->n);
    }
}

/* The first slot at which some warp may be able to issue, so that long waits are not walked through slot by slot. */
static uint64_t next_slot(const struct simulation *s)
{
    uint64_t step = s->profile.scheduler_cycles, first = UINT64_MAX;
    if (s->o->policy == GS_WARPSCHED_VARIABLE) /* counts its slots */
        return s->now + step;
    for (unsigned w = 0; w < s->o->warps; w++) {
        if (is_done(s, w))
            continue;
        bool memory;
        uint64_t at = operands_at(s, &s->warp[w], &memory);
        at = at > s->warp[w].free_at ? at : s->warp[w].free_at;
        first = at < first ? at : first;
    }
    if (first == UINT64_MAX || first <= s->now + step)
        return s->now + step;
    return (first + step - 1) / step * step;
}

static void simulate(struct simulation *s)
{
    while (s->unfinished) {
        for (unsigned k = 0; k < s->profile.warp_schedulers; k++) {
            struct scheduler *q = &s->scheduler[k];
            uint32_t w = q->n ? choose(s, q) : NOBODY;
            if (w != NOBODY)
                issue(s, w);
        }
        s->now = next_slot(s);
    }
    for (unsigned w = 0; w < s->o->warps; w++) {
        s->r->finish[w] = s->warp[w].finish;
        s->r->cycles = s->r->finish[w] > s->r->cycles ? s->r->finish[w] : s->r->cycles;
    }
}

static int init_scheduler(struct simulation *s, unsigned k, char *why, size_t why_size)
{
    struct scheduler *q = &s->scheduler[k];
    unsigned step = s->profile.warp_schedulers, active = s->o->active ? s->o->active : DEFAULT_ACTIVE;
    double share = 0;
    bool others = false;
    q->last = NOBODY;
    q->warp = calloc(s->o->warps + 1, sizeof(*q->warp));
    q->due = calloc(s->o->warps + 1, sizeof(*q->due));
    if (!q->warp || !q->due)
        return -ENOMEM;
    for (unsigned w = k; w < s->o->warps; w += step) {
        share += rate_of(s, w) ? 1.0 / rate_of(s, w) : 0;
        others = others || !rate_of(s, w);
        q->warp[q->n++] = w;
    }
    q->active = active < q->n ? active : q->n;
    if (share > 1 + 1e-9 || (others && share > 1 - 1e-9)) {
        snprintf(why, why_size,
                 "by --rate the warps of scheduler %u ask for %g times the slots that it has%s; raise some R", k, share,
                 others ? ", which leaves none to its other warps" : "");
        return -EINVAL;
    }
    return 0;
}

static int init(struct simulation *s, char *why, size_t why_size)
{
    uint64_t registers = s->p->n_registers + 1;
    s->r->instructions = (uint64_t)s->o->warps * s->p->n;
    if (s->r->instructions > UINT64_C(1) << 26 || s->o->warps * registers > UINT64_C(1) << 28) {
        snprintf(why, why_size, "%u warps of %zu instructions are more than the simulator keeps (67108864 in all)",
                 s->o->warps, s->p->n);
        return -EINVAL;
    }
    s->warp = calloc(s->o->warps, sizeof(*s->warp));
    s->scheduler = calloc(s->profile.warp_schedulers, sizeof(*s->scheduler));
    s->r->finish = calloc(s->o->warps, sizeof(*s->r->finish));
    s->r->issue = malloc((s->r->instructions + 1) * sizeof(*s->r->issue));
    int rc = s->warp && s->scheduler && s->r->finish && s->r->issue ? 0 : -ENOMEM;
    for (unsigned w = 0; rc == 0 && w < s->o->warps; w++) {
        s->warp[w].ready = calloc(registers, sizeof(uint64_t));
        s->warp[w].from_memory = calloc(registers, sizeof(bool));
        rc = s->warp[w].ready && s->warp[w].from_memory ? 0 : -ENOMEM;
    }
    for (unsigned k = 0; rc == 0 && k < s->profile.warp_schedulers; k++)
        rc = init_scheduler(s, k, why, why_size);
    s->unfinished = s->p->n ? s->o->warps : 0;
    return rc;
}

static void release(struct simulation *s)
{
    for (unsigned w = 0; s->warp && w < s->o->warps; w++) {
        free(s->warp[w].ready);
        free(s->warp[w].from_memory);
    }
    for (unsigned k = 0; s->scheduler && k < s->profile.warp_schedulers; k++) {
        free(s->scheduler[k].warp);
        free(s->scheduler[k].due);
    }
    free(s->warp);
    free(s->scheduler);
}

int gs_warpsched_run(const struct gs_timing_program *program, const struct gs_timing_profile *profile,
                     const struct gs_warpsched_options *options, struct gs_warpsched_result *result, char *why,
                     size_t why_size)
{
    struct simulation s = {.p = program, .o = options, .profile = *profile, .r = result};
    memset(result, 0, sizeof(*result));
    int rc = init(&s, why, why_size);
    if (rc == 0)
        simulate(&s);
    else
        gs_warpsched_result_free(result);
    if (rc == -ENOMEM)
        snprintf(why, why_size, "there is not enough memory to simulate %u warps", options->warps);
    release(&s);
    return rc;
}

void gs_warpsched_result_free(struct gs_warpsched_result *result)
{
    free(result->finish);
    free(result->issue);
    memset(result, 0, sizeof(*result));
}
