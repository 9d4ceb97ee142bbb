/* SPDX-License-Identifier: MIT */
/* An application for bench/daemon.sh: jobs of one launch (or some) and one small blocking read each, one after the
 * other; prints the median and the 99th percentile of a job's time in nanoseconds. Exits 1 if the last read is wrong.
 *   daemon_app ROUNDS GROUPS DEPTH [TIMES [LAUNCHES]]
 * GROUPS: work-groups of 64 work-items, each of which goes round DEPTH times; 0: the jobs only read.
 * TIMES: a file that gets a line for each job: when it began, when its launch had returned, and when it had read
 * (CLOCK_MONOTONIC, as in the daemon's trace), in nanoseconds; -: none.
 * LAUNCHES: of each job (1). */
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char source[] = "__kernel void work(__global uint *v, uint depth)\n"
                             "{ uint x = v[get_global_id(0)];\n"
                             "  for (uint k = 0; k < depth; k++) x = x * 1664525u + 1013904223u;\n"
                             "  v[get_global_id(0)] = x; }\n";

static void check(cl_int err, const char *what)
{
    if (err == CL_SUCCESS)
        return;
    fprintf(stderr, "daemon_app: %s: error %d\n", what, err);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

struct job {
    uint64_t begin_ns, launched_ns, end_ns;
};

static void write_times(const char *path, const struct job *jobs, int n)
{
    FILE *f = fopen(path, "w");
    for (int i = 0; f && i < n; i++)
        fprintf(f, "%llu %llu %llu\n", (unsigned long long)jobs[i].begin_ns, (unsigned long long)jobs[i].launched_ns,
                (unsigned long long)jobs[i].end_ns);
    if (!f || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    enum { LOCAL = 64, WARM = 3 };
    if (argc < 4 || argc > 6)
        return 2;
    const int rounds = atoi(argv[1]);
    const int launches = argc > 5 ? atoi(argv[5]) : 1;
    const size_t local = LOCAL, global = (size_t)atol(argv[2]) * LOCAL, items = global ? global : LOCAL;
    const cl_uint depth = (cl_uint)atol(argv[3]);
    const char *text = source;
    cl_platform_id platform;
    cl_device_id device;
    cl_int err;
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    check(err, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &err);
    check(err, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    cl_kernel kernel = clCreateKernel(program, "work", &err);
    check(err, "kernel");
    cl_uint *zeros = calloc(items, sizeof *zeros), seen = 0, right = 0;
    cl_mem buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, items * sizeof *zeros, zeros, &err);
    check(err, "buffer");
    free(zeros);
    check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "argument");
    check(clSetKernelArg(kernel, 1, sizeof depth, &depth), "argument");
    uint64_t *times = calloc((size_t)rounds + 1, sizeof *times);
    struct job *jobs = calloc((size_t)rounds + 1, sizeof *jobs);
    for (int r = -WARM; r < rounds; r++) {
        struct job job = {.begin_ns = now_ns()};
        for (int i = 0; global && i < launches; i++)
            check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "launch");
        job.launched_ns = now_ns();
        check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof seen, &seen, 0, NULL, NULL), "read");
        job.end_ns = now_ns();
        if (r < 0)
            continue;
        jobs[r] = job;
        times[r] = job.end_ns - job.begin_ns;
    }
    if (argc > 4 && strcmp(argv[4], "-") != 0)
        write_times(argv[4], jobs, rounds);
    for (uint64_t k = 0; global && k < (uint64_t)(rounds + WARM) * (uint64_t)launches * depth; k++)
        right = right * 1664525u + 1013904223u;
    if (seen != right) {
        fprintf(stderr, "daemon_app: %u is wrong, %u is right\n", seen, right);
        return 1;
    }
    qsort(times, (size_t)rounds, sizeof *times, by_size);
    printf("%llu %llu\n", (unsigned long long)times[rounds / 2], (unsigned long long)times[rounds * 99 / 100]);
    return 0;
}
