/* SPDX-License-Identifier: MIT */
/* See prepare.h, section binaries.c. */
#include <stdio.h>

#include "common/cache.h"
#include "shim/plan/prepare.h"

static const char head[] = "gpusparc-binary 3";

static void name_of(const void *binary, size_t bytes, char name[GS_HASH_HEX_BYTES])
{
    struct gs_hash h;
    gs_hash_begin(&h);
    gs_hash_add(&h, head, sizeof head);
    gs_hash_add(&h, binary, bytes);
    gs_hash_end_hex(&h, name);
}

/* Does the text have an #include? A comment or broken line before the word counts as one. (CLBlast's text has the word
 * in comments, and was translated for that before its first launch, which took 0.2 s.) */
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

/* Each device's binary gets room: NVIDIA's driver (580.159) crashes at a null, the standard's "not this one". */
cl_int gs_binary_read(const struct gs_context *ctx, cl_program program, unsigned char **binary, size_t *bytes)
{
    enum { MOST = GS_MAX_DEVICES + 1 }; /* the group's, and the parent of sub-devices */
    cl_device_id devices[MOST] = {NULL};
    unsigned char *all[MOST] = {NULL};
    size_t sizes[MOST] = {0};
    unsigned at = 0;
    cl_int err = gs_real()->clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices, NULL);
    if (!err)
        err = gs_real()->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL);
    while (at < MOST && devices[at] != ctx->dev[0])
        at++;
    if (!err && at == MOST)
        err = CL_INVALID_VALUE;
    for (unsigned i = 0; i < MOST && binary && !err; i++)
        if (!(all[i] = calloc(1, sizes[i] + 1)))
            err = CL_OUT_OF_HOST_MEMORY;
    if (binary && !err)
        err = gs_real()->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof all, all, NULL);
    *bytes = err ? 0 : sizes[at];
    for (unsigned i = 0; i < MOST; i++)
        if (err || i != at)
            free(all[i]);
    if (binary)
        *binary = err ? NULL : all[at];
    return err;
}

void gs_binary_keep(struct gs_program *p, const void *binary, size_t bytes)
{
    char name[GS_HASH_HEX_BYTES], *text = NULL;
    size_t size = 0;
    if (p->compiled || p->linked || p->refusal || p->from_binary || !p->source || !p->options)
        return;
    const bool includes = has_directive(p->source) || strstr(p->options, "-include");
    const char *headers = includes ? gs_translated_headers(p) : "";
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

/* The string behind this one; NULL: there is none before the end. */
static const char *next(const char *string, const char *end)
{
    const char *zero = string ? memchr(string, 0, (size_t)(end - string)) : NULL;
    return zero && zero + 1 < end ? zero + 1 : NULL;
}

bool gs_binary_find(struct gs_program *p, const void *binary, size_t bytes)
{
    char name[GS_HASH_HEX_BYTES];
    size_t size = 0;
    name_of(binary, bytes, name);
    char *text = gs_cache_read(name, &size);
    const char *end = text ? text + size : NULL; /* a 0 stands there */
    const char *headers = next(text, end), *options = next(headers, end), *source = next(options, end);
    if (source && strcmp(text, head) == 0 && strlen(headers) < sizeof p->headers) {
        strcpy(p->headers, headers);
        p->options = strdup(options);
        p->source = strdup(source);
        p->from_binary = p->options && p->source;
    }
    free(text);
    return p->from_binary;
}
