/* SPDX-License-Identifier: MIT */
/* service SECONDS: two applications without a task want GPU 0 all the time, in units of 1 ms and of 3 ms, and a task
 * comes for one of 2 ms every 50 ms. Says every ten seconds for how long each has had it, and fails where the two
 * differ by more than 2 % at the end. The daemon is that of $GPUSPARC_SOCKET, whose config has the task `task`. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "common/client/client.h"

enum { GPU = GS_RESOURCE_GPU(0), MS = 1000000, THREADS = 3 };

static struct {
    _Atomic uint64_t ns[3], units[3];
} * had; /* of the two, and of the task */

struct user {
    unsigned self;
    long ns;
    struct gs_client *client;
    pthread_mutex_t gpu; /* it does one unit at a time */
    uint64_t ended_ns;   /* the last one; below the mutex */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct gs_client *come(const char *task)
{
    struct gs_client *c;
    const struct gs_client_options o = {.task = task, .gpus = 1, .hello_wait_ms = 20000};
    struct gs_client_mode mode = {0};
    if (gs_client_open(&c, &o) == 0)
        gs_client_mode(c, &mode);
    if (!mode.scheduled) {
        fprintf(stderr, "service: no daemon answers at $GPUSPARC_SOCKET\n");
        exit(1);
    }
    return c;
}

static void *use(void *arg)
{
    struct user *u = arg;
    for (;;) {
        struct gs_grant g;
        if (gs_client_acquire(u->client, GPU, (uint64_t)u->ns, &g) < 0)
            exit(1);
        const uint64_t granted = now_ns();
        pthread_mutex_lock(&u->gpu);
        /* It has the GPU also while the next thread wakes up: shorter units have more of these gaps. */
        const uint64_t from = granted > u->ended_ns ? granted : u->ended_ns;
        nanosleep(&(struct timespec){.tv_nsec = u->ns}, NULL);
        u->ended_ns = now_ns();
        atomic_fetch_add(&had->ns[u->self], u->ended_ns - from);
        atomic_fetch_add(&had->units[u->self], 1);
        pthread_mutex_unlock(&u->gpu);
        gs_client_release(u->client, &g);
        if (u->self == 2)
            nanosleep(&(struct timespec){.tv_nsec = 50 * MS}, NULL);
    }
    return arg;
}

/* The two ask for the next unit before the last has ended. */
static pid_t start(unsigned self)
{
    static const long ns[3] = {1 * MS, 3 * MS, 2 * MS};
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Where it may: else each unit also takes what a thread waits for a processor, of which the shorter ones have more.
     */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
    static struct user u = {.gpu = PTHREAD_MUTEX_INITIALIZER};
    u.self = self;
    u.ns = ns[self];
    u.client = come(self == 2 ? "task" : NULL);
    pthread_t t;
    for (unsigned i = 1; i < THREADS && self < 2; i++)
        pthread_create(&t, NULL, use, &u);
    use(&u);
    return 0;
}

int main(int argc, char **argv)
{
    const unsigned seconds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 60;
    had = mmap(NULL, sizeof *had, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid[3];
    for (unsigned i = 0; i < 3; i++)
        pid[i] = start(i);
    sleep(2);
    uint64_t from[2] = {had->ns[0], had->ns[1]};
    double percent = 0;
    for (unsigned s = 1; s <= seconds; s++) {
        sleep(1);
        const double a = (double)(had->ns[0] - from[0]), b = (double)(had->ns[1] - from[1]);
        percent = 200 * (a - b) / (a + b);
        if (s % 10 == 0 || s == seconds)
            printf("%u s: %.3f and %.3f s, %+.2f %%; %llu, %llu and %llu units\n", s, a / 1e9, b / 1e9, percent,
                   (unsigned long long)had->units[0], (unsigned long long)had->units[1],
                   (unsigned long long)had->units[2]);
        fflush(stdout);
    }
    bool lives = true;
    for (unsigned i = 0; i < 3; i++) {
        lives = lives && waitpid(pid[i], NULL, WNOHANG) == 0;
        kill(pid[i], SIGKILL);
    }
    return lives && percent < 2 && percent > -2 ? 0 : 1;
}
