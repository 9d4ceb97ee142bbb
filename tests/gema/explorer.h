/* SPDX-License-Identifier: MIT */
/* All states that a tiny task set can get into, one after the other: what explore.c and explore_chunks.c share. The
 * file that includes this has MAX_TASKS, MAX_STATES, IDLE and struct state before, whose t[i] have `segment` (IDLE: no
 * job) and `since`, the time from the last release up to the period. */
#ifndef GS_TESTS_GEMA_EXPLORER_H
#define GS_TESTS_GEMA_EXPLORER_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gema/sets.h"

struct explorer {
    const struct gs_model *m;
    int modes[MAX_TASKS];
    const struct gs_result *bound;
    struct state *states; /* owned */
    uint32_t *table;      /* owned; hash table of indices + 1 */
    size_t n_states;
    int64_t worst[MAX_TASKS];
    bool too_many, broken; /* a bound is exceeded */
};

/* Follows all that may come of *s in its instant, for the tasks from i on: adds the states of the next one. */
static void release(struct explorer *x, const struct state *s, size_t i);

static struct explorer new_explorer(void)
{
    return (struct explorer){.states = malloc(MAX_STATES * sizeof(struct state)),
                             .table = malloc(2 * MAX_STATES * sizeof(uint32_t))};
}

static void free_explorer(struct explorer *x)
{
    free(x->states);
    free(x->table);
}

static const struct gs_chain *chain_of(const struct explorer *x, size_t i)
{
    return &x->m->tasks[i].chains[x->modes[i]];
}

static const struct gs_segment *segment_of(const struct explorer *x, size_t i, const struct state *s)
{
    return &chain_of(x, i)->segments[s->t[i].segment];
}

static void add_state(struct explorer *x, const struct state *s)
{
    uint64_t h = 1469598103934665603u;
    const unsigned char *p = (const unsigned char *)s;
    for (size_t i = 0; i < sizeof *s; i++)
        h = (h ^ p[i]) * 1099511628211u;
    size_t k = h % (2 * MAX_STATES);
    for (; x->table[k]; k = (k + 1) % (2 * MAX_STATES))
        if (memcmp(&x->states[x->table[k] - 1], s, sizeof *s) == 0)
            return;
    if (x->n_states == MAX_STATES) {
        x->too_many = true;
        return;
    }
    x->states[x->n_states++] = *s;
    x->table[k] = (uint32_t)x->n_states;
}

/* Until all states are known, there are too many, or a bound is exceeded. */
static void explore(struct explorer *x)
{
    struct state first;
    memset(&first, 0, sizeof first);
    for (size_t i = 0; i < x->m->n_tasks; i++) {
        first.t[i].segment = IDLE;
        first.t[i].since = (uint8_t)x->m->tasks[i].period_ns;
        x->worst[i] = 0;
    }
    x->n_states = 0;
    x->too_many = x->broken = false;
    memset(x->table, 0, 2 * MAX_STATES * sizeof *x->table);
    add_state(x, &first);
    for (size_t k = 0; k < x->n_states && !x->too_many && !x->broken; k++) {
        const struct state s = x->states[k];
        release(x, &s, 0);
    }
}

/* False, and says so, where a set exceeds its bounds. */
static bool holds(struct explorer *x, long set)
{
    explore(x);
    if (!x->broken)
        return true;
    printf("set %ld exceeds its bound\n", set);
    print_set(x->m, x->modes);
    return false;
}

#endif
