/* SPDX-License-Identifier: MIT */
/* One buffer through two arguments, a buffer that is read and written in place, outputs that interleave, null objects,
 * structures and vectors as arguments. */
#include "plain.h"

enum { N = 1 << 14 };

static const char source[] =
    "typedef struct { uint a; uchar b; ulong c; uint3 d; } packet;\n"
    "__kernel void twice(__global const uint *in, __global uint *out) { uint i = get_global_id(0); out[i] = in[i] * 2u "
    "+ i; }\n"
    "__kernel void halves(__global uint *low, __global uint *high)\n"
    "{ uint i = get_global_id(0), n = get_global_size(0); uint t = low[i]; high[n + i] = t ^ 0x55u; low[i] = t + 1u; "
    "}\n"
    "__kernel void stripes(__global uint *v) { uint i = get_global_id(0), n = get_global_size(0);\n"
    "  v[i] += 1u; v[n + (i * 7u) % n] = i; }\n"
    "__kernel void perhaps(__global uint *out, __global const uint *maybe, __global uint *log)\n"
    "{ uint i = get_global_id(0); out[i] += maybe ? maybe[i] : 77u; if (log) log[i] = i; }\n"
    "__kernel void packets(__global uint *out, packet p, float4 f, char c, __constant uint *table)\n"
    "{ uint i = get_global_id(0); out[i] = p.a * i + p.b + (uint)p.c + p.d.z + (uint)f.w + (uint)c + table[i % 16]; }\n"
    "__kernel void same(__global uint *v) { uint i = get_global_id(0); if (v[i] % 3u) v[i] = 0; }\n"
    "__kernel void bytes(__global uchar *v) { uint i = get_global_id(0); v[i * 3u] = (uchar)i; v[i * 3u + 2u] ^= 0x80; "
    "}\n";

static uint32_t host[N];
static cl_program program;

static cl_kernel with(const char *name, cl_mem a, cl_mem b)
{
    cl_kernel k = kernel_of(program, name);
    set_mem(k, 0, a);
    if (b)
        set_mem(k, 1, b);
    return k;
}

static void run(cl_kernel k, size_t global, size_t local)
{
    launch(queue, k, global, local, 0, NULL, NULL);
    CL(clReleaseKernel(k));
}

int main(void)
{
    struct {
        cl_uint a;
        cl_uchar b;
        cl_ulong c;
        cl_uint4 d; /* a vector of three has the size of four */
    } __attribute__((aligned(16))) packet = {3, 4, 5, {{6, 7, 8, 0}}};
    const cl_float4 f = {{1, 2, 3, 40}};
    const cl_char c = 5;
    start(0);
    program = build(source, "");
    fill_words(host, N, 41);
    cl_mem a = buffer_of(host, sizeof host), b = buffer_of(host, sizeof host),
           table = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, 64, host);
    run(with("twice", a, a), N, 64);
    show_buffer("in place", queue, a, 0, sizeof host);
    run(with("halves", a, a), N / 2, 64);
    show_buffer("halves of one", queue, a, 0, sizeof host);
    run(with("halves", a, b), N / 2, 0);
    show_buffer("halves of two", queue, a, 0, sizeof host);
    show_buffer("halves of two", queue, b, 0, sizeof host);
    run(with("stripes", b, NULL), N / 2, 32);
    show_buffer("stripes", queue, b, 0, sizeof host);
    cl_kernel k = with("perhaps", a, NULL);
    CL(clSetKernelArg(k, 1, sizeof(cl_mem), NULL));
    set_mem(k, 2, NULL);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer("null", queue, a, 0, sizeof host);
    SET_FROM(1, k, b, b);
    run(k, N, 64);
    show_buffer("not null", queue, a, 0, sizeof host);
    show_buffer("not null", queue, b, 0, sizeof host);
    k = with("packets", b, NULL);
    CL(clSetKernelArg(k, 1, sizeof packet, &packet));
    CL(clSetKernelArg(k, 2, sizeof f, &f));
    CL(clSetKernelArg(k, 3, sizeof c, &c));
    set_mem(k, 4, table);
    /* The values are taken when they are set. */
    memset(&packet, 0xee, sizeof packet);
    run(k, N, 64);
    show_buffer("packets", queue, b, 0, sizeof host);
    run(with("same", b, NULL), N, 64);
    show_buffer("same", queue, b, 0, sizeof host);
    run(with("bytes", b, NULL), N, 64);
    show_buffer("bytes", queue, b, 0, sizeof host);
    /* Refused arguments leave the old ones. */
    k = with("twice", a, b);
    printf("size: %d\n", clSetKernelArg(k, 0, 3, &a));
    printf("index: %d\n", clSetKernelArg(k, 9, sizeof a, &a));
    run(k, N, 64);
    show_buffer("old arguments", queue, b, 0, sizeof host);
    return FINISH(a, b, table, program);
}
