/* SPDX-License-Identifier: MIT */
/* One thread writes a single word of a buffer by a call that blocks. Just before the driver is asked for that
 * (`will_write`, called by the layer call_hooks.c) another one launches a kernel that reads the words around it, and
 * not the word itself: a device that gets these may get the gap between them as well, with the old word. Then all words
 * are copied, the new one among them. */
#include "plain.h"

#include <pthread.h>

enum { WORDS = 4096, WRITTEN = WORDS / 4 * 3 + 1 };

static const char source[] =
    "__kernel void even(__global uint *to, __global const uint *v) { to[get_global_id(0)] = v[2 * get_global_id(0)]; "
    "}\n"
    "__kernel void copy(__global uint *to, __global const uint *v) { to[get_global_id(0)] = v[get_global_id(0)]; }\n";

static cl_kernel even;
static bool armed;

static void *launch_even(void *unused)
{
    launch(queue, even, WORDS / 2, 64, 0, NULL, NULL);
    return NULL;
}

__attribute__((visibility("default"))) void will_write(void);
void will_write(void)
{
    pthread_t thread;
    if (!armed)
        return;
    armed = false;
    CL(pthread_create(&thread, NULL, launch_even, NULL));
    CL(pthread_join(thread, NULL));
}

int main(void)
{
    static uint32_t host[WORDS];
    const uint32_t newer = 4711;
    for (uint32_t i = 0; i < WORDS; i++)
        host[i] = i;
    start(0);
    cl_program p = build(source, "");
    cl_kernel copy = kernel_of(p, "copy");
    even = kernel_of(p, "even");
    cl_mem words = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    cl_mem copied = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    set_mem(even, 0, copied);
    set_mem(even, 1, words);
    set_mem(copy, 0, copied);
    set_mem(copy, 1, words);
    armed = true;
    CL(clEnqueueWriteBuffer(queue, words, CL_TRUE, WRITTEN * sizeof newer, sizeof newer, &newer, 0, NULL, NULL));
    launch(queue, copy, WORDS, 64, 0, NULL, NULL);
    CL(clEnqueueReadBuffer(queue, copied, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    printf("%u %u %u\n", host[WRITTEN - 1], host[WRITTEN], host[WRITTEN + 1]);
    RELEASE(words, copied, even, copy, p);
    finish();
    return 0;
}
