/* SPDX-License-Identifier: MIT */
#include "common/variables.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/options.h"

enum { NAME = 64 };
static const char prefix[] = "GPUSPARC_";

/* All that some program or library of ours reads; tests/cli/wrong_words.sh holds them against the sources. */
static const char *const known[] = {"ALLOW",
                                    "CACHE_SIZE",
                                    "DAEMON",
                                    "DEBUG",
                                    "DEVICES",
                                    "DUMP",
                                    "ENGINE",
                                    "FORGET",
                                    "GPUS",
                                    "HOSTS",
                                    "HOSTS_PLAIN",
                                    "HOSTS_REQUIRED",
                                    "HOSTS_RETRY",
                                    "HOSTS_TIMEOUT",
                                    "LOG",
                                    "MEMORY",
                                    "MODE",
                                    "NOT",
                                    "ONLY",
                                    "PACE",
                                    "REAL",
                                    "REMOTE",
                                    "REMOTE_DIRECT",
                                    "RUN",
                                    "SOCKET",
                                    "SSH",
                                    "STATS",
                                    "TASK",
                                    "TASK_REQUIRED",
                                    "TRACE",
                                    "TRANSFER",
                                    "TRANSLATE_TIMEOUT",
                                    "TRANSLATOR",
                                    "VERIFY",
                                    NULL};

static const char *name_of(const void *list, size_t i)
{
    return ((const char *const *)list)[i];
}

static int is_known(const char *name)
{
    size_t i = 0;
    while (known[i] && strcmp(known[i], name) != 0)
        i++;
    return known[i] != NULL;
}

void gs_say_unknown_variables(void)
{
    char name[NAME];
    for (char **e = environ; e && *e; e++) {
        if (strncmp(*e, prefix, sizeof prefix - 1) != 0)
            continue;
        const char *rest = *e + sizeof prefix - 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(rest, "="), rest);
        if (is_known(name))
            continue;
        const char *meant = gs_nearest(name, name_of, known);
        gs_warn("nothing reads the variable %s%s%s%s%s", prefix, name, meant ? "; did you mean " : "",
                meant ? prefix : "", meant ? meant : "");
    }
}
