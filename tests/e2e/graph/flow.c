/* SPDX-License-Identifier: MIT */
/* What a transfer takes along of bytes that a kernel of the same command writes meanwhile (coherence.md: where ranges
 * are owned, what is fetched from under a writer is not valid afterwards, and was not needed) may be anything. So it is
 * made anything: where it lies once the kernel has run, it is spoiled. Whoever uses it computes something else then. */
#include "graph.h"

#include <stdlib.h>

struct flow {
    unsigned id, call;
    bool done, made; /* made: by a kernel, from nothing that is known */
    struct graph_bytes from, to;
};

struct range {
    unsigned object;
    uint64_t begin, end;
};

struct set {
    struct range *v;
    size_t n, cap;
};

static struct flow *flows;
static size_t n_flows, cap_flows;
static struct set changed; /* by the launch that is looked at */

static void *room(void *v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    *cap = *cap ? 2 * *cap : 64;
    if (!(v = realloc(v, *cap * size)))
        abort();
    return v;
}

static void put(struct set *s, struct range r)
{
    if (r.begin >= r.end)
        return;
    s->v = room(s->v, s->n, &s->cap, sizeof *s->v);
    s->v[s->n++] = r;
}

static void take_off(struct set *s, struct range r)
{
    for (size_t i = 0, n = s->n; i < n; i++) {
        const struct range v = s->v[i];
        if (v.object != r.object || v.begin >= r.end || r.begin >= v.end)
            continue;
        s->v[i].end = v.begin < r.begin ? r.begin : v.begin; /* may be empty */
        put(s, (struct range){v.object, r.end, v.end});
    }
}

static struct range row_of(const struct graph_bytes *b, uint64_t i)
{
    const uint64_t begin = b->begin + i % b->rows * b->pitch + i / b->rows * b->slice_pitch;
    return (struct range){b->object, begin, begin + b->length};
}

static uint64_t rows_of(const struct graph_bytes *b)
{
    return b->rows * b->slices;
}

/* Bytes x to y of what is moved, at its destination. */
static void put_moved(struct set *to, const struct graph_bytes *b, uint64_t x, uint64_t y)
{
    for (uint64_t i = x / b->length; i < rows_of(b) && i * b->length < y; i++) {
        const struct range row = row_of(b, i);
        const uint64_t begin = x > i * b->length ? x - i * b->length : 0, end = y - i * b->length;
        put(to, (struct range){b->object, row.begin + begin, row.begin + (end < b->length ? end : b->length)});
    }
}

/* What the flow brings of `s`. */
static void put_flow(struct set *to, const struct flow *f, const struct set *s)
{
    const struct graph_bytes *b = &f->from;
    for (uint64_t i = 0; !f->made && i < rows_of(b); i++) {
        const struct range row = row_of(b, i);
        for (size_t k = 0; k < s->n; k++) {
            const struct range r = s->v[k];
            if (r.object != b->object || r.begin >= row.end || row.begin >= r.end)
                continue;
            const uint64_t begin = r.begin > row.begin ? r.begin : row.begin, end = r.end < row.end ? r.end : row.end;
            put_moved(to, &f->to, i * b->length + begin - row.begin, i * b->length + end - row.begin);
        }
    }
}

static void take_off_flow(struct set *s, const struct flow *f)
{
    for (uint64_t i = 0; s->n && i < rows_of(&f->to); i++)
        take_off(s, row_of(&f->to, i));
}

/* Where that lies now; false: some of what moves it is yet to come. */
static bool follow(struct set *s, const struct flow *f)
{
    bool done = true;
    for (; f < flows + n_flows; f++) {
        struct set moved = {0};
        put_flow(&moved, f, s);
        done = done && (f->done || !moved.n);
        take_off_flow(s, f);
        for (size_t i = 0; i < moved.n; i++)
            put(s, moved.v[i]);
        free(moved.v);
    }
    return done;
}

static bool spoil(struct range r, unsigned id, cl_command_queue queue)
{
    const unsigned char other = (unsigned char)(0x5b + id);
    cl_event end;
    cl_mem mem = graph_buffer_of(r.object);
    if (!mem || graph_below.clEnqueueFillBuffer(queue, mem, &other, 1, r.begin, r.end - r.begin, 0, NULL, &end))
        return false;
    graph_below.clWaitForEvents(1, &end);
    graph_below.clReleaseEvent(end);
    return true;
}

/* What the flow has taken from under the launch. The host's memory is left: the rings' slots. */
static void spoil_flow(const struct flow *f, unsigned id, cl_command_queue queue)
{
    struct set s = {0};
    put_flow(&s, f, &changed);
    bool all = s.n && f->done && follow(&s, f + 1);
    for (size_t i = 0; i < s.n && all; i++)
        all = !s.v[i].object || graph_is_gone(s.v[i].object) || s.v[i].begin == s.v[i].end || spoil(s.v[i], id, queue);
    if (all)
        graph_say("g %u %u\n", f->id, id);
    free(s.v);
}

void graph_moved(unsigned id, unsigned call, bool done, const struct graph_bytes *from, const struct graph_bytes *to)
{
    if (!from->length || !to->length)
        return;
    flows = room(flows, n_flows, &cap_flows, sizeof *flows);
    flows[n_flows++] = (struct flow){id, call, done, false, *from, *to};
}

void graph_changed(unsigned object, uint64_t begin, uint64_t length)
{
    put(&changed, (struct range){object, begin, begin + length});
}

void graph_launched(unsigned id, unsigned call, bool own, cl_command_queue queue)
{
    bool *reached = calloc(graph_count(), sizeof *reached);
    if (!reached)
        abort();
    if (own && changed.n)
        graph_reach(id, reached);
    for (size_t i = 0; i < n_flows && own && changed.n; i++) {
        const struct flow *f = &flows[i];
        if (!f->made && !reached[f->id] && !graph_seen(f->id) && f->call &&
            (f->call == call || graph_is_refused(f->call)))
            spoil_flow(f, id, queue);
    }
    for (size_t i = 0; i < changed.n; i++) {
        const struct range *r = &changed.v[i];
        const struct graph_bytes to = {'w', r->object, r->begin, r->end - r->begin, 0, 1, 0, 1};
        flows = room(flows, n_flows, &cap_flows, sizeof *flows);
        flows[n_flows++] = (struct flow){id, call, true, true, to, to};
    }
    changed.n = 0;
    free(reached);
}
