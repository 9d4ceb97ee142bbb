/* SPDX-License-Identifier: MIT */
/* threads_on_halves: one thread writes and reads a half of a buffer by calls that block, while kernels of another work
 * on the other half: at places that only they know, by plain stores and by atomics. The last of these launches have the
 * buffer for themselves. */
#include "plain.h"

enum { HALF = 1 << 19, ROUNDS = 10, KINDS = 1 << 12, STEPS = 48, BESIDE = 36 };

static const char source[] = "__kernel void scatter(__global uint *x, __global const uint *to, uint add)\n"
                             "{ uint i = get_global_id(0); uint at = rotate(to[i], 5u); x[at] = at * 3 + add; }\n"
                             "__kernel void count(__global uint *x, __global const uint *to)\n"
                             "{ uint i = get_global_id(0); atomic_add(&x[rotate(to[i], 5u)], 1u); }\n"
                             "__kernel void look(__global const uint *x, __global uint *sum)\n"
                             "{ uint i = get_global_id(0); sum[i] = x[i] ^ x[i + get_global_size(0)]; }\n";

static uint32_t to[KINDS], packed[KINDS], mine[HALF], back[HALF], theirs[HALF];
static cl_mem x, places;
static _Bool wrong;
static atomic_bool worked, has_read;

static void *work(void *unused)
{
    cl_program p = build(source, "");
    cl_kernel scatter = kernel_of(p, "scatter"), count = kernel_of(p, "count");
    cl_command_queue own = new_queue(0);
    SET(scatter, x, places);
    SET(count, x, places);
    for (uint32_t i = 0; i < STEPS; i++) {
        set_uint(scatter, 2, i);
        launch(own, scatter, KINDS, 64, 0, NULL, NULL);
        CL(clFinish(own));
        launch(own, count, KINDS, 64, 0, NULL, NULL);
        CL(clFinish(own));
        usleep(1000);
        atomic_store(&worked, i + 1 >= BESIDE);
        while (i + 1 == BESIDE && !atomic_load(&has_read))
            usleep(1000);
    }
    RELEASE(scatter, count, p, own);
    return NULL;
}

int main(void)
{
    start(0);
    for (uint32_t i = 0; i < KINDS; i++)
        to[i] = HALF + (i * 2654435761u >> 7) % (HALF / KINDS) + i * (HALF / KINDS);
    x = buffer(0, 2 * sizeof mine, NULL);
    for (uint32_t i = 0; i < KINDS; i++)
        packed[i] = to[i] >> 5 | to[i] << 27;
    places = buffer(CL_MEM_COPY_HOST_PTR, sizeof to, packed);
    cl_mem sums = buffer(0, sizeof mine, NULL);
    cl_program p = build(source, "");
    cl_kernel look = kernel_of(p, "look");
    SET(look, x, sums);
    CL(clEnqueueWriteBuffer(queue, x, CL_TRUE, sizeof mine, sizeof mine, theirs, 0, NULL, NULL));
    pthread_t thread = new_thread(work, NULL);
    for (uint32_t round = 0; round < ROUNDS || !atomic_load(&worked); round++) {
        fill_words(mine, HALF, round);
        CL(clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, sizeof mine, mine, 0, NULL, NULL));
        for (int i = 0; i < 3; i++) {
            CL(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, sizeof back, back, 0, NULL, NULL));
            size_t bad = 0, first = 0;
            for (size_t k = 0; k < HALF; k++)
                if (back[k] != mine[k] && !bad++)
                    first = k;
            if (bad)
                printf("round %u, read %d: %zu words are wrong, the first at %zu: %x\n", round, i, bad, first,
                       back[first]);
            wrong |= bad;
            launch(queue, look, HALF, 64, 0, NULL, NULL);
        }
    }
    CL(clFinish(queue));
    atomic_store(&has_read, true);
    CL(pthread_join(thread, NULL));
    CL(clEnqueueReadBuffer(queue, x, CL_TRUE, sizeof mine, sizeof theirs, theirs, 0, NULL, NULL));
    uint32_t bad = 0;
    for (uint32_t i = 0; i < KINDS; i++)
        bad += theirs[to[i] - HALF] != to[i] * 3 + STEPS;
    printf("%u wrong of the other half\n", bad);
    RELEASE(look, p, sums, places, x);
    finish();
    return wrong || bad;
}
