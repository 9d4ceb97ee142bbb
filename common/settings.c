/* SPDX-License-Identifier: MIT */
#include "common/settings.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A decimal number from 1 to max that ends at `end`. 0 if it is none. */
static unsigned parse_count(const char *text, char end, unsigned max, const char **after)
{
    char *stop;
    if (*text < '0' || *text > '9')
        return 0;
    unsigned long n = strtoul(text, &stop, 10);
    if (*stop != end || n > max)
        return 0;
    *after = stop;
    return (unsigned)n;
}

/* As the config allows them (common/config.c). */
static bool is_task_name(const char *value)
{
    enum { MOST = 43 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const size_t n = strspn(value, letters);
    return n > 0 && n <= MOST && !value[n];
}

static int parse_word(const char *const *words, const char *value)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    return -1;
}

/* "0,2,3": each index once. */
static int parse_indices(struct gs_settings *s, const char *value)
{
    unsigned n = 0;
    for (const char *at = value;;) {
        char *stop;
        if (*at < '0' || *at > '9' || n == GS_MAX_DEVICES)
            return -EINVAL;
        unsigned long index = strtoul(at, &stop, 10);
        if (index > 4095 || (*stop && *stop != ','))
            return -EINVAL;
        for (unsigned i = 0; i < n; i++)
            if (s->spec_index[i] == index)
                return -EINVAL;
        s->spec_index[n++] = (unsigned)index;
        if (!*stop)
            break;
        at = stop + 1;
    }
    s->spec = GS_SPEC_INDICES;
    s->spec_n = n;
    return 0;
}

static int parse_devices(struct gs_settings *s, const char *value)
{
    const char *after;
    if (strcmp(value, "gpu") == 0) {
        s->spec = GS_SPEC_GPU;
        return 0;
    }
    if (strcmp(value, "all") == 0) {
        s->spec = GS_SPEC_ALL;
        return 0;
    }
    if (strncmp(value, "cpu:", 4) == 0) {
        unsigned n = parse_count(value + 4, '\0', GS_MAX_DEVICES, &after);
        if (!n)
            return -EINVAL;
        s->spec = GS_SPEC_CPU;
        s->spec_n = n;
        return 0;
    }
    struct gs_settings copy = *s;
    if (parse_indices(&copy, value) < 0)
        return -EINVAL;
    *s = copy;
    return 0;
}

/* "250ms", "1.5s": a length of time above zero, at most a day. 0 if it is none. */
static uint64_t parse_period(const char *value)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *unit;
    if (*value < '0' || *value > '9')
        return 0;
    double number = (double)strtoull(value, &unit, 10);
    if (*unit == '.') /* strtod would want the comma of an application's locale */
        for (double place = 0.1; *++unit >= '0' && *unit <= '9'; place /= 10)
            number += (*unit - '0') * place;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0 && number * units[i].ns >= 1 && number * units[i].ns <= 86400e9)
            return (uint64_t)(number * units[i].ns + 0.5);
    return 0;
}

/* "64GiB", "512MiB": a whole number of them. 0 if it is none. */
static uint64_t parse_bytes(const char *value)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    const char *unit = value + strspn(value, "0123456789");
    if (unit == value || unit - value > 6)
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0)
            return strtoull(value, NULL, 10) << units[i].shift;
    return 0;
}

static bool parse_memory(struct gs_settings *s, const char *value)
{
    static const char pooled[] = "pooled", host[] = "+host:";
    if (strncmp(value, pooled, sizeof pooled - 1) != 0)
        return false;
    value += sizeof pooled - 1;
    s->pooled_host = 0;
    if (*value &&
        (strncmp(value, host, sizeof host - 1) != 0 || !(s->pooled_host = parse_bytes(value + sizeof host - 1))))
        return false;
    s->pooled = true;
    return true;
}

static bool parse_flag(const char *value)
{
    return *value && strcmp(value, "0") != 0;
}

/* Words with commas between them. */
static bool is_list(const char *value)
{
    return *value && *value != ',' && value[strlen(value) - 1] != ',' && !strstr(value, ",,");
}

bool gs_parse_allowed(const char *value, bool *reorder, bool *race)
{
    *reorder =
        strcmp(value, "reorder") == 0 || strcmp(value, "reorder,race") == 0 || strcmp(value, "race,reorder") == 0;
    *race = strcmp(value, "race") == 0 || (*reorder && strchr(value, ','));
    return *reorder || *race;
}

static bool matches_one(const char *list, const char *name)
{
    char pattern[256];
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, list);
        if (n < sizeof pattern && fnmatch(pattern, name, 0) == 0)
            return true;
    }
    return false;
}

bool gs_settings_choose(const struct gs_settings *s, const char *kernel)
{
    return (!s->only || matches_one(s->only, kernel)) && (!s->not || !matches_one(s->not, kernel));
}

