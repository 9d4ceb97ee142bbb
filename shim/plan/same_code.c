/* SPDX-License-Identifier: MIT */
#include "shim/plan/same_code.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TOKENS = 64, MAX_SOURCES = 128, LAUNCH = 0 };

struct token {
    const char *at;
    size_t n;
    int64_t name; /* of a register or a label: its number in the body; else -1 */
};

/* An instruction, or a label by itself. */
struct step {
    struct token *v;
    unsigned n, op; /* v[op] is the opcode, behind the guard */
    unsigned begin; /* of what it reads: behind the opcode and what it writes */
    bool strict;    /* it has to be the same */
};

/* What a whole number is made of: a set of names, which both bodies share. */
struct sources {
    uint64_t bits[MAX_SOURCES / 64];
};

struct source_names {
    struct token v[MAX_SOURCES];
    unsigned n; /* 0, LAUNCH, has no name */
};

struct name {
    const char *at;
    size_t n;
    bool strict, label;
    struct sources from;
    int64_t other; /* the other body's name that stands for it, or -1 */
};

struct body {
    const char *kernel;
    unsigned params;
    struct step *steps;
    size_t n_steps, room;
    struct name *names; /* in the order of their first use */
    size_t n_names, names_room;
    size_t *table; /* open addressing: 1 + index of names; `slots` is a power of two */
    size_t slots;
    bool wrong; /* something isn't understood */
};

static bool token_is(const struct token *t, const char *text)
{
    return t->n == strlen(text) && memcmp(t->at, text, t->n) == 0;
}

