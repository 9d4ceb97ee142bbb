/* SPDX-License-Identifier: MIT */
/* An application's side of the daemon: asks for the link and the GPUs, unit by unit, and waits for its turn.
 *
 * One client per process, used by any thread. A unit is one chunk of work on one resource (common/wire.h numbers
 * these): a transfer of `transfer_chunk` bytes on the link, or `kernel_chunk` work-groups per compute unit on a GPU.
 * Take a unit when the command *could run now* (all that the command depends on is done, or queued before on the same
 * device), enqueue the command, and release the unit when the device is done, from any thread or callback. A unit must
 * not wait for another unit, or two applications could wait for each other until the daemon's watchdog takes a unit
 * back. A client may hold `depth` units of one resource (normally two: one runs, one stands behind). A launch over
 * several GPUs takes one unit per GPU, each by itself.
 *
 * Without a daemon every call works and grants at once. The client joins by itself when a daemon comes, and goes on
 * unscheduled when the daemon dies. Nothing here prints, exits, or waits for the dead. Links with libc and pthreads
 * alone. */
#ifndef GS_COMMON_CLIENT_CLIENT_H
#define GS_COMMON_CLIENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire.h"

struct gs_client;

struct gs_client_options {
    const char *socket;     /* null: $GPUSPARC_SOCKET, else /run/gpusparc.sock, else $XDG_RUNTIME_DIR/gpusparc.sock */
    const char *task;       /* null: the daemon matches the executable's path */
    bool no_task;           /* below all tasks, whatever the path matches */
    bool wide;              /* connected alone, it has larger units, and more of them out */
    bool paced;             /* jobs are held back until their releases */
    uint32_t jobs;          /* jobs that the process has done already */
    unsigned gpus;          /* GPUs in the application's device group */
    unsigned hello_wait_ms; /* how long open may wait for a daemon that is there to answer; 0: 200 */
    /* A sentence for the application's user, from any thread; may be null. `level` is an enum gs_notice_level, or
     * GS_NOTICE_NO_TASK: the process doesn't run (any more) as the task that was wanted. The text says what it runs as
     * now, and is empty if that has been said. */
    void (*notice)(void *arg, int level, const char *text);
    void *arg;
};

enum { GS_NOTICE_NO_TASK = 100 };

/* A held unit. Plain data: copy as needed, release once. */
struct gs_grant {
    uint32_t resource;   /* which resource */
    uint32_t client;     /* the daemon's number for this connection; 0: granted without a daemon */
    uint32_t generation; /* of the unit's lease */
    bool asked;          /* granted by a request */
    bool alone;          /* held for a whole measurement, or granted to the only client: the time is no unit's length */
    bool piece;          /* taken for a piece */
    uint64_t begin_ns;   /* when taken, CLOCK_MONOTONIC */
};

/* A request under way. Plain data; only `open` may be looked at. */
struct gs_request {
    bool open; /* still to be waited for, or cancelled */
    bool held; /* the unit is here already: `grant` */
    bool sent; /* waits in the daemon's queue, in `slot` */
    bool alone;
    uint32_t client, slot, serial, resource;
    uint64_t cost_ns;
    struct gs_grant grant;
};

/* What the daemon has told this client. */
struct gs_client_mode {
    bool scheduled;          /* a daemon is there */
    unsigned gpus;           /* GPUs that the task may use at a time; without a daemon all of the group */
    uint32_t gpu_mask;       /* exactly these GPUs if gpus > 1; any one of these if it is 1 */
    uint32_t kernel_chunk;   /* work-groups per compute unit and unit of GPU; 0: don't cut (no daemon) */
    uint64_t transfer_chunk; /* bytes per unit of the link; 0: don't cut (no daemon) */
    uint32_t depth;          /* units of one resource that may be held at a time */
    int32_t priority;        /* larger is more urgent; 0: an application without a task */
    uint64_t period_ns;      /* of the task; 0: none */
    uint32_t warmup;         /* so many first jobs of the process are its warm-up, and count for nothing */
    bool chooses;            /* the daemon chooses the number of GPUs, so a warm-up should see one GPU and all */
    bool moves;              /* with one GPU of several: each job begins on another GPU than the last */
    unsigned refused;        /* why the process isn't the task that was wanted (enum gs_refusal), or 0 */
    char task[GS_WIRE_NAME]; /* empty: none */
};

/* Makes the client and tries to join. 0 also without a daemon (yet), or if the daemon refused; -ENOMEM, -EAGAIN (no
 * thread), -EINVAL (gpus is 0 or above GS_MAX_GPUS, or a task's name is too long). The caller closes *out. Copies the
 * options. */
int gs_client_open(struct gs_client **out, const struct gs_client_options *options);

/* Leaves the daemon: every unit held goes back. No other thread may be inside a call, or make one after. */
void gs_client_close(struct gs_client *c);

/* Takes a unit if that needs no waiting and no message, since nobody else wants the resource. 0, -EAGAIN, or -EINVAL.
 * Some 50 ns. A piece is moved by one command, and takes less than a chunk of a kernel. While nobody else has wanted
 * the resource for a while, as many pieces may be out as units, beside the units, so that kernels enqueued behind
 * pieces don't wait. A `wide` client that is connected alone may have sixteen times as many units out, but of unknown
 * length only the usual number. */
enum gs_length { GS_LENGTH_UNKNOWN, GS_LENGTH_UNIT, GS_LENGTH_PIECE };
int gs_client_try(struct gs_client *c, unsigned resource, enum gs_length length, struct gs_grant *grant);

