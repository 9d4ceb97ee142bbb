/* SPDX-License-Identifier: MIT */
#include "shim/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/plan/reducible.h"

/* A NULL local size leaves the driver to choose; parts of whole multiples of this leave it a good choice. */
enum { NULL_LOCAL_GRAIN = 256 };

void gs_plan_free(struct gs_plan *plan)
{
    for (size_t u = 0; u < plan->n_uses; u++) {
        for (unsigned p = 0; p < GS_MAX_DEVICES; p++) {
            gs_rangeset_free(&plan->uses[u].needs[p]);
            gs_rangeset_free(&plan->uses[u].wrote[p]);
            gs_rangeset_free(&plan->uses[u].reduced[p]);
        }
    }
    free(plan->uses);
    plan->uses = NULL;
    plan->n_uses = 0;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number of work-groups in a dimension, the last perhaps smaller; of work-items where there is no local size. */
static uint64_t count_groups(const struct gs_geometry *g, unsigned d)
{
    return (g->global[d] + g->local[d] - 1) / g->local[d];
}

/* Where part p of n ends, in grains; each part has one at least. */
static uint64_t end_of(const struct gs_plan_input *in, unsigned dim, unsigned p, uint64_t begin, uint64_t grains)
{
    const unsigned n = in->n_parts, after = n - 1 - p;
    if (!in->cut || in->cut_dim != dim || !after)
        return grains / n * (p + 1) + min_u64(grains % n, p + 1);
    const uint64_t end = (uint64_t)(in->cut[p] * (double)grains + 0.5);
    return end <= begin ? begin + 1 : min_u64(end, grains - after);
}

/* Cuts a dimension into parts: equal ones differ by one grain at most. False where there are fewer grains than parts.
 */
static bool cut(struct gs_plan *plan, const struct gs_plan_input *in, unsigned dim)
{
    const unsigned n = in->n_parts;
    const uint64_t groups = count_groups(&plan->launch, dim);
    uint64_t grain = 1;
    if (plan->null_local)
        while (grain < NULL_LOCAL_GRAIN && groups / (grain * 2) >= (uint64_t)n * 4)
            grain *= 2;
    const uint64_t grains = (groups + grain - 1) / grain;
    if (grains < n)
        return false;
    uint64_t at = 0, end = 0;
    for (unsigned p = 0; p < n; p++) {
        end = end_of(in, dim, p, end, grains);
        const uint64_t next = min_u64(groups, end * grain);
        for (unsigned d = 0; d < 3; d++) {
            plan->box[p].begin[d] = 0;
            plan->box[p].end[d] = count_groups(&plan->launch, d);
        }
        plan->box[p].begin[dim] = at;
        plan->box[p].end[dim] = next;
        at = next;
    }
    plan->dim = dim;
    plan->n_parts = n;
    return true;
}

void gs_plan_cut(const struct gs_plan *plan, double cut[GS_MAX_DEVICES])
{
    const double groups = (double)count_groups(&plan->launch, plan->dim);
    for (unsigned p = 0; p < plan->n_parts; p++)
        cut[p] = (double)plan->box[p].end[plan->dim] / groups;
}

void gs_box_items(const struct gs_geometry *g, const struct gs_box *box, size_t offset[3], size_t global[3])
{
    for (unsigned d = 0; d < 3; d++) {
        const uint64_t begin = box->begin[d] * g->local[d];
        const uint64_t end = min_u64(box->end[d] * g->local[d], g->global[d]);
        offset[d] = g->offset[d] + begin;
        global[d] = end - begin;
    }
}

void gs_plan_part(const struct gs_plan *plan, unsigned part, size_t offset[3], size_t global[3])
{
    gs_box_items(&plan->launch, &plan->box[part], offset, global);
}

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
    const uint64_t unit = m->root->is_image ? m->root->band_bytes : 1;
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
static int add_access(struct gs_use *u, unsigned part, bool alone, const struct gs_mem *m,
                      const struct gs_arg_summary *arg, struct gs_arg_access *a)
{
    const bool known = m->is_image == m->root->is_image; /* not of an image whose texels are a buffer's */
    const struct gs_range all = {m->origin, m->origin + m->size};
    int err = 0;
    if (m->root->base) {
        if (arg->may_write)
            u->writes = GS_IN_PLACE;
        return 0;
    }
    if (arg->appended) { /* what is there before stays: the first part's place has it all */
        u->writes = GS_APPENDED;
        u->op = arg->counts ? GS_ATOMIC_ADD : GS_ATOMIC_NONE;
        u->type = arg->atomic_type;
        return part ? 0 : gs_rangeset_add(&u->needs[0], all);
    }
    if (alone && arg->atomic != GS_ATOMIC_NONE && !gs_reducible(arg)) {
        u->writes = GS_DISJOINT;
        err = gs_rangeset_add(&u->needs[part], all);
        return err ? err : gs_rangeset_add(&u->wrote[part], all);
    }
    if (arg->atomic != GS_ATOMIC_NONE && !gs_reducible(arg)) { /* of a plan on trial */
        u->contested = true;
        return 0;
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
    if (u->contested) /* whatever else is done to it */
        return 0;
    if (u->op != GS_ATOMIC_NONE && u->writes != GS_APPENDED)
        return gs_reducible_settle(u, n_parts);
    for (unsigned p = 0; p < n_parts && u->writes == GS_DISJOINT; p++)
        for (unsigned q = p + 1; q < n_parts; q++)
            if (gs_rangeset_overlap(&u->wrote[p], &u->wrote[q]))
                u->writes = GS_COMPARED;
    if (u->writes != GS_COMPARED && (u->writes != GS_APPENDED || n_parts > 1))
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

bool gs_plan_parts_meet(const struct gs_plan *plan, size_t use)
{
    return plan->uses[use].writes == GS_DISJOINT && parts_meet(&plan->uses[use], plan->n_parts);
}

/* Of a plan on trial: what the parts could see of each other is contested, as a whole. All that is left is bytes that
 * only one part touches, that nobody writes, or that are reduced. */
static int contest(struct gs_use *u, unsigned n_parts)
{
    const bool steady = u->writes == GS_READ_ONLY || u->writes == GS_IN_PLACE;
    int err = 0;
    if (!u->contested && !u->clash && (steady || u->writes == GS_REDUCED))
        return 0;
    if (!u->contested && !u->clash && u->writes == GS_DISJOINT && !parts_meet(u, n_parts))
        return 0;
    u->writes = GS_CONTESTED;
    u->contested = true;
    u->clash = false;
    for (unsigned p = 0; p < n_parts && !err; p++) {
        gs_rangeset_clear(&u->needs[p]);
        gs_rangeset_clear(&u->wrote[p]);
        gs_rangeset_clear(&u->reduced[p]);
        err = gs_rangeset_add(&u->needs[p], u->window);
    }
    return err;
}

int gs_plan_undo(const struct gs_use *u, unsigned n_parts, struct gs_rangeset *undo)
{
    int err = 0;
    if (u->writes == GS_CONTESTED)
        return gs_rangeset_add(undo, u->window);
    for (unsigned p = 0; p < n_parts && !err && u->writes == GS_REDUCED; p++)
        err = gs_rangeset_add_set(undo, &u->reduced[p]);
    for (unsigned p = 0; p < n_parts && !err; p++)
        for (size_t i = 0; i < u->needs[p].n && !err; i++)
            err = gs_rangeset_common(&u->wrote[0], u->needs[p].v[i], undo);
    return err;
}

/* Settles whether the plan is on trial, and what that takes. */
static int put_on_trial(struct gs_plan *plan)
{
    struct gs_rangeset undo = {0};
    int err = 0;
    for (size_t i = 0; i < plan->n_uses && !err; i++) {
        err = contest(&plan->uses[i], plan->n_parts);
        if (!err && plan->uses[i].writes != GS_READ_ONLY)
            err = gs_plan_undo(&plan->uses[i], plan->n_parts, &undo);
        plan->trial_bytes += gs_rangeset_bytes(&undo);
        plan->on_trial |= plan->uses[i].contested;
        gs_rangeset_clear(&undo);
    }
    gs_rangeset_free(&undo);
    return err;
}

/* Nothing will have to be moved or merged, so that it doesn't matter who reads and writes which bytes. */
static bool all_in_place(const struct gs_plan_input *in)
{
    for (uint32_t i = 0; i < in->kernel->n_args; i++)
        if (in->mems[i] && !in->mems[i]->root->base)
            return false;
    return true;
}

/* Somebody's question what an argument holds. */
struct asking {
    struct gs_plan *plan;
    const struct gs_plan_input *in;
    uint32_t arg;
};

static void want(struct gs_plan *plan, uint32_t arg, const struct gs_words *words)
{
    for (unsigned i = 0; i < plan->n_wants; i++) {
        const struct gs_want *w = &plan->wants[i];
        if (w->arg == arg && w->words.type == words->type && w->words.step == words->step &&
            w->words.begin % w->words.step == words->begin % words->step)
            return;
    }
    if (plan->n_wants < GS_MAX_WANTS)
        plan->wants[plan->n_wants++] = (struct gs_want){.arg = arg, .words = *words};
}

static bool ask(void *ctx, const struct gs_words *words, uint64_t *least, uint64_t *largest)
{
    const struct asking *a = ctx;
    if (a->in->known->bounds(a->in->mems[a->arg], words, least, largest))
        return true;
    want(a->plan, a->arg, words);
    return false;
}

/* Does no part of the launch write the object, through this argument or another? */
static bool is_steady(const struct gs_plan_input *in, uint32_t arg)
{
    const struct gs_mem *m = in->mems[arg];
    if (!m || m->is_image || m->root->is_image)
        return false;
    for (uint32_t i = 0; i < in->kernel->n_args; i++)
        if (in->mems[i] && in->mems[i]->root == m->root && in->kernel->args[i].may_write)
            return false;
    return true;
}

/* Can the launch only be split on trial? */
static bool is_trial(const struct gs_plan_input *in)
{
    return in->may_try && in->kernel->refusal && in->kernel->only_atomics;
}

/* Is it a kernel whose parts append to lists of their own? */
static bool is_appending(const struct gs_kernel_summary *k)
{
    return k->n_appends && !k->appending;
}

/* Each part has a number of its own for each counter, whether it takes some or not. */
static int add_counters(struct gs_plan *plan, const struct gs_plan_input *in)
{
    const struct gs_kernel_summary *k = in->kernel;
    int err = 0;
    for (uint32_t i = 0; i < k->n_appends && !err; i++) {
        const struct gs_append *a = &k->appends[i];
        struct gs_mem *m = in->mems[a->counter];
        struct gs_use *u = use_of(plan, m);
        const uint64_t begin = m->origin + a->counter_offset, bytes = gs_atomic_bytes(a->type);
        if (m->root->base)
            continue;
        use_of(plan, in->mems[a->list])->element = (uint64_t)a->step * a->unit;
        u->counts = true;
        u->clash |= a->counter_offset + bytes > m->size;
        plan->appends = true;
        for (unsigned p = 0; p < plan->n_parts && !err && !u->clash; p++)
            err = gs_rangeset_add(&u->reduced[p], (struct gs_range){begin, begin + bytes});
    }
    return err;
}

/* What each part of the cut does to each root. */
static int find_uses(struct gs_plan *plan, const struct gs_plan_input *in)
{
    const struct gs_kernel_summary *k = in->kernel;
    struct gs_arg_access *access = calloc(k->n_args + 1, sizeof *access);
    struct gs_arg_value *values = calloc(k->n_args + 1, sizeof *values);
    struct gs_contents *contents = calloc(k->n_args + 1, sizeof *contents);
    struct asking *asking = calloc(k->n_args + 1, sizeof *asking);
    plan->uses = calloc(k->n_args + 1, sizeof *plan->uses);
    int err = access && values && contents && asking && plan->uses ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < k->n_args && !err; i++) {
        values[i].bytes = in->args[i].is_mem || !in->args[i].has_value ? NULL : in->args[i].bytes;
        values[i].size = in->args[i].size;
        values[i].buffer_bytes = in->mems[i] ? in->mems[i]->size : 0;
        values[i].is_image = in->mems[i] && in->mems[i]->root->is_image;
        if (values[i].is_image)
            values[i].buffer_bytes /= in->mems[i]->root->band_bytes;
        asking[i] = (struct asking){plan, in, i};
        contents[i] = (struct gs_contents){ask, &asking[i]};
        values[i].contents = in->known && is_steady(in, i) ? &contents[i] : NULL;
    }
    for (unsigned p = 0; p < plan->n_parts && !err; p++) {
        if (!all_in_place(in))
            err = gs_summary_eval(k, &plan->launch, &plan->box[p], values, access);
        for (uint32_t i = 0; i < k->n_args && !err; i++) {
            plan->leaves |= access[i].leaves && !in->mems[i]->root->base;
            if (in->mems[i])
                err =
                    add_access(use_of(plan, in->mems[i]), p, plan->n_parts == 1, in->mems[i], &k->args[i], &access[i]);
        }
    }
    if (!err && is_appending(k) && plan->n_parts > 1)
        err = add_counters(plan, in);
    for (size_t u = 0; u < plan->n_uses && !err; u++)
        err = settle_use(&plan->uses[u], plan->n_parts);
    if (!err && is_trial(in))
        err = put_on_trial(plan);
    for (uint32_t i = 0; access && i < k->n_args; i++)
        gs_arg_access_free(&access[i]);
    free(access);
    free(values);
    free(contents);
    free(asking);
    return err;
}

/* What travels as one costs a piece; each of its rows, what it takes to know which bytes are valid where. */
static uint64_t cost_of_pieces(const struct gs_rangeset *s)
{
    enum { PIECE = 65536, ROW = 4096 };
    return PIECE * gs_rect_count(s, s) + ROW * s->n;
}

/* What a cut costs: bytes to bring to the parts beyond one copy of each, bytes to compare, and pieces. */
static uint64_t cost_of(const struct gs_plan *plan)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < plan->n_uses; i++) {
        const struct gs_use *u = &plan->uses[i];
        for (unsigned p = 0; p < plan->n_parts; p++) {
            cost += gs_rangeset_bytes(&u->needs[p]);
            cost += cost_of_pieces(&u->needs[p]) + cost_of_pieces(&u->wrote[p]) + cost_of_pieces(&u->reduced[p]);
            cost += 2 * gs_rangeset_bytes(&u->reduced[p]);
        }
        if (u->writes == GS_COMPARED || u->writes == GS_CONTESTED)
            cost += 4 * plan->n_parts * (u->window.end - u->window.begin);
    }
    return cost;
}

