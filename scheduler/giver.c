/* SPDX-License-Identifier: MIT */
#include "scheduler/giver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "common/clock.h"
#include "scheduler/errands.h"
#include "scheduler/realtime.h"
#include "scheduler/users.h"

#define NS_PER_MS UINT64_C(1000000)
enum {
    END_MS = 20000,
    REST = 2000,       /* times as long as a slow call has taken, before the next one of anybody's */
    MOST_NS = 1000000, /* what takes longer is the machine's doing */
    SELDOM_MS = 10000, /* one slow call in so long is the machine's doing */
};

/* A process that has a priority, or is to have one. Its thread is asked for one thing at a time, so whatever is wanted
 * meanwhile comes after it, whichever thread does that. */
struct process {
    struct gs_errand errand;
    TAILQ_ENTRY(process) all;
    struct gs_receiver who; /* with a pidfd of its own */
    int wanted, asked, err; /* while it is asked, `asked` and `err` are the thread's */
    bool is_asked;
    atomic_bool again; /* it is to be asked again: the thread needn't go on */
};
static struct gs_errands givers;
static TAILQ_HEAD(, process) processes = TAILQ_HEAD_INITIALIZER(processes);
static int done_fd = -1, end_fd = -1;
static _Atomic uint64_t slow_ns, rest_until_ns; /* when a call last took long; all those that do have one line */

/* Nothing else runs on a processor during a slow call, whatever its priority. */
static void rest(uint64_t took_ns)
{
    const uint64_t now = gs_now_ns(), last = atomic_exchange(&slow_ns, now);
    if (last + SELDOM_MS * NS_PER_MS < now)
        return;
    uint64_t old = atomic_load(&rest_until_ns), until;
    do
        until = (old > now ? old : now) + REST * (took_ns < MOST_NS ? took_ns : MOST_NS);
    while (!atomic_compare_exchange_weak(&rest_until_ns, &old, until));
    struct pollfd end = {.fd = end_fd, .events = POLLIN};
    poll(&end, 1, (int)((until - now) / NS_PER_MS));
}

/* After a rest threads may have gone, and their numbers may be others': it begins anew. Who has the priority already
 * takes no time. */
static void give(struct gs_errand *errand)
{
    struct process *p = (struct process *)errand;
    uint64_t took = 1;
    for (unsigned i = 0; took && i < GS_REALTIME_THREADS && !atomic_load(&p->again); i++) {
        took = gs_realtime_process(p->who.pid, p->who.pidfd, p->asked, &p->err);
        if (took && !gs_user_is_trusted(p->who.uid))
            rest(took);
    }
}

static void forget(struct process *p)
{
    TAILQ_REMOVE(&processes, p, all);
    if (p->who.pidfd >= 0)
        close(p->who.pidfd);
    free(p);
}

/* The thread goes before all that the process goes before, so that it can take the priority back from one that spins.
 */
static bool ask(struct process *p)
{
    const int most = p->asked > p->wanted ? p->asked : p->wanted;
    const struct gs_errand_of whom = {
        .uid = p->who.uid, .named = p->who.named, .must = !p->wanted || p->wanted < p->asked, .priority = most + 1};
    const int before = p->asked;
    p->asked = p->wanted;
    p->is_asked = gs_errands_ask(&givers, &p->errand, &whom);
    if (!p->is_asked)
        p->asked = before;
    return p->is_asked;
}

static struct process *find(const struct gs_receiver *to)
{
    for (struct process *next, *p = TAILQ_FIRST(&processes); p; p = next) {
        next = TAILQ_NEXT(p, all);
        if (p->who.pid != to->pid || p->who.uid != to->uid)
            continue;
        if (!gs_process_has_ended(p->who.pidfd))
            return p;
        if (!p->is_asked)
            forget(p);
    }
    return NULL;
}

static struct process *add(const struct gs_receiver *to)
{
    struct process *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->errand.run = give;
    p->who = *to;
    p->who.pidfd = to->pidfd < 0 ? -1 : fcntl(to->pidfd, F_DUPFD_CLOEXEC, 0);
    if (to->pidfd >= 0 && p->who.pidfd < 0) {
        free(p);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&processes, p, all);
    return p;
}

int gs_givers_start(void)
{
    end_fd = eventfd(0, EFD_CLOEXEC);
    done_fd = gs_errands_start(&givers);
    return end_fd < 0 ? -errno : done_fd;
}

int gs_givers_give(const struct gs_receiver *to, int priority)
{
    struct process *p = find(to);
    if (!p && !priority)
        return 0;
    if (!p && !(p = add(to)))
        return -ENOMEM;
    p->wanted = priority;
    atomic_store(&p->again, p->is_asked);
    if (p->is_asked || ask(p))
        return 1;
    p->wanted = p->asked;
    if (!p->asked)
        forget(p);
    return -EAGAIN;
}

bool gs_givers_take(struct gs_receiver *to, int *err)
{
    struct process *p = (struct process *)gs_errands_take(&givers);
    if (!p)
        return false;
    const bool again = atomic_exchange(&p->again, false);
    *to = p->who;
    *err = p->err;
    p->is_asked = false;
    if (again) {
        *err = -EAGAIN;
        if (!ask(p))
            p->wanted = p->asked;
    }
    if (!p->is_asked && (!p->asked || gs_process_has_ended(p->who.pidfd)))
        forget(p);
    return true;
}

void gs_givers_end(void)
{
    struct gs_receiver who;
    struct pollfd done = {.fd = done_fd, .events = POLLIN};
    const struct process *p;
    const uint64_t end = gs_now_ns() + END_MS * NS_PER_MS;
    eventfd_write(end_fd, 1); /* nobody rests any more */
    for (bool waits = true; waits;) {
        waits = false;
        TAILQ_FOREACH (p, &processes, all)
            waits = waits || p->is_asked;
        int err;
        const uint64_t now = gs_now_ns();
        waits = waits && now < end && poll(&done, 1, (int)((end - now) / NS_PER_MS)) == 1 && gs_givers_take(&who, &err);
    }
}
