/* SPDX-License-Identifier: MIT */
/* The daemon without its sockets: sessions, messages, tasks, jobs. server.c feeds it from the socket; tests and the
 * fuzz target feed it directly. One thread; times are CLOCK_MONOTONIC nanoseconds, given by the caller, and never go
 * back. */
#ifndef GS_SCHEDULER_CORE_H
#define GS_SCHEDULER_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/config.h"
#include "common/wire.h"

struct gs_core;
struct gs_question;
struct gs_session;
struct gs_trace;

struct gs_core_ops {
    /* Sends a message, with a copy of descriptor fd unless it is -1. It may get lost if the client doesn't read. */
    void (*send)(void *ctx, void *conn, const struct gs_msg *m, int fd);
    /* Wakes a thread of the connection's process that sleeps on a word of its page. Null: gs_lease_wake does. */
    void (*wake)(void *ctx, void *conn, _Atomic uint32_t *word);
    /* The processor priority of the connection's process, which runs as a task; 0: none any more. Said again now and
     * then, for threads that are new. 1: gs_core_has_priority is called when it has it; 0: it has; -errno: it can't be
     * given it. May be null. */
    int (*realtime)(void *ctx, void *conn, int priority);
    /* Reads the config again and calls gs_core_configure; *text gets what to answer. 0 or -errno. May be null. */
    int (*reload)(void *ctx, char *text, size_t bytes);
    /* Has gs_question_answer called by another thread, and then gs_core_answered by the core's. One at a time. Null:
     * the core analyses by itself, at once. */
    void (*analyse)(void *ctx, struct gs_question *q);
    /* A line for the log; null: stderr. */
    void (*log)(void *ctx, bool warning, const char *text);
};

struct gs_core_options {
    unsigned gpus;                    /* of the machine, where the config doesn't say */
    unsigned max_clients;             /* that have said hello; the last places are for tasks that don't run yet */
    unsigned max_per_user;            /* of these, of one user other than root */
    const char *socket, *config_path; /* for status; outlive the core */
};

struct gs_core *gs_core_new(const struct gs_core_options *options, const struct gs_core_ops *ops, void *ctx);
void gs_core_free(struct gs_core *core);

/* Takes the config over (also if it fails), and tells the clients what changes for them. The number of GPUs and the
 * depth are fixed once the first config is there: -EBUSY, and the old one stays, if a later one has others. */
int gs_core_configure(struct gs_core *core, struct gs_config *config, uint64_t now_ns);

/* The config gives tasks CPU priorities. */
bool gs_core_wants_realtime(const struct gs_core *core);

/* Null: no trace (any more). The trace stays the caller's. */
void gs_core_set_trace(struct gs_core *core, struct gs_trace *trace);

struct gs_peer {
    uid_t uid;
    pid_t pid;
    const char *exe; /* path of its executable, "" if it can't be known, or isn't yet; copied */
};
/* There is no place for one more connection of this user's, or it has lost one for another's. */
void gs_core_turned_away(struct gs_core *core, uid_t uid, uint64_t now_ns);
/* One of its connections had ended before it was taken in. */
void gs_core_came_and_went(struct gs_core *core, uid_t uid, uint64_t now_ns);
/* A call on one of its sockets, or a wake-up of one of its threads, has taken long. */
void gs_core_was_slow(struct gs_core *core, uid_t uid, uint64_t now_ns);
/* Null: out of memory. */
struct gs_session *gs_core_connect(struct gs_core *core, void *conn, const struct gs_peer *peer, uint64_t now_ns);
/* Its executable is known now: before a hello that goes by it. */
void gs_core_name(struct gs_session *s, const char *exe);
/* It is about to be disconnected: reads a piece of what it has recorded. False: there is no more. */
bool gs_core_hear_out(struct gs_session *s, uint64_t now_ns);
void gs_core_disconnect(struct gs_session *s, uint64_t now_ns);
/* Its process has the priority that was said last; -errno: not all of its threads have. */
void gs_core_has_priority(struct gs_session *s, int err, uint64_t now_ns);
/* Is it root, the daemon's own user, or one whom the config names as a task's? */
bool gs_core_has_task_of(const struct gs_core *core, uid_t uid);
/* The users whom the config names, each once, but root and the daemon's own: n of them, at most `most`. */
unsigned gs_core_users_named(const struct gs_core *core, uid_t *uid, unsigned most);

/* A message as it came, of any length and content. 0; -EPROTO: it made no sense, or the session has no place here: end
 * the connection (what is to be said has been sent). */
int gs_core_message(struct gs_session *s, const void *bytes, size_t n, uint64_t now_ns);
bool gs_core_joined(const struct gs_session *s);
/* Tasks of the config that are more urgent than the one it runs as; -1: it is none. Only if it has joined. */
int gs_core_tasks_above(const struct gs_session *s);
bool gs_core_waits(const struct gs_session *s);   /* to join or to be answered */
bool gs_core_asks(const struct gs_session *s);    /* waits to be answered */
bool gs_core_refused(const struct gs_session *s); /* end the connection, as above */

/* An analysis is done. */
void gs_core_answered(struct gs_core *core, struct gs_question *q, uint64_t now_ns);

/* Is there something to do that nobody waits for as for a grant? `work` does a little of it. */
enum gs_work {
    GS_WORK_JOINS,  /* somebody who has waited for an analysis joins, is refused or answered, or all hear of a decision
                     */
    GS_WORK_ANSWERS /* a piece of the state; and of what a session has recorded, or threads that get a priority */
};
bool gs_core_has_work(const struct gs_core *core, enum gs_work what);
void gs_core_work(struct gs_core *core, enum gs_work what, uint64_t now_ns);

/* Adds what of the config this core can't be given, now or ever, to the mistakes. 0; -EINVAL: something; -ENOMEM. */
int gs_core_fits(const struct gs_core *core, const struct gs_config *config, struct gs_mistakes *mistakes);

/* The daemon ends, and all will be disconnected. Tasks go on, but not before all others for the CPUs where nobody
 * schedules them; and nothing more is decided. */
void gs_core_end(struct gs_core *core);

/* By the last decision deadlines may be missed: why; null: they are all met, as far as is known. */
const char *gs_core_worry(const struct gs_core *core);

/* The config wants a daemon that is awake when a unit comes back that others wait for: yes, or where there are
 * processors to spare. */
bool gs_core_stays_awake(const struct gs_core *core, unsigned processors);

/* The next time at which such a unit will probably come back. False: nothing can be said. */
bool gs_core_foretell(const struct gs_core *core, uint64_t now_ns, uint64_t *from_ns, uint64_t *until_ns);

/* Looks at what the holders' pages say of units that others wait for: who has given one back is heard of though its
 * message is still to be read. True: there are such units still. */
bool gs_core_look(struct gs_core *core, uint64_t now_ns);

/* When gs_core_tick is next needed, UINT64_MAX: not before something else happens. */
uint64_t gs_core_next_tick(const struct gs_core *core);
void gs_core_tick(struct gs_core *core, uint64_t now_ns);

/* The state as JSON text; the caller frees it. Null: out of memory. docs/daemon.md lists the fields. */
char *gs_core_status(struct gs_core *core, uint64_t now_ns);

#endif
