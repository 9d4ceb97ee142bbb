/* SPDX-License-Identifier: MIT */
/* Which accesses come before others. What a part's work-items surely write before they read it need not be there when
 * the part begins. docs/access.md says why that is so for all work-items of the part together. */
#include <stdlib.h>

#include "translator/evaluation/eval_state.h"

/* More accesses aren't looked at in pairs. */
enum { MOST_ACCESSES = 128 };

static uint32_t depth_of(const struct gs_access_program *p, uint32_t context)
{
    uint32_t n = 0;
    for (; context; context = p->contexts[context].parent)
        n++;
    return n;
}

/* In every work-item, has all that one context stands for ended before the other begins? Their ways part below one that
 * no loop is around, and the first goes the earlier way: contexts are numbered in the order of the program. */
static bool ends_before(const struct gs_access_program *p, uint32_t first, uint32_t then)
{
    uint32_t a = first, b = then, from_a = 0, from_b = 0;
    for (uint32_t i = depth_of(p, a), j = depth_of(p, b); a != b; i = depth_of(p, a), j = depth_of(p, b)) {
        if (i >= j) {
            from_a = a;
            a = p->contexts[a].parent;
        }
        if (j >= i) {
            from_b = b;
            b = p->contexts[b].parent;
        }
    }
    if (!from_a || !from_b || from_a >= from_b)
        return false;
    for (; a; a = p->contexts[a].parent)
        if (p->contexts[a].kind != GS_C_GUARD)
            return false;
    return true;
}

static bool is_write(const struct gs_access *a)
{
    return a->kind == GS_A_WRITE && a->whole;
}

bool gs_before_matters(const struct gs_access_program *p)
{
    bool reads = false, writes = false;
    for (uint32_t i = 0; i < p->n_accesses; i++) {
        if (p->accesses[i].kind == GS_A_ATOMIC) /* by these, work-groups could pass each other a turn */
            return false;
        reads = reads || p->accesses[i].kind == GS_A_READ;
        writes = writes || is_write(&p->accesses[i]);
    }
    return reads && writes && p->n_accesses <= MOST_ACCESSES;
}

bool gs_before_wanted(const struct gs_access_program *p, uint32_t write)
{
    const struct gs_access *w = &p->accesses[write];
    for (uint32_t i = write + 1; i < p->n_accesses && is_write(w); i++)
        if (p->accesses[i].kind == GS_A_READ && p->accesses[i].arg == w->arg &&
            ends_before(p, w->context, p->accesses[i].context))
            return true;
    return false;
}

int gs_before_take_off(const struct gs_access_program *p, const struct gs_written *written, uint32_t read,
                       struct gs_rangeset *bytes)
{
    const struct gs_access *r = &p->accesses[read];
    int err = 0;
    for (const struct gs_written *w = written; w && !err; w = w->next)
        if (p->accesses[w->access].arg == r->arg && ends_before(p, p->accesses[w->access].context, r->context))
            err = gs_rangeset_remove_set(bytes, &w->bytes);
    return err;
}

void gs_before_free(struct gs_written *written)
{
    while (written) {
        struct gs_written *w = written;
        written = w->next;
        gs_rangeset_free(&w->bytes);
        free(w);
    }
}
