/* SPDX-License-Identifier: MIT */
/* binaries save FILE FOLDER, binaries load FILE: an application that keeps its program's binary. Its source includes
 * factor.h from FOLDER. */
#include "plain.h"

enum { N = 16384 };

static cl_program load(const char *path)
{
    static unsigned char bytes[1 << 22];
    const unsigned char *binary = bytes;
    FILE *f = fopen(path, "rb");
    if (!f)
        exit(2);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    cl_int err, status;
    cl_program p;
    fclose(f);
    MADE(p, clCreateProgramWithBinary(context, 1, &device, &size, &binary, &status, &err));
    CL(clBuildProgram(p, 1, &device, "", NULL, NULL));
    return p;
}

static cl_program save(const char *path, const char *folder)
{
    char options[4096];
    size_t size = 0;
    snprintf(options, sizeof options, "-I %s -DSHIFT=7", folder);
    cl_program p = build("#include \"factor.h\"\n__kernel void scaled(__global uint *v)\n"
                         "{ uint i = get_global_id(0); v[i] = i * FACTOR + SHIFT + (uint)get_group_id(0); }\n",
                         options);
    CL(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *bytes = malloc(size);
    CL(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0)
        exit(2);
    free(bytes);
    return p;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    start(0);
    cl_program p = strcmp(argv[1], "save") == 0 && argc == 4 ? save(argv[2], argv[3]) : load(argv[2]);
    cl_kernel k = kernel_of(p, "scaled");
    cl_mem m = buffer(CL_MEM_READ_WRITE, N * 4, NULL);
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer("scaled", queue, m, 0, N * 4);
    CL(clReleaseMemObject(m));
    CL(clReleaseKernel(k));
    CL(clReleaseProgram(p));
    finish();
    return 0;
}
