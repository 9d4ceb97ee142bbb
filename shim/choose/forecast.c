/* SPDX-License-Identifier: MIT */
/* The bytes that a launch would move, on one device and in parts (shim/choose/timing.h). */
#include <math.h>

#include "shim/choose/timing_book.h"
#include "shim/coherence/coherence.h"
#include "shim/transfer/pack.h"

/* Adds bytes of a root in so many rectangles, for one place. */
static void add_move(struct gs_move *m, uint64_t bytes, uint64_t rects)
{
    m->bytes += bytes;
    m->pieces += rects;
    m->packs += gs_pack_count(bytes, rects);
}

/* Adds what `count`, gs_count_invalid or gs_count_prefetched, finds of `want` in a place. */
static int add_counted(struct gs_move *m,
                       int (*count)(const struct gs_mem *, unsigned, const struct gs_rangeset *, uint64_t *,
                                    uint64_t *),
                       const struct gs_mem *root, unsigned place, const struct gs_rangeset *want)
{
    uint64_t bytes = 0, rects = 0;
    const int err = count(root, place, want, &bytes, &rects);
    add_move(m, bytes, rects);
    return err;
}

/* Adds bytes that a part needs, and bytes that the part would leave away from home. */
static int add_part(struct gs_trial *t, const struct gs_use *u, unsigned part)
{
    struct gs_forecast *o = &t->forecast;
    const struct gs_amount *needed = &u->needed_amount[part], *owned = &u->owned_amount[part];
    struct gs_move already = {0};
    add_move(&t->all, needed->bytes, needed->rects);
    add_move(&t->all, owned->bytes, owned->rects);
    int err = add_counted(&o->scatter, gs_count_invalid, u->root, part, &u->needs[part]);
    if (!err) /* what was brought ahead for this launch is to be brought again for the next */
        err = add_counted(&o->scatter, gs_count_prefetched, u->root, part, &u->needs[part]);
    if (err || !part || u->root->shared)
        return err;
    err = add_counted(&already, gs_count_invalid, u->root, 0, &u->owned[part]);
    if (owned->bytes > already.bytes)
        add_move(&o->leave, owned->bytes - already.bytes,
                 owned->rects > already.pieces ? owned->rects - already.pieces : 1);
    return err;
}

/* Of bytes brought once, the share that other kernels pay: 1 - 1/n, n kernels having used the root since this kernel's
 * launch before. Notes the kernel with the root, in turn in place of one of the others. */
static double shared_in_turn(struct gs_traffic *traffic, const struct gs_timing *t)
{
    const struct gs_timing **k = traffic->kernel;
    unsigned own = 0, in_turn = 1;
    GS_LOCKED(&gs_book.lock);
    while (own < GS_TRAFFIC_KERNELS && !(k[own] && k[own]->at->kernel == t->at->kernel))
        own++;
    k[own < GS_TRAFFIC_KERNELS ? own : traffic->kernels++ % GS_TRAFFIC_KERNELS] = t;
    for (unsigned i = 0; i < GS_TRAFFIC_KERNELS && t->before_ns; i++)
        in_turn += k[i] && k[i] != t && k[i]->last_ns > t->before_ns;
    return 1 - 1.0 / in_turn;
}

/* Work-groups of a part. With a NULL local size, about as many as the driver will make. */
static uint64_t groups_of(const struct gs_plan *plan, unsigned part)
{
    enum { ITEMS = 64 };
    const uint64_t n = gs_box_groups(&plan->box[part]);
    return plan->launch.null_local ? n / ITEMS : n;
}

static uint64_t groups_of_all(const struct gs_plan *plan)
{
    uint64_t n = 0;
    for (unsigned p = 0; p < plan->n_parts; p++)
        n += groups_of(plan, p);
    return n;
}

/* Can the part fill a device? It needs work-groups for all compute units, and on a GPU so many work-items on each that
 * some compute while others wait for memory. (H200: 65536 columns, 500 a unit, took 1.39 ms, half of them 1.2.) */
static bool is_ample(const struct gs_plan *plan, unsigned part)
{
    enum { ITEMS_PER_UNIT = 256 };
    const uint64_t units = gs_group()->units[part];
    size_t offset[3], global[3];
    gs_box_items(&plan->launch, &plan->box[part], offset, global);
    return groups_of(plan, part) >= units && (!(gs_group()->type & CL_DEVICE_TYPE_GPU) ||
                                              (uint64_t)global[0] * global[1] * global[2] >= units * ITEMS_PER_UNIT);
}

