/* SPDX-License-Identifier: MIT */
#include "shim/pooled/turns.h"

#include "shim/plan/plan.h"
#include "common/reasons.h"

enum { MOST_TURNS = 256, NULL_LOCAL_GRAIN = 256 };

static void free_uses(struct gs_turn_use *uses, uint32_t n)
{
    for (uint32_t i = 0; uses && i < n; i++) {
        gs_rangeset_free(&uses[i].needs);
        gs_rangeset_free(&uses[i].will_write);
    }
    free(uses);
}

void gs_turns_free(struct gs_turns *t)
{
    for (unsigned i = 0; t->v && i < t->n; i++)
        free_uses(t->v[i].uses, t->n_uses);
    free_uses(t->all, t->n_uses);
    free(t->v);
    t->v = NULL;
    t->all = NULL;
}

/* The use of a root: the same of all arguments that lead to it. */
static struct gs_turn_use *use_of(struct gs_turn *t, struct gs_mem *root)
{
    struct gs_turn_use *u = t->uses;
    while (u->root && u->root != root)
        u++;
    u->root = root;
    return u;
}

static void span(struct gs_range *window, const struct gs_rangeset *s)
{
    if (!s->n)
        return;
    const struct gs_range r = {s->v[0].begin, s->v[s->n - 1].end};
    const bool empty = window->begin == window->end;
    window->begin = empty || r.begin < window->begin ? r.begin : window->begin;
    window->end = empty || r.end > window->end ? r.end : window->end;
}

/* May the application's own kernel write to argument i? */
static bool may_write(const struct gs_turns_input *in, uint32_t i)
{
    return !in->kernel || in->kernel->args[i].may_write || in->kernel->args[i].escapes;
}

/* A use of the plan of one part that the turn is. Where atomics meet other accesses, the part works on all of it. */
static int take_use(struct gs_turn *t, struct gs_use *from)
{
    struct gs_turn_use *u = use_of(t, from->root);
    u->needs = from->needs[0];
    u->will_write = from->will_write[0];
    from->needs[0] = from->will_write[0] = (struct gs_rangeset){0};
    if (!from->clash)
        return 0;
    const int err = gs_rangeset_add(&u->needs, from->window);
    return err ? err : gs_rangeset_add(&u->will_write, from->window);
}

static int find_uses(struct gs_turn *t, const struct gs_turns_input *in)
{
    const struct gs_plan_input one = {
        .kernel = in->kernel, .launch = in->launch, .args = in->args, .mems = in->mems, .n_parts = 1};
    struct gs_plan plan = {.n_parts = 1, .box = {t->box}, .launch = *in->launch};
    int err = gs_plan_find_uses(&plan, &one);
    for (size_t i = 0; i < plan.n_uses && !err; i++)
        err = take_use(t, &plan.uses[i]);
    gs_plan_free(&plan);
    return err;
}

static int make_turn(struct gs_turn *t, const struct gs_turns_input *in, bool whole)
{
    t->uses = calloc(in->n_args + 1, sizeof *t->uses);
    int err = t->uses ? 0 : -1;
    if (!err && !whole)
        err = find_uses(t, in);
    for (uint32_t i = 0; i < in->n_args && !err; i++) {
        struct gs_mem *m = in->mems[i];
        if (!m || !(whole || in->kernel->args[i].kind == GS_ARG_CONSTANT)) /* constant memory has no shift */
            continue;
        const struct gs_range all = {m->origin, m->origin + m->size};
        struct gs_turn_use *u = use_of(t, m->root);
        err = gs_rangeset_add(&u->needs, all);
        if (!err && whole && may_write(in, i))
            err = gs_rangeset_add(&u->will_write, all);
    }
    for (struct gs_turn_use *u = t->uses; !err && u->root; u++) {
        span(&u->window, &u->needs);
        span(&u->window, &u->will_write);
        if (u->window.begin == u->window.end) /* a kernel may ask whether there is one */
            u->window = (struct gs_range){0, 1};
    }
    return err;
}

