/* SPDX-License-Identifier: MIT */
/* What an application may ask, and gets told the same with and without company. Sizes and names of the device itself
 * are left out: a part of a device is smaller than the whole. */
#include "plain.h"

enum { N = 4096 };

static const char source[] =
    "__kernel void ask(__global const float4 *in, __global uint *out, __local int *t, uint k, const __constant int "
    "*c)\n"
    "{ uint i = get_global_id(0); out[i] = (uint)in[i].x + k + (uint)get_group_id(0) + (uint)c[0]; }\n"
    "__kernel __attribute__((reqd_work_group_size(16, 2, 1))) void fixed(__global uint *v) { v[get_global_id(0)] = 1; "
    "}\n";

#define ASK(call, what, type)                                                                                          \
    do {                                                                                                               \
        type v_ = 0;                                                                                                   \
        size_t n_ = 0;                                                                                                 \
        cl_int e_ = call(what, sizeof v_, &v_, &n_);                                                                   \
        printf(#what " %d %zu %llx\n", e_, n_, (unsigned long long)v_);                                                \
    } while (0)
#define ASK_STRING(call, what)                                                                                         \
    do {                                                                                                               \
        char v_[512] = "";                                                                                             \
        size_t n_ = 0;                                                                                                 \
        cl_int e_ = call(what, sizeof v_, v_, &n_);                                                                    \
        printf(#what " %d %zu '%s'\n", e_, n_, v_);                                                                    \
    } while (0)

static void ask_device(void)
{
    cl_uint n = 0, all = 0;
    cl_device_id list[8] = {NULL}, parent = (cl_device_id)1;
    size_t size = 0;
    printf("%d", clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 0, NULL, &n));
    printf(" %d", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 0, NULL, &n));
    printf(" %d", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, list, NULL));
    printf(" %d", clGetDeviceIDs(platform, 0, 1, list, NULL));
    printf(" %d\n", clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, list, &n));
    CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, list, &all));
    printf("the default is the first %d of at least one %d\n", list[0] == device || n == 1, all >= 1);
    CL(clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, &size));
    printf("parent %p of %zu\n", (void *)parent, size);
    CL(clRetainDevice(device));
    CL(clReleaseDevice(device));
    CL(clReleaseDevice(device));
    cl_uint refs = 9;
    CL(clGetDeviceInfo(device, CL_DEVICE_REFERENCE_COUNT, sizeof refs, &refs, NULL));
    printf("held %u\n", refs);
    size = 99;
    CL(clGetDeviceInfo(device, CL_DEVICE_PARTITION_TYPE, 0, NULL, &size));
    printf("partitioned by %zu\n", size);
}

#define OF_CONTEXT(w, s, v, n) clGetContextInfo(context, w, s, v, n)
#define OF_QUEUE(w, s, v, n) clGetCommandQueueInfo(queue, w, s, v, n)
#define OF_PROGRAM(w, s, v, n) clGetProgramInfo(program, w, s, v, n)
#define OF_BUILD(w, s, v, n) clGetProgramBuildInfo(program, device, w, s, v, n)
#define OF_KERNEL(w, s, v, n) clGetKernelInfo(kernel, w, s, v, n)
#define OF_GROUP(w, s, v, n) clGetKernelWorkGroupInfo(kernel, NULL, w, s, v, n)
#define OF_MEM(w, s, v, n) clGetMemObjectInfo(m, w, s, v, n)

static void ask_program(cl_program program)
{
    cl_device_id of = NULL;
    size_t n = 0;
    ASK(OF_PROGRAM, CL_PROGRAM_REFERENCE_COUNT, cl_uint);
    ASK(OF_PROGRAM, CL_PROGRAM_NUM_DEVICES, cl_uint);
    CL(clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof of, &of, &n));
    printf("its device %d of %zu, too small %d\n", of == device, n,
           clGetProgramInfo(program, CL_PROGRAM_DEVICES, 1, &of, &n));
    ASK(OF_PROGRAM, CL_PROGRAM_NUM_KERNELS, size_t);
    ASK_STRING(OF_PROGRAM, CL_PROGRAM_KERNEL_NAMES);
    ASK_STRING(OF_BUILD, CL_PROGRAM_BUILD_OPTIONS);
    ASK(OF_BUILD, CL_PROGRAM_BUILD_STATUS, cl_int);
    ASK(OF_BUILD, CL_PROGRAM_BINARY_TYPE, cl_uint);
    char text[2048] = "";
    CL(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &n));
    printf("source the same %d of %zu\n", strcmp(text, source) == 0, n);
    cl_kernel two[3] = {NULL};
    cl_uint count = 0;
    printf("room for one: %d\n", clCreateKernelsInProgram(program, 1, two, NULL));
    CL(clCreateKernelsInProgram(program, 3, two, &count));
    printf("kernels %u\n", count);
    for (cl_uint i = 0; i < count; i++)
        CL(clReleaseKernel(two[i]));
}

