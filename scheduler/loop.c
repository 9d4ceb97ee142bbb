/* SPDX-License-Identifier: MIT */
/* Whose turn it is: tasks' messages, then some of the others', then one thing of the crowd's. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/log.h"
#include "scheduler/loop.h"

#define OTHERS_BURST_NS (GS_NS_PER_S / 500) /* of a processor, before they have half of it */
enum { EVENTS = 64, OTHERS_EVENTS = 4 /* of applications without a task, in a turn */ };

/* ---- signals, time, answers ---- */

static void on_signal(struct gs_server *sv)
{
    struct signalfd_siginfo info;
    char text[1100];
    while (read(sv->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGHUP)
            gs_server_reload(sv, text, sizeof text);
        else
            sv->stop = true;
    }
}

static void on_timer(struct gs_server *sv)
{
    uint64_t n;
    if (read(sv->timer, &n, sizeof n) < 0) {
        /* It was set anew in this turn. */
    }
    sv->armed_ns = UINT64_MAX;
    uint64_t now = gs_now_ns();
    gs_core_tick(sv->core, now);
    struct gs_connection *c;
    while ((c = TAILQ_FIRST(&sv->pending)) && c->since_ns + GS_HELLO_NS <= now) {
        if (!gs_core_waits(c->session)) {
            gs_connection_let_go(sv, c);
            continue;
        }
        c->since_ns = now; /* it waits for us */
        TAILQ_REMOVE(&sv->pending, c, waits);
        TAILQ_INSERT_TAIL(&sv->pending, c, waits);
    }
}

/* The timer may fire early and then finds nothing to do, but never late. With nothing to wait for it is off: an idle
 * daemon doesn't wake up. */
static void arm_timer(struct gs_server *sv)
{
    uint64_t next = gs_core_next_tick(sv->core);
    const struct gs_connection *c = TAILQ_FIRST(&sv->pending);
    if (c && c->since_ns + GS_HELLO_NS < next)
        next = c->since_ns + GS_HELLO_NS;
    if (next >= sv->armed_ns)
        return;
    struct itimerspec t = {.it_value = {.tv_sec = (time_t)(next / GS_NS_PER_S), .tv_nsec = (long)(next % GS_NS_PER_S)}};
    timerfd_settime(sv->timer, TFD_TIMER_ABSTIME, &t, NULL);
    sv->armed_ns = next;
}

static void on_answered(struct gs_server *sv)
{
    struct gs_question *q = gs_worker_take(sv->worker);
    if (q)
        gs_core_answered(sv->core, q, gs_now_ns());
}

/* ---- turns ---- */

static void handle(struct gs_server *sv, const struct epoll_event *e)
{
    const struct gs_source *source = e->data.ptr;
    if (source->conn && (source->conn->state == GS_LEAVING || source->conn->state == GS_CLOSED))
        return;
    switch (source->kind) {
    case GS_SOURCE_LISTEN:
        gs_connections_accept(sv);
        break;
    case GS_SOURCE_SIGNALS:
        on_signal(sv);
        break;
    case GS_SOURCE_TIMER:
        on_timer(sv);
        break;
    case GS_SOURCE_WORKER:
        on_answered(sv);
        break;
    case GS_SOURCE_GROUP:
        source->group->waits = true;
        break;
    case GS_SOURCE_SOCKET:
        gs_connection_read(sv, source->conn, e->events);
        break;
    case GS_SOURCE_PROCESS:
        gs_connection_let_go(sv, source->conn);
        break;
    }
}

static bool has_slow_work(const struct gs_server *sv)
{
    return sv->doors.waits || sv->crowd.waits || !TAILQ_EMPTY(&sv->leaving) || gs_core_has_work(sv->core);
}

static void listen_to(struct gs_server *sv, struct gs_group *g, bool yes)
{
    struct epoll_event e = {.events = yes ? EPOLLIN : 0, .data.ptr = &g->source};
    epoll_ctl(sv->epoll, EPOLL_CTL_MOD, g->epoll, &e);
    if (g == &sv->crowd)
        listen_to(sv, &sv->doors, yes);
}

static void take_events(struct gs_server *sv, struct gs_group *g)
{
    struct epoll_event events[OTHERS_EVENTS];
    const int n = g->waits ? epoll_wait(g->epoll, events, (int)g->events, 0) : 0;
    g->waits = false;
    for (int i = 0; i < n; i++)
        handle(sv, &events[i]);
}

/* It has been served since `begin`. */
static void may_rest(struct gs_server *sv, struct gs_group *g, uint64_t begin)
{
    const uint64_t end = gs_now_ns();
    g->level_ns = (g->level_ns > begin ? g->level_ns : begin) + 2 * (end - begin);
    if (g->level_ns <= end + g->burst_ns)
        return;
    g->rest_until_ns = g->level_ns - g->burst_ns;
    listen_to(sv, g, false);
}

static void serve_others(struct gs_server *sv)
{
    if (sv->others.rest_until_ns || !sv->others.waits)
        return;
    const uint64_t begin = gs_now_ns();
    take_events(sv, &sv->others);
    may_rest(sv, &sv->others, begin);
}

/* One that connects or wants to join, one that asks, one that leaves, and one that has waited for an analysis:
 * however many ask, who joins waits for one of them in each turn. */
