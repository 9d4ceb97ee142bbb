/* SPDX-License-Identifier: MIT */
/* Gives functions their hidden argument.
 *
 * Kernels take it as their last parameter, so that the others keep their indices; helper functions as their first. The
 * calls aren't touched: macros of the functions' own names, which aren't expanded again inside themselves, add the
 * argument to each call wherever it stands, be it in a macro's body or in a branch of an #if that clang didn't take. In
 * a declaration the name stands in parentheses, or an empty macro behind it, so that the macro leaves it alone. */
#include "translator/rewrite/rewrite.h"

#include <stdio.h>

#include "translator/parsing/builtins.h"
#include "translator/rewrite/declarator.h"
#include "translator/rewrite/guard.h"
#include "translator/rewrite/shadow.h"
#include "translator/rewrite/windows.h"
#include "translator/parsing/need.h"

struct names {
    struct gs_rewrite *r;
    const char **v; /* the names of all functions, sorted, each once */
    uint32_t n;
    uint32_t *of;    /* per function: its name */
    uint32_t *group; /* per name: the representative of those that must be changed together */
    bool *needs;     /* per name, by its representative */
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint32_t find_name(const struct names *n, const char *name)
{
    const char **at = bsearch(&name, n->v, n->n, sizeof *n->v, compare_names);
    return (uint32_t)(at - n->v);
}

static void collect_names(struct names *n)
{
    const struct gs_program *p = n->r->program;
    struct gs_arena *arena = n->r->arena;
    n->v = gs_need_array(arena, (size_t)p->n_funcs + 1, sizeof *n->v);
    n->of = gs_need_array(arena, (size_t)p->n_funcs + 1, sizeof *n->of);
    n->group = gs_need_array(arena, (size_t)p->n_funcs + 1, sizeof *n->group);
    n->needs = gs_need_array(arena, (size_t)p->n_funcs + 1, sizeof *n->needs);
    for (uint32_t i = 0; i < p->n_funcs; i++)
        n->v[i] = p->funcs[i].name;
    qsort(n->v, p->n_funcs, sizeof *n->v, compare_names);
    for (uint32_t i = 0; i < p->n_funcs; i++)
        if (n->n == 0 || strcmp(n->v[n->n - 1], n->v[i]) != 0)
            n->v[n->n++] = n->v[i];
    for (uint32_t i = 0; i < p->n_funcs; i++)
        n->of[i] = find_name(n, p->funcs[i].name);
    for (uint32_t i = 0; i < n->n; i++)
        n->group[i] = i;
}

static uint32_t group_of(struct names *n, uint32_t name)
{
    while (n->group[name] != name)
        name = n->group[name] = n->group[n->group[name]];
    return name;
}

struct place {
    uint32_t unit, file, open, decl;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->open != y->open)
        return x->open < y->open ? -1 : 1;
    return x->decl < y->decl ? -1 : x->decl > y->decl;
}

/* Functions that are declared at one place of the text, by a macro or a header that is used several times, get the
 * argument all or none. */
static void group_names(struct names *n, const struct gs_declarators *d)
{
    const struct gs_program *p = n->r->program;
    struct place *v = gs_need_array(n->r->arena, (size_t)p->n_decls + 1, sizeof *v);
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->n_decls; i++)
        if (d->found[i])
            v[k++] = (struct place){p->decls[i].unit, d->v[i].file, d->v[i].open, i};
    qsort(v, k, sizeof *v, compare_places);
    for (uint32_t i = 1; i < k; i++)
        if (v[i].unit == v[i - 1].unit && v[i].file == v[i - 1].file && v[i].open == v[i - 1].open) {
            uint32_t a = group_of(n, n->of[p->decls[v[i].decl].func]);
            n->group[a] = group_of(n, n->of[p->decls[v[i - 1].decl].func]);
        }
}

/* Whoever calls a function that needs it needs it. */
static void spread(struct names *n)
{
    const struct gs_program *p = n->r->program;
    const struct gs_flow *f = n->r->flow;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < p->n_funcs; i++) {
            bool *needs = &n->needs[group_of(n, n->of[i])],
                 now = *needs || f->funcs[i].hidden || gs_rewrite_moves(n->r, i);
            for (uint32_t c = 0; c < f->funcs[i].n_calls && !now; c++)
                now = n->needs[group_of(n, n->of[f->funcs[i].calls[c]])];
            more |= now && !*needs;
            *needs = now;
        }
    }
    for (uint32_t i = 0; i < p->n_funcs; i++)
        n->r->needs[i] = n->needs[group_of(n, n->of[i])];
}

