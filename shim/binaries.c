/* SPDX-License-Identifier: MIT */
#include "shim/binaries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cache.h"
#include "common/hash.h"
#include "shim/prepare.h"

static const char head[] = "gpusparc-binary 1";

static void name_of(const void *binary, size_t bytes, char name[GS_HASH_HEX_BYTES])
{
    struct gs_hash h;
    gs_hash_begin(&h);
    gs_hash_add(&h, head, sizeof head);
    gs_hash_add(&h, binary, bytes);
    gs_hash_end_hex(&h, name);
}

static bool includes(const struct gs_program *p)
{
    return strstr(p->source, "include") || strstr(p->options, "-include");
}

void gs_binary_remember(struct gs_program *p, const void *binary, size_t bytes)
{
    char name[GS_HASH_HEX_BYTES], *text = NULL;
    size_t size = 0;
    if (!p->source || !p->options || p->compiled || p->linked || p->refusal || p->from_binary)
        return;
    const char *headers = includes(p) ? gs_prepare_headers(p) : "";
    FILE *f = headers ? open_memstream(&text, &size) : NULL;
    if (!f)
        return;
    fprintf(f, "%s%c%s%c%s%c%s%c", head, 0, headers, 0, p->options, 0, p->source, 0);
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

bool gs_binary_recall(struct gs_program *p, const void *binary, size_t bytes)
{
    char name[GS_HASH_HEX_BYTES];
    size_t size = 0;
    name_of(binary, bytes, name);
    char *text = gs_cache_read(name, &size);
    const char *at = text, *end = text ? text + size : NULL;
    const char *first = text ? next(&at, end) : NULL, *headers = first ? next(&at, end) : NULL;
    const char *options = headers ? next(&at, end) : NULL, *source = options ? next(&at, end) : NULL;
    if (source && strcmp(first, head) == 0 && strlen(headers) < sizeof p->headers) {
        p->source = strdup(source);
        p->options = strdup(options);
        p->from_binary = p->source && p->options;
        strcpy(p->headers, headers);
    }
    free(text);
    return p->from_binary;
}
