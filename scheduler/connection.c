/* SPDX-License-Identifier: MIT */
/* Who has connected: places, messages, and the end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scheduler/giver.h"
#include "scheduler/lease.h"
#include "scheduler/loop.h"
#include "scheduler/users.h"

enum {
    MAX_PENDING_PER_USER = 64, /* connections that have not joined */
    LAST_WORDS = 256,          /* messages heard of each client at the end */
};

/* One more of the user's has connected, or one less hasn't joined. */
static void count_pending(struct gs_server *sv, uid_t uid, int more)
{
    unsigned i = 0;
    while (i < sv->n_pending_users && sv->pending_user[i].uid != uid)
        i++;
    struct gs_pending_user *u = &sv->pending_user[i];
    if (i == sv->n_pending_users)
        sv->pending_user[sv->n_pending_users++] = (struct gs_pending_user){.uid = uid};
    sv->n_pending += (unsigned)more;
    u->n += (unsigned)more;
    if (u->n == 0)
        *u = sv->pending_user[--sv->n_pending_users];
}

static struct gs_connections *leaving_with(struct gs_server *sv, const struct gs_connection *c)
{
    return c->user_named ? &sv->named_leaving : &sv->leaving;
}

static void leave_list(struct gs_server *sv, struct gs_connection *c)
{
    if (c->state == GS_PENDING) {
        TAILQ_REMOVE(&sv->pending, c, waits);
        count_pending(sv, c->uid, -1);
    } else if (c->state == GS_LEAVING) {
        TAILQ_REMOVE(leaving_with(sv, c), c, waits);
        sv->n_leaving--;
    }
}

/* ---- sockets that take long ---- */

/* A call on a user's socket began then, and has ended. */
static void see_how_long(struct gs_server *sv, uid_t uid, uint64_t begin_ns)
{
    const uint64_t now = gs_now_ns();
    const int err = errno; /* the call's */
    if (now - begin_ns < GS_SLOW_NS || gs_user_is_trusted(uid))
        return;
    gs_core_was_slow(sv->core, uid, now);
    gs_porters_slow(&sv->porters, uid, gs_core_has_task_of(sv->core, uid), now);
    errno = err;
}

static struct gs_porter *porter_of(const struct gs_server *sv, uid_t uid)
{
    if (sv->porters.n == 0)
        return NULL;
    return gs_porters_of(&sv->porters, uid, gs_core_has_task_of(sv->core, uid), gs_now_ns());
}

/* A socket that is to be closed: the porter's, of a slow user. */
static int carry_to_its_end(const struct gs_server *sv, uid_t uid, int fd)
{
    struct gs_porter *porter = porter_of(sv, uid);
    const int carried = porter ? gs_porter_carry(porter, fd) : -1;
    return carried < 0 ? fd : carried;
}

/* What is to be heard of its socket; its end always is. */
static uint32_t heard_events(const struct gs_connection *c)
{
    return c->held ? 0 : c->hushed ? EPOLLOUT | EPOLLET : EPOLLIN;
}

/* A slow user's socket goes to a porter. */
static void have_carried(struct gs_server *sv, struct gs_connection *c)
{
    const bool watched = c->state == GS_PENDING || c->state == GS_JOINED;
    struct gs_porter *porter = c->carried ? NULL : porter_of(sv, c->uid);
    if (!porter)
        return;
    struct epoll_event e = {.events = heard_events(c), .data.ptr = &c->socket};
    if (watched)
        epoll_ctl(c->watched, EPOLL_CTL_DEL, c->fd, NULL);
    const int fd = gs_porter_carry(porter, c->fd);
    c->carried = fd >= 0;
    c->fd = fd < 0 ? c->fd : fd;
    if (watched && epoll_ctl(c->watched, EPOLL_CTL_ADD, c->fd, &e) < 0)
        gs_connection_let_go(sv, c);
}

