/* SPDX-License-Identifier: MIT */
/* Where in the text the parameters of a function stand.
 *
 * clang says where a name or parameter was read, but of what comes from a macro's body only where the macro was used.
 * So a declaration that a macro makes is looked for in the macro's body: the n-th that the tree shows at a use of the
 * macro is the n-th that stands in its body. */
#include "translator/rewrite/declarator.h"

#include "translator/parsing/need.h"

#define NONE UINT32_MAX
enum { MACRO_DEPTH = 16 };

static bool is(const struct gs_source_file *f, uint32_t t, const char *s)
{
    return t < f->tokens.n && gs_token_is(f->text, &f->tokens.v[t], s);
}

/* The next token of the text that is compiled; with `step` -1 the one before. NONE at the end. */
static uint32_t next_active(const struct gs_source_file *f, uint32_t t, int step)
{
    const struct gs_token *v = f->tokens.v;
    bool directive = t < f->tokens.n && v[t].directive;
    for (uint32_t i = t + (uint32_t)step; i < f->tokens.n; i += (uint32_t)step) {
        if (directive && (!v[i].directive || v[i].first))
            return NONE; /* a macro's body ends with its line */
        if (!v[i].inactive && v[i].directive == directive)
            return i;
    }
    return NONE;
}

/* From '(' to its ')', or back. */
static uint32_t match(const struct gs_source_file *f, uint32_t t, int step)
{
    const char *up = step > 0 ? "(" : ")", *down = step > 0 ? ")" : "(";
    unsigned depth = 0;
    for (uint32_t i = t; i != NONE; i = next_active(f, i, step)) {
        depth += is(f, i, up);
        if (is(f, i, down) && --depth == 0)
            return i;
    }
    return NONE;
}

/* The '(' that encloses a token. */
static uint32_t enclosing(const struct gs_source_file *f, uint32_t t)
{
    unsigned depth = 0;
    for (uint32_t i = next_active(f, t, -1); i != NONE; i = next_active(f, i, -1)) {
        depth += is(f, i, ")");
        if (is(f, i, "(") && depth-- == 0)
            return i;
        if (is(f, i, "{") || is(f, i, "}") || is(f, i, ";"))
            return NONE;
    }
    return NONE;
}

static bool finish(const struct gs_source *s, struct gs_declarator *d)
{
    d->close = d->open == NONE ? NONE : match(&s->files[d->file], d->open, 1);
    return d->close != NONE;
}

/* Where the macro is used that a place comes from; the place itself where it comes from none. */
static uint32_t expansion_place(const struct gs_source *s, CXSourceLocation where, uint32_t *offset)
{
    CXFile file;
    unsigned at;
    clang_getExpansionLocation(where, &file, NULL, NULL, &at);
    *offset = at;
    return file ? gs_source_file(s, file) : GS_NO_FILE;
}

/* The '(' around the first parameter where that is written outside of the macro at `macro`, or is one of its arguments
 * together with its parentheses. */
static bool find_around_parameter(const struct gs_source *s, CXCursor c, uint32_t macro_file, uint32_t macro,
                                  struct gs_declarator *d)
{
    uint32_t offset;
    CXSourceLocation where = clang_getRangeStart(clang_getCursorExtent(clang_Cursor_getArgument(c, 0)));
    d->file = gs_source_place(s, where, &offset);
    if (d->file == GS_NO_FILE || (d->file == macro_file && offset == macro))
        return false;
    const struct gs_source_file *f = &s->files[d->file];
    d->open = enclosing(f, gs_token_at(&f->tokens, offset));
    if (d->open == NONE)
        return false;
    uint32_t before = next_active(f, d->open, -1);
    if (before == NONE || d->file != macro_file || f->tokens.v[before].begin != macro)
        return true;
    const struct gs_macro *m = gs_source_macro(s, d->file, before);
    return !m || !m->function_like; /* else they are the parentheses of the macro's own use */
}

/* The function's name stands in the text: the parameters follow it, or are elsewhere around the first of them. */
static bool find_named(const struct gs_source *s, CXCursor c, uint32_t file, uint32_t name, struct gs_declarator *d)
{
    const struct gs_source_file *f = &s->files[file];
    uint32_t t = next_active(f, name, 1), macro;
    *d = (struct gs_declarator){
        .file = file, .open = NONE, .has_name = true, .name_file = file, .name_begin = name, .name_end = name};
    while (t != NONE && is(f, t, ")"))
        t = next_active(f, t, 1);
    uint32_t macro_file = expansion_place(s, clang_getCursorLocation(c), &macro);
    if (t != NONE && is(f, t, "("))
        d->open = t;
    else if (clang_Cursor_getNumArguments(c) <= 0 || !find_around_parameter(s, c, macro_file, macro, d))
        return false;
    return finish(s, d);
}

/* A macro gives the name, the parameters stand behind it in the text: FN(f)(int a), or a macro that renames. */
static bool find_behind_macro(const struct gs_source *s, CXCursor c, uint32_t file, uint32_t macro,
                              const struct gs_macro *m, struct gs_declarator *d)
{
    const struct gs_source_file *f = &s->files[file];
    *d = (struct gs_declarator){.file = file, .open = NONE};
    if (clang_Cursor_getNumArguments(c) > 0)
        return find_around_parameter(s, c, file, f->tokens.v[macro].begin, d) && finish(s, d);
    uint32_t t = next_active(f, macro, 1);
    if (m && m->function_like && t != NONE && is(f, t, "(")) {
        t = match(f, t, 1);
        t = t == NONE ? NONE : next_active(f, t, 1);
    }
    d->open = t != NONE && is(f, t, "(") ? t : NONE;
    return finish(s, d);
}

