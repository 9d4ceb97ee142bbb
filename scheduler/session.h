/* SPDX-License-Identifier: MIT */
/* What the core's files share: core.c (start, end, config, work in turns), messages.c (clients' messages), join.c,
 * tell.c (messages to clients), effects.c (leases), jobs.c (accounting), members.c (tasks and modes), status.c. */
#ifndef GS_SCHEDULER_SESSION_H
#define GS_SCHEDULER_SESSION_H

#include <sys/queue.h>

#include "scheduler/core.h"
#include "scheduler/decider.h"
#include "scheduler/histogram.h"
#include "scheduler/lease.h"
#include "scheduler/policy.h"
#include "scheduler/rhythm.h"
#include "scheduler/taskset.h"
#include "scheduler/trace.h"
#include "scheduler/users.h"

/* What a session waits for until tasks have been decided on. */
enum gs_waits {
    GS_WAITS_NOT,
    GS_WAITS_TO_JOIN,
    GS_WAITS_AS_TASK, /* has joined already, and a new config has a task for it */
    GS_WAITS_FOR_PLAN,
    GS_WAITS_FOR_STATUS, /* in gs_core.asking */
    GS_WAITS_FOR_RELOAD  /* the new config is in force; the answer tells the decision */
};

struct gs_session {
    struct gs_core *core;
    void *conn;
    uid_t uid;
    pid_t pid;
    struct gs_msg_hello hello; /* as the client said; a later config may have a task for it */
    char *exe;                 /* owned; empty: unknown */
    uint64_t since_ns;
    enum gs_waits waits;
    TAILQ_ENTRY(gs_session) waiting;
    uint64_t told_to_wait_ns;
    char *waits_text; /* owned: the task to plan, or the answer to a reload */
    bool refused;     /* the connection is to end */

    bool joined; /* only then all below counts */
    TAILQ_ENTRY(gs_session) present;
    TAILQ_ENTRY(gs_session) unwelcomed;
    int page_fd; /* until the client is welcomed; -1 */
    /* Beside `present`, since every decision asks all sessions for it. */
    const struct gs_config_task *task; /* in core->config; null: no task, or degraded */
    bool degraded;                     /* a task that runs below all tasks, so that others meet their deadlines */
    bool is_behind;                    /* in core->behind */
    TAILQ_ENTRY(gs_session) behind;
    unsigned last_words;        /* pieces of its records that may still be read once it leaves */
    struct gs_msg_welcome said; /* the last welcome, or task message; `client` 0: none yet */
    uint32_t index;             /* the policy's number, and the place in core->session */
    uint32_t number;            /* the number on the wire, never used again */
    struct gs_lease_side lease;
    struct gs_told told;          /* what the page says */
    unsigned gpus_max;            /* GPUs in the application's group that the daemon has, too */
    char task_name[GS_WIRE_NAME]; /* empty: none */
    int cpu_priority, cpu_wanted; /* as told to `realtime`; and as it should be */
    uint64_t realtime_ns;         /* ... and when; and as it is to be */
    bool told_of_priority;        /* the log has it that the priority can't be given */
    uint32_t warmup;              /* so many first jobs of the process count for nothing */
    uint32_t warmup_left;         /* so many of these are still to come */
    struct gs_member member;      /* the last decision about this session */
    struct gs_rhythm rhythm[GS_MAX_RESOURCES];
    uint64_t taken_back;                     /* units that the watchdog took back */
    uint32_t records_read;                   /* of the page's unit records */
    uint64_t told_busy_ns[GS_MAX_RESOURCES]; /* so much of the page's busy_ns was believed so far */
    uint32_t jobs_read, jobs_watched;        /* of the page's job records; jobs whose units were counted */
    bool told_of_lost_jobs;                  /* the log has it, once for each process */
    unsigned job_gpus;                       /* GPUs of the last job; 0: unknown */
    uint64_t job_end_ns;                     /* the last job's end; 0: none */
    uint64_t leased_ns[GS_MAX_RESOURCES];    /* of ended leases, in all */
    uint64_t lease_ns[GS_MAX_RESOURCES];     /* begin of the present lease; 0: none */
    uint64_t believed_ns[GS_RESOURCES];      /* so much of the leased time its jobs say that they have used */
    uint64_t granted[GS_MAX_RESOURCES];      /* units granted by request */
    uint64_t units_seen[GS_MAX_RESOURCES];   /* these and units taken, when its jobs were last read */
    struct gs_demand lately, before;         /* its jobs' overruns since the core last forgot some; and those before */
};

/* A task's statistics over all its runs. */
struct gs_task_stats {
    char name[GS_WIRE_NAME];
    uint64_t jobs, misses;
    uint64_t warmup_jobs;      /* not counted in `jobs` */
    uint64_t last_response_ns; /* 0: none yet */
    struct gs_histogram response;
    struct gs_histogram jitter; /* difference of two successive response times (relative finishing jitter) */
    struct gs_demand demand;
    int64_t unit_ns[GS_RESOURCES]; /* the longest unit reported as too long */
    int64_t chunks[GS_RESOURCES];  /* the most chunks of a job reported as too many */
};

