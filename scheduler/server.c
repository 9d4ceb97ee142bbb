/* SPDX-License-Identifier: MIT */
#include "scheduler/server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "scheduler/core.h"
#include "scheduler/listen.h"
#include "scheduler/realtime.h"
#include "scheduler/trace.h"

#define NS_PER_S UINT64_C(1000000000)
#define HELLO_NS (2 * NS_PER_S) /* who has connected and says nothing for so long is sent away */
enum {
    MAX_CLIENTS = 1024,
    MAX_CLIENTS_PER_USER = 512,
    MAX_PENDING = 512, /* connections that have not said hello */
    MAX_PENDING_PER_USER = 256,
    ACCEPTS_PER_TURN = 16,
    LAST_WORDS = 256, /* messages heard of each client at the end */
    EVENTS = 64,
};

enum source_kind { SOURCE_LISTEN, SOURCE_SIGNALS, SOURCE_TIMER, SOURCE_SOCKET, SOURCE_PROCESS };

struct connection;
struct source {
    enum source_kind kind;
    struct connection *conn; /* of SOCKET and PROCESS */
};

struct connection {
    struct source socket, process;
    int fd, pidfd;
    uid_t uid;
    uint64_t since_ns;
    bool closing; /* is in `closed`, to be freed when no event of this turn can name it any more */
    bool pending; /* has not said hello */
    struct gs_session *session;
    TAILQ_ENTRY(connection) all;
    TAILQ_ENTRY(connection) waits; /* in `pending` or in `closed` */
};
TAILQ_HEAD(connections, connection);

