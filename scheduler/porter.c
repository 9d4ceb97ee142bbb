/* SPDX-License-Identifier: MIT */
#include "scheduler/porter.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/wire.h"
#include "common/clock.h"
#include "scheduler/lease.h"
#include "scheduler/worker.h"

#define NS_PER_S UINT64_C(1000000000)
enum {
    REST_FROM_NS = 500000, /* a call that takes less delays no grant by more than is allowed, whatever was to blame */
    REST = 1000,           /* times as long as a call has taken: meanwhile a processor heard no interrupts */
    MOST_REST_S = 4,
    CROWDED = GS_CARRIED / 4 * 3 /* more than a user may hold: it rests no more, as some are to be closed */
};

struct pair;
struct end {
    struct pair *pair;
    int fd;
};
struct pair {
    enum { FREE, GIVEN, CARRIED } _Atomic state; /* FREE: the daemon's to fill; else the porter's */
    struct end client, daemon;
};

/* No lock, as with the worker: the daemon's thread would wait for one of ordinary priority. */
struct gs_porter {
    pthread_t thread;
    int epoll, given, end; /* counters of what is given, and of the daemon's end */
    atomic_uint carried;
    atomic_bool named;                /* of a user whom the config names: it never rests, as tasks wait for it */
    _Atomic uint64_t slow_ns;         /* when a call on a socket of its user's last took long */
    _Atomic uint64_t slow_to_wake_ns; /* the same of a wake-up; 0: none has */
    uint64_t longest_ns;              /* of a processor, that a call has taken since it has last rested */
    struct chore {
        _Atomic uint32_t *wake; /* null: a socket is to be closed */
        int close;
    } chore[GS_CHORES];
    atomic_uint chores, done; /* counted up, by the daemon's thread and by the porter's */
    struct pair pair[GS_CARRIED];
};

bool gs_all_received(int fd)
{
    int unread = 0; /* while the kernel frees what was received last, it counts a byte still */
    return ioctl(fd, SIOCOUTQ, &unread) == 0 && unread <= 1;
}

/* ---- the porter's thread ---- */

/* What became of a message: MOVED it is on its way, NONE there is none, ENDED the end has. */
enum moved { NONE, MOVED, ENDED };

/* One message from one socket to the other. One that the client doesn't take is dropped, as without a porter: it may be
 * full, or hear no more, but what it has said is still to be heard. */
static enum moved move_unmeasured(int from, int to, bool to_client)
{
    char bytes[sizeof(struct gs_msg) + 1];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec io = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
    if (to_client) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
    }
    const ssize_t n = recvmsg(from, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return NONE;
    if (n < 0 && errno == ECONNRESET)
        return MOVED; /* what the other side has sent can be received still */
    if (n <= 0)
        return ENDED;
    const struct cmsghdr *c = to_client ? CMSG_FIRSTHDR(&m) : NULL;
    int passed = -1;
    if (c && c->cmsg_type == SCM_RIGHTS)
        memcpy(&passed, CMSG_DATA(c), sizeof passed);
    io.iov_len = (size_t)n;
    m.msg_flags = 0;
    if (passed < 0) {
        m.msg_control = NULL;
        m.msg_controllen = 0;
    }
    const bool sent = sendmsg(to, &m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno == EAGAIN || to_client;
    if (passed >= 0)
        close(passed);
    return sent ? MOVED : ENDED;
}

static void see_how_long(struct gs_porter *porter, uint64_t begin_ns)
{
    const uint64_t took = gs_thread_ns() - begin_ns;
    porter->longest_ns = took > porter->longest_ns ? took : porter->longest_ns;
}

/* What it has been given fills its places: then it doesn't rest, for the daemon's thread would have to do the next. */
static bool is_crowded(const struct gs_porter *porter)
{
    return atomic_load(&porter->carried) >= CROWDED ||
           atomic_load(&porter->chores) - atomic_load(&porter->done) >= GS_CHORES / 4 * 3;
}

/* Whether the daemon ends, or does within so many milliseconds. */
static bool ends_within(const struct gs_porter *porter, int ms)
{
    struct pollfd p = {.fd = porter->end, .events = POLLIN};
    return poll(&p, 1, ms) != 0;
}

static void rest(struct gs_porter *porter)
{
    const uint64_t used_ns = porter->longest_ns;
    porter->longest_ns = 0;
    if (used_ns < REST_FROM_NS || atomic_load(&porter->named))
        return;
    atomic_store(&porter->slow_ns, gs_now_ns());
    const uint64_t most = MOST_REST_S * NS_PER_S, ns = used_ns < most / REST ? REST * used_ns : most;
    for (uint64_t rested = 0; rested < ns && !is_crowded(porter) && !ends_within(porter, 1);)
        rested += NS_PER_S / 1000;
}

static enum moved move_message(struct gs_porter *porter, const struct end *from, const struct end *to)
{
    const uint64_t begin = gs_thread_ns();
    const enum moved moved = move_unmeasured(from->fd, to->fd, from == &from->pair->daemon);
    see_how_long(porter, begin);
    return moved;
}

/* All that can go on, in both directions: a message goes when the one before it has been received. Each new message,
 * and each that has been received, is an event. False: one side has ended. */
static bool move_messages(struct gs_porter *porter, const struct pair *p)
{
    enum moved to_client, to_daemon;
    do {
        to_client = gs_all_received(p->client.fd) ? move_message(porter, &p->daemon, &p->client) : NONE;
        to_daemon = gs_all_received(p->daemon.fd) ? move_message(porter, &p->client, &p->daemon) : NONE;
        if (to_client == ENDED || to_daemon == ENDED)
            return false;
        rest(porter);
    } while (to_client == MOVED || to_daemon == MOVED);
    return true;
}

/* The daemon's last messages, which nobody waits for. */
static void move_the_rest(struct gs_porter *porter, const struct pair *p)
{
    while (move_message(porter, &p->daemon, &p->client) == MOVED)
        rest(porter);
}

static void let_go(struct gs_porter *porter, struct pair *p)
{
    const uint64_t begin = gs_thread_ns();
    close(p->client.fd);
    see_how_long(porter, begin);
    close(p->daemon.fd);
    atomic_fetch_sub(&porter->carried, 1);
    atomic_store(&p->state, FREE);
}

static void take_given(struct gs_porter *porter)
{
    eventfd_t n;
    eventfd_read(porter->given, &n);
    for (unsigned i = 0; i < GS_CARRIED; i++) {
        struct pair *p = &porter->pair[i];
        struct end *ends[] = {&p->client, &p->daemon};
        bool watched = true;
        if (atomic_load(&p->state) != GIVEN)
            continue;
        atomic_store(&p->state, CARRIED);
        for (unsigned k = 0; k < 2; k++) {
            struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = ends[k]};
            watched = epoll_ctl(porter->epoll, EPOLL_CTL_ADD, ends[k]->fd, &e) == 0 && watched;
        }
        if (!watched)
            let_go(porter, p);
    }
}

