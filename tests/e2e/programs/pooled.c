/* SPDX-License-Identifier: MIT */
/* pooled KIB [CASE]: programs of some buffers that have so many KiB in all: a stencil, a product of matrices, a gather,
 * a reduction, images, sub-buffers, maps, an invalidating map, rectangles, kernels that can't be cut, commands on
 * nothing, events and order. The same sizes compute the same, wherever the bytes lie. */
#include "plain.h"

static const char source[] =
    "__kernel void begin(__global float *v, uint seed)\n"
    "{ size_t i = get_global_id(0); v[i] = (float)((uint)(i * 2654435761u + seed) >> 20); }\n"
    "__kernel void smooth(__global const float *a, __global float *b, uint w, uint h)\n"
    "{ uint x = get_global_id(0), y = get_global_id(1); size_t i = (size_t)y * w + x;\n"
    "  float s = a[i] * 0.5f;\n"
    "  if (y > 0) s += a[i - w] * 0.25f;\n"
    "  if (y + 1 < h) s += a[i + w] * 0.25f;\n"
    "  b[i] = s; }\n"
    "__kernel void product(__global const float *a, __global const float *b, __global float *c, uint n, uint k,\n"
    "                      uint every)\n"
    "{ uint x = get_global_id(0), y = get_global_id(1); float s = 0;\n"
    "  for (uint i = 0; i < k; i += every) s += a[(size_t)y * k + i] * b[(size_t)i * n + x];\n"
    "  c[(size_t)y * n + x] = s; }\n"
    "__kernel void indices(__global uint *v, uint n)\n"
    "{ size_t i = get_global_id(0); v[i] = (uint)(i * 7919u + 13u) % n; }\n"
    "__kernel void gather(__global const float *from, __global const uint *at, __global float *to)\n"
    "{ size_t i = get_global_id(0); to[i] = from[at[i]] + (float)get_group_id(0); }\n"
    "__kernel void scatter(__global const uint *at, __global float *to)\n"
    "{ size_t i = get_global_id(0); if (at[i] % 3u) to[at[i]] = (float)at[i]; }\n"
    "__kernel void count(__global const float *v, __global uint *bins)\n"
    "{ size_t i = get_global_id(0); atomic_inc(&bins[(uint)v[i] % 64u]); }\n"
    "__kernel void add(__global float *v, float a) { v[get_global_id(0)] += a; }\n"
    "__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "__kernel void blur(__read_only image2d_t in, __write_only image2d_t out, uint a)\n"
    "{ int x = get_global_id(0), y = get_global_id(1);\n"
    "  uint4 t = read_imageui(in, nearest, (int2)(x, y)) * 2u + read_imageui(in, nearest, (int2)(x - 1, y))\n"
    "    + read_imageui(in, nearest, (int2)(x + 1, y + 1));\n"
    "  write_imageui(out, (int2)(x, y), t / 4u ^ a); }\n"
    "__kernel void nothing(__global float *v) { if (v) v[get_global_id(0)] = 1; }\n"
    "__kernel void given(__global float *v, __global const float *other)\n"
    "{\n    v[get_global_id(0)] = other == 0 ? 1 : other == v ? 2 : 3;\n}\n";

static cl_program program;

/* Reads a buffer by pieces: the host needn't have it whole. */
static void show_pieces(const char *name, cl_mem m, size_t bytes)
{
    const size_t piece = bytes < (1 << 22) ? bytes : 1 << 22;
    uint64_t *host = malloc(piece), h = 0;
    for (size_t at = 0; at < bytes; at += piece) {
        const size_t n = bytes - at < piece ? bytes - at : piece;
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, at, n, host, 0, NULL, NULL));
        for (size_t i = 0; i < n / 8; i++)
            h = (h ^ host[i]) * 0x100000001b3u;
    }
    printf("%s %zu: %016" PRIx64 "\n", name, bytes, h);
    free(host);
}

static void launch_2d(cl_kernel k, size_t w, size_t h)
{
    const size_t global[2] = {w, h}, local[2] = {64, 1};
    CL(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, local, 0, NULL, NULL));
}

static void begin_with(cl_mem m, size_t items, cl_uint seed)
{
    cl_kernel k = kernel_of(program, "begin");
    SET(k, m, seed);
    launch(queue, k, items, 64, 0, NULL, NULL);
    CL(clReleaseKernel(k));
}

static void stencil(size_t bytes)
{
    const size_t w = 1024, h = bytes / 2 / 4 / w;
    cl_mem m[2] = {buffer(CL_MEM_READ_WRITE, w * h * 4, NULL), buffer(CL_MEM_READ_WRITE, w * h * 4, NULL)};
    cl_kernel k = kernel_of(program, "smooth");
    begin_with(m[0], w * h, 1);
    SET_FROM(2, k, (cl_uint)w, (cl_uint)h);
    for (int i = 0; i < 2; i++) {
        SET(k, m[i % 2], m[1 - i % 2]);
        launch_2d(k, w, h);
    }
    show_pieces("stencil", m[0], w * h * 4);
    RELEASE_ALL(m);
    CL(clReleaseKernel(k));
}

