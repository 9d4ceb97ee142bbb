/* SPDX-License-Identifier: MIT */
/* What an application loses while a thread beside it does one of those things that `auto` mode has to earn first: it
 * writes, launches and waits again and again, and what its iterations take longer than usual while the other thread is
 * at work is lost.
 *   bench_beside [--devices N] [--bytes N]
 * A line for each kind of work: how long it took, an iteration alone and meanwhile (medians, us), and what was lost in
 * all (ms). The kinds: a queue with profiles; 64 MiB of pinned memory, mapped, and given back; a program compiled for
 * all devices; the windows between GPUs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim/devices/group.h"
#include "shim/transfer/windows.h"

enum { MOST = 1 << 20, ALONE_MS = 200, PINNED_BYTES = 64 << 20, GROUP = 64 };

static cl_context context;
static cl_device_id device[GS_MAX_DEVICES];
static cl_uint devices = 2;
static atomic_bool done;

static void check(cl_int err, const char *what)
{
    if (err == CL_SUCCESS)
        return;
    fprintf(stderr, "bench_beside: %s: error %d\n", what, err);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* ---- the work beside ---- */

static void make_queue(void)
{
    cl_int err;
    cl_command_queue q = gs_real()->clCreateCommandQueue(context, device[0], CL_QUEUE_PROFILING_ENABLE, &err);
    check(err, "clCreateCommandQueue");
    gs_real()->clFinish(q);
}

static void pin(void)
{
    cl_int err;
    cl_command_queue q = gs_real()->clCreateCommandQueue(context, device[0], 0, &err);
    check(err, "clCreateCommandQueue");
    cl_mem m = gs_real()->clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, PINNED_BYTES, NULL, &err);
    check(err, "clCreateBuffer");
    void *p =
        gs_real()->clEnqueueMapBuffer(q, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, PINNED_BYTES, 0, NULL, NULL, &err);
    check(err, "clEnqueueMapBuffer");
    gs_real()->clEnqueueUnmapMemObject(q, m, p, 0, NULL, NULL);
    gs_real()->clFinish(q);
    gs_real()->clReleaseMemObject(m);
    gs_real()->clReleaseCommandQueue(q);
}

/* A text that no cache has. */
static cl_program build(void)
{
    static unsigned n;
    char text[1024];
    const char *source = text;
    cl_int err;
    snprintf(text, sizeof text,
             "__kernel void add_up(__global const float *in, __global float *out, int n)\n"
             "{\n"
             "    float sum = %u.%lluf;\n"
             "    for (int i = 0; i < n; i++)\n"
             "        sum = sum * in[i] + native_sin(in[i + get_global_id(0)]) / (1.0f + exp(in[i]));\n"
             "    out[get_global_id(0)] = sum + pow(sum, in[0]);\n"
             "}\n",
             n++, (unsigned long long)now_us());
    cl_program p = gs_real()->clCreateProgramWithSource(context, 1, &source, NULL, &err);
    check(err, "clCreateProgramWithSource");
    check(gs_real()->clBuildProgram(p, devices, device, "", NULL, NULL), "clBuildProgram");
    return p;
}

static void compile(void)
{
    build();
}

static void open_windows(void)
{
    static struct gs_windows w = {.bytes = GS_WINDOW_MAX_BYTES};
    char why[256];
    w.n = devices;
    if (gs_windows_open(&w, context, device, why, sizeof why) < 0)
        fprintf(stderr, "bench_beside: %s\n", why);
}

static const struct work {
    const char *name;
    void (*run)(void);
} works[] = {{"queue", make_queue}, {"pinned", pin}, {"compile", compile}, {"windows", open_windows}};

static double took_us;

static void *run_work(void *arg)
{
    const struct work *w = arg;
    const double begin = now_us();
    w->run();
    took_us = now_us() - begin;
    atomic_store(&done, true);
    return NULL;
}

/* ---- the application ---- */

