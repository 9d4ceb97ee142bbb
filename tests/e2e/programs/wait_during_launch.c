/* SPDX-License-Identifier: MIT */
/* A thread waits for what is in a queue while another is still in its call for the next launch there: gpusparc takes
 * its time over that, the program being large. What was waited for doesn't comprise it. For the fake driver, by which
 * both launches take a second. */
#include "plain.h"

enum { LOCAL = 64, FEW = 2048, MANY = LOCAL * 4000, FUNCTIONS = 1500 };

static const char one[] = "__kernel void one(__global uint *v, uint rounds)\n"
                          "{ v[get_global_id(0)] += rounds; }\n";
/* Of unknown work-groups: it is a unit, as long as it is. */
static const char next[] = "__kernel void next(__global uint *v, uint rounds)\n"
                           "{ v[get_global_id(0)] += rounds * (uint)get_group_id(0); }\n";
static cl_kernel later;

static void *launch_next(void *unused)
{
    launch(queue, later, MANY, 0, 0, NULL, NULL);
    CL(clFinish(queue));
    return unused;
}

static cl_program build_large(void)
{
    char *text = malloc(FUNCTIONS * 80 + sizeof next), *at = text;
    for (int i = 0; i < FUNCTIONS; i++)
        at += sprintf(at, "uint f%d(uint x) { return (x ^ %du) * 3u + (x >> 5); }\n", i, i);
    strcpy(at, next);
    cl_program p = build(text, "");
    free(text);
    return p;
}

int main(void)
{
    start(0);
    cl_program p = build(one, ""), large = build_large();
    cl_kernel k = kernel_of(p, "one");
    later = kernel_of(large, "next");
    cl_mem m = buffer(CL_MEM_READ_WRITE, MANY * 4, NULL);
    SET(k, m, 50000);
    SET(later, m, 400);
    launch(queue, k, FEW, LOCAL, 0, NULL, NULL);
    pthread_t t = new_thread(launch_next, NULL);
    sleep_ms(50);
    CL(clFinish(queue));
    pthread_join(t, NULL);
    RELEASE(m, k, later, p, large);
    finish();
    printf("done\n");
    return 0;
}
