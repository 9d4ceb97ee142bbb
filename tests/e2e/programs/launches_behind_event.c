/* SPDX-License-Identifier: MIT */
/* launches_behind_event [svm | beside]: many short launches behind one that waits for a user event, which the
 * application completes only when all have been enqueued; by a thread that has made short launches in that queue
 * before. svm: behind a command with a function of the application's, which waits as long. beside: a marker in another
 * queue waits for the user event. */
#include "plain.h"

#include <semaphore.h>

enum { LOCAL = 64, ITEMS = 1024, BEFORE = 40, BEHIND = 1000, ROUNDS = 4 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static sem_t enqueued;

static void CL_CALLBACK let_go(cl_command_queue q, cl_uint n, void **p, void *data)
{
    sem_wait(&enqueued);
    clSVMFree(context, p[0]);
}

/* False: the device has none. */
static bool free_svm(void)
{
    void *p = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(cl_uint), 0);
    if (p)
        CL(clEnqueueSVMFree(queue, 1, &p, let_go, NULL, 0, NULL, NULL));
    return p;
}

static void launches(cl_kernel k, int n, cl_event after)
{
    for (int i = 0; i < n; i++) {
        set_uint(k, 1, (cl_uint)i);
        launch(queue, k, ITEMS, LOCAL, i == 0 && after ? 1 : 0, i == 0 && after ? &after : NULL, NULL);
    }
}

int main(int argc, char **argv)
{
    static uint32_t v[ITEMS] = {1};
    const bool svm = argc > 1 && strcmp(argv[1], "svm") == 0, beside = argc > 1 && strcmp(argv[1], "beside") == 0;
    start(0);
    sem_init(&enqueued, 0, 0);
    cl_command_queue other = new_queue(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof v, NULL);
    set_mem(k, 0, m);
    CL(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 10; i++) {
            launches(k, BEFORE, NULL);
            CL(clFinish(queue));
        }
        launches(k, BEFORE, NULL);
        cl_event go = NULL;
        if (!svm || !free_svm())
            go = new_user_event();
        if (beside) {
            CL(clEnqueueMarkerWithWaitList(other, 1, &go, NULL));
            CL(clFlush(other));
        }
        launches(k, BEHIND, beside ? NULL : go);
        if (go) {
            end_user_event(go);
        } else {
            sem_post(&enqueued);
        }
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
        printf("%u %u\n", v[0], v[ITEMS - 1]);
    }
    return FINISH(m, k, p, other);
}
