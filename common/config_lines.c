/* SPDX-License-Identifier: MIT */
/* Feeds libinih line by line. libinih alone tells only the first line that it can't read, cuts names and lines that are
 * too long for its buffers without a word, and takes an indented key for the rest of the value above: those are caught
 * here before it sees them. */
#include "common/config_lines.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

/* libinih's own limits: names are cut at 49 bytes. A file with so many lines that are no INI, most of it, is none. */
enum { MAX_NAME = 49, MAX_WRONG = 20 };

struct feeder {
    const char *next, *end; /* the text that is left */
    const char *rest;       /* what is left of a long line, up to rest_end; NULL: nothing */
    const char *rest_end;
    int line;            /* of what libinih was given last */
    bool continues;      /* what it was given last goes on with the value before */
    bool same_line;      /* ... within one line of the file */
    bool entry_before;   /* there is an entry that a next line may continue */
    bool ignore;         /* entries belong to a section that was refused */
    size_t wrong, right; /* lines */
    int rc;
    struct gs_config_lines *lines;
    struct gs_mistakes *mistakes;
};

static void mistake(struct feeder *f, const char *text)
{
    const bool enough = ++f->wrong >= MAX_WRONG && f->wrong > f->right;
    if (gs_mistakes_add(f->mistakes, f->line, "%s",
                        enough ? "this is no config file, it seems: the rest isn't read" : text))
        f->rc = -ENOMEM;
    if (enough)
        f->next = f->end;
}

