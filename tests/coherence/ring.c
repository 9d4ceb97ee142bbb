/* SPDX-License-Identifier: MIT */
/* A command that takes a slot of a ring waits for the commands that still use the slot, also where the last of these
 * has failed before the commands in its wait list have ended; and no event of a command that has ended is kept. */
#include <stdlib.h>

#include "tests/suite.h"
#include "shim/staging/staging.h"

/* Events are numbers of these. */
enum { EVENTS = 4096 };
static struct {
    cl_int status;
    int refs;
} events[EVENTS];

static size_t number(cl_event e)
{
    return (size_t)(uintptr_t)e;
}

static cl_event made(size_t i, cl_int status)
{
    events[i].status = status;
    events[i].refs = 1;
    return (cl_event)(uintptr_t)i;
}

static cl_int CL_API_CALL release(cl_event e)
{
    events[number(e)].refs--;
    return CL_SUCCESS;
}

/* What shim/order/command.c has of a driver. */
struct _cl_icd_dispatch gs_real_table = {.clReleaseEvent = release};
_Atomic bool gs_real_ready = true;
void gs_real_load(void)
{
}

cl_int gs_event_status(cl_event e)
{
    return events[number(e)].status;
}

cl_int gs_events_add(struct gs_events *e, cl_event event)
{
    if (e->n == e->cap)
        e->v = realloc(e->v, (e->cap = 2 * e->cap + 1) * sizeof *e->v);
    e->v[e->n++] = event;
    return CL_SUCCESS;
}

cl_int gs_events_share(struct gs_events *e, cl_event event)
{
    events[number(event)].refs++;
    return gs_events_add(e, event);
}

void gs_events_free(struct gs_events *e)
{
    for (cl_uint i = 0; i < e->n; i++)
        release(e->v[i]);
    free(e->v);
    *e = (struct gs_events){0};
}

/* Memory that can be had once. */
cl_int gs_pinned_memory_make(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes, size_t most,
                             bool shown)
{
    m->base = malloc(most);
    return m->base ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int gs_pinned_memory_add(struct gs_pinned_memory *m, const struct gs_context *ctx, size_t bytes)
{
    return CL_OUT_OF_RESOURCES;
}

void gs_pinned_memory_free(struct gs_pinned_memory *m)
{
    free(m->base);
    m->base = NULL;
}

static struct gs_events take(struct gs_ring *r)
{
    struct gs_events wait = {0};
    unsigned slot;
    r->next = 0;
    assert_int_equal(gs_ring_take(r, &slot, &wait), CL_SUCCESS);
    return wait;
}

static void waits_for(struct gs_ring *r, cl_event e)
{
    struct gs_events wait = take(r);
    assert_int_equal(wait.n, e ? 1 : 0);
    assert_true(!e || wait.v[0] == e);
    gs_events_free(&wait);
}

static void a_slot_waits_for_its_users(void **state)
{
    struct gs_ring r = {.slots = GS_RING_SLOTS};
    cl_event reads = made(1, CL_RUNNING), fill = made(2, CL_QUEUED), again = made(3, CL_QUEUED);
    gs_ring_give(&r, 0, reads);
    waits_for(&r, reads);
    gs_ring_give(&r, 0, fill); /* behind `reads` */
    waits_for(&r, fill);
    events[2].status = -5; /* something else that it waited for has failed */
    waits_for(&r, reads);
    gs_ring_give(&r, 0, again);
    waits_for(&r, again);
    events[3].status = -14;
    waits_for(&r, reads);
    assert_false(gs_ring_is_idle(&r));
    events[1].status = CL_COMPLETE;
    waits_for(&r, NULL);
    assert_true(gs_ring_is_idle(&r));
    gs_ring_free(&r);
    for (size_t i = 1; i <= 3; i++)
        assert_int_equal(events[i].refs, 1);
}

static void ended_users_are_forgotten(void **state)
{
    struct gs_ring r = {.slots = GS_RING_SLOTS};
    for (size_t i = 1; i < EVENTS; i++) {
        gs_ring_give(&r, 0, made(i, CL_COMPLETE));
        assert_true(i < 4 || events[i - 3].refs == 1);
    }
    gs_ring_free(&r);
}

static void a_ring_grows_while_there_is_memory(void **state)
{
    struct gs_ring r = {.slot_bytes = 64, .most = GS_RING_SLOTS};
    struct gs_events wait = {0};
    unsigned slot;
    assert_int_equal(gs_ring_add_slots(&r, NULL, 2), CL_SUCCESS);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(gs_ring_take(&r, &slot, &wait), CL_SUCCESS);
        assert_int_equal(slot, i % 2);
        assert_ptr_equal(gs_ring_memory(&r, slot), r.memory.base + (size_t)64 * slot);
    }
    assert_int_equal(gs_ring_add_slots(&r, NULL, 4), CL_OUT_OF_RESOURCES);
    assert_true(r.slots == 2 && r.most == 2);
    /* Memory in use isn't freed. */
    void *base = r.memory.base;
    gs_ring_give(&r, 1, made(1, CL_RUNNING));
    gs_ring_free(&r);
    assert_ptr_equal(r.memory.base, base);
    free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_ring_grows_while_there_is_memory),
                                       cmocka_unit_test(a_slot_waits_for_its_users),
                                       cmocka_unit_test(ended_users_are_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
