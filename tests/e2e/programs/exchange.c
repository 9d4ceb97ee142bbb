/* SPDX-License-Identifier: MIT */
/* A buffer that the host writes, and of which each work-item may then read any word; then each writes its own and may
 * read any; and the first once more. Each step ends with clFinish: write, take, put, take, write, take.
 * usage: exchange [MIB] */
#include "plain.h"

#include <stdlib.h>

enum { ITEMS = 4096 };

/* `take` follows an index that stands in the buffer: nobody can tell which bytes a part will read. */
static const char source[] = "__kernel void put(__global uint *a, uint value)\n"
                             "{ a[get_global_id(0)] = value * get_global_id(0); }\n"
                             "__kernel void take(__global const uint *a, __global uint *out, uint n)\n"
                             "{ uint i = get_global_id(0); out[i] = a[(a[i] * 7919u + i * 4099u) % n]; }\n";

int main(int argc, char **argv)
{
    const size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1) << 20, words = bytes / sizeof(cl_uint);
    uint32_t *host = malloc(bytes);
    if (!host)
        return 1;
    start(0);
    cl_program p = build(source, "");
    cl_kernel put = kernel_of(p, "put"), take = kernel_of(p, "take");
    cl_mem all = buffer(CL_MEM_READ_WRITE, bytes, NULL), out = buffer(CL_MEM_READ_WRITE, ITEMS * sizeof *host, NULL);
    set_mem(put, 0, all);
    set_uint(put, 1, 2654435761u);
    set_mem(take, 0, all);
    set_mem(take, 1, out);
    set_uint(take, 2, (cl_uint)words);
    for (cl_uint round = 0; round < 3; round++) {
        fill_words(host, words, round);
        if (round == 1)
            launch(queue, put, words, 64, 0, NULL, NULL);
        else
            CL(clEnqueueWriteBuffer(queue, all, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
        CL(clFinish(queue));
        launch(queue, take, ITEMS, 64, 0, NULL, NULL);
        CL(clFinish(queue));
        show_buffer(round == 1 ? "each its own" : "the host's", queue, out, 0, ITEMS * sizeof *host);
    }
    free(host);
    finish();
    return 0;
}
