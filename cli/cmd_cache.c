/* SPDX-License-Identifier: MIT */
/* gpusparc cache: what is kept on disk between runs. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/show.h"
#include "common/cache.h"
#include "common/log.h"
#include "common/options.h"

static const char usage[] =
    "Usage: gpusparc cache [--show | --clear] [--json]\n"
    "What is kept on disk between runs: translations of programs, what auto mode has learnt, what the links between\n"
    "devices carry, which programs are to be compiled for later processes. It is kept for each user in "
    "$XDG_CACHE_HOME/gpusparc, else ~/.cache/gpusparc, and is never larger\n"
    "than GPUSPARC_CACHE_SIZE (256M): what hasn't been used for longest goes first.\n\n"
    "  --show   each entry, from the one that was used longest ago\n"
    "  --clear  remove all of it: the next run of each program begins as the first one did\n"
    "  --json   as JSON\n";

enum kind { TRANSLATIONS, LEARNT, LINKS, BINARIES, JOBS, BUILT, OTHERS, KINDS };
static const char *const kind_names[KINDS] = {"translations", "learnt", "links", "binaries", "jobs", "built", "others"};
static const char *const kind_meanings[KINDS] = {"of programs",
                                                 "by auto mode, of kernels and commands",
                                                 "between devices, measured",
                                                 "whose source is known",
                                                 "programs to be compiled for later processes",
                                                 "programs for later processes, or refused",
                                                 ""};

struct entry {
    char name[72];
    time_t used;
    uint64_t bytes;
    enum kind kind;
};

struct cache {
    char folder[PATH_MAX];
    struct entry *v; /* owned */
    size_t n, cap;
    uint64_t bytes;
};

/* By its name or how it begins. */
static enum kind kind_of(const char *folder, const char *name)
{
    char path[2 * PATH_MAX], head[256] = "";
    if (strncmp(name, "learnt-", 7) == 0)
        return LEARNT;
    if (strncmp(name, "links-", 6) == 0)
        return LINKS;
    if (strncmp(name, "job-", 4) == 0)
        return JOBS;
    if (strncmp(name, "built-", 6) == 0)
        return BUILT;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f)
        fclose(f);
    if (memmem(head, n, "gpusparc-reply", 14))
        return TRANSLATIONS;
    if (memmem(head, n, "gpusparc-binary", 15))
        return BINARIES;
    if (memmem(head, n, "gpusparc-learnt", 15))
        return LEARNT;
    return memmem(head, n, "ok\n", 3) == head || memmem(head, n, "no\n", 3) == head || head[0] == '{' ? LINKS : OTHERS;
}

static void add_entry(void *arg, const char *name, time_t used, uint64_t bytes)
{
    struct cache *c = arg;
    if (c->n == c->cap) {
        const size_t cap = c->cap ? 2 * c->cap : 64;
        struct entry *v = realloc(c->v, cap * sizeof *v);
        if (!v)
            return;
        c->v = v;
        c->cap = cap;
    }
    struct entry *e = &c->v[c->n++];
    *e = (struct entry){.used = used, .bytes = bytes, .kind = kind_of(c->folder, name)};
    snprintf(e->name, sizeof e->name, "%s", name);
    c->bytes += bytes;
}

static void print_summary(const struct cache *c)
{
    char size[GS_SHOW], limit[GS_SHOW];
    printf("%s: %zu entr%s, %s of at most %s\n", c->folder, c->n, c->n == 1 ? "y" : "ies",
           gs_show_bytes(c->bytes, size), gs_show_bytes(gs_cache_limit(), limit));
    for (int k = 0; k < KINDS; k++) {
        uint64_t bytes = 0;
        size_t n = 0;
        for (size_t i = 0; i < c->n; i++) {
            n += c->v[i].kind == (enum kind)k;
            bytes += c->v[i].kind == (enum kind)k ? c->v[i].bytes : 0;
        }
        if (n)
            printf("  %-13s %6zu  %9s  %s\n", kind_names[k], n, gs_show_bytes(bytes, size), kind_meanings[k]);
    }
}

