/* SPDX-License-Identifier: MIT */
/* See coherence.h, section host.c. */
#include "shim/coherence/coherence.h"
#include "shim/memory/bytes.h"

/* The state of gs_host_places and gs_host_targets. */
struct walk {
    struct gs_mem *root;
    const struct gs_op_run *t;
    struct gs_range r;
    struct gs_extents *s;
};

/* The dimension along which a transfer is cut by places, and the bytes of one step in that dimension. */
static unsigned dim_of(const struct walk *w, uint64_t *unit)
{
    const bool image = gs_op_is_of_image(&w->t->op);
    *unit = image ? w->root->image->band_bytes : 1;
    return image ? w->root->image->band_dim : 0;
}

/* The part of the transfer from byte `at` to byte `end`, which lies in a place. */
static struct gs_op_run part_of(const struct walk *w, unsigned place, uint64_t at, uint64_t end)
{
    struct gs_op_run p = {.place = place};
    const size_t *region = w->t->op.region;
    struct gs_box box = {{0, 0, 0}, {region[0], region[1], region[2]}};
    uint64_t unit;
    const unsigned dim = dim_of(w, &unit);
    box.begin[dim] = (at - w->r.begin) / unit;
    box.end[dim] = (end - w->r.begin) / unit;
    p.op = gs_op_part(&w->t->op, &box);
    const struct gs_replica *at_place = &w->root->bytes->place[place];
    *(p.op.dst ? &p.op.dst : &p.op.src) = at_place->mem;
    *(p.op.dst ? p.op.to : p.op.from) -= (size_t)at_place->range.begin;
    return p;
}

/* Adds the part, to the last extent if that lies in the same place. */
static cl_int give(struct walk *w, unsigned place, uint64_t at, uint64_t end)
{
    struct gs_extents *s = w->s;
    const struct gs_op_run p = part_of(w, place, at, end);
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
        if (end - at < band) /* undefined bytes may have any value */
            end = at + band;
        err = give(w, place, at, end);
    }
    return err;
}

/* Brings all home if there are too many extents, such as columns on several devices. */
static cl_int gather(struct walk *w, struct gs_command *cmd, struct gs_events *ready)
{
    enum { MOST_EXTENTS = 64 };
    if (w->root->image || w->s->n <= MOST_EXTENTS)
        return CL_SUCCESS;
    cl_int err = gs_require_home(cmd, w->root, w->r, ready);
    w->s->n = 0;
    return err ? err : walk(w);
}

cl_int gs_host_places(struct gs_command *cmd, struct gs_mem *root, struct gs_range r, const struct gs_op_run *t,
                      struct gs_extents *s, struct gs_events *ready)
{
    struct walk w = {.root = root, .t = t, .r = r, .s = s};
    bool used[GS_MAX_DEVICES] = {false};
    cl_int err = gs_command_order(cmd);
    gs_settle(root);
    if (!err)
        err = gs_check_spoiled(root, r);
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

/* Is byte `at` in the set? *end: no further than up to where that is so. */
static bool has(const struct gs_rangeset *s, uint64_t at, uint64_t *end)
{
    const size_t k = gs_rangeset_find(s, at);
    if (k == s->n)
        return false;
    const bool here = s->v[k].begin <= at;
    const uint64_t change = here ? s->v[k].end : s->v[k].begin;
    *end = change < *end ? change : *end;
    return here;
}

/* The one place beside home where a launch has wanted byte `at` since the last write, or has written the byte; home, if
 * no place has, or several. And up to where that is so. */
static unsigned find_wanting(const struct gs_mem *root, uint64_t at, uint64_t *end)
{
    enum { MOST_RANGES = 64 }; /* in a place: else they are small, and many to go through */
    const struct gs_bytes *b = root->bytes;
    unsigned n = 0, wanting = 0;
    for (unsigned p = 1; p < root->o.ctx->n; p++)
        if (b->place[p].mem && b->place[p].valid.n <= MOST_RANGES && has(&b->place[p].valid, at, end)) {
            wanting = p;
            n++;
        }
    return n == 1 && !(has(&b->sent, at, end) && has(&b->place[0].valid, at, end)) ? wanting : 0;
}

cl_int gs_host_targets(struct gs_mem *root, struct gs_range r, const struct gs_op_run *t, struct gs_extents *s)
{
    enum { LEAST_BYTES = 1024 * 1024, LEAST_FORCED = 4096 }; /* a piece of the ring; less where the ring is asked for */
    const uint64_t least = gs_settings()->transfer == GS_TRANSFER_PINNED ? LEAST_FORCED : LEAST_BYTES;
    struct walk w = {.root = root, .t = t, .r = r, .s = s};
    struct gs_rangeset *sent = &root->bytes->sent;
    bool away = false;
    int err = 0;
    for (uint64_t at = r.begin, end; at < r.end && !err; at = end) {
        end = r.end;
        const unsigned wanting = find_wanting(root, at, &end), place = end - at < least ? 0 : wanting;
        away = away || place;
        err = give(&w, place, at, end);
        if (!err)
            err = (place ? gs_rangeset_add : gs_rangeset_remove)(sent, (struct gs_range){at, end});
    }
    if (err || !away)
        gs_extents_free(s);
    return err ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}
