/* SPDX-License-Identifier: MIT */
/* What a request costs: uncontended, handed over between processes, and under load. Prints one JSON object per figure.
 *   daemon_bench request CLIENTS [SAMPLES]    one client, while the others are connected and want nothing
 *   daemon_bench handover CLIENTS [SAMPLES [US]]   all clients want one GPU all the time, for US microseconds (20) each
 *   daemon_bench urgent CLIENTS [SAMPLES]     task `high` waits while CLIENTS of task `low` keep a GPU full, in 2 ms
 * chunks
 *   daemon_bench baseline 2 [SAMPLES]         the machine: a socket and a futex, there and back between two processes,
 * on processors of the kernel's choice, and on two of them: what it takes to wake one that is idle daemon_bench
 * baseline CLIENTS [SAMPLES [US]]   a futex that goes round among them, one way The daemon is the one at
 * $GPUSPARC_SOCKET. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/client/client.h"

struct shared {
    _Atomic uint32_t joined, go, stop;
    _Atomic uint64_t released_ns; /* by the last holder, just before it let go */
    _Atomic uint32_t releaser;
    _Atomic uint32_t n; /* samples taken */
    uint32_t max;
    long chunk_ns; /* of a hand-over */
    uint64_t sample[];
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, unsigned clients, uint64_t *v, uint32_t n)
{
    qsort(v, n, sizeof *v, by_size);
    printf("{\"figure\":\"%s\",\"clients\":%u,\"samples\":%u,\"median_ns\":%llu,\"p99_ns\":%llu,\"max_ns\":%llu}\n",
           what, clients, n, (unsigned long long)v[n / 2], (unsigned long long)v[(uint64_t)n * 99 / 100],
           (unsigned long long)v[n - 1]);
}

static struct gs_client *open_client(const char *task)
{
    struct gs_client *c;
    const struct gs_client_options o = {.task = task, .gpus = 1, .hello_wait_ms = 5000};
    int err = gs_client_open(&c, &o);
    struct gs_client_mode mode;
    if (err == 0)
        gs_client_mode(c, &mode);
    if (err < 0 || !mode.scheduled) {
        fprintf(stderr, "daemon_bench: no daemon answers at $GPUSPARC_SOCKET\n");
        exit(1);
    }
    return c;
}

/* The others are connected and have all used the resource, but don't want it now. */
static void idle_child(struct shared *s)
{
    struct gs_client *c = open_client(NULL);
    struct gs_grant g;
    gs_client_acquire(c, GS_RESOURCE_GPU(0), 0, &g);
    gs_client_release(c, &g);
    atomic_fetch_add(&s->joined, 1);
    while (!atomic_load(&s->stop))
        usleep(50000);
    gs_client_close(c);
}

static void contending_child(struct shared *s, uint32_t self)
{
    struct gs_client *c = open_client(NULL);
    atomic_fetch_add(&s->joined, 1);
    while (!atomic_load(&s->go))
        usleep(1000);
    while (!atomic_load(&s->stop)) {
        struct gs_grant g;
        gs_client_acquire(c, GS_RESOURCE_GPU(0), (uint64_t)s->chunk_ns, &g);
        uint64_t t = now_ns(), from = atomic_load(&s->released_ns);
        if (from && atomic_load(&s->releaser) != self) {
            uint32_t i = atomic_fetch_add(&s->n, 1);
            if (i < s->max)
                s->sample[i] = t - from;
        }
        /* The device's time: the processor is free for the others meanwhile. */
        struct timespec chunk = {.tv_nsec = s->chunk_ns};
        nanosleep(&chunk, NULL);
        atomic_store(&s->releaser, self);
        atomic_store(&s->released_ns, now_ns());
        gs_client_release(c, &g);
    }
    gs_client_close(c);
}

static void wait_for(_Atomic uint32_t *v, uint32_t n)
{
    while (atomic_load(v) < n)
        usleep(1000);
}

static void measure_request(struct shared *s, unsigned clients)
{
    for (unsigned i = 1; i < clients; i++)
        if (fork() == 0) {
            idle_child(s);
            _exit(0);
        }
    wait_for(&s->joined, clients - 1);
    struct gs_client *c = open_client(NULL);
    uint64_t *release = malloc(s->max * sizeof *release);
    for (uint32_t i = 0; i < s->max; i++) {
        struct gs_grant g;
        uint64_t t0 = now_ns();
        gs_client_acquire(c, GS_RESOURCE_GPU(0), 0, &g);
        uint64_t t1 = now_ns();
        gs_client_release(c, &g);
        s->sample[i] = t1 - t0;
        release[i] = now_ns() - t1;
    }
    report("request", clients, s->sample, s->max);
    report("release", clients, release, s->max);
    free(release);
    uint64_t t0 = now_ns();
    for (uint32_t i = 0; i < s->max; i++) {
        struct gs_grant g;
        gs_client_acquire(c, GS_RESOURCE_GPU(0), 0, &g);
        gs_client_release(c, &g);
    }
    printf("{\"figure\":\"request+release, mean of a loop\",\"clients\":%u,\"samples\":%u,\"mean_ns\":%.1f}\n", clients,
           s->max, (double)(now_ns() - t0) / s->max);
    gs_client_close(c);
}

