/* SPDX-License-Identifier: MIT */
#include "shim/plan/binaries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cache.h"
#include "common/hash.h"
#include "shim/plan/prepare.h"

static const char head[] = "gpusparc-binary 2", built[] = "built", linked[] = "linked";

static void name_of(const void *binary, size_t bytes, char name[GS_HASH_HEX_BYTES])
{
    struct gs_hash h;
    gs_hash_begin(&h);
    gs_hash_add(&h, head, sizeof head);
    gs_hash_add(&h, binary, bytes);
    gs_hash_end_hex(&h, name);
}

/* Has it an #include? What may stand between both, as a broken line or a comment, counts as one. CLBlast's text has the
 * word in its comments, and was translated for that before its first launch, 0.2 s. */
static bool has_directive(const char *source)
{
    for (const char *at = source; (at = strstr(at, "include")); at++) {
        const char *before = at;
        while (before > source && (before[-1] == ' ' || before[-1] == '\t'))
            before--;
        if (before > source && strchr("#:=/\n", before[-1])) /* #, %:, ??=, a comment's end */
            return true;
    }
    return false;
}

static bool text_includes(const char *source, const char *options)
{
    return has_directive(source) || strstr(options, "-include");
}

static bool includes(const struct gs_program *p)
{
    for (size_t i = 0; i < p->n_units; i++)
        if (text_includes(p->units[i].source, p->units[i].options))
            return true;
    return !p->n_units && text_includes(p->source, p->options);
}

static void put(FILE *f, const char *text)
{
    fprintf(f, "%s%c", text, 0);
}

static void put_count(FILE *f, size_t n)
{
    fprintf(f, "%zu%c", n, 0);
}

/* What a linked program is made of. */
static void put_units(FILE *f, const struct gs_program *p)
{
    put(f, p->link_options);
    put_count(f, p->n_units);
    for (size_t i = 0; i < p->n_units; i++) {
        const struct gs_translate_unit_copy *u = &p->units[i];
        put(f, u->options);
        put(f, u->source);
        put_count(f, u->n_headers);
        for (size_t h = 0; h < u->n_headers; h++) {
            put(f, u->header_names[h]);
            put(f, u->header_texts[h]);
        }
    }
}

void gs_binary_keep(struct gs_program *p, const void *binary, size_t bytes)
{
    char name[GS_HASH_HEX_BYTES], *text = NULL;
    size_t size = 0;
    if (p->compiled || p->refusal || p->from_binary ||
        (p->linked ? !p->n_units || !p->link_options : !p->source || !p->options))
        return;
    const char *headers = includes(p) ? gs_prepare_headers(p) : "";
    FILE *f = headers ? open_memstream(&text, &size) : NULL;
    if (!f)
        return;
    put(f, head);
    put(f, headers);
    put(f, p->linked ? linked : built);
    if (p->linked) {
        put_units(f, p);
    } else {
        put(f, p->options);
        put(f, p->source);
    }
    const bool written = !ferror(f);
    if (fclose(f) == 0 && written) {
        name_of(binary, bytes, name);
        gs_cache_write(name, text, size);
    }
    free(text);
}

/* The next of the strings with a 0 behind each, or NULL. */
static const char *next(const char **at, const char *end)
{
    const char *s = *at, *zero = s < end ? memchr(s, 0, (size_t)(end - s)) : NULL;
    if (!zero)
        return NULL;
    *at = zero + 1;
    return s;
}

static char *next_copy(const char **at, const char *end)
{
    const char *s = next(at, end);
    return s ? strdup(s) : NULL;
}

/* False: there is none, or it can't be that many strings. */
static bool next_count(const char **at, const char *end, size_t *n)
{
    const char *s = next(at, end);
    char *rest = NULL;
    *n = s ? (size_t)strtoull(s, &rest, 10) : 0;
    return s && rest != s && !*rest && *n <= (size_t)(end - *at);
}

static bool get_unit(const char **at, const char *end, struct gs_translate_unit_copy *u)
{
    size_t n;
    u->options = next_copy(at, end);
    u->source = next_copy(at, end);
    if (!u->source || !next_count(at, end, &n))
        return false;
    u->header_names = calloc(n + 1, sizeof *u->header_names);
    u->header_texts = calloc(n + 1, sizeof *u->header_texts);
    while (u->header_names && u->header_texts && u->n_headers < n) {
        const size_t h = u->n_headers++;
        u->header_names[h] = next_copy(at, end);
        u->header_texts[h] = next_copy(at, end);
        if (!u->header_texts[h])
            return false;
    }
    return u->header_names && u->header_texts;
}

static bool get_units(const char *at, const char *end, struct gs_program *p)
{
    size_t n;
    p->link_options = next_copy(&at, end);
    if (!p->link_options || !next_count(&at, end, &n) || !n)
        return false;
    p->units = calloc(n, sizeof *p->units);
    bool well = p->units;
    while (well && p->n_units < n)
        well = get_unit(&at, end, &p->units[p->n_units++]);
    return well;
}

static bool get_text(const char *at, const char *end, struct gs_program *p)
{
    p->options = next_copy(&at, end);
    p->source = next_copy(&at, end);
    return p->options && p->source;
}

/* What could be read of a damaged file. */
static void forget_texts(struct gs_program *p)
{
    gs_program_forget_units(p);
    free(p->link_options);
    free(p->options);
    free(p->source);
    p->link_options = p->options = p->source = NULL;
    p->linked = false;
}

bool gs_binary_find(struct gs_program *p, const void *binary, size_t bytes)
{
    char name[GS_HASH_HEX_BYTES];
    size_t size = 0;
    name_of(binary, bytes, name);
    char *text = gs_cache_read(name, &size);
    const char *at = text, *end = text ? text + size : NULL;
    const char *first = text ? next(&at, end) : NULL, *headers = first ? next(&at, end) : NULL;
    const char *kind = headers ? next(&at, end) : NULL;
    if (kind && strcmp(first, head) == 0 && strlen(headers) < sizeof p->headers) {
        p->linked = strcmp(kind, linked) == 0;
        p->from_binary = p->linked ? get_units(at, end, p) : strcmp(kind, built) == 0 && get_text(at, end, p);
        strcpy(p->headers, headers);
    }
    if (!p->from_binary)
        forget_texts(p);
    free(text);
    return p->from_binary;
}
