/* SPDX-License-Identifier: MIT */
/* write_between_ranges [back]: one thread writes a single word of a buffer by a call that blocks. Just before the
 * driver is asked for that (`will_write`, called by the layer call_hooks.c) another one launches a kernel that reads
 * the words around it, and not the word itself: a device that gets these may get the gap between them as well, with the
 * old word. Then all words are copied, the new one among them. back: the other thread's launches change the words
 * around it, so that the gap comes home again with them, from where the old word went along; the write reaches the
 * driver's queue behind the first of them, which takes a while. */
#include "plain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WORDS = 4096, WRITTEN = WORDS / 4 * 3 + 1 };

static const char source[] =
    "__kernel void even(__global uint *to, __global const uint *v) { to[get_global_id(0)] = v[2 * get_global_id(0)]; "
    "}\n"
    "__kernel void turn(__global uint *v, uint n) { uint i = 2 * get_global_id(0), x = v[i];\n"
    "  for (uint k = 0; k < n; k++) x = x * 1664525u + 1013904223u; v[i] = x; }\n"
    "__kernel void sum(__global uint *to, __global const uint *v, uint n)\n"
    "{ for (uint i = 0; i < n; i++) to[0] += v[2 * i]; }\n"
    "__kernel void copy(__global uint *to, __global const uint *v) { to[get_global_id(0)] = v[get_global_id(0)]; }\n";

static cl_kernel even, turn, sum;
static bool armed, back;
static pthread_t thread;
static atomic_bool launched;

static void *launch_even(void *unused)
{
    launch(queue, even, WORDS / 2, 64, 0, NULL, NULL);
    return NULL;
}

static void *launch_turns(void *unused)
{
    set_uint(turn, 1, 200 * 1000);
    launch(queue, turn, WORDS / 2, 64, 0, NULL, NULL);
    CL(clFlush(queue));
    atomic_store(&launched, true);
    usleep(60 * 1000); /* so long the write has to get behind it */
    set_uint(turn, 1, 1);
    launch(queue, turn, WORDS / 2, 64, 0, NULL, NULL);
    launch(queue, sum, 1, 1, 0, NULL, NULL);
    CL(clFlush(queue));
    return NULL;
}

__attribute__((visibility("default"))) void will_write(void);
void will_write(void)
{
    if (!armed)
        return;
    armed = false;
    CL(pthread_create(&thread, NULL, back ? launch_turns : launch_even, NULL));
    if (!back)
        CL(pthread_join(thread, NULL));
    while (back && !atomic_load(&launched))
        usleep(100);
}

int main(int argc, char **argv)
{
    static uint32_t host[WORDS];
    const uint32_t newer = 4711;
    for (uint32_t i = 0; i < WORDS; i++)
        host[i] = i;
    back = argc > 1;
    start(0);
    cl_program p = build(source, "");
    cl_kernel copy = kernel_of(p, "copy");
    even = kernel_of(p, "even");
    turn = kernel_of(p, "turn");
    sum = kernel_of(p, "sum");
    cl_mem words = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    cl_mem copied = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    set_mem(even, 0, copied);
    set_mem(even, 1, words);
    set_mem(copy, 0, copied);
    set_mem(copy, 1, words);
    set_mem(turn, 0, words);
    set_mem(sum, 0, copied);
    set_mem(sum, 1, words);
    set_uint(sum, 2, WORDS / 2);
    armed = true;
    CL(clEnqueueWriteBuffer(queue, words, CL_TRUE, WRITTEN * sizeof newer, sizeof newer, &newer, 0, NULL, NULL));
    if (back)
        CL(pthread_join(thread, NULL));
    launch(queue, copy, WORDS, 64, 0, NULL, NULL);
    CL(clEnqueueReadBuffer(queue, copied, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    printf("%u %u %u\n", host[WRITTEN - 2], host[WRITTEN], host[WRITTEN + 2]);
    RELEASE(words, copied, even, turn, sum, copy, p);
    finish();
    return 0;
}