static bool is_object(enum gs_arg_kind kind)
{
    return kind == GS_ARG_GLOBAL || kind == GS_ARG_CONSTANT || kind == GS_ARG_IMAGE;
}

static bool points_somewhere(const struct gs_arg *a)
{
    for (size_t i = 0; a->has_value && i < a->size; i++)
        if (((const char *)a->bytes)[i])
            return true;
    return false;
}

/* Is there nothing to gain by cutting another dimension? Every output is owned, and in few pieces. */
static bool is_neat(const struct gs_plan *plan)
{
    for (size_t i = 0; i < plan->n_uses; i++) {
        const struct gs_use *u = &plan->uses[i];
        if (u->writes == GS_COMPARED || u->writes == GS_CONTESTED || u->writes == GS_REDUCED)
            return false;
        for (unsigned p = 0; p < plan->n_parts; p++)
            if (u->wrote[p].n > 2 || u->needs[p].n > 2)
                return false;
    }
    return true;
}

/* What forbids any split of this launch. */
static const char *refusal(const struct gs_plan_input *in)
{
    const struct gs_kernel_summary *k = in->kernel;
    if (k->refusal && !is_trial(in))
        return k->refusal;
    if (gs_translation_reorders(k, in->relaxed) && !in->may_reorder)
        return "its options or pragmas let the compiler reorder, and parts take another text, which may change bits; "
               "--allow reorder permits it";
    if (in->null_local && k->uses_group)
        return "the local size is NULL and the kernel's result may depend on it";
    for (uint32_t i = 0; i < k->n_args; i++) {
        const struct gs_arg_summary *a = &k->args[i];
        const struct gs_mem *m = in->mems[i];
        if (a->kind == GS_ARG_OTHER)
            return "it takes a pipe, a queue or an event";
        if (in->args[i].is_svm)
            return "it takes a shared virtual memory pointer";
        if (!m && (in->args[i].is_mem || (is_object(a->kind) && points_somewhere(&in->args[i]))))
            return "it takes a memory object that gpusparc doesn't know";
        if (m && (m->home_only || m->root->home_only))
            return "a memory object can't be replicated";
        if (m && m->root->is_svm && !m->root->base)
            return "a memory object lies in shared virtual memory";
        if (m && m->root->write_mappings && !m->root->base)
            return "a memory object is mapped for writing";
        if (m && is_trial(in) && a->may_write && (m->root->is_image || m->is_image))
            return "it could be split only on trial, and what it writes to an image isn't kept for that";
        if (m && is_trial(in) && m->root->base)
            return k->refusal; /* there are no copies of it that the parts could work on */
        if (m && a->escapes)
            return "the address of an argument is stored or used as a number";
        if (m && gs_arg_reorders(a) && !in->may_reorder && in->n_parts > 1)
            return "a split changes the order of its floating-point atomics, and so bits; --allow reorder permits it";
        if (m && a->atomic != GS_ATOMIC_NONE && !gs_reducible(a) && !m->root->base && in->n_parts > 1 && !is_trial(in))
            return "it uses atomics on global memory that are no reduction";
    }
    return NULL;
}

