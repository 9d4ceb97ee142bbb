/* SPDX-License-Identifier: MIT */
/* bench_staging [MIB [call]]: how fast pageable memory and GPUs can exchange bytes through pinned slots, by copying
 * threads, size of a piece, and kind of memory. Every thread carries its pieces itself: it copies one while the device
 * moves its other. Prints GB/s of writing; of reading into memory that has been used; and of reading into fresh memory,
 * as it comes, with huge pages asked for (MADV_HUGEPAGE), with a piece's pages made at once (MADV_POPULATE_WRITE), and
 * with both; with memcpy and, "nt", with stores that go past the cache. First what one blocking call does (with `call`
 * nothing else: to be run under gpusparc too), and what the links carry from pinned memory. */
#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "shim/staging/pool.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { MOST_THREADS = 32, MOST_PIECE = 8 << 20, MOST_GPUS = 2, SLOTS = 2 };
enum { HUGE = 1, POPULATE = 2 };

static cl_context context;
static cl_device_id devices[MOST_GPUS];
static unsigned n_devices;
static cl_command_queue queues[MOST_GPUS], mapper;
static cl_mem buffers[MOST_GPUS], ring_buffer;
static char *ring;
static size_t all;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(cl_int err, const char *what)
{
    if (err) {
        fprintf(stderr, "bench_staging: %s: error %d\n", what, err);
        exit(1);
    }
}

static void copy(char *to, const char *from, size_t n, bool streaming)
{
    if (streaming)
        gs_copy_past_cache(to, from, n);
    else
        memcpy(to, from, n);
}

/* One measurement: `all` bytes between `host` and the devices, each an equal part of them. */
struct run {
    char *host;
    bool write, streaming, direct; /* direct: host is pinned, and nothing is copied */
    unsigned gpus, pages;
    size_t piece;
    atomic_size_t next[MOST_GPUS];
};

struct worker {
    pthread_t thread;
    struct run *r;
    unsigned index;
};

static void *work(void *arg)
{
    const struct worker *w = arg;
    struct run *r = w->r;
    const unsigned g = w->index % r->gpus;
    const size_t part = all / r->gpus, pieces = part / r->piece;
    char *slot[SLOTS];
    cl_event busy[SLOTS] = {NULL};
    size_t at[SLOTS] = {0};
    for (unsigned s = 0; s < SLOTS; s++)
        slot[s] = ring + ((size_t)w->index * SLOTS + s) * MOST_PIECE;
    for (unsigned s = 0, idle = 0; idle < SLOTS; s = (s + 1) % SLOTS) {
        if (busy[s]) {
            check(clWaitForEvents(1, &busy[s]), "clWaitForEvents");
            clReleaseEvent(busy[s]);
            busy[s] = NULL;
            char *to = r->host + g * part + at[s];
            if (!r->write && !r->direct) {
                if (r->pages & POPULATE)
                    madvise(to, r->piece, MADV_POPULATE_WRITE);
                copy(to, slot[s], r->piece, r->streaming);
            }
        }
        const size_t i = atomic_fetch_add(&r->next[g], 1);
        if (i >= pieces) {
            idle++;
            continue;
        }
        idle = 0;
        at[s] = i * r->piece;
        char *host = r->host + g * part + at[s], *memory = r->direct ? host : slot[s];
        if (r->write && !r->direct)
            copy(slot[s], host, r->piece, r->streaming);
        check(r->write
                  ? clEnqueueWriteBuffer(queues[g], buffers[g], CL_FALSE, at[s], r->piece, memory, 0, NULL, &busy[s])
                  : clEnqueueReadBuffer(queues[g], buffers[g], CL_FALSE, at[s], r->piece, memory, 0, NULL, &busy[s]),
              "a transfer");
        clFlush(queues[g]);
    }
    return NULL;
}

static double rate(struct run r, unsigned threads)
{
    struct worker w[MOST_THREADS];
    const double begin = now();
    for (unsigned g = 0; g < MOST_GPUS; g++)
        atomic_init(&r.next[g], 0);
    for (unsigned i = 0; i < threads; i++) {
        w[i] = (struct worker){.r = &r, .index = i};
        pthread_create(&w[i].thread, NULL, work, &w[i]);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(w[i].thread, NULL);
    return (double)all / (now() - begin) / 1e9;
}

static char *pages(bool used, unsigned how)
{
    char *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("bench_staging: mmap");
        exit(1);
    }
    if (how & HUGE)
        madvise(p, all, MADV_HUGEPAGE);
    if (used)
        memset(p, 7, all);
    return p;
}

static double fresh(struct run r, unsigned threads)
{
    r.host = pages(false, r.pages);
    const double gbs = rate(r, threads);
    munmap(r.host, all);
    return gbs;
}

/* The second time: the first pays for what is done once. */
static double again(struct run r, unsigned threads)
{
    rate(r, threads);
    return rate(r, threads);
}

static void line(unsigned gpus, unsigned threads, size_t piece, bool streaming, char *host)
{
    struct run r = {.host = host, .gpus = gpus, .piece = piece, .streaming = streaming, .write = true};
    const double wrote = again(r, threads);
    r.write = false;
    printf("%u GPU, %2u threads, %4zu KiB%3s: write %5.1f  read %5.1f  fresh", gpus, threads, piece >> 10,
           streaming ? " nt" : "", wrote, again(r, threads));
    for (r.pages = 0; r.pages < 4; r.pages++)
        printf(" %5.1f", fresh(r, threads));
    printf("\n");
    fflush(stdout);
}

