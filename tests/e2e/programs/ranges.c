/* SPDX-License-Identifier: MIT */
/* ranges stencil|some|count|table|swap|warm KIB [STEPS]: two buffers of so many KiB in all, and steps of a stencil on
 *     them; with a kernel in the middle that needs all of a buffer; `warm`: after a launch with small buffers.
 * ranges mirrored KIB: a launch each
 * part of which reads what the other has written. ranges SEED STEPS: random launches, transfers, copies, rectangles,
 * maps and fills of large buffers and parts of them, by the few kernels that the seed chooses. The same arguments do
 * and print the same. */
#include "plain.h"

enum { BUFFERS = 4, PARTS = 2, OBJECTS = BUFFERS * (1 + PARTS), WORDS = 204800, BYTES = WORDS * 4, ALIGN = 1024 };
enum { W = 1600 }; /* of a picture's line, in words: pages begin elsewhere */

static const char source[] =
    "__kernel void fill(__global uint *v, uint a) { size_t i = get_global_id(0); v[i] = (uint)i * 2654435761u + a; }\n"
    "__kernel void smooth(__global const uint *a, __global uint *b, uint w, ulong n)\n"
    "{ size_t i = get_global_id(0); uint s = a[i] * 2u;\n"
    "  if (i >= w) s += a[i - w];\n"
    "  if (i + w < n) s += a[i + w] + (uint)get_group_id(0);\n"
    "  b[i] = s; }\n"
    "__kernel void scale(__global uint *v, uint a) { size_t i = get_global_id(0); v[i] = v[i] * a + (uint)i; }\n"
    /* what a part reads are pieces far from each other, and so is what it writes */
    "__kernel void apart(__global const uint *a, __global uint *b, uint first, uint c)\n"
    "{ size_t i = first + get_global_id(0); uint s = a[i] ^ a[i + c] ^ a[i + 2u * c];\n"
    "  b[i] = s; b[i + c] = s + 1u; b[i + 2u * c] = s + 2u; }\n"
    /* a band of columns of some lines */
    "__kernel void columns(__global uint *v, uint w, uint line, uint end)\n"
    "{ size_t x = get_global_id(0); for (uint y = line; y < end; y++) v[y * w + x] += y * 3u + (uint)x; }\n"
    "__kernel void turned(__global const uint *a, __global uint *b, uint w, uint line, uint end)\n"
    "{ size_t x = get_global_id(0); for (uint y = line; y < end; y++) b[y * w + x] = a[y * w + x] + 7u; }\n"
    "__kernel void bytes(__global const uchar *a, __global uchar *b)\n"
    "{ size_t i = get_global_id(0); b[i] = a[i] + (uchar)i; }\n"
    /* these need all of the buffer */
    "__kernel void some(__global const uint *a, __global uint *v)\n"
    "{ size_t i = get_global_id(0); if (a[i] % 5u == 0u) v[a[i] % 999u] = 7u; }\n"
    "__kernel void count(__global const uint *v, __global uint *bins)\n"
    "{ atomic_add(&bins[v[get_global_id(0)] % 300u], 1u); }\n"
    "__kernel void table(__constant uint *t, __global uint *v) { size_t i = get_global_id(0); v[i] += t[i]; }\n"
    "__kernel void mirror(__global const uint *a, __global uint *b, ulong n) { size_t i = get_global_id(0); b[i] = a[n "
    "- "
    "1 - i]; }\n"
    "__kernel void swap(__global uint *v, ulong n) { size_t i = get_global_id(0); uint s = v[i]; v[i] = v[n - 1 - i]; "
    "v[n - 1 - i] = s; }\n";
static const char *const names[] = {"fill",  "smooth", "scale", "apart", "columns", "turned",
                                    "bytes", "some",   "count", "table", "mirror",  "swap"};
enum { FILL, SMOOTH, SCALE, APART, COLUMNS, TURNED, BYTEWISE, SOME, COUNT, TABLE, MIRROR, SWAP, KERNELS };

static struct object {
    cl_mem mem;
    unsigned root;
    size_t words;
} object[OBJECTS];
static cl_kernel kernel[KERNELS];
static unsigned char host[2 * BYTES];
static uint64_t state;
static unsigned step;
static bool roots; /* no parts of buffers are used yet */

static unsigned rnd(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static void show_words(const char *what, const void *v, size_t bytes)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ ((const unsigned char *)v)[i]) * 1099511628211u;
    printf("%u: %s %016" PRIx64 "\n", step, what, sum);
}

static void run(cl_kernel k, size_t items)
{
    launch(queue, k, items, 64, 0, NULL, NULL);
}

/* ---- two buffers ---- */