/* Steps that are all enqueued before the first begins: what one leaves behind the next but one overwrites unread. */
static void steps(size_t bytes)
{
    const size_t w = 1024, h = bytes / 2 / 4 / w, global[2] = {w, h}, local[2] = {64, 1};
    cl_mem m[2] = {buffer(CL_MEM_READ_WRITE, w * h * 4, NULL), buffer(CL_MEM_READ_WRITE, w * h * 4, NULL)};
    cl_kernel k = kernel_of(program, "smooth");
    begin_with(m[0], w * h, 1);
    CL(clFinish(queue));
    cl_event go = new_user_event();
    SET_FROM(2, k, (cl_uint)w, (cl_uint)h);
    for (cl_uint i = 0; i < 8; i++) {
        SET(k, m[i % 2], m[1 - i % 2]);
        CL(clEnqueueNDRangeKernel(queue, k, 2, NULL, global, local, !i, i ? NULL : &go, NULL));
    }
    CL(clSetUserEventStatus(go, CL_COMPLETE));
    show_pieces("steps", m[0], w * h * 4);
    CL(clReleaseEvent(go));
    RELEASE_ALL(m);
    CL(clReleaseKernel(k));
}

static void matrices(size_t bytes)
{
    const size_t n = 1024, k = 256, m = bytes / 4 / (n + k) / 8 * 8;
    cl_mem a = buffer(CL_MEM_READ_ONLY, m * k * 4, NULL), b = buffer(CL_MEM_READ_ONLY, k * n * 4, NULL),
           c = buffer(CL_MEM_WRITE_ONLY, m * n * 4, NULL);
    cl_kernel p = kernel_of(program, "product");
    begin_with(a, m * k, 2);
    begin_with(b, k * n, 3);
    SET(p, a, b, c, (cl_uint)n, (cl_uint)k);
    set_uint(p, 5, 64); /* few of the columns, for the time's sake */
    launch_2d(p, n, m);
    show_pieces("product", c, m * n * 4);
    RELEASE(a, b, c, p);
}

static void gathers(size_t bytes)
{
    const size_t from = bytes / 4 / 8, items = (bytes - from * 4) / 8 / 64 * 64;
    cl_mem v = buffer(0, from * 4, NULL), at = buffer(0, items * 4, NULL), to = buffer(0, items * 4, NULL);
    cl_kernel i = kernel_of(program, "indices"), g = kernel_of(program, "gather"), s = kernel_of(program, "scatter");
    begin_with(v, from / 64 * 64, 4);
    SET(i, at, (cl_uint)(from / 64 * 64));
    launch(queue, i, items, 64, 0, NULL, NULL);
    for (int k = 0; k < 2; k++) {
        SET(g, v, at, to);
        launch(queue, g, items, 64, 0, NULL, NULL);
        SET(s, at, v);
        launch(queue, s, items, 64, 0, NULL, NULL); /* whose writes nobody knows before */
    }
    show_pieces("gather", to, items * 4);
    show_pieces("scatter", v, from / 64 * 64 * 4);
    RELEASE(v, at, to, i, g, s);
}

static void reduction(size_t bytes)
{
    const size_t items = bytes / 4 / 64 * 64;
    const cl_uint zero = 0;
    cl_mem v = buffer(0, items * 4, NULL), bins = buffer(0, 256, NULL);
    cl_kernel k = kernel_of(program, "count");
    begin_with(v, items, 5);
    CL(clEnqueueFillBuffer(queue, bins, &zero, sizeof zero, 0, 256, 0, NULL, NULL));
    SET(k, v, bins);
    launch(queue, k, items, 64, 0, NULL, NULL);
    launch(queue, k, items, 64, 0, NULL, NULL);
    show_buffer("bins", queue, bins, 0, 256);
    RELEASE(v, bins, k);
}

