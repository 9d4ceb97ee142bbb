/* SPDX-License-Identifier: MIT */
/* What the files of the core share: core.c (messages), jobs.c (accounting), members.c (tasks and modes), status.c. */
#ifndef GS_SCHEDULER_SESSION_H
#define GS_SCHEDULER_SESSION_H

#include "scheduler/core.h"
#include "scheduler/histogram.h"
#include "scheduler/lease.h"
#include "scheduler/policy.h"
#include "scheduler/rhythm.h"
#include "scheduler/taskset.h"

struct gs_session {
    struct gs_core *core;
    void *conn;
    uid_t uid;
    pid_t pid;
    struct gs_msg_hello hello; /* what it has said it is: a config that is read later may have a task for it */
    char *exe;                 /* owned; empty: not known */
    uint64_t since_ns;

    bool joined;                /* all below counts only then */
    struct gs_msg_welcome said; /* what it was told last of itself; `client` is 0: nothing yet */
    uint32_t index;             /* the policy's number, and the place in core->session */
    uint32_t number;            /* the number on the wire, never used again */
    struct gs_lease_side lease;
    struct gs_told told;               /* what the page says */
    unsigned gpus_max;                 /* GPUs in the application's group, as far as the daemon has them too */
    char task_name[GS_WIRE_NAME];      /* empty: none */
    const struct gs_config_task *task; /* in core->config; null: no task, or degraded */
    int rank;                          /* as told to `realtime` */
    uint32_t warmup;                   /* so many jobs of the process, from its first, count for nothing */
    uint32_t warmup_left;              /* ... are still to come */
    bool degraded;                     /* a task that runs below all tasks, so that the others meet their deadlines */
    struct gs_member member;           /* the last decision about it */
    struct gs_rhythm rhythm[GS_MAX_RESOURCES];
    uint64_t taken_back;                     /* units that the watchdog took */
    uint32_t records_read;                   /* of the page's unit records */
    uint64_t told_busy_ns[GS_MAX_RESOURCES]; /* what has been believed so far of the page's busy_ns */
    uint32_t jobs_read;                      /* of the page's job records */
    unsigned job_gpus;                       /* GPUs that the last job had; 0: not known */
};

/* What is kept of a task over all its runs. */
struct gs_task_stats {
    char name[GS_WIRE_NAME];
    uint64_t jobs, misses;
    uint64_t warmup_jobs;      /* beside them */
    uint64_t last_response_ns; /* 0: none yet */
    struct gs_histogram response;
    struct gs_histogram jitter; /* difference of two successive response times (relative finishing jitter) */
    struct gs_demand demand;
    int64_t unit_ns[GS_RESOURCES]; /* the longest unit that was said to be too long */
};

struct gs_core {
    struct gs_core_options options;
    struct gs_core_ops ops;
    void *ctx;
    struct gs_config config;
    struct gs_owner *owner; /* of each task of the config */
    bool configured, ending;
    unsigned gpus, depth;
    struct gs_policy_state *policy;
    struct gs_session **session; /* max_clients; null: free */
    unsigned n_sessions;
    uint32_t next_number;
    struct gs_task_stats **stats;
    size_t n_stats;
    struct gs_trace *trace;
    uint64_t started_ns, now_ns;        /* now_ns: of the call under way, for the policy's callbacks */
    uint64_t busy_ns[GS_MAX_RESOURCES]; /* of all clients */
    uint64_t taken[GS_MAX_RESOURCES];   /* units taken without asking, of clients that have left */
    int64_t unit_ns[GS_RESOURCES]; /* the longest unit that was said to be too long, of applications without a task */
    uint64_t bad_messages, refused, taken_back, reloads;
    struct gs_decision decision;
    uint64_t decided_ns, decisions;
    char *status; /* the last answer to a user without privileges: they share it for a while */
    uint64_t status_ns;
    uint64_t log_second;
    unsigned log_lines, log_lost; /* in this second */
};

/* core.c. At most some lines a second, so that nobody can fill the disk with them. */
void gs_core_log(struct gs_core *core, bool warning, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void gs_core_notice(struct gs_session *s, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Tells a client that has been welcomed what has changed of its task since. */
void gs_core_tell_task(struct gs_session *s);

/* members.c */
/* Finds what task the session is. 0: session->task_name and *task are set (to none too); otherwise an enum gs_refusal,
 * with the reason. */
int gs_members_identify(struct gs_session *s, const struct gs_config_task **task, char *why, size_t bytes);
/* Takes the task in, as the config's `admission` says. 0: in (perhaps degraded), otherwise an enum gs_refusal. */
int gs_members_admit(struct gs_session *s, const struct gs_config_task *task, char *why, size_t bytes);
/* Decides anew over all present, and tells each client what has changed for it. */
void gs_members_decide(struct gs_core *core);
/* By the decision deadlines may be missed, which no admission has been asked about: says so in the log, and to those
 * whose they are. `since` says what has changed. */
void gs_members_say_late(struct gs_core *core, const char *since);
/* The session has just come in: a task changes what all tasks get, another application only hears what it gets itself.
 */
void gs_members_settle(struct gs_session *s);
/* The session's warm-up is over. */
void gs_members_warm(struct gs_session *s);
/* How many jobs of the process are its warm-up, as the config says of its task, or by default. */
uint32_t gs_members_warmup(const struct gs_session *s, const struct gs_config_task *task, bool paced);
/* After a new config: the sessions' tasks are looked up again. */
void gs_members_relink(struct gs_core *core);
/* What would happen if the task joined now. `text` is JSON, to be freed. 0 or -errno. */
int gs_members_plan(struct gs_core *core, const char *name, char **text);

/* jobs.c */
/* Reads the page's job records into the statistics; decides anew where jobs have used more than the analysis knows. */
void gs_jobs_read(struct gs_session *s);
void gs_jobs_read_all(struct gs_core *core);
/* Believes what the page says of its use of the resources, as far as it can be true. */
void gs_jobs_collect_usage(struct gs_session *s);
/* Looks whether the session's units have lasted longer than the config says, and so the analysis believes. */
void gs_jobs_watch_units(struct gs_session *s);
/* Reads the page's unit records into the trace. */
void gs_jobs_drain(struct gs_session *s);
struct gs_task_stats *gs_jobs_stats(const struct gs_core *core, const char *name); /* null: none yet, or no memory */

#endif
