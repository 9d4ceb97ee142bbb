/* SPDX-License-Identifier: MIT */
#include "shim/memory/bytes.h"

#include "common/memory.h"

int gs_bytes_init(struct gs_mem *root, bool defined)
{
    const struct gs_range all = {0, root->size};
    int err = gs_rangeset_add(&root->bytes->place[0].valid, all);
    if (!err && !defined)
        err = gs_rangeset_add(&root->bytes->undefined, all);
    atomic_store(&root->defined, !root->bytes->undefined.n || root->o.ctx->n == 1);
    return err;
}

void gs_pending_drop(struct gs_pending *a)
{
    gs_real()->clReleaseEvent(a->event);
    gs_rangeset_free(&a->brings);
}

/* Forgets earlier transfers whose bytes all come again by one that ends later, in the same queue: an application that
 * never waits would collect such transfers without end. */
static void forget_replaced(struct gs_replica *place, struct gs_pending by)
{
    size_t n = 0;
    for (size_t i = 0; i < place->n_pending; i++) {
        if (place->pending[i].event != by.event && gs_rangeset_contains_set(&by.brings, &place->pending[i].brings))
            gs_pending_drop(&place->pending[i]);
        else
            place->pending[n++] = place->pending[i];
    }
    place->n_pending = n;
}

/* Remembers which bytes a transfer brings until its end is known, but for bytes that the place had before: these stay
 * valid even if the transfer fails. Retains the event. */
static cl_int expect(struct gs_replica *place, const struct gs_rangeset *rows, cl_event event)
{
    struct gs_pending a = {.event = event}, *last = place->n_pending ? &place->pending[place->n_pending - 1] : NULL;
    cl_int err = gs_rangeset_rest(rows, &place->valid, &a.brings) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    struct gs_pending *v = NULL;
    if (!err && last && last->event == event) { /* pieces that go together have one end, which is asked for once */
        err = gs_rangeset_add_set(&last->brings, &a.brings) < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
        forget_replaced(place, *last);
    } else if (!err && a.brings.n) {
        forget_replaced(place, a);
        v = gs_grown(place->pending, place->n_pending, &place->pending_cap, sizeof *v);
        err = v ? gs_real()->clRetainEvent(event) : CL_OUT_OF_HOST_MEMORY;
    }
    if (v)
        place->pending = v;
    if (v && !err)
        place->pending[place->n_pending++] = a;
    else
        gs_rangeset_free(&a.brings);
    return err;
}

cl_int gs_pending_add(struct gs_mem *root, unsigned to, const struct gs_rect *r, cl_event event)
{
    struct gs_replica *place = &root->bytes->place[to];
    struct gs_rangeset rows = {0};
    gs_event_replace(&place->ready, NULL);
    cl_int err = gs_real()->clRetainEvent(event);
    if (!err) {
        place->ready = event;
        err = gs_rect_add_rows(r, &rows) < 0 ? CL_OUT_OF_HOST_MEMORY : expect(place, &rows, event);
    }
    if (!err && gs_rangeset_add_set(&place->valid, &rows) < 0)
        err = CL_OUT_OF_HOST_MEMORY;
    gs_rangeset_free(&rows);
    return err;
}
