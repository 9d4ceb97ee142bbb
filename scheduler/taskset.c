/* SPDX-License-Identifier: MIT */
#include "scheduler/taskset.h"

#include <fnmatch.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/users.h"

/* ---- who is what ---- */

/* Do the pattern's last characters, behind what stands for others, allow for this path? A path may be 4,095 characters
 * long, and takes fnmatch up to 40 us for each pattern; a grant waits for all of them. */
static bool ends_as(const char *pattern, const char *exe, size_t length)
{
    const char *end = pattern + strlen(pattern), *tail = end;
    while (tail > pattern && !strchr("*?[]\\", tail[-1]))
        tail--;
    const size_t n = (size_t)(end - tail);
    return n <= length && strcmp(exe + length - n, tail) == 0;
}

const struct gs_config_task *gs_taskset_match(const struct gs_config *config, const char *exe)
{
    const size_t length = strlen(exe);
    for (size_t i = 0; i < config->n_tasks && length; i++) {
        const char *pattern = config->tasks[i].match;
        if (pattern && ends_as(pattern, exe, length) && fnmatch(pattern, exe, 0) == 0)
            return &config->tasks[i];
    }
    return NULL;
}

const struct gs_config_task *gs_taskset_find(const struct gs_config *config, const char *name)
{
    for (size_t i = 0; i < config->n_tasks; i++)
        if (strcmp(config->tasks[i].name, name) == 0)
            return &config->tasks[i];
    return NULL;
}

struct gs_owner gs_taskset_owner(const struct gs_config_task *task)
{
    if (!task->user)
        return (struct gs_owner){.kind = GS_OWNER_NONE};
    if (strcmp(task->user, "*") == 0)
        return (struct gs_owner){.kind = GS_OWNER_ALL};
    uint32_t number;
    if (gs_parse_uid(task->user, &number) == 0)
        return (struct gs_owner){.kind = GS_OWNER_ONE, .uid = (uid_t)number};
    const struct passwd *pw = getpwnam(task->user);
    return pw ? (struct gs_owner){.kind = GS_OWNER_ONE, .uid = pw->pw_uid}
              : (struct gs_owner){.kind = GS_OWNER_UNKNOWN};
}

bool gs_taskset_permits(const struct gs_owner *owner, uid_t uid)
{
    return gs_user_is_trusted(uid) || owner->kind == GS_OWNER_ALL || (owner->kind == GS_OWNER_ONE && owner->uid == uid);
}

/* Is task a more urgent than b? The config gives either all tasks a priority, each its own, or none. */
static bool more_urgent(const struct gs_config_task *a, const struct gs_config_task *b)
{
    if (a->has_priority && b->has_priority && a->priority != b->priority)
        return a->priority > b->priority;
    if (a->deadline_ns != b->deadline_ns)
        return a->deadline_ns < b->deadline_ns;
    return a < b;
}

int gs_taskset_rank(const struct gs_config *config, const struct gs_config_task *task)
{
    int rank = 1;
    for (size_t i = 0; i < config->n_tasks; i++)
        rank += &config->tasks[i] != task && more_urgent(task, &config->tasks[i]);
    return rank;
}
