/* SPDX-License-Identifier: MIT */
/* crowd SEED STEPS THREADS [END]: random sequences of rows of launches, writes, reads, copies, fills, maps, commands
 * behind user events, callbacks and waits by several threads of one process, each on buffers of its own, over queues
 * that all threads share and others of their own. The same seed prints the same. END, how the process ends: `tidy`, all
 * is let go; `untidy`, nothing is; `exit`, a thread calls exit() while others have commands under way; `running`, main
 * returns meanwhile. */
#include "sequence.h"

enum { BUFFERS = 3, WORDS = 2048, BYTES = WORDS * 4, LOCAL = 64, POOL = 1 << 14 };
enum { SHARED_ORDERED, OWN, SHARED_UNORDERED }; /* the queues of struct sequence */

static const char source[] =
    "__kernel void advance(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n"
    "__kernel void gather(__global const uint *in, __global uint *out, uint k)\n"
    "{ uint i = get_global_id(0); out[i] ^= in[(i * k + 7u) % get_global_size(0)]; }\n"
    "__kernel void some(__global uint *v, uint k)\n"
    "{ uint i = get_global_id(0); if ((v[i] ^ k) % 5u == 0u) v[i] += (uint)get_group_id(0); }\n"
    "__kernel void count(__global const uint *in, __global uint *out, uint k)\n"
    "{ uint i = get_global_id(0); atomic_add(&out[(in[i] ^ k) % 200u], in[i]); }\n"
    "__kernel void lasting(__global uint *v, uint k)\n"
    "{ uint i = get_global_id(0), x = v[i]; for (uint n = 0; n < 3000u; n++) x = x * 1664525u + k; v[i] = x; }\n";
enum { ADVANCE, GATHER, SOME, COUNT, LASTING, KERNELS };
static const char *const names[KERNELS] = {"advance", "gather", "some", "count", "lasting"};

struct worker {
    struct sequence s;
    cl_mem b[BUFFERS];
    cl_kernel k[KERNELS];
    atomic_uint called; /* back */
    unsigned to_be_called;
};

static cl_program program;
static cl_mem common;
static unsigned char pool[POOL];
static cl_command_queue shared[2];
static atomic_uint arrived; /* threads whose sequence is done */
static uint32_t threads;
static const char *end = "tidy";

static void nap(uint32_t us)
{
    const struct timespec t = {.tv_nsec = (long)us * 1000};
    nanosleep(&t, NULL);
}

static void run(struct worker *w, uint32_t what, uint32_t i, uint32_t k)
{
    cl_uint n_wait, arg = 0;
    cl_event e;
    if (what == GATHER || what == COUNT)
        set_mem(w->k[what], arg++, pick(w, 3) ? w->b[(i + 1) % BUFFERS] : common);
    set_mem(w->k[what], arg++, w->b[i]);
    set_uint(w->k[what], arg, k);
    cl_command_queue q = next(w, &n_wait);
    launch(q, w->k[what], WORDS, LOCAL, n_wait, n_wait ? &w->s.last : NULL, &e);
    done(w, e);
}

/* Launches that follow one another in one queue; of most the program wants no event. */
static void do_row(struct worker *w)
{
    const uint32_t i = pick(w, BUFFERS), n = 2 + pick(w, 60);
    cl_uint n_wait;
    cl_event e;
    run(w, ADVANCE, i, n);
    if (!w->s.in_order[w->s.last_q])
        return;
    cl_command_queue q = w->s.q[w->s.last_q];
    for (uint32_t k = 0; k < n; k++) {
        set_uint(w->k[ADVANCE], 1, k);
        launch(q, w->k[ADVANCE], WORDS, LOCAL, 0, NULL, NULL);
    }
    n_wait = 0;
    CL(clEnqueueMarkerWithWaitList(q, n_wait, NULL, &e));
    done(w, e);
}

static void do_write(struct worker *w)
{
    const uint32_t i = pick(w, BUFFERS), offset = pick(w, BYTES), n = 1 + pick(w, BYTES - offset);
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = next(w, &n_wait);
    CL(clEnqueueWriteBuffer(q, w->b[i], pick(w, 3) == 0, offset, n, pool + pick(w, POOL - n), n_wait,
                            n_wait ? &w->s.last : NULL, &e));
    done(w, e);
}

