/* SPDX-License-Identifier: MIT */
/* What the files of the core share: core.c (start, end, config, what is done in turn), messages.c (what clients say),
 * join.c, tell.c (what is said to them), effects.c (leases), jobs.c (accounting), members.c (tasks and modes),
 * status.c.
 */
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
    GS_WAITS_AS_TASK, /* it is here already: a new config has a task for it */
    GS_WAITS_FOR_PLAN,
    GS_WAITS_FOR_STATUS, /* in gs_core.asking */
    GS_WAITS_FOR_RELOAD  /* the new config is in force, and the answer says what was decided */
};

struct gs_session {
    struct gs_core *core;
    void *conn;
    uid_t uid;
    pid_t pid;
    struct gs_msg_hello hello; /* what it has said it is: a config that is read later may have a task for it */
    char *exe;                 /* owned; empty: not known */
    uint64_t since_ns;
    enum gs_waits waits;
    TAILQ_ENTRY(gs_session) waiting;
    uint64_t told_to_wait_ns;
    char *waits_text; /* owned: the task to plan, or what to answer to a reload */
    bool refused;     /* its connection is to end */

    bool joined; /* all below counts only then */
    TAILQ_ENTRY(gs_session) present;
    TAILQ_ENTRY(gs_session) unwelcomed;
    int page_fd; /* until it is welcome; -1 */
    /* Beside `present`: at a decision all are asked for it. */
    const struct gs_config_task *task; /* in core->config; null: no task, or degraded */
    bool degraded;                     /* a task that runs below all tasks, so that the others meet their deadlines */
    bool is_behind;                    /* it is in core->behind */
    TAILQ_ENTRY(gs_session) behind;
    unsigned last_words;        /* pieces of its records that may be read still, once it leaves */
    struct gs_msg_welcome said; /* what it was told last of itself; `client` is 0: nothing yet */
    uint32_t index;             /* the policy's number, and the place in core->session */
    uint32_t number;            /* the number on the wire, never used again */
    struct gs_lease_side lease;
    struct gs_told told;          /* what the page says */
    unsigned gpus_max;            /* GPUs in the application's group, as far as the daemon has them too */
    char task_name[GS_WIRE_NAME]; /* empty: none */
    int cpu_priority, cpu_wanted; /* as told to `realtime`, ... */
    uint64_t realtime_ns;         /* ... and when; and as it is to be */
    bool told_of_priority;        /* that it can't be given it: the log has it */
    uint32_t warmup;              /* so many jobs of the process, from its first, count for nothing */
    uint32_t warmup_left;         /* ... are still to come */
    struct gs_member member;      /* the last decision about it */
    struct gs_rhythm rhythm[GS_MAX_RESOURCES];
    uint64_t taken_back;                     /* units that the watchdog took */
    uint32_t records_read;                   /* of the page's unit records */
    uint64_t told_busy_ns[GS_MAX_RESOURCES]; /* what has been believed so far of the page's busy_ns */
    uint32_t jobs_read, jobs_watched;        /* of the page's job records; so many units have been counted */
    bool told_of_lost_jobs;                  /* the log has it, once for each process */
    unsigned job_gpus;                       /* GPUs that the last job had; 0: not known */
    uint64_t job_end_ns;                     /* when it ended; 0: there was none */
    uint64_t leased_ns[GS_MAX_RESOURCES];    /* leases that have ended, in all, ... */
    uint64_t lease_ns[GS_MAX_RESOURCES];     /* ... and since when it has the one that there is; 0: none */
    uint64_t believed_ns[GS_RESOURCES];      /* of what was leased its jobs have said that they used it */
    uint64_t granted[GS_MAX_RESOURCES];      /* units by request */
    uint64_t units_seen[GS_MAX_RESOURCES];   /* these and those taken, when its jobs were last read */
    struct gs_demand lately, before;         /* its jobs' overruns, since the core last forgot some, and before that */
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
    int64_t chunks[GS_RESOURCES];  /* the most chunks of a job that were said to be too many */
};

/* A whole state. Once it is among the last ones no more, it is empty, whoever has it still: however many ask, and
 * whatever they do with the answers, these take no more memory than that. */
