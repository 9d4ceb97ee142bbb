/* SPDX-License-Identifier: MIT */
/* The socket's file: one daemon per path, and no moment at which it is there but nobody listens. */
#ifndef GS_SCHEDULER_LISTEN_H
#define GS_SCHEDULER_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

struct gs_listener {
    int fd;      /* accepts */
    int root_fd; /* so does this, from root and the daemon's own user alone, at `path`.root: others' connections, which
                    may fill the kernel's line, don't stand before theirs. -errno: there is none */
    int lock_fd; /* held for as long as the daemon lives; the kernel lets go of it if it is killed */
    const char *path;
    bool takes_descriptors;  /* the kernel is older than Linux 6.16 */
    ino_t inode, root_inode; /* of the sockets' files: they are removed only if they are still these */
};

/* 0 or -errno: -EADDRINUSE if another process has this path's lock, with it in *other (0: unknown), or another program
 * listens there; -EEXIST if `path`, `path`~ or `path`.lock is a file that no daemon has made, which stays as it is.
 * `path` must outlive the listener. */
int gs_listen(struct gs_listener *l, const char *path, mode_t mode, pid_t *other);
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
