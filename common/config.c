/* SPDX-License-Identifier: MIT */
/* The config file's keys: what each may hold and where it goes. Lines come from common/config_lines.c. */
#include "common/config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config_lines.h"
#include "common/file.h"

enum value_type { SERVERS, DURATION, OVERRUNS, LIARS, BYTES, COUNT, JOBS, TEXT, WORD, RESOURCE_SET, MODE, PRIORITY };

struct key {
    const char *name;
    enum value_type type;
    size_t offset;            /* of the field in the section's struct */
    const char *const *words; /* of a WORD, in the order of its enum; ends in NULL */
};

static const char *const pieces_words[] = {"own", "any", "gang", NULL};
static const char *const admission_words[] = {"warn", "refuse", "best-effort", NULL};
static const char *const realtime_words[] = {"yes", "no", NULL};
static const char *const probes_words[] = {"owner", "all", NULL};
static const char *const awake_words[] = {"auto", "yes", "no", NULL};
static const char *const alone_words[] = {"large", "chunks", NULL};
static const char *const moves_words[] = {"free", "always", NULL};

static const struct key system_keys[] = {
    {"gpus", SERVERS, offsetof(struct gs_config_system, servers[GS_GPU]), NULL},
    {"cpus", SERVERS, offsetof(struct gs_config_system, servers[GS_CPU]), NULL},
    {"links", SERVERS, offsetof(struct gs_config_system, servers[GS_PCI]), NULL},
    {"preemptive", RESOURCE_SET, offsetof(struct gs_config_system, preemptive), NULL},
    {"pieces", WORD, offsetof(struct gs_config_system, pieces), pieces_words},
    {"admission", WORD, offsetof(struct gs_config_system, admission), admission_words},
    {"transfer_chunk", BYTES, offsetof(struct gs_config_system, transfer_chunk_bytes), NULL},
    {"kernel_chunk", COUNT, offsetof(struct gs_config_system, kernel_chunk), NULL},
    {"depth", SERVERS, offsetof(struct gs_config_system, depth), NULL},
    {"pci_chunk", DURATION, offsetof(struct gs_config_system, chunk_ns[GS_PCI]), NULL},
    {"gpu_chunk", DURATION, offsetof(struct gs_config_system, chunk_ns[GS_GPU]), NULL},
    {"handover", DURATION, offsetof(struct gs_config_system, handover_ns), NULL},
    {"watchdog", DURATION, offsetof(struct gs_config_system, watchdog_ns), NULL},
    {"overruns", OVERRUNS, offsetof(struct gs_config_system, overruns_ns), NULL},
    {"liars", LIARS, offsetof(struct gs_config_system, liars), NULL},
    {"realtime", WORD, offsetof(struct gs_config_system, realtime), realtime_words},
    {"probes", WORD, offsetof(struct gs_config_system, probes), probes_words},
    {"awake", WORD, offsetof(struct gs_config_system, awake), awake_words},
    {"alone", WORD, offsetof(struct gs_config_system, alone), alone_words},
    {"hosts", TEXT, offsetof(struct gs_config_system, hosts), NULL},
    {NULL, COUNT, 0, NULL},
};

static const struct key task_keys[] = {
    {"match", TEXT, offsetof(struct gs_config_task, match), NULL},
    {"user", TEXT, offsetof(struct gs_config_task, user), NULL},
    {"period", DURATION, offsetof(struct gs_config_task, period_ns), NULL},
    {"deadline", DURATION, offsetof(struct gs_config_task, deadline_ns), NULL},
    {"priority", PRIORITY, offsetof(struct gs_config_task, priority), NULL},
    {"mode", MODE, offsetof(struct gs_config_task, mode), NULL},
    {"warmup", JOBS, offsetof(struct gs_config_task, warmup), NULL},
    {"moves", WORD, offsetof(struct gs_config_task, moves), moves_words},
    {"transfer_chunk", BYTES, offsetof(struct gs_config_task, transfer_chunk_bytes), NULL},
    {"kernel_chunk", COUNT, offsetof(struct gs_config_task, kernel_chunk), NULL},
    {"pci_chunk", DURATION, offsetof(struct gs_config_task, chunk_ns[GS_PCI]), NULL},
    {"gpu_chunk", DURATION, offsetof(struct gs_config_task, chunk_ns[GS_GPU]), NULL},
    {NULL, COUNT, 0, NULL},
};

