/* SPDX-License-Identifier: MIT */
/* The text form in which requests and summaries pass between processes and lie in the cache: tokens, each followed by
 * one blank or newline. A word is letters, digits, '_' and '-'; a number is decimal; a string is its length in bytes, a
 * colon, and the bytes. */
#ifndef GS_TRANSLATOR_SUMMARY_TEXT_H
#define GS_TRANSLATOR_SUMMARY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "translator/summary/arena.h"

struct gs_writer {
    char *text; /* owned; free() it */
    size_t bytes, cap;
    bool failed; /* out of memory: the text is of no use */
};

void gs_put_word(struct gs_writer *w, const char *word);
void gs_put_u64(struct gs_writer *w, uint64_t v);
void gs_put_i64(struct gs_writer *w, int64_t v);
void gs_put_string(struct gs_writer *w, const char *s, size_t bytes);
void gs_put_cstring(struct gs_writer *w, const char *s);
void gs_put_line(struct gs_writer *w); /* ends a line: the blank behind the last token becomes a newline */
void gs_put_raw(struct gs_writer *w, const char *s, size_t bytes);

/* Once something is not as expected, `why` says what, and every later call gives zeros. */
struct gs_reader {
    const char *p, *end;
    const char *why; /* NULL while all is well */
    struct gs_arena *arena;
};

bool gs_get_is(struct gs_reader *r, const char *word); /* true and consumed where the next token is that word */
void gs_get_word(struct gs_reader *r, const char *word);
uint64_t gs_get_u64(struct gs_reader *r);
int64_t gs_get_i64(struct gs_reader *r);
bool gs_get_bool(struct gs_reader *r);
uint64_t gs_get_below(struct gs_reader *r, uint64_t limit);       /* a number n < limit */
const char *gs_get_string(struct gs_reader *r, size_t *bytes);    /* a copy in the arena, a 0 behind it; "" if failed */
const char *gs_get_view(struct gs_reader *r, size_t *bytes);      /* the bytes where they lie; "" if failed */
void *gs_get_alloc(struct gs_reader *r, uint64_t n, size_t size); /* zeroed elements that a count announced; each must
                                                                     stand for at least one byte still to be read */
void gs_get_fail(struct gs_reader *r, const char *why);

#endif
