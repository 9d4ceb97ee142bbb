/* SPDX-License-Identifier: MIT */
/* ways_to_end HOW: the ways in which a process that uses OpenCL can end or multiply. `callback`: exit() inside an
 * event's callback; `destructor`: OpenCL calls from a destructor; `handler`: from a handler of exit() that was
 * registered before OpenCL was used; `fork`: a child that exits, and one that execs; `exec`: another program takes its
 * place; `running`: with commands under way; `threads`: several threads call exit() at once, each with handlers of its
 * own to be called; `sigchld`: no child of ours shows; `closed`: its descriptors are closed. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "plain.h"

enum { N = 1 << 14 };

static const char source[] = "__kernel void lasting(__global uint *v) { uint i = get_global_id(0);\n"
                             "  for (int k = 0; k < 100; k++) v[i] = v[i] * 3u + i + (uint)get_group_id(0); }";

static cl_program program;
static cl_kernel kernel;
static cl_mem mem;
static bool at_end;
static volatile sig_atomic_t children;

static void compute(cl_event *event)
{
    start(0);
    program = build(source, "");
    kernel = kernel_of(program, "lasting");
    static uint32_t host[N];
    mem = buffer_of(host, sizeof host);
    set_mem(kernel, 0, mem);
    launch(queue, kernel, N, 64, 0, NULL, event);
    CL(clFlush(queue));
}

static void CL_CALLBACK leave(cl_event e, cl_int status, void *data)
{
    printf("leaving with %d\n", status);
    exit(7);
}

__attribute__((destructor)) static void late(void)
{
    if (!at_end)
        return;
    at_end = false;
    show_buffer("late", queue, mem, 0, N * 4);
    launch(queue, kernel, N, 64, 0, NULL, NULL);
    CL(clFinish(queue));
    RELEASE(kernel, mem, program);
    finish();
    fflush(stdout);
}

static atomic_int handled;

static void handle(void)
{
    if (atomic_fetch_add(&handled, 1) == 0)
        usleep(1000); /* the others come as well */
}

static void *leave_together(void *barrier)
{
    for (int i = 0; i < 100; i++)
        atexit(handle);
    pthread_barrier_wait(barrier);
    exit(6);
}

static void with_threads(void)
{
    enum { THREADS = 6 };
    static pthread_barrier_t barrier;
    pthread_t thread;
    compute(NULL);
    fflush(stdout);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, leave_together, &barrier) != 0)
            _exit(9);
    for (;;)
        pause();
}

static void on_child(int s)
{
    children++;
}

static void with_children(void)
{
    int status = 0;
    compute(NULL);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        exit(3); /* the destructors of all libraries run */
    waitpid(pid, &status, 0);
    printf("exited with %d\n", WEXITSTATUS(status));
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", "-c", "exit 4", (char *)NULL);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    printf("exited with %d\n", WEXITSTATUS(status));
    show_buffer("parent", queue, mem, 0, N * 4);
    launch(queue, kernel, N, 64, 0, NULL, NULL);
    show_buffer("parent", queue, mem, 0, N * 4);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    cl_event e;
    if (strcmp(how, "callback") == 0) {
        compute(&e);
        CL(clSetEventCallback(e, CL_COMPLETE, leave, NULL));
        for (;;)
            pause();
    }
    if (strcmp(how, "handler") == 0) {
        atexit(late);
        compute(NULL);
        show_buffer("result", queue, mem, 0, N * 4);
        launch(queue, kernel, N, 64, 0, NULL, NULL);
        at_end = true;
        return 0;
    }
    if (strcmp(how, "destructor") == 0) {
        compute(NULL);
        at_end = true;
        return 0;
    }
    if (strcmp(how, "threads") == 0)
        with_threads();
    if (strcmp(how, "fork") == 0)
        with_children();
    if (strcmp(how, "exec") == 0) {
        compute(NULL);
        CL(clFinish(queue));
        fflush(stdout);
        execl("/proc/self/exe", argv[0], "running", (char *)NULL);
        return 1;
    }
    if (strcmp(how, "running") == 0) {
        compute(NULL);
        printf("running\n");
    }
    if (strcmp(how, "sigchld") == 0) {
        signal(SIGCHLD, on_child);
        compute(NULL);
        show_buffer("quiet", queue, mem, 0, N * 4);
        printf("children %d, to wait for %d\n", (int)children, (int)waitpid(-1, NULL, WNOHANG));
    }
    if (strcmp(how, "closed") == 0) {
        int out = dup(1);
        for (int fd = 0; fd < 3; fd++)
            close(fd);
        compute(NULL);
        /* What gpusparc opens must not be taken for the application's output. */
        CL(clFinish(queue));
        if (dup2(out, 1) != 1)
            return 9;
        show_buffer("closed", queue, mem, 0, N * 4);
    }
    return 0;
}
