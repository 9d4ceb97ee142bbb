/* SPDX-License-Identifier: MIT */
#include "cli/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int gs_child_start(char *const argv[], const char *out, const char *err, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int failed = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return -failed;
}

void gs_last_line(const char *path, char *line, size_t bytes)
{
    char next[512];
    FILE *f = fopen(path, "re");
    *line = '\0';
    while (f && fgets(next, sizeof next, f)) {
        next[strcspn(next, "\n")] = '\0';
        if (*next)
            snprintf(line, bytes, "%s", next);
    }
    if (f)
        fclose(f);
}
