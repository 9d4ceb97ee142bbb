/* SPDX-License-Identifier: MIT */
/* Joins a daemon, notices its death, and joins the next one: a thread of its own, which sleeps unless there is news. */
#include "common/lock/rank.h"
#include "common/client/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RETRY_SLOW_MS = 5000,   /* after a refusal, which a moment won't change */
    RETRY_FULL_MS = 500,    /* places come free as others leave */
    RETRY_ABSENT_MS = 200,  /* no daemon is there */
    RETRY_FAST_MS = 50,     /* a daemon is there, but busy */
    RETRY_BROKEN_MS = 1000, /* there may be no descriptors at all */
    LOOK_AGAIN_MS = 60000,  /* in case that a descriptor was taken from us unseen */
};

/* ---- descriptors ---- */

static uint64_t inode_of(int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) ? (uint64_t)st.st_ino : 0;
}

bool gs_descriptor_is_ours(const struct gs_descriptor *d)
{
    uint64_t inode = atomic_load(&d->inode);
    return inode && inode_of(atomic_load(&d->fd)) == inode;
}

static int keep(struct gs_descriptor *d, int fd)
{
    int up = gs_copy_up(fd);
    if (up < 0)
        return up;
    atomic_store(&d->inode, inode_of(up));
    atomic_store(&d->fd, up);
    return 0;
}

static void drop(struct gs_descriptor *d)
{
    if (gs_descriptor_is_ours(d))
        close(atomic_load(&d->fd));
    atomic_store(&d->inode, 0);
}

/* Makes those that are not there (any more). 0 or -errno. */
static int make_descriptors(struct gs_client *c)
{
    int err = 0;
    if (!gs_descriptor_is_ours(&c->wake[0]) || !gs_descriptor_is_ours(&c->wake[1])) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
            return -errno;
        for (int i = 0; i < 2; i++) {
            drop(&c->wake[i]);
            if (err == 0)
                err = keep(&c->wake[i], pair[i]);
            close(pair[i]);
        }
    }
    if (err == 0 && !gs_descriptor_is_ours(&c->dead_fd)) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (fd < 0)
            return -errno;
        err = keep(&c->dead_fd, fd);
        close(fd);
    }
    return err;
}

