/* SPDX-License-Identifier: MIT */
/* Shared virtual memory: pointers as arguments and inside structures, and a buffer that lies in it, whose bytes kernels
 * reach by either. */
#include "plain.h"

enum { N = 16384, BYTES = N * sizeof(cl_uint) };

static const char source[] =
    "typedef struct { __global uint *words; uint factor; } hidden;\n"
    "__kernel void follow(__global const hidden *h, __global uint *out)\n"
    "{ uint i = get_global_id(0); out[i] = h->words[i] * h->factor; h->words[i] += 1u; }\n"
    "__kernel void bump(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n"
    "__kernel void gather(__global const uint *v, __global uint *out)\n"
    "{ uint i = get_global_id(0); out[i] += v[i * 13u % 16384u]; }\n";

struct hidden {
    void *words;
    cl_uint factor;
};

static void *shared(size_t bytes)
{
    void *p = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
    check(p ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "clSVMAlloc", __LINE__);
    return p;
}

static void show_shared(const char *name, void *p)
{
    CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, p, BYTES, 0, NULL, NULL));
    show(name, p, BYTES);
    CL(clEnqueueSVMUnmap(queue, p, 0, NULL, NULL));
}

int main(void)
{
    cl_device_svm_capabilities can = 0;
    start(0);
    clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL);
    if (!(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) {
        puts("the device has none");
        return 0;
    }
    cl_program p = build(source, "");
    cl_kernel follow = kernel_of(p, "follow"), bump = kernel_of(p, "bump"), gather = kernel_of(p, "gather");
    cl_uint *words = shared(BYTES), *out = shared(BYTES);
    struct hidden *h = shared(sizeof *h);
    CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, words, BYTES, 0, NULL, NULL));
    fill_words(words, N, 71);
    CL(clEnqueueSVMUnmap(queue, words, 0, NULL, NULL));
    CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, h, sizeof *h, 0, NULL, NULL));
    *h = (struct hidden){words, 7};
    CL(clEnqueueSVMUnmap(queue, h, 0, NULL, NULL));
    void *reached[] = {words};
    CL(clSetKernelArgSVMPointer(follow, 0, h));
    CL(clSetKernelArgSVMPointer(follow, 1, out));
    CL(clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof reached, reached));
    launch(queue, follow, N, 64, 0, NULL, NULL);
    CL(clSetKernelArgSVMPointer(bump, 0, words + N / 2));
    set_uint(bump, 1, 3);
    launch(queue, bump, N / 2, 64, 0, NULL, NULL);
    launch(queue, follow, N, 64, 0, NULL, NULL);
    show_shared("words", words);
    show_shared("out", out);

    /* A pointer and a buffer as arguments of one kernel, which are of its program's translation where it is cut. */
    const cl_uint five = 5;
    cl_mem apart = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    CL(clEnqueueFillBuffer(queue, apart, &five, sizeof five, 0, BYTES, 0, NULL, NULL));
    CL(clSetKernelArgSVMPointer(gather, 0, words));
    set_mem(gather, 1, apart);
    launch(queue, gather, N, 64, 0, NULL, NULL);
    set_mem(bump, 0, apart);
    launch(queue, bump, N, 64, 0, NULL, NULL);
    launch(queue, gather, N, 64, 0, NULL, NULL);
    show_buffer("apart", queue, apart, 0, BYTES);

    /* The same bytes as a buffer. */
    cl_mem within = buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, BYTES, words);
    for (cl_uint i = 0; i < 3; i++) {
        set_mem(bump, 0, within);
        launch(queue, bump, N, 64, 0, NULL, NULL);
        launch(queue, gather, N, 64, 0, NULL, NULL);
        CL(clSetKernelArgSVMPointer(bump, 0, words));
        launch(queue, bump, N, 64, 0, NULL, NULL);
    }
    show_buffer("within", queue, within, 0, BYTES);
    CL(clEnqueueSVMMemcpy(queue, CL_FALSE, out, words, BYTES, 0, NULL, NULL));
    show_shared("copied", out);
    CL(clEnqueueSVMMemFill(queue, words, &five, sizeof five, BYTES / 2, 0, NULL, NULL));
    set_mem(bump, 0, within);
    launch(queue, bump, N, 64, 0, NULL, NULL);
    show_shared("words", words);
    show_buffer("apart", queue, apart, 0, BYTES);

    RELEASE(within, apart);
    CL(clFinish(queue));
    clSVMFree(context, words);
    clSVMFree(context, out);
    clSVMFree(context, h);
    return FINISH(follow, bump, gather, p);
}
