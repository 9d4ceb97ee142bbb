/* SPDX-License-Identifier: MIT */
/* append [SEED [LAUNCHES]]: kernels in which every work-item that finds something puts it behind what the others have
 * put into a list, as programs do that compact, search, or make geometry. In which order it stands there is nobody's
 * business; what is printed is the same for every order that one device could make. */
#include "plain.h"

enum { MOST = 1 << 15 };
#define GUARD 0xabababab

static const char source[] =
    "typedef struct { uint who; float x; uint what; } hit;\n"
    "uint heavy(uint x) { for (uint r = 0; r < 20; r++) x = x * 1664525u + 1013904223u; return x; }\n"
    "__kernel void compact(__global const uint *in, uint mask, __global uint *out, volatile __global uint *n)\n"
    "{\n"
    "    uint i = get_global_id(0), v = heavy(in[i]);\n"
    "    if ((v >> 8 & mask) == 0)\n"
    "        out[atomic_inc(n)] = i;\n"
    "}\n"
    "__kernel void hits(__global const uint *in, uint mask, __global hit *out, __global ushort *low, __global int *n,\n"
    "                   int most, __global uint *sum)\n"
    "{\n"
    "    uint i = get_global_id(0), v = heavy(in[i]);\n"
    "    if ((v >> 8 & mask) == 0) {\n"
    "        int at = atomic_inc(&n[3]);\n"
    "        if (at < most) {\n"
    "            out[at].who = i;\n"
    "            out[at].x = (float)i;\n"
    "            out[at].what = in[i];\n"
    "            low[at] = (ushort)i;\n"
    "        }\n"
    "    }\n"
    "    atomic_add(sum, v & 3u);\n"
    "}\n"
    "__kernel void triangles(__global const uint *in, uint mask, __global uint *out, __global uint *n)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    for (uint k = 0; k < 3; k++)\n"
    "        if ((heavy(in[i] + k) >> 8 & mask) == 0) {\n"
    "            uint at = 3 * atomic_inc(n);\n"
    "            out[at] = 4 * i + k;\n"
    "            out[at + 1] = ~i;\n"
    "            out[at + 2] = k;\n"
    "        }\n"
    "}\n"
    "void push(__global uint *list, __global uint *n, uint most, uint v)\n"
    "{\n"
    "    uint at = atomic_add(n, 2u);\n"
    "    if (at + 1 >= most)\n"
    "        return;\n"
    "    list[at] = v;\n"
    "    list[at + 1] = ~v;\n"
    "}\n"
    "__kernel void pairs(__global const uint *in, uint mask, __global uint *out, __global uint *n, uint most)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    if ((heavy(in[i]) >> 8 & mask) == 0)\n"
    "        push(out, n + 1, most, i);\n"
    "}\n"
    "__kernel void sides(__global const uint *in, uint mask, __global uint *odd, __global uchar *even, __global uint "
    "*n,\n"
    "                    __global uint *all)\n"
    "{\n"
    "    uint i = get_global_id(0), v = heavy(in[i]);\n"
    "    if (v & 1) {\n"
    "        uint at = atomic_inc(&n[0]);\n"
    "        odd[at] = i;\n"
    "    } else if ((v >> 8 & mask) == 0) {\n"
    "        even[atomic_inc(&n[1])] = (uchar)i;\n"
    "    }\n"
    "    all[i] += v;\n"
    "}\n"
    "__kernel void beside(__global const uint *in, uint mask, volatile __global uint *box)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    if ((heavy(in[i]) >> 8 & mask) == 0)\n"
    "        box[6 + atomic_inc(&box[3])] = i;\n"
    "}\n"
    "typedef struct { uint most; int count; } head;\n"
    "__kernel void behind(__global const uint *in, uint mask, __global head *box, int at, int most)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    __global uint2 *pairs = (__global uint2 *)box + at;\n"
    "    if ((heavy(in[i]) >> 8 & mask) == 0) {\n"
    "        int k = atomic_inc(&box->count);\n"
    "        if (k < most)\n"
    "            pairs[k] = (uint2)(i, ~i);\n"
    "    }\n"
    "}\n"
    "__kernel void after(__global const uint *box, __global uint *sum)\n"
    "{\n"
    "    if (get_global_id(0) < box[3])\n"
    "        atomic_add(sum, heavy(box[6 + get_global_id(0)]));\n"
    "}\n"
    "__kernel void mark(__global uint *list)\n"
    "{\n"
    "    list[get_global_size(0) - 1 - get_global_id(0)] = 0xabababab;\n"
    "}\n"
    "__kernel void next(__global const uint *list, __global const uint *n, __global uint *sum)\n"
    "{\n"
    "    if (get_global_id(0) < n[0])\n"
    "        atomic_add(sum, heavy(list[get_global_id(0)]));\n"
    "}\n";

