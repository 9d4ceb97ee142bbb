/* SPDX-License-Identifier: MIT */
/* Tokens of OpenCL C as they stand in a file. */
#include "translator/parsing/lexer.h"

#include <string.h>

struct lexer {
    const char *text;
    size_t n, at;
    bool directive, line_start;
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c & 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The character `k` behind the current one; 0 at the end. */
static char peek(const struct lexer *l, size_t k)
{
    return l->at + k < l->n ? l->text[l->at + k] : 0;
}

/* The length of a line splice (a backslash before the end of a line) at the current place, or 0. */
static size_t splice(const struct lexer *l)
{
    if (peek(l, 0) != '\\')
        return 0;
    if (peek(l, 1) == '\n')
        return 2;
    return peek(l, 1) == '\r' && peek(l, 2) == '\n' ? 3 : 0;
}

static void skip_line_comment(struct lexer *l)
{
    while (l->at < l->n && l->text[l->at] != '\n') {
        size_t k = splice(l);
        l->at += k ? k : 1;
    }
}

static void skip_block_comment(struct lexer *l)
{
    const char *end = NULL;
    l->at += 2;
    for (size_t i = l->at; i + 1 < l->n && !end; i++)
        if (l->text[i] == '*' && l->text[i + 1] == '/')
            end = l->text + i + 2;
    l->at = end ? (size_t)(end - l->text) : l->n;
}

/* Moves to the next token; notes where lines and directives begin. */
static void skip_blanks(struct lexer *l)
{
    while (l->at < l->n) {
        char c = l->text[l->at];
        size_t k = splice(l);
        if (k > 0) {
            l->at += k;
        } else if (c == '\n') {
            l->line_start = true;
            l->directive = false;
            l->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            l->at++;
        } else if (c == '/' && peek(l, 1) == '/') {
            skip_line_comment(l);
        } else if (c == '/' && peek(l, 1) == '*') {
            skip_block_comment(l);
        } else {
            return;
        }
    }
}

/* A string or character literal ends at its quote, or at the end of its line where it has none. */
static void take_quoted(struct lexer *l, char quote)
{
    l->at++;
    while (l->at < l->n && l->text[l->at] != quote && l->text[l->at] != '\n')
        l->at += l->text[l->at] == '\\' && l->at + 1 < l->n ? 2 : 1;
    if (l->at < l->n && l->text[l->at] == quote)
        l->at++;
}

static void take_number(struct lexer *l)
{
    while (l->at < l->n) {
        char c = l->text[l->at];
        bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
        if (!is_word(c) && c != '.')
            return;
        l->at++;
        if (exponent && (peek(l, 0) == '+' || peek(l, 0) == '-'))
            l->at++;
    }
}

static enum gs_token_kind take_token(struct lexer *l)
{
    char c = l->text[l->at];
    if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) {
        take_number(l);
        return GS_TOKEN_NUMBER;
    }
    if (is_word(c)) {
        while (l->at < l->n && is_word(l->text[l->at]))
            l->at++;
        return GS_TOKEN_WORD;
    }
    if (c == '"' || c == '\'') {
        take_quoted(l, c);
        return GS_TOKEN_STRING;
    }
    l->at += c == '#' && peek(l, 1) == '#' ? 2 : 1;
    return GS_TOKEN_PUNCT;
}

static bool push(struct gs_arena *arena, struct gs_tokens *t, struct gs_token token)
{
    if (t->n == t->cap) {
        uint32_t cap = t->cap ? 2 * t->cap : 256;
        struct gs_token *v = gs_arena_alloc(arena, cap, sizeof *v);
        if (!v)
            return false;
        if (t->n > 0)
            memcpy(v, t->v, t->n * sizeof *v);
        t->v = v;
        t->cap = cap;
    }
    t->v[t->n++] = token;
    return true;
}

bool gs_lex(struct gs_arena *arena, const char *text, size_t bytes, struct gs_tokens *out)
{
    struct lexer l = {.text = text, .n = bytes < (1u << 31) ? bytes : 0, .line_start = true};
    *out = (struct gs_tokens){0};
    for (;;) {
        skip_blanks(&l);
        if (l.at >= l.n)
            return true;
        struct gs_token t = {.begin = (uint32_t)l.at};
        t.first = l.line_start && l.text[l.at] == '#';
        l.directive |= t.first;
        l.line_start = false;
        t.directive = l.directive;
        t.kind = (uint8_t)take_token(&l);
        if (l.at > l.n)
            l.at = l.n;
        t.end = (uint32_t)l.at;
        if (!push(arena, out, t))
            return false;
    }
}

uint32_t gs_token_at(const struct gs_tokens *t, uint32_t offset)
{
    uint32_t lo = 0, hi = t->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (t->v[mid].begin < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool gs_token_is(const char *text, const struct gs_token *t, const char *s)
{
    size_t n = strlen(s);
    return t->end - t->begin == n && memcmp(text + t->begin, s, n) == 0;
}
