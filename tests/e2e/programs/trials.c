/* SPDX-License-Identifier: MIT */
/* trials SEED ROUNDS: random searches whose finders sit in no part of the launch, in one, or in several; lists, chains
 * and sets that grow by atomics whose results are used. What is printed is the same for every order of work-items. */
#include "plain.h"

enum { MOST = (1 << 14) - 64, TABLE = 1 << 15, CHAINS = 16 };

static const char source[] =
    "#define FINDS (in[i] < most)\n"
    "__kernel void list(__global const uint *in, uint most, __global uint *a, __global uint *b, __global uint *own)\n"
    "{ uint i = get_global_id(0); own[i] = own[i] * 3u + in[i]; if (FINDS) a[16u + atomic_inc(a)] = i; }\n"
    "__kernel void chain(__global const uint *in, uint most, __global uint *a, __global uint *b, __global uint *own)\n"
    "{ uint i = get_global_id(0); own[i] = FINDS ? atomic_xchg(&a[in[i] % 16u], i + 1u) : own[i] | 0x80000000u; }\n"
    "__kernel void set(__global const uint *in, uint most, __global uint *a, __global uint *b, __global uint *own)\n"
    "{\n"
    "    uint i = get_global_id(0), key = in[i] / 2u + 1u;\n"
    "    for (uint k = 0; FINDS && k < 64u; k++) {\n"
    "        uint was = atomic_cmpxchg(&b[(key * 2654435761u + k) % 32768u], 0u, key);\n"
    "        if (was == 0u || was == key)\n"
    "            break;\n"
    "    }\n"
    "    atomic_max(&a[3], in[i]);\n"
    "}\n"
    "__kernel void least(__global const uint *in, uint most, __global uint *a, __global uint *b, __global uint *own)\n"
    "{ uint i = get_global_id(0); if (in[i] < a[5] && atomic_min(&a[5], in[i]) > in[i]) b[0] = 1u; own[i] += 2u; }\n"
    "__kernel void stop(__global const uint *in, uint most, __global uint *a, __global uint *b, __global uint *own)\n"
    "{ uint i = get_global_id(0); if (a[7]) return; own[i] = ~own[i]; if (FINDS) atomic_add(&a[7], 1u); }\n";

static uint32_t in[MOST], a[TABLE], b[TABLE], own[MOST], n_items, seed;
static bool is_found[MOST];
static cl_kernel kernel[5];
static cl_mem input, first, second, third;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static int by_size(const void *x, const void *y)
{
    const uint32_t p = *(const uint32_t *)x, q = *(const uint32_t *)y;
    return p < q ? -1 : p > q;
}

static void read_all(void)
{
    CL(clEnqueueReadBuffer(queue, first, CL_TRUE, 0, sizeof a, a, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, second, CL_TRUE, 0, sizeof b, b, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, third, CL_TRUE, 0, n_items * 4, own, 0, NULL, NULL));
}

/* Finders only between two places: in no part, in one, in several. */
static uint32_t make_input(void)
{
    const uint32_t width = random_below(3) ? random_below(n_items / 3) : n_items,
                   begin = random_below(n_items - width + 1);
    const uint32_t share = random_below(4) ? 1 + random_below(40) : 0, most = 1000;
    for (uint32_t i = 0; i < n_items; i++) {
        const bool finds = i >= begin && i < begin + width && random_below(1000) < share * share;
        in[i] = finds ? random_below(most) : most + random_below(1000000);
    }
    CL(clEnqueueWriteBuffer(queue, input, CL_TRUE, 0, n_items * 4, in, 0, NULL, NULL));
    return most;
}