static void ask_kernel(cl_kernel kernel, cl_program program)
{
    cl_program of = NULL;
    size_t reqd[3] = {9, 9, 9};
    ASK_STRING(OF_KERNEL, CL_KERNEL_FUNCTION_NAME);
    ASK_STRING(OF_KERNEL, CL_KERNEL_ATTRIBUTES);
    ASK(OF_KERNEL, CL_KERNEL_NUM_ARGS, cl_uint);
    ASK(OF_KERNEL, CL_KERNEL_REFERENCE_COUNT, cl_uint);
    CL(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof of, &of, NULL));
    CL(clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof reqd, reqd, NULL));
    printf("its program %d, fixed size %zu %zu %zu\n", of == program, reqd[0], reqd[1], reqd[2]);
    ASK(OF_GROUP, CL_KERNEL_WORK_GROUP_SIZE, size_t);
    ASK(OF_GROUP, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, size_t);
    for (cl_uint i = 0; i < 6; i++) {
        char name[64] = "", type[64] = "";
        cl_kernel_arg_address_qualifier space = 0;
        cl_kernel_arg_access_qualifier access = 0;
        cl_int err = clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof name, name, NULL);
        clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL);
        clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL);
        clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL);
        printf("argument %u: %d %s %s %x %x\n", i, err, type, name, space, access);
    }
}

static void ask_memory(cl_mem m)
{
    ASK(OF_MEM, CL_MEM_TYPE, cl_uint);
    ASK(OF_MEM, CL_MEM_FLAGS, cl_mem_flags);
    ASK(OF_MEM, CL_MEM_SIZE, size_t);
    ASK(OF_MEM, CL_MEM_REFERENCE_COUNT, cl_uint);
    ASK(OF_MEM, CL_MEM_MAP_COUNT, cl_uint);
    ASK(OF_MEM, CL_MEM_OFFSET, size_t);
}

/* By each call that makes an object, with no list, an empty one, and with bytes to begin with. */
static void ask_properties(float *host, size_t bytes)
{
    const cl_mem_properties none[1] = {0};
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 16};
    cl_int err;
    cl_mem made[5];
    made[0] = buffer(0, bytes, NULL);
    MADE(made[1], clCreateBufferWithProperties(context, NULL, 0, bytes, NULL, &err));
    MADE(made[2], clCreateBufferWithProperties(context, none, 0, bytes, NULL, &err));
    MADE(made[3], clCreateBufferWithProperties(context, none, CL_MEM_COPY_HOST_PTR, bytes, host, &err));
    MADE(made[4], clCreateImageWithProperties(context, none, 0, &format, &desc, NULL, &err));
    for (int i = 0; i < 5; i++) {
        cl_mem m = made[i];
        ASK(OF_MEM, CL_MEM_PROPERTIES, cl_mem_properties);
        CL(clReleaseMemObject(m));
    }
}

int main(void)
{
    static float host[N * 4];
    cl_device_id of = NULL;
    size_t n = 0;
    start(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    ask_device();
    ASK(OF_CONTEXT, CL_CONTEXT_NUM_DEVICES, cl_uint);
    CL(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof of, &of, &n));
    printf("its device %d of %zu\n", of == device, n);
    CL(clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &n));
    printf("devices of %zu\n", n);
    ASK(OF_QUEUE, CL_QUEUE_REFERENCE_COUNT, cl_uint);
    ASK(OF_QUEUE, CL_QUEUE_PROPERTIES, cl_command_queue_properties);
    CL(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof of, &of, &n));
    printf("its device %d of %zu\n", of == device, n);
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, 0, 0};
    cl_queue_properties back[8] = {77, 77, 77, 77, 77, 77, 77, 77};
    cl_int err;
    cl_command_queue q;
    for (int i = 0; i < 2; i++) {
        MADE(q, clCreateCommandQueueWithProperties(context, device, i ? list : NULL, &err));
        n = 99;
        err = clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof back, back, &n);
        printf("properties %d of %zu: %u %u %u\n", err, n, (unsigned)back[0], (unsigned)back[1], (unsigned)back[2]);
        CL(clReleaseCommandQueue(q));
    }
    cl_program program = build(source, "-DA=1 -cl-kernel-arg-info");
    cl_kernel kernel = kernel_of(program, "ask"), fixed = kernel_of(program, "fixed");
    cl_mem in = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof host, host),
           out = buffer(CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY, N * 4, NULL);
    SET(kernel, in, out);
    CL(clSetKernelArg(kernel, 2, 64, NULL));
    SET_FROM(3, kernel, 2, in);
    launch(queue, kernel, N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    /* After the launch, when all that belongs to a split is there. */
    ask_program(program);
    ask_kernel(kernel, program);
    ask_kernel(fixed, program);
    ask_memory(in);
    ask_memory(out);
    ask_properties(host, sizeof host);
    void *p = map_now(out, CL_MAP_READ, 0, 64);
    cl_mem m = out;
    ASK(OF_MEM, CL_MEM_MAP_COUNT, cl_uint);
    unmap(out, p);
    CL(clFinish(queue));
    /* PoCL counts it off after the command has ended. */
    cl_uint mapped = 1;
    for (int i = 0; i < 1000 && mapped; i++) {
        const struct timespec ms = {0, 1000000};
        CL(clGetMemObjectInfo(out, CL_MEM_MAP_COUNT, sizeof mapped, &mapped, NULL));
        if (mapped)
            nanosleep(&ms, NULL);
    }
    ASK(OF_MEM, CL_MEM_MAP_COUNT, cl_uint);
    show_buffer("out", queue, out, 0, N * 4);
    return FINISH(kernel, fixed, in, out, program);
}
