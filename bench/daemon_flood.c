/* SPDX-License-Identifier: MIT */
/* What a grant takes while others keep the daemon busy: two tasks of TASKS hand a GPU to each other, first alone; then
 * under a flood from CONNECTIONS connections, a third of which each ask whether a task would be admitted, for the
 * state, and join as a task and leave; then under a storm from as many that have joined without a task and send all
 * that such a client may send. All processors are busy meanwhile. daemon_flood CONNECTIONS [TASKS [SECONDS]] The daemon
 * is the one at $GPUSPARC_SOCKET; its config has four GPUs and the tasks t0, t1, ... Prints one JSON object per
 * figure. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/daemon_client.h"
#include "common/client/client.h"

enum { MOST = 1 << 20, PER_STORM = 50, MOST_TRIES = 500, GPU = GS_RESOURCE_GPU(0) };

static struct {
    _Atomic uint32_t joined, n, questions, joins, flood, storm, sent;
    _Atomic uint64_t released_ns;
    _Atomic uint32_t releaser;
    uint32_t sample_ns[MOST];
} * s;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static pid_t started[2048];
static size_t n_started;

static void start(void (*role)(unsigned self, unsigned n), unsigned self, unsigned n)
{
    const pid_t pid = fork();
    if (pid != 0) {
        if (pid > 0 && n_started < sizeof started / sizeof *started)
            started[n_started++] = pid;
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    role(self, n);
    _exit(0);
}

static void spin(unsigned self, unsigned n)
{
    (void)self, (void)n;
    for (volatile unsigned i = 0;; i++)
        ;
}

static void present(unsigned self, unsigned n)
{
    (void)n;
    char name[16];
    snprintf(name, sizeof name, "t%u", self);
    open_client(name);
    atomic_fetch_add(&s->joined, 1);
    pause();
}

/* From when one lets the GPU go to when the other has it. */
static void contend(unsigned self, unsigned n)
{
    char name[16];
    snprintf(name, sizeof name, "t%u", n - 1 - self);
    struct gs_client *c = open_client(name);
    atomic_fetch_add(&s->joined, 1);
    for (;;) {
        struct gs_grant g;
        gs_client_acquire(c, GPU, 200000, &g);
        const uint64_t from = atomic_load(&s->released_ns), now = now_ns();
        const uint32_t i = from && atomic_load(&s->releaser) != self ? atomic_fetch_add(&s->n, 1) : MOST;
        if (i < MOST)
            s->sample_ns[i] = now - from < UINT32_MAX ? (uint32_t)(now - from) : UINT32_MAX;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        atomic_store(&s->releaser, self);
        atomic_store(&s->released_ns, now_ns());
        gs_client_release(c, &g);
    }
}

