/* SPDX-License-Identifier: MIT */
/* What passes between gs_translate and gpusparc-translate: the request, and the reply: the files that the answer
 * depends on, then the summary. */
#ifndef GS_TRANSLATOR_SUMMARY_REQUEST_H
#define GS_TRANSLATOR_SUMMARY_REQUEST_H

#include "common/hash.h"
#include "translator/summary/text.h"
#include "translator/summary/translate.h"

/* Raised whenever the text forms, or the translation of the same request, change. Part of the cache's key. */
enum { GS_TRANSLATION_FORMAT = 5 };

void gs_put_request(struct gs_writer *w, const struct gs_translate_request *req);

/* The request lies in the reader's arena. Refuses a damaged one by gs_get_fail. */
void gs_get_request(struct gs_reader *r, struct gs_translate_request *req);

/* A file on disk that the answer depends on: with these contents, or (hash "") on its absence. */
struct gs_dependency {
    const char *path;
    const char *hash; /* gs_hash_hex of its contents */
};

struct gs_reply {
    bool cacheable; /* false: the answer may change without a change of the request or a dependency */
    uint32_t n_dependencies;
    const struct gs_dependency *dependencies;
};

void gs_put_reply(struct gs_writer *w, const struct gs_reply *reply);

/* Afterwards the reader stands at the summary's text. */
void gs_get_reply(struct gs_reader *r, struct gs_reply *reply);

/* The hash of a file's contents. 0 or -errno. */
int gs_hash_file(const char *path, char hex[GS_HASH_HEX_BYTES]);

#endif
