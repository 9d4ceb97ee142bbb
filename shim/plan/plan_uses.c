/* SPDX-License-Identifier: MIT */
/* What each part of a launch that has been cut does to each memory object. */
#include "shim/plan/plan.h"

#include <errno.h>

/* Do the ranges of a part in one list meet those of another part in the other? */
static bool parts_meet(const struct gs_rangeset *a, const struct gs_rangeset *b, unsigned n_parts)
{
    for (unsigned p = 0; p < n_parts; p++)
        for (unsigned q = 0; q < n_parts; q++)
            if (p != q && gs_rangeset_overlap(&a[p], &b[q]))
                return true;
    return false;
}

/* ---- atomics whose results nobody uses, as reductions: each part works on its own copy of the bytes ---- */

/* Ranges this close to each other are exchanged as one. */
enum { COALESCE_BYTES = 64 * 1024 };

/* Do two arguments' atomics combine to one reduction? Sums and bits do whatever the sign; a minimum doesn't. */
static bool alike(const struct gs_use *u, const struct gs_arg_summary *arg)
{
    const bool sign_counts = arg->atomic == GS_ATOMIC_MIN || arg->atomic == GS_ATOMIC_MAX;
    return u->op == arg->atomic && (u->type == arg->atomic_type ||
                                    (!sign_counts && u->type < GS_ATOMIC_F32 && arg->atomic_type < GS_ATOMIC_F32 &&
                                     gs_atomic_bytes(u->type) == gs_atomic_bytes(arg->atomic_type)));
}

/* Atomics touch aligned elements only, so that what the ranges have beyond whole ones isn't touched. */
static int add_elements(struct gs_rangeset *to, struct gs_range r, uint64_t bytes)
{
    r.begin = (r.begin + bytes - 1) / bytes * bytes;
    r.end = r.end / bytes * bytes;
    return r.begin < r.end ? gs_rangeset_add(to, r) : 0;
}

/* Adds what one part changes by the atomics of one argument, whose window is m. */
static int add_atomics(struct gs_use *u, unsigned part, const struct gs_mem *m, const struct gs_arg_summary *arg,
                       const struct gs_arg_access *a)
{
    const uint64_t bytes = gs_atomic_bytes(arg->atomic_type);
    if (u->op == GS_ATOMIC_NONE) {
        u->op = arg->atomic;
        u->type = arg->atomic_type;
    }
    if (!alike(u, arg) || m->image || m->root->image || m->origin % bytes != 0)
        u->clash = true;
    struct gs_rangeset *to = &u->reduced[part];
    if (a->writes_unknown)
        return add_elements(to, (struct gs_range){m->origin, m->origin + m->size}, bytes);
    int err = 0;
    for (size_t i = 0; i < a->writes.n && !err; i++)
        err = add_elements(to, (struct gs_range){m->origin + a->writes.v[i].begin, m->origin + a->writes.v[i].end},
                           bytes);
    return err;
}

/* Does any part plainly read or write any of these bytes, but for one part? `but` n_parts: for none. */
static bool plainly_used(const struct gs_use *u, unsigned n_parts, unsigned but, const struct gs_rangeset *s)
{
    for (unsigned p = 0; p < n_parts; p++)
        if (p != but && (gs_rangeset_overlap(&u->needs[p], s) || gs_rangeset_overlap(&u->will_write[p], s)))
            return true;
    return false;
}

/* Does each part change bytes that no other has to do with? */
static bool apart(const struct gs_use *u, unsigned n_parts)
{
    return !parts_meet(u->reduced, u->reduced, n_parts) && !parts_meet(u->reduced, u->needs, n_parts) &&
           !parts_meet(u->reduced, u->will_write, n_parts);
}

/* Each part owns the bytes of its atomics, and needs their old values. */
static int own(struct gs_use *u, unsigned n_parts)
{
    int err = 0;
    for (unsigned p = 0; p < n_parts && !err; p++) {
        err = gs_rangeset_add_set(&u->will_write[p], &u->reduced[p]);
        if (!err)
            err = gs_rangeset_add_set(&u->needs[p], &u->reduced[p]);
        gs_rangeset_clear(&u->reduced[p]);
    }
    u->writes = GS_DISJOINT;
    return err;
}

