/* SPDX-License-Identifier: MIT */
/* svm_rows ROWS HOW: so many rows of a launch on shared virtual memory, whose bytes the host gets by a map (`map`), by
 * a copy (`copy`), or by a map that doesn't block and clFinish (`finish`). It finds clSVMAlloc as it
 * runs. */
#include <dlfcn.h>

#include "plain.h"

enum { N = 1 << 16, BYTES = N * 4 };

static const char source[] =
    "__kernel void bump(__global uint *v) { uint i = get_global_id(0); v[i] = v[i] * 3u + i; }";

int main(int argc, char **argv)
{
    static uint32_t got[N];
    const long rows = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    const char *how = argc > 2 ? argv[2] : "map";
    const bool copies = strcmp(how, "copy") == 0;
    const cl_bool blocking = strcmp(how, "finish") != 0;
    void *(CL_API_CALL * alloc)(cl_context, cl_svm_mem_flags, size_t, cl_uint);
    *(void **)&alloc = dlsym(RTLD_DEFAULT, "clSVMAlloc");
    start(0);
    cl_program p = build(source, "");
    cl_kernel bump = kernel_of(p, "bump");
    uint32_t *v = alloc ? alloc(context, CL_MEM_READ_WRITE, BYTES, 0) : NULL;
    check(v ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "clSVMAlloc", __LINE__);
    CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, v, BYTES, 0, NULL, NULL));
    memset(v, 1, BYTES);
    CL(clEnqueueSVMUnmap(queue, v, 0, NULL, NULL));
    CL(clSetKernelArgSVMPointer(bump, 0, v));
    for (long row = 0; row < rows; row++) {
        launch(queue, bump, N, 64, 0, NULL, NULL);
        if (copies)
            CL(clEnqueueSVMMemcpy(queue, blocking, got, v, BYTES, 0, NULL, NULL));
        else
            CL(clEnqueueSVMMap(queue, blocking, CL_MAP_READ, v, BYTES, 0, NULL, NULL));
        if (!blocking)
            CL(clFinish(queue));
        if (!copies)
            memcpy(got, v, BYTES);
        if (!copies)
            CL(clEnqueueSVMUnmap(queue, v, 0, NULL, NULL));
    }
    show(how, got, BYTES);
    CL(clFinish(queue));
    clSVMFree(context, v);
    return FINISH(bump, p);
}