static void close_socket(struct gs_server *sv, uid_t uid, int fd)
{
    const uint64_t begin = gs_now_ns();
    close(fd);
    see_how_long(sv, uid, begin);
}

/* Of a connection that has never been one: for a pair of sockets there are too many of these. */
static void close_left(struct gs_server *sv, uid_t uid, int fd)
{
    struct gs_porter *porter = porter_of(sv, uid);
    if (!porter || !gs_porter_close(porter, fd))
        close_socket(sv, uid, carry_to_its_end(sv, uid, fd));
}

void gs_connection_close(struct gs_server *sv, struct gs_connection *c)
{
    if (c->state == GS_CLOSED)
        return;
    have_carried(sv, c);
    leave_list(sv, c);
    c->state = GS_CLOSED;
    TAILQ_REMOVE(&sv->all, c, all);
    TAILQ_INSERT_TAIL(&sv->closed, c, waits);
    gs_core_disconnect(c->session, gs_now_ns());
    close_socket(sv, c->uid, c->fd); /* also takes it out of the epoll set */
    if (c->pidfd >= 0)
        close(c->pidfd);
}

void gs_connections_free(struct gs_server *sv)
{
    struct gs_connection *c;
    while ((c = TAILQ_FIRST(&sv->closed))) {
        TAILQ_REMOVE(&sv->closed, c, waits);
        free(c);
    }
}

static void send_message(struct gs_server *sv, uid_t uid, int fd, const struct gs_msg *m, int passed)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec io = {.iov_base = (void *)m, .iov_len = sizeof *m};
    struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1};
    if (passed >= 0) {
        h.msg_control = control.bytes;
        h.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof passed);
        memcpy(CMSG_DATA(c), &passed, sizeof passed);
    }
    const uint64_t begin = gs_now_ns();
    if (sendmsg(fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        /* It is gone, which its descriptor will tell, or it doesn't read what it is told. Nobody else waits for it. */
    }
    see_how_long(sv, uid, begin);
}

void gs_connection_send(void *ctx, void *conn, const struct gs_msg *m, int fd)
{
    struct gs_connection *c = conn;
    have_carried(ctx, c);
    send_message(ctx, c->uid, c->fd, m, fd);
}

static uint64_t wake(_Atomic uint32_t *word)
{
    const uint64_t begin = gs_now_ns();
    gs_lease_wake(word);
    return gs_now_ns() - begin;
}

/* What takes long twice is the client's doing: a stall of the machine would have passed. A porter has ordinary
 * priority, for which a task of an honest user would wait. */
void gs_connection_wake(void *ctx, void *conn, _Atomic uint32_t *word)
{
    struct gs_server *sv = ctx;
    const struct gs_connection *c = conn;
    struct gs_porter *porter = gs_porters_waker(&sv->porters, c->uid, gs_now_ns());
    if (porter) {
        gs_porter_wake(porter, word);
        return;
    }
    if (wake(word) < GS_SLOW_NS || wake(word) < GS_SLOW_NS || gs_user_is_trusted(c->uid))
        return;
    gs_core_was_slow(sv->core, c->uid, gs_now_ns());
    gs_porters_slow_to_wake(&sv->porters, c->uid, gs_core_has_task_of(sv->core, c->uid), gs_now_ns());
}

static void turn_away(struct gs_server *sv, int fd, uid_t uid, const char *why)
{
    gs_core_turned_away(sv->core, uid, gs_now_ns());
    struct gs_msg m = {.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = GS_MSG_REFUSED};
    m.u.text.code = GS_REFUSED_FULL;
    snprintf(m.u.text.text, sizeof m.u.text.text, "%s", why);
    fd = carry_to_its_end(sv, uid, fd);
    send_message(sv, uid, fd, &m, -1);
    close_socket(sv, uid, fd);
}

