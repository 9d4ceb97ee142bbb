/* SPDX-License-Identifier: MIT */
/* What the daemon's outer files share: server.c (config, start and end), loop.c (whose turn it is), connection.c
 * (connections). One thread. */
#ifndef GS_SCHEDULER_LOOP_H
#define GS_SCHEDULER_LOOP_H

#include <stdint.h>
#include <sys/queue.h>

#include "common/clock.h"
#include "scheduler/core.h"
#include "scheduler/listen.h"
#include "scheduler/namer.h"
#include "scheduler/porter.h"
#include "scheduler/server.h"
#include "scheduler/trace.h"
#include "scheduler/worker.h"

#define GS_NS_PER_S UINT64_C(1000000000)
#define GS_HELLO_NS (2 * GS_NS_PER_S) /* a connection that says nothing for so long is closed */
enum { GS_MAX_CLIENTS = 1024, GS_MAX_CLIENTS_PER_USER = 256, GS_MAX_PENDING = 512 /* that have not joined */ };

enum gs_source_kind {
    GS_SOURCE_LISTEN,
    GS_SOURCE_LISTEN_OWN,
    GS_SOURCE_NAMED_DOOR,
    GS_SOURCE_SIGNALS,
    GS_SOURCE_TIMER,
    GS_SOURCE_WORKER,
    GS_SOURCE_NAMERS,
    GS_SOURCE_GIVERS,
    GS_SOURCE_GROUP,
    GS_SOURCE_SOCKET,
    GS_SOURCE_PROCESS
};

struct gs_connection;
struct gs_group;
struct gs_source {
    enum gs_source_kind kind;
    struct gs_connection *conn; /* of SOCKET and PROCESS */
    struct gs_group *group;
};

/* Connections whose messages may wait for the highest task's: an epoll set of their own, of which few events are
 * handled in a turn. A group may use a share of a processor's time (one `share`th), and a little at once; then it
 * rests. */
struct gs_group {
    struct gs_source source; /* of this set, in the server's */
    int epoll;
    unsigned share;
    bool waits;             /* events are there */
    uint64_t level_ns;      /* then the group has used no more than its share of processor time */
    uint64_t rest_until_ns; /* not served until then; 0: may be served */
};

/* The groups: new connections, connections that ask, applications without a task, and tasks below the highest, one
 * group for each, the last for all lower ones. */
enum { GS_DOORS, GS_CROWD, GS_OTHERS, GS_LOWER, GS_LOWER_GROUPS = 16, GS_GROUPS = GS_LOWER + GS_LOWER_GROUPS };

/* Connections that haven't joined: an epoll set in which users are heard in turn. */
struct gs_door {
    int epoll;
    uid_t heard; /* the user heard last */
};

struct gs_connection {
    struct gs_source socket, process;
    int fd, pidfd;
    bool carried; /* fd is one end of a pair, and a porter has the socket */
    int watched;  /* the epoll set that has it */
    pid_t pid;
    uid_t uid;
    uint64_t since_ns;
    /* PENDING: hasn't joined. LEAVING: to be closed in its turn. CLOSED: to be freed when no event of this turn can
     * name it any more. All but JOINED ones are in the list of that name. */
    enum { GS_PENDING, GS_JOINED, GS_LEAVING, GS_CLOSED } state;
    uint64_t number; /* never used again */
    bool user_named; /* root's, the daemon's own user's, or a user's whom the config names */
    bool named;      /* its program is known, or no longer waited for */
    bool held;       /* its hello waits until `named`: nothing is read meanwhile */
    bool hushed;     /* it hasn't read an answer yet: nothing is read meanwhile */
    int priority;    /* of its process, as far as this connection goes; 0: none */
    struct gs_session *session;
    TAILQ_ENTRY(gs_connection) all;
    TAILQ_ENTRY(gs_connection) waits; /* in `pending`, `leaving`, `named_leaving` or `closed` */
};
TAILQ_HEAD(gs_connections, gs_connection);

struct gs_server {
    const struct gs_server_options *options;
    struct gs_core *core;
    struct gs_trace *trace;
    struct gs_listener listener;
    struct gs_source own_source[GS_OWN_SOCKETS]; /* of the listener's own sockets */
    struct gs_porters porters;                   /* for users whose sockets take long */
    struct gs_worker *worker;                    /* null: the core analyses by itself */
    int epoll, timer, signals;                   /* epoll: the highest task's processes, and the groups */
    struct gs_group group[GS_GROUPS];
    /* Root, the daemon's own user and users whom the config names have a door of their own, heard in each of the doors'
     * turns: one person may have thousands of user numbers, each with a turn at the common door. With the named door
     * are its sockets, and threads' results. Its set is in the common one, which is the doors' group's. */
    struct gs_door named_door, common_door;
    int spare; /* a descriptor to give up when none are left, to send a connection away */
    bool stop;
    bool realtime; /* permitted and wanted */
    bool asked_realtime;
    bool stays_awake;  /* units are about to come back */
    uint64_t armed_ns; /* when the timer fires; UINT64_MAX: off */
    struct gs_connections all, pending, leaving, named_leaving, closed;
    unsigned n_pending, n_leaving; /* the latter in both lists */
    struct gs_pending_user {
        uid_t uid;
        unsigned n;
    } pending_user[GS_MAX_PENDING]; /* users with pending connections, and how many */
    unsigned n_pending_users;
    uint64_t looked_ns;   /* when the highest task's messages were last looked for */
    bool accepts;         /* a connection may be waiting */
    int named, given;     /* readable when a connection's program is known; when a process has its priority */
    uint64_t connections; /* so many so far */
    unsigned doors_turn;
};

/* connection.c */
/* Accepts one connection. True: there may be more. */
bool gs_connections_accept(struct gs_server *sv, int listener);
/* One message. */
void gs_connection_read(struct gs_server *sv, struct gs_connection *c, uint32_t events);
void gs_connection_send(void *ctx, void *conn, const struct gs_msg *m, int fd); /* as gs_core_ops has it */
void gs_connection_wake(void *ctx, void *conn, _Atomic uint32_t *word);         /* as gs_core_ops has it */
/* A connection's program is known; a process has its priority. False: none. */
bool gs_connections_name(struct gs_server *sv);
bool gs_connections_give(struct gs_server *sv);
/* Its hello is no longer held: its program is known, or that takes too long. */
void gs_connection_hear(struct gs_connection *c);
/* A session that has waited for an analysis joins, or is refused. */
void gs_connections_go_on(struct gs_server *sv);
/* The connection is gone, or must go. Closes it in its turn, since many may leave at once, and each takes longer than a
 * grant. */
void gs_connection_let_go(struct gs_server *sv, struct gs_connection *c);
void gs_connection_close(struct gs_server *sv, struct gs_connection *c);
/* Reads what it had said before the daemon was told to end: the last jobs count. */
void gs_connection_hear_out(struct gs_server *sv, struct gs_connection *c);
void gs_connections_free(struct gs_server *sv); /* frees closed ones */
int gs_watch(int epoll, int fd, struct gs_source *source);

/* loop.c. 0 or -errno, which is logged. */
int gs_loop_start(struct gs_server *sv);
int gs_loop_run(struct gs_server *sv);
void gs_loop_watch_own(struct gs_server *sv); /* the users' own sockets, after these have changed */

/* server.c */
int gs_server_reload(void *ctx, char *text, size_t bytes); /* as gs_core_ops has it */

#endif
