/* SPDX-License-Identifier: MIT */
/* reads HOW: a read of a large buffer. halves: as a launch has left it; same: when a launch may have read all of it
 * since; quarter: when the host has written its third quarter again; beside: as halves, by a call that doesn't block.
 */
#include "plain.h"

enum { WORDS = 4 * 1024 * 1024, BYTES = WORDS * 4 };

static const char source[] =
    "__kernel void put(__global uint *a, uint k) { a[get_global_id(0)] = get_global_id(0) * 5u + k; }\n"
    "__kernel void take(__global const uint *a, __global uint *out, uint n)\n"
    "{ out[get_global_id(0)] = a[a[get_global_id(0)] % n]; }\n";

static void read_all(cl_mem a, uint32_t *out, bool blocking)
{
    cl_event e;
    CL(clEnqueueReadBuffer(queue, a, blocking, 0, BYTES, out, 0, NULL, &e));
    CL(clWaitForEvents(1, &e));
    CL(clReleaseEvent(e));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "halves";
    uint32_t *host = malloc(BYTES);
    start(0);
    cl_program p = build(source, "");
    cl_kernel put = kernel_of(p, "put"), take = kernel_of(p, "take");
    cl_mem a = buffer(CL_MEM_READ_WRITE, BYTES, NULL), few = buffer(CL_MEM_READ_WRITE, 65536, NULL);
    if (!host)
        return 1;
    set_mem(put, 0, a);
    set_uint(put, 1, 7);
    launch(queue, put, WORDS, 64, 0, NULL, NULL);
    if (strcmp(how, "same") == 0) {
        set_mem(take, 0, a);
        set_mem(take, 1, few);
        set_uint(take, 2, WORDS);
        launch(queue, take, 65536 / 4, 64, 0, NULL, NULL);
    }
    CL(clFinish(queue));
    if (strcmp(how, "quarter") == 0) {
        fill_words(host, WORDS / 4, 3);
        CL(clEnqueueWriteBuffer(queue, a, CL_TRUE, BYTES / 2, BYTES / 4, host, 0, NULL, NULL));
    }
    memset(host, 0, BYTES);
    read_all(a, host, strcmp(how, "beside") != 0);
    show(how, host, BYTES);
    free(host);
    CL(clReleaseMemObject(a));
    CL(clReleaseMemObject(few));
    CL(clReleaseKernel(put));
    CL(clReleaseKernel(take));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
