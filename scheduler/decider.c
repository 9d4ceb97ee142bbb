/* SPDX-License-Identifier: MIT */
#include "scheduler/decider.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 64 }; /* answers */

struct gs_question {
    struct gs_config config; /* as it was: what it points to is freed later than this */
    unsigned gpus;
    size_t n;
    struct gs_member *members; /* in the order of `by_member`, each with its own copy of what its jobs have used */
    struct gs_demand *demands;
    struct gs_decision decision;
    int err;
    uint64_t used; /* when it was last asked for: the how manieth question that was */
};

struct gs_decider {
    void (*hand_out)(void *ctx, struct gs_question *q);
    void *ctx;
    struct gs_config config;
    unsigned gpus;
    struct gs_question *kept[KEPT], *out;
    struct gs_config *retired;
    size_t n_retired;
    uint64_t asked, analysed;
};

static void free_question(struct gs_question *q)
{
    if (!q)
        return;
    free(q->members);
    free(q->demands);
    free(q);
}

struct gs_decider *gs_decider_new(void (*hand_out)(void *ctx, struct gs_question *q), void *ctx)
{
    struct gs_decider *d = calloc(1, sizeof *d);
    if (d)
        *d = (struct gs_decider){.hand_out = hand_out, .ctx = ctx};
    return d;
}

static void free_retired(struct gs_decider *d)
{
    for (size_t i = 0; i < d->n_retired; i++)
        gs_config_free(&d->retired[i]);
    free(d->retired);
    d->retired = NULL;
    d->n_retired = 0;
}

static void forget_answers(struct gs_decider *d)
{
    for (size_t i = 0; i < KEPT; i++) {
        free_question(d->kept[i]);
        d->kept[i] = NULL;
    }
}

void gs_decider_free(struct gs_decider *d)
{
    if (!d)
        return;
    forget_answers(d);
    free_question(d->out);
    free_retired(d);
    free(d);
}

void gs_decider_configure(struct gs_decider *d, const struct gs_config *config, unsigned gpus)
{
    forget_answers(d);
    d->config = *config;
    d->gpus = gpus;
}

void gs_decider_retire(struct gs_decider *d, struct gs_config *old)
{
    struct gs_config *v = d->out ? realloc(d->retired, (d->n_retired + 1) * sizeof *v) : NULL;
    if (v) {
        d->retired = v;
        d->retired[d->n_retired++] = *old;
    } else if (!d->out) {
        gs_config_free(old);
    } /* else: no memory to remember it by, and it may be in use */
    *old = (struct gs_config){0};
}

void gs_question_answer(struct gs_question *q)
{
    q->err = gs_taskset_decide(&q->config, q->gpus, q->members, q->n, &q->decision);
}

static const struct gs_demand *demand_of(const struct gs_member *m)
{
    static const struct gs_demand none;
    return m->demand ? m->demand : &none;
}

/* Is the same decided about both? */
static bool equal(const struct gs_member *a, const struct gs_member *b)
{
    return a->task == b->task && a->gpus_max == b->gpus_max &&
           memcmp(demand_of(a)->counted_ns, demand_of(b)->counted_ns, sizeof demand_of(a)->counted_ns) == 0;
}

/* By task, and of one task as they come: the first is the more urgent. */
static int by_member(const void *a, const void *b)
{
    const struct gs_member *x = *(struct gs_member *const *)a, *y = *(struct gs_member *const *)b;
    return x->task == y->task ? (x > y) - (x < y) : (x->task > y->task) - (x->task < y->task);
}

static bool is_of(const struct gs_question *q, struct gs_member *const *sorted, size_t n)
{
    if (q->n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!equal(&q->members[i], sorted[i]))
            return false;
    return true;
}

static struct gs_question *find(struct gs_decider *d, struct gs_member *const *sorted, size_t n)
{
    for (size_t i = 0; i < KEPT; i++)
        if (d->kept[i] && is_of(d->kept[i], sorted, n))
            return d->kept[i];
    return NULL;
}

static struct gs_question *new_question(const struct gs_decider *d, struct gs_member *const *sorted, size_t n)
{
    struct gs_question *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    *q = (struct gs_question){.config = d->config, .gpus = d->gpus, .n = n};
    q->members = calloc(n + 1, sizeof *q->members);
    q->demands = calloc(n + 1, sizeof *q->demands);
    if (!q->members || !q->demands) {
        free_question(q);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        q->members[i] = *sorted[i];
        if (!sorted[i]->demand)
            continue;
        q->demands[i] = *sorted[i]->demand;
        q->members[i].demand = &q->demands[i];
    }
    return q;
}

/* Keeps it, in place of the one that has been asked for longest ago. */
static void keep(struct gs_decider *d, struct gs_question *q)
{
    size_t oldest = 0;
    for (size_t i = 0; i < KEPT; i++) {
        if (!d->kept[i]) {
            oldest = i;
            break;
        }
        if (d->kept[i]->used < d->kept[oldest]->used)
            oldest = i;
    }
    free_question(d->kept[oldest]);
    d->kept[oldest] = q;
    q->used = d->asked;
}

static int read_answer(const struct gs_question *q, struct gs_member *const *sorted, struct gs_decision *decision)
{
    for (size_t i = 0; i < q->n && q->err == 0; i++) {
        sorted[i]->gpus = q->members[i].gpus;
        sorted[i]->analysed = q->members[i].analysed;
        sorted[i]->meets_deadline = q->members[i].meets_deadline;
        sorted[i]->response_ns = q->members[i].response_ns;
    }
    *decision = q->decision;
    return q->err;
}

/* One more set: 0 and the answer in *answer, or handed out: -EAGAIN. */
static int analyse(struct gs_decider *d, struct gs_member *const *sorted, size_t n, struct gs_question **answer)
{
    if (d->out)
        return -EAGAIN;
    struct gs_question *q = new_question(d, sorted, n);
    if (!q)
        return -ENOMEM;
    d->analysed += n > 0;
    if (d->hand_out && n > 0) {
        d->out = q;
        d->hand_out(d->ctx, q);
        return -EAGAIN;
    }
    gs_question_answer(q);
    keep(d, q);
    *answer = q;
    return 0;
}

int gs_decider_ask(struct gs_decider *d, struct gs_member *members, size_t n, struct gs_decision *decision)
{
    struct gs_member **sorted = calloc(n + 1, sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        sorted[i] = &members[i];
    qsort(sorted, n, sizeof(*sorted), by_member);
    d->asked++;
    struct gs_question *q = find(d, sorted, n);
    int err = q ? 0 : analyse(d, sorted, n, &q);
    if (err == 0) {
        q->used = d->asked;
        err = read_answer(q, sorted, decision);
        for (size_t i = 0; i < KEPT && err < 0; i++)
            if (d->kept[i] == q)
                d->kept[i] = NULL;
        if (err < 0)
            free_question(q);
    }
    free(sorted);
    return err;
}

void gs_decider_take(struct gs_decider *d, struct gs_question *q)
{
    d->out = NULL;
    free_retired(d);
    if (q->config.tasks == d->config.tasks)
        keep(d, q);
    else
        free_question(q); /* the config has been read again meanwhile */
}

bool gs_decider_waits(const struct gs_decider *d)
{
    return d->out != NULL;
}

uint64_t gs_decider_analysed(const struct gs_decider *d)
{
    return d->analysed;
}