/* Do atomics meet other accesses to the same bytes, so that the parts can't be told apart in this way? */
static bool clashes(const struct gs_plan *plan)
{
    for (size_t i = 0; i < plan->n_uses; i++)
        if (plan->uses[i].clash)
            return true;
    return false;
}

/* Does no other argument lead to the object behind this one? */
static bool is_own(const struct gs_kernel_summary *k, struct gs_mem *const *mems, uint32_t arg)
{
    const struct gs_mem *m = mems[arg];
    if (!m || m->is_image || m->root->is_image)
        return false;
    for (uint32_t i = 0; i < k->n_args; i++)
        if (i != arg && mems[i] && mems[i]->root == m->root)
            return false;
    return true;
}

static bool find_place(const struct gs_append *a, struct gs_mem *const *mems, const struct gs_arg *args,
                       struct gs_append_place *out)
{
    struct gs_arg_value v[2] = {{0}};
    const uint32_t of[2] = {a->begin_arg, a->limit_arg};
    for (unsigned i = 0; i < 2; i++)
        if (of[i] != GS_NO_ARG && args[of[i]].has_value && !args[of[i]].is_mem)
            v[i] = (struct gs_arg_value){.bytes = args[of[i]].bytes, .size = args[of[i]].size};
    return gs_append_find_place(a, &v[0], &v[1], mems[a->list]->size, out);
}

