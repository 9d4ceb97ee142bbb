/* SPDX-License-Identifier: MIT */
/* gpusparc set: other values for a task of the daemon's, while it runs. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/config_edit.h"
#include "cli/daemon_view.h"
#include "common/client/client.h"
#include "common/config.h"
#include "common/log.h"
#include "common/options.h"

static const char usage[] =
    "Usage: gpusparc set TASK [priority=N] [period=TIME] [deadline=TIME] [--force] [--write] [--json]\n"
    "                    [--socket PATH]\n"
    "Gives a task of the daemon's config another priority, period or deadline, for its applications that run too. The\n"
    "daemon analyzes the tasks first, and changes nothing where deadlines could be missed that are met now. It lasts\n"
    "until the daemon ends or reads its config again. For root and the daemon's own user.\n\n"
    "  --force        change it all the same\n"
    "  --write        write it to the daemon's config file, too\n"
    "  --json         what was changed, or why nothing was, as JSON\n"
    "  --socket PATH  the daemon's\n\n"
    "Exits 1 if nothing was changed, or the file can't be written.\n";

struct value {
    const char *key, *text;
};

struct change {
    struct gs_msg_set set;
    struct value values[3]; /* as typed */
    size_t n;
    bool write, json;
    const char *socket;
};

static int wrong(const char *word, const char *wanted)
{
    gs_error("'%s': %s; see gpusparc set --help", word, wanted);
    return -EINVAL;
}

static int read_time(char *word, const char *text, uint64_t *ns)
{
    int64_t v;
    if (gs_parse_duration(text, strlen(text), &v) < 0 || v <= 0)
        return wrong(word, "a period or deadline is a duration above zero, as in period=50ms");
    *ns = (uint64_t)v;
    return 0;
}

/* "priority=3" */
static int read_value(struct change *c, char *word)
{
    static const struct {
        const char *key;
        uint32_t flag;
    } keys[] = {{"priority", GS_SET_PRIORITY}, {"period", GS_SET_PERIOD}, {"deadline", GS_SET_DEADLINE}};
    char *equals = strchr(word, '='), *end;
    const size_t n = equals ? (size_t)(equals - word) : 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!equals || strlen(keys[i].key) != n || strncmp(keys[i].key, word, n) != 0)
            continue;
        if (c->set.flags & keys[i].flag)
            return wrong(word, "it is given twice");
        c->set.flags |= keys[i].flag;
        c->values[c->n++] = (struct value){keys[i].key, equals + 1};
        if (keys[i].flag != GS_SET_PRIORITY)
            return read_time(word, equals + 1, keys[i].flag == GS_SET_PERIOD ? &c->set.period_ns : &c->set.deadline_ns);
        const long v = strtol(equals + 1, &end, 10);
        if (end == equals + 1 || *end || v < INT_MIN || v > INT_MAX)
            return wrong(word, "a priority is a whole number");
        c->set.priority = (int32_t)v;
        return 0;
    }
    return wrong(word, "there are priority=N, period=TIME and deadline=TIME");
}

static int read_words(struct change *c, int argc, char **argv)
{
    static const struct option options[] = {{"force", no_argument, NULL, 'f'},
                                            {"write", no_argument, NULL, 'w'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"socket", required_argument, NULL, 's'},
                                            {0}};
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (opt == '?') {
            gs_option_error(argv, options, "gpusparc set");
            return -EINVAL;
        }
        if (opt == 'f')
            c->set.flags |= GS_SET_FORCE;
        else if (opt == 'w')
            c->write = true;
        else if (opt == 'j')
            c->json = true;
        else
            c->socket = optarg;
    }
    if (optind + 1 >= argc) {
        gs_error("set takes a task and what to change, as in: gpusparc set camera period=50ms; see gpusparc set "
                 "--help");
        return -EINVAL;
    }
    if (snprintf(c->set.task, sizeof c->set.task, "%s", argv[optind]) >= (int)sizeof c->set.task)
        return wrong(argv[optind], "no task has such a long name");
    for (int i = optind + 1; i < argc; i++)
        if (read_value(c, argv[i]) < 0)
            return -EINVAL;
    return 0;
}

/* The daemon's config file, also where it was given to the daemon by a relative path. */
static int find_config(const char *socket, char *path, size_t bytes)
{
    json_t *state = gs_daemon_state(socket, false);
    const json_t *d = json_object_get(state, "daemon");
    const char *config = json_string_value(json_object_get(d, "config"));
    int n = -1;
    if (config && *config == '/')
        n = snprintf(path, bytes, "%s", config);
    else if (config)
        n = snprintf(path, bytes, "/proc/%lld/cwd/%s", (long long)json_integer_value(json_object_get(d, "pid")),
                     config);
    json_decref(state);
    return n > 0 && n < (int)bytes ? 0 : -ENOENT;
}

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t cap = 0;
    FILE *f = fopen(path, "re");
    if (f && getdelim(&text, &cap, 0, f) < 0) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

/* *path: the file that was written. */
static int write_file(const struct change *c, char path[PATH_MAX])
{
    char why[PATH_MAX + 256];
    if (find_config(c->socket, path, PATH_MAX) < 0) {
        gs_error("the daemon is changed, but has no config file to write to");
        return GS_EXIT_FAILED;
    }
    char *text = read_file(path);
    if (!text) {
        gs_error("the daemon is changed, but %s can't be read: %s", path, strerror(errno));
        return GS_EXIT_FAILED;
    }
    for (size_t i = 0; i < c->n && text; i++) {
        char *changed = gs_config_edit(text, c->set.task, c->values[i].key, c->values[i].text);
        free(text);
        text = changed;
    }
    int err = text ? gs_config_replace(path, text, why, sizeof why) : -ENOENT;
    if (!text)
        gs_error("the daemon is changed, but %s has no section [task %s] any more", path, c->set.task);
    else if (err)
        gs_error("the daemon is changed, but %s", why);
    free(text);
    return err ? GS_EXIT_FAILED : GS_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct change c = {0};
    char *text = NULL, path[PATH_MAX];
    if (read_words(&c, argc, argv) < 0)
        return GS_EXIT_USAGE;
    const int err = gs_client_set(c.socket, &c.set, 5000, &text);
    if (err < 0)
        gs_daemon_error(err, c.socket, text);
    if (err < 0) {
        free(text);
        return GS_EXIT_FAILED;
    }
    if (!c.json)
        puts(text);
    const int status = c.write ? write_file(&c, path) : GS_EXIT_OK;
    if (c.json)
        gs_daemon_print_change(text, c.write && status == GS_EXIT_OK ? path : NULL);
    else if (c.write && status == GS_EXIT_OK)
        printf("%s is written\n", path);
    free(text);
    return status;
}

const struct gs_command gs_cmd_set = {
    .name = "set",
    .summary = "another priority or period for a task, while it runs",
    .usage = usage,
    .run = run,
};
