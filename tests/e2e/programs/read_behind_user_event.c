/* SPDX-License-Identifier: MIT */
/* A launch of a second, and a read of what it leaves, in a call that blocks and waits for an event of the program's own
 * as well, which another thread sets once there is a file `goes_on`. Says so when the launch runs. */
#include "plain.h"

enum { ITEMS = 64, BYTES = ITEMS * 4, MOST_TENTHS = 1200 };

static const char source[] =
    "__kernel void lasting(__global uint *v, uint k)\n"
    "{ uint i = get_global_id(0), x = v[i]; for (uint n = 0; n < k; n++) x = x * 1664525u + n; v[i] = x; }\n";

static cl_event gate;

/* As many rounds as take a second. */
static cl_uint rounds_of_second(cl_kernel k)
{
    cl_uint n = 500 * 1000;
    double took = 0;
    while (took < 0.05 && n < 1u << 30) {
        n *= 2;
        const double begin = seconds();
        set_uint(k, 1, n);
        launch(queue, k, ITEMS, ITEMS, 0, NULL, NULL);
        CL(clFinish(queue));
        took = seconds() - begin;
    }
    return (cl_uint)(n / took);
}

static void *open_gate(void *unused)
{
    for (int i = 0; i < MOST_TENTHS && access("goes_on", F_OK) != 0; i++)
        sleep_ms(100);
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    return NULL;
}

int main(void)
{
    uint32_t words[ITEMS];
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "lasting");
    fill_words(words, ITEMS, 1);
    cl_mem m = buffer_of(words, BYTES);
    SET(k, m, rounds_of_second(k));
    gate = new_user_event();
    launch(queue, k, ITEMS, ITEMS, 0, NULL, NULL);
    CL(clFlush(queue));
    puts("it runs");
    fflush(stdout);
    pthread_t thread = new_thread(open_gate, NULL);
    CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, BYTES, words, 1, &gate, NULL));
    pthread_join(thread, NULL);
    return FINISH(gate, m, k, p);
}
