/* SPDX-License-Identifier: MIT */
/* Two threads share a queue, over the layer call_hooks.c. One's write blocks; once it has waited for what is before it
 * the other enqueues a small write that waits for the program, and, right after the driver has got the first one's
 * bytes, a launch. All of it ends. */
#include "plain.h"

enum { ITEMS = 2048, BYTES = ITEMS * 4, SMALL = 64, PATIENCE_MS = 500 };

static const char source[] = "__kernel void add(__global uint *v) { v[get_global_id(0)] += get_global_id(0); }\n";

enum stage { BEFORE, WRITES, HAS_WAITED, SMALL_IS_THERE, IS_WRITTEN, IS_LAUNCHED };
static atomic_int stage;
static _Thread_local bool writes;
static cl_mem written;
static uint32_t words[ITEMS];

/* Not for longer than there is patience: the other one may have to wait for this thread. */
static void await_stage(int which, int patience_ms)
{
    for (int i = 0; i < patience_ms && atomic_load(&stage) < which; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

__attribute__((visibility("default"))) void has_waited(void);
void has_waited(void)
{
    if (!writes || atomic_load(&stage) != WRITES)
        return;
    atomic_store(&stage, HAS_WAITED);
    await_stage(SMALL_IS_THERE, 10 * PATIENCE_MS);
}

__attribute__((visibility("default"))) void has_written(size_t size);
void has_written(size_t size)
{
    if (!writes || size != BYTES || atomic_load(&stage) != SMALL_IS_THERE)
        return;
    atomic_store(&stage, IS_WRITTEN);
    await_stage(IS_LAUNCHED, PATIENCE_MS);
}

static void *write_all(void *unused)
{
    writes = true;
    atomic_store(&stage, WRITES);
    CL(clEnqueueWriteBuffer(queue, written, CL_TRUE, 0, BYTES, words, 0, NULL, NULL));
    return NULL;
}

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "add");
    cl_mem small = buffer(CL_MEM_READ_WRITE, SMALL, NULL), summed = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    written = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    fill_words(words, ITEMS, 1);
    CL(clEnqueueWriteBuffer(queue, summed, CL_TRUE, 0, BYTES, words, 0, NULL, NULL));
    set_mem(k, 0, summed);
    launch(queue, k, ITEMS, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    pthread_t thread = new_thread(write_all, NULL);
    await_stage(HAS_WAITED, 10 * PATIENCE_MS);
    const bool between = atomic_load(&stage) == HAS_WAITED;
    cl_event gate = new_user_event();
    CL(clEnqueueWriteBuffer(queue, small, CL_FALSE, 0, SMALL, words, 1, &gate, NULL));
    CL(clFlush(queue));
    atomic_store(&stage, SMALL_IS_THERE);
    await_stage(IS_WRITTEN, 10 * PATIENCE_MS);
    const bool after = atomic_load(&stage) == IS_WRITTEN;
    launch(queue, k, ITEMS, 64, 0, NULL, NULL);
    CL(clFlush(queue));
    atomic_store(&stage, IS_LAUNCHED);
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    CL(clFinish(queue));
    pthread_join(thread, NULL);
    printf("the small write came %s\n", between ? "between" : "elsewhere");
    printf("the launch came %s\n", after ? "after the bytes" : "elsewhere");
    show_buffer("summed", queue, summed, 0, BYTES);
    show_buffer("written", queue, written, 0, BYTES);
    return FINISH(gate, small, summed, written, k, p);
}