static bool is_slow_to_wake(_Atomic uint32_t *word)
{
    const uint64_t begin = gs_thread_ns();
    gs_lease_wake(word);
    return gs_thread_ns() - begin >= GS_SLOW_NS;
}

static void do_chores(struct gs_porter *porter)
{
    while (atomic_load(&porter->done) != atomic_load(&porter->chores) && !ends_within(porter, 0)) {
        const struct chore *c = &porter->chore[atomic_load(&porter->done) % GS_CHORES];
        const uint64_t begin = gs_thread_ns();
        if (!c->wake) {
            close(c->close);
        } else if (is_slow_to_wake(c->wake) && is_slow_to_wake(c->wake)) { /* once may be the machine's doing */
            const uint64_t now = gs_now_ns();
            atomic_store(&porter->slow_ns, now);
            atomic_store(&porter->slow_to_wake_ns, now);
        }
        atomic_fetch_add(&porter->done, 1);
        see_how_long(porter, begin);
        rest(porter);
    }
}

static void *carry(void *arg)
{
    struct gs_porter *porter = arg;
    struct epoll_event e;
    for (;;) {
        if (epoll_wait(porter->epoll, &e, 1, -1) < 1)
            continue;
        if (e.data.ptr == &porter->end)
            return NULL;
        if (e.data.ptr == &porter->given) {
            take_given(porter);
            do_chores(porter);
            continue;
        }
        const struct end *end = e.data.ptr;
        const bool closed = end == &end->pair->daemon && e.events & EPOLLHUP;
        if (closed || !move_messages(porter, end->pair)) {
            move_the_rest(porter, end->pair);
            let_go(porter, end->pair);
        }
        rest(porter);
    }
}

/* ---- the daemon's side ---- */

static void free_porter(struct gs_porter *porter)
{
    const int fds[] = {porter->epoll, porter->given, porter->end};
    for (unsigned i = 0; i < GS_CARRIED; i++)
        if (atomic_load(&porter->pair[i].state) != FREE)
            let_go(porter, &porter->pair[i]);
    for (unsigned i = atomic_load(&porter->done); i != atomic_load(&porter->chores); i++)
        if (!porter->chore[i % GS_CHORES].wake)
            close(porter->chore[i % GS_CHORES].close);
    for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(porter);
}

static struct gs_porter *start_porter(void)
{
    struct gs_porter *porter = calloc(1, sizeof *porter);
    if (!porter)
        return NULL;
    porter->epoll = epoll_create1(EPOLL_CLOEXEC);
    porter->given = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    porter->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event given = {.events = EPOLLIN, .data.ptr = &porter->given};
    struct epoll_event end = {.events = EPOLLIN, .data.ptr = &porter->end};
    if (porter->epoll >= 0 && epoll_ctl(porter->epoll, EPOLL_CTL_ADD, porter->given, &given) == 0 &&
        epoll_ctl(porter->epoll, EPOLL_CTL_ADD, porter->end, &end) == 0 &&
        gs_worker_thread(&porter->thread, carry, porter) == 0)
        return porter;
    free_porter(porter);
    return NULL;
}

