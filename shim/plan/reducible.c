/* SPDX-License-Identifier: MIT */
#include "shim/plan/reducible.h"

/* Ranges this close to each other are exchanged as one. */
enum { COALESCE_BYTES = 64 * 1024 };

bool gs_reducible(const struct gs_arg_summary *arg)
{
    return arg->atomic > GS_ATOMIC_NONE && arg->atomic < GS_ATOMIC_OTHER && !arg->atomic_mixed;
}

/* Do two arguments' atomics combine to one reduction? Sums and bits are alike whatever the sign; the lesser of two
 * isn't. */
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

int gs_reducible_add(struct gs_use *u, unsigned part, const struct gs_mem *m, const struct gs_arg_summary *arg,
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

/* Does any part but `except` plainly read or write any of these bytes? */
static bool plainly_used(const struct gs_use *u, unsigned n_parts, const struct gs_rangeset *s, unsigned except)
{
    for (unsigned p = 0; p < n_parts; p++)
        if (p != except && (gs_rangeset_overlap(&u->needs[p], s) || gs_rangeset_overlap(&u->wrote[p], s)))
            return true;
    return false;
}

/* Does each part change bytes that no other has to do with? */
static bool apart(const struct gs_use *u, unsigned n_parts)
{
    for (unsigned p = 0; p < n_parts; p++) {
        if (plainly_used(u, n_parts, &u->reduced[p], p))
            return false;
        for (unsigned q = p + 1; q < n_parts; q++)
            if (gs_rangeset_overlap(&u->reduced[p], &u->reduced[q]))
                return false;
    }
    return true;
}

/* Then they are owned, and their old values needed. */
static int own(struct gs_use *u, unsigned n_parts)
{
    int err = 0;
    for (unsigned p = 0; p < n_parts && !err; p++) {
        err = gs_rangeset_add_set(&u->wrote[p], &u->reduced[p]);
        if (!err)
            err = gs_rangeset_add_set(&u->needs[p], &u->reduced[p]);
        gs_rangeset_clear(&u->reduced[p]);
    }
    u->writes = GS_DISJOINT;
    return err;
}

/* Closes the gaps between a part's ranges where nobody uses what lies in them. */
static int coalesce(struct gs_use *u, unsigned n_parts, unsigned part)
{
    struct gs_rangeset *s = &u->reduced[part], gaps = {0};
    int err = 0;
    for (size_t i = 1; i < s->n && !err; i++) {
        struct gs_range gap = {s->v[i - 1].end, s->v[i].begin};
        const struct gs_rangeset one = {.v = &gap, .n = 1};
        if (gap.end - gap.begin <= COALESCE_BYTES && !plainly_used(u, n_parts, &one, n_parts))
            err = gs_rangeset_add(&gaps, gap);
    }
    if (!err)
        err = gs_rangeset_add_set(s, &gaps);
    gs_rangeset_free(&gaps);
    return err;
}

int gs_reducible_choose(struct gs_use *u, unsigned n_parts)
{
    int err = 0;
    for (unsigned p = 0; p < n_parts; p++)
        for (unsigned q = p + 1; q < n_parts; q++)
            if (gs_rangeset_overlap(&u->wrote[p], &u->wrote[q]))
                u->clash = true;
    if (u->writes == GS_COMPARED)
        u->clash = true;
    if (u->clash)
        return 0;
    if (apart(u, n_parts))
        return own(u, n_parts);
    for (unsigned p = 0; p < n_parts; p++)
        if (plainly_used(u, n_parts, &u->reduced[p], n_parts))
            u->clash = true;
    if (u->clash)
        return 0;
    u->writes = GS_REDUCED;
    for (unsigned p = 0; p < n_parts && !err; p++)
        err = coalesce(u, n_parts, p);
    /* The first part works on the old values; the others' copies start from what changes nothing. */
    for (unsigned p = 0; p < n_parts && !err; p++)
        err = gs_rangeset_add_set(&u->needs[0], &u->reduced[p]);
    return err;
}
