/* SPDX-License-Identifier: MIT */
/* Two threads launch, each in a queue of its own. Over the layer call_hooks.c each waits within the
 * driver until the other one is there too, which it never is where one has to leave the driver before the other may
 * enter. */
#include "plain.h"

enum { ITEMS = 64, PATIENCE_MS = 20000 };

static const char source[] = "__kernel void add(__global uint *v) { v[get_global_id(0)] += 1; }\n";

static cl_program program;
static atomic_int inside;
static atomic_bool alone;

__attribute__((visibility("default"))) void will_launch(void);
void will_launch(void)
{
    atomic_fetch_add(&inside, 1);
    for (int i = 0; i < PATIENCE_MS && atomic_load(&inside) < 2; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    if (atomic_load(&inside) < 2)
        atomic_store(&alone, true);
}

static void *launch_one(void *unused)
{
    cl_command_queue own = new_queue(0);
    cl_kernel k = kernel_of(program, "add");
    cl_mem m = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    set_mem(k, 0, m);
    launch(own, k, ITEMS, 0, 0, NULL, NULL);
    CL(clFinish(own));
    RELEASE(m, k, own);
    return NULL;
}

int main(void)
{
    start(0);
    program = build(source, "");
    pthread_t thread = new_thread(launch_one, NULL);
    launch_one(NULL);
    pthread_join(thread, NULL);
    CL(clReleaseProgram(program));
    finish();
    if (alone)
        printf("a thread launches only once the other's launch has left the driver\n");
    return alone;
}