uint64_t gs_turn_bytes(const struct gs_turn *t, uint64_t *largest)
{
    uint64_t sum = 0;
    *largest = 0;
    for (const struct gs_turn_use *u = t->uses; u->root; u++) {
        const struct gs_range pages = gs_pool_pages(u->root->size, u->window);
        const uint64_t n = pages.end - pages.begin;
        sum += n;
        *largest = n > *largest ? n : *largest;
    }
    return sum;
}

static bool fits(struct gs_turns *t, struct gs_pool_space space)
{
    t->bytes = 0;
    for (unsigned i = 0; i < t->n; i++) {
        uint64_t largest;
        const uint64_t n = gs_turn_bytes(&t->v[i], &largest);
        if (n > space.all || largest > space.one)
            return false;
        t->bytes += n;
    }
    return true;
}

/* n turns along a dimension. */
static int cut(struct gs_turns *t, const struct gs_turns_input *in, unsigned dim, unsigned n, bool whole)
{
    const uint64_t groups = gs_geometry_groups(in->launch, dim);
    const uint64_t grain = in->launch->null_local && groups / NULL_LOCAL_GRAIN >= n ? NULL_LOCAL_GRAIN : 1;
    const uint64_t grains = (groups + grain - 1) / grain;
    int err = 0;
    *t = (struct gs_turns){.n = n, .dim = dim, .whole = whole, .n_uses = in->n_args};
    t->v = calloc(n, sizeof *t->v);
    for (unsigned i = 0; t->v && i < n && !err; i++) {
        struct gs_box *b = &t->v[i].box;
        *b = gs_geometry_box(in->launch);
        const uint64_t end = grains * (i + 1) / n * grain;
        b->begin[dim] = grains * i / n * grain;
        b->end[dim] = end < groups ? end : groups;
        err = make_turn(&t->v[i], in, whole);
    }
    return t->v ? err : -1;
}

/* Does a turn touch what another writes? */
static bool meet(const struct gs_turns *t)
{
    for (unsigned i = 0; i < t->n; i++)
        for (unsigned j = 0; j < t->n; j++)
            for (uint32_t u = 0; i != j && t->v[i].uses[u].root; u++)
                if (gs_rangeset_overlap(&t->v[i].uses[u].will_write, &t->v[j].uses[u].will_write) ||
                    gs_rangeset_overlap(&t->v[i].uses[u].will_write, &t->v[j].uses[u].needs))
                    return true;
    return false;
}

/* As many turns along the dimension as it takes for each to fit, `most` at most. False: no number does. */
static bool cut_to_fit(struct gs_turns *t, const struct gs_turns_input *in, unsigned dim, unsigned most, int *err)
{
    const uint64_t groups = gs_geometry_groups(in->launch, dim);
    for (uint64_t n = groups < in->devices ? groups : in->devices; n <= most && n <= groups; n *= 2) {
        *err = cut(t, in, dim, (unsigned)n, false);
        if (*err || fits(t, in->space))
            return !*err;
        gs_turns_free(t);
    }
    return false;
}

/* Why the launch can't be cut at all; NULL: it can. */
static const char *uncut(const struct gs_turns_input *in)
{
    const struct gs_kernel_summary *k = in->kernel;
    if (!k)
        return in->reason;
    if (k->refusal && !k->only_atomics)
        return k->refusal;
    if (!k->hidden || k->n_args > GS_SHIFTS)
        return GS_R_NO_WINDOWS;
    if (in->launch->null_local && k->reqd[0])
        return GS_R_LOCAL_REQUIRED;
    if (in->launch->null_local && k->uses_group)
        return GS_R_LOCAL_SIZE;
    for (uint32_t i = 0; i < k->n_args; i++) {
        if (k->args[i].kind == GS_ARG_IMAGE)
            return GS_R_WHOLE_IMAGE;
        if (k->args[i].kind == GS_ARG_OTHER || (in->mems[i] && k->args[i].escapes))
            return GS_R_ANSWER; /* the translator refuses such kernels itself */
    }
    return NULL;
}

