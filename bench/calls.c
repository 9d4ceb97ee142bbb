/* SPDX-License-Identifier: MIT */
/* What one OpenCL call costs the host: the calls of a small application, timed one by one. With --against LIBRARY the
 * same calls are made through that library as well, in turn, so that a busy machine disturbs both alike.
 *   bench_calls [--samples N] [--items N] [--bytes N] [--cpu N] [--against LIBRARY [--devices N] [--profiled]]
 * Prints a line per call: its name, for each library the median and the 99th percentile in nanoseconds, and what the
 * second took more: the median of the differences, turn by turn. "new buffer" are the steps of a launch with a buffer
 * that is made for it, until its result has been read. Rows of calls, of which each step's time is told, and
 * transfers of --bytes (default 1 MiB) with what waits for them, a fiftieth as often. --cpu N binds the thread that
 * calls, though not those of the driver.
 *
 * --devices N and --profiled are about the second application alone, so that with the same library twice they tell what
 * a context over N devices costs, and a queue with profiles beside the one that is used. */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/application.h"

enum call {
    SET_BUFFER,
    SET_NUMBER,
    LAUNCH,
    FLUSH,
    WRITE,
    FINISH,
    FINISH_IDLE,
    LAUNCH_EVENT,
    WAIT,
    RELEASE,
    WRITE_BLOCKING,
    READ_BLOCKING,
    SHORT_CALLS,
    NEW_MAKE = SHORT_CALLS,
    NEW_SET,
    NEW_LAUNCH,
    NEW_RELEASE,
    NEW_FINISH,
    NEW_READ,
    NEW_ALL,
    NEW_CALLS,
    FORM_ANY_LOCAL = NEW_CALLS,
    FORM_WAITS,
    FORM_OTHER_QUEUE,
    FORM_WRITE_EVENT,
    FORM_COPY,
    FORM_FILL,
    FORM_MARKER,
    FORM_INFO,
    FORM_MAP,
    FORM_UNMAP,
    FORMS,
    ROW = FORMS,
    ROW_ALL,
    ROW_EVENTS,
    WRITE_LARGE,
    READ_LARGE,
    CALLS
};

static const char *const call_names[CALLS] = {
    [SET_BUFFER] = "clSetKernelArg (buffer)",
    [SET_NUMBER] = "clSetKernelArg (number)",
    [LAUNCH] = "clEnqueueNDRangeKernel",
    [FLUSH] = "clFlush",
    [WRITE] = "clEnqueueWriteBuffer (4 bytes)",
    [FINISH] = "clFinish (after a launch)",
    [FINISH_IDLE] = "clFinish (nothing to do)",
    [LAUNCH_EVENT] = "clEnqueueNDRangeKernel (event)",
    [WAIT] = "clWaitForEvents",
    [RELEASE] = "clReleaseEvent",
    [WRITE_BLOCKING] = "clEnqueueWriteBuffer (4 bytes, blocking)",
    [READ_BLOCKING] = "clEnqueueReadBuffer (4 bytes, blocking)",
    [NEW_MAKE] = "new buffer: clCreateBuffer (1 KiB, copied)",
    [NEW_SET] = "new buffer: clSetKernelArg",
    [NEW_LAUNCH] = "new buffer: clEnqueueNDRangeKernel",
    [NEW_RELEASE] = "new buffer: clReleaseMemObject",
    [NEW_FINISH] = "new buffer: clFinish",
    [NEW_READ] = "new buffer: clEnqueueReadBuffer (blocking)",
    [NEW_ALL] = "new buffer: all of it",
    [FORM_ANY_LOCAL] = "clEnqueueNDRangeKernel (no local size)",
    [FORM_WAITS] = "clEnqueueNDRangeKernel (waits, event)",
    [FORM_OTHER_QUEUE] = "clEnqueueNDRangeKernel (another queue, waits)",
    [FORM_WRITE_EVENT] = "clEnqueueWriteBuffer (4 bytes, event)",
    [FORM_COPY] = "clEnqueueCopyBuffer (4 bytes)",
    [FORM_FILL] = "clEnqueueFillBuffer (4 bytes)",
    [FORM_MARKER] = "clEnqueueMarkerWithWaitList",
    [FORM_INFO] = "clGetEventInfo",
    [FORM_MAP] = "clEnqueueMapBuffer (4 bytes, blocking)",
    [FORM_UNMAP] = "clEnqueueUnmapMemObject",
    [ROW] = "number and launch, in a row",
    [ROW_ALL] = "four arguments and launch, in a row",
    [ROW_EVENTS] = "launch and clReleaseEvent, in a row",
    [WRITE_LARGE] = "write, clFinish",
    [READ_LARGE] = "blocking read",
};

