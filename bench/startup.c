/* SPDX-License-Identifier: MIT */
/* What a small process pays from its beginning to its end, step by step: platforms, devices, a context, a queue, a
 * buffer, a program, the first commands, and letting all go.
 *   bench_startup [--devices N] [--keep] [--runs N] [-- COMMAND...]
 * In the process itself (the default): a line per step, its name and milliseconds; --devices: a context of N devices
 * (default 1); --keep: lets nothing go. With COMMAND: runs it --runs times (default 7) beside the same without its
 * first words up to the last
 * "--", in turns, and prints the medians of both processes' whole times in milliseconds, from fork to exit:
 *   bench_startup -- gpusparc run --gpus 4 -- ./app */
#include <CL/cl.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/plain.h"

enum { MOST_DEVICES = 64, MOST_RUNS = 999 };

static const char source[] = "kernel void twice(global int *a) { a[get_global_id(0)] *= 2; }";

static double since;

static void step(const char *name, cl_int err)
{
    const double t = plain_now_ms();
    if (err) {
        fprintf(stderr, "bench_startup: %s: error %d\n", name, err);
        exit(1);
    }
    printf("%s\t%.3f\n", name, t - since);
    since = plain_now_ms();
}

static void steps(cl_uint n_devices, bool keep)
{
    enum { ITEMS = 1024 };
    cl_platform_id platform;
    cl_device_id devices[MOST_DEVICES];
    cl_int err, ints[ITEMS] = {0};
    cl_uint n;
    const char *text = source;
    const size_t items = ITEMS;
    const double begin = since = plain_now_ms();
    step("platforms", clGetPlatformIDs(1, &platform, NULL));
    step("devices", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &n));
    if (n < n_devices) {
        fprintf(stderr, "bench_startup: there are %u devices\n", n);
        exit(1);
    }
    cl_context context = clCreateContext(NULL, n_devices, devices, NULL, NULL, &err);
    step("context", err);
    cl_command_queue queue = clCreateCommandQueue(context, devices[0], 0, &err);
    step("queue", err);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof ints, NULL, &err);
    step("buffer", err);
    step("first write", clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof ints, ints, 0, NULL, NULL));
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
    step("program", err);
    step("build", clBuildProgram(program, 1, devices, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "twice", &err);
    step("kernel", err);
    err = clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    err |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    step("first launch", err | clFinish(queue));
    step("first read", clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof ints, ints, 0, NULL, NULL));
    if (!keep) {
        err = clReleaseKernel(kernel) | clReleaseProgram(program) | clReleaseMemObject(buffer);
        step("objects let go", err);
        step("queue let go", clReleaseCommandQueue(queue));
        step("context let go", clReleaseContext(context));
    }
    printf("all\t%.3f\n", plain_now_ms() - begin);
}

static double run_ms(char **argv)
{
    const double begin = plain_now_ms();
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "bench_startup: %s failed\n", argv[0]);
        exit(1);
    }
    return plain_now_ms() - begin;
}

static void processes(char **with, int runs)
{
    char **without = with;
    double ms[2][MOST_RUNS];
    for (char **w = with; *w; w++)
        if (strcmp(*w, "--") == 0)
            without = w + 1;
    if (without == with || !*without) {
        fputs("bench_startup: the command has no -- of its own: gpusparc run -- ./app\n", stderr);
        exit(2);
    }
    run_ms(without);
    run_ms(with);
    for (int r = 0; r < runs; r++) {
        for (int i = 0; i < 2; i++) {
            const int which = r % 2 ? 1 - i : i;
            ms[which][r] = run_ms(which ? with : without);
        }
    }
    for (int i = 0; i < 2; i++)
        qsort(ms[i], (size_t)runs, sizeof ms[i][0], plain_compare);
    printf("%s\t%.1f\t%.1f\n", without[0], ms[0][runs / 2], ms[1][runs / 2]);
}

static long count(const char *text, long most)
{
    char *end;
    const long n = text ? strtol(text, &end, 10) : 0;
    if (n < 1 || *end || n > most) {
        fputs("Usage: bench_startup [--devices N] [--keep] [--runs N] [-- COMMAND... -- PROGRAM...]\n", stderr);
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    long n_devices = 1, runs = 7;
    bool keep = false;
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i += 2) {
        if (strcmp(argv[i], "--devices") == 0)
            n_devices = count(argv[i + 1], MOST_DEVICES);
        else if (strcmp(argv[i], "--runs") == 0)
            runs = count(argv[i + 1], MOST_RUNS);
        else if (strcmp(argv[i], "--keep") == 0)
            keep = i-- > 0; /* it has no value */
        else
            count(NULL, 0);
    }
    if (i < argc)
        processes(argv + i + 1, (int)runs);
    else
        steps((cl_uint)n_devices, keep);
    return 0;
}