bool gs_plan_find_list(const struct gs_kernel_summary *k, uint32_t i, struct gs_mem *const *mems,
                       const struct gs_arg *args, struct gs_append_place *out)
{
    const struct gs_append *a = &k->appends[i];
    uint64_t before = 0; /* where what lies before the list ends */
    if (!find_place(a, mems, args, out))
        return false;
    for (uint32_t j = 0; j < k->n_appends; j++) {
        const struct gs_append *b = &k->appends[j];
        struct gs_append_place other = {.begin = b->counter_offset, .end = b->counter_offset + sizeof(cl_uint)};
        if (b->counter == a->list) {
            if (other.begin < out->end && other.end > out->begin)
                return false;
            before = other.end <= out->begin && other.end > before ? other.end : before;
        }
        if (b->list != a->list || j == i)
            continue;
        if (!find_place(b, mems, args, &other) || (other.begin < out->end && other.end > out->begin))
            return false;
        before = other.end <= out->begin && other.end > before ? other.end : before;
    }
    const uint64_t lead = (out->begin - before) / a->unit;
    out->lead = out->lead < lead ? out->lead : lead;
    return true;
}

const struct gs_kernel_summary *gs_plan_kernel(const struct gs_kernel_summary *k, struct gs_mem *const *mems,
                                               const struct gs_arg *args)
{
    struct gs_append_place place;
    if (!k->appending)
        return k;
    for (uint32_t i = 0; i < k->n_appends; i++) {
        const struct gs_append *a = &k->appends[i];
        if (!is_own(k, mems, a->list) || !is_own(k, mems, a->counter) ||
            (mems[a->list]->root->base != NULL) != (mems[a->counter]->root->base != NULL) ||
            !gs_plan_find_list(k, i, mems, args, &place))
            return k;
    }
    return k->appending;
}

