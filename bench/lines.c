/* SPDX-License-Identifier: MIT */
/* How much code an OpenCL call goes through under gpusparc that it doesn't go through without: between two calls a
 * driver leaves little in the nearest caches, so that what a short call costs is the number of lines it touches.
 *   bench_lines --against LIBRARY
 * A child makes the calls of a small application, and is led through them step by step, first through the system's
 * library and then through this one. Prints a line per call: its name, and the instructions, the lines of 64 bytes and
 * the pages that the second has more; of several calls, that with the fewest: what is done now and then isn't in it.
 * Exits 77 where processes can't be led so. */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/application.h"

enum { ITEMS = 64, BYTES = 4096, WARM_UP = 200, REPEATED = 5, LINE = 64, PAGE = 4096, MOST_LINES = 65536 };

enum call {
    OTHER_BUFFER,
    BACK_BUFFER,
    SET_BUFFER,
    SET_NUMBER,
    LAUNCH,
    FLUSH,
    WRITE,
    FINISH,
    LAUNCH_EVENT,
    WAIT,
    RELEASE,
    READ,
    COPY,
    FILL,
    DRAW,
    NEW_MAKE, /* a buffer that is made for a launch: after it the other calls aren't what they were */
    NEW_SET,
    NEW_LAUNCH,
    NEW_RELEASE,
    OUT_MAKE, /* likewise, for what it writes */
    OUT_LAUNCH,
    OUT_READ,
    OUT_RELEASE,
    KERNEL_MAKE, /* a kernel that is made for a launch */
    KERNEL_LAUNCH,
    KERNEL_RELEASE,
    CALLS
};
/* The calls of each are made in turn, many times, before those of the next. */
enum { STEPS = 4 };
static const enum call steps[STEPS + 1] = {0, NEW_MAKE, OUT_MAKE, KERNEL_MAKE, CALLS};

static const char *const call_names[CALLS] = {
    [OTHER_BUFFER] = "clSetKernelArg (another buffer)",
    [BACK_BUFFER] = "clSetKernelArg (the first again)",
    [SET_BUFFER] = "clSetKernelArg (buffer)",
    [SET_NUMBER] = "clSetKernelArg (number)",
    [LAUNCH] = "clEnqueueNDRangeKernel",
    [FLUSH] = "clFlush",
    [WRITE] = "clEnqueueWriteBuffer (4 bytes)",
    [FINISH] = "clFinish",
    [LAUNCH_EVENT] = "clEnqueueNDRangeKernel (event)",
    [WAIT] = "clWaitForEvents",
    [RELEASE] = "clReleaseEvent",
    [READ] = "clEnqueueReadBuffer (4 bytes, blocking)",
    [COPY] = "clEnqueueCopyBuffer",
    [FILL] = "clEnqueueFillBuffer",
    [DRAW] = "rand",
    [NEW_MAKE] = "new buffer: clCreateBuffer",
    [NEW_SET] = "new buffer: clSetKernelArg",
    [NEW_LAUNCH] = "new buffer: clEnqueueNDRangeKernel",
    [NEW_RELEASE] = "new buffer: clReleaseMemObject",
    [OUT_MAKE] = "new output: clCreateBuffer, clSetKernelArg",
    [OUT_LAUNCH] = "new output: clEnqueueNDRangeKernel",
    [OUT_READ] = "new output: clEnqueueReadBuffer (blocking)",
    [OUT_RELEASE] = "new output: clReleaseMemObject",
    [KERNEL_MAKE] = "new kernel: clCreateKernel, clSetKernelArg",
    [KERNEL_LAUNCH] = "new kernel: clEnqueueNDRangeKernel",
    [KERNEL_RELEASE] = "new kernel: clReleaseKernel",
};

/* ---- the child ---- */

static cl_int make(const struct bench_application *a, enum call c, cl_int n, cl_event *event)
{
    const struct bench_api *api = &a->api;
    const size_t size = ITEMS, local = BENCH_LOCAL;
    static cl_int got, numbers[ITEMS];
    static cl_mem buffer;
    static cl_kernel kernel;
    cl_int err;
    switch (c) {
    case OTHER_BUFFER:
        return api->set_arg(a->kernel, 1, sizeof a->in, &a->in);
    case BACK_BUFFER:
    case SET_BUFFER:
        return api->set_arg(a->kernel, 1, sizeof a->out, &a->out);
    case SET_NUMBER:
        return api->set_arg(a->kernel, 2, sizeof n, &n);
    case LAUNCH:
        return api->launch(a->queue, a->kernel, 1, NULL, &size, &local, 0, NULL, NULL);
    case FLUSH:
        return api->flush(a->queue);
    case WRITE:
        return api->write(a->queue, a->in, CL_FALSE, 0, sizeof n, &n, 0, NULL, NULL);
    case FINISH:
        return api->finish(a->queue);
    case LAUNCH_EVENT:
        return api->launch(a->queue, a->kernel, 1, NULL, &size, &local, 0, NULL, event);
    case WAIT:
        return api->wait(1, event);
    case RELEASE:
        return api->release_event(*event);
    case READ:
        return api->read(a->queue, a->out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL);
    case COPY:
        return api->copy(a->queue, a->in, a->out, 0, 0, sizeof n, 0, NULL, NULL);
    case FILL:
        return api->fill(a->queue, a->out, &n, sizeof n, 0, sizeof n, 0, NULL, NULL);
    case DRAW:
        return api->draw() < 0;
    case NEW_MAKE:
        buffer = api->create_buffer(a->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &err);
        return err;
    case NEW_SET:
        return api->set_arg(a->kernel, 0, sizeof buffer, &buffer);
    case OUT_MAKE:
        buffer = api->create_buffer(a->context, CL_MEM_WRITE_ONLY, sizeof numbers, NULL, &err);
        return err | api->set_arg(a->kernel, 0, sizeof a->in, &a->in) |
               api->set_arg(a->kernel, 1, sizeof buffer, &buffer);
    case KERNEL_MAKE:
        kernel = api->create_kernel(a->program, "add", &err);
        return err | api->set_arg(kernel, 0, sizeof a->in, &a->in) | api->set_arg(kernel, 1, sizeof a->out, &a->out) |
               api->set_arg(kernel, 2, sizeof n, &n) | api->set_arg(kernel, 3, sizeof n, &n);
    case KERNEL_LAUNCH:
        return api->launch(a->queue, kernel, 1, NULL, &size, &local, 0, NULL, NULL);
    case KERNEL_RELEASE:
        return api->release_kernel(kernel);
    case OUT_READ:
        return api->read(a->queue, buffer, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL);
    case OUT_LAUNCH:
    case NEW_LAUNCH:
        return api->launch(a->queue, a->kernel, 1, NULL, &size, &local, 0, NULL, NULL);
    case OUT_RELEASE:
    case NEW_RELEASE:
        return api->release_buffer(buffer);
    case CALLS:
        break;
    }
    return CL_INVALID_VALUE;
}

