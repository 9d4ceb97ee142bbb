/* SPDX-License-Identifier: MIT */
/* Objects let go in odd orders: while commands run, the queue before its events, the context first. */
#include <malloc.h>

#include "plain.h"

enum { N = 1 << 15, ROUNDS = 6 };

static const char source[] = "__kernel void slow(__global const uint *in, __global uint *out)\n"
                             "{ uint i = get_global_id(0), x = in[i]; for (int k = 0; k < 300; k++) x = x * 3u + i;\n"
                             "  out[i] = x; }\n";

static uint32_t host[N], got[N];

/* Everything but the event goes away while the commands run. */
static void early(cl_uint round)
{
    cl_event done;
    cl_command_queue q = new_queue(round % 2 ? out_of_order() : 0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "slow");
    cl_mem a = buffer_of(host, sizeof host), b = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    cl_event first, second;
    SET(k, a, b);
    launch(q, k, N, 64, 0, NULL, &first);
    SET(k, b, a);
    launch(q, k, N, 64, 1, &first, &second);
    RELEASE(k, p, b);
    CL(clEnqueueReadBuffer(q, a, CL_FALSE, 0, sizeof got, got, 1, &second, &done));
    RELEASE(a, first, second);
    CL(clFlush(q));
    CL(clReleaseCommandQueue(q));
    wait_for(done);
    if (round % 3 == 0)
        show("early", got, sizeof got);
}

/* The context and the queue first; what is left keeps them. */
static void upside_down(void)
{
    cl_platform_id pl;
    cl_uint devices = 0;
    cl_context c;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "slow");
    cl_mem a = buffer_of(host, sizeof host), b = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    CL(clGetPlatformIDs(1, &pl, NULL));
    CL(clReleaseContext(context));
    SET(k, a, b);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer("without its context", queue, b, 0, sizeof host);
    CL(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof c, &c, NULL));
    CL(clGetContextInfo(c, CL_CONTEXT_NUM_DEVICES, sizeof devices, &devices, NULL));
    printf("the same context %d of %u\n", c == context, devices);
    /* Retained and released in turn. */
    CL(clRetainMemObject(b));
    CL(clReleaseMemObject(b));
    CL(clRetainKernel(k));
    CL(clReleaseKernel(k));
    CL(clRetainCommandQueue(queue));
    CL(clReleaseCommandQueue(queue));
    launch(queue, k, N, 32, 0, NULL, NULL);
    CL(clReleaseProgram(p));
    cl_event e;
    CL(clEnqueueMarkerWithWaitList(queue, 0, NULL, &e));
    CL(clReleaseCommandQueue(queue));
    CL(clWaitForEvents(1, &e));
    RELEASE(e, a, k, b);
}

/* Everything goes away, the context last, while launches run; what the last one reads has not been touched before. */
static void left_behind(void)
{
    enum { LAUNCHES = 40, CONTEXTS = 3 };
    for (int i = 0; i < CONTEXTS; i++) {
        start(0);
        cl_program p = build(source, "");
        cl_kernel k = kernel_of(p, "slow");
        cl_mem m[3] = {buffer_of(host, sizeof host), buffer(CL_MEM_READ_WRITE, sizeof host, NULL),
                       buffer_of(host, sizeof host)};
        for (int l = 0; l < LAUNCHES; l++) {
            SET(k, m[l % 2], m[!(l % 2)]);
            launch(queue, k, N, 64, 0, NULL, NULL);
        }
        SET(k, m[2], m[0]);
        launch(queue, k, N, 64, 0, NULL, NULL);
        cl_event read = NULL;
        if (i % 2)
            CL(clEnqueueReadBuffer(queue, m[0], CL_FALSE, 0, sizeof got, got, 0, NULL, &read));
        RELEASE(m[0], m[1], m[2], k, p);
        finish();
        if (read) {
            wait_for(read);
            show("left behind", got, sizeof got);
        }
    }
}

/* Nothing is let go. */
static void forgotten(void)
{
    start(0);
    cl_kernel k = kernel_of(build(source, ""), "slow");
    cl_mem a = buffer_of(host, sizeof host), b = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    SET(k, a, b);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer("forgotten", queue, b, 0, sizeof host);
    launch(queue, k, N, 64, 0, NULL, NULL);
    CL(clFlush(queue));
}

int main(void)
{
    mallopt(M_MMAP_THRESHOLD, 128 * 1024); /* for good: what is freed of that size can't be touched any more */
    fill_words(host, N, 51);
    start(0);
    for (cl_uint r = 0; r < ROUNDS; r++)
        early(r);
    finish();
    upside_down();
    upside_down();
    printf("released twice: %d\n", clReleaseMemObject(NULL));
    left_behind();
    forgotten();
    return 0; /* with a command under way */
}