/* A name that begins like no word of the application. */
static const char *free_prefix(struct gs_rewrite *r)
{
    const char *prefix = "__gs";
    for (unsigned k = 0;; k++) {
        bool taken = false;
        for (uint32_t u = 0; u < r->program->n_units && !taken; u++)
            taken = gs_source_mentions(&r->sources[u], prefix) ||
                    strstr(r->program->units[u].request->options, prefix) != NULL;
        if (!taken)
            return prefix;
        prefix = gs_need(gs_arena_printf(r->arena, "__gs%u", k));
    }
}

static void insert(struct gs_source *s, uint32_t file, uint32_t offset, const char *text)
{
    gs_source_edit(s, file, offset, 0, text);
}

static void protect_name(struct gs_rewrite *r, struct gs_source *s, const struct gs_declarator *d)
{
    const struct gs_token *v = s->files[d->name_file].tokens.v;
    if (d->has_name) {
        insert(s, d->name_file, v[d->name_begin].begin, "(");
        insert(s, d->name_file, v[d->name_end].end, ")");
    } else {
        insert(s, d->file, s->files[d->file].tokens.v[d->open].begin, gs_arena_printf(r->arena, " %s_nil ", r->prefix));
    }
}

/* `open` and `close` enclose the parameters. Empty ones are `()` or `(void)`. */
static void add_parameter(struct gs_rewrite *r, struct gs_source *s, const struct gs_declarator *d, bool empty,
                          bool last)
{
    const struct gs_token *v = s->files[d->file].tokens.v;
    const char *param = gs_need(gs_arena_printf(r->arena, "const %s_t %s", r->prefix, r->prefix));
    uint32_t begin = v[d->open].end, end = v[d->close].begin;
    if (empty)
        gs_source_edit(s, d->file, begin, end - begin, param);
    else if (last)
        insert(s, d->file, end, gs_need(gs_arena_printf(r->arena, ", %s", param)));
    else
        insert(s, d->file, begin, gs_need(gs_arena_printf(r->arena, "%s, ", param)));
}

static void change_declarations(struct gs_rewrite *r, const struct gs_declarators *d)
{
    const struct gs_program *p = r->program;
    for (uint32_t i = 0; i < p->n_decls; i++) {
        const struct gs_func *f = &p->funcs[p->decls[i].func];
        struct gs_source *s = &r->sources[p->decls[i].unit];
        if (!r->needs[p->decls[i].func])
            continue;
        if (!d->found[i]) {
            r->refusal = gs_need(
                gs_arena_printf(r->arena, "its function %s is declared in a way that can't be changed", f->name));
            return;
        }
        if (!f->kernel || r->called[p->decls[i].func])
            protect_name(r, s, &d->v[i]);
        add_parameter(r, s, &d->v[i], f->n_params == 0, f->kernel);
    }
}

static bool is_changed_function(const struct gs_rewrite *r, const char *text, const struct gs_token *t)
{
    for (uint32_t i = 0; i < r->program->n_funcs; i++)
        if (r->needs[i] && gs_token_is(text, t, r->program->funcs[i].name))
            return true;
    return false;
}

static bool is_hidden_builtin(const struct gs_rewrite *r, const char *text, const struct gs_token *t)
{
    char name[32];
    uint32_t n = t->end - t->begin;
    if (n >= sizeof name)
        return false;
    memcpy(name, text + t->begin, n);
    name[n] = 0;
    return gs_builtin_is_hidden(name) || (r->program->request->windows && gs_builtin_is_moved(name));
}

/* One of ours would be found by a directive that asks whether there is such a macro. `t`: the directive's first token.
 */
static void check_condition(struct gs_rewrite *r, const struct gs_source_file *f, uint32_t t)
{
    static const char *const asks[] = {"if", "ifdef", "ifndef", "elif"};
    const struct gs_token *v = f->tokens.v;
    bool is = false;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        is |= v[t].first && !v[t].inactive && gs_token_is(f->text, &v[t], "#") &&
              gs_token_is(f->text, &v[t + 1], asks[i]);
    for (uint32_t i = t + 2; is && i < f->tokens.n && v[i].directive && !v[i].first; i++)
        if (is_hidden_builtin(r, f->text, &v[i]) || is_changed_function(r, f->text, &v[i]))
            r->refusal = gs_need(gs_arena_printf(r->arena, "it asks whether there is a macro %.*s",
                                                 (int)(v[i].end - v[i].begin), f->text + v[i].begin));
}

