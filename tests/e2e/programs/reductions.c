/* SPDX-License-Identifier: MIT */
/* Atomics whose results nobody uses: every operation on every type, into a few elements that all work-groups share; in
 * several buffers at once, in sub-buffers, beside plain accesses to the same buffer and meeting them. */
#include "plain.h"

enum { N = 1 << 13, BINS = 100, WORDS = 3 * 1024, LAUNCHES = 2 };

/* T, and whether its atomics are those of 64 bits, comes from the build's options. */
static const char operations[] =
    "#ifdef WIDE\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
    "#define ATOMIC(op) atom_##op\n"
    "#else\n"
    "#define ATOMIC(op) atomic_##op\n"
    "#endif\n"
    "__kernel void sums(__global T *add, __global T *sub, __global T *inc, __global T *dec, __global const T *in)\n"
    "{ uint i = get_global_id(0), k = 8u + (uint)in[i] % 37u;\n"
    "  ATOMIC(add)(&add[k], in[i]); ATOMIC(sub)(&sub[k + 1u], in[i]); ATOMIC(inc)(&inc[k]); ATOMIC(dec)(dec + k); }\n"
    "__kernel void bounds(__global T *low, __global T *high, __global const T *in)\n"
    "{ uint i = get_global_id(0), k = (uint)in[i] % 61u; T x = in[i] / 2;\n"
    "  if (in[i] % 3) (void)ATOMIC(min)(&low[k], x); ATOMIC(max)(&high[99u - k], x); }\n"
    "__kernel void bits(__global T *and, __global T *or, __global T *xor, __global const T *in)\n"
    "{ uint i = get_global_id(0), k = (uint)in[i] % 100u; T x = in[i];\n"
    "  ATOMIC(and)(&and[k], x | (T)~(x >> 3)); ATOMIC(or)(&or[k], (T)1 << (x & 31)); ATOMIC(xor)(&xor[k], x); }\n";

static const char others[] =
    "__kernel void mixed(__global const uint *in, __global uint *bins, __global uint *out)\n"
    "{ uint i = get_global_id(0); out[i] = in[i] * 3u; atomic_add(&bins[in[i] % 50u], i); }\n"
    "__kernel void two(__global uint *a, __global uint *b, __global const uint *in)\n"
    "{ uint i = get_global_id(0); atomic_add(&a[in[i] % 512u], i); atomic_inc(&b[in[i] / 7u % 512u]); }\n"
    "__kernel void unlike(__global uint *a, __global uint *b, __global const uint *in)\n"
    "{ uint i = get_global_id(0); atomic_or(&a[in[i] % 256u], i); atomic_and(&b[256u + in[i] % 256u], i); }\n"
    "__kernel void beside(__global uint *bins, __global uint *v)\n"
    "{ uint i = get_global_id(0); uint x = v[1024u + i]; v[1024u + i] = x + 1u; atomic_xor(&bins[x % 1024u], i); }\n"
    "__kernel void gaps(__global uint *bins, __global uint *v)\n"
    "{ uint i = get_global_id(0); v[i * 4u + 1u] = i; atomic_add(&bins[(i * 13u % 32u) * 8u], i); }\n"
    "__kernel void meets(__global uint *bins, __global const uint *v, __global const uint *at)\n"
    "{ uint i = get_global_id(0); atomic_add(&bins[v[at[i]] % 16u], v[at[i]] & 0u); }\n"
    "__kernel void apart(__global uint *v, __global const uint *in)\n"
    "{ uint i = get_global_id(0); atomic_add(&v[i / 64u], in[i]); atomic_sub(&v[i / 64u], i); }\n"
    "__kernel void anywhere(__global uint *bins, __global const uint *at)\n"
    "{ uint i = get_global_id(0); atomic_inc(&bins[at[i]]); }\n"
    "__kernel void after(__global uint *out, __global const uint *bins)\n"
    "{ uint i = get_global_id(0); out[i] += bins[i % 99u] * bins[i % 7u]; }\n";

static uint64_t host[N];
static cl_mem in, out;

static void set_all(cl_kernel k, const cl_mem *m, cl_uint n)
{
    for (cl_uint i = 0; i < n; i++)
        set_mem(k, i, m[i]);
}

