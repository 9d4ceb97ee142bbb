/* SPDX-License-Identifier: MIT */
/* Long launches of which no event is wanted, each followed at once by something that has to come after all of it: every
 * kind of command, and what other queues and threads are told of. */
#include <sched.h>

#include "plain.h"

enum { N = 40 * 64, LOCAL = 64, BYTES = N * 4 };

static const char source[] = "__kernel void work(__global uint *v, uint depth)\n"
                             "{ uint x = v[get_global_id(0)];\n"
                             "  for (uint k = 0; k < depth; k++) x = x * 1664525u + 1013904223u;\n"
                             "  v[get_global_id(0)] = x; }\n";

static uint32_t host[N], got[N];
static cl_command_queue other;
static cl_kernel kernel;
static cl_mem a, b;
static cl_uint depth = 20000;

static void work(cl_mem m)
{
    SET(kernel, m, depth);
    launch(queue, kernel, N, LOCAL, 0, NULL, NULL);
}

/* From the other queue, which nothing keeps from reading now. */
static void show_now(const char *what, cl_mem m)
{
    memset(got, 0, sizeof got);
    CL(clEnqueueReadBuffer(other, m, CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
    show(what, got, BYTES);
}

static void show_after(const char *what, cl_mem m, cl_event *e)
{
    CL(clWaitForEvents(1, e));
    CL(clReleaseEvent(*e));
    show_now(what, m);
}

static void reads(void)
{
    const size_t zero[3] = {0}, region[3] = {BYTES, 1, 1};
    cl_event e;
    work(a);
    CL(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
    show("read", got, BYTES);
    work(a);
    work(a);
    CL(clEnqueueReadBuffer(queue, a, CL_TRUE, 4, BYTES - 4, got, 0, NULL, &e));
    show("read after two", got, BYTES);
    CL(clReleaseEvent(e));
    work(a);
    CL(clEnqueueReadBuffer(queue, a, CL_FALSE, 0, BYTES, got, 0, NULL, &e));
    wait_for(e);
    show("read later", got, BYTES);
    work(a);
    CL(clEnqueueReadBufferRect(queue, a, CL_TRUE, zero, zero, region, 0, 0, 0, 0, got, 0, NULL, NULL));
    show("read of rows", got, BYTES);
    work(a);
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 64, got, 0, NULL, NULL)); /* nothing that it has written */
    show_now("read of another", a);
}

static void writes(void)
{
    const cl_uint seven = 7;
    cl_event e;
    work(a);
    CL(clEnqueueWriteBuffer(queue, a, CL_FALSE, 64, BYTES / 2, host, 0, NULL, &e));
    show_after("write", a, &e);
    work(a);
    CL(clEnqueueWriteBuffer(queue, a, CL_TRUE, 128, BYTES / 2, host, 0, NULL, NULL));
    show_now("blocking write", a);
    work(a);
    CL(clEnqueueFillBuffer(queue, a, &seven, sizeof seven, 256, BYTES / 2, 0, NULL, &e));
    show_after("fill", a, &e);
    work(a);
    CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, BYTES, 0, NULL, &e));
    show_after("copy", b, &e);
}

static void maps(void)
{
    cl_int err;
    cl_event e;
    cl_uint *p;
    work(a);
    p = map_now(a, CL_MAP_READ | CL_MAP_WRITE, 0, BYTES);
    show("map", p, BYTES);
    p[N - 1] = 5;
    unmap(a, p);
    work(a);
    MADE(p, clEnqueueMapBuffer(queue, a, CL_FALSE, CL_MAP_READ, 0, BYTES, 0, NULL, &e, &err));
    wait_for(e);
    show("map later", p, BYTES);
    CL(clEnqueueUnmapMemObject(queue, a, p, 0, NULL, &e));
    show_after("unmap", a, &e);
}

static void marks(void)
{
    cl_event e;
    work(a);
    CL(clEnqueueMarkerWithWaitList(queue, 0, NULL, &e));
    show_after("marker", a, &e);
    work(a);
    CL(clEnqueueBarrierWithWaitList(queue, 0, NULL, &e));
    show_after("barrier", a, &e);
    work(a);
    CL(clEnqueueMarker(queue, &e));
    show_after("old marker", a, &e);
    work(a);
    CL(clEnqueueMigrateMemObjects(queue, 1, &b, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, &e));
    show_after("migration", a, &e);
    work(a);
    CL(clFinish(queue));
    show_now("finish", a);
    work(a);
    CL(clEnqueueMarkerWithWaitList(queue, 0, NULL, &e));
    CL(clFlush(queue));
    CL(clEnqueueReadBuffer(other, a, CL_TRUE, 0, BYTES, got, 1, &e, NULL));
    CL(clReleaseEvent(e));
    show("another queue", got, BYTES);
}

/* Launches of which one has an event and one doesn't, and a short one behind. */
static void launches(void)
{
    const size_t all = N, few = LOCAL, local = LOCAL;
    cl_event e;
    work(a);
    set_uint(kernel, 1, 3);
    CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, &local, 0, NULL, &e));
    show_after("launch", a, &e);
    work(a);
    set_uint(kernel, 1, 3);
    CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &few, &local, 0, NULL, &e));
    show_after("short launch", a, &e);
    set_uint(kernel, 1, 3);
    CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &few, &local, 0, NULL, NULL));
    work(a);
    CL(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
    show("behind a short one", got, BYTES);
}

static void user_event(void)
{
    cl_event e;
    work(a);
    cl_event gate = new_user_event();
    CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, BYTES, 1, &gate, &e));
    work(b);
    end_user_event(gate);
    CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, BYTES, got, 1, &e, NULL));
    CL(clReleaseEvent(e));
    show("user event", got, BYTES);
}

static atomic_bool gone_on;

static void CL_CALLBACK goes_on(cl_event e, cl_int status, void *data)
{
    CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, BYTES, 0, NULL, NULL));
    CL(clFlush(queue));
    atomic_store(&gone_on, true);
}

/* A callback enqueues something in the same queue, while this thread reads. */
static void callback(void)
{
    cl_event e;
    CL(clEnqueueMarkerWithWaitList(queue, 0, NULL, &e));
    CL(clSetEventCallback(e, CL_COMPLETE, goes_on, NULL));
    work(a);
    CL(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
    CL(clReleaseEvent(e));
    show("beside a callback", got, BYTES);
    while (!atomic_load(&gone_on))
        sched_yield();
    CL(clFinish(queue));
}

static void *read_often(void *arg)
{
    uint32_t word;
    for (int i = 0; i < 40; i++)
        CL(clEnqueueReadBuffer(queue, arg, CL_TRUE, 0, sizeof word, &word, 0, NULL, NULL));
    return NULL;
}

/* Another thread reads from the same queue. */
static void threads(void)
{
    pthread_t t;
    cl_event e;
    if (pthread_create(&t, NULL, read_often, b) != 0)
        exit(1);
    depth /= 20;
    for (int i = 0; i < 20; i++) {
        work(a);
        CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, BYTES, 0, NULL, &e));
        wait_for(e);
        work(a);
        CL(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
    }
    pthread_join(t, NULL);
    show("two threads", got, BYTES);
    show_now("two threads' copy", b);
}

int main(void)
{
    start(0);
    other = new_queue(0);
    cl_program p = build(source, "");
    kernel = kernel_of(p, "work");
    a = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    b = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    fill_words(host, N, 11);
    CL(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    CL(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    reads();
    writes();
    maps();
    marks();
    launches();
    user_event();
    callback();
    threads();
    work(a);
    return FINISH(kernel, p, a, b, other);
}
