/* SPDX-License-Identifier: MIT */
/* Whose turn it is: the highest task's messages, then some of each other task's and of the others', then a little of
 * what costs more than a grant; and in between, again, what the highest task waits for. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/log.h"
#include "scheduler/giver.h"
#include "scheduler/loop.h"

#define BURST_NS (GS_NS_PER_S / 500)       /* what a group may have before its share counts */
#define MOST_NS (GS_NS_PER_S / 1000)       /* of a turn, what counts at most: see may_rest */
#define AT_ONCE_NS (GS_NS_PER_S / 10000)   /* then the doors' turn begins nothing more */
#define LOOK_NS (GS_NS_PER_S / 20000)      /* of a turn, before the highest task is looked after again */
#define REST_LOOK_NS (GS_NS_PER_S / 10000) /* the same while there is nothing to do but for groups that rest */
enum {
    EVENTS = 64,
    MESSAGES = 2,      /* of a group, in a turn */
    MOST_LEAVING = 64, /* more of them go before anybody comes */
    MANY_PENDING = 48, /* connections that haven't joined: a flood */
    /* Of a processor, one in so many; four tasks, the others, the doors and the crowd together stay below the 95 %
     * that Linux lets SCHED_FIFO have. */
    LOWER_SHARE = 20,
    OTHERS_SHARE = 5,
    DOORS_SHARE = 2,
    CROWD_SHARE = 10
};

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
        if (c->named && !gs_core_waits(c->session)) {
            gs_connection_let_go(sv, c);
            continue;
        }
        gs_connection_hear(c);
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

static uint64_t look_after_highest(struct gs_server *sv);

/* Of what threads have done for clients: the doors' events. */
static void take_some(struct gs_server *sv, bool (*take)(struct gs_server *sv))
{
    const uint64_t until = look_after_highest(sv) + AT_ONCE_NS;
    while (take(sv) && look_after_highest(sv) < until)
        ;
}

