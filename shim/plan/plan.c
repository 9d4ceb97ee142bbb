/* SPDX-License-Identifier: MIT */
#include "shim/plan/plan.h"

#include "common/reasons.h"

/* A NULL local size leaves the driver to choose; parts of whole multiples of this leave it a good choice. */
enum { NULL_LOCAL_GRAIN = 256 };

void gs_plan_free(struct gs_plan *plan)
{
    for (size_t u = 0; u < plan->n_uses; u++) {
        for (unsigned p = 0; p < GS_MAX_DEVICES; p++) {
            gs_rangeset_free(&plan->uses[u].needs[p]);
            gs_rangeset_free(&plan->uses[u].will_write[p]);
            gs_rangeset_free(&plan->uses[u].owned[p]);
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

/* Where part p of n ends, in grains; each part has one at least. */
static uint64_t end_of(const struct gs_plan_input *in, unsigned dim, unsigned p, uint64_t begin, uint64_t grains)
{
    const unsigned n = in->n_parts, after = n - 1 - p;
    if (!after || !in->cut || (in->cut_dim != dim && in->cut_dim != GS_CUT_ANY))
        return grains / n * (p + 1) + min_u64(grains % n, p + 1);
    const uint64_t end = (uint64_t)(in->cut[p] * (double)grains + 0.5);
    return end <= begin ? begin + 1 : min_u64(end, grains - after);
}

/* Cuts a dimension into parts of whole grains: equal ones differ by one at most. False: fewer grains than parts. */
static bool cut(struct gs_plan *plan, const struct gs_plan_input *in, unsigned dim, uint64_t grain)
{
    const unsigned n = in->n_parts;
    const uint64_t groups = gs_geometry_groups(&plan->launch, dim);
    if (plan->launch.null_local)
        while (grain < NULL_LOCAL_GRAIN && groups / (grain * 2) >= (uint64_t)n * 4)
            grain *= 2;
    const uint64_t grains = (groups + grain - 1) / grain;
    if (grains < n)
        return false;
    uint64_t at = 0, end = 0;
    for (unsigned p = 0; p < n; p++) {
        end = end_of(in, dim, p, end, grains);
        const uint64_t next = min_u64(groups, end * grain);
        plan->box[p] = gs_geometry_box(&plan->launch);
        plan->box[p].begin[dim] = at;
        plan->box[p].end[dim] = next;
        at = next;
    }
    plan->dim = dim;
    plan->n_parts = n;
    return true;
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

/* Bytes that travel together cost a piece; each of their rows costs the book-keeping of valid bytes. */
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
            cost += cost_of_pieces(&u->needs[p]) + cost_of_pieces(&u->will_write[p]) + cost_of_pieces(&u->reduced[p]);
            cost += 2 * gs_rangeset_bytes(&u->reduced[p]);
        }
        if (u->writes == GS_COMPARED)
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
    for (size_t i = 0; a->bytes && i < a->size; i++)
        if (((const char *)a->bytes)[i])
            return true;
    return false;
}

/* Is there nothing to gain by cutting another dimension? Every output is owned, and in few pieces. */
static bool is_neat(const struct gs_plan *plan)
{
    for (size_t i = 0; i < plan->n_uses; i++) {
        const struct gs_use *u = &plan->uses[i];
        if (gs_use_is_joined(u))
            return false;
        for (unsigned p = 0; p < plan->n_parts; p++)
            if (u->will_write[p].n > 2 || u->needs[p].n > 2)
                return false;
    }
    return true;
}

/* Why a memory object of the launch, or an argument that may be one, forbids any split. */
static const char *refusal_of_object(const struct gs_plan_input *in, uint32_t i)
{
    const struct gs_arg_summary *a = &in->kernel->args[i];
    const struct gs_mem *m = in->mems[i];
    if (in->args[i].is_svm)
        return GS_R_SVM_POINTER;
    if (!m)
        return in->args[i].is_mem || (is_object(a->kind) && points_somewhere(&in->args[i])) ? GS_R_UNKNOWN_OBJECT
                                                                                            : NULL;
    if (m->home_only || m->root->home_only)
        return GS_R_NO_REPLICA;
    if (m->root->is_svm && !m->root->shared)
        return GS_R_SVM_OBJECT;
    return m->root->mappings.writes && !m->root->shared ? GS_R_MAPPED : NULL;
}

/* What forbids any split of the launch; or, where it has no arguments yet, of any. */
static const char *refusal(const struct gs_plan_input *in)
{
    const struct gs_kernel_summary *k = in->kernel;
    if (k->refusal)
        return k->refusal;
    if (k->reorders && !in->may_reorder)
        return GS_R_REORDERS;
    if (in->launch->null_local && (k->reqd[0] || k->uses_group))
        return k->reqd[0] ? GS_R_LOCAL_REQUIRED : GS_R_LOCAL_SIZE;
    for (uint32_t i = 0; i < k->n_args; i++) {
        const struct gs_arg_summary *a = &k->args[i];
        const struct gs_mem *m = in->mems ? in->mems[i] : NULL;
        const bool object = in->mems ? m != NULL : is_object(a->kind);
        const char *reason = in->mems ? refusal_of_object(in, i) : NULL;
        if (reason)
            return reason;
        if (a->kind == GS_ARG_OTHER || (object && a->escapes))
            return GS_R_ANSWER; /* it refuses such kernels itself */
        if (object && gs_arg_reorders(a) && !in->may_reorder && in->n_parts > 1)
            return GS_R_REORDERS_SUMS;
        if (m && a->atomic != GS_ATOMIC_NONE && !gs_reducible(a) && !m->root->shared && in->n_parts > 1)
            return GS_R_ANSWER;
    }
    return NULL;
}

const char *gs_plan_never(const struct gs_kernel_summary *k, bool may_reorder, bool null_local)
{
    const struct gs_geometry launch = {.null_local = null_local};
    return refusal(&(struct gs_plan_input){.kernel = k, .launch = &launch, .n_parts = 2, .may_reorder = may_reorder});
}

/* Does a part begin where the driver can't say so? */
static bool begins_too_far(const struct gs_plan *plan, uint64_t most)
{
    size_t offset[3], global[3];
    for (unsigned p = 0; most && p < plan->n_parts; p++) {
        gs_box_items(&plan->launch, &plan->box[p], offset, global);
        for (unsigned d = 0; d < 3; d++)
            if (offset[d] > most)
                return true;
    }
    return false;
}

/* What speaks against one cut, or all; if several do, the last one is reported. */
enum against { NOTHING, FEW_GROUPS, TOO_FAR, IMAGE_WRITES, RACE, CLASH, BEYOND_END };
static const char *const said[] = {
    [FEW_GROUPS] = GS_R_FEW_GROUPS,
    [TOO_FAR] = GS_R_TOO_FAR,
    [IMAGE_WRITES] = GS_R_IMAGE_WRITES,
    [RACE] = GS_R_RACE,
    [CLASH] = GS_R_CLASH,
    [BEYOND_END] = GS_R_BEYOND_END,
};

static enum against later(enum against a, enum against b)
{
    return a > b ? a : b;
}

static enum against against_uses(const struct gs_plan *plan, const struct gs_plan_input *in)
{
    enum against found = plan->writes_beyond ? BEYOND_END : NOTHING;
    for (size_t i = 0; i < plan->n_uses; i++) {
        const struct gs_use *u = &plan->uses[i];
        /* To tell the parts' texels apart takes copies of all the image: 2 GiB in 13.6 s took two H100s 23.4. */
        if (u->writes == GS_COMPARED && u->root->image)
            found = later(found, IMAGE_WRITES);
        /* On one device later work-groups see what earlier ones wrote; a part sees bytes from before the launch. */
        if (!in->may_race && in->n_parts > 1 && gs_plan_parts_overlap(plan, i))
            found = later(found, RACE);
        if (u->clash)
            found = later(found, CLASH);
    }
    return found;
}

struct best {
    struct gs_plan plan; /* n_parts 0: there is none */
    uint64_t cost;
    enum against worst;
};

static int try_cut(struct best *best, const struct gs_plan_input *in, unsigned dim, uint64_t grain)
{
    struct gs_plan one = {.launch = *in->launch};
    int err = 0;
    if (!cut(&one, in, dim, grain))
        return 0;
    enum against found = begins_too_far(&one, in->most_offset) ? TOO_FAR : NOTHING;
    if (!found && (err = gs_plan_find_uses(&one, in)) == 0)
        found = against_uses(&one, in);
    best->worst = later(best->worst, found);
    const uint64_t cost = err || found ? UINT64_MAX : cost_of(&one);
    if (cost < best->cost) {
        gs_plan_free(&best->plan);
        best->plan = one;
        best->cost = cost;
    } else {
        gs_plan_free(&one);
    }
    return err;
}

static bool is_found(const struct best *best)
{
    return best->plan.n_parts && is_neat(&best->plan);
}

/* If a dimension counts a picture's rows as well (y = id / width), a part that ends within a row may touch the rest of
 * that row, for all that is known, and the next part may write there. So parts of whole rows are tried too; in a
 * lattice, of planes first; and of any number that the kernel divides or masks its ids by. (A picture of 25 MB written
 * from the bottom up: two H200s took 0.4 ms to compare and merge it in each launch of 0.6.) */
static int try_rows(struct best *best, const struct gs_plan_input *in, unsigned dim)
{
    enum { MOST = 3 };
    const uint64_t local = in->launch->local[dim];
    uint64_t row = in->launch->global[dim], last = 0;
    int err = 0;
    for (unsigned i = 0; i < MOST && !err && !is_found(best) && (row = gs_plan_row(in, dim, row)) > 1; i++) {
        uint64_t rows = 1;
        while (rows * row % local)
            rows++;
        const uint64_t grain = rows * row / local;
        if (grain == 1) /* work-groups are whole rows: that has been tried */
            break;
        if (grain != last)
            err = try_cut(best, in, dim, grain);
        last = grain;
    }
    return err;
}

int gs_plan_make(struct gs_plan *plan, const struct gs_plan_input *in)
{
    *plan = (struct gs_plan){.launch = *in->launch, .reason = refusal(in)};
    if (plan->reason)
        return 0;
    struct best best = {.cost = UINT64_MAX, .worst = FEW_GROUPS};
    int err = 0;
    /* The slowest dimension first: at equal cost it keeps ranges contiguous. */
    for (unsigned d = in->launch->dims; d-- > 0 && !err && !is_found(&best);) {
        err = try_cut(&best, in, d, 1);
        if (!err)
            err = try_rows(&best, in, d);
    }
    if (err || !best.plan.n_parts || best.worst == BEYOND_END) {
        gs_plan_free(&best.plan);
        plan->reason = said[best.worst];
        return err;
    }
    for (uint32_t i = 0; i < in->kernel->n_args; i++)
        best.plan.reorders |= in->mems[i] && gs_arg_reorders(&in->kernel->args[i]);
    best.plan.reorders |= in->kernel->reorders;
    *plan = best.plan;
    for (size_t u = 0; u < plan->n_uses && !err; u++)
        err = gs_plan_own(&plan->uses[u], plan->n_parts, in->exact);
    if (err)
        gs_plan_free(plan);
    return err;
}