static void stencil(size_t words, unsigned steps, unsigned middle)
{
    cl_mem m[2] = {buffer(CL_MEM_READ_WRITE, words * 4, NULL), buffer(CL_MEM_READ_WRITE, words * 4, NULL)};
    uint32_t *v = malloc(words * 4);
    const cl_ulong n = words;
    SET(kernel[FILL], m[0], 5);
    run(kernel[FILL], words);
    CL(clSetKernelArg(kernel[SMOOTH], 3, sizeof n, &n));
    for (unsigned i = 0; i < steps; i++) {
        SET(kernel[SMOOTH], m[i % 2], m[1 - i % 2], 1024);
        run(kernel[SMOOTH], words);
        if (middle == SWAP && i == steps / 2) {
            SET1(0, kernel[SWAP], m[1 - i % 2]);
            CL(clSetKernelArg(kernel[SWAP], 1, sizeof n, &n));
            run(kernel[SWAP], words / 2);
        } else if (middle < KERNELS && i == steps / 2) {
            SET(kernel[middle], m[i % 2], m[1 - i % 2]);
            run(kernel[middle], words);
        }
    }
    CL(clEnqueueReadBuffer(queue, m[steps % 2], CL_TRUE, 0, words * 4, v, 0, NULL, NULL));
    show_words("stencil", v, words * 4);
    free(v);
    RELEASE_ALL(m);
}

/* A launch reads a buffer that the one before has written in parts, each part what the other has written. Says what is
 * in the buffer, or why nobody knows. */
static int mirrored(size_t words)
{
    cl_mem m[2] = {buffer(CL_MEM_READ_WRITE, words * 4, NULL), buffer(CL_MEM_READ_WRITE, words * 4, NULL)};
    uint32_t *v = calloc(words, 4);
    const cl_ulong n = words;
    SET(kernel[FILL], m[0], 5);
    run(kernel[FILL], words);
    clFinish(queue);
    SET(kernel[MIRROR], m[0], m[1]);
    CL(clSetKernelArg(kernel[MIRROR], 2, sizeof n, &n));
    run(kernel[MIRROR], words);
    clFinish(queue); /* it may have failed */
    const cl_int err = clEnqueueReadBuffer(queue, m[0], CL_TRUE, 0, words * 4, v, 0, NULL, NULL);
    if (err)
        printf("error %d\n", err);
    else
        show_words("mirrored", v, words * 4);
    free(v);
    RELEASE_ALL(m);
    return err != CL_SUCCESS;
}

/* ---- at random ---- */

/* One of another root. While only roots are used, replicas stay ranges. */
static struct object *other(const struct object *than)
{
    struct object *o;
    do
        o = &object[roots ? rnd(BUFFERS) * (1 + PARTS) : rnd(OBJECTS)];
    while (than && o->root == than->root);
    return o;
}

/* Columns and pieces lie in the last half or quarter, where one device has been. */
static void do_launch(unsigned which)
{
    cl_kernel k = kernel[which];
    const struct object *a = other(NULL), *b = other(a);
    const size_t words = a->words < b->words ? a->words : b->words, some = words - rnd(5) * 64;
    const cl_ulong n = some;
    const cl_uint first = (cl_uint)(words * (2 + rnd(2)) / 4), c = (cl_uint)(words - first) / 3 & ~63u,
                  line = first / W + 1 + rnd(3), end = (cl_uint)words / W - !rnd(3);
    switch (which) {
    case FILL:
    case SCALE:
        SET(k, b->mem, rnd(1000));
        run(k, some);
        break;
    case SMOOTH:
        SET(k, a->mem, b->mem, 1 + rnd(1500));
        CL(clSetKernelArg(k, 3, sizeof n, &n));
        run(k, some);
        break;
    case APART:
        SET(k, a->mem, b->mem, first, c);
        run(k, (c / 2 - rnd(c / 8)) / 64 * 64);
        break;
    case COLUMNS:
        SET(k, b->mem, W, line, end);
        run(k, 1536);
        break;
    case TURNED:
        SET(k, a->mem, b->mem, W, line, end);
        run(k, 1536);
        break;
    case BYTEWISE:
        SET(k, a->mem, b->mem);
        run(k, words * 4);
        break;
    case MIRROR:
        SET(k, a->mem, b->mem);
        CL(clSetKernelArg(k, 2, sizeof n, &n));
        run(k, some);
        break;
    case SWAP:
        SET1(0, k, b->mem);
        CL(clSetKernelArg(k, 1, sizeof n, &n));
        run(k, some / 128 * 64);
        break;
    default:
        SET(k, a->mem, b->mem);
        run(k, some);
    }
}