struct application {
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem in, out;
    char *memory;
    size_t bytes;
};

static void iterate(const struct application *a)
{
    const size_t global = GROUP, local = GROUP;
    const cl_int n = 1;
    cl_int err = gs_real()->clEnqueueWriteBuffer(a->queue, a->in, CL_FALSE, 0, a->bytes, a->memory, 0, NULL, NULL);
    for (int i = 0; i < 8; i++) {
        err |= gs_real()->clSetKernelArg(a->kernel, 2, sizeof n, &n);
        err |= gs_real()->clEnqueueNDRangeKernel(a->queue, a->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    }
    err |= gs_real()->clFinish(a->queue);
    check(err, "an iteration");
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, compare);
    return n ? v[n / 2] : 0;
}

static void start(struct application *a, size_t bytes)
{
    cl_int err;
    *a = (struct application){.bytes = bytes, .memory = calloc(1, bytes)};
    a->queue = gs_real()->clCreateCommandQueue(context, device[0], 0, &err);
    check(err, "clCreateCommandQueue");
    a->kernel = gs_real()->clCreateKernel(build(), "add_up", &err);
    check(err, "clCreateKernel");
    a->in = gs_real()->clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &err);
    check(err, "clCreateBuffer");
    a->out = gs_real()->clCreateBuffer(context, CL_MEM_READ_WRITE, GROUP * sizeof(float), NULL, &err);
    check(err, "clCreateBuffer");
    check(gs_real()->clSetKernelArg(a->kernel, 0, sizeof a->in, &a->in), "clSetKernelArg");
    check(gs_real()->clSetKernelArg(a->kernel, 1, sizeof a->out, &a->out), "clSetKernelArg");
}

static void measure(const struct application *a, const struct work *w)
{
    static double alone[MOST], during[MOST];
    size_t n_alone = 0, n_during = 0;
    double lost = 0;
    pthread_t thread;
    for (const double end = now_us() + (double)ALONE_MS * 1e3; now_us() < end && n_alone < MOST;) {
        const double begin = now_us();
        iterate(a);
        alone[n_alone++] = now_us() - begin;
    }
    const double usual = median(alone, n_alone);
    atomic_store(&done, false);
    check(pthread_create(&thread, NULL, run_work, (void *)(uintptr_t)w) ? CL_OUT_OF_RESOURCES : CL_SUCCESS, "a thread");
    while (!atomic_load(&done) && n_during < MOST) {
        const double begin = now_us();
        iterate(a);
        during[n_during] = now_us() - begin;
        lost += during[n_during++] - usual;
    }
    pthread_join(thread, NULL);
    printf("%-8s took %8.3f ms; an iteration %8.1f us alone, %8.1f meanwhile (%zu); lost %8.3f ms\n", w->name,
           took_us / 1e3, usual, median(during, n_during), n_during, lost / 1e3);
}

static size_t number(const char *text)
{
    char *end;
    const unsigned long n = text ? strtoul(text, &end, 10) : 0;
    if (!n || *end) {
        fputs("Usage: bench_beside [--devices N] [--bytes N]\n", stderr);
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    size_t bytes = 256 * 1024;
    struct application a;
    cl_platform_id platform;
    cl_uint there = 0;
    cl_int err;
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--devices") == 0)
            devices = (cl_uint)number(argv[i + 1]);
        else if (strcmp(argv[i], "--bytes") == 0)
            bytes = number(argv[i + 1]);
        else
            number(NULL);
    }
    check(gs_real()->clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(gs_real()->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, GS_MAX_DEVICES, device, &there), "clGetDeviceIDs");
    devices = devices < there ? devices : there;
    context = gs_real()->clCreateContext(NULL, devices, device, NULL, NULL, &err);
    check(err, "clCreateContext");
    start(&a, bytes);
    iterate(&a); /* a driver may compile only now */
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof works / sizeof *works - (size_t)round; i++) /* the windows once */
            measure(&a, &works[i]);
    return 0;
}
