/* SPDX-License-Identifier: MIT */
/* clCompileProgram with headers, clLinkProgram of several programs, and of a library. */
#include "plain.h"

enum { N = 8192 };

static void run(const char *name, cl_program p, const char *kernel, cl_mem m)
{
    cl_kernel k = kernel_of(p, kernel);
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer(name, queue, m, 0, N * 4);
    CL(clReleaseKernel(k));
}

int main(void)
{
    uint32_t host[N];
    cl_int err;
    start(0);
    fill_words(host, N, 14);
    cl_mem m = buffer_of(host, sizeof host);
    cl_program header = new_program("#define ODD(x) ((x) * 2u + 1u)\nuint helper(uint x, uint y);\n"),
               inner = new_program("#include \"deep/odd.h\"\n#define TWICE(x) (ODD(x) + ODD(x))\n");
    cl_program first = new_program("#include \"twice.h\"\n#include <deep/odd.h>\n"
                                   "__kernel void linked(__global uint *v) { uint i = get_global_id(0);\n"
                                   "  v[i] = helper(v[i], TWICE(i)) + (uint)get_group_id(0); }\n"),
               second = new_program(
                   "uint helper(uint x, uint y) { return x * SCALE + y + (uint)get_num_groups(0); }\n"
                   "__kernel void beside(__global uint *v) { v[get_global_id(0)] ^= (uint)get_global_size(0); }\n");
    const cl_program headers[] = {inner, header};
    const char *names[] = {"twice.h", "deep/odd.h"};
    CL(clCompileProgram(first, 1, &device, "-DUNUSED", 2, headers, names, NULL, NULL));
    CL(clCompileProgram(second, 0, NULL, "-DSCALE=5u", 0, NULL, NULL, NULL, NULL));
    const cl_program both[] = {first, second};
    cl_program linked;
    MADE(linked, clLinkProgram(context, 1, &device, "", 2, both, NULL, NULL, &err));
    RELEASE(header, inner);
    run("linked", linked, "linked", m);
    run("beside", linked, "beside", m);
    cl_program_binary_type type = 0;
    CL(clGetProgramBuildInfo(linked, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    printf("type %x\n", type);
    /* Compiled again with another option; the linked program stays what it was. */
    CL(clCompileProgram(second, 1, &device, "-DSCALE=9u", 0, NULL, NULL, NULL, NULL));
    run("still", linked, "linked", m);
    CL(clReleaseProgram(linked));
    MADE(linked, clLinkProgram(context, 1, &device, NULL, 2, both, NULL, NULL, &err));
    run("again", linked, "linked", m);
    RELEASE(linked, first, second);
    /* Text that needs no change, with its headers still in it. */
    cl_program number = new_program("#define NUMBER 77u\n"),
               steady = new_program("#include \"number.h\"\n"
                                    "__kernel void steady(__global uint *v) { v[get_global_id(0)] += NUMBER; }\n");
    const char *number_name = "number.h";
    CL(clCompileProgram(steady, 1, &device, "", 1, &number, &number_name, NULL, NULL));
    CL(clReleaseProgram(number));
    MADE(linked, clLinkProgram(context, 1, &device, "", 1, &steady, NULL, NULL, &err));
    run("steady", linked, "steady", m);
    RELEASE(linked, steady);
    /* A link that fails. */
    cl_program lonely =
        new_program("uint absent(uint x);\n__kernel void bad(__global uint *v) { v[0] = absent(1); }\n");
    CL(clCompileProgram(lonely, 1, &device, "", 0, NULL, NULL, NULL, NULL));
    linked = clLinkProgram(context, 1, &device, "", 1, &lonely, NULL, NULL, &err);
    printf("undefined: %d\n", err != CL_SUCCESS);
    if (linked)
        CL(clReleaseProgram(linked));
    return FINISH(lonely, m);
}
