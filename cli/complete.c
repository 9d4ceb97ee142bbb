/* SPDX-License-Identifier: MIT */
#include "cli/complete.h"

#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/command.h"
#include "cli/paths.h"
#include "common/client/client.h"

enum { NAME = 48, MOST_OPTIONS = 64 };

struct known_option {
    char name[NAME];  /* with its two dashes */
    char value[NAME]; /* what its value is called; empty: it has none, or it stands in the same word */
    char about[128];
};

struct known_options {
    struct known_option v[MOST_OPTIONS];
    size_t n;
};

/* Values that --help doesn't spell as a|b. */
static const struct {
    const char *command, *option, *values;
} values[] = {
    {NULL, "--devices", "gpu all cpu:2 cpu:4 0 0,1"},
    {"run", "--mode", "auto single multi"},
    {"run", "--memory", "pooled"},
    {"devices", "--memory", "pooled"},
    {"run", "--pace", "task"},
    {"analyze", "--policy", "single local gema gema+ global"},
    {"analyze", "--analysis", "safe segments paper"},
    {"simulate", "--analysis", "safe segments paper"},
    {"simulate", "--generator", "gpu-sparc gcaps"},
    {"simulate", "--policies", "single local gema gema+ global"},
    {"bench", "--device", "cpu gpu"},
    {"bench", "--scale", "auto"},
    {"timing", "--scheduler", "lrr gto two-level variable all"},
    {"timing", "--case", "best average worst"},
    {"explain", "--as", "fp16 fp64 images 3d-image-writes int64-atomics subgroups"},
    {"probe", "--methods", "atomic warp tree exact all"},
};

static const struct gs_command *find_command(const char *name)
{
    for (int i = 0; gs_commands[i]; i++)
        if (strcmp(gs_commands[i]->name, name) == 0)
            return gs_commands[i];
    return NULL;
}

/* ---- what --help says ---- */

static struct known_option *add_option(struct known_options *o, const char *name, size_t n)
{
    for (size_t i = 0; i < o->n; i++)
        if (strlen(o->v[i].name) == n && strncmp(o->v[i].name, name, n) == 0)
            return &o->v[i];
    if (n >= NAME || o->n == MOST_OPTIONS)
        return NULL;
    struct known_option *k = &o->v[o->n++];
    *k = (struct known_option){0};
    memcpy(k->name, name, n);
    return k;
}

/* "--name VALUE" or "--name[=VALUE]", up to `end`. */
static void read_option(struct known_options *o, const char *at, const char *end, const char *about)
{
    size_t n = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
    struct known_option *k = n > 2 ? add_option(o, at, n) : NULL;
    if (!k)
        return;
    const char *value = at + n;
    if (*value == ' ' && value + 1 < end && value[1] != ' ' && value[1] != '-')
        snprintf(k->value, sizeof k->value, "%.*s", (int)strcspn(value + 1, " ,]\n"), value + 1);
    if (about && !*k->about)
        snprintf(k->about, sizeof k->about, "%.*s", (int)strcspn(about, "\n"), about);
}

/* A line "  --name VALUE, --other VALUE  what they are for". */
static void read_line(struct known_options *o, const char *line)
{
    const char *end = line + strcspn(line, "\n"), *about = strstr(line, "  ");
    if (about && about < end)
        about += strspn(about, " ");
    else
        about = NULL;
    const char *stop = about ? about : end;
    for (const char *at = line; at && at < stop; at = strstr(at + 2, "--"))
        read_option(o, at, stop, about);
}

