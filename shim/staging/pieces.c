/* SPDX-License-Identifier: MIT */
#include "shim/staging/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/put/put.h"

struct gs_staged gs_staged_run(cl_mem mem, unsigned place, bool write, uint64_t offset, uint64_t bytes, void *ptr)
{
    return (struct gs_staged){.mem = mem,
                              .place = place,
                              .write = write,
                              .element = 1,
                              .origin = {offset},
                              .region = {bytes, 1, 1},
                              .host = {.at = ptr}};
}

uint64_t gs_staged_bytes(const struct gs_staged *t)
{
    return (uint64_t)t->region[0] * t->region[1] * t->region[2] * t->element;
}

struct gs_op gs_staged_op(const struct gs_staged *t, char *slot)
{
    struct gs_op op = {.src = t->write ? NULL : t->mem, .dst = t->write ? t->mem : NULL, .ptr = slot};
    size_t *there = t->write ? op.to : op.from, *pitch = t->write ? op.to_pitch : op.from_pitch;
    size_t *here_pitch = t->write ? op.from_pitch : op.to_pitch;
    const bool rows = t->region[1] * t->region[2] > 1;
    memcpy(there, t->origin, sizeof op.to);
    memcpy(op.region, t->region, sizeof op.region);
    if (!slot) {
        op.ptr = t->host.at;
        here_pitch[0] = t->host.row;
        here_pitch[1] = t->region[2] > 1 ? t->host.slice : 0;
    }
    if (t->image) {
        op.kind = t->write ? GS_OP_WRITE_IMAGE : GS_OP_READ_IMAGE;
    } else if (rows) {
        op.kind = t->write ? GS_OP_WRITE_RECT : GS_OP_READ_RECT;
        pitch[0] = t->row_pitch;
        pitch[1] = t->slice_pitch;
    } else {
        op.kind = t->write ? GS_OP_WRITE : GS_OP_READ;
        there[0] += t->origin[1] * t->row_pitch + t->origin[2] * t->slice_pitch;
    }
    return op;
}

cl_int gs_staged_enqueue(const struct gs_staged *t, cl_command_queue queue, char *slot, cl_uint n_wait,
                         const cl_event *wait, cl_event *event)
{
    const struct gs_op op = gs_staged_op(t, slot);
    return gs_put(queue, &op, GS_VIA_HOST, n_wait, wait, event);
}

/* ---- pieces of one ---- */

static struct gs_cut_transfer cut(const struct gs_staged *t, size_t bytes)
{
    const struct gs_box all = {{0, 0, 0}, {t->region[0], t->region[1], t->region[2]}};
    struct gs_cut_transfer c = {.t = t};
    gs_cut_make(&c.cut, &all, bytes > t->element ? bytes / t->element : 1, false); /* chunks may be set to less */
    return c;
}

/* Piece i of it, as a transfer. */
static struct gs_staged piece_of(const struct gs_cut_transfer *c, unsigned i)
{
    struct gs_staged p = *c->t;
    struct gs_box box;
    gs_cut_box(&c->cut, i, &box);
    for (int d = 0; d < 3; d++) {
        p.origin[d] += (size_t)box.begin[d];
        p.region[d] = (size_t)(box.end[d] - box.begin[d]);
    }
    p.host.at += box.begin[0] * p.element + box.begin[1] * p.host.row + box.begin[2] * p.host.slice;
    return p;
}

/* ---- turns ---- */

static struct gs_lane *lane_of(struct gs_turns *turns, unsigned place, unsigned first)
{
    for (unsigned i = 0; i < turns->lanes; i++)
        if (turns->lane[i].place == place)
            return &turns->lane[i];
    turns->lane[turns->lanes] = (struct gs_lane){.place = place, .at = first};
    return &turns->lane[turns->lanes++];
}

int gs_turns_begin(struct gs_turns *turns, const struct gs_staged *v, unsigned n, size_t most, size_t least,
                   unsigned many)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < n; i++)
        all += gs_staged_bytes(&v[i]);
    const size_t share = (size_t)(all / many), bytes = gs_least(share > least ? share : least, most);
    *turns = (struct gs_turns){.n = n, .v = malloc(n * sizeof *turns->v)};
    if (!turns->v)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++) {
        struct gs_cut_transfer *c = &turns->v[i];
        *c = cut(&v[i], bytes);
        lane_of(turns, v[i].place, i)->pieces += c->cut.n;
        turns->pieces += c->cut.n;
        const struct gs_staged first = piece_of(c, 0);
        const size_t piece = (size_t)gs_staged_bytes(&first);
        turns->most_bytes = piece > turns->most_bytes ? piece : turns->most_bytes;
    }
    return 0;
}

void gs_turns_end(struct gs_turns *turns)
{
    free(turns->v);
    turns->v = NULL;
}

/* The one of which the smallest share has gone. */
static struct gs_lane *next_lane(struct gs_turns *turns)
{
    struct gs_lane *next = &turns->lane[0];
    for (unsigned i = 1; i < turns->lanes; i++)
        if (turns->lane[i].gone * next->pieces < next->gone * turns->lane[i].pieces)
            next = &turns->lane[i];
    return next;
}

struct gs_piece gs_turns_take(struct gs_turns *turns)
{
    struct gs_lane *lane = next_lane(turns);
    while (turns->v[lane->at].t->place != lane->place || turns->v[lane->at].gone == turns->v[lane->at].cut.n)
        lane->at++;
    struct gs_cut_transfer *c = &turns->v[lane->at];
    struct gs_piece piece = {.t = piece_of(c, c->gone++), .fresh = c->fresh, .first = !lane->gone};
    piece.last = ++lane->gone == lane->pieces;
    return piece;
}