/* Runs a kernel some times on buffers that aren't zero, the last of which is only read, and shows them. */
static void run(cl_program p, const char *name, cl_uint n, size_t bytes)
{
    cl_kernel k = kernel_of(p, name);
    cl_mem m[5];
    for (cl_uint i = 0; i + 1 < n; i++) {
        fill_words((uint32_t *)host, bytes / 4, 100 + i);
        m[i] = buffer_of(host, bytes);
    }
    m[n - 1] = in;
    set_all(k, m, n);
    for (int i = 0; i < LAUNCHES; i++)
        launch(queue, k, N, 64, 0, NULL, NULL);
    for (cl_uint i = 0; i + 1 < n; i++) {
        show_buffer(name, queue, m[i], 0, bytes);
        CL(clReleaseMemObject(m[i]));
    }
    CL(clReleaseKernel(k));
}

static void run_type(const char *options, size_t size)
{
    cl_program p = build(operations, options);
    printf("%s\n", options);
    run(p, "sums", 5, BINS * size);
    run(p, "bounds", 3, BINS * size);
    run(p, "bits", 4, BINS * size);
    CL(clReleaseProgram(p));
}

/* A kernel on three buffers or windows, and what is in the root afterwards. */
static void run_on(cl_program p, const char *name, cl_mem a, cl_mem b, cl_mem c, size_t items, cl_mem root)
{
    cl_kernel k = kernel_of(p, name);
    const cl_mem m[3] = {a, b, c};
    set_all(k, m, c ? 3 : 2);
    for (int i = 0; i < LAUNCHES; i++)
        launch(queue, k, items, 64, 0, NULL, NULL);
    show_buffer(name, queue, root, 0, WORDS * 4);
    CL(clReleaseKernel(k));
}

static cl_mem window(cl_mem of, size_t first, size_t words)
{
    return sub_buffer(of, CL_MEM_READ_WRITE, first * 4, words * 4);
}

static void run_others(void)
{
    static uint32_t at[N];
    cl_program p = build(others, "");
    fill_words((uint32_t *)host, WORDS, 7);
    for (int i = 0; i < N; i++)
        at[i] = scramble((uint32_t)i) % WORDS;
    cl_mem v = buffer_of(host, WORDS * 4), places = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof at, at),
           low = window(v, 0, 1024), middle = window(v, 512, 1024), high = window(v, 1024, 2048);
    run_on(p, "mixed", in, v, out, N, v);
    run_on(p, "after", out, v, NULL, N, v);
    show_buffer("out", queue, out, 0, N * 4);
    run_on(p, "two", low, high, in, N, v);    /* apart */
    run_on(p, "two", low, middle, in, N, v);  /* overlapping windows, one operation */
    run_on(p, "two", v, v, in, N, v);         /* one buffer twice */
    run_on(p, "unlike", low, high, in, N, v); /* two operations on one buffer */
    run_on(p, "beside", v, v, NULL, 2048, v);
    run_on(p, "gaps", v, v, NULL, 512, v);
    run_on(p, "meets", v, v, places, N, v);
    run_on(p, "apart", v, in, NULL, N, v);
    run_on(p, "anywhere", v, places, NULL, N, v);
    /* The application writes into what was reduced, and goes on. */
    CL(clEnqueueWriteBuffer(queue, v, CL_FALSE, 40, 400, host, 0, NULL, NULL));
    run_on(p, "mixed", in, v, out, N, v);
    show_buffer("out", queue, out, 0, N * 4);
    RELEASE(low, middle, high, v, places, p);
}

int main(void)
{
    char extensions[8192] = "";
    start(0);
    fill_words((uint32_t *)host, 2 * N, 3);
    in = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    out = buffer_of(host, N * 4);
    run_type("-DT=int", 4);
    run_type("-DT=uint", 4);
    CL(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL));
    if (strstr(extensions, "cl_khr_int64_base_atomics") && strstr(extensions, "cl_khr_int64_extended_atomics")) {
        run_type("-DWIDE -DT=long", 8);
        run_type("-DWIDE -DT=ulong", 8);
    }
    run_others();
    return FINISH(in, out);
}