/* A file with the daemon's state. Once it isn't among the last ones, the file is emptied, whoever still has it: so
 * answers take no more memory than these files, however many clients ask, and whatever they do with answers. */
enum { GS_STATUS_FILES = 16 };
struct gs_status_file {
    int file; /* 0: none */
    size_t bytes;
    uint64_t begun_ns;
};

TAILQ_HEAD(gs_waiting, gs_session);
TAILQ_HEAD(gs_present, gs_session);
TAILQ_HEAD(gs_behind, gs_session);
TAILQ_HEAD(gs_unwelcomed, gs_session);

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
    struct gs_present present;   /* the same in the order of joining, which is the policy's among equals */
    unsigned n_sessions;
    struct gs_behind behind;         /* who has records left to read, or needs another processor priority */
    struct gs_unwelcomed unwelcomed; /* who has joined, and gets its processor priority first */
    uint32_t next_number;
    struct gs_task_stats **stats;
    size_t n_stats;
    struct gs_trace *trace;
    uint64_t started_ns, now_ns;        /* now_ns: of the call under way, for the policy's callbacks */
    uint64_t busy_ns[GS_MAX_RESOURCES]; /* of all clients */
    uint64_t taken[GS_MAX_RESOURCES];   /* units taken without asking, of clients that have left */
    int64_t unit_ns[GS_RESOURCES];      /* the longest unit of applications without a task reported as too long */
    uint64_t bad_messages, refused, taken_back, reloads;
    struct gs_users users;
    struct gs_decider *decider;
    struct gs_waiting waiting;
    struct gs_decision decision; /* the last one, in force while `undecided` */
    bool undecided;
    const char *since;     /* the change to name if the next decision may miss deadlines; null: none */
    const char *met_again; /* a line for the log if the next decision meets all deadlines; null: none */
    uint64_t decided_ns, decisions;
    uint64_t forget_ns; /* when old overruns are next forgotten; UINT64_MAX: there are none */
    struct gs_status_file status[GS_STATUS_FILES]; /* the last ones, for all who asked before */
    unsigned status_made;                          /* so many were made */
    uid_t answered;           /* the user answered last; the next answer goes to another user, if another asks */
    struct gs_report *report; /* the next file's text; null: nobody has asked */
    struct gs_waiting asking; /* for the state */
    unsigned overtaken;       /* how often, while undecided, sessions went on that are to be tasks */
    uint64_t log_second;
    unsigned log_lines, log_lost; /* in this second */
    struct {
        uid_t uid;
        unsigned lines;
    } log_user[8]; /* in this second; the last one is for all others */
};

static inline struct gs_traced gs_traced(const struct gs_session *s)
{
    return (struct gs_traced){.client = s->number, .uid = s->uid, .pid = s->pid, .task = s->task_name};
}

static inline void gs_msg_init(struct gs_msg *m, enum gs_msg_type type)
{
    *m = (struct gs_msg){.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = (uint16_t)type};
}

