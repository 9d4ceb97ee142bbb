/* SPDX-License-Identifier: MIT */
/* Kernels whose atomics' results are used, as programs write them: a search that puts what it finds where a counter
 * says, a first finding that ends it for all who come later, tickets for everybody. What they find where is theirs to
 * order; what is printed is the same for every order. With `everywhere`: only a search in which all parts find
 * something. */
#include "plain.h"

#include <stdlib.h>

enum { N = 1 << 16, MOST = 256, ROUNDS = 6 };

static const char source[] =
    "__kernel void find(__global const uint *in, uint what, __global uint *found, __global uint *n, uint most,\n"
    "                   __global uint *seen, __global uint *sum)\n"
    "{\n"
    "    uint i = get_global_id(0), x = in[i];\n"
    "    for (uint r = 0; r < 40; r++)\n"
    "        x = x * 1664525u + (r & 1u) * 1013904223u;\n"
    "    if (in[i] == what) {\n"
    "        uint at = atomic_inc(n);\n"
    "        if (at < most)\n"
    "            found[at & 255] = i;\n"
    "    }\n"
    "    seen[i] += x;\n" /* in place: it must not be done twice */
    "    atomic_add(sum, x & 3u);\n"
    "}\n"
    "__kernel void first(__global const uint *in, uint what, __global uint *done, __global uint *out)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    if (*done)\n"
    "        return;\n"
    "    out[i] = in[i] ^ what;\n"
    "    if (in[i] == what && atomic_cmpxchg(done, 0u, i + 1u) == 0u)\n"
    "        out[i] = 7u;\n"
    "}\n"
    "__kernel void ticket(__global uint *mine, __global uint *next) { mine[get_global_id(0)] = atomic_add(next, 1u); "
    "}\n"
    "__kernel void sized(__global uint *mine, __global uint *next) { mine[get_global_id(0)] = atomic_add(next, 1u); }\n"
    "__kernel void borrow(__global int *left, __global uint *out)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    int had = atomic_dec(left);\n"
    "    out[i] = had > 0 ? i : 0u;\n"
    "    atomic_inc(left);\n"
    "}\n"
    "__kernel void next(__global uint *v, uint by) { v[get_global_id(0)] += by; }\n";

