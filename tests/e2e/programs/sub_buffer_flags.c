/* SPDX-License-Identifier: MIT */
/* sub_buffer_flags [buffers]: each flag of a buffer with each of a sub-buffer: what the queries answer, and which of
 * the host's calls are refused; sub-buffers in their parent and beyond; and the flags of images, but with `buffers`. */
#include "plain.h"

enum { BYTES = 8192, ORIGIN = 4096, PART = 2048 };

static const cl_mem_flags access_flags[] = {0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY},
                          host_flags[] = {0, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS},
                          pointer_flags[] = {0, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR};
static const cl_mem_flags refused_flags[] = {CL_MEM_ALLOC_HOST_PTR,
                                             CL_MEM_COPY_HOST_PTR,
                                             CL_MEM_USE_HOST_PTR,
                                             CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                                             CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
                                             CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
                                             CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
                                             (cl_mem_flags)1 << 40};
static _Alignas(4096) char host[BYTES];

static cl_mem window(cl_mem parent, cl_mem_flags flags, size_t origin, size_t size, cl_int *err)
{
    return clCreateSubBuffer(parent, flags, CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){origin, size}, err);
}

static void ask(cl_mem m, cl_mem parent)
{
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0;
    size_t size = 0, offset = 0;
    void *ptr = NULL;
    cl_uint maps = 9, refs = 9;
    cl_context of = NULL;
    cl_mem associated = NULL;
    cl_bool svm = 9;
    CL(clGetMemObjectInfo(m, CL_MEM_TYPE, sizeof type, &type, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof size, &size, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_HOST_PTR, sizeof ptr, &ptr, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof maps, &maps, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof refs, &refs, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_CONTEXT, sizeof of, &of, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof associated, &associated, NULL));
    CL(clGetMemObjectInfo(m, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
    const cl_int shared = clGetMemObjectInfo(m, CL_MEM_USES_SVM_POINTER, sizeof svm, &svm, NULL);
    printf(" %x %llx %zu %td %u %u %d %d %zu %d %d", type, (unsigned long long)flags, size,
           ptr ? (char *)ptr - host : -1, maps, refs, of == context, associated == parent, offset, shared,
           shared ? 0 : (int)svm);
}

/* Which of the host's calls may be made. */
static void try(cl_mem m)
{
    static const cl_map_flags maps[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION,
                                        CL_MAP_READ | CL_MAP_WRITE};
    char few[16] = "";
    const size_t zero[3] = {0}, box[3] = {4, 2, 1};
    cl_int err;
    printf(" %d %d", clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof few, few, 0, NULL, NULL),
           clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof few, few, 0, NULL, NULL));
    printf(" %d %d", clEnqueueReadBufferRect(queue, m, CL_TRUE, zero, zero, box, 0, 0, 0, 0, few, 0, NULL, NULL),
           clEnqueueWriteBufferRect(queue, m, CL_TRUE, zero, zero, box, 0, 0, 0, 0, few, 0, NULL, NULL));
    for (int i = 0; i < 4; i++) {
        void *at = clEnqueueMapBuffer(queue, m, CL_TRUE, maps[i], 0, 64, 0, NULL, NULL, &err);
        printf(" %d", err);
        if (at)
            unmap(m, at);
    }
    CL(clFinish(queue));
}

static void make(cl_mem parent, cl_mem_flags flags)
{
    cl_int err;
    cl_mem m = window(parent, flags, ORIGIN, PART, &err);
    printf("  %llx: %d", (unsigned long long)flags, err);
    if (m) {
        ask(m, parent);
        try(m);
        CL(clReleaseMemObject(m));
    }
    puts("");
}

static void flags_of(cl_mem_flags flags)
{
    cl_int err;
    const bool pointer = flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR);
    cl_mem parent = clCreateBuffer(context, flags, BYTES, pointer ? host : NULL, &err);
    printf("parent %llx: %d", (unsigned long long)flags, err);
    if (!parent) {
        puts("");
        return;
    }
    ask(parent, parent);
    try(parent);
    puts("");
    for (int h = 0; h < 4; h++)
        for (int a = 0; a < 4; a++)
            make(parent, access_flags[a] | host_flags[h]);
    for (size_t i = 0; i < sizeof refused_flags / sizeof *refused_flags; i++)
        make(parent, refused_flags[i]);
    CL(clReleaseMemObject(parent));
}

