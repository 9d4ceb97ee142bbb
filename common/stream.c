/* SPDX-License-Identifier: MIT */
#include "common/stream.h"

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
