/* SPDX-License-Identifier: MIT */
#include "cli/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Without the folder, wherever it stands in the list. */
static void drop_folder(char *list, const char *folder)
{
    const size_t n = strlen(folder);
    for (char *at = list, *next; *at; at = next) {
        const size_t here = strcspn(at, ":");
        next = at + here + (at[here] == ':');
        if (here != n || strncmp(at, folder, n) != 0)
            continue;
        if (!*next && at > list) /* an empty last one would be the current folder */
            at--;
        memmove(at, next, strlen(next) + 1);
        next = at;
    }
}

void gs_forget_run(void)
{
    static const char *const names[] = {"opencl", "opencl-log"};
    const char *value = getenv("LD_LIBRARY_PATH");
    char *list = value ? strdup(value) : NULL, folder[PATH_MAX];
    unsetenv("LD_PRELOAD");
    unsetenv("OPENCL_LAYERS");
    for (size_t i = 0; list && i < sizeof names / sizeof *names; i++)
        if (gs_library_path(names[i], folder, sizeof folder) == 0)
            drop_folder(list, folder);
    if (list && *list)
        setenv("LD_LIBRARY_PATH", list, 1);
    else
        unsetenv("LD_LIBRARY_PATH");
    free(list);
}