static void measure_handover(struct shared *s, unsigned clients)
{
    for (uint32_t i = 0; i < clients; i++)
        if (fork() == 0) {
            contending_child(s, i);
            _exit(0);
        }
    wait_for(&s->joined, clients);
    atomic_store(&s->go, 1);
    wait_for(&s->n, s->max);
    atomic_store(&s->stop, 1);
    char what[64];
    snprintf(what, sizeof what, "handover after chunks of %ld us", s->chunk_ns / 1000);
    report(what, clients, s->sample, s->max);
}

enum { CHUNK_NS = 2000000 };

static void sleep_ns(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* One chunk runs, the next one is asked for or granted: the device is never idle. Child 0 keeps how long its chunks
 * took in truth, with what it took to wake up after them, in the second half of the samples. */
static void low_child(struct shared *s, unsigned self)
{
    struct gs_client *c = open_client("low");
    struct gs_request rq[2];
    struct gs_grant g[2];
    gs_client_request(c, GS_RESOURCE_GPU(0), CHUNK_NS, &rq[0]);
    atomic_fetch_add(&s->joined, 1);
    for (unsigned i = 0; !atomic_load(&s->stop); i ^= 1) {
        gs_client_wait(c, &rq[i], UINT64_MAX, &g[i]);
        uint64_t t = now_ns();
        gs_client_request(c, GS_RESOURCE_GPU(0), CHUNK_NS, &rq[i ^ 1]);
        sleep_ns(CHUNK_NS);
        uint64_t end = now_ns();
        uint32_t k = self ? s->max : atomic_load(&s->n);
        if (k < s->max) {
            s->sample[s->max + k] = end - t;
            atomic_store(&s->n, k + 1);
        }
        atomic_store(&s->released_ns, end);
        gs_client_release(c, &g[i]);
    }
    gs_client_close(c);
}

static void measure_urgent(struct shared *s, unsigned clients)
{
    for (unsigned i = 0; i < clients; i++)
        if (fork() == 0) {
            low_child(s, i);
            _exit(0);
        }
    wait_for(&s->joined, clients);
    struct gs_client *c = open_client("high");
    uint64_t *after = malloc(s->max * sizeof *after);
    for (uint32_t i = 0; i < s->max; i++) {
        struct gs_grant g;
        uint64_t t = now_ns();
        gs_client_acquire(c, GS_RESOURCE_GPU(0), 0, &g);
        uint64_t got = now_ns(), ended = atomic_load(&s->released_ns);
        s->sample[i] = got - t;
        after[i] = got - (ended > t ? ended : t);
        sleep_ns(500000);
        gs_client_release(c, &g);
        sleep_ns(3000000 + (long)i % 7 * 700000); /* not in step with the chunks */
    }
    report("urgent behind 2 ms chunks", clients, s->sample, s->max);
    report("of which after the last chunk's end", clients, after, s->max);
    report("such a chunk in truth", clients, s->sample + s->max, atomic_load(&s->n));
    free(after);
    gs_client_close(c);
}

/* The echo of the baseline: an epoll loop, as the daemon's. */
static void echo_socket(int fd)
{
    int ep = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN};
    struct gs_msg m;
    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
    while (epoll_wait(ep, &e, 1, -1) == 1 && recv(fd, &m, sizeof m, 0) == (ssize_t)sizeof m)
        send(fd, &m, sizeof m, MSG_NOSIGNAL);
    _exit(0);
}

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
    syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static void set_and_wake(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    futex(word, FUTEX_WAKE, 1);
}

static void wait_until(_Atomic uint32_t *word, uint32_t value)
{
    for (uint32_t v; (v = atomic_load(word)) != value;)
        futex(word, FUTEX_WAIT, v);
}

/* A turn goes round among the clients, each of which wakes the next one: what a hand-over takes at the least, since its
 * last step is to wake a process that has slept as long as all others had their turns. */