int gs_watch(int epoll, int fd, struct gs_source *source)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = source};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static int watch_connection(int epoll, struct gs_connection *c)
{
    struct epoll_event e = {.events = heard_events(c), .data.ptr = &c->socket};
    c->watched = epoll;
    /* The process's end ends the session, whoever else has a copy of its socket (a child after fork). */
    int err = epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e) < 0 ? -errno : 0;
    return err < 0 || c->pidfd < 0 ? err : gs_watch(epoll, c->pidfd, &c->process);
}

static void unwatch_connection(const struct gs_connection *c)
{
    epoll_ctl(c->watched, EPOLL_CTL_DEL, c->fd, NULL);
    if (c->pidfd >= 0)
        epoll_ctl(c->watched, EPOLL_CTL_DEL, c->pidfd, NULL);
}

void gs_connection_let_go(struct gs_server *sv, struct gs_connection *c)
{
    if (c->state == GS_LEAVING || c->state == GS_CLOSED)
        return;
    leave_list(sv, c);
    unwatch_connection(c);
    c->state = GS_LEAVING;
    TAILQ_INSERT_TAIL(leaving_with(sv, c), c, waits);
    sv->n_leaving++;
}

static void move(struct gs_server *sv, struct gs_connection *c, int epoll)
{
    if (c->watched == epoll || c->state == GS_LEAVING || c->state == GS_CLOSED)
        return;
    unwatch_connection(c);
    if (watch_connection(epoll, c) < 0)
        gs_connection_let_go(sv, c);
}

/* The epoll set of one that has joined. */
static int set_of(const struct gs_server *sv, const struct gs_connection *c)
{
    const int above = gs_core_tasks_above(c->session);
    if (above <= 0)
        return above == 0 ? sv->epoll : sv->group[GS_OTHERS].epoll;
    return sv->group[GS_LOWER + (above < GS_LOWER_GROUPS ? above : GS_LOWER_GROUPS) - 1].epoll;
}

/* It has joined: tasks come first. By another config it may have become one, or be none any more. */
static void place(struct gs_server *sv, struct gs_connection *c)
{
    if (c->state == GS_PENDING) {
        leave_list(sv, c);
        c->state = GS_JOINED;
    } else if (c->watched == sv->group[GS_CROWD].epoll) {
        return; /* it has asked for more than grants */
    }
    move(sv, c, set_of(sv, c));
}

/* Who is to lose the place that one more of this user's, who has `own`, needs; null: nobody. The user who has most of
 * them loses the oldest, but to nobody who would have as many. One person may have thousands of users' numbers
 * (/etc/subuid), and one connection of each: those whom the config names go before all others. */
static struct gs_connection *find_loser(const struct gs_server *sv, uid_t uid, unsigned own)
{
    const struct gs_pending_user *most = &sv->pending_user[0];
    for (unsigned i = 0; i < sv->n_pending_users; i++)
        most = sv->pending_user[i].n > most->n ? &sv->pending_user[i] : most;
    const bool equal = own + 1 >= most->n;
    if (equal && !gs_core_has_task_of(sv->core, uid))
        return NULL;
    struct gs_connection *c;
    TAILQ_FOREACH (c, &sv->pending, waits)
        if (equal ? !gs_core_has_task_of(sv->core, c->uid) : c->uid == most->uid)
            return c;
    return NULL;
}

/* Is there a place for one more of this user's? */
static bool make_place(struct gs_server *sv, uid_t uid)
{
    unsigned own = 0;
    for (unsigned i = 0; i < sv->n_pending_users; i++)
        own = sv->pending_user[i].uid == uid ? sv->pending_user[i].n : own;
    if (own >= MAX_PENDING_PER_USER)
        return false;
    if (sv->n_pending < GS_MAX_PENDING)
        return true;
    struct gs_connection *loser = find_loser(sv, uid, own);
    if (!loser)
        return false;
    gs_core_turned_away(sv->core, loser->uid, gs_now_ns());
    gs_connection_close(sv, loser);
    return true;
}

/* Nobody would read an answer. Such connections, which fill the kernel's line at the least cost, cost no more here. */
static bool has_left(int fd)
{
    struct pollfd p = {.fd = fd};
    return poll(&p, 1, 0) > 0 && p.revents & POLLHUP;
}

