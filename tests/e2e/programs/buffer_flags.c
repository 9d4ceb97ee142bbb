/* SPDX-License-Identifier: MIT */
/* Buffers whose flags, or whose kernels' qualifiers, don't fit what kernels do with them: no driver holds a kernel to
 * them. Between two launches that read the buffer, another one writes it: by items that each own their bytes, at places
 * that aren't known, through a pointer to const, or by atomics whose results are used. What each read, and what is
 * there in the end, is shown. */
#include "plain.h"

enum { N = 1 << 12, BYTES = N * 4 };

static const char source[] =
    "__kernel void reads(__global uint *o, __global const uint *x)\n"
    "{ uint g = get_global_id(0); o[g] = o[g] * 3u + x[g] + x[get_global_size(0) - 1u - g]; }\n"
    "__kernel void owns(__global uint *x, __global uint *c) { uint g = get_global_id(0); x[g] = x[g] * 5u + g; }\n"
    "__kernel void whole(__global uint *x, __global uint *c)\n"
    "{ uint g = get_global_id(0), s = atomic_add(c, 1u) & 0u; x[g] = x[g] * 7u + g + s; }\n"
    "__kernel void scatters(__global uint *x, __global const uint *i)\n"
    "{ uint g = get_global_id(0); x[i[g] % (uint)get_global_size(0)] = g * 11u; }\n"
    "__kernel void casts(__global const uint *restrict x, __global uint *c)\n"
    "{ uint g = get_global_id(0); ((__global uint *)x)[g] = x[g] * 13u + g; }\n";

static const char *const kernels[] = {"owns", "whole", "scatters", "casts"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static cl_kernel reads, writes[KERNELS];
static uint32_t start_values[N], places[N];

static void run(const char *what, cl_mem x, cl_mem shown)
{
    static uint32_t first[N];
    for (int k = 0; k < KERNELS; k++) {
        cl_mem o = buffer_of(first, BYTES);
        cl_mem other = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES, places);
        SET(reads, o, x);
        SET(writes[k], x, other);
        for (int i = 0; i < 2; i++) {
            launch(queue, reads, N, 64, 0, NULL, NULL);
            launch(queue, writes[k], N, 64, 0, NULL, NULL);
        }
        launch(queue, reads, N, 64, 0, NULL, NULL);
        printf("%s, %s: ", what, kernels[k]);
        show_buffer("read", queue, o, 0, BYTES);
        CL(clEnqueueCopyBuffer(queue, x, shown, 0, 0, BYTES, 0, NULL, NULL));
        show_buffer("  is", queue, shown, 0, BYTES);
        RELEASE(o, other);
    }
}

int main(void)
{
    static const struct {
        const char *name;
        cl_mem_flags flags;
    } kinds[] = {
        {"read only", CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR},
        {"read only in the host's memory", CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR},
        {"write only", CL_MEM_WRITE_ONLY | CL_MEM_COPY_HOST_PTR},
        {"read only, no access", CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS | CL_MEM_COPY_HOST_PTR},
        {"host reads only", CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY | CL_MEM_COPY_HOST_PTR},
        {"host writes only", CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_COPY_HOST_PTR},
    };
    static uint32_t host[N];
    start(0);
    cl_program p = build(source, "");
    reads = kernel_of(p, "reads");
    for (int k = 0; k < KERNELS; k++)
        writes[k] = kernel_of(p, kernels[k]);
    fill_words(start_values, N, 3);
    for (uint32_t i = 0; i < N; i++)
        places[i] = i * 1657u % N; /* each once: where two items write one word, no device says which stays */
    cl_mem shown = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        memcpy(host, start_values, sizeof host);
        cl_mem x = buffer(kinds[i].flags, BYTES, host);
        run(kinds[i].name, x, shown);
        CL(clReleaseMemObject(x));
    }
    /* A part of a buffer, of which a kernel may write and another not. */
    cl_mem parent = buffer_of(start_values, BYTES), x = sub_buffer(parent, CL_MEM_READ_ONLY, 0, BYTES);
    run("a part that is read only", x, shown);
    show_buffer("the parent", queue, parent, 0, BYTES);
    RELEASE(x, parent);
    /* Mapped to read, and read when a kernel has written since. */
    x = buffer(CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, BYTES, NULL);
    CL(clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, BYTES, start_values, 0, NULL, NULL));
    for (int i = 0; i < 2; i++) {
        run("mapped", x, shown);
        void *v = map_now(x, CL_MAP_READ, 0, BYTES);
        show("mapped", v, BYTES);
        unmap(x, v);
    }
    RELEASE(x, shown, reads);
    RELEASE_ALL(writes);
    return FINISH(p);
}
