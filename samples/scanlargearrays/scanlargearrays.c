/* SPDX-License-Identifier: MIT */
/* Sums before each number of an array. The whole chain of commands hangs on events, each on the one before; a callback
 * says that the result is there. */
#include "../sample.h"
#include <pthread.h>

static long size = 1024, group = 128;
static const struct sample_option options[] = {
    {"size", "numbers", &size, 1, (1L << 32) - 1, NULL},
    {"group", "work-items of a work-group, a power of two, at least 2", &group, 2, 1024, NULL},
    {0},
};

enum { MAX_LEVELS = 32 };

struct level {
    cl_mem in, out;
    cl_uint n;
    size_t global;
};

/* What the callback tells the host; `lock` protects `done` and `status`. */
struct arrival {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    cl_int status;
};

static void CL_CALLBACK arrived(cl_event event, cl_int status, void *user)
{
    struct arrival *a = user;
    (void)event;
    pthread_mutex_lock(&a->lock);
    a->done = true;
    a->status = status;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

static void wait_for_arrival(struct arrival *a)
{
    pthread_mutex_lock(&a->lock);
    while (!a->done)
        pthread_cond_wait(&a->changed, &a->lock);
    a->done = false;
    pthread_mutex_unlock(&a->lock);
    CHECK(a->status);
}

static bool check(const float *in, const float *out, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!sample_close(&out[i], &(float){(float)sum}, 1, 1e-5))
            return false;
        sum += (double)in[i];
    }
    return true;
}

/* levels[i + 1] scans the sums of the blocks of levels[i]; the last one has one block. Returns their number. */
static int make_levels(struct level *levels)
{
    const size_t block = 2 * (size_t)group;
    cl_uint n = (cl_uint)size;
    int count = 0;
    levels[0].in = sample_buffer(CL_MEM_READ_ONLY, n * sizeof(float));
    for (bool last = false; !last; count++) {
        struct level *l = &levels[count];
        const size_t blocks = (n + block - 1) / block;
        l->n = n;
        l->global = blocks * (size_t)group;
        l->out = sample_buffer(CL_MEM_READ_WRITE, n * sizeof(float));
        levels[count + 1].in = sample_buffer(CL_MEM_READ_WRITE, blocks * sizeof(float));
        last = blocks == 1;
        n = (cl_uint)blocks;
    }
    return count;
}

/* Enqueues a kernel that waits for *last and puts its own event there. */
static void launch_after(cl_kernel kernel, size_t global, cl_event *last)
{
    const size_t local = (size_t)group;
    cl_event done;
    CHECK(clEnqueueNDRangeKernel(sample.queue, kernel, 1, NULL, &global, &local, 1, last, &done));
    CHECK(clReleaseEvent(*last));
    *last = done;
}

static void enqueue_all(cl_kernel scan, cl_kernel add, const struct level *levels, int count, cl_event *last)
{
    for (int i = 0; i < count; i++) {
        ARGS(scan, A(levels[i].in), A(levels[i].out), A(levels[i + 1].in), A(levels[i].n),
             LOCAL(2 * (size_t)group * sizeof(float)));
        launch_after(scan, levels[i].global, last);
    }
    for (int i = count - 2; i >= 0; i--) {
        ARGS(add, A(levels[i].out), A(levels[i + 1].out), A(levels[i].n));
        launch_after(add, levels[i].global, last);
    }
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Sums before each number of an array.", options);
    if (group & (group - 1))
        sample_die(2, "--group wants a power of two, not %ld", group);
    const size_t n = (size_t)size, bytes = n * sizeof(float);
    float *in = sample_alloc(bytes), *out = sample_alloc(bytes);
    for (size_t i = 0; i < n; i++)
        in[i] = sample_uniform(0, 1);
    cl_program program = sample_program("scanlargearrays.cl", "");
    cl_kernel scan = sample_kernel(program, "scan_blocks"), add = sample_kernel(program, "add_blocks");
    struct level levels[MAX_LEVELS];
    const int count = make_levels(levels);
    struct arrival arrival = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

    while (sample_next()) {
        cl_event read, last;
        CHECK(clEnqueueWriteBuffer(sample.queue, levels[0].in, CL_FALSE, 0, bytes, in, 0, NULL, &last));
        sample_lap(SAMPLE_WRITE);
        enqueue_all(scan, add, levels, count, &last);
        CHECK(clWaitForEvents(1, &last));
        sample_lap(SAMPLE_KERNEL);
        CHECK(clEnqueueReadBuffer(sample.queue, levels[0].out, CL_FALSE, 0, bytes, out, 1, &last, &read));
        CHECK(clSetEventCallback(read, CL_COMPLETE, arrived, &arrival));
        CHECK(clFlush(sample.queue));
        CHECK(clReleaseEvent(last));
        wait_for_arrival(&arrival);
        CHECK(clReleaseEvent(read));
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(in, out, n);
    sample_output(out, bytes);
    return sample_end(pass, "%ld", size);
}