/* Each member of a chain stands in it once, and nobody else does. */
static unsigned wrong_in_chains(uint32_t most)
{
    unsigned wrong = 0;
    memset(is_found, 0, sizeof is_found);
    for (uint32_t c = 0; c < CHAINS; c++)
        for (uint32_t at = a[c], n = 0; at && n <= n_items; at = own[at - 1], n++) {
            if (at > n_items || is_found[at - 1] || in[at - 1] % CHAINS != c)
                return n_items;
            is_found[at - 1] = true;
        }
    for (uint32_t i = 0; i < n_items; i++)
        wrong += is_found[i] != (in[i] < most) || (!is_found[i] && !(own[i] >> 31));
    return wrong;
}

static void show_outcome(unsigned which, uint32_t most)
{
    uint32_t n, any = 0;
    read_all();
    switch (which) {
    case 0:
        n = a[0] < TABLE - 16 ? a[0] : 0;
        qsort(a + 16, n, sizeof *a, by_size);
        show("list", a, sizeof a);
        show("own", own, n_items * 4);
        break;
    case 1:
        printf("chains: %u wrong\n", wrong_in_chains(most));
        break;
    case 2:
        qsort(b, TABLE, sizeof *b, by_size);
        show("set", b, sizeof b);
        printf("largest %u\n", a[3]);
        break;
    case 3:
        printf("least %u, %u\n", a[5], b[0]);
        show("own", own, n_items * 4);
        break;
    default: /* whoever came before the first finder has changed its own, at least once */
        for (uint32_t i = 0; i < n_items; i++)
            any |= in[i] < most;
        printf("stopped: %s\n", (a[7] != 0) == (any != 0) ? "as it should be" : "wrong");
        if (!any)
            show("own", own, n_items * 4);
    }
}

static void round_of(void)
{
    static const uint32_t zero, all = UINT32_MAX;
    const unsigned which = random_below(5), launches = which == 1 || which == 4 ? 1 : 1 + random_below(2);
    n_items = 64 * (3 + random_below(MOST / 64 - 3));
    const uint32_t most = make_input();
    CL(clEnqueueFillBuffer(queue, first, &zero, 4, 0, sizeof a, 0, NULL, NULL));
    CL(clEnqueueFillBuffer(queue, second, &zero, 4, 0, sizeof b, 0, NULL, NULL));
    CL(clEnqueueFillBuffer(queue, third, &zero, 4, 0, MOST * 4, 0, NULL, NULL));
    CL(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
    /* At times nothing is below what is there already. */
    if (which == 3 && random_below(2))
        CL(clEnqueueFillBuffer(queue, first, &all, 4, 20, 4, 0, NULL, NULL));
    CL(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
    for (unsigned i = 0; i < launches; i++) {
        set_mem(kernel[which], 0, input);
        set_uint(kernel[which], 1, most);
        set_mem(kernel[which], 2, first);
        set_mem(kernel[which], 3, second);
        set_mem(kernel[which], 4, third);
        launch(queue, kernel[which], n_items, 64, 0, NULL, NULL);
        CL(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
        if (random_below(2))
            CL(clFinish(queue));
    }
    CL(clFinish(queue));
    show_outcome(which, most);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"list", "chain", "set", "least", "stop"};
    const unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    seed = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
    printf("seed %u\n", seed);
    start(seed % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
    cl_program p = build(source, "");
    for (int i = 0; i < 5; i++)
        kernel[i] = kernel_of(p, names[i]);
    input = buffer(CL_MEM_READ_ONLY, sizeof in, NULL);
    first = buffer(CL_MEM_READ_WRITE, sizeof a, NULL);
    second = buffer(CL_MEM_READ_WRITE, sizeof b, NULL);
    third = buffer(CL_MEM_READ_WRITE, sizeof own, NULL);
    for (unsigned i = 0; i < rounds; i++)
        round_of();
    for (int i = 0; i < 5; i++)
        CL(clReleaseKernel(kernel[i]));
    CL(clReleaseMemObject(input));
    CL(clReleaseMemObject(first));
    CL(clReleaseMemObject(second));
    CL(clReleaseMemObject(third));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
