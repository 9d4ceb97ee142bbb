/* SPDX-License-Identifier: MIT */
/* An application's side of the daemon: asks for the link and the GPUs, unit by unit, and waits for its turn.
 *
 * One client per process, used by any of its threads. A unit is one chunk of work on one resource (common/wire.h
 * numbers them): a transfer of `transfer_chunk` bytes on the link, a sub-kernel of `kernel_chunk` work-groups per
 * compute unit on a GPU. The order for each unit is: take it when the command *could run now* (what it depends on is
 * done or is queued on the same device before it), enqueue, and release it when the device is done with it, from
 * whichever thread or callback. A unit must not wait for another unit: then two applications could wait for each other
 * until the daemon's watchdog takes one unit back. A client may hold `depth` units of one resource (normally two: one
 * that runs, one behind it). A launch over several GPUs takes one unit per GPU, each by itself, and none waits for the
 * others.
 *
 * Without a daemon every call works and grants at once; the client joins by itself when a daemon comes, and goes on
 * unscheduled when it dies. Nothing here prints, exits, or waits for the dead. Links with libc and pthreads alone. */
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
    bool wide;              /* where it is connected alone it has larger units, and more of them out */
    bool paced;             /* its jobs are held back until their releases */
    uint32_t jobs;          /* that the process has done already */
    unsigned gpus;          /* GPUs in the application's device group */
    unsigned hello_wait_ms; /* how long open may wait for a daemon that is there to answer; 0: 200 */
    /* A sentence for the application's user, from any thread; may be null. `level` is an enum gs_notice_level, or
     * GS_NOTICE_NO_TASK: the process doesn't run as the task that it was to be (any more). The text says what it runs
     * as now; it is empty where that has been said. */
    void (*notice)(void *arg, int level, const char *text);
    void *arg;
};

enum { GS_NOTICE_NO_TASK = 100 };

/* One unit, held. Plain data: copy it where it is needed, release it once. */
struct gs_grant {
    uint32_t resource;   /* which one it is */
    uint32_t client;     /* the daemon's number for the connection that it came by; 0: there was no daemon to ask */
    uint32_t generation; /* of the lease it came from */
    bool asked;          /* it came by a request */
    bool alone;          /* for a whole measurement, or to the only client there was: its time is no unit's length */
    bool piece;          /* it was taken for a piece */
    uint64_t begin_ns;   /* when it was taken, CLOCK_MONOTONIC */
};

/* A request under way. Plain data; `open` may be looked at, the rest is the client's own. */
struct gs_request {
    bool open; /* still to be waited for or cancelled */
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
    unsigned gpus;           /* GPUs that the task may use at a time; all of its group without a daemon */
    uint32_t gpu_mask;       /* which: exactly these if gpus > 1, any one of these if it is 1 */
    uint32_t kernel_chunk;   /* work-groups per compute unit and unit of GPU; 0: don't cut (no daemon) */
    uint64_t transfer_chunk; /* bytes per unit of the link; 0: don't cut (no daemon) */
    uint32_t depth;          /* units of one resource that may be held at a time */
    int32_t priority;        /* larger is more urgent; 0: an application without a task */
    uint64_t period_ns;      /* of the task; 0: it has none */
    uint32_t warmup;         /* so many jobs of the process, from its first, are its warm-up: they count for nothing */
    bool chooses;            /* the daemon chooses the number of GPUs: a warm-up should see one and all of them */
    bool moves;              /* with one GPU of several, each job begins on another one than the last */
    unsigned refused;        /* why it is not the task it wanted to be (enum gs_refusal), or 0 */
    char task[GS_WIRE_NAME]; /* empty: none */
};

/* Makes the client and tries to join. Returns 0 also where there is no daemon (yet), or where it refused; -ENOMEM,
 * -EAGAIN (no thread), -EINVAL (gpus is 0 or above GS_MAX_GPUS, a task's name too long).
 * *out is the caller's, to be closed. The options are copied. */
int gs_client_open(struct gs_client **out, const struct gs_client_options *options);

/* Leaves the daemon: every unit held goes back. No other thread may be inside a call, or make one after. */
void gs_client_close(struct gs_client *c);

/* Takes a unit if that needs no waiting and no message: when nobody else wants the resource. 0, -EAGAIN, or -EINVAL.
 * Some 50 ns. A piece is what is moved by one command, and takes less than a chunk of a kernel: where nobody else has
 * wanted the resource for a while pieces don't count among the units that may be out, up to as many as these are, so
 * that no kernel which is enqueued behind some has to wait. Where no other client is connected, and this one is `wide`,
 * sixteen times as many may be out, but of those of unknown length. */
enum gs_length { GS_LENGTH_UNKNOWN, GS_LENGTH_UNIT, GS_LENGTH_PIECE };
int gs_client_try(struct gs_client *c, unsigned resource, enum gs_length length, struct gs_grant *grant);

/* Is no other client connected, and this one `wide`? One load. */
bool gs_client_is_sole(const struct gs_client *c);