static int add_section(struct feeder *f, const char *name, size_t n)
{
    struct gs_config_lines *l = f->lines;
    struct gs_config_section *v = realloc(l->sections, (l->n_sections + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    l->sections = v;
    v[l->n_sections] = (struct gs_config_section){.name = strndup(name, n), .line = f->line};
    if (!v[l->n_sections].name)
        return -ENOMEM;
    l->n_sections++;
    return 0;
}

/* Where a comment within the line begins, or the line's end. */
static const char *cut_comment(const char *begin, const char *end)
{
    for (const char *p = begin; p < end; p++)
        if (*p == ';' && (p == begin || isspace((unsigned char)p[-1])))
            return p;
    return end;
}

/* Where a '#' begins what is meant as a comment, behind a value. */
static const char *find_hash(const char *begin, const char *end)
{
    const char *p = memchr(begin, '=', (size_t)(end - begin));
    for (; p && ++p < end;)
        if (*p == '#' && isspace((unsigned char)p[-1]))
            return p;
    return NULL;
}

/* A [section] line is remembered here; libinih gets nothing of it. */
static void take_section(struct feeder *f, const char *begin, const char *end)
{
    const char *close = memchr(begin, ']', (size_t)(end - begin));
    f->entry_before = false;
    f->ignore = true;
    if (!close || close + 1 != end)
        mistake(f, "a section is a line of its own, [NAME]");
    else if (close - begin - 1 > MAX_NAME)
        mistake(f, "the section's name is too long");
    else if (add_section(f, begin + 1, (size_t)(close - begin - 1)))
        f->rc = -ENOMEM;
    else
        f->ignore = false;
}

/* Is begin..end `key = value` as libinih can read it? Else a mistake is noted. */
static bool good_entry(struct feeder *f, const char *begin, const char *end)
{
    const char *sign = memchr(begin, '=', (size_t)(end - begin)), *key_end = sign;
    if (!sign) {
        mistake(f, "neither a [section], nor key = value, nor a comment");
        return false;
    }
    const char *colon = memchr(begin, ':', (size_t)(sign - begin));
    while (key_end > begin && isspace((unsigned char)key_end[-1]))
        key_end--;
    if (key_end == begin || colon)
        mistake(f, colon ? "a key must not hold ':'" : "a key is missing before '='");
    else if (key_end - begin > MAX_NAME)
        mistake(f, "the key is too long");
    else if (f->lines->n_sections == 0 && !f->ignore)
        mistake(f, "a key before the first section");
    else
        return true;
    return false;
}

/* Looks at one whole line. Returns whether there is something for libinih, which is then *begin..*end. */
static bool take_line(struct feeder *f, const char **begin, const char **end)
{
    const char *p = *begin;
    bool blank_before = p < *end && isspace((unsigned char)*p);
    f->continues = false;
    if (memchr(p, 0, (size_t)(*end - p))) {
        mistake(f, "holds a zero byte");
        return false;
    }
    while (p < *end && isspace((unsigned char)*p))
        p++;
    *end = p < *end && *p == '#' ? p : cut_comment(p, *end);
    const char *hash = find_hash(p, *end);
    if (hash) {
        mistake(
            f, "'#' begins a comment only where the line begins: behind a value it is ';' (in a match, write ? for #)");
        *end = hash;
    }
    while (*end > p && isspace((unsigned char)(*end)[-1]))
        --*end;
    *begin = p;
    if (p == *end) {
        f->entry_before = false;
        return false;
    }
    if (*p == '[') {
        take_section(f, p, *end);
        return false;
    }
    if (blank_before && f->entry_before && !memchr(p, '=', (size_t)(*end - p))) {
        f->continues = true;
        return !f->ignore;
    }
    f->entry_before = good_entry(f, p, *end);
    f->right += f->entry_before;
    return f->entry_before && !f->ignore;
}

/* Where to break a line of which only `room` bytes fit; after a comma, so that no word is cut. NULL: nowhere. */
static const char *break_point(const char *begin, size_t room)
{
    for (const char *p = begin + room; p > begin + 1; p--)
        if (p[-1] == ',' && p[0] != ';' && p[0] != '#')
            return p;
    return NULL;
}

/* Gives libinih the text begin..end, or as much of it as its buffer of `size` bytes holds. */
static char *give(struct feeder *f, char *buffer, size_t size, const char *begin, const char *end)
{
    size_t room = size - 4, n = (size_t)(end - begin); /* a blank, a newline, a zero, and one to spare */
    char *out = buffer;
    f->rest = NULL;
    if (f->continues)
        *out++ = ' ';
    if (n > room) {
        const char *cut = break_point(begin, room);
        if (!cut) {
            mistake(f, "the line is too long, and has no comma at which it could be broken");
            strcpy(buffer, "\n");
            return buffer;
        }
        n = (size_t)(cut - begin);
        f->rest = cut;
        f->rest_end = end;
    }
    memcpy(out, begin, n);
    strcpy(out + n, "\n");
    return buffer;
}

/* An ini_reader: as fgets, from the text in memory. */
static char *next_line(char *buffer, int size, void *user)
{
    struct feeder *f = user;
    if (f->rc)
        return NULL;
    if (f->rest) {
        const char *begin = f->rest;
        while (begin < f->rest_end && isspace((unsigned char)*begin))
            begin++;
        f->continues = f->same_line = true;
        return give(f, buffer, (size_t)size, begin, f->rest_end);
    }
    f->same_line = false;
    while (f->next < f->end && !f->rc) {
        const char *begin = f->next, *end = memchr(begin, '\n', (size_t)(f->end - begin));
        f->next = end ? end + 1 : f->end;
        end = end ? end : f->end;
        f->line++;
        if (take_line(f, &begin, &end))
            return give(f, buffer, (size_t)size, begin, end);
    }
    return NULL;
}

static int extend_value(struct gs_config_entry *e, const char *more, bool same_line)
{
    size_t n = strlen(e->value), m = strlen(more);
    char *v = realloc(e->value, n + m + 2);
    if (!v)
        return -ENOMEM;
    e->value = v;
    v[n] = same_line ? ' ' : '\n';
    memcpy(v + n + 1, more, m + 1);
    return 0;
}

/* An ini_handler: one key and value, or more of the last value. */
static int take_entry(void *user, const char *section, const char *key, const char *value)
{
    struct feeder *f = user;
    (void)section;
    if (f->rc)
        return 1;
    struct gs_config_section *s = &f->lines->sections[f->lines->n_sections - 1];
    if (f->continues && s->n_entries) {
        f->rc = extend_value(&s->entries[s->n_entries - 1], value, f->same_line);
        return 1;
    }
    struct gs_config_entry *v = realloc(s->entries, (s->n_entries + 1) * sizeof *v);
    if (!v) {
        f->rc = -ENOMEM;
        return 1;
    }
    s->entries = v;
    v[s->n_entries] = (struct gs_config_entry){strdup(key), strdup(value), f->line};
    if (!v[s->n_entries].key || !v[s->n_entries].value) {
        free(v[s->n_entries].key);
        free(v[s->n_entries].value);
        f->rc = -ENOMEM;
    } else {
        s->n_entries++;
    }
    return 1;
}

int gs_config_lines_read(const char *text, size_t length, struct gs_config_lines *lines, struct gs_mistakes *mistakes)
{
    *lines = (struct gs_config_lines){0};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    struct feeder f = {.next = text, .end = length ? text + length : text, .lines = lines, .mistakes = mistakes};
    int rc = ini_parse_stream(next_line, &f, take_entry, &f);
    if (f.rc)
        return f.rc;
    /* Every line that libinih could refuse was refused above; -2 is its failed allocation. */
    return rc == -2 ? -ENOMEM : 0;
}

void gs_config_lines_free(struct gs_config_lines *lines)
{
    for (size_t i = 0; i < lines->n_sections; i++) {
        struct gs_config_section *s = &lines->sections[i];
        for (size_t j = 0; j < s->n_entries; j++) {
            free(s->entries[j].key);
            free(s->entries[j].value);
        }
        free(s->entries);
        free(s->name);
    }
    free(lines->sections);
    *lines = (struct gs_config_lines){0};
}
