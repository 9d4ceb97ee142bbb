/* SPDX-License-Identifier: MIT */
/* Callbacks: of events, in which more is enqueued, also while the main thread enqueues; of memory objects and contexts
 * that go away; of builds. */
#include "plain.h"

enum { N = 16384, ROUNDS = 20, CHAINS = 3, LINKS = 12 };

static const char source[] =
    "__kernel void twice(__global uint *v) { uint i = get_global_id(0); v[i] = v[i] * 2u + i; }\n";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int rounds, memory_gone, context_gone, built;
static cl_kernel kernel;

static void set(int *what, int value)
{
    pthread_mutex_lock(&lock);
    *what = value;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int get(const int *what)
{
    pthread_mutex_lock(&lock);
    const int value = *what;
    pthread_mutex_unlock(&lock);
    return value;
}

static void await(int *what, int value)
{
    pthread_mutex_lock(&lock);
    while (*what != value)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* Each launch's end starts the next. */
static void CL_CALLBACK next_round(cl_event e, cl_int status, void *data)
{
    cl_event done;
    if (status != CL_COMPLETE)
        printf("status %d\n", status);
    clReleaseEvent(e);
    const int next = get(&rounds) + 1;
    if (next < ROUNDS) {
        launch(queue, kernel, N, 64, 0, NULL, &done);
        set(&rounds, next);
        CL(clSetEventCallback(done, CL_COMPLETE, next_round, NULL));
        CL(clFlush(queue));
    } else {
        set(&rounds, ROUNDS);
    }
}

/* Launches of which each one's end starts the next, in a queue of their own. */
static struct chain {
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem mem;
    int links; /* lock */
} chains[CHAINS];

static void CL_CALLBACK next_link(cl_event e, cl_int status, void *data);

static void add_link(struct chain *c)
{
    cl_event done;
    launch(c->queue, c->kernel, N, 64, 0, NULL, &done);
    CL(clSetEventCallback(done, CL_COMPLETE, next_link, c));
    CL(clFlush(c->queue));
}

static void CL_CALLBACK next_link(cl_event e, cl_int status, void *data)
{
    struct chain *c = data;
    if (status != CL_COMPLETE)
        printf("status %d\n", status);
    clReleaseEvent(e);
    const int links = get(&c->links) + 1;
    set(&c->links, links);
    if (links < LINKS)
        add_link(c);
}

static void go_along(cl_program p, uint32_t *host)
{
    cl_kernel own = kernel_of(p, "twice");
    cl_mem m = buffer_of(host, N * sizeof *host);
    set_mem(own, 0, m);
    for (struct chain *c = chains; c < chains + CHAINS; c++) {
        c->queue = new_queue(0);
        c->kernel = kernel_of(p, "twice");
        c->mem = buffer_of(host, N * sizeof *host);
        set_mem(c->kernel, 0, c->mem);
        add_link(c);
    }
    for (int i = 0; i < CHAINS * LINKS; i++) {
        launch(queue, own, N, 64, 0, NULL, NULL);
        CL(clFlush(queue));
    }
    for (struct chain *c = chains; c < chains + CHAINS; c++)
        await(&c->links, LINKS);
    show_buffer("main thread", queue, m, 0, N * sizeof *host);
    for (struct chain *c = chains; c < chains + CHAINS; c++) {
        show_buffer("chain", c->queue, c->mem, 0, N * sizeof *host);
        RELEASE(c->queue, c->kernel, c->mem);
    }
    RELEASE(own, m);
}

static void CL_CALLBACK mem_gone(cl_mem m, void *data)
{
    set(&memory_gone, 1);
}

static void CL_CALLBACK ctx_gone(cl_context c, void *data)
{
    set(&context_gone, 1);
}

static void CL_CALLBACK program_built(cl_program p, void *data)
{
    kernel = kernel_of(p, "twice");
    set(&built, 1);
}

int main(void)
{
    static uint32_t host[N];
    cl_event first;
    start(0);
    cl_program p = new_program(source);
    CL(clBuildProgram(p, 1, &device, "", program_built, NULL));
    await(&built, 1);
    fill_words(host, N, 3);
    cl_mem m = buffer_of(host, sizeof host);
    CL(clSetMemObjectDestructorCallback(m, mem_gone, NULL));
    set_mem(kernel, 0, m);
    launch(queue, kernel, N, 64, 0, NULL, &first);
    CL(clSetEventCallback(first, CL_COMPLETE, next_round, NULL));
    CL(clFlush(queue));
    await(&rounds, ROUNDS);
    show_buffer("rounds", queue, m, 0, sizeof host);
    go_along(p, host);
    printf("memory gone: %d\n", get(&memory_gone));
    RELEASE(kernel, p, m);
    CL(clFinish(queue));
    await(&memory_gone, 1);
    printf("memory gone: %d\n", get(&memory_gone));
    if (clSetContextDestructorCallback(context, ctx_gone, NULL) == CL_SUCCESS) {
        printf("context gone: %d\n", get(&context_gone));
        finish();
        for (int i = 0; i < 100 && !get(&context_gone); i++)
            usleep(10000);
        printf("context gone: %d\n", get(&context_gone));
    } else {
        finish();
    }
    return 0;
}
