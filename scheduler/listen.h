/* SPDX-License-Identifier: MIT */
/* The socket's file: one daemon per path, and no moment when the file is there but nobody listens. */
#ifndef GS_SCHEDULER_LISTEN_H
#define GS_SCHEDULER_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

/* A socket and its file, which is removed only if it is still this socket's. */
struct gs_listening {
    int fd; /* -1: none */
    ino_t inode;
    uid_t uid; /* the user, of a user's own socket */
};

enum { GS_OWN_SOCKETS = 64 };

struct gs_listener {
    struct gs_listening all; /* everybody's */
    /* At `path`.UID, which only that user and root can open: others' connections, which may fill the kernel's queue,
     * don't stand before this user's. */
    struct gs_listening own[GS_OWN_SOCKETS];
    int lock_fd; /* held while the daemon lives; the kernel releases it with a killed daemon */
    const char *path;
    bool takes_descriptors; /* the kernel is older than Linux 6.16 */
};

void gs_listener_init(struct gs_listener *l); /* nothing is open */

/* 0 or -errno: -EADDRINUSE: another process has this path's lock (*other; 0: unknown), or another program listens
 * there. -EEXIST: `path`, `path`~ or `path`.lock is a file that no daemon has made, and stays. `path` must outlive the
 * listener. Each of the n users gets a socket of its own, as by gs_listen_for. */
int gs_listen(struct gs_listener *l, const char *path, mode_t mode, const uid_t *uid, unsigned n, pid_t *other);
/* From now on exactly these users have sockets of their own. The log says which can't. */
void gs_listen_for(struct gs_listener *l, const uid_t *uid, unsigned n);
void gs_listen_end(struct gs_listener *l);

/* The process's user; false: there is no such process. */
bool gs_uid_of(pid_t pid, uid_t *uid);

/* The peer of a connection, by the kernel's word. pidfd is -1 if the kernel can't give one. */
struct gs_credentials {
    uid_t uid;
    pid_t pid;
    int pidfd; /* the caller's to close */
};
int gs_credentials_of(int fd, struct gs_credentials *c);

/* systemd's readiness protocol: one datagram to $NOTIFY_SOCKET, if there is one. */
void gs_notify_systemd(const char *state);

#endif
