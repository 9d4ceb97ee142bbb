/* SPDX-License-Identifier: MIT */
/* Several threads, or several contexts, of one application on one device.
 *   bench_contexts THREADS CONTEXTS LAUNCHES ROUNDS
 * As many queues as there are threads or contexts, whichever are more, each with a kernel and a buffer of its own. A
 * thread goes round its queues; each turn is a launch of ROUNDS rounds and a blocking read of 4 bytes, LAUNCHES of them
 * in each queue. Prints a line of JSON: milliseconds of all, and of the processors. Exits 1 if a number is wrong. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench/plain.h"

enum { MOST = 64, ITEMS = 65536, GROUP = 64 };

static const char source[] = "__kernel void churn(__global uint *a, uint rounds)\n"
                             "{\n"
                             "    uint x = a[get_global_id(0)];\n"
                             "    for (uint r = 0; r < rounds; r++)\n"
                             "        x = (x ^ (x >> 15)) * 2654435761u + r;\n"
                             "    a[get_global_id(0)] = x;\n"
                             "}\n";

static struct queue {
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem mem;
    uint32_t got;
} queues[MOST];
static long n_threads, n_contexts, n_queues, launches, rounds;

static void make_queue(struct queue *q, const struct plain *p)
{
    static const uint32_t zeros[ITEMS];
    const cl_uint n = (cl_uint)rounds;
    cl_device_id device;
    cl_int err;
    plain_check(clGetContextInfo(p->context, CL_CONTEXT_DEVICES, sizeof(cl_device_id), &device, NULL), "the device");
    q->queue = clCreateCommandQueueWithProperties(p->context, device, NULL, &err);
    plain_check(err, "clCreateCommandQueueWithProperties");
    q->kernel = plain_kernel(p, "churn");
    q->mem = plain_buffer(p, sizeof zeros);
    plain_check(clEnqueueWriteBuffer(q->queue, q->mem, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL), "a write");
    plain_check(clSetKernelArg(q->kernel, 0, sizeof(cl_mem), &q->mem), "clSetKernelArg");
    plain_check(clSetKernelArg(q->kernel, 1, sizeof n, &n), "clSetKernelArg");
}

static void *thread(void *first)
{
    const size_t global = ITEMS, local = GROUP;
    for (long n = 0; n < launches; n++) {
        for (struct queue *q = first; q < queues + n_queues; q += n_threads) {
            plain_check(clEnqueueNDRangeKernel(q->queue, q->kernel, 1, NULL, &global, &local, 0, NULL, NULL), "launch");
            plain_check(clEnqueueReadBuffer(q->queue, q->mem, CL_TRUE, 0, 4, &q->got, 0, NULL, NULL), "read");
        }
    }
    return NULL;
}

static double processors_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return 1e3 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST];
    struct plain p[MOST];
    uint32_t right = 0;
    long *const numbers[] = {&n_threads, &n_contexts, &launches, &rounds};
    for (int i = 0; i < 4 && argc == 5; i++)
        *numbers[i] = strtol(argv[i + 1], NULL, 10);
    if (n_threads < 1 || n_threads > MOST || n_contexts < 1 || n_contexts > MOST || launches < 1 || rounds < 1) {
        fputs("Usage: bench_contexts THREADS CONTEXTS LAUNCHES ROUNDS\n", stderr);
        return 2;
    }
    n_queues = n_threads > n_contexts ? n_threads : n_contexts;
    for (long i = 0; i < n_contexts; i++)
        p[i] = plain_open("bench_contexts", source);
    for (long i = 0; i < n_queues; i++)
        make_queue(&queues[i], &p[i % n_contexts]);
    const double begin = plain_now_ms(), cpu = processors_ms();
    for (long t = 1; t < n_threads; t++)
        if (pthread_create(&threads[t], NULL, thread, &queues[t]))
            return 1;
    thread(queues);
    for (long t = 1; t < n_threads; t++)
        pthread_join(threads[t], NULL);
    printf("{\"total_ms\": %.3f, \"cpu_ms\": %.3f}\n", plain_now_ms() - begin, processors_ms() - cpu);
    for (long n = 0; n < launches; n++)
        for (uint32_t r = 0; r < (uint32_t)rounds; r++)
            right = (right ^ (right >> 15)) * 2654435761u + r;
    for (long i = 0; i < n_queues; i++)
        if (queues[i].got != right) {
            fprintf(stderr, "bench_contexts: queue %ld: %u is wrong, %u is right\n", i, queues[i].got, right);
            return 1;
        }
    return 0;
}
