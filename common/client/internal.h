/* SPDX-License-Identifier: MIT */
/* What the client's own files share. */
#ifndef GS_COMMON_CLIENT_INTERNAL_H
#define GS_COMMON_CLIENT_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "common/client/client.h"

#define GS_SOCKET_PATH_BYTES 108 /* of sockaddr_un */

/* A descriptor of ours, and how to recognize it. */
struct gs_descriptor {
    _Atomic int fd;
    _Atomic uint64_t inode; /* 0: none */
};

struct gs_client {
    struct gs_client *next; /* all clients of the process, for fork; guarded by the list's lock in connection.c */
    pid_t pid;              /* of the process that opened it: a child after fork has no listener */

    /* GS_PAGE_BYTES at one address for the client's whole life: zeros while there is no daemon, else the page shared
     * with the daemon. So a thread may read and change the page at any time without a lock. A write that was meant for
     * a dead daemon meets other generations in the next page, and changes nothing. */
    struct gs_page *page;
    _Atomic uint32_t online; /* the daemon's number for this connection; 0: none. Cleared before the page goes. */
    /* The application may close or replace any descriptor at any time, so each is checked before use. */
    struct gs_descriptor
        socket_fd;                /* one number as long as the application leaves it there: sockets are put under it */
    struct gs_descriptor dead_fd; /* what lies under it while there is no daemon: sends fail */
    struct gs_descriptor wake[2]; /* a pair: the listener hears of what is sent on [1], and of its being closed */

    _Atomic uint64_t slots_used; /* a bit per slot */
    _Atomic uint32_t serial;
    _Atomic uint32_t last_gpu; /* whose unit was granted last, where a task with one GPU has its data; at first 0 */
    _Atomic uint32_t depth;
    _Atomic uint32_t known;                       /* mask of the resources that the daemon schedules */
    _Atomic uint64_t wanted_ns[GS_MAX_RESOURCES]; /* when a unit went back that somebody else waited for; 0: never */
    _Atomic int64_t memory[GS_MAX_GPUS];          /* bytes on each GPU, for the page of any daemon */
    _Atomic uint32_t pieces[GS_MAX_RESOURCES];    /* units out that are pieces */
    _Atomic uint32_t looks; /* resources whose LOOK did not fit into the socket: the listener sends it */
    _Atomic bool stopping;

    pthread_t listener;
    sem_t opened;                  /* posted when the daemon has first been asked: the listener waits for that */
    pthread_mutex_t leaving;       /* taken before `lock`: one thread at a time finds out that the daemon is lost */
    pthread_mutex_t lock;          /* protects what stands from here to the options */
    struct gs_msg_welcome welcome; /* of the connection that is or was */
    unsigned refused;
    bool job_open;
    uint64_t job_release_ns;
    uint32_t job_gpus;               /* that it was told */
    uint32_t jobs;                   /* of the process, that have ended */
    uint64_t job_told_ns;            /* when the daemon was last told of records, ... */
    uint64_t job_pci_ns, job_gpu_ns; /* ... the most that a job with so many GPUs has used, ... */
    uint32_t job_used_gpus;
    uint64_t job_busy_ns[GS_MAX_RESOURCES]; /* ... and what the page had counted when the last one ended */

    /* The options, copied. */
    char socket[GS_SOCKET_PATH_BYTES]; /* empty: the usual places */
    char task[GS_WIRE_NAME];
    bool no_task, paced, wide;
    unsigned gpus;
    unsigned hello_wait_ms;
    void (*notice)(void *arg, int level, const char *text);
    void *arg;

    /* The listener's own; before it runs, of who opens the client. */
    bool listening;               /* it runs, and joins if anybody does */
    bool joined;                  /* and hasn't said that the daemon has gone since */
    bool task_lost;               /* it has been said that the process isn't the task that it was to be */
    char told[GS_WIRE_TEXT + 64]; /* what was said last of a join that failed */
};

/* socket.c: one message each. 0 or -errno. */
void gs_msg_init(struct gs_msg *m, enum gs_msg_type type);
/* A copy of fd with a high number: applications expect to get the low ones, and put things there. -errno. */
int gs_copy_up(int fd);
/* To the daemon's socket there: by root's own, where there is one and this process may. */
int gs_socket_connect(const char *path, bool check_owner, int *fd);
int gs_socket_send(int fd, const struct gs_msg *m, int flags);
/* Waits at most timeout_ms (-1: for ever). *passed gets an attached descriptor or -1 and is the caller's. -ECONNRESET:
 * the other side is gone. -EPROTO: not a message of this version. */
int gs_socket_receive(int fd, struct gs_msg *m, int *passed, int timeout_ms);
/* The places where a daemon's socket may be, in the order to try. Returns how many, at most 2. `given` may be empty. */
int gs_socket_candidates(const char *given, char paths[2][GS_SOCKET_PATH_BYTES]);

/* connection.c */
bool gs_descriptor_is_ours(const struct gs_descriptor *d);
/* The connection with this number can't be used any more: all go on without it. Another thread may have found out
 * before. */
void gs_connection_lost(struct gs_client *c, uint32_t client);
void gs_connection_wake(struct gs_client *c); /* the listener has something to do */
int gs_connection_send(struct gs_client *c, const struct gs_msg *m, int timeout_ms); /* 0, or -errno: not sent */
int gs_connection_start(struct gs_client *c); /* tries to join once, then starts the listener */
void gs_connection_stop(struct gs_client *c);

uint64_t gs_client_now_ns(void);
void gs_futex_wake_all(_Atomic uint32_t *word);

#endif