void gs_connection_wake(struct gs_client *c)
{
    char byte = 0;
    if (gs_descriptor_is_ours(&c->wake[1]) &&
        send(atomic_load(&c->wake[1].fd), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        /* It is full: the listener has been woken already. */
    }
}

/* Puts another socket under the client's number. Takes a copy: `fd` stays the caller's. */
static int put_socket(struct gs_client *c, int fd)
{
    struct gs_descriptor *d = &c->socket_fd;
    if (!gs_descriptor_is_ours(d))
        return keep(d, fd);
    if (dup3(fd, atomic_load(&d->fd), O_CLOEXEC) < 0)
        return -errno;
    atomic_store(&d->inode, inode_of(fd));
    return 0;
}

/* Sends go nowhere from now on. */
static void put_dead_socket(struct gs_client *c)
{
    if (gs_descriptor_is_ours(&c->dead_fd))
        put_socket(c, atomic_load(&c->dead_fd.fd));
    else
        drop(&c->socket_fd);
}

int gs_connection_send(struct gs_client *c, const struct gs_msg *m, int timeout_ms)
{
    for (;;) {
        if (!gs_descriptor_is_ours(&c->socket_fd))
            return -EBADF;
        int fd = atomic_load(&c->socket_fd.fd);
        int err = gs_socket_send(fd, m, MSG_DONTWAIT);
        if (err != -EAGAIN || timeout_ms == 0)
            return err;
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        int ready = poll(&p, 1, timeout_ms);
        if (ready == 0)
            return -EAGAIN;
        if (ready < 0 && errno != EINTR)
            return -errno;
    }
}

/* ---- joining ---- */

static void tell(const struct gs_client *c, int level, const char *text)
{
    if (c->notice)
        c->notice(c->arg, level, text);
}

/* Checks that the daemon's page is what it should be, and that nobody can make it shorter under us. */
static int check_page(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    int seals = fcntl(fd, F_GET_SEALS);
    return st.st_size == GS_PAGE_BYTES && seals >= 0 && (seals & F_SEAL_SHRINK) ? 0 : -EPROTO;
}

/* With c->lock held. */
static void set_task(struct gs_client *c, const struct gs_msg_welcome *w)
{
    c->welcome = *w;
    c->welcome.task[GS_WIRE_NAME - 1] = '\0';
    c->job_pci_ns = c->job_gpu_ns = 0;
    if (w->task[0])
        c->refused = 0;
}

static int install(struct gs_client *c, int fd, int page_fd, const struct gs_msg_welcome *w)
{
    int err = check_page(page_fd);
    if (err < 0)
        return err;
    if (w->client == 0 || w->depth == 0 || w->depth > GS_LEASE_UNITS || w->gpus == 0 || w->gpus > GS_MAX_GPUS)
        return -EPROTO;
    pthread_mutex_lock(&c->lock); /* a job's record is written to one page */
    if (mmap(c->page, GS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, page_fd, 0) == MAP_FAILED)
        err = -errno;
    else
        memset(c->job_busy_ns, 0, sizeof c->job_busy_ns);
    pthread_mutex_unlock(&c->lock);
    if (err < 0)
        return err;
    err = put_socket(c, fd);
    if (err < 0)
        return err;
    pthread_mutex_lock(&c->lock);
    set_task(c, w);
    uint64_t release = c->job_open ? c->job_release_ns : 0;
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->page->job_since_ns, release);
    for (unsigned g = 0; g < GS_MAX_GPUS; g++)
        atomic_store(&c->page->memory[g], atomic_load(&c->memory[g]));
    atomic_store(&c->depth, w->depth);
    atomic_store(&c->known, GS_MASK_PCI | GS_MASK_ALL_GPUS(w->gpus));
    atomic_store(&c->online, w->client);
    return 0;
}

static int send_hello(struct gs_client *c, int fd, bool refused)
{
    struct gs_msg m;
    gs_msg_init(&m, GS_MSG_HELLO);
    m.u.hello.flags = (c->no_task || refused ? GS_HELLO_NO_TASK : 0) | (refused ? GS_HELLO_REFUSED : 0) |
                      (c->paced ? GS_HELLO_PACED : 0);
    m.u.hello.gpus = c->gpus;
    pthread_mutex_lock(&c->lock);
    m.u.hello.jobs = c->jobs;
    pthread_mutex_unlock(&c->lock);
    if (!c->no_task)
        memcpy(m.u.hello.task, c->task, sizeof c->task);
    const int err = gs_socket_send(fd, &m, MSG_DONTWAIT);
    return err == -EPIPE ? 0 : err; /* who was turned away has been told why */
}

static bool drain_wakeups(struct gs_client *c);

/* The files that clients look for: which ones they are. */
static void look_for_sockets(const struct gs_client *c, struct stat there[2])
{
    char paths[2][GS_SOCKET_PATH_BYTES];
    const int n = gs_socket_candidates(c->socket, paths);
    for (int i = 0; i < 2; i++)
        if (i >= n || stat(paths[i], &there[i]) < 0)
            there[i] = (struct stat){0};
}

/* Has another socket come since? A number may be that of a file that has gone. */
static bool other_sockets(const struct gs_client *c, const struct stat before[2])
{
    struct stat now[2];
    bool other = false;
    look_for_sockets(c, now);
    for (int i = 0; i < 2; i++)
        other |=
            now[i].st_ino && (now[i].st_ino != before[i].st_ino || now[i].st_ctim.tv_sec != before[i].st_ctim.tv_sec ||
                              now[i].st_ctim.tv_nsec != before[i].st_ctim.tv_nsec);
    return other;
}

/* Waits for the daemon's answer. The listener does so for as long as the daemon takes: one that was stopped answers as
 * soon as it goes on. It leaves it (-EAGAIN) where another daemon has come, or the client is to stop. */