static void serve_crowd(struct gs_server *sv)
{
    if (sv->crowd.rest_until_ns || !has_slow_work(sv))
        return;
    const uint64_t begin = gs_now_ns();
    take_events(sv, &sv->doors);
    take_events(sv, &sv->crowd);
    if (!TAILQ_EMPTY(&sv->leaving))
        gs_connection_close(sv, TAILQ_FIRST(&sv->leaving));
    if (gs_core_has_work(sv->core))
        gs_connections_work(sv);
    may_rest(sv, &sv->crowd, begin);
}

static int wait_for(const struct gs_server *sv, struct epoll_event *events, uint64_t ns)
{
    const struct timespec t = {.tv_sec = (time_t)(ns / GS_NS_PER_S), .tv_nsec = (long)(ns % GS_NS_PER_S)};
    return epoll_pwait2(sv->epoll, events, EVENTS, &t, NULL);
}

/* When the first group that rests may be served again; 0: none rests. */
static uint64_t end_of_rest(const struct gs_server *sv)
{
    const uint64_t a = sv->crowd.rest_until_ns, b = sv->others.rest_until_ns;
    return a && b ? (a < b ? a : b) : a + b;
}

static void end_rest(struct gs_server *sv, struct gs_group *g, uint64_t now)
{
    if (!g->rest_until_ns || now < g->rest_until_ns)
        return;
    g->rest_until_ns = 0;
    listen_to(sv, g, true);
}

static int events_while_resting(struct gs_server *sv, struct epoll_event *events, uint64_t until)
{
    uint64_t now = gs_now_ns();
    int n = now < until ? wait_for(sv, events, until - now) : 0;
    now = gs_now_ns();
    end_rest(sv, &sv->crowd, now);
    end_rest(sv, &sv->others, now);
    return n;
}

/* Waits for what comes next. Where a unit is about to come back for which others wait, it doesn't sleep meanwhile: to
 * wake up would be half of the hand-over. */
static int next_events(struct gs_server *sv, struct epoll_event *events)
{
    uint64_t from, until, now = sv->stays_awake ? gs_now_ns() : 0;
    const uint64_t rest = end_of_rest(sv);
    if (rest)
        return events_while_resting(sv, events, rest);
    if (has_slow_work(sv))
        return epoll_wait(sv->epoll, events, EVENTS, 0);
    if (!sv->stays_awake || !gs_core_foretell(sv->core, now, &from, &until))
        return epoll_wait(sv->epoll, events, EVENTS, -1);
    int n = 0;
    if (now < from)
        n = wait_for(sv, events, from - now);
    while (n == 0 && gs_now_ns() < until)
        n = epoll_wait(sv->epoll, events, EVENTS, 0);
    return n ? n : epoll_wait(sv->epoll, events, EVENTS, -1);
}

int gs_loop_run(struct gs_server *sv)
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
        serve_others(sv);
        serve_crowd(sv);
        gs_connections_free(sv);
        arm_timer(sv);
    }
    return 0;
}

/* ---- start ---- */

int gs_loop_start(struct gs_server *sv)
{
    static struct gs_source listening = {.kind = GS_SOURCE_LISTEN}, signals = {.kind = GS_SOURCE_SIGNALS},
                            timer = {.kind = GS_SOURCE_TIMER}, worker = {.kind = GS_SOURCE_WORKER};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* a trace may go into a pipe that ends */
    sv->crowd = (struct gs_group){.source = {GS_SOURCE_GROUP, NULL, &sv->crowd}, .epoll = -1, .events = 1};
    sv->doors = (struct gs_group){.source = {GS_SOURCE_GROUP, NULL, &sv->doors}, .epoll = -1, .events = 1};
    sv->others = (struct gs_group){.source = {GS_SOURCE_GROUP, NULL, &sv->others},
                                   .epoll = -1,
                                   .events = OTHERS_EVENTS,
                                   .burst_ns = OTHERS_BURST_NS};
    sv->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sv->epoll = epoll_create1(EPOLL_CLOEXEC);
    sv->doors.epoll = epoll_create1(EPOLL_CLOEXEC);
    sv->crowd.epoll = epoll_create1(EPOLL_CLOEXEC);
    sv->others.epoll = epoll_create1(EPOLL_CLOEXEC);
    sv->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sv->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (sv->epoll < 0 || sv->doors.epoll < 0 || sv->crowd.epoll < 0 || sv->others.epoll < 0 || sv->signals < 0 ||
        sv->timer < 0 || gs_watch(sv->epoll, sv->doors.epoll, &sv->doors.source) < 0 ||
        gs_watch(sv->epoll, sv->crowd.epoll, &sv->crowd.source) < 0 ||
        gs_watch(sv->epoll, sv->others.epoll, &sv->others.source) < 0 ||
        gs_watch(sv->doors.epoll, sv->listener.fd, &listening) < 0 || gs_watch(sv->epoll, sv->signals, &signals) < 0 ||
        gs_watch(sv->epoll, sv->timer, &timer) < 0 ||
        (sv->worker && gs_watch(sv->epoll, gs_worker_fd(sv->worker), &worker) < 0)) {
        gs_error("can't wait for events: %s", strerror(errno));
        return -errno;
    }
    return 0;
}