static void print_entries(const struct cache *c)
{
    printf("%-13s %9s  %-19s  %s\n", "KIND", "SIZE", "LAST USED", "NAME");
    for (size_t i = 0; i < c->n; i++) {
        const struct entry *e = &c->v[i];
        char size[GS_SHOW], when[32];
        struct tm t;
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&e->used, &t));
        printf("%-13s %9s  %-19s  %s\n", kind_names[e->kind], gs_show_bytes(e->bytes, size), when, e->name);
    }
}

static void print_json(const struct cache *c, size_t removed)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(entries,
                              json_pack("{s:s, s:s, s:I, s:I}", "name", c->v[i].name, "kind", kind_names[c->v[i].kind],
                                        "bytes", (json_int_t)c->v[i].bytes, "last_used", (json_int_t)c->v[i].used));
    json_t *all =
        json_pack("{s:s, s:I, s:I, s:I, s:o}", "folder", c->folder, "bytes", (json_int_t)c->bytes, "limit_bytes",
                  (json_int_t)gs_cache_limit(), "removed", (json_int_t)removed, "entries", entries);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

/* Returns the exit status; *c has what is left. */
static int clear(struct cache *c, bool json)
{
    size_t removed = 0, kept = 0;
    uint64_t bytes = 0;
    int err = 0;
    for (size_t i = 0; i < c->n; i++) {
        const int failed = gs_cache_remove(c->v[i].name);
        if (failed && failed != -ENOENT) {
            err = failed;
            c->v[kept++] = c->v[i];
            continue;
        }
        removed++;
        bytes += c->v[i].bytes;
    }
    c->n = kept;
    c->bytes -= bytes;
    char size[GS_SHOW];
    if (json)
        print_json(c, removed);
    else
        printf("%s: %zu entr%s removed, %s\n", c->folder, removed, removed == 1 ? "y" : "ies",
               gs_show_bytes(bytes, size));
    if (err)
        gs_error("%s: %zu entries can't be removed: %s", c->folder, kept, strerror(-err));
    return err ? GS_EXIT_FAILED : GS_EXIT_OK;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {
        {"show", no_argument, NULL, 's'}, {"clear", no_argument, NULL, 'c'}, {"json", no_argument, NULL, 'j'}, {0}};
    bool shows = false, clears = false, json = false;
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (opt == '?') {
            gs_option_error(argv, options, "gpusparc cache");
            return GS_EXIT_USAGE;
        }
        *(opt == 's' ? &shows : opt == 'c' ? &clears : &json) = true;
    }
    if (optind < argc || (shows && clears)) {
        gs_error(optind < argc ? "cache takes no argument '%s'; see gpusparc cache --help"
                               : "cache takes --show or --clear, not both; see gpusparc cache --help",
                 argv[optind]);
        return GS_EXIT_USAGE;
    }
    struct cache c = {0};
    int err = gs_cache_folder(c.folder, sizeof c.folder);
    if (!err)
        err = gs_cache_each(add_entry, &c);
    int status = err ? GS_EXIT_FAILED : GS_EXIT_OK;
    if (err == -ENOENT)
        gs_error("there is no cache: neither XDG_CACHE_HOME nor HOME names a folder");
    else if (err == -EPERM)
        gs_error("%s isn't used: it is not this user's alone to write", c.folder);
    else if (err)
        gs_error("%s can't be read: %s", c.folder, strerror(-err));
    else if (clears)
        status = clear(&c, json);
    else if (json)
        print_json(&c, 0);
    else
        (shows ? print_entries : print_summary)(&c);
    free(c.v);
    return status;
}

const struct gs_command gs_cmd_cache = {
    .name = "cache",
    .summary = "what is kept on disk between runs",
    .usage = usage,
    .run = run,
};
