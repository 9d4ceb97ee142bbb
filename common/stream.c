/* SPDX-License-Identifier: MIT */
#include "common/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

int gs_stream_of(const char *path)
{
    struct stat named, open;
    if (stat(path, &named) < 0)
        return 0;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &open) == 0 && open.st_dev == named.st_dev && open.st_ino == named.st_ino)
            return fd;
    return 0;
}

int gs_can_write(const char *path)
{
    struct stat st;
    const bool there = stat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : 0;
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    close(fd);
    if (!there)
        unlink(path);
    return 0;
}

int gs_close_written(FILE *f)
{
    const int err = !ferror(f) ? 0 : errno ? errno : EIO;
    return fclose(f) != 0 && !err ? -errno : -err;
}
