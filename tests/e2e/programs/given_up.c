/* SPDX-License-Identifier: MIT */
/* What docs/limits.md, "What is given up, for what, and how long", says of causes within a process: while one lasts the
 * launches that it is about stay on one device (NAME_held), others are split (NAME_beside), and so are the same ones
 * once it is over (NAME_after). */
#include "plain.h"

enum { N = 1 << 14, BYTES = N * 4 };

static const char source[] =
    "#define STEP(name) __kernel void name(__global uint *v) { uint i = get_global_id(0); v[i] = v[i] * 3u + i; }\n"
    "STEP(event_held) STEP(event_beside) STEP(event_after) STEP(map_held) STEP(map_beside) STEP(map_after)\n"
    "STEP(exec_held) STEP(exec_beside) STEP(exec_default) STEP(pointer_beside)\n"
    "__kernel void pointer_held(__global uint *v, __global ulong *at)\n"
    "{ uint i = get_global_id(0); at[i] = (ulong)(v + i) & 3; v[i] += i; }\n",
                  apart[] = "#define STEP(name) __kernel void name(__global uint *v) { uint i = get_global_id(0); "
                            "v[i] = v[i] * 3u + i; }\n"
                            "STEP(event_beside)\n";

static void step(cl_command_queue q, cl_program p, const char *name, cl_mem m)
{
    cl_kernel k = kernel_of(p, name);
    set_mem(k, 0, m);
    launch(q, k, N, 64, 0, NULL, NULL);
    CL(clReleaseKernel(k));
}

/* A user event without a status: launches of its context. */
static void events(cl_program p, cl_mem m)
{
    cl_context first = context;
    cl_event gate = new_user_event();
    step(queue, p, "event_held", m);
    context = new_context();
    cl_command_queue other = new_queue(0);
    cl_program q = build(apart, "");
    cl_mem theirs = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    CL(clEnqueueFillBuffer(other, theirs, &(cl_uint){7}, 4, 0, BYTES, 0, NULL, NULL));
    step(other, q, "event_beside", theirs);
    show_buffer("another context", other, theirs, 0, BYTES);
    RELEASE(theirs, q, other, context);
    context = first;
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    CL(clFinish(queue));
    CL(clReleaseEvent(gate));
    step(queue, p, "event_after", m);
    show_buffer("event", queue, m, 0, BYTES);
}

/* A buffer that is mapped for writing: launches that use it. */
static void maps(cl_program p, cl_mem m, cl_mem beside)
{
    cl_kernel held = kernel_of(p, "map_held");
    uint32_t *mapped = map_now(m, CL_MAP_WRITE, 0, 64);
    mapped[0] = 4711;
    step(queue, p, "map_beside", beside);
    cl_mem part = sub_buffer(m, 0, BYTES / 2, BYTES / 2);
    set_mem(held, 0, part);
    launch(queue, held, N / 2, 64, 0, NULL, NULL);
    unmap(m, mapped);
    step(queue, p, "map_after", m);
    show_buffer("mapped", queue, m, 0, BYTES);
    show_buffer("beside", queue, beside, 0, BYTES);
    RELEASE(part, held);
}

/* What a kernel reaches by shared virtual memory: launches of that kernel. */
static void infos(cl_program p, cl_mem m)
{
    cl_device_svm_capabilities can = 0;
    clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL);
    cl_kernel k = kernel_of(p, "exec_held");
    void *reached = can ? clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0) : NULL;
    if (reached)
        CL(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof reached, &reached));
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    step(queue, p, "exec_beside", m);
    cl_kernel plain = kernel_of(p, "exec_default");
    clSetKernelExecInfo(plain, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof(cl_bool), &(cl_bool){CL_FALSE});
    set_mem(plain, 0, m);
    launch(queue, plain, N, 64, 0, NULL, NULL);
    CL(clReleaseKernel(plain));
    show_buffer("reached", queue, m, 0, BYTES);
    CL(clReleaseKernel(k));
    if (reached)
        clSVMFree(context, reached);
}

/* A kernel that makes a number of an address: launches of that kernel. */
static void pointers(cl_program p, cl_mem m)
{
    cl_kernel k = kernel_of(p, "pointer_held");
    cl_mem at = buffer(CL_MEM_READ_WRITE, N * sizeof(cl_ulong), NULL);
    SET(k, m, at);
    launch(queue, k, N, 64, 0, NULL, NULL);
    step(queue, p, "pointer_beside", m);
    show_buffer("numbers", queue, at, 0, N * sizeof(cl_ulong));
    show_buffer("pointed", queue, m, 0, BYTES);
    RELEASE(at, k);
}

int main(void)
{
    static uint32_t host[N];
    start(0);
    fill_words(host, N, 3);
    cl_program p = build(source, "");
    cl_mem m = buffer_of(host, BYTES), beside = buffer_of(host, BYTES);
    events(p, m);
    maps(p, m, beside);
    infos(p, m);
    pointers(p, m);
    return FINISH(m, beside, p);
}