/* Windows of a buffer that begin where no window of a device does, each changed, and read with what lies about it. */
static void windows(size_t bytes)
{
    const size_t all = bytes / 4096 * 4096, part = all / 5 / 4096 * 4096 + 1024;
    cl_mem m = buffer(CL_MEM_READ_WRITE, all, NULL);
    cl_kernel k = kernel_of(program, "add");
    begin_with(m, all / 4, 6);
    for (size_t i = 0; i < 4; i++) {
        const float a = (float)i + 1;
        cl_mem sub = sub_buffer(m, CL_MEM_READ_WRITE, i * part + (i % 2 ? 512 : 0), part);
        set_mem(k, 0, sub);
        CL(clSetKernelArg(k, 1, sizeof a, &a));
        launch(queue, k, part / 4, 64, 0, NULL, NULL);
        uint32_t *p = map_now(sub, CL_MAP_READ | CL_MAP_WRITE, 128, 256);
        p[0] ^= 0x5a5a5a5a;
        unmap(sub, p);
        CL(clReleaseMemObject(sub));
    }
    const size_t at[3] = {128, 3, 1}, to[3] = {512, 1, 2}, region[3] = {256, 7, 3}, none[3] = {0, 0, 0};
    char rows[256 * 7 * 3];
    CL(clEnqueueReadBufferRect(queue, m, CL_TRUE, at, none, region, 1024, 16384, 0, 0, rows, 0, NULL, NULL));
    show("rows", rows, sizeof rows);
    CL(clEnqueueCopyBufferRect(queue, m, m, at, to, region, 1024, 16384, 1024, 16384, 0, NULL, NULL));
    CL(clEnqueueWriteBufferRect(queue, m, CL_FALSE, to, none, region, 2048, 32768, 0, 0, rows, 0, NULL, NULL));
    CL(clEnqueueCopyBuffer(queue, m, m, 64, all / 2 + 64, all / 3, 0, NULL, NULL));
    const cl_ulong pattern[2] = {0x0123456789abcdef, 0xfedcba9876543210};
    CL(clEnqueueFillBuffer(queue, m, pattern, sizeof pattern, all / 4 / 16 * 16, all / 8 / 16 * 16, 0, NULL, NULL));
    set_mem(k, 0, m);
    launch(queue, k, all / 4, 0, 0, NULL, NULL);
    show_pieces("windows", m, all);
    RELEASE(m, k);
}

/* A pipeline of images, each made of the one before, twice. */
static void images(size_t bytes)
{
    enum { IMAGES = 8, STRIP = 16, WIDEST = 8192 };
    static uint32_t strip[WIDEST * STRIP];
    const size_t w = bytes >> 28 ? WIDEST : 1024, h = bytes / IMAGES / 4 / w / STRIP * STRIP, rows[3] = {w, STRIP, 1};
    cl_kernel k = kernel_of(program, "blur");
    cl_mem m[IMAGES];
    for (int i = 0; i < IMAGES; i++)
        m[i] = new_image(CL_MEM_OBJECT_IMAGE2D, (size_t[3]){w, h, 1}, CL_MEM_READ_WRITE, CL_UNSIGNED_INT8, NULL);
    for (size_t at[3] = {0, 0, 0}; at[1] < h; at[1] += STRIP) {
        fill_words(strip, w * STRIP, (uint32_t)at[1]);
        CL(clEnqueueWriteImage(queue, m[0], CL_TRUE, at, rows, 0, 0, strip, 0, NULL, NULL));
    }
    for (cl_uint i = 0; i < 2 * IMAGES; i++) {
        SET(k, m[i % IMAGES], m[(i + 1) % IMAGES], i);
        launch_2d(k, w, h);
    }
    for (int i = 0; i < IMAGES; i++) {
        uint64_t sum = 0;
        for (size_t at[3] = {0, 0, 0}; at[1] < h; at[1] += STRIP) {
            CL(clEnqueueReadImage(queue, m[i], CL_TRUE, at, rows, 0, 0, strip, 0, NULL, NULL));
            for (size_t t = 0; t < w * STRIP; t++)
                sum = (sum ^ strip[t]) * 0x100000001b3u;
        }
        printf("image %d of %zu rows: %016" PRIx64 "\n", i, h, sum);
        CL(clReleaseMemObject(m[i]));
    }
    CL(clReleaseKernel(k));
}

/* What the host writes into a map that invalidates stays, though devices had the bytes before, and are asked for room
 * and for what lies beside before the map ends. */
static void invalidates(size_t bytes)
{
    const size_t items = bytes / 2 / 4 / 64 * 64, at = items, length = items * 2; /* the middle half, of bytes */
    cl_mem m = buffer(CL_MEM_READ_WRITE, items * 4, NULL), n = buffer(CL_MEM_READ_WRITE, items * 4, NULL);
    uint32_t *p, beside[64];
    begin_with(m, items, 8);
    p = map_now(m, CL_MAP_WRITE_INVALIDATE_REGION, at, length);
    for (size_t i = 0; i < length / 4; i++)
        p[i] = (uint32_t)i;
    begin_with(n, items, 9);
    CL(clEnqueueReadBuffer(queue, m, CL_TRUE, at - sizeof beside, sizeof beside, beside, 0, NULL, NULL));
    show("beside", beside, sizeof beside);
    unmap(m, p);
    show_pieces("invalidated", m, items * 4);
    show_pieces("its neighbour", n, items * 4);
    RELEASE(m, n);
}

/* The host writes all of a buffer, a kernel changes it, three times; and the rows of a rectangle in the same way. */
/* Lines that no page begins with. */
static void show_rows(cl_mem m, size_t bytes)
{
    const size_t at[3] = {100, 3, 1}, none[3] = {0}, region[3] = {700, 5, bytes / 8000 - 2},
                 n = region[0] * region[1] * region[2];
    unsigned char *host = malloc(n);
    CL(clEnqueueReadBufferRect(queue, m, CL_TRUE, at, none, region, 1000, 8000, 0, 0, host, 0, NULL, NULL));
    show("rows read", host, n);
    free(host);
}

