/* SPDX-License-Identifier: MIT */
#include "scheduler/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "common/wire.h"
#include "scheduler/users.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

static pid_t read_pid(int fd)
{
    char text[32] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    return n > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

/* Could it be a lock file of ours? It holds nothing but a number. */
static bool is_lock(int fd)
{
    char text[32];
    const ssize_t n = pread(fd, text, sizeof text, 0);
    struct stat st;
    return n >= 0 && n < (ssize_t)sizeof text && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           strspn(text, "0123456789\n") >= (size_t)n;
}

/* Who holds the lock on this file, by /proc/locks; 0: nobody that can be seen from here. */
static pid_t find_holder(const struct stat *st)
{
    FILE *f = fopen("/proc/locks", "re");
    char line[256];
    pid_t holder = 0;
    while (f && !holder && fgets(line, sizeof line, f)) {
        int pid;
        unsigned major_number, minor_number;
        unsigned long inode;
        if (sscanf(line, "%*s FLOCK %*s %*s %d %x:%x:%lu", &pid, &major_number, &minor_number, &inode) == 4 &&
            inode == st->st_ino && major_number == major(st->st_dev) && minor_number == minor(st->st_dev) && pid > 0)
            holder = (pid_t)pid;
    }
    if (f)
        fclose(f);
    return holder;
}

bool gs_uid_of(pid_t pid, uid_t *uid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    const bool known = pid > 0 && stat(path, &st) == 0;
    if (known)
        *uid = st.st_uid;
    return known;
}

/* Somebody else has the lock. If the file is ours and its holder isn't, it is no daemon of ours: the file dates from a
 * daemon that let others open it. A new one in its place nobody else can open. True: try again. */
static bool replace_lock(int fd, const char *path, pid_t *other)
{
    struct stat st;
    uid_t uid;
    if (fstat(fd, &st) < 0)
        return false;
    *other = find_holder(&st);
    if (!*other)
        *other = read_pid(fd);
    if (st.st_uid != geteuid() || !gs_uid_of(*other, &uid) || gs_user_is_trusted(uid))
        return false;
    gs_warn("process %d of user %u had locked %s, which an earlier daemon had left: it is made anew", (int)*other,
            (unsigned)uid, path);
    return unlink(path) == 0;
}

/* Takes the lock beside the socket. The file may be removed by a daemon that ends between our opening and locking it.
 */
static int take_lock(const char *path, pid_t *other)
{
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (fd < 0)
            return -errno;
        if (!is_lock(fd)) {
            close(fd);
            return -EEXIST;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            int err = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
            const bool again = err == -EADDRINUSE && replace_lock(fd, path, other);
            close(fd);
            if (again)
                continue;
            return err;
        }
        fchmod(fd, 0600); /* an earlier daemon's was everybody's to lock */
        struct stat mine, there;
        if (fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino) {
            char text[32];
            int n = snprintf(text, sizeof text, "%d\n", (int)getpid());
            if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n) {
                /* The number only helps who looks for the other daemon. */
            }
            return fd;
        }
        close(fd);
    }
}

/* What lies at the path may go only if it is a socket that nobody listens on: not what a mistaken --socket names. One
 * of this user's own, of an earlier daemon, root without all its rights can't connect to. */
static int may_replace(const char *path, uid_t uid)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct stat st;
    if (strlen(path) >= sizeof addr.sun_path)
        return -ENAMETOOLONG;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
    memcpy(addr.sun_path, path, strlen(path));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    const bool dead = connect(fd, (const struct sockaddr *)&addr, sizeof addr) < 0 &&
                      (errno == ECONNREFUSED || (errno == EACCES && st.st_uid == uid));
    close(fd);
    return dead ? 0 : -EADDRINUSE;
}

/* Nobody passes descriptors to the daemon: whoever closes the last one of a file waits for its end, and that can take
 * for ever (a socket that lingers, a file of gigabytes). Connections inherit it. */
static bool take_no_descriptors(int fd)
{
    const int no = 0;
    return setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof no) == 0;
}

/* Binds and listens under a name of its own, and only then gives it the name that clients look for. */
static int bind_quietly(int fd, const char *path, mode_t mode, uid_t uid, ino_t *inode)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int n = snprintf(addr.sun_path, sizeof addr.sun_path, "%s~", path);
    if (n < 0 || n >= (int)sizeof addr.sun_path)
        return -ENAMETOOLONG;
    struct stat st;
    int err = may_replace(addr.sun_path, uid);
    if (err < 0)
        return err;
    unlink(addr.sun_path);
    mode_t old = umask(0777);
    err = bind(fd, (const struct sockaddr *)&addr, sizeof addr) < 0 ? -errno : 0;
    umask(old);
    if (err == 0 && (listen(fd, 1024) < 0 || chmod(addr.sun_path, mode) < 0 ||
                     (uid != geteuid() && lchown(addr.sun_path, uid, (gid_t)-1) < 0) || stat(addr.sun_path, &st) < 0 ||
                     rename(addr.sun_path, path) < 0))
        err = -errno;
    if (err < 0)
        unlink(addr.sun_path);
    else
        *inode = st.st_ino;
    return err;
}

