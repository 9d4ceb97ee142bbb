/* SPDX-License-Identifier: MIT */
/* A buffer that the host writes, and of which each work-item may then read any word; then each writes its own and may
 * read any; and the first once more. Each step ends with clFinish: write, take, put, take, write, take.
 * usage: exchange [MIB [busy]] -- busy: the first `take` comes while another queue is busy for a while. */
#include "plain.h"

enum { ITEMS = 4096 };

/* `take` follows an index that stands in the buffer: nobody can tell which bytes a part will read. */
static const char source[] = "__kernel void put(__global uint *a, uint value)\n"
                             "{ a[get_global_id(0)] = value * get_global_id(0); }\n"
                             "__kernel void take(__global const uint *a, __global uint *out, uint n)\n"
                             "{ uint i = get_global_id(0); out[i] = a[(a[i] * 7919u + i * 4099u) % n]; }\n"
                             "__kernel void work(__global uint *v)\n"
                             "{ uint x = v[0]; for (uint k = 0; k < 200000000u; k++) x = x * 3u + k; v[0] = x; }\n";

static cl_command_queue other;

static void keep_busy(cl_program p)
{
    const cl_uint zero = 0;
    cl_kernel k = kernel_of(p, "work");
    cl_mem m = buffer(CL_MEM_READ_WRITE, sizeof zero, NULL);
    other = new_queue(0);
    set_mem(k, 0, m);
    CL(clEnqueueFillBuffer(other, m, &zero, sizeof zero, 0, sizeof zero, 0, NULL, NULL));
    launch(other, k, 1, 1, 0, NULL, NULL);
    CL(clFlush(other));
    RELEASE(k, m);
}

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
    SET(put, all, 2654435761u);
    SET(take, all, out, (cl_uint)words);
    for (cl_uint round = 0; round < 3; round++) {
        fill_words(host, words, round);
        if (round == 1)
            launch(queue, put, words, 64, 0, NULL, NULL);
        else
            CL(clEnqueueWriteBuffer(queue, all, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
        CL(clFinish(queue));
        if (argc > 2 && round == 0)
            keep_busy(p);
        launch(queue, take, ITEMS, 64, 0, NULL, NULL);
        CL(clFinish(queue));
        show_buffer(round == 1 ? "each its own" : "the host's", queue, out, 0, ITEMS * sizeof *host);
    }
    if (other) {
        CL(clFinish(other));
        CL(clReleaseCommandQueue(other));
    }
    free(host);
    return finish();
}