static void drivers_own(char *host)
{
    for (int i = 0; i < 3; i++) {
        char *f = pages(false, 0);
        double t[4] = {now()};
        check(clEnqueueWriteBuffer(queues[0], buffers[0], CL_TRUE, 0, all, host, 0, NULL, NULL), "write");
        t[1] = now();
        check(clEnqueueReadBuffer(queues[0], buffers[0], CL_TRUE, 0, all, host, 0, NULL, NULL), "read");
        t[2] = now();
        check(clEnqueueReadBuffer(queues[0], buffers[0], CL_TRUE, 0, all, f, 0, NULL, NULL), "read");
        t[3] = now();
        printf("one blocking call: write %5.1f  read %5.1f  fresh %5.1f\n", (double)all / (t[1] - t[0]) / 1e9,
               (double)all / (t[2] - t[1]) / 1e9, (double)all / (t[3] - t[2]) / 1e9);
        munmap(f, all);
        cl_int err;
        t[0] = now();
        cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, all, host, &err);
        check(err, "clCreateBuffer");
        check(clEnqueueReadBuffer(queues[0], m, CL_TRUE, 0, 4, &err, 0, NULL, NULL), "read");
        printf("made with a copy of the host's memory: %5.1f\n", (double)all / (now() - t[0]) / 1e9);
        clReleaseMemObject(m);
    }
    fflush(stdout);
}

struct slice {
    pthread_t thread;
    char *to, *from;
    size_t n;
    bool streaming;
};

static void *copy_slice(void *arg)
{
    struct slice *s = arg;
    for (size_t at = 0; at < s->n; at += 2 << 20)
        copy(s->to + at, s->from + at, s->n - at < 2 << 20 ? s->n - at : 2 << 20, s->streaming);
    return NULL;
}

static double copied(char *to, char *from, unsigned threads, bool streaming)
{
    struct slice s[MOST_THREADS];
    const size_t each = all / threads;
    const double begin = now();
    for (unsigned i = 0; i < threads; i++) {
        s[i] = (struct slice){.to = to + each * i, .from = from + each * i, .n = each, .streaming = streaming};
        pthread_create(&s[i].thread, NULL, copy_slice, &s[i]);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(s[i].thread, NULL);
    return (double)(each * threads) / (now() - begin) / 1e9;
}

static void open_devices(void)
{
    cl_platform_id platforms[8];
    cl_uint n = 0, n_dev = 0;
    cl_int err = clGetPlatformIDs(8, platforms, &n);
    check(err, "clGetPlatformIDs");
    for (cl_uint i = 0; i < n && i < 8 && !n_dev; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, MOST_GPUS, devices, &n_dev) != CL_SUCCESS)
            n_dev = 0;
    if (!n_dev) /* to try it out */
        check(clGetDeviceIDs(platforms[0], CL_DEVICE_TYPE_ALL, MOST_GPUS, devices, &n_dev), "clGetDeviceIDs");
    n_devices = n_dev < MOST_GPUS ? n_dev : MOST_GPUS;
    context = clCreateContext(NULL, n_devices, devices, NULL, NULL, &err);
    check(err, "clCreateContext");
    const size_t bytes = (size_t)MOST_THREADS * SLOTS * MOST_PIECE;
    mapper = clCreateCommandQueue(context, devices[0], 0, &err);
    check(err, "clCreateCommandQueue");
    ring_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &err);
    check(err, "clCreateBuffer");
    ring = clEnqueueMapBuffer(mapper, ring_buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &err);
    check(err, "clEnqueueMapBuffer");
    for (unsigned g = 0; g < n_devices; g++) {
        queues[g] = clCreateCommandQueue(context, devices[g], 0, &err);
        check(err, "clCreateCommandQueue");
        buffers[g] = clCreateBuffer(context, CL_MEM_READ_WRITE, all, NULL, &err);
        check(err, "clCreateBuffer");
    }
}

/* What the links carry, from pinned memory. */
static void links(void)
{
    cl_int err;
    cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, all, NULL, &err);
    check(err, "clCreateBuffer");
    char *p = clEnqueueMapBuffer(mapper, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, all, 0, NULL, NULL, &err);
    check(err, "clEnqueueMapBuffer");
    memset(p, 3, all);
    for (unsigned g = 1; g <= n_devices; g++) {
        struct run r = {.host = p, .gpus = g, .piece = MOST_PIECE, .direct = true, .write = true};
        const double up = again(r, 2 * g);
        r.write = false;
        printf("%u GPU, pinned memory: write %5.1f  read %5.1f\n", g, up, again(r, 2 * g));
    }
    clEnqueueUnmapMemObject(mapper, m, p, 0, NULL, NULL);
    clFinish(mapper);
    clReleaseMemObject(m);
}

int main(int argc, char **argv)
{
    static const unsigned threads[] = {2, 4, 8, 12, 16, 24};
    static const size_t pieces[] = {1 << 20, 2 << 20, 4 << 20, 8 << 20};
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const bool own = argc > 2 && strcmp(argv[2], "call") == 0;
    all = (size_t)(argc > 1 ? atoi(argv[1]) : 1024) << 20;
    all -= all % (2 * (size_t)MOST_PIECE);
    if (!all)
        return 2;
    open_devices();
    char *host = pages(true, 0);
    drivers_own(host);
    if (own)
        return 0;
    links();
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        const unsigned n = threads[t];
        if (n > 2 && (long)n > cores)
            break;
        char *other = pages(true, 0);
        printf("%2u threads copying in memory: %5.1f, nt %5.1f\n", n, copied(other, host, n, false),
               copied(other, host, n, true));
        munmap(other, all);
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++)
            if (pieces[p] == 2 << 20 || n == 8 || n == 16)
                line(1, n, pieces[p], false, host);
        line(1, n, 2 << 20, true, host);
        for (unsigned s = 0; s < 2 && n_devices > 1; s++)
            line(2, n, 2 << 20, s, host);
    }
    return 0;
}