static void writes(size_t bytes, bool rows)
{
    const size_t all = bytes / 4096 * 4096, at[3] = {64, 1, 0}, none[3] = {0}, region[3] = {512, all / 1024 - 2, 1};
    cl_mem m = buffer(CL_MEM_READ_WRITE, all, NULL);
    cl_kernel k = kernel_of(program, "add");
    uint32_t *host = malloc(all);
    begin_with(m, all / 4, 11);
    set_mem(k, 0, m);
    for (cl_uint i = 0; i < 3; i++) {
        CL(clSetKernelArg(k, 1, sizeof(float), &(float){1}));
        for (size_t j = 0; j < all / 4; j++)
            host[j] = 0x3f800000u + (cl_uint)(j + i) % 65536u;
        if (rows)
            CL(clEnqueueWriteBufferRect(queue, m, CL_FALSE, at, none, region, 1024, 0, 0, 0, host, 0, NULL, NULL));
        else
            CL(clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, all, host, 0, NULL, NULL));
        launch(queue, k, all / 4, 64, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    if (rows)
        show_rows(m, all);
    show_pieces(rows ? "rows written" : "written", m, all);
    RELEASE(m, k);
    free(host);
}

static void writes_all(size_t bytes)
{
    writes(bytes, false);
}

static void writes_rows(size_t bytes)
{
    writes(bytes, true);
}

/* Pages that the process has in memory. */
static size_t resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    size_t all = 0, pages = 0;
    if (!f || fscanf(f, "%zu %zu", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Rows beside what is mapped, and of its bytes: what is mapped stays what it was. */
static void rows_of_mapped(cl_mem m)
{
    enum { PITCH = 16384, ROWS = 128, BYTES = 4096, ROW = BYTES / ROWS };
    const size_t none[3] = {0}, region[3] = {ROW, ROWS, 1};
    void *mapped = map_now(m, CL_MAP_READ, 5 * PITCH + 8192, BYTES);
    CL(clEnqueueWriteBufferRect(queue, m, CL_TRUE, none, none, region, PITCH, 0, ROW, 0, mapped, 0, NULL, NULL));
    show("mapped", mapped, BYTES);
    unmap(m, mapped);
}

/* What is mapped to be read stays until the last map of it has ended; then it takes none of the host's memory. */
static void maps(size_t bytes)
{
    const size_t items = bytes / 4 / 64 * 64;
    cl_mem m = buffer(CL_MEM_READ_WRITE, items * 4, NULL);
    uint32_t *all, *half;
    begin_with(m, items, 10);
    CL(clFinish(queue));
    all = map_now(m, CL_MAP_READ, 0, items * 4);
    half = map_now(m, CL_MAP_READ, 0, items * 2);
    show("all", all, items * 4);
    const size_t before = resident();
    unmap(m, all);
    CL(clFinish(queue));
    show("half", half, items * 2);
    unmap(m, half);
    CL(clFinish(queue));
    const size_t after = resident();
    fprintf(stderr, "maps: %s\n", before > after && before - after > items * 3 ? "given back" : "kept");
    show_pieces("unmapped", m, items * 4);
    rows_of_mapped(m);
    show_pieces("rows of what was mapped", m, items * 4);
    CL(clReleaseMemObject(m));
}

/* Commands whose object is missing, and what each answers. Not those of which PoCL 3.1 dies: copies of rectangles, and
 * of an image to a buffer. */
static void nothing(size_t bytes)
{
    const size_t at[3] = {0, 0, 0}, some[3] = {4, 4, 1};
    uint32_t host[16] = {0};
    size_t pitch[2];
    cl_int err;
    cl_mem m = buffer(CL_MEM_READ_WRITE, bytes, NULL),
           image = new_image(CL_MEM_OBJECT_IMAGE2D, (size_t[3]){16, 16, 1}, CL_MEM_READ_WRITE, CL_UNSIGNED_INT8, NULL);
    clEnqueueMapImage(queue, NULL, CL_TRUE, CL_MAP_READ, at, some, &pitch[0], &pitch[1], 0, NULL, NULL, &err);
    const size_t none[2] = {64, 0}, many[1] = {4096}, huge[1] = {(size_t)1 << 40}, odd[1] = {3}, two[1] = {2};
    cl_program p = build("__kernel void even(void) {}", "-cl-std=CL3.0");
    cl_kernel k = kernel_of(program, "nothing"), even = kernel_of(p, "even");
    CL(clSetKernelArg(k, 0, sizeof m, &m));
    const cl_int answers[] = {
        err,
        clEnqueueNDRangeKernel(queue, k, 2, NULL, none, NULL, 0, NULL, NULL),
        clEnqueueNDRangeKernel(queue, k, 1, NULL, NULL, NULL, 0, NULL, NULL),
        clEnqueueNDRangeKernel(queue, k, 1, NULL, many, huge, 0, NULL, NULL),
        clEnqueueNDRangeKernel(queue, even, 1, NULL, odd, two, 0, NULL, NULL),
        clEnqueueReadBuffer(queue, m, CL_TRUE, bytes + 1, 0, host, 0, NULL, NULL),
        clEnqueueReadBuffer(queue, m, CL_TRUE, 0, 0, NULL, 0, NULL, NULL),
        clEnqueueCopyBuffer(queue, m, m, 0, 64, 0, 0, NULL, NULL),
        clEnqueueFillBuffer(queue, m, host, 4, bytes, 0, 0, NULL, NULL),
        clEnqueueReadBuffer(queue, NULL, CL_TRUE, 0, 64, host, 0, NULL, NULL),
        clEnqueueFillBuffer(queue, NULL, host, 4, 0, 64, 0, NULL, NULL),
        clEnqueueCopyBuffer(queue, NULL, m, 0, 0, 64, 0, NULL, NULL),
        clEnqueueCopyBuffer(queue, m, NULL, 0, 0, 64, 0, NULL, NULL),
        clEnqueueReadImage(queue, NULL, CL_TRUE, at, some, 0, 0, host, 0, NULL, NULL),
        clEnqueueWriteImage(queue, NULL, CL_TRUE, at, some, 0, 0, host, 0, NULL, NULL),
        clEnqueueFillImage(queue, NULL, host, at, some, 0, NULL, NULL),
        clEnqueueCopyImageToBuffer(queue, NULL, m, at, some, 0, 0, NULL, NULL),
        clEnqueueCopyBufferToImage(queue, NULL, image, 0, at, some, 0, NULL, NULL),
        clEnqueueCopyBufferToImage(queue, m, NULL, 0, at, some, 0, NULL, NULL),
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        printf("nothing, command %zu: %d\n", i, answers[i]);
    CL(clFinish(queue));
    RELEASE(even, k, p, image, m);
}

static char ends[4];

static void CL_CALLBACK ended(cl_mem mem, void *name)
{
    strcat(ends, name);
}

/* Sub-buffers: what their flags may be, and become; and a buffer ends after its last one. */
static void parts(size_t bytes)
{
    static const cl_mem_flags of[] = {CL_MEM_READ_WRITE, CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR,
                                      CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY,
                                      CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_COPY_HOST_PTR,
                                      CL_MEM_HOST_NO_ACCESS | CL_MEM_USE_HOST_PTR},
                              in[] = {0,
                                      CL_MEM_READ_WRITE,
                                      CL_MEM_READ_ONLY,
                                      CL_MEM_WRITE_ONLY,
                                      CL_MEM_HOST_READ_ONLY,
                                      CL_MEM_HOST_WRITE_ONLY,
                                      CL_MEM_HOST_NO_ACCESS,
                                      CL_MEM_COPY_HOST_PTR};
    const cl_buffer_region region = {4096, bytes / 2};
    char *host = aligned_alloc(4096, bytes);
    memset(host, 1, bytes);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const bool given = of[i] & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
        cl_mem m = buffer(of[i], bytes, given ? host : NULL);
        for (size_t k = 0; k < sizeof in / sizeof *in; k++) {
            cl_int err;
            cl_mem_flags flags = 0;
            void *ptr = NULL;
            cl_mem s = clCreateSubBuffer(m, in[k], CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
            if (s) {
                CL(clGetMemObjectInfo(s, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
                CL(clGetMemObjectInfo(s, CL_MEM_HOST_PTR, sizeof ptr, &ptr, NULL));
                CL(clReleaseMemObject(s));
            }
            printf("part %zu %zu: %d, flags %x, %s\n", i, k, err, (unsigned)flags,
                   ptr == host + region.origin ? "the host's" : "its own");
        }
        CL(clReleaseMemObject(m));
    }
    cl_mem m = buffer(0, bytes, NULL), s = sub_buffer(m, 0, region.origin, region.size);
    CL(clSetMemObjectDestructorCallback(m, ended, "m"));
    CL(clSetMemObjectDestructorCallback(s, ended, "s"));
    RELEASE(m, s);
    printf("ended: %s\n", ends);
    free(host);
}

/* A map and its unmap behind a command that fails. */
static void failing_behind(cl_mem m)
{
    cl_int err;
    cl_uint n;
    cl_event end;
    void *fails;
    cl_event never = new_user_event();
    CL(clEnqueueMarkerWithWaitList(queue, 1, &never, NULL));
    MADE(fails, clEnqueueMapBuffer(queue, m, CL_FALSE, CL_MAP_READ, 0, 64, 0, NULL, NULL, &err));
    CL(clEnqueueUnmapMemObject(queue, m, fails, 0, NULL, &end));
    CL(clSetUserEventStatus(never, -5));
    clWaitForEvents(1, &end);
    CL(clFinish(queue));
    CL(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof n, &n, NULL));
    err = clEnqueueUnmapMemObject(queue, m, fails, 0, NULL, NULL);
    printf("a map that fails, and its unmap: %u mapped; unmapped once more: %d\n", n, err);
    RELEASE(never, end);
}

/* A map whose wait list fails. PoCL by itself waits for ever: by its name only. */
static void failing(size_t bytes)
{
    cl_int err;
    cl_uint n;
    cl_mem m = buffer(0, bytes, NULL);
    cl_event never = new_user_event();
    CL(clSetUserEventStatus(never, -5));
    const bool mapped = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ, 0, 64, 1, &never, NULL, &err) != NULL;
    CL(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof n, &n, NULL));
    /* A region whose end is no number that a size_t has. */
    const size_t origin[3] = {SIZE_MAX - 3, 0, 0}, at[3] = {0}, some[3] = {8, 1, 1};
    char host[8];
    const cl_int wraps = clEnqueueReadBufferRect(queue, m, CL_TRUE, origin, at, some, 0, 0, 0, 0, host, 0, NULL, NULL);
    const void *extension = clGetExtensionFunctionAddressForPlatform(platform, "clCreateCommandBufferKHR");
    printf("failing: %d, %s, %u mapped; a region that wraps: %d; %s\n", err, mapped ? "an address" : "none", n, wraps,
           extension ? "an extension" : "no extension");
    failing_behind(m);
    RELEASE(never, m);
}

static const char called_source[] = "__kernel void twice(__global float *v) { v[get_global_id(0)] *= 2.0f; }\n"
                                    "__kernel void calls(__global float *v) { twice(v); v[get_global_id(0)] += 1; }\n";

/* A kernel that can't be given windows changes eight buffers in turn, twice; then one that can. */
static void uncut(size_t bytes)
{
    enum { BUFFERS = 8, ROUNDS = 2 };
    const size_t items = bytes / BUFFERS / 4 / 64 * 64;
    cl_program p = build(called_source, "");
    cl_kernel calls = kernel_of(p, "calls");
    cl_mem m[BUFFERS];
    for (cl_uint i = 0; i < BUFFERS; i++) {
        m[i] = buffer(CL_MEM_READ_WRITE, items * 4, NULL);
        begin_with(m[i], items, i);
    }
    for (int i = 0; i < ROUNDS * BUFFERS; i++) {
        set_mem(calls, 0, m[i % BUFFERS]);
        launch(queue, calls, items, 64, 0, NULL, NULL);
    }
    cl_kernel add = kernel_of(program, "add");
    CL(clSetKernelArg(add, 1, sizeof(float), &(float){3}));
    for (int i = 0; i < BUFFERS; i++) {
        set_mem(add, 0, m[i]);
        launch(queue, add, items, 64, 0, NULL, NULL);
    }
    for (int i = 0; i < BUFFERS; i++) {
        show_pieces("uncut", m[i], items * 4);
        CL(clReleaseMemObject(m[i]));
    }
    RELEASE(add, calls, p);
}

/* Kernels that can't be given windows. */
static void whole(size_t bytes)
{
    enum { NUMBERS = 48 };
    char text[1024] = "__kernel void many(__global float *v";
    const size_t items = bytes / 4;
    for (int i = 0; i < NUMBERS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", int n%d", i);
    strcat(text, ")\n{ v[get_global_id(0)] += n0 + n47; }\n");
    cl_program many_program = build(text, ""), called_program = build(called_source, "");
    cl_kernel many = kernel_of(many_program, "many"), calls = kernel_of(called_program, "calls");
    cl_mem m = buffer(CL_MEM_READ_WRITE, items * 4, NULL);
    begin_with(m, items, 7);
    set_mem(many, 0, m);
    set_mem(calls, 0, m);
    for (cl_uint i = 1; i <= NUMBERS; i++)
        set_uint(many, i, i);
    launch(queue, many, items, 64, 0, NULL, NULL);
    launch(queue, calls, items, 64, 0, NULL, NULL);
    const cl_buffer_region half = {items * 2 / 4096 * 4096, items * 2 / 4096 * 4096};
    cl_mem sub = sub_buffer(m, CL_MEM_READ_WRITE, half.origin, half.size);
    set_mem(calls, 0, sub);
    launch(queue, calls, half.size / 4, 64, 0, NULL, NULL);
    show_pieces("whole", m, items * 4);
    RELEASE(sub, m, many, calls, many_program, called_program);
}

/* What the device says of its memory; not one of the cases, as it is another with gpusparc. */
static int say_memory(void)
{
    cl_ulong all, one;
    CL(clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL));
    CL(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof one, &one, NULL));
    printf("%" PRIu64 " %" PRIu64 "\n", (uint64_t)all, (uint64_t)one);
    return finish();
}

/* A kernel without a buffer: an application's first launch may be one, so that the driver is awake. */
static void launch_nothing(void)
{
    cl_kernel k = kernel_of(program, "nothing");
    CL(clSetKernelArg(k, 0, sizeof(cl_mem), NULL));
    launch(queue, k, 4096, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    CL(clReleaseKernel(k));
}

/* Of an event that three callbacks are set for: how often each was called, with what status. */
static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int n;
    cl_int status;
} calls[3];

static void CL_CALLBACK called(cl_event event, cl_int status, void *at)
{
    pthread_mutex_lock(&calls_lock);
    calls[(intptr_t)at].n++;
    calls[(intptr_t)at].status = status;
    pthread_mutex_unlock(&calls_lock);
}

static int count_calls(void)
{
    pthread_mutex_lock(&calls_lock);
    const int n = calls[CL_SUBMITTED].n + calls[CL_RUNNING].n + calls[CL_COMPLETE].n;
    pthread_mutex_unlock(&calls_lock);
    return n;
}

/* They may come after clFinish. */
static void show_calls(void)
{
    for (int i = 0; i < 3000 && count_calls() < 3; i++)
        sleep_ms(10);
    for (int i = CL_COMPLETE; i <= CL_SUBMITTED; i++)
        printf("the callback for %d: called %d times, with %d\n", i, calls[i].n, calls[i].status);
}

/* A kernel that only asks whether it has been given a second buffer. */
static void given(size_t bytes)
{
    const size_t items = bytes / 8;
    cl_mem m[2] = {buffer(CL_MEM_READ_WRITE, items * 4, NULL), buffer(CL_MEM_READ_WRITE, items * 4, NULL)};
    cl_kernel k = kernel_of(program, "given");
    for (int i = 0; i < 3; i++) {
        set_mem(k, 0, m[0]);
        CL(clSetKernelArg(k, 1, sizeof(cl_mem), i < 2 ? &m[i] : NULL));
        launch(queue, k, items, 64, 0, NULL, NULL);
        show_pieces("given", m[0], items * 4);
    }
    RELEASE_ALL(m);
    CL(clReleaseKernel(k));
}

/* Launches of which each reads what the one before has written, all enqueued before the first begins: what their events
 * say. Each begins when the one before has ended, and has failed if that one has. */
static void behind(size_t bytes)
{
    enum { N = 5 };
    const size_t w = 256, h = bytes / 2 / 4 / w, global[2] = {w, h}, local[2] = {64, 1};
    cl_mem m[2] = {buffer(CL_MEM_READ_WRITE, w * h * 4, NULL), buffer(CL_MEM_READ_WRITE, w * h * 4, NULL)};
    cl_kernel k = kernel_of(program, "smooth");
    cl_event e[N];
    cl_int status;
    cl_ulong begins, ended = 0;
    cl_command_queue timed = new_queue(CL_QUEUE_PROFILING_ENABLE);
    begin_with(m[0], w * h, 1);
    CL(clFinish(queue));
    cl_event go = new_user_event();
    SET_FROM(2, k, (cl_uint)w, (cl_uint)h);
    for (int i = 0; i < N; i++) {
        SET(k, m[i % 2], m[1 - i % 2]);
        CL(clEnqueueNDRangeKernel(timed, k, 2, NULL, global, local, !i, i ? NULL : &go, &e[i]));
    }
    CL(clSetUserEventStatus(go, CL_COMPLETE));
    clFinish(timed);
    for (int i = 0; i < N; i++) {
        CL(clGetEventInfo(e[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        printf("launch %d: %s", i, status ? "failed" : "ended");
        if (!status) {
            CL(clGetEventProfilingInfo(e[i], CL_PROFILING_COMMAND_START, sizeof begins, &begins, NULL));
            printf(", %s", begins < ended ? "before the one before" : "in order");
            CL(clGetEventProfilingInfo(e[i], CL_PROFILING_COMMAND_END, sizeof ended, &ended, NULL));
        }
        puts("");
        CL(clReleaseEvent(e[i]));
    }
    RELEASE(go, timed, k);
    RELEASE_ALL(m);
}

/* One of each call that puts an event or an order into a queue without one; and what their events say. */
static void events(size_t bytes)
{
    enum { N = 6 };
    static const cl_profiling_info stages[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                               CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    cl_command_queue of;
    cl_int err, status;
    cl_event e[N], copied;
    cl_command_type type;
    cl_ulong before, t;
    cl_command_queue timed = new_queue(CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem a, b = buffer(CL_MEM_READ_WRITE, bytes, NULL);
    const cl_mem_properties none[1] = {0};
    size_t list = 99;
    MADE(a, clCreateBufferWithProperties(context, none, CL_MEM_READ_WRITE, bytes, NULL, &err));
    CL(clGetMemObjectInfo(a, CL_MEM_PROPERTIES, 0, NULL, &list));
    printf("a list of properties of %zu bytes", list);
    CL(clGetMemObjectInfo(b, CL_MEM_PROPERTIES, 0, NULL, &list));
    printf(", and of %zu\n", list);
    CL(clEnqueueFillBuffer(timed, a, &(cl_uint){1}, 4, 0, bytes, 0, NULL, &e[0]));
    CL(clEnqueueMarkerWithWaitList(timed, 1, &e[0], &e[1]));
    CL(clEnqueueBarrierWithWaitList(timed, 1, &e[1], &e[2]));
    CL(clEnqueueCopyBuffer(timed, a, b, 0, 0, bytes, 0, NULL, &e[3]));
    CL(clEnqueueMarker(timed, &e[4]));
    CL(clEnqueueBarrierWithWaitList(timed, 1, &e[4], NULL)); /* PoCL has no clEnqueueWaitForEvents */
    CL(clEnqueueFillBuffer(timed, a, &(cl_uint){2}, 4, 0, bytes, 0, NULL, NULL));
    CL(clEnqueueBarrier(timed));
    CL(clEnqueueCopyBuffer(timed, a, b, 0, 0, bytes / 2, 0, NULL, &e[5]));
    printf("no event %d\n", clEnqueueMarker(timed, NULL));
    /* A marker and a barrier of OpenCL 1.1 wait for the copy before them: the fill comes behind it. */
    cl_event late = new_user_event(), marked, filled;
    CL(clFinish(timed));
    CL(clEnqueueCopyBuffer(timed, a, b, bytes / 2, bytes / 2, bytes / 4, 1, &late, NULL));
    CL(clEnqueueMarker(timed, &marked));
    CL(clEnqueueBarrier(timed));
    CL(clEnqueueFillBuffer(timed, a, &(cl_uint){4}, 4, bytes / 2, bytes / 4, 0, NULL, &filled));
    CL(clFlush(timed));
    CL(clEnqueueFillBuffer(queue, a, &(cl_uint){5}, 4, 0, 4, 0, NULL, NULL));
    CL(clFinish(queue));
    CL(clGetEventInfo(marked, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    printf("the marker %s", status > CL_COMPLETE ? "waits" : "has ended");
    CL(clGetEventInfo(filled, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    printf(", the fill %s\n", status > CL_COMPLETE ? "waits" : "has ended");
    CL(clSetUserEventStatus(late, CL_COMPLETE));
    CL(clFinish(timed));
    RELEASE(late, marked, filled);
    /* The last copy stands behind a barrier that waits until the other queue has filled the source once more. */
    cl_event held = new_user_event();
    CL(clFinish(timed));
    CL(clEnqueueBarrierWithWaitList(timed, 1, &held, NULL));
    CL(clEnqueueCopyBuffer(timed, a, b, 0, 0, bytes / 4, 0, NULL, &copied));
    for (intptr_t i = CL_COMPLETE; i <= CL_SUBMITTED; i++)
        CL(clSetEventCallback(copied, (cl_int)i, called, (void *)i));
    CL(clFlush(timed));
    CL(clEnqueueFillBuffer(queue, a, &(cl_uint){3}, 4, 0, bytes, 0, NULL, NULL));
    CL(clFinish(queue));
    CL(clSetUserEventStatus(held, CL_COMPLETE));
    CL(clFinish(timed));
    CL(clReleaseEvent(held));
    show_calls();
    CL(clReleaseEvent(copied));
    for (int i = 0; i < N; i++) {
        CL(clGetEventInfo(e[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        CL(clGetEventInfo(e[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        CL(clGetEventInfo(e[i], CL_EVENT_COMMAND_QUEUE, sizeof of, &of, NULL));
        printf("event %d: %d, %#x, %s queue\n", i, status, type, of == timed ? "its" : "another");
        before = 0;
        for (size_t k = 0; k < sizeof stages / sizeof *stages; k++, before = t) {
            CL(clGetEventProfilingInfo(e[i], stages[k], sizeof t, &t, NULL));
            if (t < before)
                printf("event %d: stage %zu is before the last\n", i, k);
        }
        CL(clReleaseEvent(e[i]));
    }
    show_pieces("ordered", b, bytes);
    RELEASE(a, b, timed);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(size_t bytes);
    } cases[] = {{"images", images},   {"stencil", stencil},     {"steps", steps},       {"matrices", matrices},
                 {"gathers", gathers}, {"reduction", reduction}, {"windows", windows},   {"invalidates", invalidates},
                 {"whole", whole},     {"nothing", nothing},     {"events", events},     {"parts", parts},
                 {"maps", maps},       {"uncut", uncut},         {"writes", writes_all}, {"rows", writes_rows},
                 {"behind", behind},   {"given", given}};
    const size_t bytes = (argc > 1 ? strtoull(argv[1], NULL, 10) : 4096) << 10;
    start(0);
    if (argc > 2 && strcmp(argv[2], "memory") == 0)
        return say_memory();
    program = build(source, "");
    launch_nothing();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc < 3 || strcmp(argv[2], cases[i].name) == 0)
            cases[i].run(bytes);
    if (argc > 2 && strcmp(argv[2], "failing") == 0)
        failing(bytes);
    return FINISH(program);
}
