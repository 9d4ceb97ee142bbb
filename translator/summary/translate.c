/* SPDX-License-Identifier: MIT */
/* Asks for a translation: the cache first, then the process. */
#include "translator/summary/translate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cache.h"
#include "translator/summary/request.h"
#include "common/spawn.h"

/* The entry's name: all that the answer hangs on but the headers on disk, which the entry itself lists. */
static void make_key(const struct gs_writer *request, const char *translator, char key[GS_HASH_HEX_BYTES])
{
    struct gs_hash h;
    struct stat st = {0};
    stat(translator, &st); /* another build of it may answer otherwise; one that is missing has no time and size */
    int64_t build[4] = {GS_TRANSLATION_FORMAT, st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    gs_hash_begin(&h);
    gs_hash_add(&h, build, sizeof build);
    gs_hash_add(&h, GS_VERSION, sizeof GS_VERSION);
    gs_hash_add(&h, request->text, request->bytes);
    gs_hash_end_hex(&h, key);
}

/* Are the headers that the answer was made with still the same, and those still missing that would come before them? */
static bool is_current(const struct gs_reply *reply)
{
    for (uint32_t i = 0; i < reply->n_dependencies; i++) {
        const struct gs_dependency *d = &reply->dependencies[i];
        char hex[GS_HASH_HEX_BYTES];
        if (gs_hash_file(d->path, hex) != 0)
            hex[0] = 0;
        if (strcmp(hex, d->hash) != 0)
            return false;
    }
    return true;
}

static void hash_headers(const struct gs_reply *reply, char hex[GS_HASH_HEX_BYTES])
{
    struct gs_hash h;
    gs_hash_begin(&h);
    for (uint32_t i = 0; i < reply->n_dependencies; i++) {
        gs_hash_add_text(&h, reply->dependencies[i].path);
        gs_hash_add_text(&h, reply->dependencies[i].hash);
    }
    gs_hash_end_hex(&h, hex);
}

/* Reads a reply, from the cache or the process. `check`: it may be out of date. */
static int read_reply(const char *text, size_t bytes, bool check, struct gs_reply *reply, struct gs_arena *arena,
                      struct gs_summary **out, char *why, size_t why_bytes)
{
    struct gs_reader r = {.p = text, .end = text + bytes, .arena = arena};
    gs_get_reply(&r, reply);
    if (r.why) {
        snprintf(why, why_bytes, "the translator's answer can't be read: %s", r.why);
        return -EBADMSG;
    }
    if (check && !is_current(reply))
        return -ESTALE;
    int err = gs_summary_parse(r.p, (size_t)(r.end - r.p), out, why, why_bytes);
    if (err == 0 && reply->n_dependencies)
        hash_headers(reply, (*out)->headers);
    return err;
}

static int from_cache(const char *key, struct gs_summary **out, char *why, size_t why_bytes)
{
    size_t bytes;
    char *text = gs_cache_read(key, &bytes);
    if (!text)
        return -ENOENT;
    struct gs_arena arena = {0};
    struct gs_reply reply;
    int err = read_reply(text, bytes, true, &reply, &arena, out, why, why_bytes);
    gs_arena_free(&arena);
    free(text);
    return err;
}

static int from_process(const struct gs_writer *request, const char *translator, int timeout_ms, const char *key,
                        struct gs_summary **out, char *why, size_t why_bytes)
{
    char *text;
    size_t bytes;
    const char *how;
    int err = gs_spawn(translator, request->text, request->bytes, timeout_ms, (uint64_t)3 << 30, &text, &bytes, &how);
    if (err) {
        snprintf(why, why_bytes, "the translator %s: %s", translator, err == -ENOMEM ? "out of memory" : how);
        return err;
    }
    struct gs_arena arena = {0};
    struct gs_reply reply;
    err = read_reply(text, bytes, false, &reply, &arena, out, why, why_bytes);
    if (err == 0 && reply.cacheable)
        gs_cache_write(key, text, bytes);
    gs_arena_free(&arena);
    free(text);
    return err == -EBADMSG ? -EPIPE : err;
}

int gs_translate(const struct gs_translate_request *req, const char *translator, int timeout_ms,
                 struct gs_summary **out, char *why, size_t why_bytes)
{
    struct gs_writer request = {0};
    char key[GS_HASH_HEX_BYTES];
    *out = NULL;
    if (why_bytes > 0)
        why[0] = 0;
    gs_put_request(&request, req);
    if (request.failed) {
        free(request.text);
        snprintf(why, why_bytes, "there was too little memory to split it");
        return -ENOMEM;
    }
    make_key(&request, translator, key);
    int err = from_cache(key, out, why, why_bytes);
    if (err != 0 && err != -ENOMEM)
        err = from_process(&request, translator, timeout_ms, key, out, why, why_bytes);
    free(request.text);
    return err;
}