/* Takes the socket over: it is closed if this fails. Many may come for whom there is no place: for these nothing more
 * is looked up. */
static void add_connection(struct gs_server *sv, int fd)
{
    static const char full[] = "too many connections at a time: try again later";
    struct ucred peer;
    socklen_t len = sizeof peer;
    struct gs_credentials who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
        close(fd);
        return;
    }
    if (has_left(fd)) {
        gs_core_came_and_went(sv->core, peer.uid, gs_now_ns());
        close_left(sv, peer.uid, fd);
        return;
    }
    if (!make_place(sv, peer.uid) || gs_credentials_of(fd, &who) < 0) {
        turn_away(sv, fd, peer.uid, full);
        return;
    }
    struct gs_connection *c = calloc(1, sizeof *c);
    char exe[PATH_MAX] = "";
    const bool trusted = gs_user_is_trusted(who.uid); /* it may stop the daemon anyway */
    if (trusted)
        gs_read_exe(who.pid, who.pidfd, exe);
    const struct gs_peer known = {.uid = who.uid, .pid = who.pid, .exe = exe};
    uint64_t now = gs_now_ns();
    struct gs_session *session = c ? gs_core_connect(sv->core, c, &known, now) : NULL;
    if (!session) {
        free(c);
        if (who.pidfd >= 0)
            close(who.pidfd);
        turn_away(sv, fd, peer.uid, full);
        return;
    }
    *c = (struct gs_connection){
        .socket = {GS_SOURCE_SOCKET, c, NULL}, .process = {GS_SOURCE_PROCESS, c, NULL}, .fd = fd, .pidfd = who.pidfd};
    c->pid = who.pid;
    c->uid = who.uid;
    c->since_ns = now;
    c->session = session;
    c->number = ++sv->connections;
    c->user_named = gs_core_has_task_of(sv->core, c->uid);
    const struct gs_errand_of whom = {.uid = c->uid, .named = c->user_named};
    c->named = trusted || !gs_namers_ask(c->number, &whom, c->pid, c->pidfd);
    TAILQ_INSERT_TAIL(&sv->all, c, all);
    TAILQ_INSERT_TAIL(&sv->pending, c, waits);
    count_pending(sv, c->uid, 1);
    if (watch_connection(c->user_named ? sv->named_door.epoll : sv->common_door.epoll, c) < 0)
        gs_connection_close(sv, c);
}

/* There is no descriptor to find out who it is. */
static void turn_away_unseen(struct gs_server *sv, int fd)
{
    struct ucred peer = {0};
    socklen_t len = sizeof peer;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
    turn_away(sv, fd, peer.uid, "the daemon has no descriptors left");
}

bool gs_connections_accept(struct gs_server *sv, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        add_connection(sv, fd);
        return true;
    }
    if ((errno != EMFILE && errno != ENFILE) || sv->spare < 0)
        return false;
    close(sv->spare);
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        turn_away_unseen(sv, fd);
    sv->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return false;
}

static bool is_question(const char *bytes)
{
    struct gs_msg m;
    memcpy(&m, bytes, sizeof m);
    return m.type == GS_MSG_STATUS || m.type == GS_MSG_PLAN || m.type == GS_MSG_RELOAD || m.type == GS_MSG_SET;
}

static void listen_for(struct gs_connection *c, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = &c->socket};
    epoll_ctl(c->watched, EPOLL_CTL_MOD, c->fd, &e);
}

/* It has asked. One answer is under way at a time; each message that the client reads is an event. */
static void hush(struct gs_connection *c)
{
    c->hushed = true;
    listen_for(c, EPOLLOUT | EPOLLET);
}

/* Has it got its answer, and read it? */
static bool has_read_answer(const struct gs_connection *c)
{
    return !gs_core_asks(c->session) && gs_all_received(c->fd);
}