/* A macro of the application by the name of one of ours would take its place, and a built-in function whose name stands
 * in parentheses would escape it. */
static void check_file(struct gs_rewrite *r, const struct gs_source_file *f)
{
    for (uint32_t t = 0; t + 2 < f->tokens.n; t++) {
        const struct gs_token *v = &f->tokens.v[t];
        check_condition(r, f, t);
        bool macro =
            v->first && !v->inactive && (gs_token_is(f->text, v + 1, "define") || gs_token_is(f->text, v + 1, "undef"));
        if (macro && (is_hidden_builtin(r, f->text, v + 2) || is_changed_function(r, f->text, v + 2)))
            r->refusal = gs_need(gs_arena_printf(r->arena, "it has a macro by the name of the function %.*s",
                                                 (int)(v[2].end - v[2].begin), f->text + v[2].begin));
        bool bare =
            gs_token_is(f->text, v, "(") && gs_token_is(f->text, v + 2, ")") && (t == 0 || v[-1].kind != GS_TOKEN_WORD);
        if (bare && is_hidden_builtin(r, f->text, v + 1))
            r->refusal = "it names a built-in function in parentheses";
    }
}

static void note_calls(struct gs_rewrite *r)
{
    for (uint32_t i = 0; i < r->program->n_funcs; i++)
        for (uint32_t c = 0; c < r->flow->funcs[i].n_calls; c++)
            r->called[r->flow->funcs[i].calls[c]] = true;
}

void gs_rewrite(struct gs_rewrite *r, struct gs_flow *flow, struct gs_source *sources)
{
    struct gs_program *p = flow->program;
    struct names names = {.r = r};
    *r = (struct gs_rewrite){.flow = flow, .program = p, .arena = p->arena, .sources = sources};
    r->needs = gs_need_array(r->arena, (size_t)p->n_funcs + 1, sizeof *r->needs);
    r->called = gs_need_array(r->arena, (size_t)p->n_funcs + 1, sizeof *r->called);
    r->guards = gs_need_array(r->arena, (size_t)p->n_units + 1, sizeof *r->guards);
    for (uint32_t u = 0; u < p->n_units; u++) {
        r->guards[u] = gs_guard_lines(&sources[u]);
        r->changed |= *r->guards[u] != 0;
    }
    bool hidden = false;
    for (uint32_t i = 0; i < p->n_funcs; i++)
        hidden |= flow->funcs[i].hidden || gs_rewrite_moves(r, i);
    if (!hidden)
        return;
    r->changed = true;
    struct gs_declarators d = {gs_need_array(r->arena, (size_t)p->n_decls + 1, sizeof *d.v),
                               gs_need_array(r->arena, (size_t)p->n_decls + 1, sizeof *d.found)};
    for (uint32_t u = 0; u < p->n_units; u++)
        gs_declarators_find(&sources[u], &d);
    collect_names(&names);
    group_names(&names, &d);
    spread(&names);
    note_calls(r);
    r->prefix = free_prefix(r);
    change_declarations(r, &d);
    for (uint32_t u = 0; u < p->n_units; u++)
        for (uint32_t i = 0; i < sources[u].n_files; i++)
            check_file(r, &sources[u].files[i]);
    if (!r->refusal)
        gs_rewrite_windows(r);
}

static void put(struct gs_writer *out, const char *text)
{
    gs_put_raw(out, text, strlen(text));
}

/* The built-in functions, put right by the hidden argument. The fields, N of them, follow struct gs_hidden, and struct
 * gs_moves where there are windows. Out of range, they answer as the specification says (OpenCL C 3.0, section 6.15.1).
 */
static const char types[] = "typedef struct { ulong v[N]; } P_t;\n"
                            "#define P_nil\n"
                            "#if __OPENCL_C_VERSION__ >= 120\n"
                            "#define P_own static inline\n"
                            "#else\n" /* which has no storage classes */
                            "#define P_own\n"
                            "#endif\n"
                            "P_own ulong P_pick(const P_t h, uint at, uint d, ulong other) "
                            "{ return d == 0 ? h.v[at] : d == 1 ? h.v[at + 1] : d == 2 ? h.v[at + 2] : other; }\n";