int gs_settings_set(struct gs_settings *s, const char *variable, const char *called, const char *value, char *why,
                    size_t why_bytes)
{
    static const char *const modes[] = {"auto", "single", "multi", NULL};
    static const char *const paths[] = {"auto", "plain", "pinned", "shared", "peer", NULL};
    const char *expected = NULL, *after;
    if (strcmp(variable, "GPUSPARC_GPUS") == 0) {
        unsigned n = parse_count(value, '\0', GS_MAX_DEVICES, &after);
        if (n)
            s->gpus = n;
        else if (strcmp(value, "all") == 0)
            s->gpus = 0;
        else
            expected = "a number from 1 to 16, or all";
    } else if (strcmp(variable, "GPUSPARC_MODE") == 0) {
        int mode = parse_word(modes, value);
        if (mode >= 0)
            s->mode = (enum gs_mode)mode;
        else
            expected = "auto, single or multi";
    } else if (strcmp(variable, "GPUSPARC_DEVICES") == 0) {
        if (parse_devices(s, value) < 0)
            expected = "gpu, all, indices such as 0,2, or cpu:N with N from 1 to 16";
    } else if (strcmp(variable, "GPUSPARC_MEMORY") == 0) {
        if (!parse_memory(s, value))
            expected = "pooled, or pooled+host:SIZE with a size such as 64GiB";
    } else if (strcmp(variable, "GPUSPARC_TRANSFER") == 0) {
        int path = parse_word(paths, value);
        if (path >= 0)
            s->transfer = (enum gs_transfer_path)path;
        else
            expected = "auto, plain, pinned, shared or peer";
    } else if (strcmp(variable, "GPUSPARC_TRANSLATE_TIMEOUT") == 0) {
        unsigned n = parse_count(value, '\0', 3600, &after);
        if (n)
            s->translate_timeout_ms = n * 1000;
        else
            expected = "a number of seconds from 1 to 3600";
    } else if (strcmp(variable, "GPUSPARC_TASK") == 0) {
        if (is_task_name(value))
            s->task = value;
        else
            expected = "the name of a task: at most 43 letters, digits, '_', '.' or '-'";
    } else if (strcmp(variable, "GPUSPARC_TASK_REQUIRED") == 0) {
        s->task_required = parse_flag(value);
    } else if (strcmp(variable, "GPUSPARC_DAEMON") == 0) {
        s->no_daemon = strcmp(value, "off") == 0;
        if (!s->no_daemon && strcmp(value, "on") != 0)
            expected = "on or off";
    } else if (strcmp(variable, "GPUSPARC_PACE") == 0) {
        s->pace_ns = parse_period(value);
        s->pace = s->pace_ns || strcmp(value, "task") == 0;
        if (!s->pace)
            expected = "a length of time such as 40ms or 1.5s, or task: the task's own period";
    } else if (strcmp(variable, "GPUSPARC_VERIFY") == 0) {
        s->verify = parse_flag(value);
    } else if (strcmp(variable, "GPUSPARC_ALLOW") == 0) {
        if (!gs_parse_allowed(value, &s->allow_reorder, &s->allow_race))
            expected = "reorder, race or both, with a comma between them";
    } else if (strcmp(variable, "GPUSPARC_FORGET") == 0) {
        s->forget = parse_flag(value);
    } else if (strcmp(variable, "GPUSPARC_ONLY") == 0 || strcmp(variable, "GPUSPARC_NOT") == 0) {
        *(strcmp(variable, "GPUSPARC_NOT") == 0 ? &s->not : &s->only) = value;
        if (!is_list(value))
            expected = "kernels' names with commas between them, in which * and ? stand for any letters";
    } else if (strcmp(variable, "GPUSPARC_STATS") == 0) {
        s->stats = value;
    } else if (strcmp(variable, "GPUSPARC_REMOTE") == 0) {
        s->remote = value;
    } else if (strcmp(variable, "GPUSPARC_TRACE") == 0) {
        s->trace = value;
    } else if (strcmp(variable, "GPUSPARC_DUMP") == 0) {
        s->dump = value;
    }
    if (!expected)
        return 0;
    snprintf(why, why_bytes, "'%s' is no value for %s: it takes %s", value, called, expected);
    return -EINVAL;
}

int gs_settings_from_env(struct gs_settings *s, char *why, size_t why_bytes)
{
    static const char *const variables[] = {"GPUSPARC_GPUS",   "GPUSPARC_MODE",     "GPUSPARC_DEVICES",
                                            "GPUSPARC_MEMORY", "GPUSPARC_TRANSFER", "GPUSPARC_TRANSLATE_TIMEOUT",
                                            "GPUSPARC_VERIFY", "GPUSPARC_ALLOW",    "GPUSPARC_STATS",
                                            "GPUSPARC_TASK",   "GPUSPARC_DAEMON",   "GPUSPARC_PACE",
                                            "GPUSPARC_FORGET", "GPUSPARC_TRACE",    "GPUSPARC_TASK_REQUIRED",
                                            "GPUSPARC_ONLY",   "GPUSPARC_NOT",      "GPUSPARC_DUMP",
                                            "GPUSPARC_REMOTE"};
    *s = (struct gs_settings){.translate_timeout_ms = 20000};
    int err = 0;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = secure_getenv(variables[i]);
        char sentence[256];
        if (!value || !*value || gs_settings_set(s, variables[i], variables[i], value, sentence, sizeof sentence) == 0)
            continue;
        if (!err)
            snprintf(why, why_bytes, "%s", sentence);
        err = -EINVAL;
    }
    if (s->pooled) { /* it has ways of its own */
        s->mode = GS_MODE_MULTI;
        s->verify = s->pace = false;
        s->task = NULL;
    }
    return err;
}