static bool begins(const struct token *t, const char *text)
{
    const size_t n = strlen(text);
    return t->n >= n && memcmp(t->at, text, n) == 0;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static const char *skip_blank(const char *c)
{
    for (;;) {
        c += strspn(c, " \t\r\n");
        if (c[0] == '/' && c[1] == '/')
            c += strcspn(c, "\n");
        else if (c[0] == '/' && c[1] == '*')
            c = strstr(c, "*/") ? strstr(c, "*/") + 2 : c + strlen(c);
        else
            return c;
    }
}

/* The next token, or an empty one at the text's end. */
static struct token next_token(const char **c)
{
    struct token t = {skip_blank(*c), 0, -1};
    while (is_word(t.at[t.n]))
        t.n++;
    if (!t.n && *t.at == '"')
        t.n = strcspn(t.at + 1, "\"") + 2 > strlen(t.at) ? strlen(t.at) : strcspn(t.at + 1, "\"") + 2;
    else if (!t.n && *t.at)
        t.n = 1;
    *c = t.at + t.n;
    return t;
}

static void *grow(void *v, size_t *room, size_t size, bool *wrong)
{
    void *more = realloc(v, (*room ? *room * 2 : 256) * size);
    if (!more) {
        *wrong = true;
        return v;
    }
    *room = *room ? *room * 2 : 256;
    return more;
}

static size_t hash(const struct token *t)
{
    size_t h = 1469598103u;
    for (size_t i = 0; i < t->n; i++)
        h = (h ^ (unsigned char)t->at[i]) * 1099511628211u;
    return h ^ h >> 29;
}

static size_t find_slot(const struct body *b, const struct token *t)
{
    size_t slot = hash(t) & (b->slots - 1);
    while (b->table[slot]) {
        const struct name *n = &b->names[b->table[slot] - 1];
        if (n->n == t->n && memcmp(n->at, t->at, t->n) == 0)
            break;
        slot = (slot + 1) & (b->slots - 1);
    }
    return slot;
}

static bool make_table(struct body *b)
{
    free(b->table);
    b->slots = b->slots ? 2 * b->slots : 512;
    b->table = calloc(b->slots, sizeof *b->table);
    for (size_t i = 0; b->table && i < b->n_names; i++) {
        const struct token t = {b->names[i].at, b->names[i].n, -1};
        b->table[find_slot(b, &t)] = i + 1;
    }
    return b->table != NULL;
}

/* The number of a register or label. */
static int64_t intern(struct body *b, const struct token *t)
{
    if (b->n_names == b->names_room)
        b->names = grow(b->names, &b->names_room, sizeof *b->names, &b->wrong);
    if (2 * b->n_names >= b->slots && !make_table(b))
        b->wrong = true;
    if (b->wrong)
        return 0;
    const size_t slot = find_slot(b, t);
    if (!b->table[slot]) {
        b->names[b->n_names] = (struct name){.at = t->at, .n = t->n, .other = -1};
        b->table[slot] = ++b->n_names;
    }
    return (int64_t)b->table[slot] - 1;
}

static bool is_special(const struct token *t)
{
    static const char *const special[] = {"%envreg", "%laneid",   "%warpid", "%nwarpid", "%smid",    "%nsmid",
                                          "%gridid", "%lanemask", "%clock",  "%global",  "%dynamic", "%total"};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (begins(t, special[i]))
            return true;
    return memchr(t->at, '.', t->n) != NULL;
}

static bool is_register(const struct token *t)
{
    return t->n > 1 && t->at[0] == '%' && !is_special(t);
}

/* ---- which instructions are strict by themselves ---- */

static bool is_float(const struct token *op)
{
    static const char *const types[] = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64", "tf32"};
    for (size_t at = 0; at < op->n;) {
        size_t n = 0;
        while (at + n < op->n && op->at[at + n] != '.')
            n++;
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (strlen(types[i]) == n && memcmp(op->at + at, types[i], n) == 0)
                return true;
        at += n + 1;
    }
    return false;
}

static bool opcode_in(const struct token *op, const char *const *list, size_t n)
{
    const char *dot = memchr(op->at, '.', op->n);
    const struct token name = {op->at, dot ? (size_t)(dot - op->at) : op->n, -1};
    for (size_t i = 0; i < n; i++)
        if (token_is(&name, list[i]))
            return true;
    return false;
}

/* Computes whole numbers of its operands, and nothing else. */
static bool is_exact(const struct token *op)
{
    static const char *const exact[] = {"mov", "add",  "sub",  "mul",  "mad",  "mul24", "mad24", "div",  "rem",
                                        "shl", "shr",  "and",  "or",   "xor",  "not",   "neg",   "abs",  "min",
                                        "max", "cvt",  "cvta", "setp", "set",  "selp",  "prmt",  "bfe",  "bfi",
                                        "clz", "popc", "brev", "sad",  "lop3", "shf",   "bfind", "cnot", "slct"};
    return !is_float(op) && (begins(op, "ld.param") || opcode_in(op, exact, sizeof exact / sizeof *exact));
}

static bool writes_nothing(const struct token *op)
{
    static const char *const none[] = {"st",     "red",   "bra",  "bar",  "barrier",  "ret",  "exit",
                                       "membar", "fence", "trap", "sust", "prefetch", "brkpt"};
    return opcode_in(op, none, sizeof none / sizeof *none);
}

/* ---- reading ---- */

static void add_step(struct body *b, const struct token *v, unsigned n)
{
    struct step s = {.n = n};
    if (b->n_steps == b->room)
        b->steps = grow(b->steps, &b->room, sizeof *b->steps, &b->wrong);
    s.v = b->wrong ? NULL : malloc(n * sizeof *v);
    if (!s.v) {
        b->wrong = true;
        return;
    }
    memcpy(s.v, v, n * sizeof *v);
    b->steps[b->n_steps++] = s;
}

static void add_label(struct body *b, struct token *t)
{
    t->name = intern(b, t);
    if (!b->wrong)
        b->names[t->name].label = true;
    add_step(b, t, 1);
    if (!b->wrong)
        b->steps[b->n_steps - 1].strict = true;
}

/* A directive's name has been read. */
static const char *skip_directive(struct body *b, const struct token *t, const char *c)
{
    static const char *const plain[] = {".reg", ".local", ".shared", ".pragma"};
    if (token_is(t, ".loc"))
        return c + strcspn(c, "\n");
    bool known = false;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        known |= token_is(t, plain[i]);
    struct token next = next_token(&c);
    while (next.n && !token_is(&next, ";"))
        next = next_token(&c);
    b->wrong |= !known || !next.n;
    return c;
}

/* Up to the brace that ends the body; c stands behind the one that begins it. */
static void read_steps(struct body *b, const char *c)
{
    struct token v[MAX_TOKENS];
    unsigned n = 0, depth = 1;
    while (depth && !b->wrong) {
        struct token t = next_token(&c);
        if (!t.n)
            b->wrong = true;
        else if (!n && (token_is(&t, "{") || token_is(&t, "}")))
            depth += *t.at == '{' ? 1u : -1u;
        else if (!n && *t.at == '.')
            c = skip_directive(b, &t, c);
        else if (n == 1 && token_is(&t, ":"))
            add_label(b, v), n = 0;
        else if (token_is(&t, ";"))
            n ? add_step(b, v, n) : (void)0, n = 0;
        else if (n == MAX_TOKENS)
            b->wrong = true;
        else
            v[n++] = t;
    }
}

/* False: there is no such kernel. */
static bool read_kernel(struct body *b, const char *ptx, const char *kernel)
{
    const char *c = ptx;
    for (struct token t = next_token(&c); t.n; t = next_token(&c)) {
        if (!token_is(&t, ".entry"))
            continue;
        t = next_token(&c);
        if (!token_is(&t, kernel))
            continue;
        for (t = next_token(&c); t.n && !token_is(&t, "{"); t = next_token(&c))
            b->params += token_is(&t, ".param");
        b->kernel = kernel;
        read_steps(b, c);
        return !b->wrong;
    }
    return false;
}

/* Where what the step writes ends: at the first comma that is in no braces. */
static unsigned end_of_written(const struct step *s)
{
    unsigned i = s->op + 1;
    for (int depth = 0; i < s->n && (depth || !token_is(&s->v[i], ",")); i++)
        depth += token_is(&s->v[i], "{") - token_is(&s->v[i], "}");
    return i;
}

/* Names registers and labels, and finds each instruction's opcode. */
static void name_all(struct body *b)
{
    for (size_t i = 0; i < b->n_steps && !b->wrong; i++) {
        struct step *s = &b->steps[i];
        if (s->v[0].name >= 0) /* a label */
            continue;
        if (token_is(&s->v[0], "@"))
            s->op = s->n > 2 && token_is(&s->v[1], "!") ? 3 : 2;
        if (s->op >= s->n) {
            b->wrong = true;
            return;
        }
        for (unsigned t = 0; t < s->n; t++)
            if (is_register(&s->v[t]))
                s->v[t].name = intern(b, &s->v[t]);
            else if (b->slots && t > s->op && b->table[find_slot(b, &s->v[t])])
                s->v[t].name = (int64_t)b->table[find_slot(b, &s->v[t])] - 1;
        const struct token *op = &s->v[s->op];
        b->wrong |= begins(op, "call") || begins(op, "brx");
        s->strict = !is_exact(op);
        s->begin = writes_nothing(op) ? s->op + 1 : end_of_written(s);
    }
}

/* ---- what comes from where ---- */

static bool add_sources(struct sources *to, const struct sources *more)
{
    bool changed = false;
    for (size_t i = 0; i < sizeof to->bits / sizeof *to->bits; i++) {
        changed |= (more->bits[i] & ~to->bits[i]) != 0;
        to->bits[i] |= more->bits[i];
    }
    return changed;
}

static bool is_hidden_param(const struct body *b, const struct token *t)
{
    const size_t n = strlen(b->kernel), behind = sizeof "_param_" - 1;
    return b->params && t->n > n + behind && memcmp(t->at, b->kernel, n) == 0 &&
           memcmp(t->at + n, "_param_", behind) == 0 &&
           (unsigned)strtoul(t->at + n + behind, NULL, 10) == b->params - 1;
}

/* hidden: the body's last parameter is the hidden argument. */
static struct sources sources_of(struct body *b, struct source_names *names, const struct token *t, bool hidden)
{
    static const char *const launch[] = {"%ctaid.", "%nctaid.", "%ntid.", "%envreg"};
    struct sources one = {0};
    bool of_launch = hidden && is_hidden_param(b, t);
    for (size_t i = 0; i < sizeof launch / sizeof *launch; i++)
        of_launch |= begins(t, launch[i]);
    if (t->name >= 0)
        return b->names[t->name].from;
    if (!of_launch && !isalpha((unsigned char)*t->at) && !strchr("_$%", *t->at))
        return one;
    unsigned k = LAUNCH;
    if (!of_launch) {
        for (k = 1; k < names->n && (names->v[k].n != t->n || memcmp(names->v[k].at, t->at, t->n) != 0);)
            k++;
        b->wrong |= k == MAX_SOURCES;
        if (b->wrong)
            return one;
        names->v[k] = *t;
        names->n = k == names->n ? k + 1 : names->n;
    }
    one.bits[k / 64] = (uint64_t)1 << k % 64;
    return one;
}

/* One round over the body. True: something became known. */
static bool spread(struct body *b, struct source_names *names, bool hidden)
{
    bool changed = false;
    for (size_t i = 0; i < b->n_steps && !b->wrong; i++) {
        struct step *s = &b->steps[i];
        struct sources from = {0};
        bool strict = s->strict;
        for (unsigned t = 0; t < s->n; t++) {
            const bool reads = t >= s->begin || t < s->op;
            if (!reads)
                continue;
            const struct sources one = sources_of(b, names, &s->v[t], hidden);
            add_sources(&from, &one);
            strict |= s->v[t].name >= 0 && b->names[s->v[t].name].strict;
        }
        changed |= strict != s->strict;
        s->strict = strict;
        for (unsigned t = s->op + 1; t < s->begin; t++) {
            struct name *to = s->v[t].name >= 0 ? &b->names[s->v[t].name] : NULL;
            if (!to)
                continue;
            changed |= strict && !to->strict;
            to->strict |= strict;
            changed |= add_sources(&to->from, &from);
        }
    }
    return changed;
}

/* ---- comparing ---- */

static bool tokens_agree(struct body *a, struct body *b, const struct token *x, const struct token *y)
{
    if ((x->name >= 0) != (y->name >= 0))
        return false;
    if (x->name < 0)
        return x->n == y->n && memcmp(x->at, y->at, x->n) == 0;
    struct name *m = &a->names[x->name], *n = &b->names[y->name];
    if (m->label != n->label || m->strict != n->strict)
        return false;
    if (!m->label && !m->strict)
        return memcmp(&m->from, &n->from, sizeof m->from) == 0;
    if (m->other < 0 && n->other < 0) {
        m->other = y->name;
        n->other = x->name;
    }
    return m->other == y->name && n->other == x->name;
}

static size_t next_strict(const struct body *b, size_t i)
{
    while (i < b->n_steps && !b->steps[i].strict)
        i++;
    return i;
}

static bool bodies_agree(struct body *a, struct body *b)
{
    size_t i = next_strict(a, 0), k = next_strict(b, 0);
    for (; i < a->n_steps && k < b->n_steps; i = next_strict(a, i + 1), k = next_strict(b, k + 1)) {
        const struct step *x = &a->steps[i], *y = &b->steps[k];
        if (x->n != y->n)
            return false;
        for (unsigned t = 0; t < x->n; t++)
            if (!tokens_agree(a, b, &x->v[t], &y->v[t]))
                return false;
    }
    return i == a->n_steps && k == b->n_steps;
}

static void destroy(struct body *b)
{
    for (size_t i = 0; i < b->n_steps; i++)
        free(b->steps[i].v);
    free(b->steps);
    free(b->names);
    free(b->table);
}

bool gs_same_code(const char *own, const char *translated, const char *kernel)
{
    struct body a = {0}, b = {0};
    struct source_names names = {.n = 1};
    bool same = read_kernel(&a, own, kernel) && read_kernel(&b, translated, kernel) && b.params == a.params + 1;
    if (same) {
        name_all(&a);
        name_all(&b);
        while (spread(&a, &names, false))
            ;
        while (spread(&b, &names, true))
            ;
        same = !a.wrong && !b.wrong && a.n_steps && bodies_agree(&a, &b);
    }
    destroy(&a);
    destroy(&b);
    return same;
}