static void handle(struct gs_server *sv, const struct epoll_event *e)
{
    const struct gs_source *source = e->data.ptr;
    if (source->conn && (source->conn->state == GS_LEAVING || source->conn->state == GS_CLOSED))
        return;
    switch (source->kind) {
    case GS_SOURCE_LISTEN:
        sv->accepts = true;
        break;
    case GS_SOURCE_LISTEN_OWN:
        gs_connections_accept(sv, sv->listener.own[source - sv->own_source].fd);
        break;
    case GS_SOURCE_NAMED_DOOR: /* heard in each turn */
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
    case GS_SOURCE_NAMERS:
        take_some(sv, gs_connections_name);
        break;
    case GS_SOURCE_GIVERS:
        take_some(sv, gs_connections_give);
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

/* What the highest task waits for, amid a turn that has taken long already: its messages, which are the first in the
 * turn, and units that a holder has given back, whose messages may be the last. The time. */
static uint64_t look_after_highest(struct gs_server *sv)
{
    struct epoll_event events[EVENTS];
    const uint64_t now = gs_now_ns();
    if (now - sv->looked_ns < LOOK_NS)
        return now;
    const int n = epoll_wait(sv->epoll, events, EVENTS, 0);
    for (int i = 0; i < n; i++)
        handle(sv, &events[i]);
    gs_core_look(sv->core, now);
    sv->looked_ns = gs_now_ns();
    return sv->looked_ns;
}

static bool may_be_served(const struct gs_server *sv, unsigned group)
{
    return !sv->group[group].rest_until_ns;
}

static bool doors_wait(const struct gs_server *sv)
{
    return sv->group[GS_DOORS].waits || sv->accepts || !TAILQ_EMPTY(&sv->leaving) || !TAILQ_EMPTY(&sv->named_leaving) ||
           gs_core_has_work(sv->core, GS_WORK_JOINS);
}

static bool crowd_waits(const struct gs_server *sv)
{
    return sv->group[GS_CROWD].waits || gs_core_has_work(sv->core, GS_WORK_ANSWERS);
}

static void listen_to(struct gs_server *sv, struct gs_group *g, bool yes)
{
    struct epoll_event e = {.events = yes ? EPOLLIN : 0, .data.ptr = &g->source};
    epoll_ctl(sv->epoll, EPOLL_CTL_MOD, g->epoll, &e);
}

static void take_events(struct gs_server *sv, struct gs_group *g, int most)
{
    struct epoll_event events[MESSAGES];
    const int n = g->waits ? epoll_wait(g->epoll, events, most, 0) : 0;
    g->waits = false;
    for (int i = 0; i < n; i++)
        handle(sv, &events[i]);
}

/* It has been served since the thread's clock showed so much. That goes on while a virtual machine stands still, so of
 * one turn MOST_NS count. */
static void may_rest(struct gs_server *sv, struct gs_group *g, uint64_t begin_ns)
{
    const uint64_t now = gs_now_ns(), took = gs_thread_ns() - begin_ns;
    g->level_ns = (g->level_ns > now ? g->level_ns : now) + g->share * (took < MOST_NS ? took : MOST_NS);
    if (g->level_ns <= now + BURST_NS)
        return;
    g->rest_until_ns = g->level_ns - BURST_NS;
    g->waits = false;
    listen_to(sv, g, false);
}

/* A task below the highest, or the applications without one. */
static void serve_messages(struct gs_server *sv, struct gs_group *g)
{
    if (g->rest_until_ns || !g->waits)
        return;
    look_after_highest(sv);
    const uint64_t begin = gs_thread_ns();
    take_events(sv, g, MESSAGES);
    may_rest(sv, g, begin);
}

/* More turned away, fewer let in: who is behind them in the kernel's line, which has no order, is reached sooner. */
static bool is_flooded(const struct gs_server *sv)
{
    return sv->n_pending > MANY_PENDING;
}

/* The event of the user whose turn it is: by number, the next one after who was heard last. -1: there is none. */
static int next_in_turn(uid_t heard, const struct epoll_event *events, int n)
{
    int next = -1;
    uid_t least = 0;
    for (int i = 0; i < n; i++) {
        const struct gs_source *source = events[i].data.ptr;
        const uid_t behind = source ? source->conn->uid - heard - 1 : 0;
        if (source && (next < 0 || behind < least)) {
            next = i;
            least = behind;
        }
    }
    return next;
}

/* Users in turn, in a flood one of each: so whoever comes waits for one of another user's at a time, however many these
 * are. A connection is here for one message, as a rule, so its user's others get their turn. */
static void hear_newcomers(struct gs_server *sv, struct gs_door *door, uint64_t until_ns)
{
    struct epoll_event events[EVENTS];
    const int n = epoll_wait(door->epoll, events, EVENTS, 0); /* also after a rest, when nobody has told of them yet */
    uid_t first = 0;
    for (int i = 0; i < n; i++) {
        const struct gs_source *source = events[i].data.ptr;
        if (source->conn)
            continue;
        look_after_highest(sv); /* there may be one of each user's own sockets */
        handle(sv, &events[i]);
        events[i].data.ptr = NULL;
    }
    for (int heard = 0, i; (i = next_in_turn(door->heard, events, n)) >= 0; heard++) {
        const struct gs_source *source = events[i].data.ptr;
        const uid_t uid = source->conn->uid;
        if (heard > 0 && ((uid == first && is_flooded(sv)) || look_after_highest(sv) >= until_ns))
            return;
        first = heard ? first : uid;
        door->heard = uid;
        handle(sv, &events[i]);
        events[i].data.ptr = NULL;
    }
}

static void see_off(struct gs_server *sv, struct gs_connections *leaving, uint64_t until_ns)
{
    struct gs_connection *c;
    while ((c = TAILQ_FIRST(leaving))) {
        if (!gs_core_hear_out(c->session, gs_now_ns()))
            gs_connection_close(sv, c);
        if (look_after_highest(sv) >= until_ns)
            return;
    }
}

static void accept_some(struct gs_server *sv, uint64_t until_ns)
{
    do
        sv->accepts = gs_connections_accept(sv, sv->listener.all.fd);
    while (sv->accepts && look_after_highest(sv) < until_ns);
}

/* First those whom the config names, and one that has waited for an analysis goes on: so whoever of these comes, says
 * what it is, gets its priority or leaves waits for a turn, whatever the others do. Then every other turn is for others
 * who connect, two of three in a flood, who wait in one line whoever they are; between these some leave, or some say
 * what they are. */
static void serve_doors(struct gs_server *sv)
{
    if (!may_be_served(sv, GS_DOORS) || !doors_wait(sv))
        return;
    const uint64_t begin = gs_thread_ns();
    sv->group[GS_DOORS].waits = false;
    hear_newcomers(sv, &sv->named_door, look_after_highest(sv) + AT_ONCE_NS);
    see_off(sv, &sv->named_leaving, look_after_highest(sv) + AT_ONCE_NS);
    if (gs_core_has_work(sv->core, GS_WORK_JOINS))
        gs_connections_go_on(sv);
    const uint64_t until = look_after_highest(sv) + AT_ONCE_NS;
    const unsigned turn = sv->doors_turn++, every = is_flooded(sv) ? 3 : 2;
    if (turn % every && sv->accepts && sv->n_leaving <= MOST_LEAVING)
        accept_some(sv, until);
    else if (turn / every % 2 && !TAILQ_EMPTY(&sv->leaving))
        see_off(sv, &sv->leaving, until);
    else
        hear_newcomers(sv, &sv->common_door, until);
    may_rest(sv, &sv->group[GS_DOORS], begin);
}

/* One question, and a piece of an answer. */
static void serve_crowd(struct gs_server *sv)
{
    struct gs_group *g = &sv->group[GS_CROWD];
    if (!may_be_served(sv, GS_CROWD) || !crowd_waits(sv))
        return;
    look_after_highest(sv);
    const uint64_t begin = gs_thread_ns();
    take_events(sv, g, 1);
    look_after_highest(sv);
    if (gs_core_has_work(sv->core, GS_WORK_ANSWERS))
        gs_core_work(sv->core, GS_WORK_ANSWERS, gs_now_ns());
    may_rest(sv, g, begin);
}

static int wait_for(const struct gs_server *sv, struct epoll_event *events, uint64_t ns)
{
    const struct timespec t = {.tv_sec = (time_t)(ns / GS_NS_PER_S), .tv_nsec = (long)(ns % GS_NS_PER_S)};
    return epoll_pwait2(sv->epoll, events, EVENTS, &t, NULL);
}

/* When the first group that rests may be served again; UINT64_MAX: none rests. */
static uint64_t end_of_rest(const struct gs_server *sv)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < GS_GROUPS; i++)
        if (sv->group[i].rest_until_ns && sv->group[i].rest_until_ns < first)
            first = sv->group[i].rest_until_ns;
    return first;
}

