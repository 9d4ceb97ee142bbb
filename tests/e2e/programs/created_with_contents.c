/* SPDX-License-Identifier: MIT */
/* Memory that is made with contents, and is used at once: buffers of many sizes and flags, images; and what is said of
 * it. */
#include "plain.h"

static const char source[] = "__kernel void bump(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 7u + k; }\n";

static cl_mem filled(const char *name, cl_mem_flags flags, size_t words)
{
    uint32_t *v = malloc(words * 4);
    cl_mem_flags said = 0;
    fill_words(v, words, (unsigned)words);
    cl_mem m = buffer(flags | CL_MEM_COPY_HOST_PTR, words * 4, v);
    memset(v, 0xff, words * 4); /* it is the application's again */
    free(v);
    CL(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof said, &said, NULL));
    printf("%s: %zu words, flags %llx\n", name, words, (unsigned long long)said);
    return m;
}

static void image(void)
{
    enum { SIDE = 300 };
    static uint8_t texels[SIDE * SIDE * 4], back[sizeof texels];
    const size_t origin[3] = {0}, region[3] = {SIDE, SIDE, 1};
    fill_words((uint32_t *)(void *)texels, sizeof texels / 4, 5);
    cl_mem m =
        new_image(CL_MEM_OBJECT_IMAGE2D, region, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, CL_UNSIGNED_INT8, texels);
    CL(clEnqueueReadImage(queue, m, CL_TRUE, origin, region, 0, 0, back, 0, NULL, NULL));
    show("image", back, sizeof back);
    CL(clReleaseMemObject(m));
}

int main(void)
{
    static const size_t words[] = {1, 4096, 4097, 100003, 1 << 19};
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "bump");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        cl_mem m = filled("read and write", CL_MEM_READ_WRITE, words[i]),
               only = filled("never written by the host", CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY, words[i]);
        SET(k, m, 3);
        launch(queue, k, words[i], 0, 0, NULL, NULL);
        show_buffer("bumped", queue, m, 0, words[i] * 4);
        show_buffer("only read", queue, only, 0, words[i] * 4);
        RELEASE(m, only);
    }
    image();
    cl_int err;
    uint32_t one = 1;
    clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 1 << 20, NULL, &err);
    printf("without memory: %d\n", err);
    clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR, 4, &one, &err);
    printf("two ways at once: %d\n", err);
    clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, 1 << 20, &one, &err);
    printf("both accesses: %d\n", err);
    return FINISH(k, p);
}