int gs_porter_carry(struct gs_porter *porter, int client)
{
    unsigned i = 0;
    int fd[2];
    while (i < GS_CARRIED && atomic_load(&porter->pair[i].state) != FREE)
        i++;
    if (i == GS_CARRIED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) < 0)
        return -1;
    struct pair *p = &porter->pair[i];
    p->client = (struct end){p, client};
    p->daemon = (struct end){p, fd[1]};
    atomic_fetch_add(&porter->carried, 1);
    atomic_store(&p->state, GIVEN);
    eventfd_write(porter->given, 1);
    return fd[0];
}

static bool give_chore(struct gs_porter *porter, struct chore c)
{
    const unsigned n = atomic_load(&porter->chores);
    if (n - atomic_load(&porter->done) == GS_CHORES)
        return false;
    porter->chore[n % GS_CHORES] = c;
    atomic_store(&porter->chores, n + 1);
    eventfd_write(porter->given, 1);
    return true;
}

void gs_porter_wake(struct gs_porter *porter, _Atomic uint32_t *word)
{
    give_chore(porter, (struct chore){.wake = word});
}

bool gs_porter_close(struct gs_porter *porter, int fd)
{
    return give_chore(porter, (struct chore){.close = fd});
}

static bool is_slow(const struct gs_porter *porter, uint64_t now_ns)
{
    return now_ns < atomic_load(&porter->slow_ns) + GS_SLOW_FOR_NS;
}

/* The user's own place, whether or not it is slow still; else one whose user is slow no more, a new one, or the last
 * whose user the config doesn't name; GS_PORTERS: there is none. */
static unsigned find_place(const struct gs_porters *p, uid_t uid, uint64_t now_ns)
{
    unsigned free = p->n, unnamed = GS_PORTERS;
    for (unsigned i = p->n; i-- > 0;) {
        const struct gs_porter *porter = p->user[i].porter;
        if (p->user[i].uid == uid)
            return i;
        if (!is_slow(porter, now_ns))
            free = i;
        else if (unnamed == GS_PORTERS && !atomic_load(&porter->named))
            unnamed = i;
    }
    return free < GS_PORTERS ? free : unnamed;
}

void gs_porters_slow(struct gs_porters *p, uid_t uid, bool named, uint64_t now_ns)
{
    const unsigned i = find_place(p, uid, now_ns);
    struct gs_porter *porter = i < p->n ? p->user[i].porter : i < GS_PORTERS ? start_porter() : NULL;
    if (!porter)
        return;
    if (i == p->n)
        p->n++;
    else if (p->user[i].uid != uid)
        atomic_store(&porter->slow_to_wake_ns, 0); /* that was another's */
    p->user[i].uid = uid;
    p->user[i].porter = porter;
    atomic_store(&porter->named, named);
    atomic_store(&porter->slow_ns, now_ns);
}

void gs_porters_slow_to_wake(struct gs_porters *p, uid_t uid, bool named, uint64_t now_ns)
{
    gs_porters_slow(p, uid, named, now_ns);
    struct gs_porter *porter = gs_porters_of(p, uid, named, now_ns);
    if (porter)
        atomic_store(&porter->slow_to_wake_ns, now_ns);
}

struct gs_porter *gs_porters_of(const struct gs_porters *p, uid_t uid, bool named, uint64_t now_ns)
{
    struct gs_porter *unnamed = NULL;
    unsigned slow = 0;
    for (unsigned i = 0; i < p->n; i++) {
        struct gs_porter *porter = p->user[i].porter;
        if (!is_slow(porter, now_ns))
            continue;
        if (p->user[i].uid == uid)
            return porter;
        slow++;
        unnamed = atomic_load(&porter->named) ? unnamed : porter;
    }
    return slow == GS_PORTERS && !named ? unnamed : NULL;
}

struct gs_porter *gs_porters_waker(const struct gs_porters *p, uid_t uid, uint64_t now_ns)
{
    for (unsigned i = 0; i < p->n; i++) {
        const uint64_t slow_ns = atomic_load(&p->user[i].porter->slow_to_wake_ns);
        if (p->user[i].uid == uid && slow_ns && now_ns < slow_ns + GS_SLOW_FOR_NS)
            return p->user[i].porter;
    }
    return NULL;
}

void gs_porters_end(struct gs_porters *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        eventfd_write(p->user[i].porter->end, 1);
        pthread_join(p->user[i].porter->thread, NULL);
        free_porter(p->user[i].porter);
    }
    p->n = 0;
}