/* Are all units of the resource that this client may hold out, for one of that length, while nobody else wants it? One
 * load. */
bool gs_client_own_out(const struct gs_client *c, unsigned resource, enum gs_length length);

/* Does a thread of this process sleep until one of those units is given back? One load. */
bool gs_client_own_waits(const struct gs_client *c, unsigned resource);

/* Sleeps until somebody, here or in another process, waits for units of this client that are out, or
 * gs_client_need_ends is called; for so long at most. Not where `also` says so. One thread at a time. */
void gs_client_sleep_unneeded(struct gs_client *c, bool (*also)(void), uint64_t ns);
void gs_client_need_ends(struct gs_client *c);

/* Is the resource leased to this client, which nobody else has wanted it from for 0.1 s? Not where that isn't known. */
bool gs_client_is_alone(const struct gs_client *c, unsigned resource);

/* Does somebody else wait for a resource of which this client has units out? A load per resource. */
bool gs_client_wanted(const struct gs_client *c);

/* Takes a unit, waiting for its turn as long as it takes. 0; -EINVAL: there is no such resource.
 * `cost_ns` is how long the unit will probably take, 0 if unknown: fair sharing charges it until the true time is
 * known. */
int gs_client_acquire(struct gs_client *c, unsigned resource, uint64_t cost_ns, struct gs_grant *grant);

/* The same in two steps: several requests may be open at once and served in any order. `request` sends it (and may
 * already hold the unit when it returns), `wait` ends it: 0, or -ETIMEDOUT after timeout_ns (UINT64_MAX: never; 0: only
 * look), and then it stays open. `cancel` ends it otherwise. True: the unit was granted before; it is the caller's, or
 * is given back if `grant` is null. -EBUSY: GS_MAX_SLOTS requests are open already. */
int gs_client_request(struct gs_client *c, unsigned resource, uint64_t cost_ns, struct gs_request *request);
int gs_client_wait(struct gs_client *c, struct gs_request *request, uint64_t timeout_ns, struct gs_grant *grant);
bool gs_client_cancel(struct gs_client *c, struct gs_request *request, struct gs_grant *grant);

/* One resource alone, for a whole measurement: asks for it, to be waited for or cancelled as above. The daemon gives it
 * once no task is there (it says so in a notice if one is), and holds off the others meanwhile. `wait` gives -EPERM
 * where this user may not. */
int gs_client_request_alone(struct gs_client *c, unsigned resource, struct gs_request *request);

/* Tells the daemon that the measurement still goes on: to be called more often than the watchdog's time. 0: go on
 * (without a daemon too); -EAGAIN: a task has come, release the grant as soon as possible; -ENOENT: the grant is no
 * more (the watchdog took it, the daemon has died, or one has come), ask again. */
int gs_client_renew(struct gs_client *c, const struct gs_grant *grant);

/* Gives the unit back. Never waits; safe in an OpenCL event callback. Late is harmless: a unit that the watchdog took
 * back, or that was granted by a daemon that has died, is ignored. */
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

/* What the daemon says now, which counts from the next job on; for an application without jobs, at once. */
void gs_client_mode(struct gs_client *c, struct gs_client_mode *mode);

/* The GPU (0, 1, …) whose unit was granted last: where a task in single-GPU mode has its data. 0 before the first. */
unsigned gs_client_last_gpu(const struct gs_client *c);

/* The resource in the mask, of one GPU or more, of which the client would get a unit first if it asked now; among
 * equals the one used last. No unit is taken. A message and its answer, but where that one is leased to it and nobody
 * else wants it. */
unsigned gs_client_choose(struct gs_client *c, uint32_t gpus);

/* The process's memory objects take so many bytes more on a GPU, or fewer: for the daemon's status. */
void gs_client_memory(struct gs_client *c, unsigned gpu, int64_t bytes);

/* For tools: sends one STATUS, RELOAD or PLAN message and waits for the answer at most timeout_ms.
 * 0 and *text (the caller frees it: JSON for STATUS and PLAN, a sentence for RELOAD); the daemon's -errno with its
 * reason in *text; or -ENOENT / -ECONNREFUSED (no daemon there), -ENAMETOOLONG (of the socket), -EACCES, -ETIMEDOUT,
 * -EPROTO with *text null. */
int gs_client_ask(const char *socket, enum gs_msg_type what, const char *name, unsigned timeout_ms, char **text);
/* The same, and whose daemon has answered, by the kernel's word; -1: it can't be told. */
int gs_client_ask_whose(const char *socket, enum gs_msg_type what, const char *name, unsigned timeout_ms, char **text,
                        uid_t *uid);

/* The same for GS_MSG_SET: a sentence. */
int gs_client_set(const char *socket, const struct gs_msg_set *set, unsigned timeout_ms, char **text);

/* The path that a null `socket` means for a client: the first of the candidates that exists, else the first. */
void gs_client_socket_path(char *path, unsigned bytes);

#endif
