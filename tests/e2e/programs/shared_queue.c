/* SPDX-License-Identifier: MIT */
/* Two threads use one queue, in order, `shared_queue SEED ROUNDS`: one makes rows of launches on a buffer and waits now
 * and then, the other does all sorts of things with a buffer of its own meanwhile. Each buffer's bytes depend on what
 * its thread did alone. */
#include "plain.h"

enum { LOCAL = 64, ITEMS = 2048 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static cl_kernel kernel[2];
static cl_mem mem[2];
static unsigned seed, rounds;

static void step(int who, uint32_t k)
{
    set_uint(kernel[who], 1, k);
    launch(queue, kernel[who], ITEMS, LOCAL, 0, NULL, NULL);
}

static void *launch_rows(void *unused)
{
    unsigned s = seed;
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 4 + (unsigned)rand_r(&s) % 120; i > 0; i--)
            step(0, i);
        if (rand_r(&s) % 3 == 0)
            CL(clFinish(queue));
    }
    return NULL;
}

static void *do_other_things(void *unused)
{
    unsigned s = seed + 1;
    uint32_t v[ITEMS] = {0}, back[ITEMS];
    cl_event e;
    for (unsigned r = 0; r < rounds * 4; r++)
        switch (rand_r(&s) % 8) {
        case 0:
            CL(clFinish(queue));
            break;
        case 1:
            CL(clEnqueueReadBuffer(queue, mem[1], CL_TRUE, 0, sizeof back, back, 0, NULL, NULL));
            break;
        case 2:
            v[r % ITEMS] = r;
            CL(clEnqueueWriteBuffer(queue, mem[1], r % 2, 0, sizeof v, v, 0, NULL, NULL));
            CL(clFinish(queue));
            break;
        case 3:
            CL(clEnqueueMarkerWithWaitList(queue, 0, NULL, &e));
            wait_for(e);
            break;
        case 4:
            CL(clFlush(queue));
            break;
        case 5:
            for (unsigned i = (unsigned)rand_r(&s) % 40; i > 0; i--)
                step(1, i);
            break;
        case 6:
            set_uint(kernel[1], 1, r);
            launch(queue, kernel[1], ITEMS, LOCAL, 0, NULL, &e);
            wait_for(e);
            break;
        default:
            usleep((unsigned)rand_r(&s) % 300);
        }
    return NULL;
}

int main(int argc, char **argv)
{
    static uint32_t v[2][ITEMS];
    seed = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    start(0);
    cl_program p = build(source, "");
    for (int i = 0; i < 2; i++) {
        kernel[i] = kernel_of(p, "advance");
        mem[i] = buffer(CL_MEM_READ_WRITE, sizeof v[i], NULL);
        CL(clEnqueueWriteBuffer(queue, mem[i], CL_TRUE, 0, sizeof v[i], v[i], 0, NULL, NULL));
        set_mem(kernel[i], 0, mem[i]);
    }
    pthread_t other = new_thread(do_other_things, NULL);
    launch_rows(NULL);
    pthread_join(other, NULL);
    for (int i = 0; i < 2; i++) {
        uint32_t sum = 0;
        CL(clEnqueueReadBuffer(queue, mem[i], CL_TRUE, 0, sizeof v[i], v[i], 0, NULL, NULL));
        for (unsigned n = 0; n < ITEMS; n++)
            sum = sum * 31 + v[i][n];
        printf("%u\n", sum);
        RELEASE(mem[i], kernel[i]);
    }
    return FINISH(p);
}
