/* SPDX-License-Identifier: MIT */
/* The whole way from a request to its reply. */
#include "translator/translation.h"

#include <unistd.h>

#include "translator/access/access_build.h"
#include "translator/flow/flow.h"
#include "translator/parsing/need.h"
#include "translator/summary/request.h"
#include "translator/rewrite/rewrite.h"
#include "translator/summary/summary_text.h"

struct translation {
    struct gs_arena arena;
    struct gs_translate_request request;
    struct gs_program program;
    struct gs_flow flow;
    struct gs_source *sources;
    struct gs_rewrite rewrite;
    struct gs_summary summary;
    struct gs_reply reply;
    struct gs_dependency *dependencies;
    uint32_t cap_dependencies;
};

static CXCursor find_definition(void *ctx, CXCursor callee, uint32_t *unit)
{
    const struct gs_program *p = ctx;
    uint32_t f = gs_program_func(p, callee, *unit);
    if (f == GS_NO_FUNC || !p->funcs[f].defined)
        return clang_getNullCursor();
    *unit = p->funcs[f].unit;
    return p->funcs[f].def;
}

static struct gs_site find_site(void *ctx, CXCursor cursor, uint32_t unit)
{
    return gs_program_site(ctx, cursor, unit);
}

static void summarise_kernels(struct translation *t)
{
    struct gs_program *p = &t->program;
    struct gs_kernel_summary *v = gs_need_array(&t->arena, (size_t)p->n_funcs + 1, sizeof *v);
    struct gs_tree tree = {.arena = &t->arena, .definition = find_definition, .site = find_site, .ctx = p};
    for (uint32_t i = 0; i < p->n_funcs; i++) {
        if (!p->funcs[i].kernel || !p->funcs[i].defined)
            continue;
        struct gs_kernel_summary *k = &v[t->summary.n_kernels++];
        gs_flow_kernel(&t->flow, i, k);
        k->hidden = t->rewrite.changed && t->rewrite.needs[i];
        k->access =
            gs_access_build(&tree, p->funcs[i].def, p->funcs[i].unit, (struct gs_arg_summary *)k->args, k->n_args);
    }
    t->summary.kernels = v;
}

static void render_units(struct translation *t)
{
    for (uint32_t u = 0; u < t->program.n_units; u++) {
        struct gs_writer text = {0};
        gs_rewrite_render(&t->rewrite, u, &text);
        t->summary.units[u] = text.failed ? NULL : gs_arena_copy(&t->arena, text.text ? text.text : "", text.bytes);
        gs_need(t->summary.units[u]);
        free(text.text);
    }
    t->summary.changed = t->rewrite.changed;
}

static void add_dependency(struct translation *t, const char *path, const char *hash)
{
    struct gs_dependency *v = t->dependencies;
    for (uint32_t i = 0; i < t->reply.n_dependencies; i++)
        if (strcmp(v[i].path, path) == 0)
            return;
    GS_GROW(&t->arena, t->dependencies, t->reply.n_dependencies, t->cap_dependencies);
    t->dependencies[t->reply.n_dependencies++] = (struct gs_dependency){path, hash};
    t->reply.dependencies = t->dependencies;
}

/* One place where clang looked for a header: true if it was there. If nothing was, something may be there tomorrow. */
static bool look_in(struct translation *t, const char *dir, size_t n, const char *name, const char *found)
{
    const char *path = gs_need(gs_arena_printf(&t->arena, "%.*s/%s", (int)n, dir, name));
    if (strcmp(path, found) == 0 || access(path, F_OK) == 0)
        return true;
    add_dependency(t, path, "");
    return false;
}

/* All places before the one where a header was found. */
static void add_absences(struct translation *t, const struct gs_source *s, const struct gs_source_file *from,
                         const struct gs_directive *d)
{
    const struct gs_strings *args = &t->program.units[s->unit].arguments;
    const char *found = d->includes == GS_NO_FILE ? "" : s->files[d->includes].path;
    const char *slash = strrchr(from->path, '/');
    if (d->name[0] == '/')
        return;
    if (d->quoted && !from->virtual && look_in(t, from->path, slash ? (size_t)(slash - from->path) : 0, d->name, found))
        return;
    for (uint32_t i = 0; i < args->n; i++)
        if (strncmp(args->v[i], "-I", 2) == 0 && look_in(t, args->v[i] + 2, strlen(args->v[i] + 2), d->name, found))
            return;
}

static void add_dependencies(struct translation *t, const struct gs_source *s)
{
    for (uint32_t i = 0; i < s->n_files; i++) {
        const struct gs_source_file *f = &s->files[i];
        char hex[GS_HASH_HEX_BYTES];
        gs_hash_hex(f->text, f->bytes, hex);
        if (!f->virtual)
            add_dependency(t, f->path, gs_need(gs_arena_string(&t->arena, hex)));
        for (uint32_t d = 0; d < f->n_directives; d++)
            add_absences(t, s, f, &f->directives[d]);
    }
}

/* The units as they came, with nothing known of them. */
static void give_up(struct translation *t, const char *why)
{
    t->summary.refusal = why;
    t->summary.changed = false;
    t->summary.n_kernels = 0;
    for (uint32_t u = 0; u < t->summary.n_units; u++)
        t->summary.units[u] = (char *)(uintptr_t)t->request.units[u].source;
}

static void translate(struct translation *t)
{
    struct gs_program *p = &t->program;
    t->summary.n_units = (uint32_t)t->request.n_units;
    t->summary.units = gs_need_array(&t->arena, t->request.n_units + 1, sizeof *t->summary.units);
    gs_program_parse(p, &t->arena, &t->request);
    t->reply.cacheable = !p->missing_file;
    if (!p->refusal) {
        t->sources = gs_need_array(&t->arena, (size_t)p->n_units + 1, sizeof *t->sources);
        for (uint32_t u = 0; u < p->n_units; u++) {
            gs_source_read(&t->sources[u], p, u);
            add_dependencies(t, &t->sources[u]);
        }
        gs_flow_build(&t->flow, p);
    }
    if (!p->refusal) {
        gs_rewrite(&t->rewrite, &t->flow, t->sources);
        p->refusal = t->rewrite.refusal;
    }
    if (p->refusal) {
        give_up(t, p->refusal);
    } else {
        summarise_kernels(t);
        render_units(t);
    }
}

const char *gs_translation(const char *request, size_t bytes, struct gs_writer *out)
{
    struct translation t = {0};
    struct gs_reader r = {.p = request, .end = request + bytes, .arena = &t.arena};
    gs_get_request(&r, &t.request);
    if (!r.why) {
        translate(&t);
        gs_put_reply(out, &t.reply);
        gs_summary_write(out, &t.summary);
        gs_program_close(&t.program);
    }
    gs_arena_free(&t.arena);
    return r.why;
}
