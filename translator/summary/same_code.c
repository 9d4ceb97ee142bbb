/* SPDX-License-Identifier: MIT */
/* A kernel is taken apart into the instructions that a floating-point number takes part in. Each register's colour is
 * made of the instructions that set it, whose colours are made of their operands' ones, and so on, round by round: two
 * kernels whose instructions have the same set of colours have the same graph of values. What computes integers, where
 * a value is loaded from and in which order instructions stand has no colour: none of it changes a bit. */
#include "translator/summary/same_code.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 256, MOST_OPERANDS = 24 };

struct operand {
    uint32_t reg; /* a floating-point register, from 1 on; 0: none */
    uint64_t colour;
    bool set; /* the instruction's result */
};
struct insn {
    uint64_t op;
    uint32_t first, n; /* of kernel.operands */
};
struct kernel {
    struct insn *insns;
    struct operand *operands;
    size_t n_insns, n_operands, room;
    char **regs; /* names */
    size_t n_regs, regs_room;
    bool failed; /* it can't be judged, or there is no memory */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
}

static uint64_t hash(const char *text, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++)
        h = mix(h, (unsigned char)text[i]);
    return h;
}

static const char *find(const char *at, const char *end, const char *word)
{
    return at && at < end ? memmem(at, (size_t)(end - at), word, strlen(word)) : NULL;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* The body of the entry, without its braces. False: there is none. */
static bool find_body(const char *text, size_t bytes, const char *name, const char **begin, const char **end)
{
    const char *last = text + bytes, *at = text;
    const size_t n = strlen(name);
    while ((at = find(at, last, ".entry"))) {
        at += strlen(".entry");
        while (at < last && isspace((unsigned char)*at))
            at++;
        if ((size_t)(last - at) > n && memcmp(at, name, n) == 0 && !is_name(at[n]))
            break;
    }
    at = at ? find(at, last, "{") : NULL;
    int depth = 0;
    for (*begin = at ? at + 1 : NULL; at && at < last; at++) {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        if (depth == 0) {
            *end = at;
            return true;
        }
    }
    return false;
}

static bool is_float_register(const char *at, size_t n)
{
    const size_t letters = n > 2 && at[2] == 'd' ? 3 : 2;
    return n > letters && at[0] == '%' && at[1] == 'f' && isdigit((unsigned char)at[letters]);
}

static uint32_t find_register(struct kernel *k, const char *at, size_t n)
{
    for (size_t i = k->n_regs; i-- > 0;)
        if (strncmp(k->regs[i], at, n) == 0 && !k->regs[i][n])
            return (uint32_t)i + 1;
    if (k->n_regs == k->regs_room) {
        k->regs_room = 2 * k->regs_room + 64;
        char **more = reallocarray(k->regs, k->regs_room, sizeof *more);
        k->failed |= !more;
        if (!more)
            return 0;
        k->regs = more;
    }
    k->regs[k->n_regs] = strndup(at, n);
    k->failed |= !k->regs[k->n_regs];
    return k->failed ? 0 : (uint32_t)++k->n_regs;
}

/* The instruction's operands; an address, in brackets, is one that says nothing. True: a floating-point register is
 * among them. */
static bool read_operands(struct kernel *k, const char *at, const char *end, struct operand out[MOST_OPERANDS],
                          uint32_t *n)
{
    bool any = false, first = true, grouped = false;
    for (*n = 0; at < end; at++) {
        if (*at == '{' || *at == '}')
            grouped = *at == '{';
        if (*at == ',' && !grouped)
            first = false;
        const bool address = *at == '[';
        if (!address && !is_name(*at) && *at != '-')
            continue;
        const char *from = at;
        while (at + 1 < end && (address ? *at != ']' : is_name(at[1])))
            at++;
        const size_t length = (size_t)(at - from) + 1;
        k->failed |= *n == MOST_OPERANDS;
        if (k->failed)
            return true;
        struct operand *o = &out[(*n)++];
        *o = (struct operand){.set = first};
        if (!address && is_float_register(from, length)) {
            o->reg = find_register(k, from, length);
            any = true;
        } else if (!address && *from != '%')
            o->colour = hash(from, length);
    }
    return any;
}

static void *grown(struct kernel *k, void *list, size_t n, size_t each)
{
    void *more = (n & (n - 1)) == 0 ? reallocarray(list, n ? 2 * n : 1, each) : list;
    k->failed |= !more;
    return more ? more : list;
}

static void add_insn(struct kernel *k, uint64_t op, const struct operand *operands, uint32_t n)
{
    k->insns = grown(k, k->insns, k->n_insns, sizeof *k->insns);
    if (k->failed)
        return;
    k->insns[k->n_insns++] = (struct insn){op, (uint32_t)k->n_operands, n};
    for (uint32_t i = 0; i < n && !k->failed; i++) {
        k->operands = grown(k, k->operands, k->n_operands, sizeof *k->operands);
        if (!k->failed)
            k->operands[k->n_operands++] = operands[i];
    }
}

/* One statement, without its ';'. A call may do anything; numbers of 16 bits lie in registers of integers, where they
 * can be converted but not followed. */
static void read_statement(struct kernel *k, const char *at, const char *end)
{
    while (at < end && (isspace((unsigned char)*at) || *at == '{' || *at == '}'))
        at++;
    const char *label;
    while ((label = memchr(at, ':', (size_t)(end - at))) && !memchr(at, ' ', (size_t)(label - at)) &&
           !memchr(at, '\t', (size_t)(label - at)))
        for (at = label + 1; at < end && isspace((unsigned char)*at);)
            at++;
    if (at < end && *at == '@') {
        while (at < end && !isspace((unsigned char)*at))
            at++;
        while (at < end && isspace((unsigned char)*at))
            at++;
    }
    const char *op = at;
    while (at < end && !isspace((unsigned char)*at))
        at++;
    const size_t n_op = (size_t)(at - op);
    if (!n_op || *op == '.')
        return;
    struct operand operands[MOST_OPERANDS];
    uint32_t n;
    const bool any = read_operands(k, at, end, operands, &n);
    if (strncmp(op, "call", 4) == 0 || (find(op, at, "f16") && strncmp(op, "cvt", 3) != 0))
        k->failed = true;
    else if (any || find(op, at, ".f32") || find(op, at, ".f64"))
        add_insn(k, hash(op, n_op), operands, n);
}

/* Comments end at their line's end. */
static char *without_comments(const char *at, const char *end)
{
    char *text = malloc((size_t)(end - at) + 1), *to = text;
    while (text && at < end) {
        if (end - at > 1 && at[0] == '/' && at[1] == '/')
            while (at < end && *at != '\n')
                at++;
        else
            *to++ = *at++;
    }
    if (text)
        *to = '\0';
    return text;
}

static void read_kernel(struct kernel *k, const char *text, size_t bytes, const char *name)
{
    const char *begin, *end;
    char *body = find_body(text, bytes, name, &begin, &end) ? without_comments(begin, end) : NULL;
    k->failed = !body;
    for (const char *at = body, *stop; at && *at && !k->failed; at = *stop ? stop + 1 : NULL) {
        stop = at + strcspn(at, ";");
        read_statement(k, at, stop);
    }
    free(body);
}

static uint64_t colour_of(const struct kernel *k, const struct insn *i, const uint64_t *colours)
{
    uint64_t h = i->op;
    for (uint32_t j = 0; j < i->n; j++) {
        const struct operand *o = &k->operands[i->first + j];
        h = mix(h, o->reg && !o->set ? colours[o->reg] : o->colour);
    }
    return h;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The colours of its instructions, ordered, each once; owned by the caller, with room for one more. NULL: no memory. */
static uint64_t *colour(const struct kernel *k, size_t rounds, size_t *n)
{
    uint64_t *now = calloc(k->n_regs + 1, sizeof *now), *next = calloc(k->n_regs + 1, sizeof *next);
    uint64_t *all = calloc(k->n_insns + 1, sizeof *all);
    for (size_t r = 0; now && next && r < rounds; r++) {
        memset(next, 0, (k->n_regs + 1) * sizeof *next);
        for (size_t i = 0; i < k->n_insns; i++) {
            const struct insn *in = &k->insns[i];
            const uint64_t h = colour_of(k, in, now);
            for (uint32_t j = 0; j < in->n; j++)
                if (k->operands[in->first + j].set)
                    next[k->operands[in->first + j].reg] += mix(h, j);
        }
        uint64_t *t = now;
        now = next;
        next = t;
    }
    *n = 0;
    for (size_t i = 0; all && now && i < k->n_insns; i++)
        all[i] = colour_of(k, &k->insns[i], now);
    if (all)
        qsort(all, k->n_insns, sizeof *all, by_value);
    for (size_t i = 0; all && i < k->n_insns; i++)
        if (!*n || all[*n - 1] != all[i])
            all[(*n)++] = all[i];
    if (!now || !next) {
        free(all);
        all = NULL;
    }
    free(now);
    free(next);
    return all;
}

static void drop(struct kernel *k)
{
    for (size_t i = 0; i < k->n_regs; i++)
        free(k->regs[i]);
    free(k->regs);
    free(k->insns);
    free(k->operands);
}

bool gs_same_code(const struct gs_code *a, const struct gs_code *b, const char *name)
{
    struct kernel ka = {0}, kb = {0};
    read_kernel(&ka, a->text, a->bytes, name);
    read_kernel(&kb, b->text, b->bytes, name);
    bool same = !ka.failed && !kb.failed;
    if (same) {
        const size_t most = ka.n_regs > kb.n_regs ? ka.n_regs : kb.n_regs;
        const size_t rounds = most < MOST_ROUNDS ? most : MOST_ROUNDS;
        size_t na, nb;
        uint64_t *ca = colour(&ka, rounds, &na), *cb = colour(&kb, rounds, &nb);
        same = ca && cb && na == nb && memcmp(ca, cb, na * sizeof *ca) == 0;
        free(ca);
        free(cb);
    }
    drop(&ka);
    drop(&kb);
    return same;
}
