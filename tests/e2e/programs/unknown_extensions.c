/* SPDX-License-Identifier: MIT */
/* Asks for functions of extensions that nobody knows (../unknown_functions.c has them), and launches on as before. Then
 * uses a buffer that one of them has made, and calls another, which launches a kernel itself. Prints one line where the
 * driver hasn't got them. */
#include "plain.h"

enum { N = 1 << 14, BYTES = N * 4 };

static const char source[] =
    "#define STEP(name) __kernel void name(__global uint *v) { uint i = get_global_id(0); v[i] = v[i] * 3u + i; }\n"
    "STEP(asked) STEP(unknown_held) STEP(unknown_beside) STEP(by_the_function) STEP(called_held)\n";

static cl_mem(CL_API_CALL *create_buffer)(cl_context, cl_mem_flags, cl_bitfield, size_t, void *, cl_int *);
static cl_int(CL_API_CALL *set_arg)(cl_kernel, cl_uint, size_t, const void *);
static cl_int(CL_API_CALL *steps)(cl_command_queue, cl_kernel, size_t, size_t, cl_uint, cl_uint, double, float, cl_uint,
                                  cl_event *);

static bool asked(const char *name, void *function, size_t bytes)
{
    void *found = clGetExtensionFunctionAddressForPlatform(platform, name);
    memcpy(function, &found, bytes);
    return found;
}
#define ASKED(name, function) asked(name, &(function), sizeof(function))

static void step(cl_program p, const char *name, cl_mem m)
{
    cl_kernel k = kernel_of(p, name);
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    CL(clReleaseKernel(k));
}

int main(void)
{
    static uint32_t host[N];
    const size_t origin[3] = {0, 0, 0}, rows[3] = {64, BYTES / 64, 1};
    cl_int err;
    cl_event event;
    start(0);
    fill_words(host, N, 5);
    cl_program p = build(source, "");
    cl_mem theirs, m = buffer_of(host, BYTES);
    if (!ASKED("clCreateBufferNV", create_buffer) || !ASKED("clSetKernelArgTwiceTST", set_arg) ||
        !ASKED("clEnqueueStepsTST", steps)) {
        printf("the driver hasn't got them\n");
        return 0;
    }
    step(p, "asked", m);
    MADE(theirs, create_buffer(context, CL_MEM_READ_WRITE, 0, BYTES, NULL, &err));
    CL(clEnqueueCopyBuffer(queue, m, theirs, 0, 0, BYTES, 0, NULL, NULL));
    step(p, "unknown_held", theirs);
    show_buffer("theirs", queue, theirs, 0, BYTES);
    step(p, "unknown_beside", m);
    CL(clEnqueueCopyBufferRect(queue, theirs, m, origin, origin, rows, 64, 0, 128, 0, 0, NULL, NULL) == CL_INVALID_VALUE
           ? CL_SUCCESS
           : CL_INVALID_OPERATION); /* it would end behind m */
    CL(clEnqueueCopyBufferRect(queue, m, theirs, origin, origin, rows, 64, 0, 64, 0, 0, NULL, NULL));
    show_buffer("theirs again", queue, theirs, 0, BYTES);
    step(p, "unknown_beside", m);
    cl_kernel k = kernel_of(p, "by_the_function");
    CL(clReleaseContext(context)); /* its queue keeps it */
    CL(set_arg(k, 0, sizeof m, &m));
    CL(steps(queue, k, N, 64, 3, 1, 0.5, 0.25f, 7, &event));
    CL(clWaitForEvents(1, &event));
    show_buffer("stepped", queue, m, 0, BYTES);
    step(p, "called_held", m);
    show_buffer("at the end", queue, m, 0, BYTES);
    return 0;
}
