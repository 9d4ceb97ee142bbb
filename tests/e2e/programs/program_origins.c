/* SPDX-License-Identifier: MIT */
/* Kernels of programs that are made in every way but from source, for the driver in fake/, which takes all of
 * them: `origins`. `origins EXTENSION... called` asks for functions that set arguments, and calls the last one, before
 * it launches a kernel of an ordinary program: `one` and `another` are the same function of two platforms, `unknown`
 * one that nobody knows. */
#include "plain.h"

static const char source[] = "__kernel void known(__global int *o) { o[get_global_id(0)] = 1; }\n"
                             "__kernel void foreign(__global int *o) { o[get_global_id(0)] = 2; }\n";
static cl_mem out;

static cl_program made(void)
{
    cl_program p = new_program(source);
    return p;
}

/* Each kernel has a name of its own for what is said of it. The driver has kernels of any name. */
static void try(cl_program p, const char *name)
{
    cl_kernel k = kernel_of(p, name);
    set_mem(k, 0, out);
    launch(queue, k, 1 << 16, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    CL(clReleaseKernel(k));
}

static void make_all(void)
{
    const unsigned char binary[] = "binary", *binaries[] = {binary};
    const size_t bytes = sizeof binary;
    cl_program(CL_API_CALL * by_extension)(cl_context, cl_int *);
    void *found = clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithFAKE");
    memcpy(&by_extension, &found, sizeof found);
    cl_program p;
    cl_int err;
    try(made(), "unbuilt");
    p = made();
    CL(clCompileProgram(p, 1, &device, "", 0, NULL, NULL, NULL, NULL));
    try(p, "unlinked");
    MADE(p, clCreateProgramWithIL(context, binary, bytes, &err));
    try(p, "intermediate");
    MADE(p, clCreateProgramWithBuiltInKernels(context, 1, &device, "built_in", &err));
    try(p, "built_in");
    MADE(p, clCreateProgramWithBinary(context, 1, &device, &bytes, binaries, NULL, &err));
    try(p, "binary");
    MADE(p, clLinkProgram(context, 1, &device, "", 1, &p, NULL, NULL, &err));
    try(p, "linked");
    MADE(p, by_extension(context, &err));
    try(p, "extension");
    p = build(source, "");
    cl_kernel kept = kernel_of(p, "known");
    CL(clBuildProgram(p, 1, &device, "", NULL, NULL));
    try(p, "again");
    CL(clReleaseKernel(kept));
}

/* An object that gpusparc has never seen made. */
static void try_foreign_object(void)
{
    cl_mem(CL_API_CALL * by_extension)(cl_context, size_t, cl_int *);
    void *found = clGetExtensionFunctionAddressForPlatform(platform, "clCreateBufferNV");
    memcpy(&by_extension, &found, sizeof found);
    cl_int err;
    cl_mem own = out;
    MADE(out, by_extension(context, 1 << 18, &err));
    try(build(source, ""), "foreign");
    out = own;
}

int main(int argc, char **argv)
{
    start(0);
    cl_int(CL_API_CALL * set)(cl_kernel, cl_uint, const void *) = NULL;
    out = buffer(CL_MEM_READ_WRITE, 1 << 18, NULL);
    for (int i = 1; i < argc; i++) {
        if (set && strcmp(argv[i], "called") == 0) {
            cl_kernel k = kernel_of(build(source, ""), "known");
            CL(set(k, 0, argv));
            CL(clReleaseKernel(k));
            continue;
        }
        const char *name = strcmp(argv[i], "unknown") == 0 ? "clSetKernelArgFAKE" : "clSetKernelArgMemPointerINTEL";
        void *found = strcmp(argv[i], "another") == 0 ? clGetExtensionFunctionAddress(name)
                                                      : clGetExtensionFunctionAddressForPlatform(platform, name);
        memcpy(&set, &found, sizeof found);
    }
    if (argc == 2 && strcmp(argv[1], "large") == 0) {
        static char text[2 << 20];
        memset(text, ' ', sizeof text - 1);
        memcpy(text, source, strlen(source));
        try(build(text, ""), "known");
        finish();
        return 0;
    }
    if (argc == 1) {
        make_all();
        try(build(source, ""), "nowhere");
        try_foreign_object();
    }
    try(build(source, ""), "known");
    return finish();
}