static void end_rests(struct gs_server *sv)
{
    const uint64_t now = gs_now_ns();
    for (unsigned i = 0; i < GS_GROUPS; i++) {
        struct gs_group *g = &sv->group[i];
        if (!g->rest_until_ns || now < g->rest_until_ns)
            continue;
        g->rest_until_ns = 0;
        listen_to(sv, g, true);
    }
}

/* The holder of what somebody waits for may be of a group that rests. */
static int events_while_resting(struct gs_server *sv, struct epoll_event *events, uint64_t until, bool at_once)
{
    const uint64_t now = gs_now_ns();
    if (gs_core_look(sv->core, now) && now + REST_LOOK_NS < until)
        until = now + REST_LOOK_NS;
    const int n = wait_for(sv, events, !at_once && now < until ? until - now : 0);
    end_rests(sv);
    return n;
}

/* Waits for what comes next. Where a unit is about to come back for which others wait, it doesn't sleep meanwhile: to
 * wake up would be half of the hand-over. */
static int next_events(struct gs_server *sv, struct epoll_event *events)
{
    uint64_t from, until, now = sv->stays_awake ? gs_now_ns() : 0;
    const uint64_t rest = end_of_rest(sv);
    const bool at_once =
        (may_be_served(sv, GS_DOORS) && doors_wait(sv)) || (may_be_served(sv, GS_CROWD) && crowd_waits(sv));
    if (rest < UINT64_MAX)
        return events_while_resting(sv, events, rest, at_once);
    if (at_once)
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
        sv->looked_ns = gs_now_ns();
        for (int i = 0; i < n; i++)
            handle(sv, &events[i]);
        for (unsigned i = GS_LOWER; i < GS_GROUPS; i++)
            serve_messages(sv, &sv->group[i]);
        serve_messages(sv, &sv->group[GS_OTHERS]);
        serve_doors(sv);
        serve_crowd(sv);
        gs_connections_free(sv);
        arm_timer(sv);
    }
    return 0;
}

