/* SPDX-License-Identifier: MIT */
/* gpusparc check: every mistake in a config file. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "common/config.h"
#include "common/log.h"
#include "common/utf8.h"
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
static void check_task_set(const struct gs_config *config, struct gs_mistakes *mistakes, struct gs_mistakes *warnings)
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
            gs_mistakes_add(warnings, config->tasks[i].line,
                            "task %s has no segments: it can be scheduled, but not analyzed", config->tasks[i].name);
}

static void warn_of_same_match(const struct gs_config *config, size_t at, struct gs_mistakes *warnings)
{
    const struct gs_config_task *t = &config->tasks[at];
    for (size_t i = 0; i < at && t->match; i++) {
        const struct gs_config_task *first = &config->tasks[i];
        if (!first->match || strcmp(first->match, t->match) != 0)
            continue;
        gs_mistakes_add(warnings, t->line, "task %s has the match of task %s, whose programs these are: by --task only",
                        t->name, first->name);
        return;
    }
}

/* What the daemon would take as it stands, though hardly as it is meant. */
static void warn(const struct gs_config *config, struct gs_mistakes *warnings)
{
    const int gpus = config->system.servers[GS_GPU];
    if (gpus > GS_MAX_GPUS)
        gs_mistakes_add(warnings, config->system.line, "gpus = %d can be analyzed, but the daemon schedules %d at most",
                        gpus, GS_MAX_GPUS);
    for (size_t i = 0; i < config->n_tasks; i++) {
        const struct gs_config_task *t = &config->tasks[i];
        uint32_t uid;
        if (t->user && gs_parse_uid(t->user, &uid) && strcmp(t->user, "*") != 0 && !getpwnam(t->user))
            gs_mistakes_add(warnings, t->line, "task %s is given to user '%s', whom this machine doesn't know", t->name,
                            t->user);
        if (t->match && !*t->match)
            gs_mistakes_add(warnings, t->line, "task %s has an empty match, which no program's path has", t->name);
        else if (t->match && !strchr("/*?[\\", *t->match))
            gs_mistakes_add(warnings, t->line,
                            "task %s has the match '%s', which no program's path has: it begins with /, as */NAME does",
                            t->name, t->match);
        warn_of_same_match(config, i, warnings);
    }
}

/* What is no UTF-8 becomes question marks: JSON can't hold it, and a file may have any bytes. */
static json_t *text(const char *from)
{
    char *copy = strdup(from);
    for (char *c = copy; c && *c;) {
        const size_t n = gs_utf8_bytes(c);
        if (!n)
            *c = '?';
        c += n ? n : 1;
    }
    json_t *j = copy ? json_string(copy) : NULL;
    free(copy);
    return j;
}

static json_t *list(const struct gs_mistakes *m)
{
    json_t *all = json_array();
    for (size_t i = 0; i < m->n; i++)
        json_array_append_new(all,
                              json_pack("{s:o, s:o}", "line", m->v[i].line ? json_integer(m->v[i].line) : json_null(),
                                        "message", text(m->v[i].text)));
    return all;
}

static void print_json(const char *path, size_t tasks, const struct gs_mistakes *mistakes,
                       const struct gs_mistakes *warnings)
{
    json_t *answer = json_pack("{s:o, s:i, s:o, s:o}", "file", text(path), "tasks", (int)tasks, "mistakes",
                               list(mistakes), "warnings", list(warnings));
    json_dumpf(answer, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(answer);
}

static void print_text(const char *path, size_t tasks, const struct gs_mistakes *mistakes,
                       const struct gs_mistakes *warnings)
{
    gs_mistakes_print(mistakes, path);
    for (size_t i = 0; i < warnings->n; i++)
        gs_warn("%s", warnings->v[i].text);
    if (!mistakes->n)
        printf("%s: %zu task%s, no mistakes\n", path, tasks, tasks == 1 ? "" : "s");
}

static int check(const char *path, bool json)
{
    struct gs_config config;
    struct gs_mistakes mistakes = {0}, warnings = {0};
    int rc = gs_config_load(path, &config, &mistakes);
    if (!rc) {
        check_task_set(&config, &mistakes, &warnings);
        warn(&config, &warnings);
    }
    if (rc == -ENOMEM)
        gs_error("out of memory");
    else
        (json ? print_json : print_text)(path, config.n_tasks, &mistakes, &warnings);
    const int status = rc || mistakes.n ? GS_EXIT_FAILED : GS_EXIT_OK;
    gs_mistakes_free(&mistakes);
    gs_mistakes_free(&warnings);
    gs_config_free(&config);
    return status;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
    bool json = false;
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, "", options, NULL)) != -1; json = true)
        if (opt != 'j') {
            gs_error("there is no option '%s'; see gpusparc check --help", argv[optind - 1]);
            return GS_EXIT_USAGE;
        }
    if (argc - optind != 1) {
        gs_error("check takes one config file; see gpusparc check --help");
        return GS_EXIT_USAGE;
    }
    return check(argv[optind], json);
}

const struct gs_command gs_cmd_check = {
    .name = "check",
    .summary = "find every mistake in a config file",
    .usage = "Usage: gpusparc check [--json] CONFIG\n"
             "Reads a config file and prints every mistake in it as FILE:LINE: message.\n\n"
             "  --json  mistakes and warnings as JSON on stdout\n\n"
             "Exits 0 if there is none, 1 if there are some or the file can't be read.\n",
    .run = run,
};
