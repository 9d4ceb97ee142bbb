/* SPDX-License-Identifier: MIT */
#include "translator/rewrite/shadow.h"

#include "translator/parsing/need.h"

enum { UNKNOWN = UINT32_MAX };

static bool is(const struct gs_source_file *f, uint32_t t, const char *s)
{
    return t < f->tokens.n && gs_token_is(f->text, &f->tokens.v[t], s);
}

/* How many arguments a macro finds behind the parenthesis `open`; UNKNOWN: that one isn't closed. They are held
 * together by parentheses alone, not by braces. Directives among them, and branches that aren't taken, are none. */
static uint32_t count_arguments(const struct gs_source_file *f, uint32_t open)
{
    const struct gs_token *v = f->tokens.v;
    const bool directive = v[open].directive;
    uint32_t depth = 0, n = 1;
    for (uint32_t t = open; t < f->tokens.n; t++) {
        if (directive && (!v[t].directive || v[t].first))
            return UNKNOWN;
        if (!directive && (v[t].directive || v[t].inactive))
            continue;
        depth += is(f, t, "(");
        n += depth == 1 && is(f, t, ",");
        if (is(f, t, ")") && --depth == 0)
            return n;
    }
    return UNKNOWN;
}

/* Where the text of a macro begins, whose directive begins at `hash`. */
static uint32_t replacement_of(const struct gs_source_file *f, uint32_t hash)
{
    const struct gs_token *v = f->tokens.v;
    uint32_t t = hash + 3;
    if (is(f, t, "(") && v[t].begin == v[hash + 2].end)
        while (t < f->tokens.n && !is(f, t++, ")"))
            ;
    return t;
}

/* Does it define a macro whose text has a comma outside of parentheses, or takes any number of arguments? Then one
 * argument of a call may become several. */
static bool makes_lists(const struct gs_source_file *f, uint32_t hash)
{
    const struct gs_token *v = f->tokens.v;
    if (!v[hash].first || !is(f, hash + 1, "define"))
        return false;
    uint32_t depth = 0;
    for (uint32_t t = replacement_of(f, hash); t < f->tokens.n && v[t].directive && !v[t].first; t++) {
        depth += is(f, t, "(");
        depth -= depth && is(f, t, ")");
        if ((!depth && is(f, t, ",")) || is(f, t, "__VA_ARGS__"))
            return true;
    }
    return false;
}

/* A function's name, and whether all of its calls have as many arguments as it. */
struct gs_arity {
    const char *name;
    size_t bytes;
    uint32_t n_params;
    bool exact;
};

struct word {
    const char *at;
    size_t bytes;
};

static int compare_words(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    const int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int compare_names(const void *a, const void *b)
{
    const struct gs_arity *x = a, *y = b;
    return compare_words(x->name, x->bytes, y->name, y->bytes);
}

static int compare_with_name(const void *a, const void *b)
{
    const struct word *x = a;
    const struct gs_arity *y = b;
    return compare_words(x->at, x->bytes, y->name, y->bytes);
}

static struct gs_arity *find(const struct gs_shadows *s, const char *name, size_t bytes)
{
    return bsearch(&(struct word){name, bytes}, s->v, s->n, sizeof *s->v, compare_with_name);
}

/* The functions that change, by name. Overloaded ones share a macro. */
static void collect(struct gs_shadows *s, const struct gs_rewrite *r)
{
    const struct gs_program *p = r->program;
    uint32_t n = 0;
    s->v = gs_need_array(r->arena, (size_t)p->n_funcs + 1, sizeof *s->v);
    for (uint32_t i = 0; i < p->n_funcs; i++)
        if (r->needs[i])
            s->v[n++] = (struct gs_arity){p->funcs[i].name, strlen(p->funcs[i].name), p->funcs[i].n_params, true};
    qsort(s->v, n, sizeof *s->v, compare_names);
    for (uint32_t i = 0; i < n; i++) {
        struct gs_arity *last = s->n ? &s->v[s->n - 1] : NULL;
        if (last && compare_names(last, &s->v[i]) == 0)
            last->exact &= last->n_params == s->v[i].n_params;
        else
            s->v[s->n++] = s->v[i];
    }
}

/* Notes the calls whose arguments a macro counts otherwise. True: the file has a macro that makes lists. */
static bool look_at_file(const struct gs_shadows *s, const struct gs_source_file *f)
{
    for (uint32_t t = 0; t + 1 < f->tokens.n; t++) {
        const struct gs_token *v = &f->tokens.v[t];
        if (makes_lists(f, t))
            return true;
        struct gs_arity *a = v->kind == GS_TOKEN_WORD && !v->inactive && is(f, t + 1, "(")
                                 ? find(s, f->text + v->begin, v->end - v->begin)
                                 : NULL;
        if (a && a->exact)
            a->exact = count_arguments(f, t + 1) == (a->n_params ? a->n_params : 1);
    }
    return false;
}

struct gs_shadows gs_shadows_look(const struct gs_rewrite *r)
{
    const struct gs_program *p = r->program;
    struct gs_shadows s = {0};
    collect(&s, r);
    for (uint32_t u = 0; u < p->n_units; u++) {
        s.lists |= strchr(p->units[u].request->options, ',') != NULL;
        for (uint32_t i = 0; i < r->sources[u].n_files && !s.lists; i++)
            s.lists = look_at_file(&s, &r->sources[u].files[i]);
    }
    return s;
}

const char *gs_shadow(const struct gs_rewrite *r, const struct gs_shadows *s, const struct gs_func *f)
{
    const char *p = r->prefix, *n = f->name, *formal = "...", *actual = "__VA_ARGS__";
    if (f->n_params == 0)
        return gs_need(gs_arena_printf(r->arena, "#define %s() %s(%s)\n", n, n, p));
    if (!s->lists && find(s, n, strlen(n))->exact) {
        formal = gs_need(gs_arena_printf(r->arena, "%s_0", p));
        for (uint32_t i = 1; i < f->n_params; i++)
            formal = gs_need(gs_arena_printf(r->arena, "%s, %s_%u", formal, p, i));
        actual = formal;
    }
    if (f->kernel)
        return gs_need(gs_arena_printf(r->arena, "#define %s(%s) %s(%s, %s)\n", n, formal, n, actual, p));
    return gs_need(gs_arena_printf(r->arena, "#define %s(%s) %s(%s, %s)\n", n, formal, n, p, actual));
}