static void read_help(struct known_options *o, const char *usage)
{
    o->n = 0;
    for (const char *at = usage; (at = strstr(at, "[--")); at++)
        read_option(o, at + 1, at + strcspn(at, "]"), NULL);
    for (const char *line = usage; *line;) {
        if (strncmp(line, "  --", 4) == 0)
            read_line(o, line + 2);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    struct known_option *help = add_option(o, "--help", 6);
    if (help)
        strcpy(help->about, "what it does and its options");
}

static const struct known_option *find_option(const struct known_options *o, const char *name)
{
    for (size_t i = 0; i < o->n; i++)
        if (strcmp(o->v[i].name, name) == 0)
            return &o->v[i];
    return NULL;
}

/* ---- candidates ---- */

/* Of "--mode=a" a value may take the place of what stands behind the '='. */
static void candidate(const char *typed, const char *word, const char *value, const char *about)
{
    const char *equals = typed[0] == '-' ? strchr(typed, '=') : NULL;
    const int before = equals ? (int)(equals + 1 - typed) : 0;
    if (strncmp(word, typed + before, strlen(typed + before)) == 0)
        printf("%.*s%s\t%s\t%s\n", before, typed, word, value, about);
}

/* The words of a list, with `separator` between them. */
static void candidates(const char *typed, const char *list, char separator)
{
    char word[NAME];
    for (size_t n; *list; list += n + (list[n] == separator)) {
        const char *end = strchr(list, separator);
        n = end ? (size_t)(end - list) : strlen(list);
        snprintf(word, sizeof word, "%.*s", (int)n, list);
        candidate(typed, word, "", "");
    }
}

static void complete_commands(const char *typed)
{
    for (int i = 0; gs_commands[i]; i++)
        candidate(typed, gs_commands[i]->name, "", gs_commands[i]->summary);
}

/* Of the daemon, if there is one. */
static void complete_tasks(const char *typed)
{
    char *text = NULL;
    json_t *state = gs_client_ask(NULL, GS_MSG_STATUS, NULL, 500, &text) == 0 ? json_loads(text, 0, NULL) : NULL, *t;
    size_t i;
    json_array_foreach(json_object_get(state, "tasks"), i, t)
    {
        candidate(typed, json_string_value(json_object_get(t, "task")), "", "a task of the daemon's");
    }
    json_decref(state);
    free(text);
}

static void complete_samples(const char *typed)
{
    char dir[PATH_MAX], path[PATH_MAX + 16];
    struct gs_bench_sample *samples = NULL;
    size_t n = 0;
    if (gs_library_path("samples", dir, sizeof dir) < 0)
        return;
    snprintf(path, sizeof path, "%s/MANIFEST", dir);
    if (gs_bench_read_manifest(path, &samples, &n) == 0)
        for (size_t i = 0; i < n; i++)
            candidate(typed, samples[i].name, "", samples[i].class);
    free(samples);
}

/* "auto|multi", "N|all", or a lone word in small letters: what is in capitals stands for something. */
static bool complete_spelt(const char *typed, const char *value)
{
    char word[NAME];
    bool any = false;
    for (size_t n; *value; value += n + (value[n] == '|')) {
        n = strcspn(value, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, value);
        bool small = *word;
        for (const char *c = word; *c; c++)
            small = small && (islower((unsigned char)*c) || *c == '-');
        if (small)
            candidate(typed, word, "", "");
        any = any || small;
    }
    return any;
}

static void complete_value(const struct gs_command *cmd, const struct known_option *o, const char *typed)
{
    if (strcmp(o->name, "--task") == 0) {
        complete_tasks(typed);
        return;
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i].option, o->name) == 0 &&
            (!values[i].command || strcmp(values[i].command, cmd->name) == 0)) {
            candidates(typed, values[i].values, ' ');
            return;
        }
    if (!complete_spelt(typed, o->value))
        puts(":files");
}

/* The n-th word of the command's own that is no option. */
static void complete_argument(const struct gs_command *cmd, int n, const char *typed)
{
    if (strcmp(cmd->name, "bench") == 0)
        complete_samples(typed);
    else if (strcmp(cmd->name, "probe") == 0 && n == 0)
        candidates(typed, "order sum latency starts handover", ' ');
    else if (strcmp(cmd->name, "set") == 0 && n == 0)
        complete_tasks(typed);
    else if (strcmp(cmd->name, "set") == 0)
        candidates(typed, "priority= period= deadline=", ' ');
    else
        puts(":files");
}

/* The option of which "--mode=a" begins a value, or null. */
static const struct known_option *option_before_equals(const struct known_options *o, const char *typed)
{
    char name[NAME];
    const size_t n = strcspn(typed, "=");
    if (!typed[n] || n >= sizeof name)
        return NULL;
    memcpy(name, typed, n);
    name[n] = 0;
    return find_option(o, name);
}

static void complete_word(const struct gs_command *cmd, int argc, char **argv)
{
    static struct known_options known;
    const char *typed = argv[argc - 1];
    int arguments = 0;
    read_help(&known, cmd->usage);
    for (int i = 1; i < argc - 1; i++) {
        const struct known_option *o = find_option(&known, argv[i]);
        const bool has_value = o && *o->value;
        if (has_value && i + 1 == argc - 1) {
            complete_value(cmd, o, typed);
            return;
        }
        const bool ends = strcmp(argv[i], "--") == 0;
        if (cmd->starts_app && (ends || argv[i][0] != '-')) {
            printf(":app %d\n", i + ends);
            return;
        }
        arguments += argv[i][0] != '-';
        i += has_value;
    }
    const struct known_option *begun = option_before_equals(&known, typed);
    if (begun)
        complete_value(cmd, begun, typed);
    else if (typed[0] == '-')
        for (size_t i = 0; i < known.n; i++)
            candidate(typed, known.v[i].name, known.v[i].value, known.v[i].about);
    else if (cmd->starts_app)
        printf(":app %d\n", argc - 1);
    else
        complete_argument(cmd, arguments, typed);
}

void gs_complete(int argc, char **argv)
{
    if (argc < 1)
        return;
    const struct gs_command *cmd = argc > 1 ? find_command(argv[0]) : NULL;
    if (argc == 1) {
        complete_commands(argv[0]);
        candidate(argv[0], "--help", "", "what there is");
        candidate(argv[0], "--version", "", "the version");
        if (argv[0][0] == '-')
            candidate(argv[0], "-V", "", "the version");
    } else if (cmd) {
        complete_word(cmd, argc, argv);
    } else if (strcmp(argv[0], "help") == 0 && argc == 2) {
        complete_commands(argv[1]);
    }
}
