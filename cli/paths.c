/* SPDX-License-Identifier: MIT */
#include "cli/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int beside(const char *folder, const char *name, char *path, size_t bytes)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    *path = '\0';
    if (n < 0)
        return -errno;
    self[n] = '\0';
    char *slash = strrchr(self, '/'); /* bin/gpusparc */
    if (slash)
        *slash = '\0';
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    int length = snprintf(path, bytes, "%s/%s/%s", self, folder, name);
    return length > 0 && (size_t)length < bytes ? 0 : -ENAMETOOLONG;
}

int gs_library_path(const char *name, char *path, size_t bytes)
{
    return beside("lib/gpusparc", name, path, bytes);
}

int gs_program_path(const char *name, char *path, size_t bytes)
{
    return beside("bin", name, path, bytes);
}
