/* SPDX-License-Identifier: MIT */
/* Profiles of launches and transfers, and what their events say of themselves. */
#include "plain.h"

enum { N = 1 << 17 };

static const char source[] = "__kernel void work(__global const uint *in, __global uint *out)\n"
                             "{ uint i = get_global_id(0), x = in[i]; for (int k = 0; k < 200; k++) x = x * 3u + i;\n"
                             "  out[i] = x; }\n";

static cl_ulong at(cl_event e, cl_profiling_info what)
{
    cl_ulong t = 0;
    size_t n = 0;
    CL(clGetEventProfilingInfo(e, what, sizeof t, &t, &n));
    if (n != sizeof t)
        printf("a time of %zu bytes\n", n);
    return t;
}

/* What holds of every profile, and of two commands of an in-order queue. */
static void show_profile(const char *name, cl_event e, cl_event before)
{
    cl_command_type type = 0;
    cl_int status = 99;
    cl_command_queue q = NULL;
    cl_context c = NULL;
    cl_uint refs = 0;
    char small[4];
    CL(clWaitForEvents(1, &e));
    CL(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    CL(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    CL(clGetEventInfo(e, CL_EVENT_COMMAND_QUEUE, sizeof q, &q, NULL));
    CL(clGetEventInfo(e, CL_EVENT_CONTEXT, sizeof c, &c, NULL));
    CL(clGetEventInfo(e, CL_EVENT_REFERENCE_COUNT, sizeof refs, &refs, NULL));
    const cl_ulong queued = at(e, CL_PROFILING_COMMAND_QUEUED), submit = at(e, CL_PROFILING_COMMAND_SUBMIT),
                   begin = at(e, CL_PROFILING_COMMAND_START), end = at(e, CL_PROFILING_COMMAND_END);
    printf("%s: type %x status %d its queue %d its context %d held %d\n", name, type, status, q == queue, c == context,
           refs >= 1);
    printf("  queued %d <= submitted %d <= started %d <= ended %d, took time %d\n", queued > 0, queued <= submit,
           submit <= begin, begin <= end, begin < end);
    if (before)
        printf("  after the one before: %d\n", begin >= at(before, CL_PROFILING_COMMAND_END));
    printf("  too small: %d, unknown: %d %d\n",
           clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof small, small, NULL),
           clGetEventProfilingInfo(e, 0x4242, sizeof begin, small, NULL), clGetEventInfo(e, 0x4242, 4, small, NULL));
}

/* The event of a read that blocks is complete when the call returns, wherever the bytes came from: nobody waits for it
 * here. */
static void show_blocking(cl_kernel k, cl_mem out, uint32_t *host, size_t bytes)
{
    unsigned open = 0, without = 0;
    for (int i = 0; i < 20; i++) {
        cl_event e;
        cl_int status = 99;
        cl_ulong t;
        launch(queue, k, N, 64, 0, NULL, NULL);
        CL(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, bytes, host, 0, NULL, &e));
        CL(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        open += status != CL_COMPLETE;
        without += clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, sizeof t, &t, NULL) != CL_SUCCESS;
        CL(clReleaseEvent(e));
    }
    printf("blocking, %zu bytes: not complete %u, without times %u\n", bytes, open, without);
}

int main(void)
{
    static uint32_t host[N];
    cl_event wrote, ran, again, read, next;
    start(CL_QUEUE_PROFILING_ENABLE);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "work");
    fill_words(host, N, 8);
    cl_mem in = buffer(CL_MEM_READ_ONLY, sizeof host, NULL), out = buffer(CL_MEM_WRITE_ONLY, sizeof host, NULL);
    SET(k, in, out);
    CL(clEnqueueWriteBuffer(queue, in, CL_FALSE, 0, sizeof host, host, 0, NULL, &wrote));
    launch(queue, k, N, 64, 0, NULL, &ran);
    launch(queue, k, N, 0, 0, NULL, &again);
    CL(clEnqueueReadBuffer(queue, out, CL_FALSE, 0, sizeof host, host, 0, NULL, &read));
    launch(queue, k, N, 64, 0, NULL, &next);
    show_profile("write", wrote, NULL);
    show_profile("launch", ran, wrote);
    show_profile("launch", again, ran);
    show_profile("read", read, again);
    /* Queued in the order of the calls, whoever carries a transfer out later. */
    CL(clWaitForEvents(1, &next));
    const cl_event calls[] = {wrote, ran, again, read, next};
    for (int i = 1; i < 5; i++)
        printf("queued in order: %d\n",
               at(calls[i - 1], CL_PROFILING_COMMAND_QUEUED) <= at(calls[i], CL_PROFILING_COMMAND_QUEUED));
    show("out", host, sizeof host);
    show_blocking(k, out, host, sizeof host);
    show_blocking(k, out, host, sizeof host / 8);

    /* A queue that has no profiles must say so, and what it was made with. */
    cl_command_queue_properties properties = 77;
    cl_ulong t;
    cl_event e;
    cl_command_queue plain = new_queue(0);
    CL(clGetCommandQueueInfo(plain, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    launch(plain, k, N, 64, 0, NULL, &e);
    CL(clWaitForEvents(1, &e));
    printf("properties %x, profile %d\n", (unsigned)properties,
           clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL));
    CL(clReleaseEvent(e));
    CL(clEnqueueReadBuffer(plain, out, CL_FALSE, 0, sizeof host, host, 0, NULL, &e));
    CL(clWaitForEvents(1, &e));
    printf("profile %d\n", clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL));
    RELEASE(e, plain, wrote, ran, again, read, next, in);
    return FINISH(out, k, p);
}
