/* SPDX-License-Identifier: MIT */
/* The thread that launches has a small stack, as threads of some runtimes have, or no such one by `large`. Kernels
 * whose parts are compared, and combined, too. By `cancelled` the thread is to end while it launches the second kernel:
 * it does so at its next call that may, here if none is in the launch. */
#include "plain.h"

enum { N = 1 << 12, BYTES = N * 4, STACK = 96 << 10 };

static const char source[] =
    "__kernel void near(__global uint *to, __global const uint *v)\n"
    "{ uint i = get_global_id(0), n = get_global_size(0);\n"
    "  to[i] = v[i ? i - 1 : 0] + v[i] * 3 + v[i + 1 < n ? i + 1 : i] + get_group_id(0); }\n"
    "__kernel void scatter(__global uint *to, __global const uint *v, __global const uint *at)\n"
    "{ uint i = get_global_id(0); to[at[i]] = v[i] | 1; }\n"
    "__kernel void count(__global uint *n, __global const uint *v)\n"
    "{ atomic_add(&n[v[get_global_id(0)] & 15], v[get_global_id(0)]); }\n";

static cl_kernel k[3];
static cl_mem m[3], at;

static void *cancelled(void *unused)
{
    SET(k[0], m[1], m[0]);
    launch(queue, k[0], N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    SET(k[1], m[0], m[1], at);
    pthread_cancel(pthread_self());
    launch(queue, k[1], N, 64, 0, NULL, NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    CL(clFinish(queue));
    return unused;
}

static void *launches(void *unused)
{
    for (int turn = 0; turn < 4; turn++) {
        SET(k[0], m[1], m[0]);
        launch(queue, k[0], N, 64, 0, NULL, NULL);
        SET(k[1], m[0], m[1], at);
        launch(queue, k[1], N, 64, 0, NULL, NULL);
        SET(k[2], m[2], m[0]);
        launch(queue, k[2], N, 64, 0, NULL, NULL);
    }
    CL(clFinish(queue));
    return unused;
}

int main(int argc, char **argv)
{
    static uint32_t v[N];
    start(0);
    for (uint32_t i = 0; i < N; i++)
        v[i] = (i * 5 + 3) % N;
    at = buffer_of(v, BYTES);
    cl_program p = build(source, "");
    const char *const names[] = {"near", "scatter", "count"};
    for (int i = 0; i < 3; i++) {
        k[i] = kernel_of(p, names[i]);
        m[i] = buffer_of(v, BYTES);
    }
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    const bool cancels = argc > 1 && strcmp(argv[1], "cancelled") == 0;
    if (argc < 2)
        pthread_attr_setstacksize(&attr, STACK);
    void *result;
    if (pthread_create(&thread, &attr, cancels ? cancelled : launches, NULL) != 0)
        return 1;
    pthread_join(thread, &result);
    printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "launched all");
    for (int i = 0; i < 3; i++)
        show_buffer(names[i], queue, m[i], 0, BYTES);
    RELEASE_ALL(k);
    RELEASE_ALL(m);
    RELEASE(at);
    return FINISH(p);
}
