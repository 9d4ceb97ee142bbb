/* SPDX-License-Identifier: MIT */
#include "shim/memory/bytes.h"

#include <stdlib.h>

#include "common/memory.h"

__attribute__((hot)) int gs_bytes_init(struct gs_mem *root, bool defined)
{
    const struct gs_range all = {0, root->size};
    int err = gs_rangeset_add(&root->bytes->place[0].valid, all);
    if (!err && !defined)
        err = gs_rangeset_add(&root->bytes->undefined, all);
    atomic_store(&root->defined, !root->bytes->undefined.n || root->o.ctx->n == 1);
    return err;
}

void gs_arrival_drop(struct gs_arrival *a)
{
    gs_real()->clReleaseEvent(a->event);
    gs_rangeset_free(&a->brings);
}

/* Earlier transfers that brought nothing but what comes anew, behind them in the same queue: what becomes of them
 * doesn't matter any more. An application that never waits would collect them without end. */
static void forget_replaced(struct gs_replica *place, const struct gs_rangeset *by)
{
    size_t n = 0;
    for (size_t i = 0; i < place->n_arrivals; i++) {
        if (gs_rangeset_contains_set(by, &place->arrivals[i].brings))
            gs_arrival_drop(&place->arrivals[i]);
        else
            place->arrivals[n++] = place->arrivals[i];
    }
    place->n_arrivals = n;
}

/* Remembers what a transfer brings until it is known to have ended well, but not what the place has had before: that
 * stays valid whatever becomes of the transfer. Retains its event. */
static cl_int expect(struct gs_replica *place, const struct gs_rangeset *rows, cl_event event)
{
    struct gs_arrival a = {.event = event};
    cl_int err = gs_rangeset_rest(rows, &place->valid, &a.brings) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    struct gs_arrival *v = NULL;
    if (!err && a.brings.n) {
        forget_replaced(place, &a.brings);
        v = gs_grown(place->arrivals, place->n_arrivals, &place->arrivals_cap, sizeof *v);
        err = v ? gs_real()->clRetainEvent(event) : CL_OUT_OF_HOST_MEMORY;
    }
    if (v)
        place->arrivals = v;
    if (v && !err)
        place->arrivals[place->n_arrivals++] = a;
    else
        gs_rangeset_free(&a.brings);
    return err;
}

cl_int gs_arrives(struct gs_mem *root, unsigned to, const struct gs_rect *r, cl_event event)
{
    struct gs_replica *place = &root->bytes->place[to];
    struct gs_rangeset rows = {0};
    if (place->ready)
        gs_real()->clReleaseEvent(place->ready);
    place->ready = NULL;
    cl_int err = gs_real()->clRetainEvent(event);
    if (!err) {
        place->ready = event;
        err = gs_rect_add_rows(r, &rows) < 0 ? CL_OUT_OF_HOST_MEMORY : expect(place, &rows, event);
    }
    root->bytes->noted.changed = true;
    if (!err && gs_rangeset_add_set(&place->valid, &rows) < 0)
        err = CL_OUT_OF_HOST_MEMORY;
    gs_rangeset_free(&rows);
    return err;
}