struct reader {
    struct gs_config *config;
    struct gs_mistakes *mistakes;
    bool full; /* of tasks, which has been said */
    const struct gs_config_lines *lines;
};

/* A whole number in [min, max], nothing after it. */
static int parse_int(const char *text, long min, long max, long *out)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (end == text || *end || isspace((unsigned char)*text) || *text == '+')
        return -EINVAL;
    if (errno || v < min || v > max)
        return -ERANGE;
    *out = v;
    return 0;
}

static int word_index(const char *const *words, const char *text, size_t length)
{
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
            return i;
    return -1;
}

static int resource_index(const char *text, size_t length)
{
    for (int i = 0; i < GS_RESOURCES; i++)
        if (strlen(gs_resource_names[i]) == length && strncmp(gs_resource_names[i], text, length) == 0)
            return i;
    return -1;
}

/* Cuts blanks off both ends of text[0..*length). */
static const char *trim(const char *text, size_t *length)
{
    while (*length && isspace((unsigned char)*text)) {
        text++;
        --*length;
    }
    while (*length && isspace((unsigned char)text[*length - 1]))
        --*length;
    return text;
}

/* `preemptive = cpu, gpu`, or `none`. */
static int read_resource_set(struct reader *r, const struct gs_config_entry *e, bool *set)
{
    for (int i = 0; i < GS_RESOURCES; i++)
        set[i] = false;
    if (strcmp(e->value, "none") == 0)
        return 0;
    for (const char *p = e->value;;) {
        size_t whole = strcspn(p, ","), n = whole;
        const char *word = trim(p, &n);
        int i = resource_index(word, n);
        if (i < 0)
            return gs_mistakes_add(r->mistakes, e->line, "%s: '%.*s' is none of cpu, pci, gpu, or none alone", e->key,
                                   (int)n, word);
        set[i] = true;
        if (!p[whole])
            return 0;
        p += whole + 1;
    }
}