enum { COMPACT, HITS, TRIANGLES, PAIRS, SIDES, NEXT, MARK, BESIDE, BEHIND, AFTER, KERNELS };

struct hit {
    uint32_t who;
    float x;
    uint32_t what;
};

static uint32_t in[MOST], words[MOST * 9 + 64], counts[16];
static struct hit found[MOST + 64];
static uint16_t low[MOST + 64];
static uint8_t bytes[MOST + 64];
static cl_kernel kernel[KERNELS];
static cl_mem input, list, other, count, sum, all;
static cl_command_queue second;
static unsigned wrong;

static uint32_t state;

static uint32_t pick(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)scramble(state) * n) >> 32);
}

static uint32_t heavy(uint32_t x)
{
    for (int r = 0; r < 20; r++)
        x = x * 1664525u + 1013904223u;
    return x;
}

static void fill(cl_mem m, uint32_t word, size_t n)
{
    CL(clEnqueueFillBuffer(queue, m, &word, sizeof word, 0, n, 0, NULL, NULL));
}

static void read_back(cl_mem m, void *to, size_t n)
{
    CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, n, to, 0, NULL, NULL));
}

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void expect(bool is, const char *what)
{
    wrong += !is;
    if (!is)
        printf("wrong: %s\n", what);
}

/* What comes behind the list is as it was. */
static void untouched(const uint32_t *v, size_t n, const char *what)
{
    bool is = true;
    for (size_t i = 0; i < n; i++)
        is &= v[i] == GUARD;
    expect(is, what);
}

static cl_mem part_of(cl_mem m, size_t origin, size_t size)
{
    cl_int err;
    cl_mem sub;
    const cl_buffer_region r = {origin, size};
    MADE(sub, clCreateSubBuffer(m, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &r, &err));
    return sub;
}

/* Several times, each time behind the last, from `begin` on; between them a kernel that reads the list on another
 * queue, so that more than one place has it from then on. */
static void compact(unsigned n, unsigned local, uint32_t mask, uint32_t begin)
{
    enum { LAUNCHES = 4 };
    cl_event made, taken = NULL;
    fill(list, GUARD, sizeof words);
    fill(sum, 0, 4);
    fill(count, begin, 4);
    set_mem(kernel[COMPACT], 0, input);
    set_uint(kernel[COMPACT], 1, mask);
    set_mem(kernel[COMPACT], 2, list);
    set_mem(kernel[COMPACT], 3, count);
    set_mem(kernel[NEXT], 0, list);
    set_mem(kernel[NEXT], 1, count);
    set_mem(kernel[NEXT], 2, sum);
    for (int i = 0; i < LAUNCHES; i++) {
        launch(queue, kernel[COMPACT], n, local, taken != NULL, taken ? &taken : NULL, &made);
        if (taken)
            CL(clReleaseEvent(taken));
        taken = NULL;
        CL(clFlush(queue));
        if (begin == 0 && i > 0) {
            launch(second, kernel[NEXT], MOST * LAUNCHES, 64, 1, &made, &taken);
            CL(clFlush(second));
        }
        if (i + 1 < LAUNCHES)
            CL(clReleaseEvent(made));
    }
    if (taken)
        CL(clReleaseEvent(taken));
    CL(clFinish(second));
    CL(clWaitForEvents(1, &made));
    CL(clReleaseEvent(made));
    read_back(list, words, sizeof words);
    read_back(count, counts, 4);
    const uint32_t k = counts[0] <= MOST * LAUNCHES + begin ? counts[0] - begin : 0, each = k / LAUNCHES;
    untouched(words, begin, "before the list");
    untouched(words + begin + k, sizeof words / 4 - begin - k, "behind the list");
    /* Each launch's part stands behind the one before, whatever the order in each. */
    for (int i = 0; i < LAUNCHES; i++)
        qsort(words + begin + (size_t)i * each, each, 4, by_size);
    for (int i = 1; i < LAUNCHES; i++)
        expect(memcmp(words + begin, words + begin + (size_t)i * each, (size_t)each * 4) == 0, "a later launch's list");
    printf("compact %u: %u\n", n, counts[0]);
    show("  list", words + begin, (size_t)k * 4);
    show_buffer("  next", queue, sum, 0, 4);
}

