/* SPDX-License-Identifier: MIT */
#include "translator/rewrite/windows.h"

#include "translator/parsing/builtins.h"
#include "translator/parsing/flow_type.h"
#include "translator/parsing/need.h"

bool gs_rewrite_moves(const struct gs_rewrite *r, uint32_t func)
{
    const struct gs_func *f = &r->program->funcs[func];
    return r->program->request->windows && f->kernel && f->defined && f->n_params <= GS_SHIFTS;
}

static bool is_global_pointer(CXCursor param)
{
    const CXType type = gs_parameter_type(param);
    return type.kind == CXType_Pointer &&
           clang_getAddressSpace(clang_getCanonicalType(clang_getPointeeType(type))) == GS_AS_GLOBAL;
}

static enum CXChildVisitResult find_body(CXCursor c, CXCursor parent, CXClientData out)
{
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_CompoundStmt)
        return CXChildVisit_Continue;
    *(CXCursor *)out = c;
    return CXChildVisit_Break;
}

/* Where the text behind a function's '{' begins. GS_NO_FILE: a macro makes it. */
static uint32_t body_of(const struct gs_source *s, CXCursor def, uint32_t *offset)
{
    CXCursor body = clang_getNullCursor();
    clang_visitChildren(def, find_body, &body);
    if (clang_Cursor_isNull(body))
        return GS_NO_FILE;
    const uint32_t file = gs_source_place(s, clang_getRangeStart(clang_getCursorExtent(body)), offset);
    if (file == GS_NO_FILE || s->files[file].text[*offset] != '{')
        return GS_NO_FILE;
    ++*offset;
    return file;
}

/* Takes the `const` off a parameter that is itself constant. False: it isn't found. */
static bool free_parameter(struct gs_source *s, CXCursor param)
{
    uint32_t begin, end, file, star = UINT32_MAX;
    const CXSourceRange extent = clang_getCursorExtent(param);
    bool found = false;
    file = gs_source_place(s, clang_getRangeStart(extent), &begin);
    if (file == GS_NO_FILE || gs_source_place(s, clang_getRangeEnd(extent), &end) != file)
        return false;
    const struct gs_source_file *f = &s->files[file];
    for (uint32_t t = gs_token_at(&f->tokens, begin); t < f->tokens.n && f->tokens.v[t].begin < end; t++)
        if (gs_token_is(f->text, &f->tokens.v[t], "*"))
            star = t;
    for (uint32_t t = star; t < f->tokens.n && f->tokens.v[t].begin < end; t++)
        if (gs_token_is(f->text, &f->tokens.v[t], "const") && !f->tokens.v[t].inactive) {
            gs_source_edit(s, file, f->tokens.v[t].begin, f->tokens.v[t].end - f->tokens.v[t].begin, "");
            found = true;
        }
    return found;
}

static void refuse(struct gs_rewrite *r, const char *what, const char *name)
{
    r->refusal =
        gs_need(gs_arena_printf(r->arena, "its kernel %s %s, so that its pointers can't be moved", name, what));
}

/* An address as a number is moved as one: no pointer leads outside of its object on the way. */
static void move_pointers(struct gs_rewrite *r, uint32_t func)
{
    const struct gs_func *f = &r->program->funcs[func];
    struct gs_source *s = &r->sources[f->unit];
    uint32_t offset;
    const uint32_t file = body_of(s, f->def, &offset);
    if (file == GS_NO_FILE) {
        refuse(r, "is made by a macro", f->name);
        return;
    }
    for (uint32_t i = 0; i < f->n_params; i++) {
        const CXCursor param = clang_Cursor_getArgument(f->def, i);
        const char *name = gs_take_string(r->arena, clang_getCursorSpelling(param));
        if (!is_global_pointer(param) || !*name)
            continue;
        if (clang_isConstQualifiedType(clang_getCursorType(param)) && !free_parameter(s, param)) {
            refuse(r, "has a pointer that is constant itself", f->name);
            return;
        }
        gs_source_edit(
            s, file, offset, 0,
            gs_need(gs_arena_printf(
                r->arena, " %s = (__global void *)((uintptr_t)%s - (uintptr_t)%s.v[%u]);", name, name, r->prefix,
                (unsigned)((sizeof(struct gs_hidden) + offsetof(struct gs_moves, shift)) / sizeof(uint64_t)) + i)));
    }
}

void gs_rewrite_windows(struct gs_rewrite *r)
{
    for (uint32_t i = 0; i < r->program->n_funcs && !r->refusal; i++) {
        if (!gs_rewrite_moves(r, i))
            continue;
        if (r->called[i])
            refuse(r, "is called by another function", r->program->funcs[i].name);
        else
            move_pointers(r, i);
    }
}