/* get_global_id as the functions below want it: by the launch's offset, or moved by struct gs_moves. */
static const char id_by_offset[] = "#define P_id(h, d) get_global_id(d)\n";
static const char id_moved[] =
    "P_own size_t P_id(const P_t h, uint d) { return get_global_id(d) + (size_t)P_pick(h, 12, d, 0); }\n";
static const char functions[] =
    "P_own size_t P_global_offset(const P_t h, uint d) { return (size_t)P_pick(h, 0, d, get_global_offset(d)); "
    "}\n"
    "P_own size_t P_global_size(const P_t h, uint d) { return (size_t)P_pick(h, 3, d, get_global_size(d)); }\n"
    "P_own size_t P_num_groups(const P_t h, uint d) { return (size_t)P_pick(h, 6, d, get_num_groups(d)); }\n"
    "P_own size_t P_group_id(const P_t h, uint d) { return get_group_id(d) + (size_t)P_pick(h, 9, d, 0); }\n"
    "P_own size_t P_global_linear_id(const P_t h) { return (size_t)("
    "((P_id(h, 2) - h.v[2]) * h.v[4] + P_id(h, 1) - h.v[1]) * h.v[3] + P_id(h, 0) - h.v[0]); }\n"
    "#define get_global_offset(d) P_global_offset(P, d)\n"
    "#define get_global_size(d) P_global_size(P, d)\n"
    "#define get_num_groups(d) P_num_groups(P, d)\n"
    "#define get_group_id(d) P_group_id(P, d)\n"
    "#define get_global_linear_id() P_global_linear_id(P)\n";

static const char moved_id[] = "#define get_global_id(d) P_id(P, d)\n";
_Static_assert(sizeof(struct gs_hidden) == 12 * sizeof(uint64_t) && offsetof(struct gs_moves, item_base) == 0,
               "id_moved says it");

/* Each word P becomes the prefix. */
static void put_prelude(const struct gs_rewrite *r, const char *text, struct gs_writer *out)
{
    const unsigned fields =
        (sizeof(struct gs_hidden) + (r->program->request->windows ? sizeof(struct gs_moves) : 0)) / sizeof(uint64_t);
    for (const char *c = text; *c; c++) {
        bool word = *c == 'P' && (c[1] == '_' || c[1] == ',' || c[1] == ')');
        if (word)
            put(out, r->prefix);
        else if (*c == 'N' && c[1] == ']')
            put(out, gs_need(gs_arena_printf(r->arena, "%u", fields)));
        else
            gs_put_raw(out, c, 1);
    }
}

static void put_shadows(const struct gs_rewrite *r, uint32_t unit, struct gs_writer *out)
{
    const struct gs_program *p = r->program;
    const struct gs_shadows shadows = gs_shadows_look(r);
    bool *done = gs_need_array(r->arena, (size_t)p->n_funcs + 1, sizeof *done);
    for (uint32_t i = 0; i < p->n_decls; i++) {
        uint32_t f = p->decls[i].func;
        if (p->decls[i].unit != unit || done[f] || !r->needs[f] || (p->funcs[f].kernel && !r->called[f]))
            continue;
        done[f] = true;
        put(out, gs_shadow(r, &shadows, &p->funcs[f]));
    }
}

static bool unit_changes(const struct gs_rewrite *r, uint32_t unit)
{
    const struct gs_program *p = r->program;
    for (uint32_t i = 0; i < p->n_decls; i++)
        if (p->decls[i].unit == unit && r->needs[p->decls[i].func])
            return true;
    return false;
}

void gs_rewrite_render(struct gs_rewrite *r, uint32_t unit, struct gs_writer *out)
{
    if (!r->changed) {
        put(out, r->program->units[unit].request->source);
        return;
    }
    put(out, r->guards[unit]);
    if (unit_changes(r, unit)) {
        put_prelude(r, types, out);
        put_prelude(r, r->program->request->windows ? id_moved : id_by_offset, out);
        put_prelude(r, functions, out);
        put_prelude(r, r->program->request->windows ? moved_id : "", out);
        put_shadows(r, unit, out);
    }
    put(out, "#line 1\n");
    gs_source_render(&r->sources[unit], out); /* a unit that stays as it is has its headers put in all the same */
}