static void hits(unsigned n, unsigned local, uint32_t mask, int most)
{
    unsigned good = 0;
    const unsigned most_hits = most > 0 ? (unsigned)most : 0;
    memset(counts, 0, sizeof counts);
    counts[2] = 77;
    CL(clEnqueueWriteBuffer(queue, count, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL));
    fill(list, GUARD, sizeof words);
    fill(other, GUARD, sizeof low);
    fill(sum, 0, 4);
    cl_mem sub = part_of(list, 4096, sizeof found);
    set_mem(kernel[HITS], 0, input);
    set_uint(kernel[HITS], 1, mask);
    set_mem(kernel[HITS], 2, sub);
    set_mem(kernel[HITS], 3, other);
    set_mem(kernel[HITS], 4, count);
    set_uint(kernel[HITS], 5, (cl_uint)most);
    set_mem(kernel[HITS], 6, sum);
    launch(queue, kernel[HITS], n, local, 0, NULL, NULL);
    set_uint(kernel[HITS], 5, 0); /* arguments belong to the launch that they were set for */
    CL(clReleaseMemObject(sub));
    read_back(list, words, sizeof words);
    read_back(other, low, sizeof low);
    read_back(count, counts, sizeof counts);
    memcpy(found, words + 1024, sizeof found);
    const unsigned kept = counts[3] < most_hits ? counts[3] : most_hits;
    untouched(words, 1024, "before the hits");
    static bool seen[MOST];
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < kept; i++) {
        const uint32_t who = found[i].who;
        bool is = who < n && !seen[who] && (heavy(in[who]) >> 8 & mask) == 0;
        is = is && found[i].x == (float)who && found[i].what == in[who] && low[i] == (uint16_t)who;
        good += is;
        if (who < n)
            seen[who] = true;
    }
    expect(good == kept, "the hits");
    untouched(words + 1024 + 3 * kept, sizeof words / 4 - 1024 - 3 * (size_t)kept, "behind the hits");
    expect(low[kept] == 0xabab, "behind the hits' low halves");
    printf("hits %u below %d: %u %u %u %u, %u kept\n", n, most, counts[0], counts[1], counts[2], counts[3], kept);
    show_buffer("  sum", queue, sum, 0, 4);
}

static void triangles(unsigned n, unsigned local, uint32_t mask, uint32_t begun)
{
    unsigned bad = 0;
    uint32_t *made = words + (size_t)3 * begun;
    cl_event event;
    cl_ulong begin, end;
    fill(list, 1, sizeof words);
    set_mem(kernel[MARK], 0, list); /* what is there before lies on several devices, the begin not on the first */
    launch(queue, kernel[MARK], sizeof words / 4, 64, 0, NULL, NULL);
    fill(count, begun, 4);
    set_mem(kernel[TRIANGLES], 0, input);
    set_uint(kernel[TRIANGLES], 1, mask);
    set_mem(kernel[TRIANGLES], 2, list);
    set_mem(kernel[TRIANGLES], 3, count);
    launch(queue, kernel[TRIANGLES], n, local, 0, NULL, &event);
    CL(clFinish(queue));
    CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL));
    CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    CL(clReleaseEvent(event));
    expect(begin <= end, "the profile");
    read_back(list, words, sizeof words);
    read_back(count, counts, 4);
    const uint32_t k = counts[0] <= 3 * MOST + begun ? counts[0] - begun : 0;
    for (uint32_t i = 0; i < k; i++)
        bad += made[3 * i + 1] != ~(made[3 * i] / 4) || made[3 * i + 2] != made[3 * i] % 4;
    expect(!bad, "triangles whose corners belong together");
    untouched(words, (size_t)3 * begun, "before the triangles");
    untouched(made + 3 * k, sizeof words / 4 - 3 * ((size_t)begun + k), "behind the triangles");
    qsort(made, k, 12, by_size);
    printf("triangles %u: %u\n", n, counts[0]);
    show("  corners", made, (size_t)k * 12);
}

