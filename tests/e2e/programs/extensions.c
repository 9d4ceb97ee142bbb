/* SPDX-License-Identifier: MIT */
/* Asks for the functions of all extensions, as loaders do, and launches on as before. Then it records and replays a
 * command buffer in a context of its own, where the driver has them: what comes home for it, and what is launched there
 * afterwards, is right; the first context doesn't notice. */
#include "plain.h"

enum { N = 1 << 14, BYTES = N * 4 };

static const char source[] =
    "#define STEP(name) __kernel void name(__global uint *v) { uint i = get_global_id(0); v[i] = v[i] * 3u + i; }\n"
    "STEP(before) STEP(after) STEP(there) STEP(recorded) STEP(behind)\n"
    "__kernel void turn(__global const uint *in, __global uint *out)\n"
    "{ uint i = get_global_id(0); out[i] = in[get_global_size(0) - 1u - i]; }\n";

static void *address(const char *name)
{
    return clGetExtensionFunctionAddressForPlatform(platform, name);
}

static void *asked(const char *name, void *function, size_t bytes)
{
    void *found = address(name);
    memcpy(function, &found, bytes);
    return found;
}
#define ASKED(name, function) asked(name, &(function), sizeof(function))

/* As the headers have them where they have them. */
static void *(CL_API_CALL *create)(cl_uint, const cl_command_queue *, const void *, cl_int *);
static cl_int(CL_API_CALL *record)(void *, cl_command_queue, const void *, cl_kernel, cl_uint, const size_t *,
                                   const size_t *, const size_t *, cl_uint, const cl_uint *, cl_uint *, void **);
static cl_int(CL_API_CALL *finalize)(void *);
static cl_int(CL_API_CALL *enqueue)(cl_uint, cl_command_queue *, void *, cl_uint, const cl_event *, cl_event *);
static cl_int(CL_API_CALL *release)(void *);

static cl_kernel with(cl_program p, const char *name, cl_mem m)
{
    cl_kernel k = kernel_of(p, name);
    set_mem(k, 0, m);
    return k;
}

int main(void)
{
    static uint32_t host[N];
    static const char *const names[] = {"clCommandCopyBufferKHR",      "clCommandFillBufferKHR",
                                        "clUpdateMutableCommandsKHR",  "clSetKernelArgMemPointerINTEL",
                                        "clSetKernelArgSVMPointerARM", "clSetKernelArgDevicePointerEXT"};
    const size_t n = N, local = 64;
    cl_int err;
    start(0);
    fill_words(host, N, 1);
    cl_program p = build(source, "");
    cl_mem m = buffer_of(host, BYTES);
    cl_kernel before = with(p, "before", m), after = with(p, "after", m);
    launch(queue, before, N, 64, 0, NULL, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        address(names[i]);
    ASKED("clCreateCommandBufferKHR", create);
    ASKED("clCommandNDRangeKernelKHR", record);
    ASKED("clFinalizeCommandBufferKHR", finalize);
    ASKED("clEnqueueCommandBufferKHR", enqueue);
    ASKED("clReleaseCommandBufferKHR", release);
    launch(queue, after, N, 64, 0, NULL, NULL);
    show_buffer("asked", queue, m, 0, BYTES);

    cl_context first = context;
    context = new_context();
    cl_command_queue other = new_queue(0);
    cl_program q = build(source, "");
    cl_mem a = buffer_of(host, BYTES), b = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    cl_kernel there = with(q, "there", a), recorded = with(q, "recorded", a), behind = with(q, "behind", a),
              turn = with(q, "turn", a);
    set_mem(turn, 1, b);
    launch(other, there, N, 64, 0, NULL, NULL);
    launch(other, turn, N, 64, 0, NULL, NULL); /* each device has had bytes of the other */
    if (create && record && finalize && enqueue && release) {
        void *commands = create(1, &other, NULL, &err);
        check(err, "create", __LINE__);
        CL(record(commands, NULL, NULL, recorded, 1, NULL, &n, &local, 0, NULL, NULL, NULL));
        CL(finalize(commands));
        for (int i = 0; i < 3; i++) {
            fill_words(host, N, 2 + (uint32_t)i);
            CL(clEnqueueWriteBuffer(other, a, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
            CL(enqueue(0, NULL, commands, 0, NULL, NULL));
            launch(other, behind, N, 64, 0, NULL, NULL);
            launch(other, turn, N, 64, 0, NULL, NULL);
            CL(clFinish(other)); /* it may not be replayed while it is under way */
            CL(enqueue(0, NULL, commands, 0, NULL, NULL));
            show_buffer("replayed", other, a, 0, BYTES);
            show_buffer("turned", other, b, 0, BYTES);
        }
        CL(clFinish(other));
        CL(release(commands));
    }
    context = first;
    launch(queue, after, N, 64, 0, NULL, NULL);
    show_buffer("the first", queue, m, 0, BYTES);
    return 0;
}
