/* SPDX-License-Identifier: MIT */
/* A command of one queue writes a word of a buffer, slowly, while a launch of another queue, which isn't ordered behind
 * it, reads the words around that one. Both are right on one device; a split that fetches the words around must not
 * take the old one for good. The first queue is there afterwards, or has been released meanwhile. */
#include "plain.h"

enum { N = 32768, PLACE = N - 1000, LONG = 20000000 };

static const char source[] =
    "__kernel void slowly(__global uint *v, uint at, uint n)\n"
    "{ uint x = at; for (uint k = 0; k < n; k++) x = x * 1664525u + 1013904223u; v[at] = x | 1; }\n"
    "__kernel void around(__global const uint *v, __global uint *out, uint at)\n"
    "{ uint i = get_global_id(0); out[i] = i == at ? 5u : v[i] * 3u; }\n"
    "__kernel void everything(__global const uint *v, __global uint *out) { uint i = get_global_id(0); out[i] = v[i]; "
    "}\n";

static uint32_t host[N];

static void once(cl_program p, bool released)
{
    cl_event wrote;
    cl_kernel slowly = kernel_of(p, "slowly"), around = kernel_of(p, "around"), everything = kernel_of(p, "everything");
    cl_command_queue other = new_queue(0);
    cl_mem v = buffer(CL_MEM_READ_WRITE, sizeof host, NULL), out = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    fill_words(host, N, 1);
    CL(clEnqueueWriteBuffer(queue, v, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    SET(slowly, v, PLACE, LONG);
    launch(other, slowly, 1, 1, 0, NULL, &wrote);
    CL(clFlush(other));
    if (released)
        CL(clReleaseCommandQueue(other));
    SET(around, v, out, PLACE);
    launch(queue, around, N, 64, 0, NULL, NULL);
    show_buffer(released ? "around, released" : "around", queue, out, 0, sizeof host);
    CL(clWaitForEvents(1, &wrote));
    SET(everything, v, out);
    launch(queue, everything, N, 64, 0, NULL, NULL);
    CL(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    printf("the word: %08" PRIx32 "\n", host[PLACE]);
    /* Once more, on the queue itself: whoever has fetched the word before must fetch it again. */
    set_uint(slowly, 2, 3);
    launch(queue, slowly, 1, 1, 0, NULL, NULL);
    launch(queue, everything, N, 64, 0, NULL, NULL);
    CL(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    printf("and then: %08" PRIx32 "\n", host[PLACE]);
    show_buffer("all", queue, v, 0, sizeof host);
    RELEASE(wrote, v, out);
    if (!released)
        CL(clReleaseCommandQueue(other));
}

int main(void)
{
    start(0);
    cl_program p = build(source, "");
    once(p, false);
    once(p, true);
    return finish();
}
