/* SPDX-License-Identifier: MIT */
/* read_before_waiting_launch read | map: while one thread reads all of a buffer, or maps it, by a call that blocks,
 * another one launches a kernel that changes the buffer, in the same queue, and then one behind a user event. The one
 * gives that event its status once the call has returned: it must not wait for the second launch. */
#include "plain.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WORDS = 16384, BYTES = WORDS * 4 };

static const char source[] =
    "__kernel void fill(__global uint *v, uint k) { v[get_global_id(0)] = k; }\n"
    "__kernel void slow(__global uint *to, uint n)\n"
    "{ uint x = to[0]; for (uint i = 0; i < n; i++) x = x * 1664525 + (x >> 3) + i; to[0] = x; }\n";

static cl_kernel fill, slow;
static cl_mem words, spent;
static uint32_t host[WORDS];
static cl_event gate;

/* The call has its place in the queue. A read that enqueues no command of the driver's that blocks has it at its
 * marker, as gpusparc has the context's lock until then. A map has markers, too, but for what it needs at home: the
 * lock is given back before the driver's map is enqueued. */
static atomic_bool armed, begun;
static _Thread_local bool is_first;
static bool maps;

static void begin_other(void)
{
    if (is_first && atomic_exchange(&armed, false))
        atomic_store(&begun, true);
}

__attribute__((visibility("default"))) void waits_for_one(void);
void waits_for_one(void)
{
    begin_other();
}

__attribute__((visibility("default"))) void will_mark(void);
void will_mark(void)
{
    if (!maps)
        begin_other();
}

static void *launch_behind(void *unused)
{
    cl_int err;
    while (!atomic_load(&begun))
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    launch(queue, fill, WORDS, 64, 0, NULL, NULL);
    MADE(gate, clCreateUserEvent(context, &err));
    launch(queue, fill, WORDS, 64, 1, &gate, NULL);
    CL(clFlush(queue));
    return NULL;
}

int main(int argc, char **argv)
{
    cl_int err;
    const char *what = argc > 1 ? argv[1] : "read";
    maps = strcmp(what, "map") == 0;
    is_first = true;
    start(0);
    cl_program p = build(source, "");
    fill = kernel_of(p, "fill");
    slow = kernel_of(p, "slow");
    words = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, host);
    spent = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, host);
    set_mem(fill, 0, words);
    set_mem(slow, 0, spent);
    set_uint(slow, 1, 100 * 1000 * 1000);
    for (unsigned away = 0; away < 2; away++) {
        pthread_t other;
        void *v = host;
        set_uint(fill, 1, 2 * away + 1);
        launch(queue, fill, WORDS, 64, 0, NULL, NULL);
        if (!away) /* else the bytes lie on the devices */
            CL(clEnqueueReadBuffer(queue, words, CL_TRUE, 0, 4, host, 0, NULL, NULL));
        if (!away)
            CL(clEnqueueWriteBuffer(queue, words, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
        CL(clFinish(queue));
        launch(queue, slow, 1, 1, 0, NULL, NULL);
        CL(clFlush(queue));
        set_uint(fill, 1, 2 * away + 2);
        atomic_store(&begun, false);
        CL(pthread_create(&other, NULL, launch_behind, NULL));
        atomic_store(&armed, true);
        if (maps)
            MADE(v, clEnqueueMapBuffer(queue, words, CL_TRUE, CL_MAP_READ, 0, BYTES, 0, NULL, NULL, &err));
        else
            CL(clEnqueueReadBuffer(queue, words, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
        CL(pthread_join(other, NULL));
        printf("the %s has returned, the bytes at %s\n", what, away ? "the devices" : "home");
        fflush(stdout);
        CL(clSetUserEventStatus(gate, CL_COMPLETE));
        if (maps)
            CL(clEnqueueUnmapMemObject(queue, words, v, 0, NULL, NULL));
        CL(clFinish(queue));
        CL(clReleaseEvent(gate));
    }
    RELEASE(words, spent, fill, slow, p);
    finish();
    return 0;
}