/* 0 or -errno. */
static int listen_at(struct gs_listening *s, const char *path, mode_t mode, uid_t uid)
{
    int err = may_replace(path, uid);
    if (err < 0)
        return err;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    ino_t inode = 0;
    err = bind_quietly(fd, path, mode, uid, &inode);
    if (err < 0)
        close(fd);
    else
        *s = (struct gs_listening){.fd = fd, .inode = inode, .uid = uid};
    return err;
}

static void end_socket(struct gs_listening *s, const char *path)
{
    struct stat st;
    if (s->inode && stat(path, &st) == 0 && st.st_ino == s->inode)
        unlink(path);
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct gs_listening){.fd = -1};
}

static bool is_among(const uid_t *uid, unsigned n, uid_t one)
{
    while (n > 0 && uid[n - 1] != one)
        n--;
    return n > 0;
}

/* The user's own, or a free place for it; null: there is none. */
static struct gs_listening *place_of(struct gs_listener *l, uid_t uid)
{
    struct gs_listening *place = NULL;
    for (unsigned i = 0; i < GS_OWN_SOCKETS; i++) {
        if (l->own[i].fd >= 0 && l->own[i].uid == uid)
            return &l->own[i];
        if (l->own[i].fd < 0)
            place = &l->own[i];
    }
    return place;
}

void gs_listen_for(struct gs_listener *l, const uid_t *uid, unsigned n)
{
    char path[PATH_MAX];
    for (unsigned i = 0; i < GS_OWN_SOCKETS; i++) {
        snprintf(path, sizeof path, GS_OWN_SOCKET, l->path, (unsigned)l->own[i].uid);
        if (l->own[i].fd >= 0 && !is_among(uid, n, l->own[i].uid))
            end_socket(&l->own[i], path);
    }
    for (unsigned i = 0; i < n; i++) {
        struct gs_listening *s = place_of(l, uid[i]);
        if (s && s->fd >= 0)
            continue;
        snprintf(path, sizeof path, GS_OWN_SOCKET, l->path, (unsigned)uid[i]);
        int err = s ? listen_at(s, path, 0600, uid[i]) : -ENOSPC;
        if (err == 0)
            l->takes_descriptors = !take_no_descriptors(s->fd) || l->takes_descriptors;
        else
            gs_warn("can't listen on %s: %s; others' connections can stand before this user's", path, strerror(-err));
    }
}

static char *lock_path(const char *path)
{
    char *s = NULL;
    return asprintf(&s, "%s.lock", path) < 0 ? NULL : s;
}

void gs_listener_init(struct gs_listener *l)
{
    *l = (struct gs_listener){.all.fd = -1, .lock_fd = -1};
    for (unsigned i = 0; i < GS_OWN_SOCKETS; i++)
        l->own[i].fd = -1;
}

int gs_listen(struct gs_listener *l, const char *path, mode_t mode, const uid_t *uid, unsigned n, pid_t *other)
{
    gs_listener_init(l);
    l->path = path;
    *other = 0;
    char *lock = lock_path(path);
    if (!lock)
        return -ENOMEM;
    l->lock_fd = take_lock(lock, other);
    free(lock);
    if (l->lock_fd < 0)
        return l->lock_fd;
    /* Without these, as where the name is too long, their users come by the other one. They are there first. */
    gs_listen_for(l, uid, n);
    const int err = listen_at(&l->all, path, mode, geteuid());
    if (err < 0)
        gs_listen_end(l);
    else
        l->takes_descriptors = !take_no_descriptors(l->all.fd) || l->takes_descriptors;
    return err;
}

void gs_listen_end(struct gs_listener *l)
{
    if (!l->path)
        return;
    gs_listen_for(l, NULL, 0);
    end_socket(&l->all, l->path);
    if (l->lock_fd >= 0) {
        char *lock = lock_path(l->path);
        if (lock)
            unlink(lock);
        free(lock);
        close(l->lock_fd);
    }
    gs_listener_init(l);
}

static int peer_pidfd(int fd, pid_t pid)
{
    int pidfd;
    socklen_t len = sizeof pidfd;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
        return pidfd;
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int gs_credentials_of(int fd, struct gs_credentials *c)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return -errno;
    c->uid = peer.uid;
    c->pid = peer.pid;
    c->pidfd = peer_pidfd(fd, peer.pid);
    return 0;
}

void gs_notify_systemd(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof addr.sun_path)
        return;
    memcpy(addr.sun_path, path, strlen(path));
    if (*path == '@')
        addr.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&addr, len) < 0) {
        /* Nobody waits for it, then, and the daemon for nobody who doesn't read. */
    }
    close(fd);
}
