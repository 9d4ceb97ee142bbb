/* SPDX-License-Identifier: MIT */
/* The socket's file: one daemon per path, and no moment at which it is there but nobody listens. */
#ifndef GS_SCHEDULER_LISTEN_H
#define GS_SCHEDULER_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

/* A socket, and its file: that is removed only if it is still this one. */
struct gs_listening {
    int fd; /* -1: none */
    ino_t inode;
    uid_t uid; /* whose it is, of one's own */
};

enum { GS_OWN_SOCKETS = 64 };

struct gs_listener {
    struct gs_listening all; /* everybody's */
    /* At `path`.UID, which no other user can open, but root: others' connections, which may fill the kernel's line,
     * don't stand before this user's. */
    struct gs_listening own[GS_OWN_SOCKETS];
    int lock_fd; /* held for as long as the daemon lives; the kernel lets go of it if it is killed */
    const char *path;
    bool takes_descriptors; /* the kernel is older than Linux 6.16 */
};

void gs_listener_init(struct gs_listener *l); /* nothing is open */

/* 0 or -errno: -EADDRINUSE if another process has this path's lock, with it in *other (0: unknown), or another program
 * listens there; -EEXIST if `path`, `path`~ or `path`.lock is a file that no daemon has made, which stays as it is.
 * `path` must outlive the listener. Each of these users has a socket of its own, as by gs_listen_for. */
int gs_listen(struct gs_listener *l, const char *path, mode_t mode, const uid_t *uid, unsigned n, pid_t *other);
/* These users, and no others, have a socket of their own from now on. The log says which of these can't be. */
void gs_listen_for(struct gs_listener *l, const uid_t *uid, unsigned n);
void gs_listen_end(struct gs_listener *l);

/* Whose process it is; false: there is none. */
bool gs_uid_of(pid_t pid, uid_t *uid);

/* Who has connected, by the kernel's word. `pidfd` is -1 where the kernel can't give one. */
struct gs_credentials {
    uid_t uid;
    pid_t pid;
    int pidfd; /* the caller's to close */
};
int gs_credentials_of(int fd, struct gs_credentials *c);

/* systemd's readiness protocol: one datagram to $NOTIFY_SOCKET, if there is one. */
void gs_notify_systemd(const char *state);

#endif
