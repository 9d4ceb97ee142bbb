/* SPDX-License-Identifier: MIT */
/* The OpenCL side of a test kernel. */
#include "tests/kernels/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void machine_check(cl_int err, const char *what)
{
    if (err == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", what, err);
    exit(1);
}

void machine_open(struct machine *m)
{
    cl_uint n = 0;
    cl_int err = clGetPlatformIDs(1, &m->platform, &n);
    if (err != CL_SUCCESS || n == 0) {
        fprintf(stderr, "left out: there is no OpenCL platform\n");
        exit(77);
    }
    if (clGetDeviceIDs(m->platform, CL_DEVICE_TYPE_GPU, 1, &m->device, NULL) != CL_SUCCESS)
        machine_check(clGetDeviceIDs(m->platform, CL_DEVICE_TYPE_ALL, 1, &m->device, NULL), "clGetDeviceIDs");
    m->context = clCreateContext(NULL, 1, &m->device, NULL, NULL, &err);
    machine_check(err, "clCreateContext");
    m->queue = clCreateCommandQueue(m->context, m->device, 0, &err);
    machine_check(err, "clCreateCommandQueue");
    m->sampler = clCreateSampler(m->context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &err);
    machine_check(err, "clCreateSampler");
}

void machine_close(struct machine *m)
{
    clReleaseSampler(m->sampler);
    clReleaseCommandQueue(m->queue);
    clReleaseContext(m->context);
}

char *machine_info(const struct machine *m, cl_device_info what)
{
    size_t n = 0;
    machine_check(clGetDeviceInfo(m->device, what, 0, NULL, &n), "clGetDeviceInfo");
    char *s = calloc(n + 1, 1);
    machine_check(clGetDeviceInfo(m->device, what, n, s, NULL), "clGetDeviceInfo");
    return s;
}

static void read_version(const struct machine *m, unsigned *major, unsigned *minor)
{
    char *version = machine_info(m, CL_DEVICE_OPENCL_C_VERSION);
    *major = *minor = 0;
    sscanf(version, "OpenCL C %u.%u", major, minor);
    free(version);
}

bool machine_can(const struct machine *m, const struct spec *s)
{
    unsigned major, minor;
    read_version(m, &major, &minor);
    char *extensions = machine_info(m, CL_DEVICE_EXTENSIONS);
    bool can = major * 100 + minor * 10 >= s->version && (!*s->extension || strstr(extensions, s->extension));
    free(extensions);
    return can;
}

void machine_name_version(const struct machine *m, struct spec *s)
{
    const size_t used = strlen(s->options), room = sizeof s->options - used;
    unsigned major, minor;
    read_version(m, &major, &minor);
    if (strstr(s->options, "-cl-std"))
        return;
    const int n = snprintf(s->options + used, room, "%s-cl-std=CL%u.%u", used ? " " : "", major, minor);
    if (n < 0 || (size_t)n >= room)
        machine_check(CL_INVALID_BUILD_OPTIONS, "the options are too long");
}

static void show_log(const struct machine *m, cl_program p)
{
    size_t n = 0;
    clGetProgramBuildInfo(p, m->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
    char *log = calloc(n + 1, 1);
    clGetProgramBuildInfo(p, m->device, CL_PROGRAM_BUILD_LOG, n, log, NULL);
    fprintf(stderr, "%s\n", log);
    free(log);
}

static cl_program from_source(const struct machine *m, const char *text)
{
    cl_int err;
    cl_program p = clCreateProgramWithSource(m->context, 1, &text, NULL, &err);
    machine_check(err, "clCreateProgramWithSource");
    return p;
}

static cl_program compile_and_link(const struct machine *m, const struct spec *s, const char *const *texts)
{
    cl_program units[SPEC_UNITS], headers[SPEC_UNITS];
    const char *names[SPEC_UNITS];
    cl_int err;
    for (unsigned i = 0; i < s->n_headers; i++) {
        headers[i] = from_source(m, s->headers[i].text);
        names[i] = s->headers[i].name;
    }
    for (unsigned i = 0; i < s->n_units; i++) {
        units[i] = from_source(m, texts[i]);
        err = clCompileProgram(units[i], 1, &m->device, s->options, s->n_headers, s->n_headers ? headers : NULL,
                               s->n_headers ? names : NULL, NULL, NULL);
        if (err != CL_SUCCESS)
            show_log(m, units[i]);
        machine_check(err, "clCompileProgram");
    }
    cl_program p = clLinkProgram(m->context, 1, &m->device, "", s->n_units, units, NULL, NULL, &err);
    machine_check(err, "clLinkProgram");
    for (unsigned i = 0; i < s->n_headers; i++)
        clReleaseProgram(headers[i]);
    for (unsigned i = 0; i < s->n_units; i++)
        clReleaseProgram(units[i]);
    return p;
}

cl_program machine_build(const struct machine *m, const struct spec *s, const char *const *texts)
{
    if (s->n_units > 1 || s->n_headers > 0)
        return compile_and_link(m, s, texts);
    cl_program p = from_source(m, texts[0]);
    cl_int err = clBuildProgram(p, 1, &m->device, s->options, NULL, NULL);
    if (err != CL_SUCCESS)
        show_log(m, p);
    machine_check(err, "clBuildProgram");
    return p;
}

static cl_mem make_image(const struct machine *m, const struct spec_arg *a)
{
    cl_int err;
    cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = a->width, .image_height = a->height};
    cl_mem_flags flags = a->writable ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
    cl_mem mem = clCreateImage(m->context, flags | CL_MEM_COPY_HOST_PTR, &format, &desc, a->data, &err);
    machine_check(err, "clCreateImage");
    return mem;
}

void machine_fill(const struct machine *m, const struct spec *s, struct machine_memory *mem)
{
    memset(mem, 0, sizeof *mem);
    for (unsigned l = 0; l < s->n_launches; l++)
        for (unsigned i = 0; i < s->launches[l].n_args; i++) {
            const struct spec_arg *a = &s->launches[l].args[i];
            cl_int err = CL_SUCCESS;
            if (a->kind == SPEC_BUFFER)
                mem->v[l][i] =
                    clCreateBuffer(m->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, a->bytes, a->data, &err);
            else if (a->kind == SPEC_IMAGE)
                mem->v[l][i] = make_image(m, a);
            machine_check(err, "clCreateBuffer");
        }
}

void machine_release(const struct spec *s, struct machine_memory *mem)
{
    for (unsigned l = 0; l < s->n_launches; l++)
        for (unsigned i = 0; i < s->launches[l].n_args; i++)
            if (mem->v[l][i])
                clReleaseMemObject(mem->v[l][i]);
}

static void set_arg(const struct machine *m, cl_kernel k, const struct spec_arg *a, unsigned i, unsigned launch,
                    const struct machine_memory *mem)
{
    cl_int err = CL_SUCCESS;
    if (a->kind == SPEC_VALUE) {
        err = clSetKernelArg(k, i, a->bytes, a->data);
    } else if (a->kind == SPEC_SHARED) {
        err = clSetKernelArg(k, i, a->bytes, NULL);
    } else if (a->kind == SPEC_SAMPLER) {
        err = clSetKernelArg(k, i, sizeof m->sampler, &m->sampler);
    } else {
        const cl_mem *v = a->kind == SPEC_SAME ? &mem->v[0][a->same] : &mem->v[launch][i];
        err = clSetKernelArg(k, i, sizeof *v, v);
    }
    machine_check(err, "clSetKernelArg");
}

cl_kernel machine_kernel(const struct machine *m, cl_program p, const struct spec *s, unsigned launch,
                         const struct machine_memory *mem)
{
    cl_int err;
    cl_kernel k = clCreateKernel(p, s->launches[launch].kernel, &err);
    machine_check(err, s->launches[launch].kernel);
    for (unsigned i = 0; i < s->launches[launch].n_args; i++)
        set_arg(m, k, &s->launches[launch].args[i], i, launch, mem);
    return k;
}

static void read_one(const struct machine *m, const struct spec_arg *a, cl_mem mem, unsigned char *to)
{
    if (a->kind == SPEC_BUFFER) {
        machine_check(clEnqueueReadBuffer(m->queue, mem, CL_TRUE, 0, a->bytes, to, 0, NULL, NULL),
                      "clEnqueueReadBuffer");
    } else if (a->kind == SPEC_IMAGE) {
        size_t origin[3] = {0}, region[3] = {a->width, a->height, 1};
        machine_check(clEnqueueReadImage(m->queue, mem, CL_TRUE, origin, region, 0, 0, to, 0, NULL, NULL),
                      "clEnqueueReadImage");
    }
}

unsigned char *machine_read(const struct machine *m, const struct spec *s, const struct machine_memory *mem,
                            size_t *bytes)
{
    *bytes = 0;
    for (unsigned l = 0; l < s->n_launches; l++)
        for (unsigned i = 0; i < s->launches[l].n_args; i++)
            *bytes += mem->v[l][i] ? s->launches[l].args[i].bytes : 0;
    unsigned char *all = calloc(*bytes + 1, 1);
    size_t at = 0;
    for (unsigned l = 0; l < s->n_launches; l++)
        for (unsigned i = 0; i < s->launches[l].n_args; i++)
            if (mem->v[l][i]) {
                read_one(m, &s->launches[l].args[i], mem->v[l][i], all + at);
                at += s->launches[l].args[i].bytes;
            }
    return all;
}
