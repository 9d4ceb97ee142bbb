/* SPDX-License-Identifier: MIT */
#include "scheduler/server.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/machine.h"
#include "scheduler/giver.h"
#include "scheduler/lease.h"
#include "scheduler/loop.h"
#include "scheduler/realtime.h"

static void on_analyse(void *ctx, struct gs_question *q)
{
    gs_worker_give(((struct gs_server *)ctx)->worker, q);
}

/* ---- the config ---- */

static int load_config(struct gs_server *sv, char *text, size_t bytes)
{
    const char *path = sv->options->config;
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    bool optional = !sv->options->config_given && access(path, F_OK) != 0 && errno == ENOENT;
    int err = optional ? gs_config_parse("", 0, &config, &mistakes) : gs_config_load_regular(path, &config, &mistakes);
    if (err == 0)
        err = gs_core_fits(sv->core, &config, &mistakes);
    if (err < 0) {
        for (size_t i = 0; mistakes.n > 1 && i < mistakes.n; i++)
            gs_error("%s:%d: %s", path, mistakes.v[i].line, mistakes.v[i].text);
        if (mistakes.n && !mistakes.v[0].line)
            snprintf(text, bytes, "%s: %s", path, mistakes.v[0].text);
        else if (mistakes.n)
            snprintf(text, bytes, "%s:%d: %s%s", path, mistakes.v[0].line, mistakes.v[0].text,
                     mistakes.n > 1 ? " (and more: see the daemon's log)" : "");
        else
            snprintf(text, bytes, "%s: %s", path, strerror(-err));
        gs_config_free(&config);
    } else {
        err = gs_core_configure(sv->core, &config, gs_now_ns());
        if (err < 0)
            snprintf(text, bytes, "%s: %s", path, strerror(-err));
        else
            snprintf(text, bytes, optional ? "no config: there is no %s" : "%s is read", path);
        sv->stays_awake = gs_core_stays_awake(sv->core, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    }
    gs_mistakes_free(&mistakes);
    return err;
}

/* Who has a socket of its own: the daemon's user and, where all may connect, whom the config names. Only root can make
 * others'. */
static unsigned list_users(const struct gs_server *sv, uid_t uid[GS_OWN_SOCKETS])
{
    uid[0] = geteuid();
    if (uid[0] != 0 || !(sv->options->socket_mode & S_IWOTH))
        return 1;
    return 1 + gs_core_users_named(sv->core, uid + 1, GS_OWN_SOCKETS - 1);
}

int gs_server_reload(void *ctx, char *text, size_t bytes)
{
    struct gs_server *sv = ctx;
    char said[1024];
    snprintf(said, sizeof said, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, gs_now_ns() / 1000);
    gs_notify_systemd(said);
    int err = load_config(sv, said, sizeof said);
    snprintf(text, bytes, "%s%s", said, err < 0 ? "; the old config stays" : "");
    if (err < 0) {
        gs_error("%s", text);
    } else {
        gs_info("%s", text);
        uid_t uid[GS_OWN_SOCKETS];
        gs_listen_for(&sv->listener, uid, list_users(sv, uid));
        gs_loop_watch_own(sv);
    }
    gs_notify_systemd("READY=1");
    return err;
}

/* Above all tasks, from when there is one that may have such a priority: a config that is read later may bring it. */
static void want_realtime(struct gs_server *sv)
{
    if (sv->asked_realtime || !gs_core_wants_realtime(sv->core))
        return;
    sv->asked_realtime = true;
    sv->realtime = gs_realtime_self();
}

static int on_realtime(void *ctx, void *conn, int priority)
{
    struct gs_server *sv = ctx;
    struct gs_connection *c = conn;
    const struct gs_connection *other;
    want_realtime(sv);
    if (!sv->realtime)
        return 0;
    c->priority = priority;
    TAILQ_FOREACH (other, &sv->all, all) /* the process may have several */
        if (other->pid == c->pid && other->uid == c->uid && other->priority > priority)
            priority = other->priority;
    const struct gs_receiver to = {c->pid, c->pidfd, c->uid, gs_core_has_task_of(sv->core, c->uid)};
    return gs_givers_give(&to, priority);
}

static int start_core(struct gs_server *sv)
{
    const struct gs_server_options *o = sv->options;
    const struct gs_core_options options = {.gpus = o->gpus ? o->gpus : gs_machine_gpus(),
                                            .max_clients = GS_MAX_CLIENTS,
                                            .max_per_user = GS_MAX_CLIENTS_PER_USER,
                                            .socket = o->socket,
                                            .config_path = o->config};
    const struct gs_core_ops ops = {.send = gs_connection_send,
                                    .wake = gs_connection_wake,
                                    .realtime = on_realtime,
                                    .reload = gs_server_reload,
                                    .analyse = sv->worker ? on_analyse : NULL};
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
    err = gs_trace_open(&sv->trace, o->trace, GS_TRACE_BYTES);
    if (err < 0)
        gs_error("the trace %s can't be written: %s", o->trace,
                 err == -ENXIO ? "it is a pipe that nobody reads; begin its reader first" : strerror(-err));
    else
        gs_core_set_trace(sv->core, sv->trace);
    return err;
}

static int start_listening(struct gs_server *sv)
{
    pid_t other;
    uid_t users[GS_OWN_SOCKETS], uid;
    const unsigned n = list_users(sv, users);
    int err = gs_listen(&sv->listener, sv->options->socket, sv->options->socket_mode, users, n, &other);
    if (err == -EADDRINUSE && gs_uid_of(other, &uid))
        gs_error("another daemon (process %d of user %u, which holds %s.lock) has the socket %s already", (int)other,
                 (unsigned)uid, sv->options->socket, sv->options->socket);
    else if (err == -EADDRINUSE && other)
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

/* The kernel's table of descriptors grows as there are more. Where a process has several threads it waits for all
 * processors then (10 to 20 ms on busy ones), and a grant with it: so the table is large before there is a second
 * thread. */
static void make_room_for_descriptors(void)
{
    enum { ENOUGH = 8192 }; /* four for each client, two for each that has not joined, two more where a porter has it */
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return;
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
    const int any = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int last = fcntl(any, F_DUPFD_CLOEXEC, r.rlim_cur < ENOUGH ? (int)r.rlim_cur - 1 : ENOUGH - 1);
    if (last >= 0)
        close(last);
    if (any >= 0)
        close(any);
}

/* Who reads /proc/PID/cmdline, as anybody may, holds a lock of the daemon's memory meanwhile, and for as long as it
 * gets no processor. Where there are no words the kernel doesn't take it. Nothing else here changes. */
static void hide_command_line(void)
{
    enum { CODE = 26, CODE_END, STACK, DATA = 45, DATA_END, BRK, ARG, ARG_END, ENV, ENV_END }; /* proc(5), stat */
    char text[1024] = "";
    uint64_t field[ENV_END + 1] = {0};
    const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    const char *at = n > 0 ? strrchr(text, ')') : NULL; /* ends the name; then a blank, a letter */
    char *next = (char *)(at && strlen(at) > 3 ? at + 3 : "");
    for (unsigned i = 4; i <= ENV_END; i++)
        field[i] = strtoull(next, &next, 10);
    const struct prctl_mm_map map = {.start_code = field[CODE],
                                     .end_code = field[CODE_END],
                                     .start_data = field[DATA],
                                     .end_data = field[DATA_END],
                                     .start_brk = field[BRK],
                                     .brk = (uintptr_t)sbrk(0),
                                     .start_stack = field[STACK],
                                     .arg_start = field[ARG],
                                     .arg_end = field[ARG],
                                     .env_start = field[ENV],
                                     .env_end = field[ENV_END],
                                     .exe_fd = (uint32_t)-1};
    prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0UL);
}

static bool has_command_line(void)
{
    char byte;
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const bool has = fd >= 0 && read(fd, &byte, 1) > 0;
    if (fd >= 0)
        close(fd);
    return has;
}

/* What this kernel lets clients do. A daemon of a user's own has clients of that user, who may stop it as well. */
static void warn_of_kernel(const struct gs_server *sv)
{
    struct gs_lease_side side;
    int fd;
    if (geteuid() != 0)
        return;
    if (has_command_line())
        gs_warn(
            "any user can delay the daemon, by reads of its command line: only kernels with CONFIG_CHECKPOINT_RESTORE "
            "prevent that");
    if (sv->listener.takes_descriptors)
        gs_warn("any client can stop the daemon for a while, by descriptors that it passes and that take long to "
                "close: only Linux 6.16 and later prevent that");
    if (gs_lease_open(&side, &fd) < 0)
        return;
    if (!side.whole)
        gs_warn("any client can delay the daemon, by holes in the memory that they share: only Linux 6.6 and later "
                "prevent that, with CAP_LINUX_IMMUTABLE");
    gs_lease_close(&side);
    close(fd);
}

static void stop(struct gs_server *sv)
{
    gs_notify_systemd("STOPPING=1");
    if (sv->core)
        gs_core_end(sv->core);
    struct gs_connection *c;
    while ((c = TAILQ_FIRST(&sv->all)))
        gs_connection_hear_out(sv, c);
    gs_connections_free(sv);
    gs_givers_end();
    gs_listen_end(&sv->listener);
    gs_porters_end(&sv->porters);
    if (sv->core)
        gs_core_set_trace(sv->core, NULL);
    int err = gs_trace_close(sv->trace);
    if (err < 0)
        gs_warn("the trace %s is not whole: %s", sv->options->trace, strerror(-err));
    gs_worker_end(sv->worker);
    gs_core_free(sv->core);
    for (unsigned i = 0; i < GS_GROUPS; i++)
        if (sv->group[i].epoll >= 0)
            close(sv->group[i].epoll);
    int fds[] = {sv->epoll, sv->signals, sv->timer, sv->spare};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

int gs_server_run(const struct gs_server_options *options)
{
    struct gs_server sv = {
        .options = options, .epoll = -1, .timer = -1, .signals = -1, .spare = -1, .armed_ns = UINT64_MAX};
    for (unsigned i = 0; i < GS_GROUPS; i++)
        sv.group[i].epoll = -1;
    gs_listener_init(&sv.listener);
    TAILQ_INIT(&sv.all);
    TAILQ_INIT(&sv.pending);
    TAILQ_INIT(&sv.leaving);
    TAILQ_INIT(&sv.named_leaving);
    TAILQ_INIT(&sv.closed);
    signal(SIGPIPE, SIG_IGN); /* of a log or a trace whose reader has ended */
    hide_command_line();
    make_room_for_descriptors();
    sv.worker = gs_worker_start();
    int err = start_core(&sv);
    if (err == 0)
        err = start_listening(&sv);
    if (err == 0)
        err = gs_loop_start(&sv);
    if (err == 0) {
        want_realtime(&sv);
        prctl(PR_SET_TIMERSLACK, 1000UL); /* in ns, and of a time given: the default would be 50 us late */
        warn_of_kernel(&sv);
        gs_info("listens on %s", options->socket);
        gs_notify_systemd("READY=1");
        err = gs_loop_run(&sv);
    }
    stop(&sv);
    return err;
}