static int await_answer(struct gs_client *c, int fd, const struct stat before[2])
{
    const bool patient = c->listening;
    const uint64_t inode = inode_of(fd);
    struct pollfd p[2] = {{.fd = fd, .events = POLLIN},
                          {.fd = patient ? atomic_load(&c->wake[0].fd) : -1, .events = POLLIN}};
    for (;;) {
        const int ready = poll(p, 2, patient ? RETRY_ABSENT_MS : (int)c->hello_wait_ms);
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (ready == 0 && !patient)
            return -ETIMEDOUT;
        if (inode_of(fd) != inode) /* the application has closed it, and may have the number now */
            return -EBADF;
        if (ready > 0 && p[0].revents)
            return 0;
        if (ready > 0 && p[1].revents && (!drain_wakeups(c) || atomic_load(&c->stopping)))
            return -EAGAIN;
        if (ready == 0 && other_sockets(c, before))
            return -EAGAIN;
    }
}

/* Notices may come before the answer. */
static int receive_answer(struct gs_client *c, int fd, const struct stat before[2], struct gs_msg *m, int *page_fd)
{
    for (;;) {
        int err = await_answer(c, fd, before);
        if (err == 0)
            err = gs_socket_receive(fd, m, page_fd, 0);
        if (err < 0)
            return err;
        if (m->type == GS_MSG_WELCOME || m->type == GS_MSG_REFUSED)
            return 0;
        if (*page_fd >= 0)
            close(*page_fd);
        if (m->type != GS_MSG_NOTICE)
            return -EPROTO;
        m->u.text.text[GS_WIRE_TEXT - 1] = '\0';
        tell(c, m->u.text.code == GS_NOTICE_WARNING ? GS_NOTICE_WARNING : GS_NOTICE_INFO, m->u.text.text);
    }
}

/* One connection and one hello. 0: joined. Positive: refused (enum gs_refusal), and why. Negative: no daemon to talk
 * to. */
static int join_once(struct gs_client *c, const char *path, bool check_owner, bool refused, char why[GS_WIRE_TEXT])
{
    int fd;
    struct stat before[2];
    look_for_sockets(c, before);
    int err = gs_socket_connect(path, check_owner, &fd);
    if (err < 0)
        return err;
    const uint64_t inode = inode_of(fd);
    struct gs_msg m;
    int page_fd = -1;
    err = send_hello(c, fd, refused);
    if (err == 0)
        err = receive_answer(c, fd, before, &m, &page_fd);
    if (err == 0 && m.type == GS_MSG_REFUSED) {
        m.u.text.text[GS_WIRE_TEXT - 1] = '\0';
        memcpy(why, m.u.text.text, GS_WIRE_TEXT);
        err = m.u.text.code > 0 && m.u.text.code < 100 ? (int)m.u.text.code : GS_REFUSED_PROTOCOL;
    } else if (err == 0) {
        pthread_mutex_lock(&c->leaving); /* another thread may be amid leaving the daemon before */
        err = page_fd >= 0 ? install(c, fd, page_fd, &m.u.welcome) : -EPROTO;
        pthread_mutex_unlock(&c->leaving);
    }
    if (page_fd >= 0)
        close(page_fd);
    if (inode_of(fd) == inode)
        close(fd);
    return err;
}

/* ---- what the user is told: one line for each change, and what the process runs as now. By the listener alone, with
 * no lock: the application's stderr may have a reader that never reads ---- */

/* The task that the process was last, or is to be; "": none. */
static void task_of(struct gs_client *c, char task[GS_WIRE_NAME])
{
    pthread_mutex_lock(&c->lock);
    memcpy(task, c->task[0] ? c->task : c->welcome.task, GS_WIRE_NAME);
    pthread_mutex_unlock(&c->lock);
}

