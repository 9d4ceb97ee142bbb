/* SPDX-License-Identifier: MIT */
/* gpusparc-link-probe: measures what the links of a group of devices carry, for `gpusparc devices --measure`. Reads the
 * group's settings from standard input, a line NAME=VALUE each, and a line `host` or `peer`: the links to the host and
 * through it, or the windows between GPUs (which a driver may crash at: hence a process of its own). Answers in JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim/group.h"
#include "shim/transfer/windows.h"

enum { RUNS = 5, SHORT_RUNS = 21, SLOT_BYTES = 4 * 1024 * 1024, SMALL_BYTES = 64 };
static const size_t large_bytes = 64 * (size_t)1024 * 1024;

/* What a measurement needs; made once. */
struct bench {
    struct gs_group group;
    cl_context ctx;
    cl_command_queue queue[GS_MAX_DEVICES];
    cl_mem buffer[GS_MAX_DEVICES], pinned_buffer;
    char *pageable, *pinned;
    struct gs_windows windows;
    enum { BY_PEER, BY_PINNED, BY_COPY } way; /* between two devices */
};

/* One link, in one direction. `from`, `to`: devices; -1: the host. */
struct link {
    int from, to;
    bool pinned; /* the host's memory */
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static cl_int to_or_from_host(struct bench *b, const struct link *l, size_t bytes)
{
    char *memory = l->pinned ? b->pinned : b->pageable;
    if (l->from < 0)
        return gs_real()->clEnqueueWriteBuffer(b->queue[l->to], b->buffer[l->to], CL_TRUE, 0, bytes, memory, 0, NULL,
                                               NULL);
    return gs_real()->clEnqueueReadBuffer(b->queue[l->from], b->buffer[l->from], CL_TRUE, 0, bytes, memory, 0, NULL,
                                          NULL);
}

/* One piece of a copy between two devices: by the window on the first, or by the host's pinned memory. */
static cl_int first_hop(struct bench *b, const struct link *l, size_t at, size_t bytes, cl_event *left)
{
    const int f = l->from;
    if (b->way == BY_PEER)
        return gs_real()->clEnqueueCopyBuffer(b->queue[f], b->buffer[f], b->windows.seen[f][f], at, at, bytes, 0, NULL,
                                              left);
    return gs_real()->clEnqueueReadBuffer(b->queue[f], b->buffer[f], CL_FALSE, at, bytes, b->pinned + at, 0, NULL,
                                          left);
}

static cl_int second_hop(struct bench *b, const struct link *l, size_t at, size_t bytes, const cl_event *left)
{
    const int t = l->to;
    if (b->way == BY_PEER)
        return gs_real()->clEnqueueCopyBuffer(b->queue[t], b->windows.seen[l->from][t], b->buffer[t], at, at, bytes, 1,
                                              left, NULL);
    return gs_real()->clEnqueueWriteBuffer(b->queue[t], b->buffer[t], CL_FALSE, at, bytes, b->pinned + at, 1, left,
                                           NULL);
}

/* In pieces, as the shim does it: the second hop of one beside the first hop of the next. */
static cl_int between(struct bench *b, const struct link *l, size_t bytes)
{
    if (b->way == BY_COPY) {
        const cl_int refused = gs_real()->clEnqueueCopyBuffer(b->queue[l->to], b->buffer[l->from], b->buffer[l->to], 0,
                                                              0, bytes, 0, NULL, NULL);
        return refused ? refused : gs_real()->clFinish(b->queue[l->to]);
    }
    const size_t piece = b->way == BY_PEER && bytes / 4 > SLOT_BYTES ? bytes / 4 : SLOT_BYTES;
    cl_int err = CL_SUCCESS;
    for (size_t at = 0; at < bytes && !err; at += piece) {
        const size_t n = bytes - at < piece ? bytes - at : piece;
        cl_event left;
        err = first_hop(b, l, at, n, &left);
        if (err)
            break;
        gs_real()->clFlush(b->queue[l->from]);
        err = second_hop(b, l, at, n, &left);
        gs_real()->clFlush(b->queue[l->to]);
        gs_real()->clReleaseEvent(left);
    }
    return err ? err : gs_real()->clFinish(b->queue[l->to]);
}

/* The median time of sending so many bytes, in us; negative where it can't be done. */
static double time_us(struct bench *b, const struct link *l, size_t bytes, int runs)
{
    double us[SHORT_RUNS];
    for (int r = -1; r < runs; r++) {
        const double begin = now_us();
        if ((l->from < 0 || l->to < 0 ? to_or_from_host(b, l, bytes) : between(b, l, bytes)) != CL_SUCCESS)
            return -1;
        if (r >= 0)
            us[r] = now_us() - begin;
    }
    qsort(us, (size_t)runs, sizeof *us, compare);
    return us[runs / 2];
}

/* The bandwidth is that of the bytes beyond the small transfer's. */
static void print_link(struct bench *b, const struct link *l, const char *path, bool *first)
{
    const double small = time_us(b, l, SMALL_BYTES, SHORT_RUNS), large = time_us(b, l, large_bytes, RUNS);
    if (small < 0 || large <= small)
        return;
    printf("%s{\"from\": ", *first ? "" : ", ");
    printf(l->from < 0 ? "\"host\"" : "%d", l->from);
    printf(", \"to\": ");
    printf(l->to < 0 ? "\"host\"" : "%d", l->to);
    printf(", \"path\": \"%s\", \"latency_us\": %.2f, \"gb_per_s\": %.3f}", path, small,
           (double)(large_bytes - SMALL_BYTES) / (large - small) * 1e-3);
    *first = false;
}

static cl_int make_host_memory(struct bench *b)
{
    cl_int err;
    b->pageable = malloc(large_bytes);
    if (!b->pageable)
        return CL_OUT_OF_HOST_MEMORY;
    memset(b->pageable, 1, large_bytes);
    b->pinned_buffer =
        gs_real()->clCreateBuffer(b->ctx, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, large_bytes, NULL, &err);
    if (!err)
        b->pinned = gs_real()->clEnqueueMapBuffer(b->queue[0], b->pinned_buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                  large_bytes, 0, NULL, NULL, &err);
    if (!err)
        memset(b->pinned, 1, large_bytes);
    return err;
}

static cl_int set_up(struct bench *b)
{
    const cl_uint one = 1;
    cl_int err;
    b->ctx = gs_real()->clCreateContext(NULL, b->group.n, b->group.dev, NULL, NULL, &err);
    for (unsigned i = 0; i < b->group.n && !err; i++) {
        b->queue[i] = gs_real()->clCreateCommandQueue(b->ctx, b->group.dev[i], 0, &err);
        if (!err)
            b->buffer[i] = gs_real()->clCreateBuffer(b->ctx, CL_MEM_READ_WRITE, large_bytes, NULL, &err);
        if (!err)
            err = gs_real()->clEnqueueFillBuffer(b->queue[i], b->buffer[i], &one, sizeof one, 0, large_bytes, 0, NULL,
                                                 NULL);
        if (!err)
            err = gs_real()->clFinish(b->queue[i]);
    }
    return err;
}

static void print_pairs(struct bench *b, bool *first)
{
    static const char *const paths[] = {[BY_PEER] = "peer", [BY_PINNED] = "pinned", [BY_COPY] = "copy"};
    for (int i = 0; i < (int)b->group.n; i++)
        for (int j = 0; j < (int)b->group.n; j++)
            if (i != j)
                print_link(b, &(struct link){i, j, true}, paths[b->way], first);
}

static void print_host_links(struct bench *b, bool *first)
{
    for (int i = 0; i < (int)b->group.n; i++)
        for (int pinned = 0; pinned < 2; pinned++) {
            print_link(b, &(struct link){-1, i, pinned}, pinned ? "pinned" : "pageable", first);
            print_link(b, &(struct link){i, -1, pinned}, pinned ? "pinned" : "pageable", first);
        }
}

int main(void)
{
    struct gs_settings settings = {0};
    struct bench b = {0};
    char line[512], why[256] = "";
    bool peer = false, first = true;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *value = strchr(line, '=');
        if (value)
            *value++ = '\0';
        peer = peer || strcmp(line, "peer") == 0;
        if (value && gs_settings_set(&settings, line, value, why, sizeof why) < 0)
            return 1;
    }
    if (gs_group_make(&b.group, &settings, why, sizeof why) < 0 || set_up(&b) != CL_SUCCESS)
        return 1;
    b.way = settings.transfer == GS_TRANSFER_PLAIN ? BY_COPY : BY_PINNED;
    if (peer) {
        if (gs_windows_open(&b.windows, b.ctx, b.group.dev, b.group.n, large_bytes, why, sizeof why) < 0 ||
            gs_windows_try(&b.windows, b.ctx, b.group.dev, why, sizeof why) < 0)
            return 1;
        b.way = BY_PEER;
    } else if (make_host_memory(&b) != CL_SUCCESS) {
        return 1;
    }
    putchar('[');
    if (!peer)
        print_host_links(&b, &first);
    if (!b.group.shared_memory || settings.transfer == GS_TRANSFER_PINNED || settings.transfer == GS_TRANSFER_PLAIN)
        print_pairs(&b, &first);
    puts("]");
    return 0;
}
