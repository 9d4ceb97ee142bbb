/* SPDX-License-Identifier: MIT */
/* One question of a tool to the daemon, and its answer. */
#include "common/client/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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
    char *s = malloc(size + 1);
    if (!s)
        return -ENOMEM;
    for (size_t at = 0; at < size;) {
        ssize_t n = pread(passed, s + at, size - at, (off_t)at);
        if (n <= 0) {
            free(s);
            return n < 0 ? -errno : -EPROTO;
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
    if (err < 0)
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
        return m.u.text.code == GS_REFUSED_VERSION ? -EPROTO : -EACCES;
    return err < 0 ? err : -(int)m.u.text.code;
}

int gs_client_ask(const char *socket, enum gs_msg_type what, const char *name, unsigned timeout_ms, char **text)
{
    *text = NULL;
    char paths[2][GS_SOCKET_PATH_BYTES];
    int n = gs_socket_candidates(socket, paths);
    struct gs_msg m;
    gs_msg_init(&m, what);
    if (name) {
        if (strlen(name) >= sizeof m.u.name)
            return -EINVAL;
        strcpy(m.u.name, name);
    }
    int err = n ? -ENOENT : -ENAMETOOLONG;
    for (int i = 0; i < n; i++) {
        int fd;
        int e = gs_socket_connect(paths[i], false, &fd);
        if (e == 0) {
            err = exchange(fd, &m, timeout_ms, text);
            close(fd);
            return err;
        }
        if (e != -ENOENT)
            err = e;
    }
    return err;
}