struct body_search {
    const struct gs_source *s;
    struct gs_declarator *v;
    uint32_t n, cap;
};

static void search_body(struct body_search *b, const struct gs_macro *m, unsigned depth);

/* Is what ends at `close` and goes on with `after` a function's declarator? */
static bool ends_declarator(const struct gs_source_file *f, uint32_t after)
{
    return after == NONE || is(f, after, "{") || is(f, after, ";") || is(f, after, "__attribute__") ||
           is(f, after, "__attribute");
}

static void add_found(struct body_search *b, uint32_t file, uint32_t open, uint32_t close)
{
    const struct gs_source_file *f = &b->s->files[file];
    struct gs_declarator d = {.file = file, .open = open, .close = close, .name_file = file};
    uint32_t t = next_active(f, open, -1);
    if (t != NONE && f->tokens.v[t].kind == GS_TOKEN_WORD) {
        d.has_name = true;
        d.name_begin = d.name_end = t;
        /* The parts of a pasted name. */
        for (uint32_t k; (k = next_active(f, d.name_begin, -1)) != NONE && is(f, k, "##");)
            d.name_begin = next_active(f, k, -1);
    }
    GS_GROW(b->s->arena, b->v, b->n, b->cap);
    b->v[b->n++] = d;
}

static bool is_attribute(const struct gs_source_file *f, uint32_t t)
{
    return is(f, t, "__attribute__") || is(f, t, "__attribute");
}

/* One word or '(' at the top of a macro's body; returns the last token that it has dealt with. */
static uint32_t search_token(struct body_search *b, uint32_t file, uint32_t t, unsigned depth)
{
    const struct gs_source_file *f = &b->s->files[file];
    uint32_t after = next_active(f, t, 1);
    if (f->tokens.v[t].kind == GS_TOKEN_WORD) {
        const struct gs_macro *m = gs_source_macro(b->s, file, t);
        bool called = m && m->function_like && after != NONE && is(f, after, "(");
        bool attribute = is_attribute(f, t) && after != NONE && is(f, after, "(");
        if (m && (called || !m->function_like))
            search_body(b, m, depth + 1);
        uint32_t end = called || attribute ? match(f, after, 1) : t;
        return end == NONE ? t : end;
    }
    uint32_t close = match(f, t, 1);
    if (close == NONE)
        return t;
    if (ends_declarator(f, next_active(f, close, 1)))
        add_found(b, file, t, close);
    return close;
}

static void search_body(struct body_search *b, const struct gs_macro *m, unsigned depth)
{
    const struct gs_source_file *f = &b->s->files[m->file];
    uint32_t t = next_active(f, m->token, 1);
    if (depth > MACRO_DEPTH)
        return;
    if (m->function_like && t != NONE) {
        t = match(f, t, 1);
        t = t == NONE ? NONE : next_active(f, t, 1);
    }
    for (unsigned braces = 0; t != NONE; t = next_active(f, t, 1)) {
        braces += is(f, t, "{");
        braces -= is(f, t, "}") && braces > 0;
        if (braces == 0 && (f->tokens.v[t].kind == GS_TOKEN_WORD || is(f, t, "(")))
            t = search_token(b, m->file, t, depth);
    }
}

/* All declarations of a unit that come from one use of a macro. Either each finds its place in the macro's body, or
 * none: then something was found that is none, and nothing of it can be trusted. */
static void find_in_macro(struct gs_source *s, struct gs_declarators *out, uint32_t first, uint32_t file,
                          uint32_t offset, const struct gs_macro *m)
{
    const struct gs_program *p = s->program;
    struct body_search b = {.s = s};
    uint32_t n = 0, *same = gs_need_array(s->arena, p->n_decls - first, sizeof *same);
    search_body(&b, m, 0);
    for (uint32_t i = first; i < p->n_decls; i++) {
        uint32_t at;
        if (p->decls[i].unit == s->unit &&
            expansion_place(s, clang_getCursorLocation(p->decls[i].cursor), &at) == file && at == offset)
            same[n++] = i;
        else if (n > 0)
            break; /* one use makes them one after the other */
    }
    for (uint32_t i = 0; i < n && b.n > 0 && n % b.n == 0; i++) {
        out->v[same[i]] = b.v[i % b.n];
        out->found[same[i]] = true;
    }
}

static void find_one(struct gs_source *s, uint32_t i, struct gs_declarators *out)
{
    const struct gs_program *p = s->program;
    CXCursor c = p->decls[i].cursor;
    uint32_t offset, file = gs_source_place(s, clang_getCursorLocation(c), &offset);
    if (file == GS_NO_FILE)
        return;
    const struct gs_source_file *f = &s->files[file];
    uint32_t t = gs_token_at(&f->tokens, offset);
    if (is(f, t, p->funcs[p->decls[i].func].name))
        out->found[i] = find_named(s, c, file, t, &out->v[i]);
    if (out->found[i])
        return;
    file = expansion_place(s, clang_getCursorLocation(c), &offset);
    if (file == GS_NO_FILE)
        return;
    f = &s->files[file];
    t = gs_token_at(&f->tokens, offset);
    if (t >= f->tokens.n || f->tokens.v[t].begin != offset)
        return;
    const struct gs_macro *m = gs_source_macro(s, file, t);
    if (!is(f, t, p->funcs[p->decls[i].func].name))
        out->found[i] = find_behind_macro(s, c, file, t, m, &out->v[i]);
    if (!out->found[i] && m)
        find_in_macro(s, out, i, file, offset, m);
}

void gs_declarators_find(struct gs_source *s, struct gs_declarators *out)
{
    for (uint32_t i = 0; i < s->program->n_decls; i++)
        if (s->program->decls[i].unit == s->unit && !out->found[i])
            find_one(s, i, out);
}
