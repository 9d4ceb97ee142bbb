/* SPDX-License-Identifier: MIT */
/* A kernel is taken apart into its instructions. Each floating-point register's colour is made of the instructions that
 * set it, whose colours are made of their operands' ones, and so on, round by round: two kernels whose floating-point
 * instructions have the same set of colours have the same graph of values. The order in which instructions stand, and
 * where values are loaded from, has no colour: neither changes a bit.
 *
 * What a translation changes is integers, and a compiler that may reorder sorts the operands of a sum or product by how
 * it came to them: numbers made of integers by what those are made of, loads by their places, which stay. So a load and
 * a conversion of an integer have the colour of their origins: the arguments and special registers that the address or
 * the integer depends on. Two conversions of one kernel with the same origins can't be told apart: then nothing is
 * said. */
#include "translator/summary/same_code.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 256, MOST_OPERANDS = 24, MOST_INSNS = 20000, MOST_ORIGINS = 192, WORDS = MOST_ORIGINS / 64 };

struct operand {
    uint32_t reg;    /* from 1 on; 0: none */
    uint64_t colour; /* of a constant */
    bool set;        /* the instruction's result */
};
struct insn {
    uint64_t op;
    uint32_t first, n;    /* of kernel.operands */
    bool real, begins;    /* a floating-point number takes part; it comes from elsewhere: loaded, made of an integer */
    bool alone;           /* by that it has to be told apart from all others of the kernel */
    uint64_t from[WORDS]; /* origins that the instruction itself names: bits, by number */
};
struct reg {
    uint64_t name;
    uint64_t from[WORDS];
    bool real;
};
struct kernel {
    struct insn *insns;
    struct operand *operands;
    struct reg *regs; /* the first isn't used */
    uint32_t *table;  /* of registers, by the hash of their names */
    size_t n_insns, n_operands, n_regs;
    uint64_t origins[MOST_ORIGINS]; /* hashes */
    size_t n_origins;
    char hidden[128]; /* what the hidden argument's addresses begin with, which is no origin */
    bool failed;      /* it can't be judged, or there is no memory */
};

enum { TABLE = 1 << 17 };

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
}

static uint64_t hash(const char *text, size_t n)
{
    uint64_t h = n + 1;
    for (size_t i = 0; i < n; i++)
        h = mix(h, (unsigned char)text[i]);
    return h;
}

static const char *find(const char *at, const char *end, const char *word)
{
    return at && at < end ? memmem(at, (size_t)(end - at), word, strlen(word)) : NULL;
}

