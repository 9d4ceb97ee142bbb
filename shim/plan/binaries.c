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

/* Strings with a 0 behind each, written or read: what each of the functions below gets it writes, or else it fills it
 * with what stands there. */
struct strings {
    FILE *to;             /* or null */
    const char *at, *end; /* of what is left to be read */
    bool bad;             /* something isn't there, or there was no memory for it */
};

static void string(struct strings *s, char **text)
{
    if (s->to) {
        fprintf(s->to, "%s%c", *text, 0);
        return;
    }
    const char *zero = s->bad ? NULL : memchr(s->at, 0, (size_t)(s->end - s->at));
    *text = zero ? strdup(s->at) : NULL;
    s->bad = !*text;
    s->at = zero ? zero + 1 : s->end;
}

/* Of things that take a byte each at the least. */
static size_t count(struct strings *s, size_t n)
{
    char *text = NULL, *rest = NULL;
    if (s->to) {
        fprintf(s->to, "%zu%c", n, 0);
        return n;
    }
    string(s, &text);
    n = text ? (size_t)strtoull(text, &rest, 10) : 0;
    s->bad = s->bad || rest == text || *rest || n > (size_t)(s->end - s->at);
    free(text);
    return n;
}

static void unit(struct strings *s, struct gs_translate_unit_copy *u)
{
    string(s, &u->options);
    string(s, &u->source);
    const size_t n = count(s, u->n_headers);
    if (!s->to && !s->bad) {
        u->header_names = calloc(n + 1, sizeof *u->header_names);
        u->header_texts = calloc(n + 1, sizeof *u->header_texts);
        s->bad = !u->header_names || !u->header_texts;
    }
    for (size_t h = 0; h < n && !s->bad; h++) {
        u->n_headers += !s->to;
        string(s, &u->header_names[h]);
        string(s, &u->header_texts[h]);
    }
}

/* What a linked program is made of. */
static void units(struct strings *s, struct gs_program *p)
{
    string(s, &p->link_options);
    const size_t n = count(s, p->n_units);
    if (!s->to && !s->bad) {
        p->units = calloc(n + 1, sizeof *p->units);
        s->bad = !p->units || !n;
    }
    for (size_t i = 0; i < n && !s->bad; i++) {
        p->n_units += !s->to;
        unit(s, &p->units[i]);
    }
}

static void program(struct strings *s, struct gs_program *p)
{
    if (p->linked) {
        units(s, p);
    } else {
        string(s, &p->options);
        string(s, &p->source);
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
    struct strings s = {.to = headers ? open_memstream(&text, &size) : NULL};
    if (!s.to)
        return;
    fprintf(s.to, "%s%c%s%c%s%c", head, 0, headers, 0, p->linked ? linked : built, 0);
    program(&s, p);
    const bool written = !ferror(s.to);
    if (fclose(s.to) == 0 && written) {
        name_of(binary, bytes, name);
        gs_cache_write(name, text, size);
    }
    free(text);
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
    char *text = gs_cache_read(name, &size), *first = NULL, *headers = NULL, *kind = NULL;
    struct strings s = {.at = text, .end = text ? text + size : NULL, .bad = !text};
    string(&s, &first);
    string(&s, &headers);
    string(&s, &kind);
    if (!s.bad && strcmp(first, head) == 0 && strlen(headers) < sizeof p->headers) {
        p->linked = strcmp(kind, linked) == 0;
        s.bad = !p->linked && strcmp(kind, built) != 0;
        strcpy(p->headers, headers);
        program(&s, p);
        p->from_binary = !s.bad;
    }
    if (!p->from_binary)
        forget_texts(p);
    free(first);
    free(headers);
    free(kind);
    free(text);
    return p->from_binary;
}
