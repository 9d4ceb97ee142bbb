/* SPDX-License-Identifier: MIT */
/* Programs, in every way of making one, and extensions. */
#include "fake.h"

#include <pthread.h>
#include <unistd.h>

static const char some_text[] = "__kernel void known(__global int *o) { }";

/* By themselves, as the functions with names of OpenCL's are found elsewhere first. */
static cl_program new_program(cl_uint n, const char **texts, const size_t *bytes, cl_int *err)
{
    cl_program p = fake_make(sizeof *p, err);
    size_t all = 0;
    for (cl_uint i = 0; p && i < n; i++) {
        const size_t more = bytes && bytes[i] ? bytes[i] : strlen(texts[i]);
        p->text = realloc(p->text, all + more + 1);
        memcpy(p->text + all, texts[i], more);
        p->text[all += more] = '\0';
    }
    return p;
}

cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *bytes, cl_int *err)
{
    return new_program(n, texts, bytes, err);
}

/* However a program is made, it has one kernel. */
static cl_program program_of(cl_context c, cl_int *err)
{
    const char *text = some_text;
    return new_program(1, &text, NULL, err);
}

cl_program clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *devices, const size_t *bytes,
                                     const unsigned char **binaries, cl_int *status, cl_int *err)
{
    return program_of(c, err);
}

cl_program clCreateProgramWithBuiltInKernels(cl_context c, cl_uint n, const cl_device_id *devices, const char *names,
                                             cl_int *err)
{
    return program_of(c, err);
}

cl_program clCreateProgramWithIL(cl_context c, const void *il, size_t bytes, cl_int *err)
{
    return program_of(c, err);
}

cl_int clCompileProgram(cl_program p, cl_uint n, const cl_device_id *devices, const char *options, cl_uint n_headers,
                        const cl_program *headers, const char **names, void(CL_CALLBACK *notify)(cl_program, void *),
                        void *data)
{
    return CL_SUCCESS;
}

cl_program clLinkProgram(cl_context c, cl_uint n, const cl_device_id *devices, const char *options, cl_uint n_inputs,
                         const cl_program *inputs, void(CL_CALLBACK *notify)(cl_program, void *), void *data,
                         cl_int *err)
{
    return program_of(c, err);
}

cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    const bool waited_for = gettid() == getpid() || strcmp(name, "gs-compile") == 0;
    const char *ms = waited_for ? NULL : getenv("FAKE_BUILD_MS");
    if (ms)
        usleep((useconds_t)strtoul(ms, NULL, 10) * 1000);
    return CL_SUCCESS;
}

cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t room, void *out, size_t *bytes_ret)
{
    const cl_context context = &fake.context;
    return what == CL_PROGRAM_CONTEXT ? answer(&context, sizeof context, room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id d, cl_program_build_info what, size_t room, void *out,
                             size_t *bytes_ret)
{
    return what == CL_PROGRAM_BUILD_LOG ? fake_answer_text("", room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clReleaseProgram(cl_program p)
{
    free(p->text);
    free(p);
    return CL_SUCCESS;
}

static cl_int set_pointer(cl_kernel k, cl_uint i, const void *address)
{
    return clSetKernelArg(k, i, sizeof address, &address);
}

static cl_int set_pointer_of_another_platform(cl_kernel k, cl_uint i, const void *address)
{
    return set_pointer(k, i, address);
}

static cl_mem make_buffer(cl_context c, size_t bytes, cl_int *err)
{
    return fake_new_buffer(CL_MEM_READ_WRITE, bytes, NULL, err);
}

/* Extensions of its own, the last three; a null platform stands for another one. */
static void *find_extension(cl_platform_id p, const char *name)
{
    const struct {
        const char *name;
        void (*function)(void);
    } all[] = {
        {"clSetKernelArgMemPointerINTEL",
         p ? (void (*)(void))set_pointer : (void (*)(void))set_pointer_of_another_platform},
        {"clSetKernelArgFAKE", (void (*)(void))set_pointer},
        {"clCreateProgramWithFAKE", (void (*)(void))program_of},
        {"clCreateBufferNV", (void (*)(void))make_buffer},
    };
    void *function = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0)
            memcpy(&function, &all[i].function, sizeof function);
    return function;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id p, const char *name)
{
    return find_extension(p, name);
}

void *clGetExtensionFunctionAddress(const char *name)
{
    return find_extension(NULL, name);
}
