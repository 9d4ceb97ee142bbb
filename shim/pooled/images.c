/* SPDX-License-Identifier: MIT */
/* Images of pooled contexts. The host place has the texels without gaps, so a command on images is one on rectangles of
 * bytes; kernels get an image of the driver's with all texels. */
#include "shim/memory/object.h"
#include "shim/pooled/commands.h"
#include "shim/pooled/store.h"
#include "shim/report/report.h"

static bool is_layered(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

static bool has_slices(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE3D || is_layered(type);
}

static cl_int check_size(const struct gs_pool_image *image)
{
    const cl_mem_object_type type = image->desc.image_type;
    const bool solid = type == CL_MEM_OBJECT_IMAGE3D;
    const cl_device_info most[3] = {solid ? CL_DEVICE_IMAGE3D_MAX_WIDTH : CL_DEVICE_IMAGE2D_MAX_WIDTH,
                                    solid                                 ? CL_DEVICE_IMAGE3D_MAX_HEIGHT
                                    : type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? CL_DEVICE_IMAGE_MAX_ARRAY_SIZE
                                                                          : CL_DEVICE_IMAGE2D_MAX_HEIGHT,
                                    solid ? CL_DEVICE_IMAGE3D_MAX_DEPTH : CL_DEVICE_IMAGE_MAX_ARRAY_SIZE};
    for (int i = 0; i < 3; i++) {
        size_t n = 0;
        gs_real()->clGetDeviceInfo(gs_group()->dev[0], most[i], sizeof n, &n, NULL);
        if (image->texels[i] > 1 && image->texels[i] > n)
            return CL_INVALID_IMAGE_SIZE;
    }
    return CL_SUCCESS;
}

/* Rows and slices in the application's memory, given or not. */
static void host_pitch(const struct gs_pool_image *image, const size_t region[3], const size_t given[2],
                       size_t pitch[2])
{
    pitch[0] = given[0] ? given[0] : region[0] * image->texel_bytes;
    if (image->desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY && given[1])
        pitch[0] = given[1]; /* of an array of lines a slice is a line */
    pitch[1] = given[1] && region[2] > 1 ? given[1] : pitch[0] * region[1];
}

static void own_pitch(const struct gs_pool_image *image, size_t pitch[2])
{
    pitch[0] = image->texels[0] * image->texel_bytes;
    pitch[1] = pitch[0] * image->texels[1];
}

/* The slice pitch as applications see it. */
static size_t slice_of(cl_mem_object_type type, const size_t pitch[2])
{
    return type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? pitch[0] : has_slices(type) ? pitch[1] : 0;
}

/* Once the driver has made its stand-in. */
static cl_int make_root(struct gs_context *ctx, cl_mem_flags flags, struct gs_pool_image *image, void *host_ptr,
                        const size_t given[2], struct gs_pool_root **root)
{
    size_t own[2], pitch[2];
    cl_int err = check_size(image);
    if (err)
        return err;
    own_pitch(image, own);
    host_pitch(image, image->texels, given, pitch);
    if ((!host_ptr && (given[0] || given[1])) || pitch[0] < own[0] || pitch[1] < pitch[0] * image->texels[1])
        return CL_INVALID_IMAGE_DESCRIPTOR;
    const bool uses = flags & CL_MEM_USE_HOST_PTR;
    if (uses && (pitch[0] != own[0] || pitch[1] != own[1])) { /* the host place has no gaps */
        gs_report_moved(GS_POOL_REFUSED, 0);
        return CL_INVALID_OPERATION;
    }
    *root = gs_pool_root_new(ctx, own[1] * image->texels[2], uses ? host_ptr : NULL, &err);
    if (!*root)
        return err;
    (*root)->image = image;
    const size_t rows[3] = {own[0], image->texels[1], image->texels[2]};
    return host_ptr ? gs_pool_begin_with(*root, host_ptr, rows, pitch) : CL_SUCCESS;
}

/* Parts of a CPU have no images: PoCL ends the process for an image command in the queue of one. */
static cl_int check(const cl_image_format *format, const cl_image_desc *desc)
{
    if (!gs_real()->clCreateImage)
        return CL_INVALID_OPERATION;
    if (!format || !desc)
        return format ? CL_INVALID_IMAGE_DESCRIPTOR : CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    if (!gs_group()->parent && !desc->mem_object && desc->image_type != CL_MEM_OBJECT_IMAGE1D_BUFFER &&
        !desc->num_mip_levels && !desc->num_samples)
        return CL_SUCCESS;
    gs_report_moved(GS_POOL_REFUSED, 0);
    return CL_INVALID_OPERATION;
}

cl_mem gs_pool_create_image(struct gs_context *ctx, cl_mem_flags flags, const cl_image_format *format,
                            const cl_image_desc *desc, void *host_ptr, cl_int *errcode_ret)
{
    cl_int err = check(format, desc);
    struct gs_pool_image *image = err ? NULL : calloc(1, sizeof *image);
    struct gs_pool_root *root = NULL;
    if (!image)
        return gs_pool_publish(NULL, NULL, NULL, err, errcode_ret);
    const size_t given[2] = {desc->image_row_pitch, desc->image_slice_pitch};
    *image = (struct gs_pool_image){.format = *format, .desc = *desc};
    image->desc.image_row_pitch = image->desc.image_slice_pitch = 0;
    /* The driver looks at the rest, and refuses an image of no texels. */
    const cl_image_desc small = {.image_type = desc->image_type,
                                 .image_width = desc->image_width > 0,
                                 .image_height = desc->image_height > 0,
                                 .image_depth = desc->image_depth > 0,
                                 .image_array_size = desc->image_array_size > 0};
    cl_mem handle = gs_real()->clCreateImage(ctx->o.handle, flags, format, &small, host_ptr, &err);
    if (!err) {
        image->texel_bytes = gs_image_layout(handle, &small, image->texels); /* it has one texel */
        gs_image_layout(handle, desc, image->texels);
        err = make_root(ctx, flags, image, host_ptr, given, &root);
    }
    if (!root)
        free(image);
    struct gs_mem *m = err ? NULL : gs_mem_image(ctx, handle, NULL, format, desc, flags);
    return gs_pool_publish(handle, root, m, err, errcode_ret);
}

cl_int gs_pool_image_info(const struct gs_mem *m, cl_image_info what, size_t space, void *value, size_t *size_ret)
{
    const struct gs_pool_image *image = m->root->pool->image;
    const cl_image_desc *d = &image->desc;
    const bool flat = d->image_type == CL_MEM_OBJECT_IMAGE1D || d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    size_t pitch[2];
    own_pitch(image, pitch);
    const struct {
        cl_image_info what;
        size_t number;
    } numbers[] = {{CL_IMAGE_ROW_PITCH, pitch[0]},
                   {CL_IMAGE_SLICE_PITCH, slice_of(d->image_type, pitch)},
                   {CL_IMAGE_WIDTH, d->image_width},
                   {CL_IMAGE_HEIGHT, flat ? 0 : d->image_height},
                   {CL_IMAGE_DEPTH, d->image_type == CL_MEM_OBJECT_IMAGE3D ? d->image_depth : 0},
                   {CL_IMAGE_ARRAY_SIZE, is_layered(d->image_type) ? d->image_array_size : 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].what == what)
            return gs_query_value(&numbers[i].number, sizeof numbers->number, space, value, size_ret);
    return GS_POOL_ASK;
}

static const struct gs_pool_image *image_of(const struct gs_mem *m)
{
    return m && m->root->pool ? m->root->pool->image : NULL;
}

/* Turns one side of a transfer (begin and pitches) from texels, or as given, into bytes. */
static cl_int lay_side(const struct gs_pool_image *side, const struct gs_pool_image *any, const size_t region[3],
                       size_t at[3], size_t pitch[2])
{
    const size_t given[2] = {pitch[0], pitch[1]};
    if (!side) { /* the application's memory, or a buffer */
        host_pitch(any, region, given, pitch);
        return pitch[0] < region[0] * any->texel_bytes || pitch[1] < pitch[0] * region[1] ? CL_INVALID_VALUE
                                                                                          : CL_SUCCESS;
    }
    if (!gs_image_has_box(side->texels, at, region))
        return CL_INVALID_VALUE;
    own_pitch(side, pitch);
    at[0] *= side->texel_bytes;
    return CL_SUCCESS;
}

/* The host's memory of the image's, from the first texel of the region to the last. */
static cl_int lay_map(struct gs_op *op, const struct gs_pool_image *image, const size_t region[3])
{
    const cl_mem_object_type type = image->desc.image_type;
    const size_t *pitch = op->from_pitch;
    if (!op->row_pitch || (has_slices(type) && !op->slice_pitch))
        return CL_INVALID_VALUE;
    *op->row_pitch = pitch[0];
    if (op->slice_pitch)
        *op->slice_pitch = slice_of(type, pitch);
    op->from[0] += op->from[1] * pitch[0] + op->from[2] * pitch[1];
    op->region[0] += (region[1] - 1) * pitch[0] + (region[2] - 1) * pitch[1];
    op->from[1] = op->from[2] = 0;
    op->region[1] = op->region[2] = 1;
    /* What lies between its rows must be right. */
    if (op->map_flags & CL_MAP_WRITE_INVALIDATE_REGION)
        op->map_flags = CL_MAP_WRITE;
    return CL_SUCCESS;
}

cl_int gs_pool_image_op(struct gs_op *op, const struct gs_mem *src, const struct gs_mem *dst)
{
    static const enum gs_op_kind as[GS_OP_KINDS] = {
        [GS_OP_READ_IMAGE] = GS_OP_READ_RECT,      [GS_OP_WRITE_IMAGE] = GS_OP_WRITE_RECT,
        [GS_OP_COPY_IMAGE] = GS_OP_COPY_RECT,      [GS_OP_FILL_IMAGE] = GS_OP_FILL_IMAGE,
        [GS_OP_IMAGE_TO_BUFFER] = GS_OP_COPY_RECT, [GS_OP_BUFFER_TO_IMAGE] = GS_OP_COPY_RECT,
        [GS_OP_MAP_IMAGE] = GS_OP_MAP_BUFFER};
    const bool from_buffer = op->kind == GS_OP_BUFFER_TO_IMAGE, to_buffer = op->kind == GS_OP_IMAGE_TO_BUFFER,
               maps = op->kind == GS_OP_MAP_IMAGE;
    const struct gs_pool_image *from = image_of(src), *to = image_of(dst), *any = from ? from : to;
    const size_t region[3] = {op->region[0], op->region[1], op->region[2]};
    cl_int err = CL_SUCCESS;
    if ((src && !from != from_buffer) || (dst && !to != to_buffer))
        return CL_INVALID_MEM_OBJECT;
    if (op->no_region || (from && op->no_from) || (to && op->no_to))
        return CL_INVALID_VALUE;
    if (op->kind == GS_OP_COPY_IMAGE && memcmp(&from->format, &to->format, sizeof from->format) != 0)
        return CL_IMAGE_FORMAT_MISMATCH;
    if (op->kind == GS_OP_FILL_IMAGE) {
        op->pattern_bytes = (to->format.image_channel_order == CL_DEPTH ? 1 : 4) * sizeof(cl_uint);
        return !op->pattern || !gs_image_has_box(to->texels, op->to, region) ? CL_INVALID_VALUE : CL_SUCCESS;
    }
    op->kind = as[op->kind];
    err = lay_side(from, any, region, op->from, op->from_pitch);
    if (!err && !maps)
        err = lay_side(to, any, region, op->to, op->to_pitch);
    op->region[0] *= any->texel_bytes;
    return err || !maps ? err : lay_map(op, any, region);
}

/* Has the driver make the texel for a colour, in an image of one texel. */
static cl_int make_texel(struct gs_pool_root *r, const struct gs_op *op, const void *color, void *texel)
{
    const struct gs_pool_image *image = r->image;
    const cl_image_desc one = {CL_MEM_OBJECT_IMAGE2D, 1, 1, 1, 1, 0, 0, 0, 0, {NULL}};
    cl_int err;
    const cl_command_queue queue = gs_pool_queue(r->ctx, 0, GS_POOL_TO_DEVICE, &err);
    cl_mem m = err ? NULL : gs_real()->clCreateImage(r->ctx->o.handle, 0, &image->format, &one, NULL, &err);
    if (err)
        return err;
    struct gs_op fill = gs_op_fill(m, 0, 1, color, op->pattern_bytes), read = gs_op_read(m, 0, 1, texel);
    fill.kind = GS_OP_FILL_IMAGE;
    read.kind = GS_OP_READ_IMAGE;
    err = gs_enqueue(&fill, queue, 0, NULL, NULL);
    if (!err)
        err = gs_enqueue_blocking(read, queue);
    gs_real()->clReleaseMemObject(m);
    return err;
}

cl_int gs_pool_fill_image(struct gs_pool_root *r, const struct gs_op *op, const void *color)
{
    struct gs_range all = {0, r->size};
    const size_t n = r->image->texel_bytes;
    size_t pitch[2];
    char texel[16];
    cl_int err = make_texel(r, op, color, texel);
    own_pitch(r->image, pitch);
    if (!err)
        err = gs_pool_require_host(r, all);
    for (size_t z = op->to[2]; z < op->to[2] + op->region[2] && !err; z++)
        for (size_t y = op->to[1]; y < op->to[1] + op->region[1]; y++)
            for (size_t x = op->to[0]; x < op->to[0] + op->region[0]; x++)
                memcpy(r->host.base + z * pitch[1] + y * pitch[0] + x * n, texel, n);
    return err ? err : gs_pool_wrote_host(r, &GS_ONE_RANGE(all));
}
