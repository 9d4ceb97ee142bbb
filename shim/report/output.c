/* SPDX-License-Identifier: MIT */
#include "shim/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int gs_report_open(const char *path)
{
    struct stat st;
    /* Without waiting for a pipe's other end. */
    const int low = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (low < 0)
        return -errno;
    int fd = low > STDERR_FILENO ? low : fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int err = fd < 0 || fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -ENOTSUP;
    if (fd != low)
        close(low);
    if (err && fd >= 0)
        close(fd);
    return err ? err : fd;
}

/* A lock of the open file, not of the process: it goes with the last descriptor, and a forked child has it too. */
static int lock_file(int fd, short type, int command)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, command, &whole) < 0 ? -errno : 0;
}

/* Nobody else has the file open to write. What is in it then, where the launcher hasn't emptied it, is old. */
static int lock_as_writer(int fd)
{
    const char *run = secure_getenv("GPUSPARC_RUN");
    const int err = lock_file(fd, F_WRLCK, F_OFD_SETLK);
    if (!err && !(run && *run) && ftruncate(fd, 0) < 0)
        return -errno;
    return err;
}

int gs_report_is_first(int fd)
{
    struct stat st;
    const int err = lock_as_writer(fd);
    if (err == -EAGAIN || err == -EACCES)
        return false;
    if (err || fstat(fd, &st) < 0)
        return err ? err : -errno;
    return st.st_size == 0;
}

int gs_report_join(int fd)
{
    const int err = lock_as_writer(fd);
    return err && err != -EAGAIN && err != -EACCES ? err : lock_file(fd, F_RDLCK, F_OFD_SETLKW);
}
