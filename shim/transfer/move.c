/* SPDX-License-Identifier: MIT */
#include "shim/transfer/move.h"

#include "shim/memory/image.h"

static enum gs_op_kind kind_of(const struct gs_location *from, const struct gs_location *to, const struct gs_rect *r)
{
    const bool image = from->image || to->image, rows = r->rows > 1;
    if (from->mem && to->mem)
        return image ? GS_OP_COPY_IMAGE : rows ? GS_OP_COPY_RECT : GS_OP_COPY;
    if (from->mem)
        return image ? GS_OP_READ_IMAGE : rows ? GS_OP_READ_RECT : GS_OP_READ;
    return image ? GS_OP_WRITE_IMAGE : rows ? GS_OP_WRITE_RECT : GS_OP_WRITE;
}

/* As the driver takes it. */
static void set_place(const struct gs_location *l, const struct gs_rect *r, struct gs_op *op, size_t origin[3],
                      size_t pitch[2])
{
    if (l->image) {
        gs_image_box(l->image, (struct gs_range){l->at, l->at + gs_rect_bytes(r)}, origin, op->region);
        return;
    }
    origin[0] = (size_t)l->at;
    if (r->rows == 1)
        return;
    /* Packed rows needn't begin at a multiple of their width. */
    const uint64_t line = l->pitch == r->width ? 0 : l->at / l->pitch;
    origin[0] = (size_t)(l->at - line * l->pitch);
    origin[1] = (size_t)line;
    pitch[0] = (size_t)l->pitch;
}

cl_int gs_move(const struct gs_location *from, const struct gs_location *to, const struct gs_rect *r,
               const struct gs_step *step)
{
    struct gs_op op = {.kind = kind_of(from, to, r),
                       .src = from->mem,
                       .dst = to->mem,
                       .region = {(size_t)r->width, (size_t)r->rows, 1},
                       .ptr = from->mem ? to->ptr : from->ptr};
    if (from->mem)
        set_place(from, r, &op, op.from, op.from_pitch);
    if (to->mem)
        set_place(to, r, &op, op.to, op.to_pitch);
    if (gs_op_is_of_image(&op))
        op.texel = gs_image_element(from->image ? from->image : to->image, from->mem ? op.from : op.to, op.region);
    return gs_put(step->queue, &op, step->via, step->after->n, step->after->v, step->end);
}