enum { GS_STATUS_FILES = 16 };
struct gs_status_file {
    int file; /* 0: there is none */
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
    struct gs_present present;   /* the same in the order in which they have joined: the policy's among equals */
    unsigned n_sessions;
    struct gs_behind behind;         /* who has more records to be read, or is to have another processor priority */
    struct gs_unwelcomed unwelcomed; /* who has joined, and is to have its processor priority first */
    uint32_t next_number;
    struct gs_task_stats **stats;
    size_t n_stats;
    struct gs_trace *trace;
    uint64_t started_ns, now_ns;        /* now_ns: of the call under way, for the policy's callbacks */
    uint64_t busy_ns[GS_MAX_RESOURCES]; /* of all clients */
    uint64_t taken[GS_MAX_RESOURCES];   /* units taken without asking, of clients that have left */
    int64_t unit_ns[GS_RESOURCES]; /* the longest unit that was said to be too long, of applications without a task */
    uint64_t bad_messages, refused, taken_back, reloads;
    struct gs_users users;
    struct gs_decider *decider;
    struct gs_waiting waiting;
    struct gs_decision decision; /* the last one, which stands while `undecided` */
    bool undecided;
    const char
        *since; /* what those are told has changed whose deadlines may be missed by the next one; null: nothing */
    const char *met_again; /* a line for the log if by the next one they are met; null: none */
    uint64_t decided_ns, decisions;
    uint64_t forget_ns; /* when overruns from before are next forgotten; UINT64_MAX: there are none */
    struct gs_status_file status[GS_STATUS_FILES]; /* the last ones, which all share who have asked before ... */
    unsigned status_made;                          /* ... each was begun; so many have been made */
    uid_t answered;           /* a user of those who asked; the next answer is another one's, if another one asks */
    struct gs_report *report; /* the next one; null: nobody has asked */
    struct gs_waiting asking; /* for the state */
    unsigned overtaken;       /* so often somebody has gone on who is to be a task, since it is undecided */
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

/* tell.c. At most some lines a second, so that nobody can fill the disk with them. */
void gs_core_log(struct gs_core *core, bool warning, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* What a session's user can bring about at will: a quarter of these lines at most, and all users' three quarters. */
void gs_core_log_of(struct gs_session *s, bool warning, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void gs_core_notice(struct gs_session *s, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int gs_core_refuse(struct gs_session *s, int why, const char *text);
void gs_core_answer(struct gs_session *s, int err, const char *text);
/* The answer is in that file, which stays the caller's. */
void gs_core_answer_file(struct gs_session *s, int fd, size_t bytes);

/* effects.c */
extern const struct gs_policy_ops gs_core_policy_ops; /* their context is the core */

/* core.c */
/* Records of a page that are read in one piece: a grant waits for it. */
enum { GS_RECORDS_AT_ONCE = 16 };
/* There is something about the session that is done in its turn, a piece at a time. */
void gs_core_fall_behind(struct gs_session *s);
/* All of that, where the core analyses by itself: then it does all at once. */
void gs_core_help_at_once(struct gs_core *core);
/* Who is connected alone is told so. */
void gs_core_tell_sole(struct gs_core *core);
/* What the page says of the units that are out, if the session holds the resource. */
void gs_core_look_at(struct gs_session *s, unsigned resource);

/* join.c */
/* It joins as the task that it has been admitted as, or as none. 0 or -EPROTO: refused. */
int gs_core_join(struct gs_session *s);
/* It hears that it has joined, if it hasn't yet. */
void gs_core_welcome(struct gs_session *s);
/* It needn't hear that any more. */
void gs_core_forget_page(struct gs_session *s);
/* Tells a client that has been welcomed what has changed of its task since. */
void gs_core_tell_task(struct gs_session *s);

/* messages.c */
void gs_core_answer_reload(struct gs_session *s, int err, const char *text);

/* members.c */
/* Finds what task the session is. 0: session->task_name and *task are set (to none too); otherwise an enum gs_refusal,
 * with the reason. */
int gs_members_identify(struct gs_session *s, const struct gs_config_task **task, char *why, size_t bytes);
/* Decides anew over all present, and tells each client what has changed for it: now, or when the analysis is done. If
 * deadlines may then be missed, and core->since says what has changed, the log and those whose they are hear of it. */
void gs_members_decide(struct gs_core *core);
/* The session goes on when it is decided: now, or by gs_members_go_on. */
void gs_members_wait(struct gs_session *s, enum gs_waits what);
void gs_members_wait_no_more(struct gs_session *s);
/* How many of the user's sessions wait for this. */
unsigned gs_members_count_waiting(const struct gs_core *core, uid_t uid, enum gs_waits what);
/* Goes on with one thing that waits for an analysis, if none is under way; at once: with all, if the core analyses by
 * itself. */
bool gs_members_may_go_on(const struct gs_core *core);
void gs_members_go_on(struct gs_core *core);
void gs_members_go_on_at_once(struct gs_core *core);
/* Who waits to join is told so now and then, and so knows that the daemon is alive. UINT64_MAX: nobody waits. */
uint64_t gs_members_next_tick(const struct gs_core *core);
void gs_members_tick(struct gs_core *core);
/* The session has just come in: a task changes what all tasks get, another application only hears what it gets itself.
 */
void gs_members_settle(struct gs_session *s);
/* The session's warm-up is over. */
void gs_members_warm(struct gs_session *s);
/* Its processor priority, unless it warms up or the config says no; 0: none. It gets it in its turn, or now. */
void gs_members_want_realtime(struct gs_session *s, int priority);
bool gs_members_set_realtime(struct gs_session *s); /* true: gs_core_has_priority tells when it has it */
void gs_members_see_realtime(struct gs_session *s, int err);
/* Is it time for threads that the task has made since to get it too? */
bool gs_members_may_renew_realtime(const struct gs_session *s);
/* How many jobs of the process are its warm-up, as the config says of its task, or by default. */
uint32_t gs_members_warmup(const struct gs_session *s, const struct gs_config_task *task, bool paced);
/* After a new config: the sessions' tasks are looked up again. Those that are to become tasks wait. */
void gs_members_relink(struct gs_core *core);

/* What would be decided if the config's tasks were `tasks`, and the one with that index were present: at once, in this
 * thread. 0 or -ENOMEM. */
int gs_members_try(const struct gs_core *core, const struct gs_config_task *tasks, size_t with,
                   struct gs_decision *decision);

/* change.c */
/* Changes a task, unless the analysis says that deadlines could be missed, which were met before. 0, with what is so
 * now; -ENOENT, -EINVAL, -EDOM (the analysis) with a sentence, -ENOMEM. Lasts until the config is read again. */
int gs_members_change(struct gs_core *core, const struct gs_msg_set *m, char *text, size_t bytes);

/* status.c. The state is put together a piece at a time, so that a grant waits for a piece at most: however many
 * clients and requests there are. `work` does one, or answers one session. */
void gs_status_ask(struct gs_session *s);
bool gs_status_has_work(const struct gs_core *core);
void gs_status_work(struct gs_core *core);
void gs_status_free(struct gs_core *core);

/* jobs.c */
/* Reads some of the page's job records into the statistics; decides anew where jobs have used more than the analysis
 * knows. True: there are more. */
bool gs_jobs_read(struct gs_session *s);
void gs_jobs_read_all(struct gs_core *core);
/* What the jobs of the session, which is no more among core->session, have used beyond their segments counts no more,
 * unless the config says so. */
void gs_jobs_forget_process(struct gs_session *s);
/* At core->forget_ns: the same of what is longer ago than the config says; decides anew. */
void gs_jobs_forget_old(struct gs_core *core);
/* Believes what the page says of its use of the resources, as far as it can be true. */
void gs_jobs_collect_usage(struct gs_session *s);
/* Units that it says it has taken without asking, as far as it can have. */
uint64_t gs_jobs_taken(const struct gs_session *s, unsigned resource);
/* Looks whether the session's units have lasted longer than the config says, and so the analysis believes. */
void gs_jobs_watch_units(struct gs_session *s);
/* Reads some of the page's unit records into the trace. True: there are more. */
bool gs_jobs_drain(struct gs_session *s);
/* The session ends: what it has out comes into the trace, of a resource as one unit, from when it last had none. */
void gs_jobs_trace_units_out(const struct gs_session *s);
struct gs_task_stats *gs_jobs_stats(const struct gs_core *core, const char *name); /* null: none yet, or no memory */

#endif
