/* SPDX-License-Identifier: MIT */
/* gpusparc check: every mistake in a config file. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "common/config.h"
#include "common/log.h"
#include "common/wire.h"
#include "gema/model.h"

static bool has_segments(const struct gs_config_task *t)
{
    for (int g = 1; g <= GS_CONFIG_MAX_SERVERS; g++)
        if (t->chains[g].line)
            return true;
    return false;
}

/* A task without segments is fine for the daemon, which schedules it all the same; only its response time is unknown.
 */
static void check_task_set(const struct gs_config *config, struct gs_mistakes *mistakes)
{
    size_t with = 0;
    for (size_t i = 0; i < config->n_tasks; i++)
        with += has_segments(&config->tasks[i]);
    if (with == config->n_tasks && with) {
        struct gs_model model;
        if (gs_model_from_config(&model, config, mistakes) == -ENOMEM)
            gs_mistakes_add(mistakes, 0, "out of memory");
        gs_model_free(&model);
        return;
    }
    for (size_t i = 0; i < config->n_tasks; i++)
        if (!has_segments(&config->tasks[i]))
            gs_warn("task %s has no segments: it can be scheduled, but not analyzed", config->tasks[i].name);
}

/* What the daemon would take as it stands, though hardly as it is meant. */
static void warn(const struct gs_config *config)
{
    const int gpus = config->system.servers[GS_GPU];
    if (gpus > GS_MAX_GPUS)
        gs_warn("gpus = %d can be analyzed, but the daemon schedules %d at most", gpus, GS_MAX_GPUS);
    for (size_t i = 0; i < config->n_tasks; i++) {
        const struct gs_config_task *t = &config->tasks[i];
        const bool number = t->user && *t->user && !t->user[strspn(t->user, "0123456789")];
        if (t->user && !number && strcmp(t->user, "*") != 0 && !getpwnam(t->user))
            gs_warn("task %s is given to user '%s', whom this machine doesn't know", t->name, t->user);
        if (t->match && !*t->match)
            gs_warn("task %s has an empty match, which no program's path has", t->name);
    }
}

static int run(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        gs_error("check takes one config file; see gpusparc check --help");
        return GS_EXIT_USAGE;
    }
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    int rc = gs_config_load(argv[1], &config, &mistakes);
    if (rc == -ENOMEM)
        gs_error("out of memory");
    else if (!rc)
        check_task_set(&config, &mistakes);
    gs_mistakes_print(&mistakes, argv[1]);
    if (!rc)
        warn(&config);
    if (!rc && !mistakes.n)
        printf("%s: %zu task%s, no mistakes\n", argv[1], config.n_tasks, config.n_tasks == 1 ? "" : "s");
    int status = rc || mistakes.n ? GS_EXIT_FAILED : GS_EXIT_OK;
    gs_mistakes_free(&mistakes);
    gs_config_free(&config);
    return status;
}

const struct gs_command gs_cmd_check = {
    .name = "check",
    .summary = "find every mistake in a config file",
    .usage = "Usage: gpusparc check CONFIG\n"
             "Reads a config file and prints every mistake in it as FILE:LINE: message.\n"
             "Exits 0 if there is none, 1 if there are some or the file can't be read.\n",
    .run = run,
};