/* Is what it says next a hello for which the daemon has to know its program? */
static bool goes_by_path(const struct gs_connection *c)
{
    struct gs_msg m;
    const uint32_t not_now = GS_HELLO_NO_TASK, later = GS_HELLO_REFUSED;
    return recv(c->fd, &m, sizeof m, MSG_PEEK | MSG_DONTWAIT) == (ssize_t)sizeof m && m.type == GS_MSG_HELLO &&
           !m.u.hello.task[0] && (!(m.u.hello.flags & not_now) || m.u.hello.flags & later);
}

/* One message per turn, so that a client that floods the daemon has no more of its time than each of the others. */
void gs_connection_read(struct gs_server *sv, struct gs_connection *c, uint32_t events)
{
    char bytes[sizeof(struct gs_msg) + 1];
    if (c->held) {
        gs_connection_let_go(sv, c); /* its end */
        return;
    }
    if (c->hushed) {
        if (events & (EPOLLHUP | EPOLLERR))
            gs_connection_let_go(sv, c);
        else if (has_read_answer(c)) {
            c->hushed = false;
            listen_for(c, EPOLLIN);
        }
        return;
    }
    const int before = c->fd;
    have_carried(sv, c);
    if (c->state == GS_LEAVING || c->fd != before)
        return; /* the event was the old socket's: what it has is still to come through the porter's end */
    const uint64_t begin = gs_now_ns();
    if (c->state == GS_PENDING && !c->named && goes_by_path(c)) {
        c->held = true;
        listen_for(c, 0);
        return;
    }
    ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    see_how_long(sv, c->uid, begin);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (events & (EPOLLHUP | EPOLLERR))
            gs_connection_let_go(sv, c);
        return;
    }
    /* An empty message and the end look alike, and an empty message makes no sense. */
    if (n <= 0 || gs_core_message(c->session, bytes, (size_t)n, gs_now_ns()) < 0)
        gs_connection_let_go(sv, c);
    else if (is_question(bytes)) {
        move(sv, c, sv->group[GS_CROWD].epoll);
        if (c->state != GS_LEAVING)
            hush(c);
    } else if (gs_core_joined(c->session))
        place(sv, c);
}

void gs_connection_hear(struct gs_connection *c)
{
    c->named = true;
    if (c->held && c->state == GS_PENDING)
        listen_for(c, EPOLLIN);
    c->held = false;
}

bool gs_connections_name(struct gs_server *sv)
{
    struct gs_naming *n = gs_namers_take();
    struct gs_connection *c;
    if (!n)
        return false;
    TAILQ_FOREACH (c, &sv->all, all)
        if (c->number == n->connection) {
            gs_core_name(c->session, n->exe);
            gs_connection_hear(c);
        }
    free(n);
    return true;
}

bool gs_connections_give(struct gs_server *sv)
{
    struct gs_receiver to;
    struct gs_connection *c;
    int err;
    if (!gs_givers_take(&to, &err))
        return false;
    TAILQ_FOREACH (c, &sv->all, all)
        if (c->pid == to.pid && c->uid == to.uid && err != -EAGAIN)
            gs_core_has_priority(c->session, err, gs_now_ns());
    return true;
}

void gs_connections_go_on(struct gs_server *sv)
{
    gs_core_work(sv->core, GS_WORK_JOINS, gs_now_ns());
    for (struct gs_connection *c = TAILQ_FIRST(&sv->pending), *next; c; c = next) {
        next = TAILQ_NEXT(c, waits);
        if (gs_core_refused(c->session))
            gs_connection_let_go(sv, c);
        else if (gs_core_joined(c->session))
            place(sv, c);
    }
}

void gs_connection_hear_out(struct gs_server *sv, struct gs_connection *c)
{
    for (int i = 0; i < LAST_WORDS && (c->state == GS_PENDING || c->state == GS_JOINED); i++)
        gs_connection_read(sv, c, EPOLLHUP); /* lets it go where there is nothing (more) */
    gs_connection_close(sv, c);
}
