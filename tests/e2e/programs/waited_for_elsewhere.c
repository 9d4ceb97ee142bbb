/* SPDX-License-Identifier: MIT */
/* Jobs whose end is waited for elsewhere than where they are enqueued: `waited_for_elsewhere TIMES queues`, by a
 * blocking read in another queue that waits for the event of the last launch; `waited_for_elsewhere TIMES threads`, by
 * another thread, which waits for the event of the read. */
#include "plain.h"

enum { LOCAL = 64, ITEMS = 2048, LAUNCHES = 3 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static cl_event to_wait_for;
static bool ends;

static void *wait_for_all(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!ends) {
        if (!to_wait_for) {
            pthread_cond_wait(&news, &lock);
            continue;
        }
        pthread_mutex_unlock(&lock);
        wait_for(to_wait_for);
        pthread_mutex_lock(&lock);
        to_wait_for = NULL;
        pthread_cond_signal(&news);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void hand_over(cl_event e)
{
    pthread_mutex_lock(&lock);
    to_wait_for = e;
    pthread_cond_signal(&news);
    while (to_wait_for)
        pthread_cond_wait(&news, &lock);
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    static uint32_t v[ITEMS] = {1};
    pthread_t thread;
    start(0);
    const bool by_thread = argc > 2 && strcmp(argv[2], "threads") == 0;
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof v, NULL);
    cl_command_queue second = new_queue(0);
    set_mem(k, 0, m);
    if (by_thread && pthread_create(&thread, NULL, wait_for_all, NULL) != 0)
        return 1;
    for (long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1; n > 0; n--) {
        cl_event e;
        CL(clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, sizeof v, v, 0, NULL, NULL));
        for (cl_uint i = 0; i < LAUNCHES; i++) {
            set_uint(k, 1, i);
            launch(queue, k, ITEMS, LOCAL, 0, NULL, by_thread || i < LAUNCHES - 1 ? NULL : &e);
        }
        if (by_thread) {
            CL(clEnqueueReadBuffer(queue, m, CL_FALSE, 0, sizeof v, v, 0, NULL, &e));
            CL(clFlush(queue));
            hand_over(e);
        } else {
            CL(clFlush(queue));
            CL(clEnqueueReadBuffer(second, m, CL_TRUE, 0, sizeof v, v, 1, &e, NULL));
            CL(clReleaseEvent(e));
        }
    }
    if (by_thread) {
        pthread_mutex_lock(&lock);
        ends = true;
        pthread_cond_signal(&news);
        pthread_mutex_unlock(&lock);
        pthread_join(thread, NULL);
    }
    printf("%u %u\n", v[0], v[ITEMS - 1]);
    return FINISH(second, m, k, p);
}