static uint32_t in[N], out[N];
static cl_program program;
static cl_kernel kernel[6];
static cl_mem input, found, count, seen, sum;

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* What stands in a list in whatever order. */
static void show_list(const char *name)
{
    uint32_t n, v[MOST] = {0};
    CL(clEnqueueReadBuffer(queue, count, CL_TRUE, 0, sizeof n, &n, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, found, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
    printf("%s: %u\n", name, n);
    qsort(v, n < MOST ? n : MOST, sizeof *v, by_size);
    show(name, v, sizeof v);
}

static void clear(cl_mem m, size_t bytes)
{
    const cl_uint zero = 0;
    CL(clEnqueueFillBuffer(queue, m, &zero, sizeof zero, 0, bytes, 0, NULL, NULL));
}

/* The number `what` stands at these places of the input. */
static void place(uint32_t what, const uint32_t *at, unsigned n)
{
    for (uint32_t i = 0; i < N; i++)
        in[i] = scramble(i) | 1u << 31;
    for (unsigned i = 0; i < n; i++)
        in[at[i]] = what;
    CL(clEnqueueWriteBuffer(queue, input, CL_TRUE, 0, sizeof in, in, 0, NULL, NULL));
}

static void find(uint32_t what, unsigned rounds)
{
    set_mem(kernel[0], 0, input);
    set_uint(kernel[0], 1, what);
    set_mem(kernel[0], 2, found);
    set_mem(kernel[0], 3, count);
    set_uint(kernel[0], 4, MOST);
    set_mem(kernel[0], 5, seen);
    set_mem(kernel[0], 6, sum);
    set_mem(kernel[4], 0, seen);
    set_uint(kernel[4], 1, 3);
    for (unsigned i = 0; i < rounds; i++) {
        cl_event event;
        launch(queue, kernel[0], N, 64, 0, NULL, &event);
        set_uint(kernel[0], 4, MOST); /* arguments belong to the launch that they were set for */
        launch(queue, kernel[4], N, 64, 1, &event, NULL);
        CL(clReleaseEvent(event));
    }
}

static void search(const char *name, const uint32_t *at, unsigned n)
{
    place(5, at, n);
    clear(count, 4);
    clear(sum, 4);
    clear(found, MOST * 4);
    find(5, ROUNDS);
    show_list(name);
    show_buffer("  seen", queue, seen, 0, sizeof in);
    show_buffer("  sum", queue, sum, 0, 4);
}

static void first(const char *name, const uint32_t *at, unsigned n)
{
    uint32_t done;
    unsigned wrong = 0;
    place(6, at, n);
    clear(count, 4);
    clear(seen, sizeof in);
    set_mem(kernel[1], 0, input);
    set_uint(kernel[1], 1, 6);
    set_mem(kernel[1], 2, count);
    set_mem(kernel[1], 3, seen);
    launch(queue, kernel[1], N, 64, 0, NULL, NULL);
    CL(clEnqueueReadBuffer(queue, count, CL_TRUE, 0, sizeof done, &done, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, seen, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    /* Those that came before it was done have written, all others have not. */
    for (uint32_t i = 0; i < N; i++)
        wrong += out[i] != 0 && out[i] != (i + 1 == done ? 7 : in[i] ^ 6);
    printf("%s: %s, %u wrong\n", name, done ? "done" : "not done", wrong);
    if (!n)
        show("  all", out, sizeof out);
}

static void tickets(void)
{
    for (int round = 0; round < 30; round++) {
        clear(count, 4);
        set_mem(kernel[2], 0, seen);
        set_mem(kernel[2], 1, count);
        launch(queue, kernel[2], N, 64, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    CL(clEnqueueReadBuffer(queue, seen, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    qsort(out, N, sizeof *out, by_size);
    show("tickets", out, sizeof out);
}

/* Each launch has a size of its own. */
static void sizes(void)
{
    size_t n = N;
    for (int round = 0; round < 30; round++, n -= 64) {
        clear(count, 4);
        set_mem(kernel[5], 0, seen);
        set_mem(kernel[5], 1, count);
        launch(queue, kernel[5], n, 64, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    n += 64;
    CL(clEnqueueReadBuffer(queue, seen, CL_TRUE, 0, n * 4, out, 0, NULL, NULL));
    qsort(out, n, sizeof *out, by_size);
    show("sizes", out, n * 4);
}

static void borrowed(void)
{
    const uint32_t all = N;
    CL(clEnqueueWriteBuffer(queue, count, CL_TRUE, 0, 4, &all, 0, NULL, NULL));
    set_mem(kernel[3], 0, count);
    set_mem(kernel[3], 1, seen);
    for (int round = 0; round < 3; round++) {
        launch(queue, kernel[3], N, 64, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    show_buffer("borrowed", queue, seen, 0, sizeof in);
    show_buffer("left", queue, count, 0, 4);
}

int main(int argc, char **argv)
{
    const bool few = argc > 1 && strcmp(argv[1], "everywhere") == 0;
    static const char *const names[] = {"find", "first", "ticket", "borrow", "next", "sized"};
    static const uint32_t low[] = {5, 77, 4000}, high[] = {N - 9, N - 3}, both[] = {3, N / 2, N - 1, N / 3, 900};
    start(0);
    program = build(source, "");
    for (int i = 0; i < 6; i++)
        kernel[i] = kernel_of(program, names[i]);
    input = buffer(CL_MEM_READ_ONLY, sizeof in, NULL);
    found = buffer(CL_MEM_READ_WRITE, MOST * 4, NULL);
    count = buffer(CL_MEM_READ_WRITE, 4, NULL);
    seen = buffer(CL_MEM_READ_WRITE, sizeof in, NULL);
    sum = buffer(CL_MEM_READ_WRITE, 4, NULL);
    clear(seen, sizeof in);
    if (!few) {
        search("nowhere", NULL, 0);
        search("low", low, 3);
        search("high", high, 2);
    }
    search("everywhere", both, 5);
    if (!few) {
        search("again nowhere", NULL, 0);
        first("never", NULL, 0);
        first("once", high, 1);
        first("in several places", both, 5);
        borrowed();
        tickets();
        sizes();
    }
    for (int i = 0; i < 6; i++)
        CL(clReleaseKernel(kernel[i]));
    CL(clReleaseMemObject(input));
    CL(clReleaseMemObject(found));
    CL(clReleaseMemObject(count));
    CL(clReleaseMemObject(seen));
    CL(clReleaseMemObject(sum));
    CL(clReleaseProgram(program));
    finish();
    return 0;
}
