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
#include "cli/mistakes_json.h"
#include "common/config.h"
#include "common/log.h"
#include "common/machine.h"
#include "common/options.h"
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

/* The daemon grants chunks, whatever the config says of them. */
static void warn_of_whole(const struct gs_config *config, enum gs_resource r, struct gs_mistakes *warnings)
{
    bool known = config->system.chunk_ns[r] > 0, used = false;
    for (size_t i = 0; i < config->n_tasks; i++) {
        const struct gs_config_task *t = &config->tasks[i];
        known = known || t->chunk_ns[r];
        for (int g = 1; g <= GS_CONFIG_MAX_SERVERS; g++)
            for (size_t j = 0; j < t->chains[g].n_segments; j++)
                used = used || (t->chains[g].segments[j].resource == r && t->chains[g].segments[j].worst_ns);
    }
    if (used && !known)
        gs_mistakes_add(warnings, config->system.line,
                        "[system] doesn't say how long the longest chunk is (%s_chunk), and no task does: bounds are "
                        "of whole segments, and not proven for the daemon; gpusparc profile measures it",
                        gs_resource_names[r]);
}

/* Where only one chunk is granted at a time, hand-overs are as many as chunks; and where chunks are shorter than one.
 */
static void warn_of_uncounted(const struct gs_config *config, const struct gs_config_task *t,
                              struct gs_mistakes *warnings)
{
    const struct gs_config_system *s = &config->system;
    for (int g = 1; g <= GS_CONFIG_MAX_SERVERS; g++)
        for (size_t j = 0; j < t->chains[g].n_segments; j++) {
            const struct gs_config_segment *segment = &t->chains[g].segments[j];
            const enum gs_resource r = segment->resource;
            const int64_t chunk = r == GS_CPU ? 0 : t->chunk_ns[r] ? t->chunk_ns[r] : s->chunk_ns[r];
            const bool is_short = chunk < s->handover_ns && chunk < segment->worst_ns;
            char why[64] = "with depth = 1";
            if (!chunk || segment->chunks || !segment->worst_ns || !(s->depth == 1 || is_short))
                continue;
            if (s->depth > 1)
                snprintf(why, sizeof why, "with a %s_chunk below handover", gs_resource_names[r]);
            gs_mistakes_add(warnings, t->chains[g].line,
                            "segments.%d of task %s doesn't say how many chunks its %s segments may have: %s they cost "
                            "hand-overs, and the bounds aren't proven",
                            g, t->name, gs_resource_names[r], why);
            return;
        }
}

static void warn_of_same_match(const struct gs_config *config, size_t at, struct gs_mistakes *warnings)
{
    const struct gs_config_task *t = &config->tasks[at];
    for (size_t i = 0; i < at && t->match; i++) {
        const struct gs_config_task *first = &config->tasks[i];
        if (!first->match || strcmp(first->match, t->match) != 0)
            continue;
        gs_mistakes_add(warnings, t->line,
                        "task %s has the same match as task %s: such a program runs as task %s, unless --task says %s",
                        t->name, first->name, first->name, t->name);
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
    warn_of_whole(config, GS_GPU, warnings);
    warn_of_whole(config, GS_PCI, warnings);
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
        warn_of_uncounted(config, t, warnings);
    }
}

/* What the config doesn't say, as the daemon takes it. */
static void take_machine(struct gs_config_system *s)
{
    if (!s->servers[GS_GPU])
        s->servers[GS_GPU] = (int)gs_machine_gpus();
    if (!s->servers[GS_CPU])
        s->servers[GS_CPU] = gs_machine_cpus();
}

static void print_json(const char *path, size_t tasks, const struct gs_mistakes *mistakes,
                       const struct gs_mistakes *warnings)
{
    json_t *answer = json_pack("{s:o, s:i, s:o, s:o}", "file", gs_text_json(path), "tasks", (int)tasks, "mistakes",
                               gs_mistakes_json(mistakes), "warnings", gs_mistakes_json(warnings));
    json_dumpf(answer, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(answer);
}

static void print_text(const char *path, size_t tasks, const struct gs_mistakes *mistakes,
                       const struct gs_mistakes *warnings)
{
    gs_mistakes_print(mistakes, path);
    for (size_t i = 0; i < warnings->n; i++)
        if (warnings->v[i].line)
            gs_warn("%s:%d: %s", path, warnings->v[i].line, warnings->v[i].text);
        else
            gs_warn("%s: %s", path, warnings->v[i].text);
    if (!mistakes->n)
        printf("%s: %zu task%s, no mistakes\n", path, tasks, tasks == 1 ? "" : "s");
}

static int check(const char *path, bool json)
{
    struct gs_config config;
    struct gs_mistakes mistakes = {0}, warnings = {0};
    int rc = gs_config_load(path, &config, &mistakes);
    if (!rc) {
        take_machine(&config.system);
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
            gs_option_error(argv, options, "gpusparc check");
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