int gs_plan_make(struct gs_plan *plan, const struct gs_plan_input *in)
{
    *plan = (struct gs_plan){.launch = *in->launch, .null_local = in->null_local};
    plan->reason = refusal(in);
    if (plan->reason)
        return 0;
    struct gs_plan best = {0};
    uint64_t best_cost = UINT64_MAX;
    bool clash = false;
    int err = 0;
    /* The slowest dimension first: at equal cost it keeps ranges contiguous. */
    for (unsigned d = in->launch->dims; d-- > 0 && !err && !(best.n_parts && is_neat(&best));) {
        struct gs_plan one = {.launch = *in->launch, .null_local = in->null_local};
        if (!cut(&one, in, d))
            continue;
        err = find_uses(&one, in);
        if (!err && one.leaves) {
            gs_plan_free(&one);
            gs_plan_free(&best);
            plan->reason = "it writes behind the end of a buffer";
            return 0;
        }
        const bool clashing = !err && clashes(&one);
        const uint64_t cost = err || clashing ? UINT64_MAX : cost_of(&one);
        clash = clash || clashing;
        if (cost < best_cost) {
            gs_plan_free(&best);
            best = one;
            best_cost = cost;
        } else {
            gs_plan_free(&one);
        }
    }
    if (err) {
        gs_plan_free(&best);
        return err;
    }
    if (!best.n_parts) {
        plan->reason = clash ? "its atomics and other accesses meet in the same bytes" : GS_TOO_FEW_GROUPS;
        return 0;
    }
    if (best.trial_bytes > GS_TRIAL_MOST_BYTES) {
        plan->reason = "it could be split only on trial, and to undo that takes copies of too many bytes";
        gs_plan_free(&best);
        return 0;
    }
    for (uint32_t i = 0; i < in->kernel->n_args; i++)
        best.reorders |= in->mems[i] && gs_arg_reorders(&in->kernel->args[i]);
    best.reorders |= is_appending(in->kernel) || gs_translation_reorders(in->kernel, in->relaxed);
    for (uint32_t i = 0; i < in->kernel->n_args && i < 64 && best.n_wants; i++) {
        const uint64_t from = gs_summary_sources(in->kernel, i);
        for (unsigned w = 0; w < best.n_wants; w++)
            if (best.wants[w].arg < 64 && best.wants[w].arg != i && from >> best.wants[w].arg & 1)
                best.wants[w].serves |= (uint64_t)1 << i;
    }
    *plan = best;
    return 0;
}