struct server {
    const struct gs_server_options *options;
    struct gs_core *core;
    struct gs_trace *trace;
    struct gs_listener listener;
    int epoll, timer, signals;
    int spare; /* a descriptor to give up when there are no more, so that who connects can be sent away */
    bool stop;
    bool realtime; /* is permitted, and has been wanted */
    bool asked_realtime;
    bool stays_awake;  /* for units that are about to come back */
    uint64_t armed_ns; /* the timer fires then; UINT64_MAX: it is off */
    struct connections all, pending, closed;
    unsigned n_pending;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ---- connections ---- */

static void leave_pending(struct server *sv, struct connection *c)
{
    if (!c->pending)
        return;
    TAILQ_REMOVE(&sv->pending, c, waits);
    sv->n_pending--;
    c->pending = false;
}

static void close_connection(struct server *sv, struct connection *c)
{
    if (c->closing)
        return;
    leave_pending(sv, c);
    c->closing = true;
    TAILQ_REMOVE(&sv->all, c, all);
    TAILQ_INSERT_TAIL(&sv->closed, c, waits);
    gs_core_disconnect(c->session, now_ns());
    close(c->fd); /* also takes it out of the epoll set */
    if (c->pidfd >= 0)
        close(c->pidfd);
}

static void free_closed(struct server *sv)
{
    struct connection *c;
    while ((c = TAILQ_FIRST(&sv->closed))) {
        TAILQ_REMOVE(&sv->closed, c, waits);
        free(c);
    }
}

static void send_message(int fd, const struct gs_msg *m, int passed)
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
    if (sendmsg(fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        /* It is gone, which its descriptor will tell, or it doesn't read what it is told. Nobody else waits for it. */
    }
}

static void on_send(void *ctx, void *conn, const struct gs_msg *m, int fd)
{
    (void)ctx;
    send_message(((struct connection *)conn)->fd, m, fd);
}

static void turn_away(int fd, const char *why)
{
    struct gs_msg m = {.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = GS_MSG_REFUSED};
    m.u.text.code = GS_REFUSED_FULL;
    snprintf(m.u.text.text, sizeof m.u.text.text, "%s", why);
    send_message(fd, &m, -1);
    close(fd);
}

static int watch(struct server *sv, int fd, struct source *source)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = source};
    return epoll_ctl(sv->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static bool too_many_pending(const struct server *sv, uid_t uid)
{
    if (sv->n_pending >= MAX_PENDING)
        return true;
    unsigned mine = 0;
    const struct connection *c;
    TAILQ_FOREACH(c, &sv->pending, waits)
    mine += c->uid == uid;
    return mine >= MAX_PENDING_PER_USER;
}

/* Takes the socket over: it is closed if this fails. */
static void add_connection(struct server *sv, int fd)
{
    struct gs_credentials who;
    if (gs_credentials_of(fd, &who) < 0) {
        close(fd);
        return;
    }
    struct connection *c = too_many_pending(sv, who.uid) ? NULL : calloc(1, sizeof *c);
    const struct gs_peer peer = {.uid = who.uid, .pid = who.pid, .exe = who.exe};
    uint64_t now = now_ns();
    struct gs_session *session = c ? gs_core_connect(sv->core, c, &peer, now) : NULL;
    if (!session) {
        free(c);
        if (who.pidfd >= 0)
            close(who.pidfd);
        turn_away(fd, "too many connections at a time: try again later");
        return;
    }
    *c =
        (struct connection){.socket = {SOURCE_SOCKET, c}, .process = {SOURCE_PROCESS, c}, .fd = fd, .pidfd = who.pidfd};
    c->uid = who.uid;
    c->since_ns = now;
    c->session = session;
    c->pending = true;
    TAILQ_INSERT_TAIL(&sv->all, c, all);
    TAILQ_INSERT_TAIL(&sv->pending, c, waits);
    sv->n_pending++;
    /* The process's end ends the session, whoever else has a copy of its socket (a child after fork). */
    if (watch(sv, fd, &c->socket) < 0 || (c->pidfd >= 0 && watch(sv, c->pidfd, &c->process) < 0))
        close_connection(sv, c);
}

static void on_connect(struct server *sv)
{
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        int fd = accept4(sv->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            add_connection(sv, fd);
            continue;
        }
        if ((errno != EMFILE && errno != ENFILE) || sv->spare < 0)
            return;
        close(sv->spare);
        fd = accept4(sv->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            turn_away(fd, "the daemon has no descriptors left");
        sv->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

/* One message per turn, so that a client that floods the daemon has no more of its time than each of the others. */
static void on_readable(struct server *sv, struct connection *c, uint32_t events)
{
    char bytes[sizeof(struct gs_msg) + 1];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (events & (EPOLLHUP | EPOLLERR))
            close_connection(sv, c);
        return;
    }
    /* An empty message and the end look alike, and an empty message makes no sense. */
    if (n <= 0 || gs_core_message(c->session, bytes, (size_t)n, now_ns()) < 0)
        close_connection(sv, c);
    else if (c->pending && gs_core_joined(c->session))
        leave_pending(sv, c);
}

/* ---- the config ---- */

static int load_config(struct server *sv, char *text, size_t bytes)
{
    const char *path = sv->options->config;
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    bool optional = !sv->options->config_given && access(path, F_OK) != 0 && errno == ENOENT;
    int err = optional ? gs_config_parse("", 0, &config, &mistakes) : gs_config_load(path, &config, &mistakes);
    if (err == 0)
        err = gs_core_fits(sv->core, &config, &mistakes);
    if (err < 0) {
        if (mistakes.n > 1)
            gs_mistakes_print(&mistakes, path);
        if (mistakes.n && !mistakes.v[0].line)
            snprintf(text, bytes, "%s: %s", path, mistakes.v[0].text);
        else if (mistakes.n)
            snprintf(text, bytes, "%s:%d: %s%s", path, mistakes.v[0].line, mistakes.v[0].text,
                     mistakes.n > 1 ? " (and more: see the daemon's log)" : "");
        else
            snprintf(text, bytes, "%s: %s", path, strerror(-err));
        gs_config_free(&config);
    } else {
        err = gs_core_configure(sv->core, &config, now_ns());
        if (err < 0)
            snprintf(text, bytes, "%s: %s", path, strerror(-err));
        else if (gs_core_worry(sv->core))
            snprintf(text, bytes, "%s is read, but deadlines may be missed: %s", path, gs_core_worry(sv->core));
        else
            snprintf(text, bytes, optional ? "no config: there is no %s" : "%s is read", path);
        sv->stays_awake = gs_core_stays_awake(sv->core, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    }
    gs_mistakes_free(&mistakes);
    return err;
}

static int on_reload(void *ctx, char *text, size_t bytes)
{
    char said[1024];
    snprintf(said, sizeof said, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_ns() / 1000);
    gs_notify_systemd(said);
    int err = load_config(ctx, said, sizeof said);
    snprintf(text, bytes, "%s%s", said, err < 0 ? "; the old config stays" : "");
    if (err < 0)
        gs_error("%s", text);
    else
        gs_info("%s", text);
    gs_notify_systemd("READY=1");
    return err;
}

/* Above all tasks, from when there is one that may have such a priority: a config that is read later may bring it. */
static void want_realtime(struct server *sv)
{
    if (sv->asked_realtime || !gs_core_wants_realtime(sv->core))
        return;
    sv->asked_realtime = true;
    sv->realtime = gs_realtime_self();
}

static void on_realtime(void *ctx, pid_t pid, int rank, int ranks)
{
    struct server *sv = ctx;
    want_realtime(sv);
    if (sv->realtime)
        gs_realtime_process(pid, rank, ranks);
}

/* ---- signals and time ---- */

static void on_signal(struct server *sv)
{
    struct signalfd_siginfo info;
    char text[1100];
    while (read(sv->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP)
            on_reload(sv, text, sizeof text);
        else
            sv->stop = true;
    }
}

static void on_timer(struct server *sv)
{
    uint64_t n;
    if (read(sv->timer, &n, sizeof n) < 0) {
        /* It was set anew in this turn. */
    }
    sv->armed_ns = UINT64_MAX;
    uint64_t now = now_ns();
    gs_core_tick(sv->core, now);
    struct connection *c;
    while ((c = TAILQ_FIRST(&sv->pending)) && c->since_ns + HELLO_NS <= now)
        close_connection(sv, c);
}

/* The timer may fire early and then finds nothing to do, but never late. With nothing to wait for it is off: an idle
 * daemon doesn't wake up. */
static void arm_timer(struct server *sv)
{
    uint64_t next = gs_core_next_tick(sv->core);
    const struct connection *c = TAILQ_FIRST(&sv->pending);
    if (c && c->since_ns + HELLO_NS < next)
        next = c->since_ns + HELLO_NS;
    if (next >= sv->armed_ns)
        return;
    struct itimerspec t = {.it_value = {.tv_sec = (time_t)(next / NS_PER_S), .tv_nsec = (long)(next % NS_PER_S)}};
    timerfd_settime(sv->timer, TFD_TIMER_ABSTIME, &t, NULL);
    sv->armed_ns = next;
}

/* ---- start, run, end ---- */

static void handle(struct server *sv, const struct epoll_event *e)
{
    const struct source *source = e->data.ptr;
    if (source->conn && source->conn->closing)
        return;
    switch (source->kind) {
    case SOURCE_LISTEN:
        on_connect(sv);
        break;
    case SOURCE_SIGNALS:
        on_signal(sv);
        break;
    case SOURCE_TIMER:
        on_timer(sv);
        break;
    case SOURCE_SOCKET:
        on_readable(sv, source->conn, e->events);
        break;
    case SOURCE_PROCESS:
        close_connection(sv, source->conn);
        break;
    }
}

/* Waits for what comes next. Where a unit is about to come back for which others wait, it doesn't sleep meanwhile: to
 * wake up would be half of the hand-over. */
static int next_events(struct server *sv, struct epoll_event *events)
{
    uint64_t from, until, now = sv->stays_awake ? now_ns() : 0;
    if (!sv->stays_awake || !gs_core_foretell(sv->core, now, &from, &until))
        return epoll_wait(sv->epoll, events, EVENTS, -1);
    int n = 0;
    if (now < from) {
        const struct timespec t = {.tv_sec = (time_t)((from - now) / NS_PER_S),
                                   .tv_nsec = (long)((from - now) % NS_PER_S)};
        n = epoll_pwait2(sv->epoll, events, EVENTS, &t, NULL);
    }
    while (n == 0 && now_ns() < until)
        n = epoll_wait(sv->epoll, events, EVENTS, 0);
    return n ? n : epoll_wait(sv->epoll, events, EVENTS, -1);
}

static int run(struct server *sv)
{
    struct epoll_event events[EVENTS];
    while (!sv->stop) {
        int n = next_events(sv, events);
        if (n < 0 && errno != EINTR) {
            gs_error("can't wait for events: %s", strerror(errno));
            return -errno;
        }
        for (int i = 0; i < n; i++)
            handle(sv, &events[i]);
        free_closed(sv);
        arm_timer(sv);
    }
    return 0;
}

static unsigned gpus_of_machine(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/driver/nvidia/gpus");
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n == 0 ? 1 : n > GS_MAX_GPUS ? GS_MAX_GPUS : n;
}

static int start_core(struct server *sv)
{
    const struct gs_server_options *o = sv->options;
    const struct gs_core_options options = {.gpus = o->gpus ? o->gpus : gpus_of_machine(),
                                            .max_clients = MAX_CLIENTS,
                                            .max_per_user = MAX_CLIENTS_PER_USER,
                                            .socket = o->socket,
                                            .config_path = o->config};
    const struct gs_core_ops ops = {.send = on_send, .realtime = on_realtime, .reload = on_reload};
    sv->core = gs_core_new(&options, &ops, sv);
    if (!sv->core)
        return -ENOMEM;
    char text[1024];
    int err = load_config(sv, text, sizeof text);
    if (err < 0) {
        gs_error("%s", text);
        return err;
    }
    if (!o->trace)
        return 0;
    err = gs_trace_open(&sv->trace, o->trace);
    if (err < 0)
        gs_error("the trace %s can't be written: %s", o->trace, strerror(-err));
    else
        gs_core_set_trace(sv->core, sv->trace);
    return err;
}

static int start_listening(struct server *sv)
{
    pid_t other;
    int err = gs_listen(&sv->listener, sv->options->socket, sv->options->socket_mode, &other);
    if (err == -EADDRINUSE && other)
        gs_error("another daemon (process %d) has the socket %s already", (int)other, sv->options->socket);
    else if (err == -EADDRINUSE)
        gs_error("another program listens on %s", sv->options->socket);
    else if (err == -EEXIST)
        gs_error("can't listen on %s: it, or what ends in ~ or .lock beside it, is there already and not a daemon's",
                 sv->options->socket);
    else if (err < 0)
        gs_error("can't listen on %s: %s", sv->options->socket, strerror(-err));
    return err;
}

static int start_waiting(struct server *sv)
{
    static struct source listening = {SOURCE_LISTEN, NULL}, signals = {SOURCE_SIGNALS, NULL},
                         timer = {SOURCE_TIMER, NULL};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* a trace may go into a pipe that ends */
    sv->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sv->epoll = epoll_create1(EPOLL_CLOEXEC);
    sv->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sv->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (sv->epoll < 0 || sv->signals < 0 || sv->timer < 0 || watch(sv, sv->listener.fd, &listening) < 0 ||
        watch(sv, sv->signals, &signals) < 0 || watch(sv, sv->timer, &timer) < 0) {
        gs_error("can't wait for events: %s", strerror(errno));
        return -errno;
    }
    return 0;
}

static void raise_descriptor_limit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

/* What the client had said before the daemon was told to end: the last jobs count too. */
static void hear_out(struct server *sv, struct connection *c)
{
    for (int i = 0; i < LAST_WORDS && !c->closing; i++)
        on_readable(sv, c, EPOLLHUP); /* closes it where there is nothing (more) */
    close_connection(sv, c);
}

static void stop(struct server *sv)
{
    gs_notify_systemd("STOPPING=1");
    if (sv->core)
        gs_core_end(sv->core);
    struct connection *c;
    while ((c = TAILQ_FIRST(&sv->all)))
        hear_out(sv, c);
    free_closed(sv);
    gs_listen_end(&sv->listener);
    if (sv->core)
        gs_core_set_trace(sv->core, NULL);
    int err = gs_trace_close(sv->trace);
    if (err < 0)
        gs_warn("the trace %s is not whole: %s", sv->options->trace, strerror(-err));
    gs_core_free(sv->core);
    int fds[] = {sv->epoll, sv->signals, sv->timer, sv->spare};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

int gs_server_run(const struct gs_server_options *options)
{
    struct server sv = {
        .options = options, .epoll = -1, .timer = -1, .signals = -1, .spare = -1, .armed_ns = UINT64_MAX};
    sv.listener.fd = sv.listener.lock_fd = -1;
    TAILQ_INIT(&sv.all);
    TAILQ_INIT(&sv.pending);
    TAILQ_INIT(&sv.closed);
    raise_descriptor_limit();
    int err = start_core(&sv);
    if (err == 0)
        err = start_listening(&sv);
    if (err == 0)
        err = start_waiting(&sv);
    if (err == 0) {
        want_realtime(&sv);
        prctl(PR_SET_TIMERSLACK, 1000UL); /* in ns, and of a time given: the default would be 50 us late */
        gs_info("listens on %s", options->socket);
        gs_notify_systemd("READY=1");
        err = run(&sv);
    }
    stop(&sv);
    return err;
}