/* Keeps one of two cuts, and frees the other. */
static void choose(struct gs_turns *best, struct gs_turns *other, bool other_is_better)
{
    gs_turns_free(other_is_better ? best : other);
    if (other_is_better)
        *best = *other;
}

/* The cut with the fewest turns, and of these the fewest bytes. */
static int find_cut(struct gs_turns *best, const struct gs_turns_input *in)
{
    int err = 0;
    for (unsigned d = 3; d-- > 0 && !err && best->n != 1;) { /* the slowest first: its ranges are contiguous */
        struct gs_turns t = {0};
        if (gs_geometry_groups(in->launch, d) < 2 && (d || best->v))
            continue;
        const bool fit = cut_to_fit(&t, in, d, best->v ? best->n : MOST_TURNS, &err);
        choose(best, &t, fit && !(best->v && t.n == best->n && t.bytes >= best->bytes));
    }
    return err;
}

/* If the devices can't hold all at once, cuts turns of an eighth of a device: some stay; unless turns share much. */
static int cut_finer(struct gs_turns *best, const struct gs_turns_input *in)
{
    const uint64_t bytes = best->bytes, groups = gs_geometry_groups(in->launch, best->dim);
    uint64_t n = best->n;
    int err = 0;
    while (bytes > in->devices * in->space.all && bytes / n > in->space.all / 8 && 2 * n <= MOST_TURNS &&
           2 * n <= groups)
        n *= 2;
    if (n == best->n)
        return 0;
    struct gs_turns t = {0};
    err = cut(&t, in, best->dim, (unsigned)n, false);
    choose(best, &t, !err && fits(&t, in->space) && t.bytes - t.bytes / 8 <= bytes);
    return err;
}

static int make(struct gs_turns *out, const struct gs_turns_input *in)
{
    struct gs_turns one = {0};
    const char *reason = uncut(in);
    int err = reason ? 0 : find_cut(out, in);
    if (!err && out->v)
        err = cut_finer(out, in);
    if (!err && out->v)
        out->serial = meet(out);
    if (err || (out->v && !out->serial))
        return err;
    /* a launch whose turns would run one after the other stays on one device, if it fits there */
    err = cut(&one, in, 0, 1, reason != NULL);
    const bool fit = !err && fits(&one, in->space);
    choose(out, &one, fit);
    if (fit || !out->v)
        out->reason = reason ? reason : fit ? GS_R_IN_TURNS : GS_R_TOO_LARGE;
    return err;
}

/* A use of a root is the same one of all turns. */
static int join(struct gs_turns *t)
{
    int err = 0;
    t->all = calloc(t->n_uses + 1, sizeof *t->all);
    if (!t->all)
        return -1;
    for (uint32_t u = 0; t->v[0].uses[u].root && !err; u++) {
        struct gs_turn_use *all = &t->all[u];
        all->root = t->v[0].uses[u].root;
        for (unsigned i = 0; i < t->n && !err; i++) {
            err = gs_rangeset_add_set(&all->needs, &t->v[i].uses[u].needs);
            if (!err)
                err = gs_rangeset_add_set(&all->will_write, &t->v[i].uses[u].will_write);
        }
        if (!err)
            err = gs_rangeset_remove_set(&all->will_write, &all->needs);
    }
    return err;
}

cl_int gs_turns_make(struct gs_turns *out, const struct gs_turns_input *in)
{
    *out = (struct gs_turns){0};
    int err = make(out, in);
    if (!err && out->v)
        err = join(out);
    if (err) {
        gs_turns_free(out);
        return CL_OUT_OF_HOST_MEMORY;
    }
    return out->v ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}