/* With room for `most` words, behind others. */
static void pairs(unsigned n, unsigned local, uint32_t mask, uint32_t most)
{
    enum { FIRST = 1024 };
    unsigned bad = 0;
    uint32_t *made = words + FIRST;
    cl_mem sub = part_of(list, FIRST * 4, most * 4 + 4);
    fill(list, GUARD, sizeof words);
    fill(count, 0, sizeof counts);
    set_mem(kernel[PAIRS], 0, input);
    set_uint(kernel[PAIRS], 1, mask);
    set_mem(kernel[PAIRS], 2, sub);
    set_mem(kernel[PAIRS], 3, count);
    set_uint(kernel[PAIRS], 4, most);
    launch(queue, kernel[PAIRS], n, local, 0, NULL, NULL);
    CL(clReleaseMemObject(sub));
    read_back(list, words, sizeof words);
    read_back(count, counts, sizeof counts);
    const uint32_t kept = (counts[1] < most ? counts[1] : most) / 2;
    for (uint32_t i = 0; i < kept; i++)
        bad += made[2 * i + 1] != ~made[2 * i] || made[2 * i] >= n || (heavy(in[made[2 * i]]) >> 8 & mask) != 0;
    expect(!bad, "pairs");
    untouched(words, FIRST, "before the pairs");
    untouched(made + 2 * kept, sizeof words / 4 - FIRST - 2 * (size_t)kept, "behind the pairs");
    qsort(made, kept, 8, by_size);
    for (uint32_t i = 1; i < kept; i++)
        bad += made[2 * i] == made[2 * i - 2];
    expect(!bad, "pairs, each once");
    printf("pairs %u below %u: %u, %u kept\n", n, most, counts[1], kept);
}

static void sides(unsigned n, unsigned local, uint32_t mask)
{
    fill(list, GUARD, sizeof words);
    fill(other, GUARD, sizeof bytes & ~3u);
    fill(count, 0, sizeof counts);
    set_mem(kernel[SIDES], 0, input);
    set_uint(kernel[SIDES], 1, mask);
    set_mem(kernel[SIDES], 2, list);
    set_mem(kernel[SIDES], 3, other);
    set_mem(kernel[SIDES], 4, count);
    set_mem(kernel[SIDES], 5, all);
    launch(queue, kernel[SIDES], n, local, 0, NULL, NULL);
    read_back(list, words, sizeof words);
    read_back(other, bytes, sizeof bytes);
    read_back(count, counts, sizeof counts);
    const uint32_t k = counts[0] <= n ? counts[0] : 0, e = counts[1] <= n ? counts[1] : 0;
    uint64_t sums[2] = {0};
    for (uint32_t i = 0; i < e; i++) {
        sums[0] += bytes[i];
        sums[1] += (uint64_t)bytes[i] * bytes[i];
    }
    untouched(words + k, sizeof words / 4 - k, "behind the odd ones");
    expect(bytes[e] == 0xab, "behind the even ones");
    qsort(words, k, 4, by_size);
    printf("sides %u: %u %u, %" PRIu64 " %" PRIu64 "\n", n, k, counts[1], sums[0], sums[1]);
    show("  odd", words, (size_t)k * 4);
    show_buffer("  all", queue, all, 0, sizeof in);
}

/* The counter is a word of the list's own buffer, which begins at `begin` (below 0: what is stored first goes before
 * the list); perhaps all of this in a window. Between the launches somebody reads, or the host looks at the counter, or
 * puts it back. */