/* Is this client `wide`, and no other connected? One load. */
bool gs_client_is_sole(const struct gs_client *c);

/* Does this client hold all units of the resource that it may have, of that length, while nobody else wants any? One
 * load. */
bool gs_client_own_out(const struct gs_client *c, unsigned resource, enum gs_length length);

/* Does a thread of this process sleep until one of this client's units is given back? One load. */
bool gs_client_own_waits(const struct gs_client *c, unsigned resource);

/* Sleeps, ns at most, until a thread here or in another process waits for units of this client, or gs_client_need_ends
 * is called. Doesn't sleep where `also` says true. One thread at a time. */
void gs_client_sleep_unneeded(struct gs_client *c, bool (*also)(void), uint64_t ns);
void gs_client_need_ends(struct gs_client *c);

/* Is the resource leased to this client, and not wanted by others for 0.1 s? False if that isn't known. */
bool gs_client_is_alone(const struct gs_client *c, unsigned resource);

/* Does another client wait for a resource of which this one has units out? One load per resource. */
bool gs_client_wanted(const struct gs_client *c);

/* Takes a unit, waiting its turn as long as need be. 0; -EINVAL: no such resource. cost_ns: the unit's expected time, 0
 * if unknown; fair sharing charges that until the true time is known. */
int gs_client_acquire(struct gs_client *c, unsigned resource, uint64_t cost_ns, struct gs_grant *grant);

/* gs_client_acquire in two steps; several requests may be open at once, and be served in any order. `request` sends a
 * request, and may hold the unit on return. `wait` ends the request with 0, or leaves it open with -ETIMEDOUT after
 * timeout_ns (UINT64_MAX: never; 0: only look). `cancel` gives the request up; true: the unit had been granted, and is
 * the caller's, or is given back if `grant` is null. -EBUSY: GS_MAX_SLOTS requests are open. */
int gs_client_request(struct gs_client *c, unsigned resource, uint64_t cost_ns, struct gs_request *request);
int gs_client_wait(struct gs_client *c, struct gs_request *request, uint64_t timeout_ns, struct gs_grant *grant);
bool gs_client_cancel(struct gs_client *c, struct gs_request *request, struct gs_grant *grant);

/* Requests a resource for a whole measurement, to be waited for or cancelled as above. The daemon grants it once no
 * task is there (a notice says so if one is), and holds others off meanwhile. `wait` returns -EPERM if this user may
 * not measure. */
int gs_client_request_alone(struct gs_client *c, unsigned resource, struct gs_request *request);

/* Tells the daemon that the measurement goes on; to be called more often than the watchdog's time. 0: go on (also
 * without a daemon). -EAGAIN: a task has come, release the grant as soon as possible. -ENOENT: the grant is gone (by
 * the watchdog, or a daemon has died or come), ask again. */
int gs_client_renew(struct gs_client *c, const struct gs_grant *grant);

/* Gives the unit back. Never waits; safe in an OpenCL event callback. Units that the watchdog has taken back, or that a
 * dead daemon had granted, are ignored. */
void gs_client_release(struct gs_client *c, const struct gs_grant *grant);

/* The task's job begins (its first command after the last job ended, or the time of its release if it is paced:
 * release_ns, 0 for now) and ends (its results have been read: end_ns, 0 for now). `begin` gives the mode for the whole
 * job: a change takes effect at the next one. Two begins without an end count as one job.
 *
 * Most ends take no message (3 to 6 us): they are recorded in the page. It does for those of a warm-up, for one that
 * has used more of a resource than any before, while there is a trace, when a quarter of the record is new, and every
 * 20 ms. */
void gs_client_job_begin(struct gs_client *c, uint64_t release_ns, struct gs_client_mode *mode);
void gs_client_job_end(struct gs_client *c, uint64_t end_ns);

/* Is a daemon there? One load. */
bool gs_client_scheduled(const struct gs_client *c);

/* The daemon's present mode: for the next job, or at once for an application without jobs. */
void gs_client_mode(struct gs_client *c, struct gs_client_mode *mode);

/* The GPU in the mask of which the client would get a unit first if it asked now; among equals the last one used. Takes
 * no unit. Costs a message and its answer, unless that GPU is leased to the client and nobody else wants it. */
unsigned gs_client_choose(struct gs_client *c, uint32_t gpus);

/* The process's memory objects take so many bytes more (or fewer) on a GPU, for the daemon's status. */
void gs_client_memory(struct gs_client *c, unsigned gpu, int64_t bytes);

/* For tools: sends one STATUS, RELOAD or PLAN message and waits for the answer at most timeout_ms.
 * 0 and *text (the caller frees it: JSON for STATUS and PLAN, a sentence for RELOAD); the daemon's -errno with its
 * reason in *text; or -ENOENT / -ECONNREFUSED (no daemon there), -ENAMETOOLONG (of the socket), -EACCES, -ETIMEDOUT,
 * -EPROTO with *text null. */
int gs_client_ask(const char *socket, enum gs_msg_type what, const char *name, unsigned timeout_ms, char **text);
/* gs_client_ask, and whose daemon has answered, by the kernel's word; -1: unknown. */
int gs_client_ask_whose(const char *socket, enum gs_msg_type what, const char *name, unsigned timeout_ms, char **text,
                        uid_t *uid);

/* gs_client_ask for GS_MSG_SET; *text is a sentence. */
int gs_client_set(const char *socket, const struct gs_msg_set *set, unsigned timeout_ms, char **text);

/* The path that a null `socket` means for a client: the first of the candidates that exists, else the first. */
void gs_client_socket_path(char *path, unsigned bytes);

#endif
