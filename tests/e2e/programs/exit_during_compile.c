/* SPDX-License-Identifier: MIT */
/* exit_during_compile HOW [DEPTH]: ends while a program may be under compilation. `returns`: from main, after launches
 * that are worth more than one device; `fails`: the same by a function of libc that doesn't return, and calls no exit()
 * that could be seen; `exits`: exit() in a thread while another is in its first launch; `handler`: a signal's handler
 * calls exit() where a thread is in its first launch; `builds`: returns from main while a thread builds one program
 * after the other; `after`: a handler of exit() that was registered late launches and reads. And with a launch, a
 * callback, a large read and a large write under way: `busy` returns from main, `busy_exit` calls exit() in another
 * thread, `busy__exit` _exit(), `busy_thread` returns while a thread launches again and again. */
#include <err.h>
#include <signal.h>

#include "plain.h"

enum { N = 1 << 14, LAUNCHES = 20, LARGE = 24 << 20 };

static const char source[] = "__kernel void lasting(__global uint *v) { uint i = get_global_id(0);\n"
                             "  for (int k = 0; k < DEPTH; k++) v[i] = v[i] * 3u + i + (uint)get_group_id(0); }";

static cl_kernel kernel;
static cl_mem mem;

static void *one_launch(void *unused)
{
    launch(queue, kernel, N, 64, 0, NULL, NULL);
    for (;;)
        pause();
    return NULL;
}

static void *builds(void *unused)
{
    for (unsigned i = 0;; i++) {
        char options[64];
        snprintf(options, sizeof options, "-DDEPTH=%u", i);
        cl_int err;
        const char *text = source;
        cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
        if (err || clBuildProgram(program, 1, &device, options, NULL, NULL) != CL_SUCCESS)
            break;
    }
    return NULL;
}

static void *launches(void *unused)
{
    const size_t global = N, local = 64;
    while (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL) == CL_SUCCESS)
        usleep(1000);
    return NULL;
}

static void *exits(void *unused)
{
    exit(7);
}

static void CL_CALLBACK heard(cl_event event, cl_int status, void *unused)
{
    clReleaseEvent(event);
}

static int leave_busy(const char *how)
{
    static char from[LARGE], to[LARGE];
    cl_mem written = buffer(CL_MEM_READ_WRITE, LARGE, NULL), read = buffer(CL_MEM_READ_WRITE, LARGE, NULL);
    cl_event event;
    pthread_t thread;
    CL(clEnqueueWriteBuffer(queue, read, CL_TRUE, 0, LARGE, from, 0, NULL, NULL));
    launch(queue, kernel, N, 64, 0, NULL, &event);
    CL(clSetEventCallback(event, CL_COMPLETE, heard, NULL));
    CL(clEnqueueWriteBuffer(queue, written, CL_FALSE, 0, LARGE, from, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(queue, read, CL_FALSE, 0, LARGE, to, 0, NULL, NULL));
    CL(clFlush(queue));
    if (strcmp(how, "_exit") == 0)
        _exit(7);
    if (strcmp(how, "thread") == 0 && pthread_create(&thread, NULL, launches, NULL) == 0)
        usleep(20000);
    if (strcmp(how, "exit") == 0 && pthread_create(&thread, NULL, exits, NULL) == 0)
        for (;;)
            pause();
    return 7;
}

static void leave(int s)
{
    exit(9);
}

static void after(void)
{
    launch(queue, kernel, N, 64, 0, NULL, NULL);
    show_buffer("after", queue, mem, 0, N * 4);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    pthread_t thread;
    start(0);
    char options[64];
    snprintf(options, sizeof options, "-DDEPTH=%d", argc > 2 ? atoi(argv[2]) : 1000);
    cl_program program = build(source, options);
    kernel = kernel_of(program, "lasting");
    static uint32_t host[N];
    mem = buffer_of(host, sizeof host);
    set_mem(kernel, 0, mem);
    printf("%s\n", how);
    fflush(stdout);
    if (strcmp(how, "exits") == 0 || strcmp(how, "handler") == 0) {
        thread = new_thread(one_launch, NULL);
        usleep(150000);
        if (strcmp(how, "exits") == 0)
            exit(8);
        signal(SIGUSR1, leave);
        pthread_kill(thread, SIGUSR1);
        for (;;)
            pause();
    }
    if (strncmp(how, "busy", 4) == 0)
        return leave_busy(how[4] ? how + 5 : "");
    for (int i = 0; i < LAUNCHES; i++) {
        launch(queue, kernel, N, 64, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    show_buffer("launched", queue, mem, 0, N * 4);
    if (strcmp(how, "after") == 0)
        atexit(after);
    if (strcmp(how, "builds") == 0 && pthread_create(&thread, NULL, builds, NULL) == 0)
        usleep(100000);
    if (strcmp(how, "fails") == 0 && freopen("/dev/null", "w", stderr))
        errx(7, "%s", how);
    return 7;
}