static void do_transfer(unsigned what)
{
    static unsigned char got[BYTES];
    const struct object *o = other(NULL), *to = other(o);
    const size_t all = o->words * 4, most = to->words < o->words ? to->words * 4 : all;
    size_t n = 1 + rnd(rnd(2) ? 3000 : (unsigned)most), at = rnd((unsigned)(all - n + 1));
    n = n < most ? n : most;
    const size_t host_at = rnd(BYTES), there = rnd((unsigned)(to->words * 4 - n + 1));
    const size_t line = W * 4, lines = most / line, begin[3] = {rnd(2000), rnd((unsigned)lines / 2)},
                 box[3] = {1 + rnd(1900), 1 + rnd((unsigned)(lines / 2)), 1}, zero[3] = {0, 0, 0};
    const cl_uint pattern = rnd(1 << 30);
    unsigned char *v;
    switch (what) {
    case 0:
        CL(clEnqueueReadBuffer(queue, o->mem, CL_TRUE, at, n, got, 0, NULL, NULL));
        show_words("read", got, n);
        break;
    case 1:
        CL(clEnqueueWriteBuffer(queue, o->mem, rnd(2), at, n, host + host_at, 0, NULL, NULL));
        break;
    case 2:
    case 3:
    case 4:
        CL(clEnqueueCopyBuffer(queue, o->mem, to->mem, at < all - n ? at : all - n, there, n, 0, NULL, NULL));
        break;
    case 5:
        CL(clEnqueueFillBuffer(queue, o->mem, &pattern, 4, at / 4 * 4,
                               (n + 3) / 4 * 4 > all - at / 4 * 4 ? 4 : (n + 3) / 4 * 4, 0, NULL, NULL));
        break;
    case 6:
        v = map_now(o->mem, rnd(2) ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_READ, at, n);
        show_words("map", v, n);
        unmap(o->mem, v);
        break;
    case 7:
        CL(clEnqueueReadBufferRect(queue, o->mem, CL_TRUE, begin, zero, box, line, 0, 0, 0, got, 0, NULL, NULL));
        show_words("rectangle", got, box[0] * box[1]);
        break;
    case 8:
        CL(clEnqueueWriteBufferRect(queue, o->mem, rnd(2), begin, zero, box, line, 0, line, 0, host + host_at / 2, 0,
                                    NULL, NULL));
        break;
    default: /* PoCL 3.1 crashes where these are parts */
        CL(clEnqueueCopyBufferRect(queue, object[o->root * (1 + PARTS)].mem, object[to->root * (1 + PARTS)].mem, begin,
                                   begin, box, line, 0, line, 0, 0, NULL, NULL));
    }
}

static void make_objects(void)
{
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)rnd(256);
    for (unsigned b = 0; b < BUFFERS; b++) {
        struct object *o = &object[b * (1 + PARTS)];
        *o = (struct object){buffer_of(host + b * 999, BYTES), b, WORDS};
        for (unsigned p = 1; p <= PARTS; p++) {
            const size_t bytes = BYTES / 2 + ALIGN * rnd(BYTES / 2 / ALIGN),
                         begin = ALIGN * rnd((unsigned)((BYTES - bytes) / ALIGN));
            o[p] = (struct object){sub_buffer(o->mem, 0, begin, bytes), b, bytes / 4};
        }
    }
}

/* Parts of buffers, and kernels that need all of a buffer, come in the last third. */
static void at_random(uint64_t seed, unsigned steps)
{
    static unsigned char all[BYTES];
    unsigned chosen[6];
    state = seed;
    make_objects();
    for (unsigned i = 0; i < 6; i++)
        chosen[i] = rnd(i < 4 ? SOME : KERNELS);
    for (step = 1; step <= steps; step++) {
        roots = 3 * step < 2 * steps;
        if (rnd(5) < 3)
            do_launch(chosen[rnd(roots ? 4 : 6)]);
        else
            do_transfer(rnd(10));
        if (rnd(20) == 0)
            CL(clFinish(queue));
    }
    for (unsigned b = 0; b < BUFFERS; b++) {
        CL(clEnqueueReadBuffer(queue, object[b * (1 + PARTS)].mem, CL_TRUE, 0, BYTES, all, 0, NULL, NULL));
        show_words("buffer", all, BYTES);
    }
    for (unsigned i = OBJECTS; i-- > 0;)
        CL(clReleaseMemObject(object[i].mem));
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    start(0);
    cl_program program = build(source, "");
    for (unsigned i = 0; i < KERNELS; i++)
        kernel[i] = kernel_of(program, names[i]);
    const size_t words = strtoull(argv[2], NULL, 10) * 128;
    int failed = 0;
    unsigned middle = SOME;
    while (middle < KERNELS && strcmp(argv[1], names[middle]) != 0)
        middle++;
    if (strcmp(argv[1], "warm") == 0)
        stencil(4096, 1, KERNELS);
    if (strcmp(argv[1], "mirrored") == 0)
        failed = mirrored(words);
    else if (argv[1][0] < '0' || argv[1][0] > '9')
        stencil(words, argc > 3 ? (unsigned)atoi(argv[3]) : 6, middle);
    else
        at_random(strtoull(argv[1], NULL, 10), (unsigned)atoi(argv[2]));
    RELEASE_ALL(kernel);
    return FINISH(program) || failed;
}