static void do_read(struct worker *w)
{
    unsigned char got[BYTES];
    const uint32_t i = pick(w, BUFFERS), offset = pick(w, BYTES), n = 1 + pick(w, BYTES - offset);
    const bool blocking = pick(w, 2);
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = next(w, &n_wait);
    CL(clEnqueueReadBuffer(q, w->b[i], blocking, offset, n, got, n_wait, n_wait ? &w->s.last : NULL, &e));
    if (!blocking && pick(w, 2))
        CL(clFinish(q));
    else if (!blocking)
        CL(clWaitForEvents(1, &e));
    say(w, "read", i, got, n);
    done(w, e);
}

static void do_move(struct worker *w)
{
    const uint32_t i = pick(w, BUFFERS), j = (i + 1) % BUFFERS, n = 1 + pick(w, BYTES / 2);
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = next(w, &n_wait);
    const cl_event *wait = n_wait ? &w->s.last : NULL;
    if (pick(w, 2))
        CL(clEnqueueCopyBuffer(q, w->b[i], w->b[j], pick(w, BYTES / 2), pick(w, BYTES / 2), n, n_wait, wait, &e));
    else
        CL(clEnqueueFillBuffer(q, w->b[i], pool + pick(w, 100), 4, 4 * pick(w, WORDS / 2), n & ~3u, n_wait, wait, &e));
    done(w, e);
}

static void do_map(struct worker *w)
{
    const uint32_t i = pick(w, BUFFERS), offset = pick(w, BYTES), n = 1 + pick(w, BYTES - offset);
    cl_uint n_wait;
    cl_int err;
    cl_event e;
    unsigned char *v;
    cl_command_queue q = next(w, &n_wait);
    MADE(v, clEnqueueMapBuffer(q, w->b[i], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, offset, n, n_wait,
                               n_wait ? &w->s.last : NULL, &e, &err));
    CL(clReleaseEvent(e));
    say(w, "map", i, v, n);
    for (uint32_t at = 0; at < n; at += 1 + pick(w, 300))
        v[at] ^= 0x55;
    CL(clEnqueueUnmapMemObject(q, w->b[i], v, 0, NULL, &e));
    done(w, e);
}

/* What waits for the application itself, and what comes behind it. */
static void do_gate(struct worker *w)
{
    cl_event e;
    cl_uint n_wait;
    const uint32_t i = pick(w, BUFFERS);
    cl_event gate = new_user_event();
    cl_command_queue q = next(w, &n_wait);
    const cl_event both[2] = {gate, w->s.last};
    CL(clEnqueueWriteBuffer(q, w->b[i], CL_FALSE, 0, 1 + pick(w, BYTES), pool + pick(w, 1000), w->s.last ? 2 : 1, both,
                            &e));
    done(w, e);
    run(w, SOME, i, pick(w, 99));
    CL(clFlush(w->s.q[w->s.last_q]));
    nap(pick(w, 4) ? 0 : pick(w, 3000));
    end_user_event(gate);
}

static void CL_CALLBACK count_call(cl_event e, cl_int status, void *called)
{
    atomic_fetch_add((atomic_uint *)called, status == CL_COMPLETE);
}

static void do_callback(struct worker *w)
{
    run(w, ADVANCE, pick(w, BUFFERS), pick(w, 9));
    CL(clSetEventCallback(w->s.last, CL_COMPLETE, count_call, &w->called));
    CL(clFlush(w->s.q[w->s.last_q]));
    w->to_be_called++;
}

/* A buffer is let go while its commands may still run. */
static void do_object(struct worker *w)
{
    const uint32_t i = pick(w, BUFFERS);
    CL(clReleaseMemObject(w->b[i]));
    w->b[i] = buffer_of(pool + pick(w, 1000), BYTES);
}

static void do_step(struct worker *w)
{
    const uint32_t what = pick(w, 24);
    if (what < 5)
        do_row(w);
    else if (what < 9)
        run(w, pick(w, KERNELS), pick(w, BUFFERS), pick(w, 1000) * 2 + 1);
    else if (what < 11)
        do_write(w);
    else if (what < 14)
        do_read(w);
    else if (what < 16)
        do_move(w);
    else if (what == 16)
        do_map(w);
    else if (what == 17)
        do_gate(w);
    else if (what == 18)
        do_callback(w);
    else if (what == 19)
        do_object(w);
    else if (what < 22)
        CL(clFinish(w->s.q[pick(w, QUEUES)]));
    else if (w->s.last && what == 22)
        CL(clWaitForEvents(1, &w->s.last));
    else
        nap(pick(w, 8) ? pick(w, 200) : pick(w, 12000));
}

