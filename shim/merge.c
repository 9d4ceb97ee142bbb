/* SPDX-License-Identifier: MIT */
#include "shim/merge.h"

#include <stdlib.h>

#include "shim/report.h"
#include "shim/transfer/transfer.h"

enum { MERGE_LOCAL = 64 };

/* Sixteen bytes per work-item; the item after the last whole sixteen takes the tail. */
static const char source[] =
    "__kernel void gs_merge(__global uchar *dst, ulong begin, __global const uchar *part, __global const uchar *kept, "
    "ulong n)\n"
    "{\n"
    "    ulong i = get_global_id(0), whole = n / 16;\n"
    "    dst += begin;\n"
    "    if (i < whole) {\n"
    "        uchar16 p = ((__global const uchar16 *)part)[i], k = ((__global const uchar16 *)kept)[i];\n"
    "        if (any(p != k))\n"
    "            ((__global uchar16 *)dst)[i] = select(((__global uchar16 *)dst)[i], p, p != k);\n"
    "    } else if (i == whole) {\n"
    "        for (ulong b = whole * 16; b < n; b++)\n"
    "            if (part[b] != kept[b])\n"
    "                dst[b] = part[b];\n"
    "    }\n"
    "}\n";

struct gs_merge_kernels {
    cl_program program;
    cl_kernel merge;
};

void gs_merge_kernels_free(struct gs_merge_kernels *k)
{
    if (!k)
        return;
    if (k->merge)
        gs_real()->clReleaseKernel(k->merge);
    if (k->program)
        gs_real()->clReleaseProgram(k->program);
    free(k);
}

static cl_int make_kernels(struct gs_context *ctx)
{
    const char *text = source;
    cl_int err;
    struct gs_merge_kernels *k = calloc(1, sizeof *k);
    if (!k)
        return CL_OUT_OF_HOST_MEMORY;
    k->program = gs_real()->clCreateProgramWithSource(ctx->o.handle, 1, &text, NULL, &err);
    if (!err)
        err = gs_real()->clBuildProgram(k->program, 1, ctx->dev, "", NULL, NULL);
    if (!err)
        k->merge = gs_real()->clCreateKernel(k->program, "gs_merge", &err);
    if (err)
        gs_merge_kernels_free(k);
    else
        ctx->merge = k;
    return err;
}

static cl_mem make_scratch(struct gs_context *ctx, uint64_t bytes, cl_int *err)
{
    return gs_real()->clCreateBuffer(ctx->o.handle, CL_MEM_READ_WRITE, bytes, NULL, err);
}

/* An image to a buffer without gaps, on the image's own device; or back. */
static cl_int flatten(struct gs_command *cmd, struct gs_mem *root, unsigned place, cl_mem buffer, bool back,
                      const struct gs_events *wait, struct gs_events *done)
{
    static const size_t origin[3];
    size_t region[3];
    cl_int err;
    cl_event event;
    gs_image_bytes(root, region);
    cl_command_queue queue = gs_image_queue(cmd->q, place, &err);
    if (err)
        return err;
    if (back)
        err = gs_real()->clEnqueueCopyBufferToImage(queue, buffer, root->place[place].mem, 0, origin, region, wait->n,
                                                    wait->n ? wait->v : NULL, &event);
    else
        err = gs_real()->clEnqueueCopyImageToBuffer(queue, root->place[place].mem, buffer, origin, region, 0, wait->n,
                                                    wait->n ? wait->v : NULL, &event);
    return err ? err : gs_events_add(done, event);
}

cl_int gs_merge_keep(struct gs_command *cmd, struct gs_merge *m, struct gs_mem *root, struct gs_range window,
                     const struct gs_events *ready, struct gs_events *done)
{
    size_t region[3];
    cl_int err = cmd->ctx->merge ? CL_SUCCESS : make_kernels(cmd->ctx);
    if (err)
        return err;
    *m = (struct gs_merge){.root = root, .window = window, .bytes = window.end - window.begin};
    if (root->is_image)
        m->bytes = gs_image_bytes(root, region);
    m->kept = make_scratch(cmd->ctx, m->bytes, &err);
    if (err)
        return err;
    if (root->is_image)
        return flatten(cmd, root, 0, m->kept, false, ready, done);
    return gs_transfer_buffer(cmd, root->place[0].mem, 0, m->kept, 0, window.begin, 0, m->bytes, ready, done);
}

