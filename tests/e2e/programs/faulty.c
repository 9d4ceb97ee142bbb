/* SPDX-License-Identifier: MIT */
/* faulty FAULT: does one thing that the specification forbids, though PoCL bears it: for the test of the lazy layer. */
#include "plain.h"

static const char source[] = "__kernel void count(__global uint *v) { v[get_global_id(0)]++; }\n";
enum { N = 256 };
static cl_command_queue other;
static cl_kernel kernel;
static cl_mem mem;

static void CL_CALLBACK finish_in_callback(cl_event e, cl_int status, void *done)
{
    clFinish(other);
    *(volatile int *)done = 1;
}

/* A command of one queue waits for one of another that nobody sends off. */
static void unflushed(void)
{
    cl_event e;
    launch(other, kernel, N, 64, 0, NULL, &e);
    CL(clEnqueueMarkerWithWaitList(queue, 1, &e, NULL));
    CL(clFinish(queue));
}

/* ... or that is sent off later. */
static void late(void)
{
    cl_event e;
    launch(other, kernel, N, 64, 0, NULL, &e);
    CL(clEnqueueMarkerWithWaitList(queue, 1, &e, NULL));
    CL(clFlush(queue));
    CL(clFlush(other));
    CL(clFinish(queue));
}

static void callback(void)
{
    volatile int done = 0;
    cl_event e;
    launch(queue, kernel, N, 64, 0, NULL, &e);
    CL(clSetEventCallback(e, CL_COMPLETE, finish_in_callback, (void *)&done));
    CL(clFinish(queue));
    while (!done)
        usleep(1000);
}

static void released(void)
{
    CL(clReleaseMemObject(mem));
    launch(queue, kernel, N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
}

/* Sub-buffers that overlap, and have been used, the older of which is let go first. */
static void windows(void)
{
    static const uint32_t zero;
    cl_mem older = sub_buffer(mem, 0, 0, N * sizeof(cl_uint));
    cl_mem newer = sub_buffer(mem, 0, 0, N * sizeof(cl_uint));
    CL(clEnqueueWriteBuffer(queue, older, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL));
    CL(clEnqueueWriteBuffer(queue, newer, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL));
    RELEASE(older, newer);
}

/* An object that two devices use in turn, in their order. */
static void shared(void)
{
    static const uint32_t zero;
    cl_platform_id its;
    cl_device_id devices[2];
    cl_command_queue queues[2];
    cl_int err;
    CL(clGetPlatformIDs(1, &its, NULL));
    CL(clGetDeviceIDs(its, CL_DEVICE_TYPE_ALL, 2, devices, NULL));
    cl_context both;
    MADE(both, clCreateContext(NULL, 2, devices, NULL, NULL, &err));
    MADE(mem, clCreateBuffer(both, CL_MEM_READ_WRITE, 4096, NULL, &err));
    for (int i = 0; i < 2; i++) {
        MADE(queues[i], clCreateCommandQueue(both, devices[i], 0, &err));
        CL(clEnqueueFillBuffer(queues[i], mem, &zero, sizeof zero, 0, 4096, 0, NULL, NULL));
        CL(clFinish(queues[i]));
    }
}

int main(int argc, char **argv)
{
    static uint32_t zero[N];
    const char *fault = argc > 1 ? argv[1] : "";
    start(0);
    other = new_queue(0);
    kernel = kernel_of(build(source, ""), "count");
    mem = buffer_of(zero, sizeof zero);
    set_mem(kernel, 0, mem);
    if (strcmp(fault, "unflushed") == 0)
        unflushed();
    else if (strcmp(fault, "late") == 0)
        late();
    else if (strcmp(fault, "callback") == 0)
        callback();
    else if (strcmp(fault, "released") == 0)
        released();
    else if (strcmp(fault, "windows") == 0)
        windows();
    else if (strcmp(fault, "shared") == 0)
        shared();
    puts("done");
    return 0;
}