/* A call has returned: where the parent lets it go on by itself. */
__attribute__((noinline)) static void reached(void)
{
    __asm__ volatile("" ::: "memory");
}

static void make_calls(const struct bench_application *a, enum call first, enum call end)
{
    cl_event event = NULL;
    cl_int err = CL_SUCCESS;
    for (cl_int n = 0; n < WARM_UP + REPEATED; n++)
        for (enum call c = first; c < end; c++) {
            if (n >= WARM_UP)
                raise(SIGSTOP);
            err |= make(a, c, n, &event);
            reached();
        }
    bench_check(err, "a call");
}

static _Noreturn void be_led(const char *against)
{
    struct bench_application app[2] = {0};
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit(77);
    raise(SIGSTOP); /* the parent is there */
    bench_start(&app[0], "libOpenCL.so.1", 1, ITEMS, BYTES);
    bench_start(&app[1], against, 1, ITEMS, BYTES);
    for (int i = 0; i < 2; i++)
        for (int s = 0; s < STEPS; s++)
            make_calls(&app[i], steps[s], steps[s + 1]);
    _exit(0);
}

/* ---- the parent ---- */

/* What a call went through. */
struct path {
    size_t instructions, n;
    uintptr_t line[MOST_LINES]; /* numbers, each once */
};

static uintptr_t program_counter(pid_t child)
{
    struct user_regs_struct regs;
    struct iovec into = {&regs, sizeof regs};
    if (ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &into) < 0)
        return 0;
#if defined(__x86_64__)
    return (uintptr_t)regs.rip;
#elif defined(__aarch64__)
    return (uintptr_t)regs.pc;
#else
    return 0;
#endif
}

static bool has(const struct path *p, uintptr_t line)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->line[i] == line)
            return true;
    return false;
}

static void add(struct path *p, uintptr_t line)
{
    if ((!p->n || p->line[p->n - 1] != line) && p->n < MOST_LINES && !has(p, line))
        p->line[p->n++] = line;
}

/* The child's next stop. Ends the process where there is none. */
static int next_stop(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSTOPPED(status))
        return WSTOPSIG(status);
    exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
}

/* To the next call that it is to be led through, and through that. Signals of its own go by. */
static void lead(pid_t child, struct path *p)
{
    int signal = 0;
    do {
        ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal);
        signal = next_stop(child);
    } while (signal != SIGSTOP);
    p->instructions = p->n = 0;
    signal = 0;
    for (uintptr_t at = 0; at != (uintptr_t)reached; p->instructions++) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)signal) < 0)
            exit(77);
        signal = next_stop(child);
        signal = signal == SIGTRAP ? 0 : signal;
        at = program_counter(child);
        if (!at)
            exit(77);
        add(p, at / LINE);
    }
}

/* The lines, or pages, that are b's alone. */
static size_t more(const struct path *a, const struct path *b, size_t lines_each)
{
    struct path *units = calloc(2, sizeof *units);
    size_t n = 0;
    if (!units)
        exit(1);
    for (size_t i = 0; i < a->n; i++)
        add(&units[0], a->line[i] / lines_each);
    for (size_t i = 0; i < b->n; i++)
        add(&units[1], b->line[i] / lines_each);
    for (size_t i = 0; i < units[1].n; i++)
        n += !has(&units[0], units[1].line[i]);
    free(units);
    return n;
}

int main(int argc, char **argv)
{
    if (argc != 3 || strcmp(argv[1], "--against") != 0) {
        fputs("Usage: bench_lines --against LIBRARY\n", stderr);
        return 2;
    }
    struct path *path[2] = {calloc(CALLS, sizeof **path), calloc(CALLS, sizeof **path)};
    struct path *one = calloc(1, sizeof *one);
    if (!path[0] || !path[1] || !one)
        return 1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        be_led(argv[2]);
    next_stop(child);
    for (int i = 0; i < 2; i++)
        for (int s = 0; s < STEPS; s++)
            for (int n = 0; n < REPEATED; n++)
                for (enum call c = steps[s]; c < steps[s + 1]; c++) {
                    lead(child, one);
                    if (!n || one->instructions < path[i][c].instructions)
                        path[i][c] = *one;
                }
    kill(child, SIGKILL);
    for (enum call c = 0; c < CALLS; c++)
        printf("%s\t%zd\t%zu\t%zu\n", call_names[c], (ssize_t)(path[1][c].instructions - path[0][c].instructions),
               more(&path[0][c], &path[1][c], 1), more(&path[0][c], &path[1][c], PAGE / LINE));
    return 0;
}