/* A join has failed: only what is new is said, and of a process that is no task only what a daemon has said. */
static void say_apart(struct gs_client *c, const char *path, int err, const char *why)
{
    char text[sizeof c->told], task[GS_WIRE_NAME];
    task_of(c, task);
    if (err < 0 && !task[0])
        return;
    if (err > 0)
        snprintf(text, sizeof text, "%s: it runs unscheduled", why);
    else
        snprintf(text, sizeof text, "the daemon on %.100s doesn't answer (%s): task %s runs unscheduled until one does",
                 path, strerror(-err), task);
    if (c->task_lost && strcmp(text, c->told) == 0)
        return;
    if (c->task_lost && err < 0) /* that it is alone has been said */
        return;
    memcpy(c->told, text, sizeof text);
    c->task_lost = true;
    tell(c, GS_NOTICE_NO_TASK, text);
}

static void say_below(struct gs_client *c, const char *why)
{
    char text[sizeof c->told];
    snprintf(text, sizeof text, "%s: it runs below all tasks", why);
    c->task_lost = true;
    if (strcmp(text, c->told) != 0)
        tell(c, GS_NOTICE_NO_TASK, text);
    memcpy(c->told, text, sizeof text);
}

static void say_joined(struct gs_client *c)
{
    char text[128], task[GS_WIRE_NAME];
    task_of(c, task);
    if (task[0] && c->task_lost) {
        snprintf(text, sizeof text, "a daemon is there: task %s is scheduled", task);
        tell(c, GS_NOTICE_WARNING, text);
    }
    c->task_lost = false;
    c->told[0] = '\0';
}

/* The daemon has gone under it. */
static void say_lost(struct gs_client *c)
{
    char text[128], task[GS_WIRE_NAME];
    task_of(c, task);
    if (!task[0] || c->task_lost || atomic_load(&c->stopping))
        return;
    c->task_lost = true;
    snprintf(text, sizeof text, "the daemon has gone: task %s goes on unscheduled until one comes", task);
    tell(c, GS_NOTICE_NO_TASK, text);
}

/* As above, over all places; a task that is refused joins below all tasks. */
static int join(struct gs_client *c)
{
    char paths[2][GS_SOCKET_PATH_BYTES], why[GS_WIRE_TEXT] = "";
    const char *path = "";
    int n = gs_socket_candidates(c->socket, paths);
    bool given = c->socket[0] || secure_getenv("GPUSPARC_SOCKET");
    int result = -ENOENT;
    for (int i = 0; i < n; i++) {
        bool refused = false;
        int err = join_once(c, paths[i], !given, false, why);
        if (!c->no_task && (err == GS_REFUSED_TASK || err == GS_REFUSED_ADMISSION)) {
            char again[GS_WIRE_TEXT];
            pthread_mutex_lock(&c->lock);
            c->refused = (unsigned)err;
            pthread_mutex_unlock(&c->lock);
            err = join_once(c, paths[i], !given, refused = true, again);
        }
        c->joined = err == 0;
        if (err == 0 && refused)
            say_below(c, why);
        else if (err == 0)
            say_joined(c);
        if (err == 0)
            return 0;
        if (err != -ENOENT) {
            result = err;
            path = paths[i];
        }
    }
    if (result != -ENOENT && result != -EAGAIN)
        say_apart(c, path, result, why);
    return result;
}

/* ---- losing it ---- */

/* Zeroes in the page's place, in one step for all threads. Where there is no memory for them the old page stays, which
 * is all words of no lease by now. */