/* dst[begin + i] = part[i] wherever part[i] != kept[i]. */
static cl_int enqueue_merge(struct gs_command *cmd, struct gs_merge *m, cl_mem dst, uint64_t begin, cl_mem part,
                            const struct gs_events *wait, struct gs_events *done)
{
    cl_kernel k = cmd->ctx->merge->merge;
    const cl_ulong first = begin, n = m->bytes;
    const size_t local = MERGE_LOCAL, global = (size_t)(n / 16 / MERGE_LOCAL + 1) * MERGE_LOCAL;
    cl_int err;
    cl_event event;
    cl_command_queue queue = gs_copy_queue(cmd->q, 0, &err);
    if (err || (err = gs_real()->clSetKernelArg(k, 0, sizeof dst, &dst)) ||
        (err = gs_real()->clSetKernelArg(k, 1, sizeof first, &first)) ||
        (err = gs_real()->clSetKernelArg(k, 2, sizeof part, &part)) ||
        (err = gs_real()->clSetKernelArg(k, 3, sizeof m->kept, &m->kept)) ||
        (err = gs_real()->clSetKernelArg(k, 4, sizeof n, &n)))
        return err;
    err = gs_real()->clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, wait->n, wait->n ? wait->v : NULL,
                                            &event);
    return err ? err : gs_events_add(done, event);
}

/* Brings what part p holds to a scratch buffer on the first device. */
static cl_int fetch_part(struct gs_command *cmd, struct gs_merge *m, unsigned p, cl_event ran, cl_mem scratch,
                         struct gs_events *done)
{
    struct gs_events wait = {0}, flat = {0};
    cl_mem source_mem = m->root->place[p].mem, linear = NULL;
    uint64_t source_offset = m->window.begin;
    cl_int err = gs_events_share(&wait, ran);
    if (!err && m->root->is_image) {
        linear = make_scratch(cmd->ctx, m->bytes, &err);
        if (!err)
            err = flatten(cmd, m->root, p, linear, false, &wait, &flat);
        source_mem = linear;
        source_offset = 0;
    }
    if (!err)
        err = gs_transfer_buffer(cmd, source_mem, p, scratch, 0, source_offset, 0, m->bytes, flat.n ? &flat : &wait,
                                 done);
    if (linear)
        gs_real()->clReleaseMemObject(linear);
    gs_events_free(&wait);
    gs_events_free(&flat);
    return err;
}

cl_int gs_merge_parts(struct gs_command *cmd, struct gs_merge *m, unsigned n_parts, const cl_event *ran,
                      struct gs_events *done)
{
    struct gs_events home = {0};
    cl_mem dst = m->root->place[0].mem, linear = NULL;
    uint64_t begin = m->window.begin;
    cl_int err = gs_events_share(&home, ran[0]);
    if (!err && m->root->is_image) {
        linear = make_scratch(cmd->ctx, m->bytes, &err);
        if (!err)
            err = flatten(cmd, m->root, 0, linear, false, &home, &home);
        dst = linear;
        begin = 0;
    }
    for (unsigned p = 1; p < n_parts && !err; p++) {
        cl_mem scratch = make_scratch(cmd->ctx, m->bytes, &err);
        if (err)
            break;
        err = fetch_part(cmd, m, p, ran[p], scratch, &home);
        if (!err)
            err = enqueue_merge(cmd, m, dst, begin, scratch, &home, &home);
        gs_real()->clReleaseMemObject(scratch);
        gs_report_moved(GS_PATH_MERGE, m->bytes);
    }
    if (!err && linear)
        err = flatten(cmd, m->root, 0, linear, true, &home, &home);
    if (linear)
        gs_real()->clReleaseMemObject(linear);
    for (cl_uint i = 0; i < home.n && !err; i++)
        err = gs_events_share(done, home.v[i]);
    gs_events_free(&home);
    return err;
}

void gs_merge_free(struct gs_merge *m)
{
    if (m->kept)
        gs_real()->clReleaseMemObject(m->kept);
    m->kept = NULL;
}
