/* SPDX-License-Identifier: MIT */
#include "cli/config_edit.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/config.h"

static const char blanks[] = " \t\r";

static const char *end_of_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* Is the line the heading of that task's section? */
static bool is_heading(const char *line, const char *task)
{
    const size_t n = strlen(task);
    line += strspn(line, blanks);
    if (*line++ != '[')
        return false;
    line += strspn(line, blanks);
    if (strncmp(line, "task", 4) != 0 || !strchr(blanks, line[4]))
        return false;
    line += 4;
    line += strspn(line, blanks);
    return strncmp(line, task, n) == 0 && line[n + strspn(line + n, blanks)] == ']';
}

/* Where the value begins that the line gives to the key, or NULL. */
static const char *value_of(const char *line, const char *key)
{
    const size_t n = strlen(key);
    line += strspn(line, blanks);
    if (strncmp(line, key, n) != 0)
        return NULL;
    line += n;
    line += strspn(line, blanks);
    if (*line != '=' && *line != ':')
        return NULL;
    line++;
    return line + strspn(line, blanks);
}

/* A comment begins with a semicolon behind a blank. */
static const char *end_of_value(const char *value)
{
    const char *end = value + strcspn(value, "\n");
    for (const char *c = value; c < end; c++)
        if (*c == ';' && c > value && strchr(blanks, c[-1]))
            end = c;
    while (end > value && strchr(blanks, end[-1]))
        end--;
    return end;
}

static char *splice(const char *text, const char *from, const char *to, const char *before, const char *word,
                    const char *behind)
{
    char *new = NULL;
    if (asprintf(&new, "%.*s%s%s%s%s", (int)(from - text), text, before, word, behind, to) < 0)
        return NULL;
    return new;
}

char *gs_config_edit(const char *text, const char *task, const char *key, const char *value)
{
    const char *line = text;
    while (*line && !is_heading(line, task))
        line = end_of_line(line);
    if (!*line)
        return NULL;
    const char *first = end_of_line(line);
    for (line = first; *line && line[strspn(line, blanks)] != '['; line = end_of_line(line)) {
        const char *old = value_of(line, key);
        if (old)
            return splice(text, old, end_of_value(old), "", value, "");
    }
    char begin[64];
    snprintf(begin, sizeof begin, "%s%s = ", first > text && first[-1] != '\n' ? "\n" : "", key);
    return splice(text, first, first, begin, value, "\n");
}

static int write_text(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "wxe");
    if (!f)
        return -errno;
    int err = fputs(text, f) < 0 || fflush(f) != 0 || fchmod(fileno(f), mode) < 0 || fsync(fileno(f)) < 0 ? -errno : 0;
    if (fclose(f) != 0 && !err)
        err = -errno;
    if (err)
        unlink(path);
    return err;
}

int gs_config_replace(const char *path, const char *text, char *why, size_t why_bytes)
{
    char real[PATH_MAX], temporary[PATH_MAX + 16];
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    struct stat st;
    int err = gs_config_parse(text, strlen(text), &config, &mistakes);
    gs_config_free(&config);
    if (err)
        snprintf(why, why_bytes, "%s isn't changed: %s", path, mistakes.n ? mistakes.v[0].text : strerror(-err));
    gs_mistakes_free(&mistakes);
    if (err)
        return err;
    if (!realpath(path, real) || stat(real, &st) < 0) {
        err = -errno;
    } else {
        snprintf(temporary, sizeof temporary, "%s.new", real);
        err = write_text(temporary, text, st.st_mode & 07777);
        if (!err && rename(temporary, real) < 0) {
            err = -errno;
            unlink(temporary);
        }
    }
    if (err)
        snprintf(why, why_bytes, "%s can't be written: %s", path, strerror(-err));
    return err;
}
