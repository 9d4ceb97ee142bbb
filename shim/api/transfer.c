/* SPDX-License-Identifier: MIT */
/* Transfers as the application asks for them (but for reads and writes of a buffer's bytes): which bytes of each object
 * they read and change, and the way they go. */
#include "shim/api/home.h"
#include "shim/choose/timing.h"

/* The bytes that a transfer reads or changes of an object, if it is ours. False: the driver knows what is wrong. */
static bool find_side(const struct gs_command *cmd, bool changes, struct gs_side *side)
{
    const struct gs_op *op = &cmd->op;
    const cl_mem handle = changes ? op->dst : op->src;
    const size_t *at = changes ? op->to : op->from, *pitch = changes ? op->to_pitch : op->from_pitch;
    struct gs_mem *m = gs_command_mem(cmd, handle);
    *side = (struct gs_side){.m = m};
    if (m && gs_op_is_of_image(op))
        side->range = gs_image_range(m, at, op->region, &side->covers);
    if (!m || gs_op_is_of_image(op))
        return true;
    const struct gs_range r = gs_rect_range(at, op->region, pitch[0], pitch[1]);
    side->range = gs_window_range(m, r.begin, r.end - r.begin);
    side->covers = op->kind == GS_OP_COPY || op->kind == GS_OP_FILL; /* no rows with gaps */
    return gs_mem_has(m, r.begin, r.end - r.begin);
}

/* Has it a pattern that we can keep? An image's pattern has its size from the image's format. */
static bool has_pattern(struct gs_op *op, const struct gs_mem *dst)
{
    const bool of_image = op->kind == GS_OP_FILL_IMAGE;
    if (of_image && dst && dst->image) /* of a depth image a float, else four components */
        op->pattern_bytes = (dst->image->format.image_channel_order == CL_DEPTH ? 1 : 4) * sizeof(cl_uint);
    return op->pattern && op->pattern_bytes <= GS_OP_PATTERN_BYTES && (!of_image || (dst && dst->image));
}

/* Bytes of a texel, if an image command may be cut into pieces: all of it lies within objects of ours, and drivers
 * agree on the pitches (not for layers of a 1D image array). Else 0: the driver gets the whole command. */
static size_t texel_of(const struct gs_op *op, const struct gs_side *src, const struct gs_side *dst)
{
    const size_t of_src = gs_image_element(src->m, op->from, op->region),
                 of_dst = gs_image_element(dst->m, op->to, op->region), texel = of_src ? of_src : of_dst,
                 bytes = op->region[0] * op->region[1] * op->region[2] * texel;
    const struct gs_mem *image = of_src ? src->m : dst->m;
    switch (op->kind) {
    case GS_OP_COPY_IMAGE:
        return of_src == of_dst ? texel : 0;
    case GS_OP_IMAGE_TO_BUFFER:
        return dst->m && gs_mem_has(dst->m, op->to[0], bytes) ? texel : 0;
    case GS_OP_BUFFER_TO_IMAGE:
        return src->m && gs_mem_has(src->m, op->from[0], bytes) ? texel : 0;
    default:
        return texel && image->image->desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY &&
                       (op->from_pitch[0] || op->from_pitch[1] || op->to_pitch[0] || op->to_pitch[1])
                   ? 0
                   : texel;
    }
}

/* A region of rows of texels as a transfer. False: the region is of another kind, or the driver refuses the call. */
static bool staged_texels(struct gs_op_run *t, const struct gs_mem *m, const struct gs_op *op)
{
    const size_t *pitch = op->dst ? op->from_pitch : op->to_pitch; /* the host's */
    const cl_mem_object_type type = m->image ? m->image->desc.image_type : 0;
    const bool flat = type == CL_MEM_OBJECT_IMAGE2D,
               solid = type == CL_MEM_OBJECT_IMAGE3D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    *t = (struct gs_op_run){.op = *op};
    t->op.blocking = CL_FALSE;
    if (m->root != m || m->home_only || !op->ptr || !op->texel || (!flat && !solid) || (flat && pitch[1]))
        return false;
    const struct gs_rows host = gs_staged_host(t);
    return host.row >= op->region[0] * op->texel && host.slice >= host.row * op->region[1];
}

cl_int gs_transfer_command(struct gs_command *cmd)
{
    struct gs_op *op = &cmd->op;
    struct gs_side src, dst;
    struct gs_op_run t;
    if (!gs_command_begin(cmd) || op->no_from || op->no_to || op->no_region || !find_side(cmd, false, &src) ||
        !find_side(cmd, true, &dst) || (!src.m && !dst.m))
        return gs_command_pass(cmd);
    if ((op->kind == GS_OP_FILL || op->kind == GS_OP_FILL_IMAGE) && !has_pattern(op, dst.m))
        return gs_command_pass(cmd);
    if (gs_op_is_of_image(op))
        op->texel = texel_of(op, &src, &dst);
    /* Of one object: what the one changes the other may read. */
    const bool copies = src.m && dst.m && !gs_op_is_of_image(op);
    const bool meets = copies && src.m->root == dst.m->root && gs_ranges_overlap(src.range, dst.range);
    op->whole = copies && (op->kind == GS_OP_COPY ? meets : src.m->root == dst.m->root);
    if (copies && op->kind == GS_OP_COPY && !meets && atomic_load(&cmd->ctx->spread) &&
        gs_copy_in_place(cmd, &src, &dst))
        return CL_SUCCESS;
    if (!gs_op_crosses_host(op))
        return gs_home_transfer(cmd, src, dst, NULL);
    if (!gs_host_may(src.m ? src.m : dst.m, src.m ? CL_MAP_READ : CL_MAP_WRITE))
        return CL_INVALID_OPERATION;
    const bool staged = gs_op_is_of_image(op) ? staged_texels(&t, src.m ? src.m : dst.m, op) : gs_staged_rect(&t, op);
    const bool reads = staged && op->kind == GS_OP_READ_IMAGE && gs_list_is_valid(cmd->n_wait, cmd->wait);
    const cl_int err = reads ? gs_read_from_places(cmd, src, &t) : gs_home_transfer(cmd, src, dst, staged ? &t : NULL);
    if (op->blocking)
        gs_timing_waited();
    return err;
}
