/* SPDX-License-Identifier: MIT */
/* Sub-buffers: overlapping windows, windows beside their parent as arguments of one launch, windows that outlive it. */
#include "plain.h"

enum { N = 1 << 14, QUARTER = N / 4 };

static const char source[] =
    "__kernel void bump(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = v[i] * 7u + k; }\n"
    "__kernel void gather(__global const uint *whole, __global uint *part, uint shift)\n"
    "{ uint i = get_global_id(0); part[i] = part[i] ^ whole[(i * 5u + shift) % (4u * (uint)get_global_size(0))]; }\n"
    "__kernel void scatter(__global const uint *a, __global const uint *b, __global uint *out)\n"
    "{ uint i = get_global_id(0), n = get_global_size(0); out[(i * 17u) % n] = a[i] + b[n - 1 - i]; }\n"
    "__kernel void weigh(__constant uint *a, __constant uint *b, __global uint *out)\n"
    "{ uint i = get_global_id(0); out[i] = a[i] * 3u + b[i]; }\n";

static uint32_t host[N];

static cl_mem window(cl_mem parent, size_t first, size_t words, cl_mem_flags flags)
{
    return sub_buffer(parent, flags, first * 4, words * 4);
}

static void query(cl_mem m, cl_mem parent)
{
    cl_mem associated = NULL;
    size_t offset = 1, size = 1;
    cl_uint refs = 0;
    cl_mem_object_type type = 0;
    CL(clGetMemObjectInfo(m, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof associated, &associated, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof size, &size, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_TYPE, sizeof type, &type, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof refs, &refs, NULL));
    printf("window: parent %d offset %zu size %zu type %x refs %u\n", associated == parent, offset, size, type, refs);
}

int main(void)
{
    cl_int err;
    start(0);
    cl_program p = build(source, "");
    cl_kernel bump = kernel_of(p, "bump"), gather = kernel_of(p, "gather"), scatter = kernel_of(p, "scatter"),
              weigh = kernel_of(p, "weigh");
    fill_words(host, N, 5);
    cl_mem all = buffer_of(host, sizeof host);
    cl_mem second = window(all, QUARTER, QUARTER, 0), middle = window(all, QUARTER * 3 / 2, QUARTER, 0),
           last = window(all, 3 * QUARTER, QUARTER, CL_MEM_READ_WRITE);
    query(second, all);
    query(last, all);
    set_uint(bump, 1, 3);
    set_mem(bump, 0, middle); /* overlaps with the second quarter, and is used first though it was made last */
    launch(queue, bump, QUARTER, 32, 0, NULL, NULL);
    set_mem(bump, 0, second);
    launch(queue, bump, QUARTER, 0, 0, NULL, NULL);
    show_buffer("parent", queue, all, 0, sizeof host);
    show_buffer("middle", queue, middle, 64, QUARTER * 4 - 64);

    /* The parent is read where the window isn't written. */
    cl_mem other = buffer_of(host, sizeof host);
    cl_mem part = window(other, 2 * QUARTER, QUARTER, 0);
    SET(gather, all, part, 9);
    launch(queue, gather, QUARTER, 64, 0, NULL, NULL);
    show_buffer("other", queue, other, 0, sizeof host);

    /* Windows of one parent as inputs and output of one launch. */
    SET(scatter, second, window(all, 0, QUARTER, CL_MEM_READ_ONLY), last);
    launch(queue, scatter, QUARTER, 64, 0, NULL, NULL);
    set_mem(bump, 0, all);
    launch(queue, bump, N, 128, 0, NULL, NULL);
    show_buffer("parent", queue, all, 0, sizeof host);

    /* Two that overlap, in constant memory. */
    SET(weigh, second, middle, other);
    launch(queue, weigh, QUARTER, 64, 0, NULL, NULL);
    show_buffer("other", queue, other, 0, sizeof host);

    /* Writes, copies and fills through windows and through the parent, in turn with launches. */
    const uint32_t pattern = 0xabcdef01;
    for (uint32_t r = 0; r < 6; r++) {
        CL(clEnqueueFillBuffer(queue, middle, &pattern, 4, 128 * r, 256, 0, NULL, NULL));
        CL(clEnqueueWriteBuffer(queue, all, CL_TRUE, 4000 * r, 1234, host, 0, NULL, NULL));
        CL(clEnqueueCopyBuffer(queue, second, last, 40 * r, 100 * r, 2000, 0, NULL, NULL));
        SET(bump, r % 2 ? second : last, r);
        launch(queue, bump, QUARTER, 64, 0, NULL, NULL);
        CL(clEnqueueCopyBuffer(queue, middle, second, 0, 0, 1000, 0, NULL, NULL));
    }
    show_buffer("parent", queue, all, 0, sizeof host);

    /* The parent is let go first. */
    CL(clReleaseMemObject(all));
    set_mem(bump, 0, middle);
    launch(queue, bump, QUARTER, 64, 0, NULL, NULL);
    show_buffer("orphan", queue, middle, 0, QUARTER * 4);
    show_buffer("orphan", queue, last, 0, QUARTER * 4);
    CL(clReleaseMemObject(last)); /* of those that overlap, the newest first: else NVIDIA's driver crashes */
    RELEASE(middle, second, part, other);

    /* Refused as the driver refuses them. */
    cl_mem small = buffer(CL_MEM_READ_ONLY, 4096, NULL);
    const cl_buffer_region outside = {2048, 4096};
    clCreateSubBuffer(small, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &outside, &err);
    printf("outside: %d\n", err);
    clCreateSubBuffer(small, CL_MEM_WRITE_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){0, 128}, &err);
    printf("writing what is read only: %d\n", err);
    return FINISH(small, bump, gather, scatter, weigh, p);
}