/* Closes gaps between the ranges of a part's set: of a reduction those that are close to each other, where nobody uses
 * what lies between; of what it owns those so many times as narrow as the range on either side, which it then needs. */
static int close_gaps(struct gs_use *u, unsigned n_parts, unsigned part, bool reduced)
{
    enum { NARROW = 8 };
    struct gs_rangeset *s = reduced ? &u->reduced[part] : &u->owned[part], gaps = {0};
    int err = 0;
    for (size_t i = 1; i < s->n && !err; i++) {
        const struct gs_range a = s->v[i - 1], b = s->v[i];
        struct gs_range gap = {a.end, b.begin};
        const uint64_t bytes = gap.end - gap.begin, most = bytes * NARROW;
        const bool narrow = reduced ? bytes <= COALESCE_BYTES : most <= a.end - a.begin && most <= b.end - b.begin;
        if (narrow && !plainly_used(u, n_parts, reduced ? n_parts : part, &GS_ONE_RANGE(gap)))
            err = gs_rangeset_add(&gaps, gap);
    }
    err = err ? err : gs_rangeset_add_set(s, &gaps);
    if (!err && !reduced)
        err = gs_rangeset_add_set(&u->needs[part], &gaps);
    gs_rangeset_free(&gaps);
    return err;
}

/* With all accesses known: GS_DISJOINT where each part's atomics have own bytes, else GS_REDUCED; or u->clash. */
static int settle_atomics(struct gs_use *u, unsigned n_parts)
{
    int err = 0;
    u->clash = u->clash || u->writes == GS_COMPARED || parts_meet(u->will_write, u->will_write, n_parts);
    if (!u->clash && apart(u, n_parts))
        return own(u, n_parts);
    for (unsigned p = 0; p < n_parts && !u->clash; p++)
        u->clash = plainly_used(u, n_parts, n_parts, &u->reduced[p]);
    if (u->clash)
        return 0;
    u->writes = GS_REDUCED;
    for (unsigned p = 0; p < n_parts && !err; p++)
        err = close_gaps(u, n_parts, p, true);
    /* The first part works on the old values; the others' copies start from what changes nothing. */
    for (unsigned p = 0; p < n_parts && !err; p++)
        err = gs_rangeset_add_set(&u->needs[0], &u->reduced[p]);
    return err;
}

/* ---- all that the parts do ---- */

/* The use of the object in an argument, made if need be. */
static struct gs_use *use_of(struct gs_plan *plan, const struct gs_mem *m, uint32_t arg)
{
    struct gs_use *u = plan->uses, *end = u + plan->n_uses;
    while (u < end && u->root != m->root)
        u++;
    if (u == end) {
        plan->n_uses++;
        *u = (struct gs_use){.root = m->root, .arg = arg, .window = {m->origin, m->origin + m->size}};
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
        return err ? err : gs_rangeset_add(&u->will_write[part], all);
    }
    if (arg->atomic != GS_ATOMIC_NONE)
        return add_atomics(u, part, m, arg, a);
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
    err = add_shifted(&u->will_write[part], &a->writes, m);
    /* bytes that a part may leave alone must be valid before */
    if (!err)
        err = gs_rangeset_remove_set(&a->writes, &a->overwrites);
    return err ? err : add_shifted(&u->needs[part], &a->writes, m);
}

/* If two parts may write the same byte of a root, the whole window is compared. */
static int settle_use(struct gs_use *u, unsigned n_parts)
{
    int err = 0;
    if (u->op != GS_ATOMIC_NONE)
        return settle_atomics(u, n_parts);
    if (u->writes == GS_DISJOINT && parts_meet(u->will_write, u->will_write, n_parts))
        u->writes = GS_COMPARED;
    if (u->writes != GS_COMPARED)
        return 0;
    for (unsigned p = 0; p < n_parts && !err; p++) {
        gs_rangeset_clear(&u->needs[p]);
        gs_rangeset_clear(&u->will_write[p]);
        err = gs_rangeset_add(&u->needs[p], u->window);
    }
    if (n_parts > 1 || err)
        return err;
    u->writes = GS_DISJOINT; /* there is nobody else */
    return gs_rangeset_add(&u->will_write[0], u->window);
}

