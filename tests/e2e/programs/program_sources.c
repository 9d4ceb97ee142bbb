/* SPDX-License-Identifier: MIT */
/* Programs from several strings, with build options, built again, cloned kernels, and from saved binaries. */
#include "plain.h"

enum { N = 8192 };

static cl_mem m;

static void run(const char *name, cl_kernel k)
{
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer(name, queue, m, 0, N * 4);
}

/* PoCL (3.1) lets go of a launch's kernel a moment after the launch has ended, and builds nothing until then. */
static cl_int build_anew(cl_program p, const char *options)
{
    cl_int err;
    for (int i = 0; (err = clBuildProgram(p, 1, &device, options, NULL, NULL)) == CL_INVALID_OPERATION && i < 1000; i++)
        sleep_ms(1);
    return err;
}

static void several_strings(void)
{
    const char *text[] = {"__kernel void jo", "in_me(__global uint *v) { uint i = get_global_id(0);\nXXXX",
                          " v[i] = v[i] * FACTOR\n", "+ ", "i + (uint)get_group_id(0); }"};
    const size_t lengths[] = {0, strlen(text[1]) - 4, 0, 1, 0};
    cl_int err;
    cl_program p;
    MADE(p, clCreateProgramWithSource(context, 5, text, lengths, &err));
    CL(clBuildProgram(p, 0, NULL, "-DFACTOR=7u -cl-std=CL1.2 -cl-fast-relaxed-math -w", NULL, NULL));
    char back[512] = "";
    size_t n = 0;
    CL(clGetProgramInfo(p, CL_PROGRAM_SOURCE, sizeof back, back, &n));
    printf("%zu %s\n", n, back);
    cl_kernel k = kernel_of(p, "join_me");
    run("several strings", k);
    CL(clReleaseKernel(k));
    /* Built anew with other options. */
    CL(build_anew(p, " -D FACTOR=11u\t-cl-opt-disable "));
    k = kernel_of(p, "join_me");
    run("built again", k);
    /* Not while it has kernels: the old build stays. */
    printf("built with a kernel: %d\n", clBuildProgram(p, 1, &device, "-DFACTOR=13u", NULL, NULL));
    run("built with a kernel", k);
    cl_kernel second = kernel_of(p, "join_me");
    run("its sister", second);
    RELEASE(second, k, p);
}

static void clones(void)
{
    cl_int err;
    cl_program p =
        build("__kernel void twin(__global uint *v, uint a, __local uint *t, uint b)\n"
              "{ uint l = get_local_id(0), i = get_global_id(0); t[l] = v[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
              "  v[i] = t[(l + 1) % get_local_size(0)] * a + b; }",
              "");
    cl_kernel k = kernel_of(p, "twin"), c;
    SET(k, m, 3);
    CL(clSetKernelArg(k, 2, 256, NULL));
    set_uint(k, 3, 5);
    MADE(c, clCloneKernel(k, &err));
    set_uint(k, 1, 9);
    set_uint(c, 3, 7);
    run("cloned from", k);
    run("clone", c);
    CL(clReleaseKernel(k));
    run("clone alone", c);
    RELEASE(c, p);
}

static void broken(void)
{
    const char *text = "__kernel void lacking(__global uint *v)\n{\n  v[0] = undeclared_name;\n}\n";
    cl_int err;
    char log[4096] = "";
    cl_build_status status = 0;
    cl_program p = new_program(text);
    printf("build: %d\n", clBuildProgram(p, 1, &device, "", NULL, NULL));
    CL(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    CL(clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    printf("status %d, the log names line 3: %d\n", status, strstr(log, ":3:") != NULL);
    clCreateKernel(p, "lacking", &err);
    printf("kernel: %d\n", err);
    CL(clReleaseProgram(p));
}

static void binaries(void)
{
    cl_program p = build("__kernel void kept(__global uint *v) { v[get_global_id(0)] *= 3u; }", "");
    cl_uint devices = 0;
    size_t size = 0, n = 0;
    cl_int err, status = 1;
    CL(clGetProgramInfo(p, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, NULL));
    CL(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, &n));
    printf("devices %u, sizes of %zu, some bytes %d\n", devices, n, size > 0);
    unsigned char *bytes = malloc(size);
    CL(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, &n));
    CL(clReleaseProgram(p));
    MADE(p, clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&bytes, &status, &err));
    CL(clBuildProgram(p, 1, &device, "", NULL, NULL));
    printf("status %d, pointers of %zu\n", status, n);
    cl_kernel k = kernel_of(p, "kept");
    run("from a binary", k);
    RELEASE(k, p);
    free(bytes);
}

int main(void)
{
    uint32_t host[N];
    start(0);
    fill_words(host, N, 31);
    m = buffer_of(host, sizeof host);
    several_strings();
    clones();
    broken();
    binaries();
    return FINISH(m);
}
