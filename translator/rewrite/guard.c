/* SPDX-License-Identifier: MIT */
/* Makes sure that the device's compiler takes the branches that were read here. */
#include "translator/rewrite/guard.h"

#include "translator/parsing/need.h"

struct guards {
    struct gs_source *s;
    struct gs_writer out;
    const char **done; /* names that have been dealt with */
    uint32_t n_done, cap_done;
};

static bool is(const struct gs_source_file *f, uint32_t t, const char *s)
{
    return t < f->tokens.n && gs_token_is(f->text, &f->tokens.v[t], s);
}

/* Names that compilers define by themselves; all others are the application's. */
static bool is_reserved(const char *name)
{
    static const char *const begins[] = {"_", "cl_", "CL_", "FP_", "POCL_", "NVIDIA", "AMD"};
    static const char *const plain[] = {"linux", "unix", "i386"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i]) == 0)
            return true;
    return false;
}

/* Not asked of the device: no macro, or the same wherever OpenCL is. */
static bool is_certain(const char *name)
{
    static const char *const certain[] = {"__FILE__",       "__LINE__",       "CL_VERSION_1_0", "CL_VERSION_1_1",
                                          "CL_VERSION_1_2", "__has_include",  "__has_builtin",  "__has_attribute",
                                          "__has_feature",  "__has_extension"};
    for (size_t i = 0; i < sizeof certain / sizeof *certain; i++)
        if (strcmp(name, certain[i]) == 0)
            return true;
    return false;
}

static bool seen(struct guards *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_done; i++)
        if (strcmp(g->done[i], name) == 0)
            return true;
    GS_GROW(g->s->arena, g->done, g->n_done, g->cap_done);
    g->done[g->n_done++] = name;
    return false;
}

static void put(struct guards *g, const char *text)
{
    gs_put_raw(&g->out, text, strlen(text));
}

static void add_guard(struct guards *g, const char *name)
{
    const struct gs_source *s = g->s;
    const struct gs_predefined *p = gs_source_predefined(s, name);
    const char *number = p ? gs_source_number(s, p) : NULL, *condition, *told;
    if (gs_device_macro(s->arena, s->program->units[s->unit].macros, name, &told)) {
        p = told ? p : NULL;
        number = told && *told ? told : NULL;
    }
    if (!p)
        condition = gs_arena_printf(s->arena, "defined(%s)", name);
    else if (number)
        condition = gs_arena_printf(s->arena, "!defined(%s) || %s != %s", name, name, number);
    else
        condition = gs_arena_printf(s->arena, "!defined(%s)", name);
    put(g, gs_need(gs_arena_printf(s->arena, "#if %s\n#error gpusparc read the program with another %s\n#endif\n",
                                   condition, name)));
}

/* The names on a directive's line, from its '#' on. */
static void look_at_condition(struct guards *g, const struct gs_source_file *f, uint32_t t)
{
    for (t += 2; t < f->tokens.n && f->tokens.v[t].directive && !f->tokens.v[t].first; t++) {
        const struct gs_token *k = &f->tokens.v[t];
        if (k->kind != GS_TOKEN_WORD)
            continue;
        const char *name = gs_need(gs_arena_copy(g->s->arena, f->text + k->begin, k->end - k->begin));
        if (!seen(g, name) && is_reserved(name) && !is_certain(name) && !gs_source_defines(g->s, name) &&
            !gs_options_define(g->s->arena, g->s->program->units[g->s->unit].request->options, name))
            add_guard(g, name);
    }
}

static bool begins_if(const struct gs_source_file *f, uint32_t t)
{
    return is(f, t, "if") || is(f, t, "ifdef") || is(f, t, "ifndef");
}

static bool continues_if(const struct gs_source_file *f, uint32_t t)
{
    return is(f, t, "elif") || is(f, t, "else") || is(f, t, "endif");
}

/* Is the group of lines behind the directive at `t` compiled? An empty one counts as such. */
static bool is_group_active(const struct gs_source_file *f, uint32_t t)
{
    do
        t++;
    while (t < f->tokens.n && f->tokens.v[t].directive && !f->tokens.v[t].first);
    return t >= f->tokens.n || !f->tokens.v[t].inactive || (f->tokens.v[t].first && continues_if(f, t + 1));
}

/* Looks at the conditions that were asked: those that don't stand in a branch that was left out. */
static void look_at_file(struct guards *g, const struct gs_source_file *f)
{
    bool *active = gs_need_array(g->s->arena, (size_t)f->tokens.n + 2, sizeof *active);
    uint32_t depth = 0;
    active[0] = true;
    for (uint32_t t = 0; t + 1 < f->tokens.n; t++) {
        if (!f->tokens.v[t].first)
            continue;
        if (begins_if(f, t + 1)) {
            if (active[depth])
                look_at_condition(g, f, t);
            active[depth + 1] = active[depth] && is_group_active(f, t);
            depth++;
        } else if (depth > 0 && is(f, t + 1, "endif")) {
            depth--;
        } else if (depth > 0 && continues_if(f, t + 1)) {
            if (active[depth - 1] && is(f, t + 1, "elif"))
                look_at_condition(g, f, t);
            active[depth] = active[depth - 1] && is_group_active(f, t);
        }
    }
}

const char *gs_guard_lines(struct gs_source *s)
{
    struct guards g = {.s = s};
    for (uint32_t i = 0; i < s->n_files; i++)
        look_at_file(&g, &s->files[i]);
    const char *text = gs_need(gs_arena_copy(s->arena, g.out.text ? g.out.text : "", g.out.failed ? 0 : g.out.bytes));
    if (g.out.failed)
        gs_need(NULL);
    free(g.out.text);
    return text;
}