static void set_up(struct worker *w)
{
    for (uint32_t i = 0; i < BUFFERS; i++)
        w->b[i] = buffer_of(pool + pick(w, 1000), BYTES);
    for (uint32_t i = 0; i < KERNELS; i++)
        w->k[i] = kernel_of(program, names[i]);
    w->s.q[SHARED_ORDERED] = shared[0];
    w->s.q[SHARED_UNORDERED] = shared[1];
    w->s.q[OWN] = new_queue(0);
    w->s.in_order[SHARED_ORDERED] = w->s.in_order[OWN] = true;
}

static void read_all(struct worker *w)
{
    unsigned char got[BYTES];
    CL(clWaitForEvents(1, &w->s.last));
    for (uint32_t i = 0; i < BUFFERS; i++) {
        CL(clEnqueueReadBuffer(w->s.q[OWN], w->b[i], CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
        say(w, "end", i, got, BYTES);
    }
    while (atomic_load(&w->called) < w->to_be_called)
        nap(100);
}

static void let_go(struct worker *w)
{
    CL(clReleaseEvent(w->s.last));
    for (uint32_t i = 0; i < BUFFERS; i++)
        CL(clReleaseMemObject(w->b[i]));
    for (uint32_t i = 0; i < KERNELS; i++)
        CL(clReleaseKernel(w->k[i]));
    CL(clReleaseCommandQueue(w->s.q[OWN]));
}

static void *work(void *arg)
{
    struct worker *w = arg;
    set_up(w);
    do_row(w);
    for (uint32_t s = 0; s < w->s.steps; s++)
        do_step(w);
    read_all(w);
    if (strcmp(end, "tidy") == 0)
        let_go(w);
    const bool goes_on = strcmp(end, "exit") == 0 || strcmp(end, "running") == 0;
    if (goes_on) {
        SET(w->k[LASTING], w->b[0], 1);
    }
    atomic_fetch_add(&arrived, 1);
    /* What has been computed is known; what follows only keeps all busy when the end comes. */
    for (int i = 0; goes_on && i < 20; i++) {
        clEnqueueNDRangeKernel(w->s.q[OWN], w->k[LASTING], 1, NULL, &(size_t){WORDS}, &(size_t){LOCAL}, 0, NULL, NULL);
        clFinish(w->s.q[OWN]);
    }
    return NULL;
}

static void *leave(void *unused)
{
    nap(300);
    exit(0);
}

static void show_all(struct worker *w)
{
    while (atomic_load(&arrived) < threads)
        nap(200);
    for (uint32_t t = 0; t < threads; t++)
        printf("thread %u\n%s", t, w[t].s.text);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1,
                   steps = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 60;
    threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : 4;
    end = argc > 4 ? argv[4] : end;
    static struct worker w[64];
    threads = threads > 64 ? 64 : threads;
    for (size_t i = 0; i < POOL; i++)
        pool[i] = (unsigned char)scramble((uint32_t)i + seed);
    start(0);
    program = build(source, "");
    common = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES, pool);
    shared[0] = new_queue(0);
    shared[1] = new_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for (uint32_t t = 0; t < threads; t++) {
        w[t].s.state = scramble(seed * 31 + t);
        w[t].s.steps = steps;
        w[t].s.thread = new_thread(work, &w[t]);
    }
    show_all(w);
    if (strcmp(end, "running") == 0)
        return 0;
    if (strcmp(end, "exit") == 0 && pthread_create(&(pthread_t){0}, NULL, leave, NULL) != 0)
        return 1;
    for (uint32_t t = 0; t < threads; t++)
        pthread_join(w[t].s.thread, NULL);
    if (strcmp(end, "tidy") != 0)
        return 0;
    for (uint32_t t = 0; t < threads; t++)
        free(w[t].s.text);
    RELEASE_ALL(shared);
    return FINISH(common, program);
}
