/* SPDX-License-Identifier: MIT */
/* One job, whose result is read; then main returns while another thread keeps asking the driver about reads that never
 * come to an end. */
#include "plain.h"

enum { N = 20000, READS = 60 };

static const char source[] =
    "__kernel void work(__global uint *v) { uint i = get_global_id(0); v[i] = v[i] * 3u + i; }";

static cl_command_queue other;
static uint32_t host[N];

static void *ask(void *unused)
{
    for (;;)
        clFinish(other);
    return NULL;
}

int main(void)
{
    start(0);
    other = new_queue(0);
    cl_kernel k = kernel_of(build(source, ""), "work");
    fill_words(host, N, 1);
    cl_mem b = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    set_mem(k, 0, b);
    CL(clEnqueueWriteBuffer(queue, b, CL_FALSE, 0, sizeof host, host, 0, NULL, NULL));
    launch(queue, k, N, 50, 0, NULL, NULL);
    show_buffer("job", queue, b, 0, sizeof host);
    cl_event never = new_user_event();
    for (int i = 0; i < READS; i++)
        CL(clEnqueueReadBuffer(queue, b, CL_FALSE, 0, 4, host, 1, &never, NULL));
    new_thread(ask, NULL);
    usleep(100000);
    return 0;
}
