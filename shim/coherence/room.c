/* SPDX-License-Identifier: MIT */
/* See coherence.h, section room.c. */
#include "shim/coherence/coherence.h"
#include "shim/memory/bytes.h"
#include "shim/transfer/transfer.h"

/* Gives a place all bytes of a root of which it has a range: in a new object, into which the device copies what the old
 * one has. Not while a call uses the old one without the context's lock. */
static cl_int grow(struct gs_command *cmd, struct gs_mem *root, unsigned place)
{
    struct gs_replica *r = &root->bytes->place[place];
    const struct gs_place_memory old = gs_replica_at(root, place);
    struct gs_events wait = {0}, done = {0};
    if (root->bytes->carried)
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    cl_int err = gs_replica_make(root, place, (struct gs_range){0, root->size});
    if (err)
        return err;
    const struct gs_op copy = gs_op_copy(old.mem, r->mem, 0, (size_t)old.range.begin, old.range.end - old.range.begin);
    err = gs_ready_events(cmd, root, place, root, place, &wait);
    if (!err && root->bytes->split_end) /* if that fails, so does the copy, which tells of both from now on */
        err = gs_events_share(&wait, root->bytes->split_end);
    if (!err)
        err = gs_transfer_buffer(cmd, &copy, place, place, &wait, &done);
    if (!err && !gs_command_leave(root->o.ctx, *done.v))
        err = CL_OUT_OF_HOST_MEMORY;
    const struct gs_place_memory needless = err ? gs_replica_at(root, place) : old;
    if (err) {
        r->mem = old.mem;
        r->range = old.range;
    } else { /* if the copy fails its bytes are nowhere, as a split launch's */
        gs_busy_until(root, place, *done.v);
        gs_split_writes(root, *done.v);
    }
    gs_memory_used(place, -(int64_t)(needless.range.end - needless.range.begin));
    gs_real()->clReleaseMemObject(needless.mem);
    gs_events_free(&wait);
    gs_events_free(&done);
    return err;
}

cl_int gs_make_room(struct gs_command *cmd, struct gs_mem *root, const struct gs_need *w)
{
    const struct gs_place_memory has = gs_replica_at(root, w->place);
    const bool fits = !w->touched.end || (has.range.begin <= w->touched.begin && w->touched.end <= has.range.end);
    if (!has.mem)
        return gs_replica_make(root, w->place, w->touched);
    return fits ? CL_SUCCESS : grow(cmd, root, w->place);
}
