/* SPDX-License-Identifier: MIT */
#include "common/later.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cache.h"

static const char job_word[] = "job-", mark_word[] = "built-";
enum { NAME_BYTES = sizeof mark_word + GS_HASH_HEX_BYTES };

static const char *name_of(const char *word, const char *id, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%s%s", word, id);
    return name;
}

static bool is_job(const char *name)
{
    return strncmp(name, job_word, sizeof job_word - 1) == 0 && strlen(name) == sizeof job_word + GS_HASH_HEX_BYTES - 2;
}

static void count(void *arg, const char *name, time_t used, uint64_t bytes)
{
    (void)used, (void)bytes;
    *(unsigned *)arg += is_job(name);
}

/* The oldest. */
static void find(void *arg, const char *name, time_t used, uint64_t bytes)
{
    char *id = arg;
    (void)used, (void)bytes;
    if (!*id && is_job(name))
        memcpy(id, name + sizeof job_word - 1, GS_HASH_HEX_BYTES);
}

bool gs_later_find(char id[GS_HASH_HEX_BYTES])
{
    *id = '\0';
    return gs_cache_each(find, id) == 0 && *id;
}

bool gs_later_drop(const char *id)
{
    char name[NAME_BYTES];
    return gs_cache_remove(name_of(job_word, id, name)) == 0;
}

/* One that nobody has done: its application was ended by a signal, or its GPUs are others'. */
static bool drop_oldest(void)
{
    char id[GS_HASH_HEX_BYTES];
    return gs_later_find(id) && gs_later_drop(id);
}

bool gs_later_put(const char *id, const struct gs_later_job *job)
{
    const char *part[] = {job->platform, job->folder, job->options, job->source};
    enum { PARTS = sizeof part / sizeof *part, TYPE_BYTES = 24 };
    char name[NAME_BYTES], type[TYPE_BYTES];
    size_t bytes = (size_t)snprintf(type, sizeof type, "%" PRIu64, job->type) + 1;
    unsigned n = 0;
    for (size_t i = 0; i < PARTS; i++)
        bytes += strlen(part[i]) + 1;
    if (bytes > GS_LATER_BYTES || gs_cache_each(count, &n) < 0 || (n >= GS_LATER_JOBS && !drop_oldest()))
        return false;
    char *text = malloc(bytes), *at = text;
    if (!text)
        return false;
    at = stpcpy(at, type) + 1;
    for (size_t i = 0; i < PARTS; i++)
        at = stpcpy(at, part[i]) + 1;
    const bool kept = gs_cache_write(name_of(job_word, id, name), text, bytes);
    free(text);
    return kept;
}

bool gs_later_get(const char *id, struct gs_later_job *job)
{
    const char **part[] = {&job->platform, &job->folder, &job->options, &job->source};
    enum { PARTS = sizeof part / sizeof *part };
    char name[NAME_BYTES];
    size_t bytes = 0;
    *job = (struct gs_later_job){0};
    char *text = gs_cache_read(name_of(job_word, id, name), &bytes), *at = text, *end = text ? text + bytes : NULL;
    job->type = text ? strtoull(text, NULL, 10) : 0;
    for (size_t i = 0; i < PARTS && at; i++) {
        at += strlen(at) + 1; /* there is a NUL behind the last */
        *part[i] = at;
        at = at < end ? at : NULL;
    }
    if (!at)
        free(text);
    job->text = at ? text : NULL;
    return at;
}

/* In days. */
static unsigned today(void)
{
    return (unsigned)(time(NULL) / (24 * 3600));
}

struct gs_later_mark gs_later_read(const char *id)
{
    enum { WEEK = 7 };
    struct gs_later_mark m = {0, 0};
    char name[NAME_BYTES];
    unsigned day = 0;
    size_t bytes;
    char *text = gs_cache_read(name_of(mark_word, id, name), &bytes);
    if (!text || sscanf(text, "%2u %15" SCNu64 " %9u", &m.tries, &m.took_ns, &day) != 3 ||
        (!m.took_ns && today() - day > WEEK))
        m = (struct gs_later_mark){0, 0};
    free(text);
    return m;
}

void gs_later_mark(const char *id, struct gs_later_mark mark)
{
    char name[NAME_BYTES], text[64];
    struct gs_later_job job;
    const int n = snprintf(text, sizeof text, "%u %" PRIu64 " %u\n", mark.tries, mark.took_ns, today());
    if (gs_later_get(id, &job))
        gs_cache_write(name_of(mark_word, id, name), text, (size_t)n);
    free(job.text);
}