enum { IN_A_ROW = 256, LONGER = 50, NEW_BYTES = 1024 };
static size_t samples = 2000, items = 4096, bytes = 1024 * 1024;
static char *memory; /* `bytes` of them */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Makes each call once; ns[] is what each took. */
static void sample_calls(const struct bench_application *a, cl_int n, double ns[CALLS])
{
    const struct bench_api *api = &a->api;
    const size_t global = items, local = BENCH_LOCAL;
    double t[SHORT_CALLS + 1];
    cl_int err = CL_SUCCESS, got;
    cl_event event = NULL;
    t[0] = now_ns();
    err |= api->set_arg(a->kernel, 1, sizeof a->out, &a->out);
    t[1] = now_ns();
    err |= api->set_arg(a->kernel, 2, sizeof n, &n);
    t[2] = now_ns();
    err |= api->launch(a->queue, a->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    t[3] = now_ns();
    err |= api->flush(a->queue);
    t[4] = now_ns();
    err |= api->write(a->queue, a->in, CL_FALSE, 0, sizeof n, &n, 0, NULL, NULL);
    t[5] = now_ns();
    err |= api->finish(a->queue);
    t[6] = now_ns();
    err |= api->finish(a->queue);
    t[7] = now_ns();
    err |= api->launch(a->queue, a->kernel, 1, NULL, &global, &local, 0, NULL, &event);
    t[8] = now_ns();
    err |= api->wait(1, &event);
    t[9] = now_ns();
    err |= api->release_event(event);
    t[10] = now_ns();
    err |= api->write(a->queue, a->in, CL_TRUE, 0, sizeof n, &n, 0, NULL, NULL);
    t[11] = now_ns();
    err |= api->read(a->queue, a->out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL);
    t[12] = now_ns();
    _Static_assert(SHORT_CALLS == 12, "a time for each call");
    bench_check(err, "a call");
    for (int i = 0; i < SHORT_CALLS; i++)
        ns[i] = t[i + 1] - t[i];
}

/* A buffer is made for a launch, and its result is read. */
static void sample_new(const struct bench_application *a, cl_int n, double ns[CALLS])
{
    const struct bench_api *api = &a->api;
    const size_t global = NEW_BYTES / sizeof n, local = BENCH_LOCAL;
    double t[NEW_CALLS - NEW_MAKE];
    cl_int err, made;
    memory[0] = (char)n;
    t[0] = now_ns();
    cl_mem buffer = api->create_buffer(a->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, NEW_BYTES, memory, &made);
    t[1] = now_ns();
    err = api->set_arg(a->kernel, 0, sizeof buffer, &buffer);
    t[2] = now_ns();
    err |= api->launch(a->queue, a->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    t[3] = now_ns();
    err |= api->release_buffer(buffer);
    t[4] = now_ns();
    err |= api->finish(a->queue);
    t[5] = now_ns();
    err |= api->read(a->queue, a->out, CL_TRUE, 0, NEW_BYTES, memory, 0, NULL, NULL);
    t[6] = now_ns();
    bench_check(made, "clCreateBuffer");
    err |= api->set_arg(a->kernel, 0, sizeof a->in, &a->in); /* what it has is gone */
    bench_check(err, "a call");
    for (int i = 0; i < NEW_ALL - NEW_MAKE; i++)
        ns[NEW_MAKE + i] = t[i + 1] - t[i];
    ns[NEW_ALL] = t[NEW_ALL - NEW_MAKE] - t[0];
}

/* Other forms of commands. */
static void sample_forms(const struct bench_application *a, cl_int n, double ns[CALLS])
{
    const struct bench_api *api = &a->api;
    const size_t global = items, local = BENCH_LOCAL;
    double t[FORMS - FORM_ANY_LOCAL + 1];
    cl_int err = CL_SUCCESS, status, mapped;
    cl_event event[4];
    t[0] = now_ns();
    err |= api->launch(a->queue, a->kernel, 1, NULL, &global, NULL, 0, NULL, &event[0]);
    t[1] = now_ns();
    const double before = now_ns();
    err |= api->launch(a->queue, a->kernel, 1, NULL, &global, &local, 1, &event[0], &event[1]);
    t[2] = now_ns();
    ns[FORM_WAITS] = t[2] - before;
    err |= api->launch(a->other, a->kernel, 1, NULL, &global, &local, 1, &event[1], &event[2]);
    t[3] = now_ns();
    err |= api->write(a->queue, a->in, CL_FALSE, 0, sizeof n, &n, 1, &event[2], &event[3]);
    t[4] = now_ns();
    err |= api->copy(a->queue, a->in, a->out, 0, 0, sizeof n, 0, NULL, NULL);
    t[5] = now_ns();
    err |= api->fill(a->queue, a->out, &n, sizeof n, 0, sizeof n, 0, NULL, NULL);
    t[6] = now_ns();
    err |= api->marker(a->queue, 0, NULL, NULL);
    t[7] = now_ns();
    err |= api->event_info(event[3], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    t[8] = now_ns();
    err |= api->finish(a->queue);
    const double begin = now_ns();
    void *at = api->map(a->queue, a->out, CL_TRUE, CL_MAP_READ, 0, sizeof n, 0, NULL, NULL, &mapped);
    t[9] = now_ns();
    ns[FORM_MAP] = t[9] - begin;
    err |= mapped | api->unmap(a->queue, a->out, at, 0, NULL, NULL);
    t[10] = now_ns();
    _Static_assert(FORMS - FORM_ANY_LOCAL == 10, "a time for each form");
    for (int i = 0; i < 4; i++)
        err |= api->release_event(event[i]);
    err |= api->finish(a->queue);
    bench_check(err, "a call");
    for (int i = 0; i < FORMS - FORM_ANY_LOCAL; i++)
        if (FORM_ANY_LOCAL + i != FORM_WAITS && FORM_ANY_LOCAL + i != FORM_MAP)
            ns[FORM_ANY_LOCAL + i] = t[i + 1] - t[i];
}

/* A row of launches: what each step takes. */
static double row(const struct bench_application *a, enum call kind)
{
    const struct bench_api *api = &a->api;
    const size_t local = BENCH_LOCAL;
    cl_int err = CL_SUCCESS;
    const double begin = now_ns();
    for (cl_int n = 0; n < IN_A_ROW; n++) {
        cl_event event;
        if (kind == ROW_ALL) {
            err |= api->set_arg(a->kernel, 0, sizeof a->in, &a->in);
            err |= api->set_arg(a->kernel, 1, sizeof a->out, &a->out);
            err |= api->set_arg(a->kernel, 3, sizeof n, &n);
        }
        if (kind != ROW_EVENTS)
            err |= api->set_arg(a->kernel, 2, sizeof n, &n);
        err |= api->launch(a->queue, a->kernel, 1, NULL, &local, &local, 0, NULL, kind == ROW_EVENTS ? &event : NULL);
        if (kind == ROW_EVENTS)
            err |= api->release_event(event);
    }
    err |= api->finish(a->queue);
    bench_check(err, "a call");
    return (now_ns() - begin) / (double)IN_A_ROW;
}

/* What takes longer. */
static void sample_longer(const struct bench_application *a, cl_int n, double ns[CALLS])
{
    double t[3];
    cl_int err = CL_SUCCESS;
    (void)n;
    for (enum call c = ROW; c <= ROW_EVENTS; c++)
        ns[c] = row(a, c);
    t[0] = now_ns();
    err |= a->api.write(a->queue, a->large, CL_FALSE, 0, bytes, memory, 0, NULL, NULL);
    err |= a->api.finish(a->queue);
    t[1] = now_ns();
    err |= a->api.read(a->queue, a->large, CL_TRUE, 0, bytes, memory, 0, NULL, NULL);
    t[2] = now_ns();
    bench_check(err, "a call");
    ns[WRITE_LARGE] = t[1] - t[0];
    ns[READ_LARGE] = t[2] - t[1];
}

/* The calls that are timed together. */
static const struct phase {
    void (*sample)(const struct bench_application *a, cl_int n, double ns[CALLS]);
    int first, end;
    bool seldom;
} phases[] = {
    {sample_calls, 0, SHORT_CALLS, false},
    {sample_new, NEW_MAKE, NEW_CALLS, false},
    {sample_forms, FORM_ANY_LOCAL, FORMS, false},
    {sample_longer, ROW, CALLS, true},
};

static size_t samples_of(const struct phase *p)
{
    return p->seldom ? samples / LONGER + 1 : samples;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_quantiles(double *ns, size_t n)
{
    qsort(ns, n, sizeof *ns, compare);
    printf("\t%.0f\t%.0f", ns[n / 2], ns[n * 99 / 100]);
}

static void print_call(int c, double *ns[2][CALLS], size_t n, int n_apps)
{
    double *more = calloc(n, sizeof *more);
    if (!more)
        exit(1);
    for (size_t i = 0; i < n && n_apps == 2; i++)
        more[i] = ns[1][c][i] - ns[0][c][i];
    fputs(call_names[c], stdout);
    for (int a = 0; a < n_apps; a++)
        print_quantiles(ns[a][c], n);
    if (n_apps == 2) {
        qsort(more, n, sizeof *more, compare);
        printf("\t%.0f", more[n / 2]);
    }
    putchar('\n');
    free(more);
}

static void bind_to(size_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0)
        perror("bench_calls: --cpu");
}

static size_t count(const char *text)
{
    char *end;
    const unsigned long n = text ? strtoul(text, &end, 10) : 0;
    if (!n || *end || n > 100000000) {
        fputs("Usage: bench_calls [--samples N] [--items N] [--bytes N] [--cpu N] [--against LIBRARY [--devices N] "
              "[--profiled]]\n",
              stderr);
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    struct bench_application app[2] = {0};
    const char *against = NULL;
    size_t devices = 1;
    bool profiled = false, bound = false;
    size_t cpu = 0;
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--samples") == 0)
            samples = count(argv[i + 1]);
        else if (strcmp(argv[i], "--items") == 0)
            items = (count(argv[i + 1]) + BENCH_LOCAL - 1) / BENCH_LOCAL * BENCH_LOCAL;
        else if (strcmp(argv[i], "--bytes") == 0)
            bytes = count(argv[i + 1]);
        else if (strcmp(argv[i], "--cpu") == 0) {
            bound = true;
            cpu = argv[i + 1] && strcmp(argv[i + 1], "0") == 0 ? 0 : count(argv[i + 1]);
        } else if (strcmp(argv[i], "--devices") == 0)
            devices = count(argv[i + 1]);
        else if (strcmp(argv[i], "--profiled") == 0)
            profiled = i-- > 0; /* it has no value */
        else if (strcmp(argv[i], "--against") == 0 && argv[i + 1])
            against = argv[i + 1];
        else
            count(NULL);
    }
    if (devices > BENCH_MOST_DEVICES)
        count(NULL);
    const size_t least = NEW_BYTES / sizeof(cl_int), numbers = items > least ? items : least; /* in and out */
    const int n_apps = against ? 2 : 1;
    double *ns[2][CALLS], one[CALLS];
    if (!(memory = calloc(1, bytes > NEW_BYTES ? bytes : NEW_BYTES)))
        return 1;
    bench_start(&app[0], "libOpenCL.so.1", 1, numbers, bytes);
    if (against)
        bench_start(&app[1], against, (cl_uint)devices, numbers, bytes);
    if (against && profiled)
        bench_use_profiles(&app[1]);
    if (bound)
        bind_to(cpu);
    for (int a = 0; a < n_apps; a++)
        for (int c = 0; c < CALLS; c++)
            if (!(ns[a][c] = calloc(samples + 1, sizeof *ns[a][c])))
                return 1;
    for (const struct phase *p = phases; p < phases + sizeof phases / sizeof *phases; p++) {
        const size_t n = samples_of(p), warm_up = p->seldom ? 0 : n / 10 + 10;
        for (size_t s = 0; s < warm_up + n; s++) {
            for (int i = 0; i < n_apps; i++) {
                const int a = n_apps == 2 && s % 2 ? 1 - i : i; /* each goes first half of the times */
                p->sample(&app[a], (cl_int)s, one);
                for (int c = p->first; c < p->end && s >= warm_up; c++)
                    ns[a][c][s - warm_up] = one[c];
            }
        }
        for (int c = p->first; c < p->end; c++)
            print_call(c, ns, n, n_apps);
    }
    return 0;
}
