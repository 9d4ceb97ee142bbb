/* SPDX-License-Identifier: MIT */
#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* As much as fits into text[*n .. room). 0: that is all; 1: there may be more; -errno. */
static int fill(int fd, char *text, size_t room, size_t *n)
{
    while (*n < room) {
        const ssize_t got = read(fd, text + *n, room - *n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : 0;
        *n += (size_t)got;
    }
    return 1;
}

static int read_all(int fd, size_t most, char **text, size_t *bytes)
{
    int more = 1;
    for (size_t room = 16384; more > 0; room *= 2) {
        room = room < most ? room : most + 1;
        char *v = realloc(*text, room + 1);
        if (!v)
            return -ENOMEM;
        *text = v;
        more = fill(fd, v, room, bytes);
        if (*bytes > most)
            return -EFBIG;
    }
    if (more == 0)
        (*text)[*bytes] = '\0';
    return more;
}

static int read_open(int fd, size_t most, char **text, size_t *bytes)
{
    const int err = read_all(fd, most, text, bytes);
    close(fd);
    if (err < 0) {
        free(*text);
        *text = NULL;
    }
    return err;
}

int gs_read_file(const char *path, size_t most, char **text, size_t *bytes)
{
    *text = NULL;
    *bytes = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : read_open(fd, most, text, bytes);
}

/* /dev/null, which stands for an empty file. */
static bool is_null_device(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

int gs_read_regular_file(const char *path, size_t most, char **text, size_t *bytes)
{
    *text = NULL;
    *bytes = 0;
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0 || !(S_ISREG(st.st_mode) || is_null_device(&st))) {
        close(fd);
        return -ENOTSUP;
    }
    return read_open(fd, most, text, bytes);
}
