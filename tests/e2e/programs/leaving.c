/* SPDX-License-Identifier: MIT */
/* leaving HOW [DEPTH]: ends while a program may be under compilation. `returns`: from main, after launches that are
 * worth more than one device; `fails`: the same by a function of libc that doesn't return, and calls no exit() that
 * could be seen; `exits`: exit() in a thread while another is in its first launch; `handler`: a signal's handler calls
 * exit() where a thread is in its first launch; `builds`: returns from main while a thread builds one program after the
 * other; `after`: a handler of exit() that was registered late launches and
 * reads. */
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "plain.h"

enum { N = 1 << 14, LAUNCHES = 20 };

static const char source[] = "__kernel void lasting(__global uint *v) { uint i = get_global_id(0);\n"
                             "  for (int k = 0; k < DEPTH; k++) v[i] = v[i] * 3u + i + (uint)get_group_id(0); }";

static cl_kernel kernel;
static cl_mem mem;

static void *one_launch(void *unused)
{
    (void)unused;
    launch(queue, kernel, N, 64, 0, NULL, NULL);
    for (;;)
        pause();
    return NULL;
}

static void *builds(void *unused)
{
    (void)unused;
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

static void leave(int s)
{
    (void)s;
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
    mem = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof host, host);
    set_mem(kernel, 0, mem);
    printf("%s\n", how);
    fflush(stdout);
    if (strcmp(how, "exits") == 0 || strcmp(how, "handler") == 0) {
        if (pthread_create(&thread, NULL, one_launch, NULL) != 0)
            return 1;
        usleep(150000);
        if (strcmp(how, "exits") == 0)
            exit(8);
        signal(SIGUSR1, leave);
        pthread_kill(thread, SIGUSR1);
        for (;;)
            pause();
    }
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
