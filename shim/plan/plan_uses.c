/* SPDX-License-Identifier: MIT */
#include "shim/plan/plan_uses.h"

#include <errno.h>
#include <stdlib.h>

#include "shim/plan/reducible.h"

static struct gs_use *use_of(struct gs_plan *plan, struct gs_mem *m)
{
    struct gs_use *u = NULL;
    for (size_t i = 0; i < plan->n_uses && !u; i++)
        if (plan->uses[i].root == m->root)
            u = &plan->uses[i];
    if (!u) {
        u = &plan->uses[plan->n_uses++];
        *u = (struct gs_use){.root = m->root, .window = {m->origin, m->origin + m->size}};
    }
    if (m->origin < u->window.begin)
        u->window.begin = m->origin;
    if (m->origin + m->size > u->window.end)
        u->window.end = m->origin + m->size;
    return u;
}

/* Ranges of a window, in bytes or in bands, to bytes of the root. */
static int add_shifted(struct gs_rangeset *to, const struct gs_rangeset *from, const struct gs_mem *m)
{
    const uint64_t unit = m->root->image ? m->root->image->band_bytes : 1;
    struct gs_rangeset shifted = {0};
    int err = gs_rangeset_copy(&shifted, from);
    for (size_t i = 0; i < shifted.n; i++)
        shifted.v[i] = (struct gs_range){shifted.v[i].begin * unit + m->origin, shifted.v[i].end * unit + m->origin};
    if (!err)
        err = gs_rangeset_add_set(to, &shifted);
    gs_rangeset_free(&shifted);
    return err;
}

/* Adds what one part, perhaps the only one, does through one argument to the use. */
static int add_access(struct gs_use *u, unsigned part, bool whole_launch, const struct gs_mem *m,
                      const struct gs_arg_summary *arg, struct gs_arg_access *a)
{
    const bool known = !m->image == !m->root->image; /* not of an image whose texels are a buffer's */
    const struct gs_range all = {m->origin, m->origin + m->size};
    int err = 0;
    if (m->root->shared) {
        if (arg->may_write)
            u->writes = GS_IN_PLACE;
        return 0;
    }
    if (whole_launch && arg->atomic != GS_ATOMIC_NONE && !gs_reducible(arg)) {
        if (u->writes == GS_READ_ONLY)
            u->writes = GS_DISJOINT;
        err = gs_rangeset_add(&u->needs[part], all);
        return err ? err : gs_rangeset_add(&u->wrote[part], all);
    }
    if (arg->atomic != GS_ATOMIC_NONE)
        return gs_reducible_add(u, part, m, arg, a);
    if (arg->may_read)
        err =
            known && !a->reads_all ? add_shifted(&u->needs[part], &a->reads, m) : gs_rangeset_add(&u->needs[part], all);
    if (err || !arg->may_write)
        return err;
    if (!known || a->writes_unknown) {
        u->writes = GS_COMPARED;
        return gs_rangeset_add(&u->needs[part], all);
    }
    if (u->writes == GS_READ_ONLY)
        u->writes = GS_DISJOINT;
    err = add_shifted(&u->wrote[part], &a->writes, m);
    /* What it may leave alone must be right already. */
    if (!err)
        err = gs_rangeset_remove_set(&a->writes, &a->overwrites);
    return err ? err : add_shifted(&u->needs[part], &a->writes, m);
}

/* A root of which two parts may write the same byte falls to comparison: the window as a whole. */
static int settle_use(struct gs_use *u, unsigned n_parts)
{
    if (u->op != GS_ATOMIC_NONE)
        return gs_reducible_choose(u, n_parts);
    for (unsigned p = 0; p < n_parts && u->writes == GS_DISJOINT; p++)
        for (unsigned q = p + 1; q < n_parts; q++)
            if (gs_rangeset_overlap(&u->wrote[p], &u->wrote[q]))
                u->writes = GS_COMPARED;
    if (u->writes != GS_COMPARED)
        return 0;
    int err = 0;
    for (unsigned p = 0; p < n_parts && !err; p++) {
        gs_rangeset_clear(&u->needs[p]);
        gs_rangeset_clear(&u->wrote[p]);
        err = gs_rangeset_add(&u->needs[p], u->window);
    }
    if (n_parts > 1 || err)
        return err;
    u->writes = GS_DISJOINT; /* there is nobody else */
    return gs_rangeset_add(&u->wrote[0], u->window);
}

/* May a part see what another writes? What it needs of its own bytes doesn't count. */
static bool parts_meet(const struct gs_use *u, unsigned n_parts)
{
    for (unsigned p = 0; p < n_parts; p++)
        for (unsigned q = 0; q < n_parts; q++)
            if (p != q && gs_rangeset_overlap(&u->needs[p], &u->wrote[q]))
                return true;
    return false;
}

bool gs_plan_parts_overlap(const struct gs_plan *plan, size_t use)
{
    return plan->uses[use].writes == GS_DISJOINT && parts_meet(&plan->uses[use], plan->n_parts);
}

/* Nothing will have to be moved or merged, so that it doesn't matter who reads and writes which bytes. */
static bool all_in_place(const struct gs_plan_input *in)
{
    for (uint32_t i = 0; i < in->kernel->n_args; i++)
        if (in->mems[i] && !in->mems[i]->root->shared)
            return false;
    return true;
}

int gs_plan_find_uses(struct gs_plan *plan, const struct gs_plan_input *in)
{
    const struct gs_kernel_summary *k = in->kernel;
    struct gs_arg_access *access = calloc(k->n_args + 1, sizeof *access);
    struct gs_arg_value *values = calloc(k->n_args + 1, sizeof *values);
    plan->uses = calloc(k->n_args + 1, sizeof *plan->uses);
    int err = access && values && plan->uses ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < k->n_args && !err; i++) {
        values[i] = gs_plan_value(&in->args[i]);
        values[i].buffer_bytes = in->mems[i] ? in->mems[i]->size : 0;
        values[i].is_image = in->mems[i] && in->mems[i]->root->image;
        if (values[i].is_image)
            values[i].buffer_bytes /= in->mems[i]->root->image->band_bytes;
    }
    for (unsigned p = 0; p < plan->n_parts && !err; p++) {
        if (!all_in_place(in))
            err = gs_summary_eval(k, &plan->launch, &plan->box[p], values, access);
        for (uint32_t i = 0; i < k->n_args && !err; i++) {
            plan->leaves |= access[i].leaves && !in->mems[i]->root->shared;
            if (in->mems[i])
                err =
                    add_access(use_of(plan, in->mems[i]), p, plan->n_parts == 1, in->mems[i], &k->args[i], &access[i]);
        }
    }
    for (size_t u = 0; u < plan->n_uses && !err; u++)
        err = settle_use(&plan->uses[u], plan->n_parts);
    for (uint32_t i = 0; access && i < k->n_args; i++)
        gs_arg_access_free(&access[i]);
    free(access);
    free(values);
    return err;
}
