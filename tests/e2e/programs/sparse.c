/* SPDX-License-Identifier: MIT */
/* sparse [BYTES [WRITES [TIMES]]]: writes where the data says, into a large buffer of which little changes (all that so
 * many times, 1 if it isn't said); then into all of a small one; each at sizes that are no multiple of anything, again
 * and again, so that each part reads what another has written. */
#include "plain.h"

enum { LARGE = 36 * 1024 * 1024 + 5, WRITES = 3000, SMALL = 100003, LAUNCHES = 4 };

static const char source[] =
    "__kernel void mark(__global uchar *v, __global const uint *at, uint turn)\n"
    "{ uint i = (get_global_id(0) + turn) % (uint)get_global_size(0); v[at[i]] = (uchar)(i * 7u + v[at[i]]); }\n"
    "__kernel void spread(__global uchar *v, __global const uint *at, uint turn)\n"
    "{ uint i = (get_global_id(0) + turn) % (uint)get_global_size(0); v[at[i]] ^= (uchar)(i % 255u + 1u); }\n"
    "__kernel void nothing(__global uchar *v, __global const uint *at, uint turn)\n"
    "{ uint i = get_global_id(0); if (v[at[i]] != v[at[i]]) v[at[i]] = (uchar)turn; }\n"
    "__kernel void same(__global uchar *v, __global const uint *at, uint turn)\n"
    "{ uint i = get_global_id(0); v[at[i] / 300u] = (uchar)turn; }\n";

static void run(cl_program p, const char *name, size_t bytes, size_t writes, uint32_t stride)
{
    unsigned char *v = malloc(bytes);
    uint32_t *at = malloc(writes * sizeof *at);
    for (size_t i = 0; i < bytes; i++)
        v[i] = (unsigned char)(i * 2654435761u >> 23);
    /* Each place once: the stride is prime. The last byte too. */
    for (size_t i = 0; i < writes; i++)
        at[i] = (uint32_t)((bytes - 1 + (uint64_t)i * stride) % bytes);
    cl_mem b = buffer_of(v, bytes), places = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, writes * sizeof *at, at);
    cl_kernel k = kernel_of(p, name);
    SET(k, b, places);
    for (cl_uint i = 0; i < LAUNCHES; i++) {
        set_uint(k, 2, i * (cl_uint)(writes / 3));
        launch(queue, k, writes, 0, 0, NULL, NULL);
    }
    show_buffer(name, queue, b, 0, bytes);
    RELEASE(k, b, places);
    free(v);
    free(at);
}

int main(int argc, char **argv)
{
    const size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : LARGE,
                 writes = argc > 2 ? strtoul(argv[2], NULL, 0) : WRITES;
    start(0);
    cl_program p = build(source, "");
    for (long n = argc > 3 ? strtol(argv[3], NULL, 0) : 1; n > 0; n--)
        run(p, "mark", bytes, writes, 7368787);
    run(p, "spread", SMALL, SMALL, 7919);
    run(p, "nothing", SMALL, SMALL, 7919);
    run(p, "same", SMALL, SMALL, 7919); /* several work-items write the same byte, to the same value */
    return FINISH(p);
}
