/* SPDX-License-Identifier: MIT */
/* A few bytes are read by a call that blocks, and waits for a large write in another queue, which stands behind a
 * launch: by the read's wait list, or by a marker before the read. The read keeps no unit that the write needs, nor the
 * write one that the read needs. */
#include "plain.h"

enum { BYTES = 16 << 20, FEW = 4096, ITEMS = 65536, LOCAL = 64, TIMES = 8, STEPS = 100 };

static const char source[] = "__kernel void spin(__global uint *v, uint n)\n"
                             "{\n"
                             "    uint i = get_global_id(0), x = i;\n"
                             "    for (uint j = 0; j < n; j++)\n"
                             "        x = x * 1664525u + 1013904223u;\n"
                             "    v[i] = x;\n"
                             "}\n";

int main(void)
{
    uint32_t few[FEW / sizeof(uint32_t)] = {0};
    start(0);
    cl_command_queue other = new_queue(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "spin");
    uint32_t *host = calloc(1, BYTES);
    cl_mem large = buffer(CL_MEM_READ_WRITE, BYTES, NULL), small = buffer(CL_MEM_READ_WRITE, FEW, NULL),
           v = buffer(CL_MEM_READ_WRITE, ITEMS * sizeof(cl_uint), NULL);
    fill_words(few, FEW / sizeof *few, 1);
    CL(clEnqueueWriteBuffer(queue, small, CL_TRUE, 0, FEW, few, 0, NULL, NULL));
    SET(k, v, STEPS);
    for (int i = 0; i < TIMES; i++) {
        cl_event end;
        launch(other, k, ITEMS, LOCAL, 0, NULL, NULL);
        CL(clEnqueueWriteBuffer(other, large, CL_FALSE, 0, BYTES, host, 0, NULL, &end));
        CL(clFlush(other));
        if (i % 2)
            CL(clEnqueueMarkerWithWaitList(queue, 1, &end, NULL));
        CL(clEnqueueReadBuffer(queue, small, CL_TRUE, 0, FEW, few, !(i % 2), i % 2 ? NULL : &end, NULL));
        CL(clReleaseEvent(end));
        CL(clFinish(other));
    }
    printf("%u\n", few[FEW / sizeof *few - 1]);
    RELEASE(large, small, v, k, p, other);
    free(host);
    return finish();
}