static void show_flags(const char *what, cl_mem m, cl_int err)
{
    cl_mem_flags flags = 0;
    if (m)
        CL(clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    printf(" %s: %d %llx", what, err, (unsigned long long)flags);
    if (m)
        CL(clReleaseMemObject(m));
}

/* An image, one of a buffer, and a large buffer. */
static void others(cl_mem_flags flags, bool images)
{
    static char large[1 << 20];
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc image = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 8};
    cl_int err;
    const bool pointer = flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR);
    printf("%llx:", (unsigned long long)flags);
    cl_mem m = clCreateBuffer(context, flags, sizeof large, pointer ? large : NULL, &err);
    show_flags("large", m, err);
    if (images) {
        m = clCreateImage(context, flags, &format, &image, pointer ? host : NULL, &err);
        show_flags("image", m, err);
    }
    cl_mem parent = clCreateBuffer(context, flags, BYTES, pointer ? host : NULL, &err);
    const cl_image_desc line = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 16, .buffer = parent};
    for (int h = 0; parent && images && h < 4; h++)
        for (int a = 0; a < 4; a++) {
            m = clCreateImage(context, access_flags[a] | host_flags[h], &format, &line, NULL, &err);
            show_flags("of the buffer", m, err);
        }
    if (parent)
        CL(clReleaseMemObject(parent));
    puts("");
}

static void places(void)
{
    static const size_t sizes[] = {0,       1, 4, 128, PART, BYTES - 128, BYTES, BYTES + 1, 2 * BYTES, SIZE_MAX - 127,
                                   SIZE_MAX},
                        origins[] = {0,         1,     4,           128,       4096,           BYTES - 128,
                                     BYTES - 1, BYTES, BYTES + 128, 2 * BYTES, SIZE_MAX - 127, SIZE_MAX};
    cl_int err;
    cl_mem parent = buffer(0, BYTES, NULL), second, m;
    MADE(second, window(parent, 0, 4096, 2048, &err));
    for (size_t o = 0; o < sizeof origins / sizeof *origins; o++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            if (sizes[s] > SIZE_MAX - origins[o]) /* PoCL takes what wraps around */
                continue;
            m = window(parent, 0, origins[o], sizes[s], &err);
            printf("%zx + %zx: %d", origins[o], sizes[s], err);
            if (m)
                CL(clReleaseMemObject(m));
            m = window(second, 0, origins[o], sizes[s], &err);
            printf(", of a window: %d", err);
            if (m)
                CL(clReleaseMemObject(m));
            m = window(parent, (cl_mem_flags)1 << 40, origins[o], sizes[s], &err);
            printf(", with a flag that isn't known: %d\n", err);
            if (m)
                CL(clReleaseMemObject(m));
        }
    const cl_buffer_region r = {0, 128};
    m = clCreateSubBuffer(parent, 0, 0, &r, &err);
    printf("type 0: %d", err);
    m = clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &err);
    printf(", no region: %d", err);
    m = clCreateSubBuffer(NULL, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &err);
    printf(", no parent: %d\n", err);
    RELEASE(second, parent);
}

/* What the host may not touch is the devices' all the same. */
static void use(void)
{
    cl_int err;
    cl_program p =
        build("__kernel void bump(__global uint *v) { uint i = get_global_id(0); v[i] = v[i] * 7u + i; }", "");
    cl_kernel bump = kernel_of(p, "bump");
    cl_mem parent = buffer(CL_MEM_HOST_WRITE_ONLY, BYTES, NULL), out = buffer(0, PART, NULL), m;
    CL(clEnqueueWriteBuffer(queue, parent, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    MADE(m, window(parent, CL_MEM_HOST_NO_ACCESS, ORIGIN, PART, &err));
    set_mem(bump, 0, m);
    launch(queue, bump, PART / 4, 64, 0, NULL, NULL);
    CL(clEnqueueCopyBuffer(queue, m, out, 0, 0, PART, 0, NULL, NULL));
    show_buffer("used", queue, out, 0, PART);
    RELEASE(out, m, parent, bump, p);
}

int main(int argc, char **argv)
{
    start(0);
    const bool images = argc == 1;
    for (int p = 0; p < 4; p++)
        for (int h = 0; h < 4; h++)
            for (int a = 0; a < 4; a++)
                flags_of(access_flags[a] | host_flags[h] | pointer_flags[p]);
    for (int p = 0; p < 4; p++)
        for (int h = 0; h < 4; h++)
            for (int a = 0; a < 4; a++)
                others(access_flags[a] | host_flags[h] | pointer_flags[p], images);
    places();
    use();
    return finish();
}
