/* SPDX-License-Identifier: MIT */
#include "shim/coherence/host.h"

#include "shim/memory/bytes.h"
#include "shim/coherence/coherence.h"
#include "shim/put/op.h"

/* What is worth being written to another place than the rest is a piece of the ring; less where the ring is asked for.
 */
enum { LEAST_BYTES = 1024 * 1024, LEAST_FORCED = 4096 };

/* A walk over the bytes of a root by those who hold them. */
struct walk {
    struct gs_mem *root;
    const struct gs_staged *t;
    struct gs_range r;
    struct gs_extents *s;
};

/* The dimension in which a transfer lies on several places, and the bytes of a step there. */
static unsigned dim_of(const struct walk *w, uint64_t *unit)
{
    const bool image = gs_op_is_of_image(&w->t->op);
    *unit = image ? w->root->image->band_bytes : 1;
    return image ? w->root->image->band_dim : 0;
}

/* The part of the transfer from `at` to `end`, on a place. */
static struct gs_staged part_of(const struct walk *w, unsigned place, uint64_t at, uint64_t end)
{
    struct gs_staged p = {.place = place, .element = w->t->element};
    const size_t *region = w->t->op.region;
    struct gs_box box = {{0, 0, 0}, {region[0], region[1], region[2]}};
    uint64_t unit;
    const unsigned dim = dim_of(w, &unit);
    box.begin[dim] = (at - w->r.begin) / unit;
    box.end[dim] = (end - w->r.begin) / unit;
    p.op = gs_op_part(&w->t->op, &box);
    *(p.op.dst ? &p.op.dst : &p.op.src) = w->root->bytes->place[place].mem;
    return p;
}

/* Goes on with the stretch before where it can. */
static cl_int give(struct walk *w, unsigned place, uint64_t at, uint64_t end)
{
    struct gs_extents *s = w->s;
    const struct gs_staged p = part_of(w, place, at, end);
    uint64_t unit;
    const unsigned dim = dim_of(w, &unit);
    if (s->n && s->v[s->n - 1].place == place) {
        s->v[s->n - 1].op.region[dim] += p.op.region[dim];
        return CL_SUCCESS;
    }
    return gs_extents_add(s, &p);
}

static cl_int walk(struct walk *w)
{
    cl_int err = CL_SUCCESS;
    for (uint64_t at = w->r.begin, end; at < w->r.end && !err; at = end) {
        const unsigned place = gs_holder(w->root, (struct gs_range){at, w->r.end}, &end);
        const uint64_t band = w->root->image ? w->root->image->band_bytes : 0;
        if (end - at < band) /* what nobody has written may be anything */
            end = at + band;
        err = give(w, place, at, end);
    }
    return err;
}

/* Many stretches, such as columns on several devices, are brought home first. */
static cl_int gather(struct walk *w, struct gs_command *cmd, struct gs_events *ready)
{
    enum { MOST_STRETCHES = 64 };
    if (w->root->image || w->s->n <= MOST_STRETCHES)
        return CL_SUCCESS;
    cl_int err = gs_require_range(cmd, w->root, 0, w->r, ready);
    w->s->n = 0;
    return err ? err : walk(w);
}

cl_int gs_host_places(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, const struct gs_staged *t,
                      struct gs_extents *s, struct gs_events *ready)
{
    struct walk w = {.root = root, .t = t, .r = r, .s = s};
    bool used[GS_MAX_DEVICES] = {false};
    cl_int err = gs_command_order(cmd);
    gs_drop_failed(root);
    if (!err)
        err = gs_check_written(root, r);
    if (!err)
        err = walk(&w);
    if (!err)
        err = gather(&w, cmd, ready);
    for (unsigned i = 0; i < s->n && !err; i++)
        used[s->v[i].place] = true;
    if (!err)
        err = gs_events_share_all(ready, &cmd->before);
    for (unsigned i = 0; i < cmd->ctx->n && !err; i++)
        if (used[i] && root->bytes->place[i].ready)
            err = gs_events_share(ready, root->bytes->place[i].ready);
    return err;
}

/* The one place by which byte `at` has been wanted; home, if there are others, or none. And up to where that is so. */
static unsigned find_wanting(const struct gs_mem *root, uint64_t at, uint64_t *end)
{
    unsigned n = 0, place = 0;
    for (unsigned p = 0; p < root->o.ctx->n; p++) {
        const struct gs_rangeset *w = &root->bytes->place[p].wanted;
        const size_t k = gs_rangeset_find(w, at);
        if (k == w->n || !root->bytes->place[p].mem)
            continue;
        const bool here = w->v[k].begin <= at;
        const uint64_t change = here ? w->v[k].end : w->v[k].begin;
        place = here ? p : place;
        n += here;
        *end = change < *end ? change : *end;
    }
    return n == 1 ? place : 0;
}

cl_int gs_host_targets(struct gs_mem *root, struct gs_range r, const struct gs_staged *t, struct gs_extents *s)
{
    const uint64_t least = gs_settings()->transfer == GS_TRANSFER_PINNED ? LEAST_FORCED : LEAST_BYTES;
    struct walk w = {.root = root, .t = t, .r = r, .s = s};
    bool away = false;
    cl_int err = CL_SUCCESS;
    for (uint64_t at = r.begin, end; at < r.end && !err; at = end) {
        end = r.end;
        const unsigned wanting = find_wanting(root, at, &end), place = end - at < least ? 0 : wanting;
        away = away || place;
        err = give(&w, place, at, end);
    }
    for (unsigned p = 0; p < root->o.ctx->n; p++)
        gs_rangeset_remove(&root->bytes->place[p].wanted, r);
    if (err || !away)
        gs_extents_free(s);
    return err;
}
