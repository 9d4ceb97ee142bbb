/* SPDX-License-Identifier: MIT */
/* thread_leaves_job FIRST MORE: so many jobs of one thread, which then enqueues a write, waits for nothing and ends;
 * and so many of another thread in another queue. */
#include "plain.h"

enum { LOCAL = 64, ITEMS = 2048, LAUNCHES = 3 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static uint32_t v[ITEMS] = {1};
static cl_mem m;
static cl_program p;
static long first;

static void jobs(cl_command_queue q, cl_kernel k, long n)
{
    for (; n > 0; n--) {
        CL(clEnqueueWriteBuffer(q, m, CL_FALSE, 0, sizeof v, v, 0, NULL, NULL));
        for (cl_uint i = 0; i < LAUNCHES; i++) {
            set_uint(k, 1, i);
            launch(q, k, ITEMS, LOCAL, 0, NULL, NULL);
        }
        CL(clFinish(q));
        CL(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
    }
}

static void *begin(void *unused)
{
    cl_kernel k = kernel_of(p, "advance");
    set_mem(k, 0, m);
    jobs(queue, k, first);
    CL(clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, sizeof v, v, 0, NULL, NULL));
    CL(clFlush(queue));
    CL(clReleaseKernel(k));
    return NULL;
}

int main(int argc, char **argv)
{
    start(0);
    first = argc > 2 ? strtol(argv[1], NULL, 10) : 1;
    p = build(source, "");
    m = buffer(CL_MEM_READ_WRITE, sizeof v, NULL);
    cl_command_queue second = new_queue(0);
    pthread_t thread = new_thread(begin, NULL);
    pthread_join(thread, NULL);
    cl_kernel k = kernel_of(p, "advance");
    set_mem(k, 0, m);
    const long more = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    jobs(second, k, more);
    printf("%u %u\n", v[0], v[ITEMS - 1]);
    return FINISH(k, m, p, second);
}
