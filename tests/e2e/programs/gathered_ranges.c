/* SPDX-License-Identifier: MIT */
/* A launch whose parts all need all of a buffer, of which the last part's device has the middle, as the first has, and
 * the host has just written the rest: what goes to the last device is two ranges, and another device takes what lies
 * between from there at the same time. */
#include "plain.h"

enum { WORDS = 6144, MIDDLE = WORDS / 2, LAUNCHES = 4 };

static const char source[] =
    "__kernel void own(__global uint *v) { uint i = get_global_id(0); v[i] = v[i] * 3u + i; }\n"
    "__kernel void gather(__global const uint *in, __global uint *out, uint n)\n"
    "{ uint i = get_global_id(0), s = 0; for (uint k = 0; k < n; k += 97u) s = s * 5u + in[(k + i * 31u) % n];\n"
    "  out[i] = s; }\n";

int main(void)
{
    static uint32_t host[WORDS];
    void *mapped;
    start(0);
    cl_program p = build(source, "");
    cl_kernel own = kernel_of(p, "own"), gather = kernel_of(p, "gather");
    fill_words(host, WORDS, 7);
    cl_mem v = buffer_of(host, sizeof host);
    cl_mem out = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    set_mem(own, 0, v);
    SET(gather, v, out, WORDS);
    for (unsigned i = 0; i < LAUNCHES; i++) {
        launch(queue, own, MIDDLE, 64, 0, NULL, NULL);
        mapped = map_now(v, CL_MAP_READ, 0, sizeof host);
        unmap(v, mapped);
        fill_words(host, MIDDLE / 2, i);
        CL(clEnqueueWriteBuffer(queue, v, CL_TRUE, 0, sizeof host / 4, host, 0, NULL, NULL));
        CL(clEnqueueWriteBuffer(queue, v, CL_TRUE, sizeof host / 2, sizeof host / 2, host, 0, NULL, NULL));
        launch(queue, gather, WORDS, 64, 0, NULL, NULL);
        show_buffer("gathered", queue, out, 0, sizeof host);
    }
    return FINISH(v, out, own, gather, p);
}
