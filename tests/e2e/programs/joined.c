/* SPDX-License-Identifier: MIT */
/* joined HOW: a thread waits for its launch of 2^20 work-items by clFinish (`finish`), for its event (`event`), or by a
 * read that blocks (`read`); meanwhile main returns, and a handler of exit() that was registered before OpenCL was used
 * joins the thread. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "plain.h"

enum { ITEMS = 1 << 20 };

static const char source[] = "__kernel void count(__global uint *v) { v[get_global_id(0)] += get_global_id(0); }";

static const char *how;
static pthread_t thread;
static sem_t launched;
static cl_kernel kernel;
static cl_mem mem;

static void *compute(void *unused)
{
    static uint32_t got[ITEMS];
    cl_event event;
    (void)unused;
    launch(queue, kernel, ITEMS, 64, 0, NULL, &event);
    sem_post(&launched);
    if (strcmp(how, "finish") == 0)
        CL(clFinish(queue));
    else if (strcmp(how, "event") == 0)
        CL(clWaitForEvents(1, &event));
    CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    printf("%s has ended\n", how);
    fflush(stdout);
    return NULL;
}

static void join(void)
{
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "finish";
    if (atexit(join) != 0 || sem_init(&launched, 0, 0) != 0)
        return 1;
    start(0);
    kernel = kernel_of(build(source, ""), "count");
    mem = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    set_mem(kernel, 0, mem);
    if (pthread_create(&thread, NULL, compute, NULL) != 0)
        return 1;
    sem_wait(&launched);
    usleep(50000); /* it waits by now, in most runs */
    return 0;
}