static void forget_page(struct gs_client *c)
{
    (void)!mmap(c->page, GS_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* The daemon has gone: whoever waits goes on, and nothing that it lent counts any more. In this order: no new waiter,
 * no old waiter that could miss the change, then the page itself. */
static void leave_daemon(struct gs_client *c)
{
    atomic_store(&c->online, 0);
    put_dead_socket(c);
    for (unsigned i = 0; i < GS_MAX_SLOTS; i++) {
        atomic_store(&c->page->slot[i], 0);
        gs_futex_wake_all(&c->page->slot[i]);
    }
    for (unsigned r = 0; r < GS_MAX_RESOURCES; r++) {
        atomic_store(&c->page->lease[r].word, 0);
        gs_futex_wake_all(&c->page->lease[r].word);
    }
    forget_page(c);
}

void gs_connection_lost(struct gs_client *c, uint32_t client)
{
    pthread_mutex_lock(&c->leaving);
    if (client && atomic_load(&c->online) == client)
        leave_daemon(c);
    pthread_mutex_unlock(&c->leaving);
}

/* ---- the listener ---- */

/* False: the application has closed it. */
static bool drain_wakeups(struct gs_client *c)
{
    char bytes[64];
    if (!gs_descriptor_is_ours(&c->wake[0]) || !gs_descriptor_is_ours(&c->wake[1]))
        return false;
    while (recv(atomic_load(&c->wake[0].fd), bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
    return true;
}

/* The LOOKs that did not fit into the socket when their units were given back. 0: all are sent. */
static int send_looks(struct gs_client *c)
{
    uint32_t looks = atomic_exchange(&c->looks, 0);
    for (unsigned r = 0; r < GS_MAX_RESOURCES; r++) {
        if (!(looks & GS_MASK(r)))
            continue;
        struct gs_msg m;
        gs_msg_init(&m, GS_MSG_LOOK);
        m.u.look.resource = r;
        if (gs_connection_send(c, &m, 0) == -EAGAIN)
            atomic_fetch_or(&c->looks, GS_MASK(r));
    }
    return atomic_load(&c->looks) ? -EAGAIN : 0;
}

static int take_message(struct gs_client *c)
{
    struct gs_msg m;
    int passed;
    int err = gs_socket_receive(atomic_load(&c->socket_fd.fd), &m, &passed, 0);
    if (passed >= 0)
        close(passed);
    if (err == -EAGAIN || err == -ETIMEDOUT)
        return 0;
    if (err < 0)
        return err;
    if (m.type == GS_MSG_NOTICE || m.type == GS_MSG_REFUSED) {
        m.u.text.text[GS_WIRE_TEXT - 1] = '\0';
        const bool warns = m.type == GS_MSG_REFUSED || m.u.text.code == GS_NOTICE_WARNING;
        tell(c, warns ? GS_NOTICE_WARNING : GS_NOTICE_INFO, m.u.text.text);
    } else if (m.type == GS_MSG_TASK) {
        pthread_mutex_lock(&c->lock);
        const bool was = c->welcome.priority > 0;
        if (m.u.welcome.client == c->welcome.client)
            set_task(c, &m.u.welcome);
        const bool is = c->welcome.priority > 0;
        pthread_mutex_unlock(&c->lock);
        if (was && !is)
            tell(c, GS_NOTICE_NO_TASK, ""); /* the daemon has said why */
    }
    return 0;
}

static void serve_until_lost(struct gs_client *c, uint32_t client)
{
    while (!atomic_load(&c->stopping) && atomic_load(&c->online) == client) {
        bool looks = send_looks(c) < 0;
        if (!gs_descriptor_is_ours(&c->socket_fd) || !gs_descriptor_is_ours(&c->wake[0]))
            break;
        struct pollfd p[2] = {
            {.fd = atomic_load(&c->socket_fd.fd), .events = (short)(POLLIN | (looks ? POLLOUT : 0))},
            {.fd = atomic_load(&c->wake[0].fd), .events = POLLIN},
        };
        /* Not for ever: the application may have put its own descriptors there between the look and the call. */
        if (poll(p, 2, LOOK_AGAIN_MS) < 0 && errno != EINTR)
            break;
        if (p[1].revents && !drain_wakeups(c))
            break;
        if (!gs_descriptor_is_ours(&c->socket_fd))
            break;
        if (p[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL) && take_message(c) < 0)
            break;
    }
    gs_connection_lost(c, client);
    c->joined = false;
    say_lost(c);
}

/* How long until it is worth another try. A watch of the folder (inotify) would tell at once that a daemon has come,
 * but the kernel ends one in a minute where the machine is busy, and the listener in its close() hears nothing. */
static int retry_after(int err)
{
    if (err == -ENOENT || err == -ECONNREFUSED || err == -EACCES)
        return RETRY_ABSENT_MS;
    return err == GS_REFUSED_FULL ? RETRY_FULL_MS : err > 0 ? RETRY_SLOW_MS : RETRY_FAST_MS;
}

/* False: the descriptors have to be made anew. */
static bool rest(struct gs_client *c, int ms)
{
    struct pollfd p = {.fd = atomic_load(&c->wake[0].fd), .events = POLLIN};
    return poll(&p, 1, ms) <= 0 || drain_wakeups(c);
}

static void wait_for_daemon(struct gs_client *c)
{
    bool whole = make_descriptors(c) == 0;
    while (whole && !atomic_load(&c->stopping)) {
        const int err = join(c);
        if (err == 0)
            return;
        whole = rest(c, retry_after(err));
    }
    if (!whole)
        poll(NULL, 0, RETRY_BROKEN_MS);
}

static void *listener(void *arg)
{
    struct gs_client *c = arg;
    while (sem_wait(&c->opened) != 0)
        ;
    while (!atomic_load(&c->stopping)) {
        if (c->joined)
            serve_until_lost(c, c->welcome.client);
        else
            wait_for_daemon(c);
    }
    return NULL;
}

/* ---- fork ---- */

static pthread_mutex_t clients_lock = PTHREAD_MUTEX_INITIALIZER; /* protects `clients` */
GS_RANKED(clients_lock, GS_RANK_CLIENTS);
static struct gs_client *clients;

static void before_fork(void)
{
    pthread_mutex_lock(&clients_lock);
    for (struct gs_client *c = clients; c; c = c->next) {
        pthread_mutex_lock(&c->leaving);
        pthread_mutex_lock(&c->lock);
    }
}

static void after_fork(void)
{
    for (struct gs_client *c = clients; c; c = c->next) {
        pthread_mutex_unlock(&c->lock);
        pthread_mutex_unlock(&c->leaving);
    }
    pthread_mutex_unlock(&clients_lock);
}

/* The child has no listener and must neither speak for its parent nor keep its connection alive. */
static void after_fork_in_child(void)
{
    for (struct gs_client *c = clients; c; c = c->next) {
        atomic_store(&c->online, 0);
        forget_page(c);
        put_dead_socket(c);
        atomic_store(&c->slots_used, 0);
    }
    after_fork();
}

static void register_fork(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* ---- start and stop ---- */

/* No signal of the application's may end up in our thread. */
static int start_listener(struct gs_client *c)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return -ENOMEM;
    pthread_attr_setstacksize(&attr, 128 * 1024);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(&c->listener, &attr, listener, c);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (!err)
        pthread_setname_np(c->listener, "gs-daemon");
    return -err;
}

int gs_connection_start(struct gs_client *c)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork);
    c->pid = getpid();
    int err = make_descriptors(c);
    if (err < 0)
        return err;
    sem_init(&c->opened, 0, 0);
    err = start_listener(c); /* before the daemon hears of a process that it can't tell anything */
    if (err < 0)
        return err;
    join(c);
    c->listening = true; /* only the application's start must not wait long */
    sem_post(&c->opened);
    pthread_mutex_lock(&clients_lock);
    c->next = clients;
    clients = c;
    pthread_mutex_unlock(&clients_lock);
    return 0;
}

static void unlist_client(struct gs_client *c)
{
    pthread_mutex_lock(&clients_lock);
    for (struct gs_client **p = &clients; *p; p = &(*p)->next) {
        if (*p == c) {
            *p = c->next;
            break;
        }
    }
    pthread_mutex_unlock(&clients_lock);
}

void gs_connection_stop(struct gs_client *c)
{
    unlist_client(c);
    bool own = c->pid == getpid();
    if (own && c->listener) {
        atomic_store(&c->stopping, true);
        gs_connection_wake(c);
        pthread_join(c->listener, NULL);
    }
    drop(&c->socket_fd);
    drop(&c->dead_fd);
    drop(&c->wake[0]);
    drop(&c->wake[1]);
}