/* Work-groups, counted as at least one for each compute unit: a device takes as long for fewer work-groups. (On an H200
 * a filter of 6889 columns, 27 work-groups, took 6.5 ms, and each half of them 6.4.) */
static double filled(uint64_t groups, unsigned place)
{
    return groups > gs_group()->units[place] ? (double)groups : gs_group()->units[place];
}

void gs_forecast_cut(const struct gs_plan *plan, double cut[GS_MAX_DEVICES])
{
    const double groups = (double)gs_geometry_groups(&plan->launch, plan->dim);
    for (unsigned p = 0; p < plan->n_parts; p++)
        cut[p] = (double)plan->box[p].end[plan->dim] / groups;
}

void gs_forecast_shares(const struct gs_plan *plan, double share[GS_MAX_DEVICES])
{
    const uint64_t groups = groups_of_all(plan);
    for (unsigned p = 0; p < plan->n_parts; p++) {
        const uint64_t own = groups_of(plan, p);
        share[p] = sqrt((double)own * filled(own, p)) / (double)groups;
    }
}

/* speed[p]: each device's speed for this kernel, the first one's being 1. False: unknown. */
static bool find_speed(const struct gs_timing *t, unsigned n, double speed[GS_MAX_DEVICES])
{
    GS_LOCKED(&gs_book.lock);
    const bool cut = t->h.balance.n == n, unlike = gs_group()->unlike;
    for (unsigned p = 0; p < n; p++)
        speed[p] = unlike && cut ? gs_balance_speed(&t->h.balance, p) : 1;
    return cut || !unlike;
}

int gs_forecast(struct gs_trial *t, struct gs_timing *of, const struct gs_plan *plan)
{
    struct gs_forecast *o = &t->forecast;
    double cut[GS_MAX_DEVICES], speed[GS_MAX_DEVICES];
    uint64_t left = 0, fetched = 0;
    double shared = 0;
    const uint64_t groups = groups_of_all(plan);
    int err = 0;
    *o = (struct gs_forecast){.n = plan->n_parts, .link = o->link, .peer_possible = o->peer_possible};
    t->all = (struct gs_move){0};
    const bool known = find_speed(of, o->n, speed);
    gs_forecast_cut(plan, cut);
    o->ample = true;
    for (unsigned p = 0; p < plan->n_parts; p++) {
        const double filling = filled(groups_of(plan, p), p) / filled(groups, 0) / speed[p];
        const double share = gs_cut_width(cut, p) / speed[p];
        o->ample = o->ample && is_ample(plan, p);
        o->largest = fmax(o->largest, fmax(share, filling));
    }
    if (!known) /* a small part is to show the speeds; until then devices count as alike */
        o->largest = 1.0 / o->n;
    for (size_t i = 0; i < plan->n_uses && !err; i++) {
        struct gs_use *u = &plan->uses[i];
        const uint64_t before = o->scatter.bytes + o->leave.bytes;
        err = add_counted(&o->gather, gs_count_invalid, u->root, 0, &GS_ONE_RANGE(u->window));
        for (unsigned p = 0; p < plan->n_parts && !err; p++)
            err = add_part(t, u, p);
        shared += shared_in_turn(gs_traffic(u->root), of) * (double)(o->scatter.bytes + o->leave.bytes - before);
        for (unsigned p = 0; p < plan->n_parts && u->writes == GS_COMPARED; p++)
            add_move(&o->merge, u->window.end - u->window.begin, 1);
        for (unsigned p = 1; p < plan->n_parts && u->reduced[p].n; p++) /* range by range */
            for (size_t r = 0; r < u->reduced[p].n; r++)
                add_move(&o->merge, u->reduced[p].v[r].end - u->reduced[p].v[r].begin, 1);
        if (u->writes != GS_READ_ONLY) {
            left += gs_traffic(u->root)->left;
            fetched += gs_traffic(u->root)->fetched;
        }
    }
    o->shared = shared > 0 ? shared / (double)(o->scatter.bytes + o->leave.bytes) : 0;
    t->return_rate = !left ? -1 : fetched >= left ? 1 : (double)fetched / (double)left;
    return err;
}

uint64_t gs_forecast_reads(const struct gs_mem *m)
{
    const struct gs_traffic *traffic = gs_traffic(m->root);
    const double rate = traffic->taken && traffic->made ? (double)traffic->taken / (double)traffic->made : 0;
    return rate < 1 ? (uint64_t)(rate * (double)m->size) : m->size;
}

bool gs_forecast_gathers(struct gs_mem *const *mems, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (mems[i] && gs_home_is_invalid(mems[i]->root, gs_window_range(mems[i], 0, mems[i]->size)))
            return true;
    return false;
}
