/* SPDX-License-Identifier: MIT */
/* The unix socket: where it is, and one message of it. */
#include "common/client/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_FD = 200 };

void gs_msg_init(struct gs_msg *m, enum gs_msg_type type)
{
    *m = (struct gs_msg){.magic = GS_WIRE_MAGIC, .version = GS_WIRE_VERSION, .type = (uint16_t)type};
}

static int copy_path(char *to, const char *dir, const char *name)
{
    int n = snprintf(to, GS_SOCKET_PATH_BYTES, "%s%s%s", dir, name ? "/" : "", name ? name : "");
    return n > 0 && n < GS_SOCKET_PATH_BYTES ? 0 : -ENAMETOOLONG;
}

int gs_socket_candidates(const char *given, char paths[2][GS_SOCKET_PATH_BYTES])
{
    const char *own = given && *given ? given : secure_getenv("GPUSPARC_SOCKET");
    if (own && *own)
        return copy_path(paths[0], own, NULL) == 0 ? 1 : 0;
    int n = 0;
    copy_path(paths[n++], "/run", "gpusparc.sock");
    const char *dir = secure_getenv("XDG_RUNTIME_DIR");
    if (dir && *dir == '/' && copy_path(paths[n], dir, "gpusparc.sock") == 0)
        n++;
    return n;
}

void gs_client_socket_path(char *path, unsigned bytes)
{
    char paths[2][GS_SOCKET_PATH_BYTES];
    int n = gs_socket_candidates(NULL, paths);
    int pick = n > 1 && access(paths[0], F_OK) != 0 && access(paths[1], F_OK) == 0;
    snprintf(path, bytes, "%s", n > 0 ? paths[pick] : "");
}

/* In the usual places only root's daemon or the user's own is believed. */
static int check_peer(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return -errno;
    return peer.uid == 0 || peer.uid == geteuid() ? 0 : -EACCES;
}

int gs_copy_up(int fd)
{
    int up = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    if (up < 0)
        up = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return up < 0 ? -errno : up;
}

static int connect_to(const char *path, bool check_owner, int *out)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof addr.sun_path)
        return -ENAMETOOLONG;
    memcpy(addr.sun_path, path, strlen(path) + 1);
    /* Not blocking while it connects: a daemon that is stopped with a full backlog must not stop the application. */
    int low = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int fd = low < 0 ? -errno : gs_copy_up(low);
    if (low >= 0)
        close(low);
    if (fd < 0)
        return fd;
    int err = connect(fd, (const struct sockaddr *)&addr, sizeof addr) < 0 ? -errno : 0;
    if (err == 0 && check_owner)
        err = check_peer(fd);
    if (err < 0) {
        close(fd);
        return err;
    }
    *out = fd;
    return 0;
}

int gs_socket_connect(const char *path, bool check_owner, int *out)
{
    char own[GS_SOCKET_PATH_BYTES];
    const int n = snprintf(own, sizeof own, GS_OWN_SOCKET, path, (unsigned)geteuid());
    if (n < (int)sizeof own &&
        connect_to(own, true, out) == 0) /* anybody may have made it if the folder is anybody's */
        return 0;
    return connect_to(path, check_owner, out);
}

int gs_socket_send(int fd, const struct gs_msg *m, int flags)
{
    ssize_t n;
    do
        n = send(fd, m, sizeof *m, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    return n == (ssize_t)sizeof *m ? 0 : -EPROTO;
}

/* The descriptor that came along, if one did; more than one are closed. */
static int passed_descriptor(struct msghdr *h)
{
    int got = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (got < 0)
                got = fd;
            else
                close(fd);
        }
    }
    return got;
}

int gs_socket_receive(int fd, struct gs_msg *m, int *passed, int timeout_ms)
{
    *passed = -1;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready;
    do
        ready = poll(&p, 1, timeout_ms);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return ready < 0 ? -errno : -ETIMEDOUT;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct iovec io = {.iov_base = m, .iov_len = sizeof *m};
    struct msghdr h = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t n;
    int resets = 0; /* told once, before what was said last */
    do
        n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (n < 0 && (errno == EINTR || (errno == ECONNRESET && resets++ == 0)));
    if (n < 0)
        return errno == EWOULDBLOCK ? -EAGAIN : -errno;
    *passed = passed_descriptor(&h);
    if (n == 0)
        return -ECONNRESET;
    if (n != (ssize_t)sizeof *m || m->magic != GS_WIRE_MAGIC || m->version != GS_WIRE_VERSION) {
        if (*passed >= 0)
            close(*passed);
        *passed = -1;
        return -EPROTO;
    }
    return 0;
}