int gs_plan_own(struct gs_use *u, unsigned n_parts, bool exact)
{
    enum { DIMENSIONS = 3 }; /* the rows of a plane become one range, and then the planes */
    int err = 0;
    for (unsigned p = 0; p < n_parts && !err; p++) {
        const struct gs_rangeset *needs = &u->needs[p], *owned = &u->owned[p];
        err = gs_rangeset_copy(&u->owned[p], &u->will_write[p]);
        for (unsigned i = 0; i < DIMENSIONS && u->writes == GS_DISJOINT && !exact && !err; i++)
            err = close_gaps(u, n_parts, p, false);
        u->needed_amount[p] = (struct gs_amount){gs_rangeset_bytes(needs), gs_rect_count(needs, NULL)};
        /* Other gaps belong to other parts. */
        u->owned_amount[p] = (struct gs_amount){gs_rangeset_bytes(owned), gs_rect_count(owned, owned)};
    }
    return err;
}

bool gs_plan_parts_overlap(const struct gs_plan *plan, size_t use)
{
    const struct gs_use *u = &plan->uses[use];
    return u->writes == GS_DISJOINT && parts_meet(u->needs, u->will_write, plan->n_parts);
}

/* Nothing will have to be moved or merged, so that it doesn't matter who reads and writes which bytes. */
static bool all_in_place(const struct gs_plan_input *in)
{
    for (uint32_t i = 0; i < in->kernel->n_args; i++)
        if (in->mems[i] && !in->mems[i]->root->shared)
            return false;
    return true;
}

/* What the evaluation is to know of the arguments; for free(). NULL: there is no memory. */
static struct gs_arg_value *values_of(const struct gs_plan_input *in)
{
    struct gs_arg_value *values = calloc(in->kernel->n_args + 1, sizeof *values);
    for (uint32_t i = 0; values && i < in->kernel->n_args; i++) {
        const struct gs_arg *a = &in->args[i];
        values[i] = (struct gs_arg_value){.bytes = a->is_mem ? NULL : a->bytes,
                                          .size = a->size,
                                          .buffer_bytes = in->mems[i] ? in->mems[i]->size : 0,
                                          .is_image = in->mems[i] && in->mems[i]->root->image};
        if (values[i].is_image)
            values[i].buffer_bytes /= in->mems[i]->root->image->band_bytes;
    }
    return values;
}

uint64_t gs_plan_row(const struct gs_plan_input *in, unsigned dim, uint64_t below)
{
    struct gs_arg_value *values = values_of(in);
    const uint64_t row = values ? gs_summary_row(in->kernel, in->launch, values, dim, below) : 0;
    free(values);
    return row;
}

int gs_plan_find_uses(struct gs_plan *plan, const struct gs_plan_input *in)
{
    const struct gs_kernel_summary *k = in->kernel;
    struct gs_arg_access *access = calloc(k->n_args + 1, sizeof *access);
    struct gs_arg_value *values = values_of(in);
    plan->uses = calloc(k->n_args + 1, sizeof *plan->uses);
    int err = access && values && plan->uses ? 0 : -ENOMEM;
    for (unsigned p = 0; p < plan->n_parts && !err; p++) {
        if (!all_in_place(in))
            err = gs_summary_eval(k, &plan->launch, &plan->box[p], values, access);
        for (uint32_t i = 0; i < k->n_args && !err; i++) {
            plan->writes_beyond |= access[i].leaves && !in->mems[i]->root->shared;
            if (in->mems[i])
                err = add_access(use_of(plan, in->mems[i], i), p, plan->n_parts == 1, in->mems[i], &k->args[i],
                                 &access[i]);
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
