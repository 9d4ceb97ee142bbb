/* SPDX-License-Identifier: MIT */
/* binaries save FILE FOLDER, binaries link FILE FOLDER, binaries load FILE: an application that keeps its program's
 * binary; built at once, or linked from two units, of which one has a header of its own. The source includes factor.h
 * from FOLDER. binaries words FILE FOLDER: built at once, from a source that says so and doesn't. */
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

static cl_program compiled(const char *text, const char *options, cl_uint n, const cl_program *headers,
                           const char **names)
{
    cl_program p = new_program(text);
    CL(clCompileProgram(p, 1, &device, options, n, headers, names, NULL, NULL));
    return p;
}

static cl_program linked(const char *options)
{
    const char *name = "times.h";
    cl_int err;
    cl_program all, header = new_program("uint times(uint i);\n");
    cl_program unit[2] = {
        compiled("#include \"times.h\"\n__kernel void scaled(__global uint *v)\n"
                 "{ uint i = get_global_id(0); v[i] = times(i) + SHIFT + (uint)get_group_id(0); }\n",
                 "-DSHIFT=7", 1, &header, &name),
        compiled("#include \"factor.h\"\nuint times(uint i) { return i * FACTOR; }\n", options, 0, NULL, NULL)};
    MADE(all, clLinkProgram(context, 1, &device, "", 2, unit, NULL, NULL, &err));
    RELEASE(header, unit[0], unit[1]);
    return all;
}

static cl_program save(const char *path, const char *folder, const char *how)
{
    static const char including[] = "#include \"factor.h\"\n",
                      words[] = "// this includes no factor.h\n#define FACTOR 5u\n",
                      kernel[] = "__kernel void scaled(__global uint *v)\n"
                                 "{ uint i = get_global_id(0); v[i] = i * FACTOR + SHIFT + (uint)get_group_id(0); }\n";
    char source[sizeof words + sizeof including + sizeof kernel];
    char options[4096];
    size_t size = 0;
    snprintf(options, sizeof options, "-I %s -DSHIFT=7", folder);
    snprintf(source, sizeof source, "%s%s", strcmp(how, "words") == 0 ? words : including, kernel);
    cl_program p = strcmp(how, "link") == 0 ? linked(options) : build(source, options);
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
    cl_program p = argc == 4 ? save(argv[2], argv[3], argv[1]) : load(argv[2]);
    cl_kernel k = kernel_of(p, "scaled");
    cl_mem m = buffer(CL_MEM_READ_WRITE, N * 4, NULL);
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer("scaled", queue, m, 0, N * 4);
    return FINISH(m, k, p);
}
