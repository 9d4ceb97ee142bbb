/* SPDX-License-Identifier: MIT */
#include "scheduler/namer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "scheduler/worker.h"

enum {
    NAMERS = 8,     /* for users whom the config names, and as many for others */
    MOST_ASKED = 64 /* of one that has more to do, or is stuck, nobody's program is known */
};

/* No lock, as with the worker. Who is stuck in the kernel can't be waited for: all this lives as long as the process.
 */
static struct namer {
    _Atomic(struct gs_naming *) asked; /* the last one; each has the one before */
    bool runs;                         /* it has a thread */
    int wake;                          /* counts what is asked */
    atomic_uint waiting;               /* and has no answer yet */
} namer[2 * NAMERS];
static _Atomic(struct gs_naming *) done;
static int done_fd = -1;

static void push(_Atomic(struct gs_naming *) *list, struct gs_naming *n)
{
    n->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &n->next, n))
        ;
}

/* Of a program that has been replaced since it started, as an upgrade does, it is the path that it had. */
void gs_read_exe(pid_t pid, int pidfd, char exe[PATH_MAX])
{
    static const char gone[] = " (deleted)"; /* what the kernel says of it behind its path */
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    const ssize_t n = readlink(link, exe, PATH_MAX - 1);
    exe[n > 0 ? n : 0] = '\0';
    const size_t length = strlen(exe), tail = sizeof gone - 1;
    if (length > tail && strcmp(exe + length - tail, gone) == 0)
        exe[length - tail] = '\0';
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    /* It lives still, so the path was its own and not that of a later process of the same number. */
    if (pidfd < 0 || poll(&p, 1, 0) != 0)
        exe[0] = '\0';
}

static void *look_up(void *arg)
{
    struct namer *self = arg;
    eventfd_t n;
    while (eventfd_read(self->wake, &n) == 0)
        for (struct gs_naming *next, *q = atomic_exchange(&self->asked, NULL); q; q = next) {
            next = q->next;
            gs_read_exe(q->pid, q->pidfd, q->exe);
            close(q->pidfd);
            atomic_fetch_sub(&self->waiting, 1);
            push(&done, q);
            eventfd_write(done_fd, 1);
        }
    return NULL;
}

static bool start(struct namer *n)
{
    pthread_t thread;
    n->wake = eventfd(0, EFD_CLOEXEC);
    if (n->wake >= 0 && gs_worker_thread(&thread, look_up, n) == 0) {
        pthread_detach(thread);
        n->runs = true;
    } else if (n->wake >= 0) {
        close(n->wake);
    }
    return n->runs;
}

int gs_namers_start(void)
{
    done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    return done_fd < 0 ? -errno : done_fd;
}

bool gs_namers_ask(uint64_t connection, uid_t uid, bool named, pid_t pid, int pidfd)
{
    struct namer *n = &namer[(named ? NAMERS : 0) + uid % NAMERS];
    if (atomic_load(&n->waiting) >= MOST_ASKED || (!n->runs && !start(n)))
        return false;
    struct gs_naming *q = calloc(1, sizeof *q);
    if (!q)
        return false;
    *q = (struct gs_naming){.connection = connection, .pid = pid, .pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 0)};
    if (q->pidfd < 0) {
        free(q);
        return false;
    }
    atomic_fetch_add(&n->waiting, 1);
    push(&n->asked, q);
    eventfd_write(n->wake, 1);
    return true;
}

struct gs_naming *gs_namers_take(void)
{
    eventfd_t n;
    static struct gs_naming *taken; /* and not given out yet */
    if (eventfd_read(done_fd, &n) < 0)
        return NULL;
    if (!taken)
        taken = atomic_exchange(&done, NULL);
    struct gs_naming *first = taken;
    taken = first ? first->next : NULL;
    return first;
}