static int read_word(struct reader *r, const struct gs_config_entry *e, const struct key *k, void *field)
{
    int i = word_index(k->words, e->value, strlen(e->value));
    if (i >= 0) {
        memcpy(field, &i, sizeof i); /* an enum is an int here */
        return 0;
    }
    char list[128] = "";
    for (int j = 0; k->words[j]; j++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", j ? ", " : "", k->words[j]);
    return gs_mistakes_add(r->mistakes, e->line, "%s: '%s' is none of %s", e->key, e->value, list);
}

static int read_mode(struct reader *r, const struct gs_config_entry *e, int *mode)
{
    long v;
    if (strcmp(e->value, "auto") == 0)
        *mode = GS_MODE_AUTO;
    else if (strcmp(e->value, "single") == 0)
        *mode = 1;
    else if (strcmp(e->value, "multi") == 0)
        *mode = GS_MODE_MULTI;
    else if (parse_int(e->value, 1, GS_CONFIG_MAX_SERVERS, &v) == 0)
        *mode = (int)v;
    else
        return gs_mistakes_add(r->mistakes, e->line, "mode: '%s' is none of auto, single, multi or a number of GPUs",
                               e->value);
    return 0;
}

static int read_number(struct reader *r, const struct gs_config_entry *e, long min, long max, long *v)
{
    int rc = parse_int(e->value, min, max, v);
    if (rc == -EINVAL)
        return gs_mistakes_add(r->mistakes, e->line, "%s: '%s' is not a whole number", e->key, e->value) ? -ENOMEM : rc;
    if (rc)
        return gs_mistakes_add(r->mistakes, e->line, "%s: %s is not between %ld and %ld", e->key, e->value, min, max)
                   ? -ENOMEM
                   : rc;
    return 0;
}

static int duration_mistake(struct reader *r, int line, const char *what, const char *text, size_t n, int rc)
{
    if (rc == -ERANGE)
        return gs_mistakes_add(r->mistakes, line, "%s: '%.*s' is negative or longer than 13 days", what, (int)n, text);
    return gs_mistakes_add(r->mistakes, line,
                           "%s: '%.*s' is not a duration: a number, and ns, us, ms or s, in whole nanoseconds", what,
                           (int)n, text);
}

static int read_quantity(struct reader *r, const struct gs_config_entry *e, const struct key *k, void *field)
{
    size_t n = strlen(e->value);
    if (k->type == DURATION) {
        int64_t ns;
        int rc = gs_parse_duration(e->value, n, &ns);
        if (rc)
            return duration_mistake(r, e->line, e->key, e->value, n, rc);
        if (!ns)
            return gs_mistakes_add(r->mistakes, e->line, "%s: must be above zero", e->key);
        memcpy(field, &ns, sizeof ns);
        return 0;
    }
    uint64_t bytes;
    if (gs_parse_bytes(e->value, n, &bytes) || !bytes)
        return gs_mistakes_add(r->mistakes, e->line,
                               "%s: '%s' is not a size: a number above zero, and KiB, MiB, GiB or nothing for bytes",
                               e->key, e->value);
    memcpy(field, &bytes, sizeof bytes);
    return 0;
}

static int read_overruns(struct reader *r, const struct gs_config_entry *e, int64_t *ns)
{
    if (strcmp(e->value, "process") == 0)
        *ns = GS_OVERRUNS_PROCESS;
    else if (strcmp(e->value, "reload") == 0)
        *ns = GS_OVERRUNS_RELOAD;
    else if (gs_parse_duration(e->value, strlen(e->value), ns) || *ns <= 0)
        return gs_mistakes_add(r->mistakes, e->line, "%s: '%s' is none of process, reload, or a time above zero",
                               e->key, e->value);
    return 0;
}

static int read_liars(struct reader *r, const struct gs_config_entry *e, int *liars)
{
    long users = GS_LIARS_NO;
    if (strcmp(e->value, "yes") == 0)
        users = GS_LIARS_ANY;
    else if (strcmp(e->value, "no") != 0 && parse_int(e->value, 1, GS_CONFIG_MAX_LIARS, &users))
        return gs_mistakes_add(r->mistakes, e->line, "%s: '%s' is none of no, yes, or a number of users from 1 to %d",
                               e->key, e->value, GS_CONFIG_MAX_LIARS);
    *liars = (int)users;
    return 0;
}

/* Puts one entry's value where its key says. `base` is the section's struct. 0 or -ENOMEM; mistakes are noted. */
static int read_value(struct reader *r, const struct gs_config_entry *e, const struct key *k, void *base)
{
    void *field = (char *)base + k->offset;
    long v;
    int rc;
    switch (k->type) {
    case SERVERS:
        rc = read_number(r, e, 1, GS_CONFIG_MAX_SERVERS, &v);
        if (!rc)
            *(int *)field = (int)v;
        return rc == -ENOMEM ? rc : 0;
    case COUNT:
        rc = read_number(r, e, 1, 1 << 20, &v);
        if (!rc)
            *(uint64_t *)field = (uint64_t)v;
        return rc == -ENOMEM ? rc : 0;
    case JOBS:
        rc = read_number(r, e, 0, 1 << 20, &v);
        if (!rc)
            *(int *)field = (int)v;
        return rc == -ENOMEM ? rc : 0;
    case PRIORITY:
        rc = read_number(r, e, INT_MIN, INT_MAX, &v);
        if (!rc) {
            *(int *)field = (int)v;
            ((struct gs_config_task *)base)->has_priority = true;
        }
        return rc == -ENOMEM ? rc : 0;
    case DURATION:
    case BYTES:
        return read_quantity(r, e, k, field);
    case OVERRUNS:
        return read_overruns(r, e, field);
    case LIARS:
        return read_liars(r, e, field);
    case TEXT:
        free(*(char **)field);
        *(char **)field = strdup(e->value);
        return *(char **)field ? 0 : -ENOMEM;
    case WORD:
        return read_word(r, e, k, field);
    case RESOURCE_SET:
        return read_resource_set(r, e, field);
    case MODE:
        return read_mode(r, e, field);
    }
    return 0;
}

/* "pauses 20 3ms" at the end of a segment: cuts it off text[0..*n). */
static int read_pauses(struct reader *r, const char *key, int line, const char *text, size_t *n,
                       struct gs_config_segment *s)
{
    static const char word[] = " pauses ";
    const char *at = memmem(text, *n, word, sizeof word - 1);
    if (!at)
        return 0;
    size_t rest = *n - (size_t)(at + sizeof word - 1 - text), digits = 0;
    const char *number = trim(at + sizeof word - 1, &rest);
    for (; digits < rest && number[digits] >= '0' && number[digits] <= '9'; digits++)
        s->pauses = s->pauses > GS_CONFIG_MAX_PAUSES ? s->pauses : s->pauses * 10 + number[digits] - '0';
    size_t left = rest - digits;
    const char *time = trim(number + digits, &left);
    *n = (size_t)(at - text);
    if (!digits || s->pauses < 1 || s->pauses > GS_CONFIG_MAX_PAUSES || gs_parse_duration(time, left, &s->pause_ns))
        return gs_mistakes_add(r->mistakes, line,
                               "%s: '%.*s' is no number of pauses, 1 to %d, and their time, as in "
                               "'pauses 20 3ms'",
                               key, (int)rest, number, GS_CONFIG_MAX_PAUSES);
    if (s->resource == GS_CPU)
        return gs_mistakes_add(r->mistakes, line, "%s: a CPU segment has no pauses", key);
    return 0;
}

/* "chunks 60" at the end of a segment: cuts it off text[0..*n). */
static int read_chunks(struct reader *r, const char *key, int line, const char *text, size_t *n,
                       struct gs_config_segment *s)
{
    static const char word[] = " chunks ";
    const char *at = memmem(text, *n, word, sizeof word - 1);
    if (!at)
        return 0;
    size_t rest = *n - (size_t)(at + sizeof word - 1 - text), digits = 0;
    const char *number = trim(at + sizeof word - 1, &rest);
    for (; digits < rest && number[digits] >= '0' && number[digits] <= '9'; digits++)
        s->chunks = s->chunks > GS_CONFIG_MAX_CHUNKS ? s->chunks : s->chunks * 10 + number[digits] - '0';
    *n = (size_t)(at - text);
    if (!digits || digits < rest || s->chunks < 1 || s->chunks > GS_CONFIG_MAX_CHUNKS)
        return gs_mistakes_add(r->mistakes, line,
                               "%s: '%.*s' is no number of chunks, 1 to %d, as in 'chunks 60' at the "
                               "segment's end",
                               key, (int)rest, number, GS_CONFIG_MAX_CHUNKS);
    if (s->resource == GS_CPU)
        return gs_mistakes_add(r->mistakes, line, "%s: a CPU segment has no chunks", key);
    return 0;
}

/* "gpu 80ms..100ms" or "gpu 100ms", and perhaps pauses and chunks. */
static int read_segment(struct reader *r, const char *key, int line, const char *text, size_t n,
                        struct gs_config_segment *s)
{
    size_t word = 0;
    while (word < n && !isspace((unsigned char)text[word]))
        word++;
    int resource = resource_index(text, word);
    size_t rest = n - word;
    const char *time = trim(text + word, &rest);
    *s = (struct gs_config_segment){0};
    if (resource < 0 || !rest)
        return gs_mistakes_add(r->mistakes, line, "%s: '%.*s' is not cpu, pci or gpu and a time, as in 'gpu 100ms'",
                               key, (int)n, text);
    s->resource = (enum gs_resource)resource;
    int rc = read_chunks(r, key, line, time, &rest, s);
    if (!rc)
        rc = read_pauses(r, key, line, time, &rest, s);
    if (rc)
        return rc;
    time = trim(time, &rest);
    const char *dots = memmem(time, rest, "..", 2);
    if (dots) {
        size_t left = (size_t)(dots - time);
        const char *best = trim(time, &left);
        if ((rc = gs_parse_duration(best, left, &s->best_ns)))
            return duration_mistake(r, line, key, best, left, rc);
        rest -= (size_t)(dots + 2 - time);
        time = trim(dots + 2, &rest);
    }
    if ((rc = gs_parse_duration(time, rest, &s->worst_ns)))
        return duration_mistake(r, line, key, time, rest, rc);
    if (s->best_ns > s->worst_ns)
        return gs_mistakes_add(r->mistakes, line, "%s: in '%.*s' the shortest time is longer than the longest", key,
                               (int)n, text);
    return 0;
}

static int read_chain(struct reader *r, const struct gs_config_entry *e, struct gs_config_task *task)
{
    long gpus;
    if (parse_int(e->key + strlen("segments."), 1, GS_CONFIG_MAX_SERVERS, &gpus))
        return gs_mistakes_add(r->mistakes, e->line, "%s: the number of GPUs must be 1 to %d, as in segments.1", e->key,
                               GS_CONFIG_MAX_SERVERS);
    struct gs_config_chain *chain = &task->chains[gpus];
    if (chain->line)
        return gs_mistakes_add(r->mistakes, e->line, "%s: there is a chain for %ld GPUs already, in line %d", e->key,
                               gpus, chain->line);
    chain->line = e->line;
    size_t commas = 0;
    for (const char *p = e->value; *p; p++)
        commas += *p == ',';
    if (commas >= GS_CONFIG_MAX_SEGMENTS)
        return gs_mistakes_add(r->mistakes, e->line, "%s: more than %d segments", e->key, GS_CONFIG_MAX_SEGMENTS);
    chain->segments = calloc(commas + 1, sizeof *chain->segments);
    if (!chain->segments)
        return -ENOMEM;
    int line = e->line;
    for (const char *p = e->value;;) {
        size_t whole = strcspn(p, ","), n = whole;
        const char *text = trim(p, &n);
        for (; p < text; p++, whole--)
            line += *p == '\n';
        int rc = read_segment(r, e->key, line, text, n, &chain->segments[chain->n_segments++]);
        if (rc)
            return rc;
        for (size_t i = 0; i < whole; i++)
            line += p[i] == '\n';
        if (!p[whole])
            return 0;
        p += whole + 1;
    }
}

static int read_entry(struct reader *r, const struct gs_config_entry *e, const struct key *keys, void *base,
                      struct gs_config_task *task)
{
    if (task && strncmp(e->key, "segments.", strlen("segments.")) == 0)
        return read_chain(r, e, task);
    for (; keys->name; keys++)
        if (strcmp(keys->name, e->key) == 0)
            return read_value(r, e, keys, base);
    return gs_mistakes_add(r->mistakes, e->line, "a [%s] section has no key '%s'", task ? "task" : "system", e->key);
}

static bool names(const struct gs_config_section *s, const char *key)
{
    for (size_t i = 0; i < s->n_entries; i++)
        if (strcmp(s->entries[i].key, key) == 0)
            return true;
    return false;
}

/* Checks what one section's values say together. */
static int finish_task(struct reader *r, const struct gs_config_section *s, struct gs_config_task *t)
{
    int rc = 0;
    if (!t->period_ns && !names(s, "period")) /* what is wrong with one that is there has been said */
        rc = gs_mistakes_add(r->mistakes, t->line, "task %s has no period", t->name);
    if (!t->deadline_ns)
        t->deadline_ns = t->period_ns;
    if (!rc && t->period_ns && t->deadline_ns > t->period_ns) {
        char d[GS_DURATION_SIZE], p[GS_DURATION_SIZE];
        rc = gs_mistakes_add(r->mistakes, t->line, "task %s: its deadline of %s is longer than its period of %s",
                             t->name, gs_format_duration(t->deadline_ns, d), gs_format_duration(t->period_ns, p));
    }
    return rc;
}

/* The GPUs that a task's keys name must exist; needs [system], which may stand last. */
static int check_against_system(struct reader *r, const struct gs_config_task *t)
{
    int gpus = r->config->system.servers[GS_GPU], chains = 0, rc = 0;
    for (int g = 1; g <= GS_CONFIG_MAX_SERVERS && !rc; g++) {
        chains += t->chains[g].line != 0;
        if (t->chains[g].line && gpus && g > gpus)
            rc = gs_mistakes_add(r->mistakes, t->chains[g].line, "segments.%d: the system has %d GPU%s", g, gpus,
                                 gpus == 1 ? "" : "s");
    }
    if (rc || !gpus)
        return rc;
    int mode = t->mode == GS_MODE_MULTI ? gpus : t->mode;
    if (mode > gpus)
        return gs_mistakes_add(r->mistakes, t->line, "task %s: mode = %d, but the system has %d GPU%s", t->name, mode,
                               gpus, gpus == 1 ? "" : "s");
    if (mode != GS_MODE_AUTO && chains && !t->chains[mode].line)
        return gs_mistakes_add(r->mistakes, t->line, "task %s: its mode is %d GPU%s, but there is no segments.%d",
                               t->name, mode, mode == 1 ? "" : "s", mode);
    return 0;
}

/* Two tasks of one priority would wait for each other, which no response time here covers. */
static int check_priorities(struct reader *r)
{
    const struct gs_config *c = r->config;
    int rc = 0;
    for (size_t i = 0; i < c->n_tasks && !rc; i++)
        for (size_t j = 0; j < i && !rc; j++) {
            const struct gs_config_task *a = &c->tasks[j], *b = &c->tasks[i];
            if (a->has_priority != b->has_priority) {
                const struct gs_config_task *without = a->has_priority ? b : a, *with = a->has_priority ? a : b;
                return gs_mistakes_add(r->mistakes, without->line,
                                       "task %s has no priority, but task %s has one: give all tasks one, or none",
                                       without->name, with->name);
            }
            if (a->has_priority && a->priority == b->priority) {
                rc =
                    gs_mistakes_add(r->mistakes, b->line, "task %s has the priority of task %s, %d: each needs its own",
                                    b->name, a->name, b->priority);
                break;
            }
        }
    return rc;
}

/* Chunks are how the daemon grants what can't be preempted, each piece on its own GPU. */
static int check_chunks(struct reader *r)
{
    const struct gs_config_system *s = &r->config->system;
    int rc = 0;
    if (s->liars != GS_LIARS_NO && (!s->chunk_ns[GS_PCI] || !s->chunk_ns[GS_GPU]))
        rc = gs_mistakes_add(
            r->mistakes, s->line,
            "liars: only with gpu_chunk and pci_chunk in [system]: without them a unit may last as long "
            "as the watchdog lets it");
    for (int k = 0; k < GS_RESOURCES && !rc; k++) {
        int line = s->chunk_ns[k] ? s->line : 0;
        for (size_t i = 0; i < r->config->n_tasks && !line; i++)
            line = r->config->tasks[i].chunk_ns[k] ? r->config->tasks[i].line : 0;
        if (line && s->preemptive[k])
            rc = gs_mistakes_add(r->mistakes, line, "%s_chunk: not where %s is preemptive", gs_resource_names[k],
                                 gs_resource_names[k]);
        if (!rc && line && k == GS_GPU && s->pieces != GS_PIECES_OWN)
            rc = gs_mistakes_add(r->mistakes, line, "gpu_chunk: only with pieces = own");
    }
    return rc;
}

/* As many chunks as a segment is said to have must be enough for it. */
static int check_chunk_numbers(struct reader *r)
{
    int rc = 0;
    for (size_t i = 0; i < r->config->n_tasks; i++)
        for (int g = 1; g <= GS_CONFIG_MAX_SERVERS; g++) {
            const struct gs_config_task *t = &r->config->tasks[i];
            const struct gs_config_chain *c = &t->chains[g];
            for (size_t j = 0; j < c->n_segments && !rc; j++) {
                const struct gs_config_segment *s = &c->segments[j];
                const int64_t own = t->chunk_ns[s->resource],
                              chunk = own ? own : r->config->system.chunk_ns[s->resource];
                char longest[GS_DURATION_SIZE], whole[GS_DURATION_SIZE];
                if (s->chunks && chunk && s->chunks < (s->worst_ns + chunk - 1) / chunk)
                    rc = gs_mistakes_add(
                        r->mistakes, c->line,
                        "segments.%d: %d chunks, each of %s at most, are shorter than the segment's %s", g, s->chunks,
                        gs_format_duration(chunk, longest), gs_format_duration(s->worst_ns, whole));
            }
        }
    return rc;
}

static bool good_task_name(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_.-", name[i]))
            return false;
    return n > 0 && n <= GS_CONFIG_MAX_NAME;
}

static int add_task(struct reader *r, const struct gs_config_section *s, const char *name, struct gs_config_task **out)
{
    struct gs_config *c = r->config;
    *out = NULL;
    if (!good_task_name(name))
        return gs_mistakes_add(r->mistakes, s->line,
                               "'%s' is no name for a task: 1 to %d letters, digits, '_', '.' or '-'", name,
                               GS_CONFIG_MAX_NAME);
    for (size_t i = 0; i < c->n_tasks; i++)
        if (strcmp(c->tasks[i].name, name) == 0)
            return gs_mistakes_add(r->mistakes, s->line, "there is a task %s already, in line %d", name,
                                   c->tasks[i].line);
    if (c->n_tasks == GS_CONFIG_MAX_TASKS) {
        const bool said = r->full;
        r->full = true;
        return said ? 0 : gs_mistakes_add(r->mistakes, s->line, "more than %d tasks", GS_CONFIG_MAX_TASKS);
    }
    struct gs_config_task *v = realloc(c->tasks, (c->n_tasks + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    c->tasks = v;
    struct gs_config_task *t = &v[c->n_tasks];
    *t = (struct gs_config_task){.line = s->line, .name = strdup(name), .warmup = -1};
    if (!t->name)
        return -ENOMEM;
    c->n_tasks++;
    *out = t;
    return 0;
}

/* The line in which a [system] section before this one has the key; 0: none has. */
static int given_before(const struct reader *r, const struct gs_config_section *s, const char *key)
{
    for (const struct gs_config_section *b = r->lines->sections; b < s; b++)
        for (size_t i = 0; i < b->n_entries && strcmp(b->name, "system") == 0; i++)
            if (strcmp(b->entries[i].key, key) == 0)
                return b->entries[i].line;
    return 0;
}

/* The text that the entry gives again; null: its key has no text. */
static const char *text_before(const struct gs_config_system *system, const char *key)
{
    for (const struct key *k = system_keys; k->name; k++)
        if (k->type == TEXT && strcmp(k->name, key) == 0)
            return *(char *const *)((const char *)system + k->offset);
    return NULL;
}

/* [system] may be said again, as by several profiles in one file, if it says the same. Texts are owned by *system: an
 * entry that repeats one is only compared with it. */
static int read_system_entry(struct reader *r, const struct gs_config_section *s, const struct gs_config_entry *e)
{
    struct gs_config_system *system = &r->config->system, before;
    const int line = given_before(r, s, e->key);
    const char *text = line ? text_before(system, e->key) : NULL;
    memcpy(&before, system, sizeof before); /* all of its bytes */
    int rc = text ? 0 : read_entry(r, e, system_keys, system, NULL);
    const bool agrees = text ? strcmp(text, e->value) == 0 : memcmp(&before, system, sizeof before) == 0;
    if (!rc && line && !agrees) {
        memcpy(system, &before, sizeof before);
        rc = gs_mistakes_add(r->mistakes, e->line,
                             "%s: another value than in line %d; [system] may repeat, but must agree", e->key, line);
    }
    return rc;
}

static int read_section(struct reader *r, const struct gs_config_section *s)
{
    struct gs_config *c = r->config;
    struct gs_config_task *task = NULL;
    int rc = 0;
    if (strcmp(s->name, "system") == 0) {
        if (!c->system.line)
            c->system.line = s->line;
    } else if (strncmp(s->name, "task ", 5) == 0) {
        rc = add_task(r, s, s->name + 5 + strspn(s->name + 5, " \t"), &task);
        if (rc || !task)
            return rc;
    } else {
        return gs_mistakes_add(r->mistakes, s->line, "[%s] is neither [system] nor [task NAME]", s->name);
    }
    for (size_t i = 0; i < s->n_entries && !rc; i++) {
        const struct gs_config_entry *e = &s->entries[i];
        size_t first = 0;
        while (strcmp(s->entries[first].key, e->key) != 0)
            first++;
        if (first < i)
            rc = gs_mistakes_add(r->mistakes, e->line, "%s: given already, in line %d", e->key, s->entries[first].line);
        else
            rc = task ? read_entry(r, e, task_keys, task, task) : read_system_entry(r, s, e);
        if (!task && strcmp(e->key, "gpus") == 0)
            c->system.gpus_line = e->line;
        else if (!task && strcmp(e->key, "depth") == 0)
            c->system.depth_line = e->line;
    }
    return rc || !task ? rc : finish_task(r, s, task);
}

int gs_config_parse(const char *text, size_t length, struct gs_config *config, struct gs_mistakes *mistakes)
{
    *config = (struct gs_config){.system = {.preemptive[GS_CPU] = true,
                                            .pieces = GS_PIECES_OWN,
                                            .transfer_chunk_bytes = 2 << 20,
                                            .kernel_chunk = 16,
                                            .depth = 2,
                                            .handover_ns = GS_CONFIG_HANDOVER_NS,
                                            .overruns_ns = INT64_C(600000000000),
                                            .watchdog_ns = 1000000000}};
    struct reader r = {.config = config, .mistakes = mistakes};
    struct gs_config_lines lines;
    size_t before = mistakes->n;
    int rc = gs_config_lines_read(text, length, &lines, mistakes);
    r.lines = &lines;
    for (size_t i = 0; i < lines.n_sections && !rc; i++)
        rc = read_section(&r, &lines.sections[i]);
    gs_config_lines_free(&lines);
    for (size_t i = 0; i < config->n_tasks && !rc; i++)
        rc = check_against_system(&r, &config->tasks[i]);
    if (!rc)
        rc = check_priorities(&r);
    if (!rc)
        rc = check_chunks(&r);
    if (!rc)
        rc = check_chunk_numbers(&r);
    if (!config->system.servers[GS_PCI])
        config->system.servers[GS_PCI] = 1;
    gs_mistakes_sort(mistakes);
    return rc ? rc : mistakes->n > before ? -EINVAL : 0;
}

typedef int (*read_function)(const char *path, size_t most, char **text, size_t *bytes);
static int load(const char *path, read_function read, struct gs_config *config, struct gs_mistakes *mistakes)
{
    char *text;
    size_t length;
    *config = (struct gs_config){0};
    int rc = read(path, GS_FILE_TEXT, &text, &length);
    if (!rc)
        rc = gs_config_parse(text, length, config, mistakes);
    else if (rc != -ENOMEM && gs_mistakes_add(mistakes, 0, "cannot be read: %s",
                                              rc == -ENOTSUP ? "it is no regular file" : strerror(-rc)))
        rc = -ENOMEM;
    free(text);
    return rc;
}

int gs_config_load(const char *path, struct gs_config *config, struct gs_mistakes *mistakes)
{
    return load(path, gs_read_file, config, mistakes);
}

int gs_config_load_regular(const char *path, struct gs_config *config, struct gs_mistakes *mistakes)
{
    return load(path, gs_read_regular_file, config, mistakes);
}

void gs_config_free(struct gs_config *config)
{
    for (size_t i = 0; i < config->n_tasks; i++) {
        struct gs_config_task *t = &config->tasks[i];
        free(t->name);
        free(t->match);
        free(t->user);
        for (int g = 0; g <= GS_CONFIG_MAX_SERVERS; g++)
            free(t->chains[g].segments);
    }
    free(config->tasks);
    free(config->system.hosts);
    *config = (struct gs_config){0};
}
