/* SPDX-License-Identifier: MIT */
/* large_reads HOW: a read of a large buffer. halves: as a launch has left it; quarter: when the host has written its
 * third quarter again, in pieces so small that all go to the first device. */
#include "plain.h"

enum { WORDS = 4 * 1024 * 1024, BYTES = WORDS * 4, PIECE = 2048 };

static const char source[] =
    "__kernel void put(__global uint *a, uint k) { a[get_global_id(0)] = get_global_id(0) * 5u + k; }\n";

static void read_all(cl_mem a, uint32_t *out)
{
    cl_event e;
    CL(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, BYTES, out, 0, NULL, &e));
    wait_for(e);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "halves";
    uint32_t *host = malloc(BYTES);
    start(0);
    cl_program p = build(source, "");
    cl_kernel put = kernel_of(p, "put");
    cl_mem a = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    if (!host)
        return 1;
    SET(put, a, 7);
    launch(queue, put, WORDS, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    fill_words(host, WORDS / 4, 3);
    for (size_t i = 0; i < BYTES / 4 / PIECE && strcmp(how, "quarter") == 0; i++)
        CL(clEnqueueWriteBuffer(queue, a, CL_TRUE, BYTES / 2 + i * PIECE, PIECE, host + i * PIECE / 4, 0, NULL, NULL));
    memset(host, 0, BYTES);
    read_all(a, host);
    show(how, host, BYTES);
    free(host);
    return FINISH(a, put, p);
}