static void beside(unsigned n, unsigned local, uint32_t mask, int begin, bool window, bool resets)
{
    enum { LAUNCHES = 4, HEAD = 6, COUNTER = 3 };
    const size_t origin = window ? 1024 : 0, left = sizeof words / 4 - origin;
    uint32_t *box = words + origin;
    uint32_t k = 0, first = 0;
    cl_mem sub = window ? part_of(list, origin * 4, left * 4) : list;
    fill(list, GUARD, sizeof words);
    fill(sum, 0, 4);
    CL(clEnqueueWriteBuffer(queue, sub, CL_TRUE, COUNTER * 4, 4, &begin, 0, NULL, NULL));
    set_mem(kernel[BESIDE], 0, input);
    set_uint(kernel[BESIDE], 1, mask);
    set_mem(kernel[BESIDE], 2, sub);
    set_mem(kernel[AFTER], 0, sub);
    set_mem(kernel[AFTER], 1, sum);
    for (int i = 0; i < LAUNCHES; i++) {
        launch(queue, kernel[BESIDE], n, local, 0, NULL, NULL);
        if (i == 0 || resets) {
            CL(clEnqueueReadBuffer(queue, sub, CL_TRUE, COUNTER * 4, 4, counts, 0, NULL, NULL));
            if (i == 0)
                first = counts[0] - (uint32_t)begin;
            expect(counts[0] == (uint32_t)begin + (resets ? 1 : (uint32_t)i + 1) * first, "the counter");
        }
        if (resets && i + 1 < LAUNCHES)
            CL(clEnqueueWriteBuffer(queue, sub, CL_FALSE, COUNTER * 4, 4, &begin, 0, NULL, NULL));
        if (i > 0 && begin >= 0)
            launch(queue, kernel[AFTER], MOST * LAUNCHES, 64, 0, NULL, NULL);
    }
    read_back(list, words, sizeof words);
    k = box[COUNTER] - (uint32_t)begin;
    expect(k == (resets ? 1 : LAUNCHES) * first, "how many are beside the counter");
    untouched(words, origin, "before the window");
    untouched(box, COUNTER, "before the counter");
    uint32_t *made = box + HEAD + begin;
    untouched(box + COUNTER + 1, (size_t)(made - box) - COUNTER - 1, "between the counter and the list");
    untouched(made + k, left - (size_t)(made - box) - k, "behind the list beside its counter");
    const uint32_t each = resets ? k : k / LAUNCHES;
    for (uint32_t at = 0; each && at + each <= k; at += each) {
        qsort(made + at, each, 4, by_size);
        expect(memcmp(made, made + at, (size_t)each * 4) == 0, "a later launch's list beside the counter");
    }
    printf("beside %u: %u\n", n, k);
    show("  list", made, (size_t)k * 4);
    if (begin >= 0)
        show_buffer("  after", queue, sum, 0, 4);
    if (window)
        CL(clReleaseMemObject(sub));
}

/* The same where an argument says where the list begins, and another how long it may be. */
static void behind(unsigned n, unsigned local, uint32_t mask, unsigned at, uint32_t most, uint32_t begin)
{
    unsigned bad = 0;
    uint32_t *made = words + 2 * (at + begin);
    fill(list, GUARD, sizeof words);
    CL(clEnqueueWriteBuffer(queue, list, CL_TRUE, 4, 4, &begin, 0, NULL, NULL));
    set_mem(kernel[BEHIND], 0, input);
    set_uint(kernel[BEHIND], 1, mask);
    set_mem(kernel[BEHIND], 2, list);
    set_uint(kernel[BEHIND], 3, at);
    set_uint(kernel[BEHIND], 4, most);
    launch(queue, kernel[BEHIND], n, local, 0, NULL, NULL);
    read_back(list, words, sizeof words);
    const uint32_t room = most > begin ? most - begin : 0;
    const uint32_t k = words[1] - begin, kept = k < room ? k : room;
    expect(words[0] == GUARD, "what is before the counter");
    untouched(words + 2, 2 * (size_t)(at + begin) - 2, "before the list behind");
    untouched(made + 2 * (size_t)kept, sizeof words / 4 - 2 * (size_t)(at + begin + kept), "behind the list behind");
    for (uint32_t i = 0; i < kept; i++)
        bad += made[2 * i + 1] != ~made[2 * i] || made[2 * i] >= n || (heavy(in[made[2 * i]]) >> 8 & mask) != 0;
    qsort(made, kept, 8, by_size);
    for (uint32_t i = 1; i < kept; i++)
        bad += made[2 * i] == made[2 * i - 2];
    expect(!bad, "pairs behind an offset");
    printf("behind %u below %u: %u, %u kept\n", n, most, k, kept);
}

