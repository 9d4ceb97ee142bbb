/* SPDX-License-Identifier: MIT */
/* Tokens of OpenCL C in a file before preprocessing, by which the rewriter finds the places of its changes. */
#ifndef GS_TRANSLATOR_PARSING_LEXER_H
#define GS_TRANSLATOR_PARSING_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "translator/summary/arena.h"

enum gs_token_kind { GS_TOKEN_WORD, GS_TOKEN_NUMBER, GS_TOKEN_STRING, GS_TOKEN_PUNCT };

struct gs_token {
    uint32_t begin, end; /* bytes in the file */
    uint8_t kind;
    bool directive; /* stands on a preprocessor directive's line; its '#' does too */
    bool first;     /* the '#' that begins a directive */
    bool inactive;  /* in a branch of an #if that was not taken; set by the caller */
};

struct gs_tokens {
    struct gs_token *v;
    uint32_t n, cap;
};

/* Comments and blanks are no tokens; "##" is one token, every other punctuation is one token per character. Files of
 * 2 GiB and more give no tokens. False where memory is lacking. */
bool gs_lex(struct gs_arena *arena, const char *text, size_t bytes, struct gs_tokens *out);

/* The first token that begins at `offset` or behind it; n where there is none. */
uint32_t gs_token_at(const struct gs_tokens *t, uint32_t offset);

bool gs_token_is(const char *text, const struct gs_token *t, const char *s);

#endif