static void measure_ring(struct shared *s, unsigned clients)
{
    _Atomic uint32_t *turn =
        mmap(NULL, clients * sizeof *turn, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t *child = malloc(clients * sizeof *child);
    if (turn == MAP_FAILED || !child)
        exit(1);
    for (unsigned self = 0; self < clients; self++) {
        child[self] = fork();
        if (child[self])
            continue;
        for (uint32_t round = 1;; round++) {
            wait_until(&turn[self], round);
            uint64_t t = now_ns();
            uint32_t i = atomic_fetch_add(&s->n, 1);
            if (i && i <= s->max)
                s->sample[i - 1] = t - atomic_load(&s->released_ns);
            if (i > s->max) {
                atomic_store(&s->stop, 1);
                _exit(0);
            }
            sleep_ns(s->chunk_ns);
            unsigned next = (self + 1) % clients;
            atomic_store(&s->released_ns, now_ns());
            set_and_wake(&turn[next], next ? round : round + 1);
        }
    }
    set_and_wake(&turn[0], 1);
    while (!atomic_load(&s->stop))
        usleep(1000);
    report("futex, passed on", clients, s->sample, s->max);
    for (unsigned i = 0; i < clients; i++)
        kill(child[i], SIGKILL); /* they wait for a turn */
}

/* This process and those that it makes on the nth of the processors that it may use, or on all of them (n < 0). */
static bool stay_on(int n)
{
    static cpu_set_t all;
    cpu_set_t one;
    if (CPU_COUNT(&all) == 0 && sched_getaffinity(0, sizeof all, &all) < 0)
        return false;
    if (n < 0)
        return sched_setaffinity(0, sizeof all, &all) == 0;
    CPU_ZERO(&one);
    for (size_t c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &all) && n-- == 0)
            CPU_SET(c, &one);
    return CPU_COUNT(&one) == 1 && sched_setaffinity(0, sizeof one, &one) == 0;
}

/* There and back between two processes, the echo on the nth processor. */
static void measure_echo(struct shared *s, int echo_on, const char *socket_figure, const char *futex_figure)
{
    int pair[2];
    struct gs_msg m = {0};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
        exit(1);
    atomic_store(&s->go, 0);
    atomic_store(&s->joined, 0);
    pid_t echo = fork();
    if (echo == 0) {
        if (echo_on >= 0)
            stay_on(echo_on);
        echo_socket(pair[1]);
    }
    for (uint32_t i = 0; i < s->max; i++) {
        sleep_ns(20000);
        uint64_t t = now_ns();
        send(pair[0], &m, sizeof m, 0);
        recv(pair[0], &m, sizeof m, 0);
        s->sample[i] = now_ns() - t;
    }
    kill(echo, SIGKILL);
    report(socket_figure, 2, s->sample, s->max);
    echo = fork();
    if (echo == 0 && echo_on >= 0)
        stay_on(echo_on);
    for (uint32_t i = 1; echo == 0; i++) {
        wait_until(&s->go, i);
        set_and_wake(&s->joined, i);
    }
    for (uint32_t i = 0; i < s->max; i++) {
        sleep_ns(20000);
        uint64_t t = now_ns();
        set_and_wake(&s->go, i + 1);
        wait_until(&s->joined, i + 1);
        s->sample[i] = now_ns() - t;
    }
    kill(echo, SIGKILL);
    report(futex_figure, 2, s->sample, s->max);
    close(pair[0]);
    close(pair[1]);
}

static void measure_baseline(struct shared *s, unsigned clients)
{
    if (clients > 2) {
        measure_ring(s, clients);
        return;
    }
    measure_echo(s, -1, "socket and epoll, there and back", "futex, there and back");
    if (stay_on(0) && stay_on(1) && stay_on(0))
        measure_echo(s, 1, "socket and epoll, there and back, on two processors",
                     "futex, there and back, on two processors");
    stay_on(-1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    unsigned clients = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    uint32_t samples = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 20000;
    bool handover = strcmp(what, "handover") == 0, request = strcmp(what, "request") == 0,
         urgent = strcmp(what, "urgent") == 0;
    if ((!handover && !request && !urgent && strcmp(what, "baseline") != 0) || clients < (handover ? 2u : 1u) ||
        samples == 0) {
        fprintf(stderr, "usage: daemon_bench request|handover|urgent|baseline CLIENTS [SAMPLES [US]]; a handover needs "
                        "two clients\n");
        return 2;
    }
    size_t bytes = sizeof(struct shared) + 2 * samples * sizeof(uint64_t);
    struct shared *s = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED)
        return 1;
    s->max = samples;
    s->chunk_ns = 1000 * (argc > 4 ? strtol(argv[4], NULL, 10) : 20);
    if (handover)
        measure_handover(s, clients);
    else if (request)
        measure_request(s, clients);
    else if (urgent)
        measure_urgent(s, clients);
    else
        measure_baseline(s, clients);
    fflush(stdout);
    atomic_store(&s->stop, 1);
    while (wait(NULL) > 0)
        ;
    return 0;
}