/* What the kernel reads is in the buffer with the counter and the list. */
static void beside_aliased(unsigned n)
{
    const size_t far = sizeof words - sizeof in - 4096;
    fill(list, GUARD, sizeof words);
    cl_mem sub = part_of(list, far / 4096 * 4096, sizeof in);
    CL(clEnqueueWriteBuffer(queue, sub, CL_TRUE, 0, sizeof in, in, 0, NULL, NULL));
    const uint32_t zero = 0;
    CL(clEnqueueWriteBuffer(queue, list, CL_TRUE, 12, 4, &zero, 0, NULL, NULL));
    set_mem(kernel[BESIDE], 0, sub);
    set_uint(kernel[BESIDE], 1, 15);
    set_mem(kernel[BESIDE], 2, list);
    launch(queue, kernel[BESIDE], n, 64, 0, NULL, NULL);
    read_back(list, words, sizeof words);
    CL(clReleaseMemObject(sub));
    qsort(words + 6, words[3], 4, by_size);
    printf("beside aliased %u: %u\n", n, words[3]);
    show("  list", words, sizeof words);
}

/* The kernel's list is read through another argument: nothing of this holds. */
static void aliased(unsigned n)
{
    CL(clEnqueueWriteBuffer(queue, list, CL_TRUE, 0, sizeof in, in, 0, NULL, NULL));
    fill(count, MOST, 4);
    set_mem(kernel[COMPACT], 0, list);
    set_uint(kernel[COMPACT], 1, 15);
    set_mem(kernel[COMPACT], 2, list);
    set_mem(kernel[COMPACT], 3, count);
    launch(queue, kernel[COMPACT], n, 64, 0, NULL, NULL);
    read_back(list, words, sizeof words);
    read_back(count, counts, 4);
    expect(counts[0] >= MOST && counts[0] <= 2 * MOST, "the count");
    qsort(words + MOST, counts[0] - MOST, 4, by_size);
    printf("aliased %u: %u\n", n, counts[0]);
    show("  list", words, counts[0] * 4);
}

int main(int argc, char **argv)
{
    static const char *const names[KERNELS] = {"compact", "hits", "triangles", "pairs",  "sides",
                                               "next",    "mark", "beside",    "behind", "after"};
    const uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
    const int launches = argc > 2 ? atoi(argv[2]) : 12;
    cl_int err;
    printf("seed %u\n", seed);
    state = seed;
    start(CL_QUEUE_PROFILING_ENABLE);
    MADE(second, clCreateCommandQueue(context, device, 0, &err));
    cl_program program = build(source, "");
    for (int i = 0; i < KERNELS; i++)
        kernel[i] = kernel_of(program, names[i]);
    fill_words(in, MOST, seed);
    input = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in);
    list = buffer(CL_MEM_READ_WRITE, sizeof words, NULL);
    other = buffer(CL_MEM_WRITE_ONLY, sizeof low, NULL);
    count = buffer(CL_MEM_READ_WRITE, sizeof counts, NULL);
    sum = buffer(CL_MEM_READ_WRITE, 4, NULL);
    all = buffer(CL_MEM_READ_WRITE, sizeof in, NULL);
    fill(all, 0, sizeof in);
    for (int i = 0; i < launches; i++) {
        const unsigned local = 1u << pick(8);
        const unsigned n = i % 5 == 3 ? MOST : local * (1 + pick(MOST / local));
        const uint32_t mask = i % 5 == 4 ? ~0u : i % 5 == 3 ? 0 : (1u << pick(12)) - 1, most = pick(n + n / 4);
        compact(n, local, mask, pick(3) ? 0 : pick(100));
        hits(n, local, mask, i % 4 == 3 ? -1 : (int)most);
        triangles(n, local, mask, pick(mask ? 9000 : 20));
        pairs(n, local, mask, i % 4 == 2 ? most : 2 * MOST);
        pairs(n, local, mask, pick(3000));
        sides(n, local, mask);
        beside(n, local, mask, i % 3 ? (int)pick(100) : -(int)pick(3), i % 2, pick(2));
        behind(n, local, mask, 1 + pick(1000), i % 4 == 1 ? 2 * MOST : pick(n), pick(50));
    }
    aliased(MOST);
    beside_aliased(MOST);
    printf("%u wrong\n", wrong);
    for (int i = 0; i < KERNELS; i++)
        CL(clReleaseKernel(kernel[i]));
    CL(clReleaseMemObject(input));
    CL(clReleaseMemObject(list));
    CL(clReleaseMemObject(other));
    CL(clReleaseMemObject(count));
    CL(clReleaseMemObject(sum));
    CL(clReleaseMemObject(all));
    CL(clReleaseProgram(program));
    CL(clReleaseCommandQueue(second));
    finish();
    return wrong != 0;
}