static bool begins(const char *at, size_t n, const char *with)
{
    return n >= strlen(with) && memcmp(at, with, strlen(with)) == 0;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static const char *behind_space(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

static const char *behind_word(const char *at, const char *end)
{
    while (at < end && !isspace((unsigned char)*at))
        at++;
    return at;
}

/* The body of the entry, without its braces, and how many arguments it has. False: there is none. */
static bool find_body(const struct gs_code *code, const char *name, const char **begin, const char **end, unsigned *n)
{
    const char *last = code->text + code->bytes, *at = code->text;
    const size_t length = strlen(name);
    while ((at = find(at, last, ".entry"))) {
        at = behind_space(at + strlen(".entry"), last);
        if ((size_t)(last - at) > length && memcmp(at, name, length) == 0 && !is_name(at[length]))
            break;
    }
    const char *body = at ? find(at, last, "{") : NULL;
    for (*n = 0; body && (at = find(at, body, ".param")); at++)
        ++*n;
    int depth = 0;
    *begin = body ? body + 1 : NULL;
    for (at = body; at && at < last; at++) {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        if (depth == 0) {
            *end = at;
            return true;
        }
    }
    return false;
}

static void *grown(struct kernel *k, void *list, size_t n, size_t each)
{
    void *more = (n & (n - 1)) == 0 ? reallocarray(list, n ? 2 * n : 1, each) : list;
    k->failed |= !more;
    return more ? more : list;
}

/* %f1, %fd1: floating-point; %r1, %rd1, %rs1, %p1: others. 0: it is none. */
static uint32_t find_register(struct kernel *k, const char *at, size_t n)
{
    size_t letters = 1;
    while (letters < n && islower((unsigned char)at[letters]))
        letters++;
    for (size_t i = letters; i < n; i++)
        if (!isdigit((unsigned char)at[i]))
            return 0;
    if (n < 3 || *at != '%' || letters < 2 || letters > 3 || letters == n)
        return 0;
    const uint64_t name = hash(at, n);
    size_t slot = name % TABLE;
    while (k->table[slot] && k->regs[k->table[slot]].name != name)
        slot = (slot + 1) % TABLE;
    if (!k->table[slot]) {
        k->failed |= k->n_regs > TABLE / 2;
        k->regs = grown(k, k->regs, k->n_regs, sizeof *k->regs);
        if (k->failed)
            return 0;
        k->regs[k->n_regs] = (struct reg){.name = name, .real = at[1] == 'f'};
        k->table[slot] = (uint32_t)k->n_regs++;
    }
    return k->table[slot];
}

static void add_operand(struct kernel *k, struct insn *in, struct operand o)
{
    k->failed |= in->n >= MOST_OPERANDS;
    k->operands = grown(k, k->operands, k->n_operands, sizeof *k->operands);
    if (k->failed)
        return;
    k->operands[k->n_operands++] = o;
    in->n++;
    in->real |= o.reg && k->regs[o.reg].real;
}

static void add_origin(struct kernel *k, struct insn *in, const char *at, size_t n)
{
    const uint64_t h = hash(at, n);
    size_t i = 0;
    while (i < k->n_origins && k->origins[i] != h)
        i++;
    k->failed |= i == MOST_ORIGINS;
    if (k->failed)
        return;
    k->origins[i] = h;
    k->n_origins += i == k->n_origins;
    in->from[i / 64] |= (uint64_t)1 << i % 64;
}

/* One operand, a word or an address in brackets, which may have several parts. Of what the driver says of the launch's
 * geometry (envreg), and of the hidden argument, nothing is an origin: the one stands for the other. */
static void read_operand(struct kernel *k, struct insn *in, const char *at, size_t n, bool set)
{
    const bool address = *at == '[';
    struct operand out = {.set = set && !address};
    for (size_t i = address; i < n; i++) {
        size_t length = 0;
        while (i + length < n && is_name(at[i + length]))
            length++;
        if (!length)
            continue;
        const char *word = at + i;
        const uint32_t reg = find_register(k, word, length);
        i += length - 1;
        if (reg && address)
            add_operand(k, in, (struct operand){.reg = reg});
        else if (reg)
            out.reg = reg;
        else if (*word == '%' ? !begins(word, length, "%envreg") : !isdigit((unsigned char)*word))
            add_origin(k, in, word, address ? n - i + length - 2 : length);
        else if (!address && *word != '%')
            out.colour = hash(word, length);
    }
    add_operand(k, in, out);
}

static bool is_of_hidden(const struct kernel *k, const char *at, const char *end)
{
    const char *found = *k->hidden ? find(at, end, k->hidden) : NULL;
    return found && !isdigit((unsigned char)found[strlen(k->hidden)]);
}

static void read_operands(struct kernel *k, struct insn *in, const char *at, const char *end)
{
    bool first = true, grouped = false;
    for (; at < end && !k->failed; at++) {
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
        read_operand(k, in, from, (size_t)(at - from) + 1, first);
    }
}

/* Of an operation on floating-point numbers each operand is in a register of them, or a constant. */
static bool is_plain(const struct kernel *k, const struct insn *in)
{
    for (uint32_t i = 0; i < in->n; i++)
        if (k->operands[in->first + i].reg && !k->regs[k->operands[in->first + i].reg].real)
            return false;
    return true;
}

/* One statement, without its ';'. A call may do anything; numbers of 16 bits, and pairs, lie in registers of integers,
 * where they can be converted but not followed. */
static void read_statement(struct kernel *k, const char *at, const char *end)
{
    while (at < end && (*at == '{' || *at == '}' || isspace((unsigned char)*at)))
        at++;
    const char *op = at;
    while ((at = behind_word(op, end)) > op && (at[-1] == ':' || *op == '@')) /* a label, or when it is carried out */
        op = behind_space(at, end);
    const size_t n = (size_t)(at - op);
    if (!n || *op == '.' || k->failed)
        return;
    k->insns = grown(k, k->insns, k->n_insns, sizeof *k->insns);
    k->failed |= k->n_insns == MOST_INSNS;
    if (k->failed)
        return;
    struct insn *in = &k->insns[k->n_insns++];
    *in = (struct insn){.op = hash(op, n), .first = (uint32_t)k->n_operands};
    const bool loads = begins(op, n, "ld"), converts = begins(op, n, "cvt"), of_hidden = is_of_hidden(k, at, end);
    const bool typed = find(op, at, ".f32") || find(op, at, ".f64");
    read_operands(k, in, at, end);
    if (loads && !begins(op, n, "ld.param"))
        add_origin(k, in, op, n);
    if (of_hidden)
        memset(in->from, 0, sizeof in->from);
    in->alone = converts && in->n && k->regs[k->operands[in->first].reg].real && !is_plain(k, in);
    in->begins = in->alone || (loads && in->real);
    in->real |= typed;
    const bool moves = loads || converts || begins(op, n, "st") || begins(op, n, "mov") || begins(op, n, "setp") ||
                       begins(op, n, "selp") || begins(op, n, "atom") || begins(op, n, "red") || begins(op, n, "tex") ||
                       begins(op, n, "testp") || begins(op, n, "slct");
    k->failed |= begins(op, n, "call") || (find(op, at, "f16") && !converts) || find(op, at, "16x2") ||
                 find(op, at, "32x2") || (typed && !moves && !is_plain(k, in));
}

/* Comments, and what says which line of the source follows, end at their line's end. */
static char *without_comments(const char *at, const char *end)
{
    char *text = malloc((size_t)(end - at) + 1), *to = text;
    while (text && at < end) {
        if ((end - at > 1 && at[0] == '/' && at[1] == '/') || begins(at, (size_t)(end - at), ".loc"))
            while (at < end && *at != '\n')
                at++;
        else
            *to++ = *at++;
    }
    if (text)
        *to = '\0';
    return text;
}

static void read_kernel(struct kernel *k, const char *begin, const char *end)
{
    char *body = without_comments(begin, end);
    k->table = calloc(TABLE, sizeof *k->table);
    k->regs = calloc(1, sizeof *k->regs);
    k->n_regs = 1;
    k->failed = !body || !k->table || !k->regs;
    for (const char *at = body, *stop; at && *at && !k->failed; at = *stop ? stop + 1 : NULL) {
        stop = at + strcspn(at, ";");
        read_statement(k, at, stop);
    }
    free(body);
}

/* What an instruction's results are made of. */
static void find_origins(const struct kernel *k, const struct insn *in, uint64_t from[WORDS])
{
    memcpy(from, in->from, sizeof in->from);
    for (uint32_t j = 0; j < in->n; j++)
        for (int w = 0; w < WORDS && !k->operands[in->first + j].set; w++)
            from[w] |= k->regs[k->operands[in->first + j].reg].from[w];
}

/* What each register is made of, through all instructions. */
static void follow_origins(struct kernel *k)
{
    for (bool more = !k->failed; more;) {
        more = false;
        for (size_t i = 0; i < k->n_insns; i++) {
            const struct insn *in = &k->insns[i];
            uint64_t all[WORDS];
            find_origins(k, in, all);
            for (uint32_t j = 0; j < in->n; j++)
                for (int w = 0; w < WORDS && k->operands[in->first + j].set && k->operands[in->first + j].reg; w++) {
                    uint64_t *from = &k->regs[k->operands[in->first + j].reg].from[w];
                    more |= all[w] & ~*from;
                    *from |= all[w];
                }
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* What a number comes from becomes part of the operation that brings it; fails where two conversions have the same. */
static void name_beginnings(struct kernel *k)
{
    uint64_t *names = calloc(k->n_insns + 1, sizeof *names);
    size_t n = 0;
    k->failed |= !names;
    for (size_t i = 0; i < k->n_insns && !k->failed; i++) {
        struct insn *in = &k->insns[i];
        uint64_t from[WORDS], origins = 0;
        if (!in->begins)
            continue;
        find_origins(k, in, from);
        for (size_t o = 0; o < k->n_origins; o++)
            origins += from[o / 64] >> o % 64 & 1 ? mix(k->origins[o], 1) : 0;
        in->op = mix(in->op, origins);
        if (in->alone)
            names[n++] = in->op;
    }
    if (names)
        qsort(names, n, sizeof *names, by_value);
    for (size_t i = 1; names && i < n; i++)
        k->failed |= names[i] == names[i - 1];
    free(names);
}

static uint64_t colour_of(const struct kernel *k, const struct insn *i, const uint64_t *colours)
{
    uint64_t h = i->op;
    for (uint32_t j = 0; j < i->n; j++) {
        const struct operand *o = &k->operands[i->first + j];
        const bool real = k->regs[o->reg].real;
        h = real ? mix(h, o->set ? 1 : colours[o->reg]) : o->colour ? mix(h, o->colour) : h;
    }
    return h;
}

/* The colours of its floating-point instructions, ordered, each once; owned by the caller. NULL: no memory. */
static uint64_t *colour(const struct kernel *k, size_t rounds, size_t *n)
{
    uint64_t *now = calloc(k->n_regs + 1, sizeof *now), *next = calloc(k->n_regs + 1, sizeof *next);
    uint64_t *all = calloc(k->n_insns + 1, sizeof *all);
    for (size_t r = 0; now && next && r < rounds; r++) {
        memset(next, 0, (k->n_regs + 1) * sizeof *next);
        for (size_t i = 0; i < k->n_insns; i++) {
            const struct insn *in = &k->insns[i];
            const uint64_t h = in->real ? colour_of(k, in, now) : 0;
            for (uint32_t j = 0; j < in->n && in->real; j++)
                if (k->operands[in->first + j].set)
                    next[k->operands[in->first + j].reg] += mix(h, j);
        }
        uint64_t *t = now;
        now = next;
        next = t;
    }
    size_t many = 0;
    for (size_t i = 0; all && now && i < k->n_insns; i++)
        if (k->insns[i].real)
            all[many++] = colour_of(k, &k->insns[i], now);
    if (all)
        qsort(all, many, sizeof *all, by_value);
    *n = 0;
    for (size_t i = 0; all && i < many; i++)
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
    free(k->table);
    free(k->regs);
    free(k->insns);
    free(k->operands);
    free(k);
}

/* NULL: no memory, or there is no such kernel. */
static struct kernel *make(const struct gs_code *code, const char *name, unsigned own_arguments)
{
    const char *begin, *end;
    unsigned n;
    struct kernel *k = find_body(code, name, &begin, &end, &n) ? calloc(1, sizeof *k) : NULL;
    if (!k)
        return NULL;
    if (n > own_arguments) /* NVIDIA's names of them end with their numbers */
        snprintf(k->hidden, sizeof k->hidden, "%s_param_%u", name, own_arguments);
    read_kernel(k, begin, end);
    follow_origins(k);
    name_beginnings(k);
    return k;
}

bool gs_same_code(const struct gs_code *own, const struct gs_code *translated, const char *name, unsigned n_args)
{
    struct kernel *a = make(own, name, n_args), *b = make(translated, name, n_args);
    bool same = a && b && !a->failed && !b->failed;
    if (same) {
        const size_t most = a->n_regs > b->n_regs ? a->n_regs : b->n_regs;
        const size_t rounds = most < MOST_ROUNDS ? most : MOST_ROUNDS;
        size_t na, nb;
        uint64_t *ca = colour(a, rounds, &na), *cb = colour(b, rounds, &nb);
        same = ca && cb && na == nb && memcmp(ca, cb, na * sizeof *ca) == 0;
        free(ca);
        free(cb);
    }
    if (a)
        drop(a);
    if (b)
        drop(b);
    return same;
}