/* tell.c. Writes at most some lines a second, so that nobody can fill the disk. */
void gs_core_log(struct gs_core *core, bool warning, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* For events that a session's user can cause at will: a quarter of these lines at most, and three quarters for all
 * users. */
void gs_core_log_of(struct gs_session *s, bool warning, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void gs_core_notice(struct gs_session *s, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int gs_core_refuse(struct gs_session *s, int why, const char *text);
void gs_core_answer(struct gs_session *s, int err, const char *text);
/* The answer is in the file fd, which stays the caller's. */
void gs_core_answer_file(struct gs_session *s, int fd, size_t bytes);

/* effects.c */
extern const struct gs_policy_ops gs_core_policy_ops; /* their context is the core */

/* core.c */
/* So many records of a page are read in one piece, while grants wait. */
enum { GS_RECORDS_AT_ONCE = 16 };
/* The session has work to be done in its turn, a piece at a time. */
void gs_core_fall_behind(struct gs_session *s);
/* Does all such work at once, if the core analyses by itself. */
void gs_core_help_at_once(struct gs_core *core);
/* Tells a client that is connected alone. */
void gs_core_tell_sole(struct gs_core *core);
/* Has the policy look at the units that the page says are out, if the session holds the resource. */
void gs_core_look_at(struct gs_session *s, unsigned resource);

/* join.c */
/* Joins the session as the task that it was admitted as, or as none. 0 or -EPROTO: refused. */
int gs_core_join(struct gs_session *s);
/* Tells the client that it has joined, if it doesn't know yet. */
void gs_core_welcome(struct gs_session *s);
/* The welcome isn't needed any more. */
void gs_core_forget_page(struct gs_session *s);
/* Tells a welcomed client what has changed of its task since. */
void gs_core_tell_task(struct gs_session *s);

/* messages.c */
void gs_core_answer_reload(struct gs_session *s, int err, const char *text);

/* members.c */
/* Finds the session's task. 0: session->task_name and *task are set (perhaps to none); else an enum gs_refusal, with
 * the reason in `why`. */
int gs_members_identify(struct gs_session *s, const struct gs_config_task **task, char *why, size_t bytes);
/* Decides anew over all present sessions, and tells each client what has changed: now, or once the analysis is done. If
 * deadlines may then be missed and core->since names the change, tells the log and the owners of these deadlines. */
void gs_members_decide(struct gs_core *core);
/* The session waits for a decision; gs_members_go_on goes on with it, perhaps at once. */
void gs_members_wait(struct gs_session *s, enum gs_waits what);
void gs_members_wait_no_more(struct gs_session *s);
/* How many of the user's sessions wait for this. */
unsigned gs_members_count_waiting(const struct gs_core *core, uid_t uid, enum gs_waits what);
/* Goes on with one session that waits for an analysis, if no analysis is under way; with all, if the core analyses by
 * itself. */
bool gs_members_may_go_on(const struct gs_core *core);
void gs_members_go_on(struct gs_core *core);
void gs_members_go_on_at_once(struct gs_core *core);
/* Tells sessions that wait to join, now and then, that the daemon is alive. UINT64_MAX: none waits. */
uint64_t gs_members_next_tick(const struct gs_core *core);
void gs_members_tick(struct gs_core *core);
/* The session has just joined: a task changes what all tasks get, another application only hears its own share. */
void gs_members_settle(struct gs_session *s);
/* The session's warm-up is over. */
void gs_members_warm(struct gs_session *s);
/* The session's processor priority, given in its turn or now; 0: none. Not in the warm-up, nor against the config. */
void gs_members_want_realtime(struct gs_session *s, int priority);
bool gs_members_set_realtime(struct gs_session *s); /* true: gs_core_has_priority will be called */
void gs_members_see_realtime(struct gs_session *s, int err);
/* Is it time to give the priority to threads that the task has made since? */
bool gs_members_may_renew_realtime(const struct gs_session *s);
/* The process's number of warm-up jobs: as the config says for the task, or the default. */
uint32_t gs_members_warmup(const struct gs_session *s, const struct gs_config_task *task, bool paced);
/* After a new config: looks up the sessions' tasks again. Sessions that become tasks wait. */
void gs_members_relink(struct gs_core *core);

/* The decision if the config's tasks were `tasks`, and the one with index `with` were present. In this thread. 0 or
 * -ENOMEM. */
int gs_members_try(const struct gs_core *core, const struct gs_config_task *tasks, size_t with,
                   struct gs_decision *decision);

/* change.c */
/* Changes a task, unless deadlines that are met now could then be missed, by the analysis. 0, with the new values in
 * text; -ENOENT, -EINVAL, -EDOM (the analysis) with a sentence; -ENOMEM. Lasts until the config is read again. */
int gs_members_change(struct gs_core *core, const struct gs_msg_set *m, char *text, size_t bytes);

/* status.c. The state is written a piece at a time, so that a grant waits for one piece at most, with any number of
 * clients and requests. `work` writes one piece, or answers one session. */
void gs_status_ask(struct gs_session *s);
bool gs_status_has_work(const struct gs_core *core);
void gs_status_work(struct gs_core *core);
void gs_status_free(struct gs_core *core);

/* jobs.c */
/* Reads some of the page's job records into the statistics. Decides anew if jobs have used more than the analysis
 * knows. True: more are left. */
bool gs_jobs_read(struct gs_session *s);
void gs_jobs_read_all(struct gs_core *core);
/* Forgets the overruns of a session that has left core->session, unless the config says otherwise. */
void gs_jobs_forget_process(struct gs_session *s);
/* At core->forget_ns: forgets overruns older than the config says; decides anew. */
void gs_jobs_forget_old(struct gs_core *core);
/* Takes in the page's figures of resource use, as far as they can be true. */
void gs_jobs_collect_usage(struct gs_session *s);
/* Units that the client says were taken without asking, as far as that can be true. */
uint64_t gs_jobs_taken(const struct gs_session *s, unsigned resource);
/* Checks whether the session's units have lasted longer than the config says, on which the analysis relies. */
void gs_jobs_watch_units(struct gs_session *s);
/* Reads some of the page's unit records into the trace. True: more are left. */
bool gs_jobs_drain(struct gs_session *s);
/* The session ends: its units that are out go into the trace, for each resource as one unit since it last had none
 * out. */
void gs_jobs_trace_units_out(const struct gs_session *s);
struct gs_task_stats *gs_jobs_stats(const struct gs_core *core, const char *name); /* null: none yet, or no memory */

#endif
