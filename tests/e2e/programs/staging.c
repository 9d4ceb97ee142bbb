/* SPDX-License-Identifier: MIT */
/* Large transfers of every form: gated by user events, on queues in order and out of order, rectangles with pitches,
 * rows of images, host ranges that overlap; their events; objects that are let go meanwhile; and one that fails. */
#include <sys/mman.h>

#include "plain.h"

enum { WORDS = 1600 * 1024, BYTES = WORDS * 4 };

static const char source[] =
    "__kernel void stir(__global uint *v, uint k) { uint i = get_global_id(0); v[i] = v[i] * 5u + k + i; }\n";

static cl_kernel kernel;
static cl_mem a, b;
static uint32_t host[WORDS], other[WORDS], out[WORDS];

static void stir(cl_command_queue q, cl_mem m, cl_uint k, const cl_event *wait, cl_event *event)
{
    SET(kernel, m, k);
    launch(q, kernel, WORDS, 64, wait ? 1 : 0, wait, event);
}

static void let_go(cl_event *e, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        CL(clReleaseEvent(e[i]));
}

/* What the host's memory holds when the gate opens is what is written. */
static void gated(const char *name, cl_command_queue q)
{
    cl_event e[4];
    cl_event gate = new_user_event();
    memset(host, 0, sizeof host);
    CL(clEnqueueWriteBuffer(q, a, CL_FALSE, 0, BYTES, host, 1, &gate, &e[0]));
    stir(q, a, 3, &e[0], &e[1]);
    CL(clEnqueueReadBuffer(q, a, CL_FALSE, 0, BYTES, out, 1, &e[1], &e[2]));
    /* Written again from what was read, beside it. */
    CL(clEnqueueWriteBuffer(q, b, CL_FALSE, 400, BYTES - 400, out, 1, &e[2], &e[3]));
    CL(clFlush(q));
    fill_words(host, WORDS, 11);
    cl_int status = 0;
    CL(clGetEventInfo(e[0], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    printf("%s: waits: %d\n", name, status > CL_COMPLETE);
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    CL(clWaitForEvents(4, e));
    show(name, out, BYTES);
    show_buffer(name, q, b, 0, BYTES);
    let_go(e, 4);
    CL(clReleaseEvent(gate));
}

/* Each command's memory is the one's before: the order of the queue, or events, must hold for the host's memory too. */
static void overlapping(const char *name, cl_command_queue q, bool events)
{
    cl_event e[10];
    unsigned n = 0;
    fill_words(host, WORDS, 5);
    CL(clEnqueueWriteBuffer(q, a, CL_FALSE, 0, BYTES, host, 0, NULL, &e[n++]));
    for (cl_uint r = 0; r < 4; r++) {
        const cl_event *last = events ? &e[n - 1] : NULL;
        const cl_uint n_wait = events ? 1 : 0;
        cl_mem from = r % 2 ? b : a, to = r % 2 ? a : b;
        if (r == 2) {
            stir(q, from, r, last, &e[n]);
            last = events ? &e[n] : NULL;
            n++;
        }
        CL(clEnqueueReadBuffer(q, from, CL_FALSE, 4 * r, BYTES - 5000, host + 1000 + r, n_wait, last, &e[n]));
        last = events ? &e[n] : NULL;
        n++;
        CL(clEnqueueWriteBuffer(q, to, r % 2, 4000, BYTES - 4000, host, n_wait, last, &e[n]));
        n++;
    }
    CL(clFinish(q));
    show(name, host, BYTES);
    show_buffer(name, q, a, 0, BYTES);
    show_buffer(name, q, b, 0, BYTES);
    let_go(e, n);
}

/* Commands behind a barrier come after those before it. */
static void behind_barrier(cl_command_queue q)
{
    cl_event e;
    fill_words(host, WORDS, 21);
    CL(clEnqueueWriteBuffer(q, a, CL_FALSE, 0, BYTES, host, 0, NULL, NULL));
    CL(clEnqueueBarrierWithWaitList(q, 0, NULL, NULL));
    CL(clEnqueueReadBuffer(q, a, CL_FALSE, 0, BYTES, out, 0, NULL, NULL));
    CL(clEnqueueBarrierWithWaitList(q, 0, NULL, NULL));
    CL(clEnqueueWriteBuffer(q, b, CL_FALSE, 0, BYTES, out, 0, NULL, NULL));
    CL(clEnqueueMarkerWithWaitList(q, 0, NULL, &e));
    wait_for(e);
    show_buffer("behind a barrier", q, b, 0, BYTES);
}

static void rectangles(const char *name, cl_command_queue q)
{
    cl_event gate, e[3];
    const size_t zero[3] = {0, 0, 0};
    cl_mem part = sub_buffer(a, 0, 1 << 20, BYTES - (1 << 20));
    for (cl_uint r = 0; r < 4; r++) {
        const size_t at[3] = {5 + r, 3, 1}, from[3] = {7, 2 * r, 1};
        const size_t region[3] = {r == 3 ? 1003 : 2000, 190, r == 3 ? 20 : 11}, row = 2100, slice = row * 200;
        const size_t host_row = 2050 + r, host_slice = host_row * 220;
        cl_mem m = r == 1 ? part : a;
        const size_t z = r == 3 ? 10 : 11, fits[3] = {region[0], region[1], r == 1 ? 9 : z};
        fill_words(other, WORDS, r);
        fill_words(out, WORDS, r + 9);
        gate = new_user_event();
        stir(q, a, r, NULL, &e[0]);
        const cl_event both[2] = {gate, e[0]};
        CL(clEnqueueWriteBufferRect(q, m, CL_FALSE, at, from, fits, row, slice, host_row, host_slice, other, 2, both,
                                    &e[1]));
        CL(clEnqueueReadBufferRect(q, m, CL_FALSE, zero, from, fits, row, slice, host_row, host_slice, out, 1, &e[1],
                                   &e[2]));
        CL(clFlush(q));
        fill_words(other, WORDS / 2, r + 40);
        CL(clSetUserEventStatus(gate, CL_COMPLETE));
        CL(clWaitForEvents(1, &e[2]));
        show(name, out, BYTES);
        let_go(e, 3);
        CL(clReleaseEvent(gate));
        stir(q, a, r, NULL, &e[0]);
        CL(clEnqueueWriteBufferRect(q, m, CL_TRUE, zero, from, fits, 0, 0, host_row, host_slice, other, 1, e, NULL));
        CL(clEnqueueReadBufferRect(q, m, CL_TRUE, at, zero, fits, row, slice, 0, 0, out, 0, NULL, NULL));
        show(name, out, BYTES);
        let_go(e, 1);
    }
    show_buffer(name, q, a, 0, BYTES);
    CL(clReleaseMemObject(part));
}

static void images(const char *name, cl_command_queue q)
{
    static const cl_mem_object_type types[] = {CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D,
                                               CL_MEM_OBJECT_IMAGE2D_ARRAY};
    for (unsigned t = 0; t < 3; t++) {
        const size_t size[3] = {600, t ? 200 : 2000, t ? 12 : 1};
        const size_t at[3] = {3, 5, t ? 1 : 0}, region[3] = {590, t ? 190 : 1900, t ? 10 : 1}, zero[3] = {0, 0, 0};
        cl_event e[2];
        cl_mem m = new_image(types[t], size, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, CL_UNSIGNED_INT8, other);
        fill_words(host, WORDS, t);
        CL(clEnqueueWriteImage(q, m, CL_FALSE, at, region, 2600, t ? 2600 * 200 : 0, host, 0, NULL, &e[0]));
        CL(clEnqueueReadImage(q, m, CL_FALSE, zero, region, 2500, t ? 2500 * 191 : 0, out, 1, &e[0], &e[1]));
        CL(clWaitForEvents(2, e));
        let_go(e, 2);
        show(name, out, BYTES);
        CL(clEnqueueWriteImage(q, m, CL_TRUE, zero, region, 0, 0, host, 0, NULL, NULL));
        CL(clEnqueueReadImage(q, m, CL_TRUE, at, region, 0, 0, out, 0, NULL, NULL));
        show(name, out, BYTES);
        CL(clReleaseMemObject(m));
    }
}

static void CL_CALLBACK count(cl_event e, cl_int status, void *data)
{
    __atomic_fetch_add((int *)data, status == CL_COMPLETE ? 1 : 100, __ATOMIC_SEQ_CST);
}

static void events(void)
{
    static int called;
    cl_int status = 1;
    cl_command_queue of = NULL;
    cl_event e[2];
    cl_ulong t[4];
    cl_command_type type[2];
    cl_uint references = 0;
    cl_command_queue q = new_queue(CL_QUEUE_PROFILING_ENABLE);
    CL(clEnqueueWriteBuffer(q, a, CL_FALSE, 0, BYTES, host, 0, NULL, &e[0]));
    CL(clEnqueueReadBuffer(q, a, CL_FALSE, 0, BYTES, out, 1, &e[0], &e[1]));
    CL(clSetEventCallback(e[1], CL_COMPLETE, count, &called));
    CL(clFinish(q));
    for (int i = 0; i < 2; i++) {
        CL(clGetEventInfo(e[i], CL_EVENT_COMMAND_TYPE, sizeof type[i], &type[i], NULL));
        CL(clGetEventInfo(e[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        CL(clGetEventInfo(e[i], CL_EVENT_COMMAND_QUEUE, sizeof of, &of, NULL));
        CL(clGetEventProfilingInfo(e[i], CL_PROFILING_COMMAND_QUEUED, sizeof *t, &t[0], NULL));
        CL(clGetEventProfilingInfo(e[i], CL_PROFILING_COMMAND_SUBMIT, sizeof *t, &t[1], NULL));
        CL(clGetEventProfilingInfo(e[i], CL_PROFILING_COMMAND_START, sizeof *t, &t[2], NULL));
        CL(clGetEventProfilingInfo(e[i], CL_PROFILING_COMMAND_END, sizeof *t, &t[3], NULL));
        printf("event: %x, status %d, its queue %d, profile in order %d\n", type[i], status, of == q,
               t[0] <= t[1] && t[1] <= t[2] && t[2] < t[3]);
    }
    for (int i = 0; i < 5000 && !__atomic_load_n(&called, __ATOMIC_SEQ_CST); i++) {
        clFinish(q);
        usleep(1000); /* a driver may call back when it likes */
    }
    printf("called %d\n", __atomic_load_n(&called, __ATOMIC_SEQ_CST));
    for (int i = 0; i < 5000 && references != 1; i++) {
        CL(clGetMemObjectInfo(a, CL_MEM_REFERENCE_COUNT, sizeof references, &references, NULL));
        usleep(1000); /* PoCL lets a command's objects go a moment after its end */
    }
    printf("references %u\n", references);
    let_go(e, 2);
    CL(clReleaseCommandQueue(q));
}

/* The queue and the buffer are let go while the transfers wait. */
static void released(void)
{
    cl_event e[2];
    cl_command_queue q = new_queue(out_of_order());
    cl_mem m = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    cl_event gate = new_user_event();
    fill_words(host, WORDS, 31);
    CL(clEnqueueWriteBuffer(q, m, CL_FALSE, 0, BYTES, host, 1, &gate, &e[0]));
    CL(clEnqueueReadBuffer(q, m, CL_FALSE, 0, BYTES, out, 1, &e[0], &e[1]));
    CL(clFlush(q));
    RELEASE(m, q, e[0]);
    end_user_event(gate);
    wait_for(e[1]);
    show("released", out, BYTES);
}

/* Nothing is moved behind a failure, and what doesn't wait for it goes on. */
static void failing(cl_command_queue q)
{
    cl_int status[2] = {0, 0};
    cl_event e[2];
    fill_words(host, WORDS, 41);
    fill_words(out, WORDS, 42);
    CL(clEnqueueWriteBuffer(queue, b, CL_TRUE, 0, BYTES, host, 0, NULL, NULL));
    cl_event gate = new_user_event();
    CL(clEnqueueWriteBuffer(q, b, CL_FALSE, 0, BYTES, other, 1, &gate, &e[0]));
    CL(clEnqueueReadBuffer(q, b, CL_FALSE, 0, BYTES, out, 1, &e[0], &e[1]));
    CL(clFlush(q));
    CL(clSetUserEventStatus(gate, -5));
    printf("wait: %d\n", clWaitForEvents(1, &e[1]));
    for (int i = 0; i < 2; i++)
        CL(clGetEventInfo(e[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *status, &status[i], NULL));
    printf("failed: %d %d\n", status[0] < 0, status[1] < 0);
    show("not read", out, BYTES);
    show_buffer("not written", queue, b, 0, BYTES);
    let_go(e, 2);
    CL(clReleaseEvent(gate));
}

/* Into memory that nobody has touched, beside pages that nobody may touch, and into a file, whose other bytes stay. */
static void untouched(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), all = 4 * page + BYTES, odd = page / 2 + 12;
    for (cl_bool blocking = CL_FALSE; blocking <= CL_TRUE; blocking++) {
        cl_event e;
        char *m = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        FILE *f = tmpfile();
        if (m == MAP_FAILED || mprotect(m + page, all - 2 * page, PROT_READ | PROT_WRITE) != 0 || !f ||
            ftruncate(fileno(f), (off_t)all) != 0)
            exit(1);
        char *shared = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
        if (shared == MAP_FAILED)
            exit(1);
        memset(shared, 0x77, odd + page);
        CL(clEnqueueReadBuffer(queue, a, blocking, 4, BYTES - page, m + page + odd, 0, NULL, &e));
        CL(clEnqueueReadBuffer(queue, a, blocking, 0, BYTES, shared + odd, 0, NULL, NULL));
        CL(clFinish(queue));
        CL(clReleaseEvent(e));
        show("fresh", m + page, odd + BYTES - page);
        show("shared", shared, all);
        munmap(m, all);
        munmap(shared, all);
        fclose(f);
    }
}

int main(void)
{
    start(0);
    cl_command_queue free_queue = new_queue(out_of_order());
    cl_program p = build(source, "");
    kernel = kernel_of(p, "stir");
    fill_words(other, WORDS, 1);
    a = buffer_of(other, BYTES);
    b = buffer_of(other, BYTES);
    stir(queue, a, 1, NULL, NULL);
    show_buffer("launched", queue, a, 0, BYTES);
    gated("gated, in order", queue);
    gated("gated", free_queue);
    stir(queue, a, 2, NULL, NULL);
    overlapping("overlapping, in order", queue, false);
    overlapping("overlapping", free_queue, true);
    behind_barrier(free_queue);
    rectangles("rectangle, in order", queue);
    events();
    images("image, in order", queue);
    images("image", free_queue);
    untouched();
    released();
    failing(free_queue);
    return FINISH(a, b, kernel, p, free_queue);
}
