/* SPDX-License-Identifier: MIT */
/* Sums that the compiler may add up in another order, by the options that the program is built, or linked, with; the
 * same without them; and with them by a kernel whose text is the same in parts as on one device. */
#include "plain.h"

enum { N = 8192, MORE = 100000 };

/* PoCL (3.1) vectorises this where the step is the size of the launch, and not where it is an argument. */
static const char strided[] = "__kernel void NAME(__global const float *in, __global float *out)\n"
                              "{ int tid = get_global_id(0); float sum = 0;\n"
                              "  for (int pos = tid; pos < 100000; pos += get_global_size(0)) sum += in[pos];\n"
                              "  out[tid] = sum; }\n";
static const char rows[] = "__kernel void rows(__global const float *in, __global float *out)\n"
                           "{ int tid = get_global_id(0); float sum = 0;\n"
                           "  for (int k = 0; k < 64; k++) sum += in[tid + k] * in[tid + k + 1];\n"
                           "  out[tid] = sum; }\n";
static const char by_pragma[] = "__kernel void by_pragma(__global const float *in, __global float *out)\n"
                                "{\n#pragma clang fp reassociate(on)\n"
                                "  int tid = get_global_id(0); float sum = 0;\n"
                                "  for (int pos = tid; pos < 100000; pos += get_global_size(0)) sum += in[pos];\n"
                                "  out[tid] = sum; }\n";

static float in[MORE];
static cl_mem from, to;

static void run(cl_program p, const char *name)
{
    cl_kernel k = kernel_of(p, name);
    SET(k, from, to);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer(name, queue, to, 0, N * sizeof(float));
    CL(clReleaseKernel(k));
}

static void built(const char *text, const char *options, const char *name)
{
    cl_program p = build(text, options);
    run(p, name);
    CL(clReleaseProgram(p));
}

/* By the options of one of its units. */
static void linked(const char *name)
{
    cl_int err;
    cl_program whole, unit = new_program(strided);
    CL(clCompileProgram(unit, 1, &device, "-DNAME=by_unit -cl-fast-relaxed-math", 0, NULL, NULL, NULL, NULL));
    MADE(whole, clLinkProgram(context, 1, &device, "", 1, &unit, NULL, NULL, &err));
    run(whole, name);
    RELEASE(unit, whole);
}

int main(void)
{
    uint32_t r = 12345;
    start(0);
    for (int i = 0; i < MORE; i++) {
        r = r * 1664525u + 1013904223u;
        in[i] = (float)(r >> 8) / 16777216.0f - 0.3f;
    }
    from = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in);
    to = buffer(CL_MEM_READ_WRITE, N * sizeof(float), NULL);
    built(strided, "-DNAME=fast -cl-fast-relaxed-math", "fast");
    built(strided, "-cl-unsafe-math-optimizations -DNAME=unsafe", "unsafe");
    built(strided, "-DNAME=strict -cl-mad-enable -cl-no-signed-zeros -cl-finite-math-only", "strict");
    built(rows, "-cl-fast-relaxed-math", "rows");
    linked("by_unit");
    built(by_pragma, "", "by_pragma");
    return FINISH(from, to);
}
