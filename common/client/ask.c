/* SPDX-License-Identifier: MIT */
/* One question of a tool to the daemon, and its answer. */
#include "common/client/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The text is in the message, or in the file that came along where it is longer. */
static int take_text(const struct gs_msg *m, int passed, char **text)
{
    if (passed < 0) {
        *text = strndup(m->u.text.text, sizeof m->u.text.text);
        return *text ? 0 : -ENOMEM;
    }
    struct stat st;
    if (fstat(passed, &st) < 0)
        return -errno;
    size_t size = (size_t)st.st_size;
    if (size < m->u.text.bytes)
        return -ESTALE;
    char *s = malloc(size + 1);
    if (!s)
        return -ENOMEM;
    for (size_t at = 0; at < size;) {
        ssize_t n = pread(passed, s + at, size - at, (off_t)at);
        if (n <= 0) {
            free(s);
            return n < 0 ? -errno : -ESTALE;
        }
        at += (size_t)n;
    }
    s[size] = '\0';
    *text = s;
    return 0;
}

static int exchange(int fd, const struct gs_msg *question, unsigned timeout_ms, char **text)
{
    int err = gs_socket_send(fd, question, 0);
    if (err < 0 && err != -EPIPE) /* who was turned away has been told why */
        return err;
    struct gs_msg m;
    int passed;
    err = gs_socket_receive(fd, &m, &passed, (int)timeout_ms);
    if (err < 0)
        return err;
    if (m.type == GS_MSG_ANSWER || m.type == GS_MSG_REFUSED)
        err = take_text(&m, passed, text);
    else
        err = -EPROTO;
    if (passed >= 0)
        close(passed);
    if (err == 0 && m.type == GS_MSG_REFUSED)
        return m.u.text.code == GS_REFUSED_VERSION ? -EPROTO : m.u.text.code == GS_REFUSED_FULL ? -EAGAIN : -EACCES;
    return err < 0 ? err : -(int)m.u.text.code;
}

static uid_t uid_of(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? peer.uid : (uid_t)-1;
}

static int ask_once(const char *socket, const struct gs_msg *m, unsigned timeout_ms, char **text, uid_t *uid)
{
    *uid = (uid_t)-1;
    char paths[2][GS_SOCKET_PATH_BYTES];
    int n = gs_socket_candidates(socket, paths);
    int err = n ? -ENOENT : -ENAMETOOLONG;
    for (int i = 0; i < n; i++) {
        int fd;
        int e = gs_socket_connect(paths[i], false, &fd);
        for (unsigned ms = 0; e == -EAGAIN && ms < timeout_ms; ms++) { /* many come at the moment */
            usleep(1000);
            e = gs_socket_connect(paths[i], false, &fd);
        }
        if (e == 0) {
            *uid = uid_of(fd);
            enum { TRIES = 4 }; /* where it took so long to be read that the daemon has dropped it */
            err = -ESTALE;
            for (int k = 0; err == -ESTALE && k < TRIES; k++)
                err = exchange(fd, m, timeout_ms, text);
            close(fd);
            return err;
        }
        if (e != -ENOENT)
            err = e;
    }
    return err;
}

/* Where the user's own connections have taken all places it asks again. */
static int ask(const char *socket, const struct gs_msg *m, unsigned timeout_ms, char **text, uid_t *uid)
{
    enum { PAUSE_MS = 10 };
    int err = ask_once(socket, m, timeout_ms, text, uid);
    for (unsigned ms = 0; err == -EAGAIN && *text && ms < timeout_ms; ms += PAUSE_MS) {
        usleep(PAUSE_MS * 1000);
        free(*text);
        *text = NULL;
        err = ask_once(socket, m, timeout_ms, text, uid);
    }
    return err == -EAGAIN && *text ? -EACCES : err;
}

int gs_client_ask(const char *socket, enum gs_msg_type what, const char *name, unsigned timeout_ms, char **text)
{
    uid_t uid;
    return gs_client_ask_whose(socket, what, name, timeout_ms, text, &uid);
}

int gs_client_ask_whose(const char *socket, enum gs_msg_type what, const char *name, unsigned timeout_ms, char **text,
                        uid_t *uid)
{
    struct gs_msg m;
    *text = NULL;
    gs_msg_init(&m, what);
    if (name) {
        if (strlen(name) >= sizeof m.u.name)
            return -EINVAL;
        strcpy(m.u.name, name);
    }
    return ask(socket, &m, timeout_ms, text, uid);
}

int gs_client_set(const char *socket, const struct gs_msg_set *set, unsigned timeout_ms, char **text)
{
    struct gs_msg m;
    uid_t uid;
    *text = NULL;
    gs_msg_init(&m, GS_MSG_SET);
    m.u.set = *set;
    return ask(socket, &m, timeout_ms, text, &uid);
}