/* ---- start ---- */

static int make_groups(struct gs_server *sv)
{
    static const unsigned share[GS_LOWER] = {
        [GS_DOORS] = DOORS_SHARE, [GS_CROWD] = CROWD_SHARE, [GS_OTHERS] = OTHERS_SHARE};
    int err = 0;
    for (unsigned i = 0; i < GS_GROUPS && err == 0; i++) {
        struct gs_group *g = &sv->group[i];
        *g = (struct gs_group){.source = {GS_SOURCE_GROUP, NULL, g}, .share = i < GS_LOWER ? share[i] : LOWER_SHARE};
        g->epoll = epoll_create1(EPOLL_CLOEXEC);
        err = g->epoll < 0 ? -errno : gs_watch(sv->epoll, g->epoll, &g->source);
    }
    return err;
}

static int make_doors(struct gs_server *sv)
{
    static struct gs_source listening = {.kind = GS_SOURCE_LISTEN}, named_door = {.kind = GS_SOURCE_NAMED_DOOR},
                            named = {.kind = GS_SOURCE_NAMERS}, given = {.kind = GS_SOURCE_GIVERS};
    sv->common_door.epoll = sv->group[GS_DOORS].epoll;
    sv->named_door.epoll = epoll_create1(EPOLL_CLOEXEC);
    sv->named = gs_namers_start();
    sv->given = gs_givers_start();
    if (sv->named_door.epoll < 0 || sv->named < 0 || sv->given < 0)
        return -errno;
    const struct {
        const struct gs_door *door;
        int fd;
        struct gs_source *source;
    } watched[] = {{&sv->common_door, sv->named_door.epoll, &named_door},
                   {&sv->named_door, sv->listener.all.fd, &listening},
                   {&sv->named_door, sv->named, &named},
                   {&sv->named_door, sv->given, &given}};
    int err = 0;
    for (unsigned i = 0; i < sizeof watched / sizeof *watched && err == 0; i++)
        err = gs_watch(watched[i].door->epoll, watched[i].fd, watched[i].source);
    gs_loop_watch_own(sv);
    return err;
}

void gs_loop_watch_own(struct gs_server *sv)
{
    for (unsigned i = 0; i < GS_OWN_SOCKETS; i++) {
        sv->own_source[i].kind = GS_SOURCE_LISTEN_OWN;
        if (sv->listener.own[i].fd >= 0)
            gs_watch(sv->named_door.epoll, sv->listener.own[i].fd, &sv->own_source[i]); /* most are watched already */
    }
}

int gs_loop_start(struct gs_server *sv)
{
    static struct gs_source signals = {.kind = GS_SOURCE_SIGNALS}, timer = {.kind = GS_SOURCE_TIMER},
                            worker = {.kind = GS_SOURCE_WORKER};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sv->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sv->epoll = epoll_create1(EPOLL_CLOEXEC);
    sv->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sv->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (sv->epoll < 0 || sv->signals < 0 || sv->timer < 0 || make_groups(sv) < 0 || make_doors(sv) < 0 ||
        gs_watch(sv->epoll, sv->signals, &signals) < 0 || gs_watch(sv->epoll, sv->timer, &timer) < 0 ||
        (sv->worker && gs_watch(sv->epoll, gs_worker_fd(sv->worker), &worker) < 0)) {
        gs_error("can't wait for events: %s", strerror(errno));
        return -errno;
    }
    return 0;
}