static int connect_socket(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s", getenv("GPUSPARC_SOCKET"));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* One message, and what has come for the one before thrown away. False: the connection has ended. */
static bool exchange(int fd, const struct gs_msg *m)
{
    struct gs_msg in;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec io = {.iov_base = &in, .iov_len = sizeof in};
    struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n;
    while ((n = recvmsg(fd, &h, MSG_DONTWAIT)) > 0) {
        const struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        if (c && c->cmsg_type == SCM_RIGHTS) {
            int passed;
            memcpy(&passed, CMSG_DATA(c), sizeof passed);
            close(passed);
        }
        h.msg_controllen = sizeof control;
    }
    if (n == 0 || (n < 0 && errno != EAGAIN))
        return false;
    return send(fd, m, sizeof *m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno == EAGAIN;
}

static void flood(unsigned self, unsigned n)
{
    (void)self;
    const unsigned tasks = atomic_load(&s->joined);
    int *fd = malloc(n * sizeof *fd);
    memset(fd, -1, n * sizeof *fd);
    for (unsigned i = 0, round = 0;; i = (i + 1) % n, round++) {
        if (!atomic_load(&s->flood)) {
            usleep(10000);
            continue;
        }
        if (fd[i] < 0 && (fd[i] = connect_socket()) < 0)
            continue;
        struct gs_msg m = {.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = GS_MSG_STATUS};
        const unsigned task = (i + round / n * 7) % (tasks ? tasks : 1);
        if (i % 3 == 0) {
            m.type = GS_MSG_PLAN;
            snprintf(m.u.name, sizeof m.u.name, "t%u", task);
        } else if (i % 3 == 1) {
            m.type = GS_MSG_HELLO;
            m.u.hello.gpus = 1;
            snprintf(m.u.hello.task, sizeof m.u.hello.task, "t%u", task);
        }
        const bool ended = !exchange(fd[i], &m);
        atomic_fetch_add(i % 3 == 1 ? &s->joins : &s->questions, 1);
        if (ended || (i % 3 == 1 && round / n % 2)) {
            close(fd[i]);
            fd[i] = -1;
        }
    }
}

struct joined {
    int fd;
    uint32_t client, others; /* the daemon's number for it, and the GPUs that the two tasks don't use */
};

/* What a joined client may send. One request waits all the time, so that the lines are long. */
static struct gs_msg make_storm(const struct joined *j, unsigned round)
{
    static const enum gs_msg_type kind[] = {GS_MSG_CHOOSE, GS_MSG_CANCEL, GS_MSG_CHOOSE, GS_MSG_CANCEL,
                                            GS_MSG_PING,   GS_MSG_JOBS,   GS_MSG_DRAIN};
    struct gs_msg m = {.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = GS_MSG_REQUEST};
    if (round)
        m.type = (uint16_t)kind[round % (sizeof kind / sizeof *kind)];
    if (m.type == GS_MSG_REQUEST)
        m.u.request = (struct gs_msg_request){.client = j->client, .resource = (unsigned)__builtin_ctz(j->others)};
    else if (m.type == GS_MSG_CHOOSE)
        m.u.choose = (struct gs_msg_choose){.slot = 1, .client = j->client, .gpus = j->others, .prefer = 2};
    else if (m.type == GS_MSG_CANCEL)
        m.u.cancel.slot = 1;
    return m;
}

/* Joins without a task. `fd` is -1 if it can't. */
static struct joined join(void)
{
    struct joined j = {.fd = connect_socket()};
    struct gs_msg m = {.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = GS_MSG_HELLO};
    m.u.hello = (struct gs_msg_hello){.flags = GS_HELLO_NO_TASK, .gpus = GS_MAX_GPUS};
    struct pollfd p = {.fd = j.fd, .events = POLLIN};
    if (j.fd >= 0 && send(j.fd, &m, sizeof m, MSG_NOSIGNAL) > 0 && poll(&p, 1, 5000) == 1 &&
        recv(j.fd, &m, sizeof m, MSG_DONTWAIT) == sizeof m && m.type == GS_MSG_WELCOME) {
        j.client = m.u.welcome.client;
        j.others = GS_MASK_ALL_GPUS(m.u.welcome.gpus) ^ GS_MASK(GPU);
        return j;
    }
    if (j.fd >= 0)
        close(j.fd);
    return (struct joined){.fd = -1};
}

static void storm(unsigned self, unsigned n)
{
    (void)self;
    struct joined *j = calloc(n, sizeof *j);
    unsigned lost = 0;
    while (!atomic_load(&s->storm))
        usleep(10000);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned tries = 0; tries < MOST_TRIES && (j[i] = join()).fd < 0; tries++)
            usleep(20000); /* the flood's connections are still going */
        lost += j[i].fd < 0;
    }
    if (lost)
        fprintf(stderr, "daemon_flood: %u connections of the storm can't join\n", lost);
    atomic_fetch_add(&s->joined, 1);
    for (unsigned round = 0;; round++) {
        for (unsigned i = 0; i < n; i++) {
            const struct gs_msg m = make_storm(&j[i], round);
            if (j[i].fd >= 0 && send(j[i].fd, &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
                atomic_fetch_add(&s->sent, 1);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, unsigned seconds)
{
    atomic_store(&s->n, 0);
    atomic_store(&s->questions, 0);
    atomic_store(&s->joins, 0);
    atomic_store(&s->sent, 0);
    sleep(seconds);
    uint32_t n = atomic_exchange(&s->n, MOST);
    n = n < MOST ? n : MOST;
    qsort(s->sample_ns, n, sizeof *s->sample_ns, by_size);
    if (n == 0) {
        printf("{\"figure\":\"%s\",\"samples\":0}\n", what);
        return;
    }
    printf("{\"figure\":\"%s\",\"samples\":%u,\"median_ns\":%u,\"p99_ns\":%u,\"p999_ns\":%u,\"max_ns\":%u,"
           "\"questions_sent\":%u,\"joins_sent\":%u,\"others_sent\":%u}\n",
           what, n, s->sample_ns[n / 2], s->sample_ns[(uint64_t)n * 99 / 100], s->sample_ns[(uint64_t)n * 999 / 1000],
           s->sample_ns[n - 1], atomic_load(&s->questions), atomic_load(&s->joins), atomic_load(&s->sent));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const unsigned connections = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    const unsigned tasks = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 40;
    const unsigned seconds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 10;
    if (!connections || tasks < 2 || !seconds || !getenv("GPUSPARC_SOCKET")) {
        fprintf(stderr, "usage: daemon_flood CONNECTIONS [TASKS [SECONDS]], with the daemon's $GPUSPARC_SOCKET\n");
        return 2;
    }
    s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i + 2 < tasks; i++) {
        start(present, i, tasks);
        while (atomic_load(&s->joined) <= i)
            usleep(1000);
    }
    start(flood, 0, connections);
    const unsigned storms = (connections + PER_STORM - 1) / PER_STORM; /* processes */
    for (unsigned i = 0; i < storms; i++)
        start(storm, i, connections / storms);
    for (unsigned i = 0; i < 2; i++)
        start(contend, i, tasks);
    for (long i = sysconf(_SC_NPROCESSORS_ONLN); i > 0; i--)
        start(spin, 0, 0);
    sleep(1);
    report("grant, all processors busy", seconds);
    atomic_store(&s->flood, 1);
    sleep(1);
    report("grant, under a flood", seconds);
    atomic_store(&s->flood, 0);
    const unsigned joined = atomic_load(&s->joined);
    atomic_store(&s->storm, 1);
    while (atomic_load(&s->joined) < joined + storms)
        usleep(10000);
    sleep(1);
    report("grant, under a storm", seconds);
    for (size_t i = 0; i < n_started; i++)
        kill(started[i], SIGKILL);
    while (wait(NULL) > 0)
        ;
    return 0;
}
