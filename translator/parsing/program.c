/* SPDX-License-Identifier: MIT */
/* Parses a program's units with clang and lists its functions. */
#include "translator/parsing/program.h"

#include <stdio.h>

#include "translator/parsing/clang_header.h"
#include "translator/parsing/need.h"
#include "translator/parsing/options.h"

char *gs_take_string(struct gs_arena *arena, CXString s)
{
    const char *c = clang_getCString(s);
    char *copy = gs_need(gs_arena_string(arena, c ? c : ""));
    clang_disposeString(s);
    return copy;
}

bool gs_program_owns(CXSourceLocation where)
{
    CXFile file;
    clang_getFileLocation(where, &file, NULL, NULL, NULL);
    return file && !clang_Location_isInSystemHeader(where);
}

bool gs_same_name(const char *path, CXFile file)
{
    CXString s = clang_getFileName(file);
    const char *name = clang_getCString(s);
    bool same = name && strcmp(name, path) == 0;
    clang_disposeString(s);
    return same;
}

/* The name of a file as the application knows it: "" for the main text, a header's own name for one that it gave. */
static const char *known_name(const struct gs_program *p, CXFile file, uint32_t unit)
{
    const struct gs_unit *u = &p->units[unit];
    if (!file || gs_same_name(u->path, file))
        return "";
    const char *path = gs_take_string(p->arena, clang_getFileName(file));
    size_t n = strlen(u->header_dir);
    return strncmp(path, u->header_dir, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

struct gs_site gs_program_site(const struct gs_program *p, CXCursor cursor, uint32_t unit)
{
    CXSourceRange range = clang_getCursorExtent(cursor);
    CXFile file, end_file;
    unsigned line, column, begin, end, end_line;
    clang_getFileLocation(clang_getRangeStart(range), &file, &line, &column, &begin);
    clang_getFileLocation(clang_getRangeEnd(range), &end_file, &end_line, NULL, &end);
    struct gs_site s = {.file = known_name(p, file, unit), .unit = unit, .line = line, .column = column, .length = 1};
    if (file && end_file && file == end_file && end > begin && end_line == line)
        s.length = end - begin;
    return s;
}

static uint64_t hash_key(const char *usr, uint32_t unit)
{
    uint64_t h = 1469598103934665603u ^ unit;
    for (; *usr; usr++)
        h = (h ^ (unsigned char)*usr) * 1099511628211u;
    return h ^ h >> 29;
}

/* Static functions are told apart by their unit; the others are one function wherever they are declared. */
static uint32_t *find_slot(const struct gs_program *p, const char *usr, bool is_static, uint32_t unit)
{
    uint32_t key_unit = is_static ? unit + 1 : 0;
    for (uint64_t i = hash_key(usr, key_unit);; i++) {
        uint32_t *slot = &p->slots[i & (p->n_slots - 1)];
        if (*slot == 0)
            return slot;
        const struct gs_func *f = &p->funcs[*slot - 1];
        if (f->is_static == is_static && (!is_static || f->unit == unit) && strcmp(f->usr, usr) == 0)
            return slot;
    }
}

static void grow_slots(struct gs_program *p)
{
    if (p->n_slots > 2 * p->n_funcs)
        return;
    p->n_slots = p->n_slots ? 2 * p->n_slots : 64;
    p->slots = gs_need_array(p->arena, p->n_slots, sizeof *p->slots);
    for (uint32_t i = 0; i < p->n_funcs; i++)
        *find_slot(p, p->funcs[i].usr, p->funcs[i].is_static, p->funcs[i].unit) = i + 1;
}

uint32_t gs_program_func(const struct gs_program *p, CXCursor function, uint32_t unit)
{
    if (p->n_slots == 0)
        return GS_NO_FUNC;
    CXString s = clang_getCursorUSR(function);
    bool is_static = clang_Cursor_getStorageClass(function) == CX_SC_Static;
    uint32_t slot = *find_slot(p, clang_getCString(s), is_static, unit);
    clang_disposeString(s);
    return slot ? slot - 1 : GS_NO_FUNC;
}

/* Is `word` in the text, not as a part of a longer word? */
static const char *find_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; (p = strstr(p, word)); p += n) {
        char before = p == text ? ' ' : p[-1], after = p[n];
        bool joined =
            before == '_' || (before >= 'a' && before <= 'z') || after == '_' || (after >= 'a' && after <= 'z');
        if (!joined)
            return p;
    }
    return NULL;
}

/* clang's interface has no cursor for these attributes; its printed form of the declaration has them, evaluated. */
static void read_attributes(struct gs_program *p, struct gs_func *f, CXCursor c)
{
    if (clang_getCanonicalType(clang_getResultType(clang_getCursorType(c))).kind != CXType_Void)
        return;
    CXPrintingPolicy policy = clang_getCursorPrintingPolicy(c);
    clang_PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
    const char *text = gs_take_string(p->arena, clang_getCursorPrettyPrinted(c, policy));
    clang_PrintingPolicy_dispose(policy);
    f->kernel |= find_word(text, "__kernel") || find_word(text, "kernel");
    const char *reqd = find_word(text, "reqd_work_group_size");
    if (reqd)
        sscanf(reqd, "reqd_work_group_size(%u, %u, %u)", &f->reqd[0], &f->reqd[1], &f->reqd[2]);
}

static uint32_t add_func(struct gs_program *p, CXCursor c, uint32_t unit)
{
    grow_slots(p);
    char *usr = gs_take_string(p->arena, clang_getCursorUSR(c));
    bool is_static = clang_Cursor_getStorageClass(c) == CX_SC_Static;
    uint32_t *slot = find_slot(p, usr, is_static, unit);
    if (*slot)
        return *slot - 1;
    GS_GROW(p->arena, p->funcs, p->n_funcs, p->cap_funcs);
    p->funcs[p->n_funcs] = (struct gs_func){.name = gs_take_string(p->arena, clang_getCursorSpelling(c)),
                                            .usr = usr,
                                            .unit = unit,
                                            .is_static = is_static,
                                            .n_params = (uint32_t)clang_Cursor_getNumArguments(c),
                                            .def = c};
    *slot = ++p->n_funcs;
    return p->n_funcs - 1;
}

struct top_visit {
    struct gs_program *p;
    uint32_t unit;
};

static enum CXChildVisitResult visit_top(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct top_visit *v = data;
    struct gs_program *p = v->p;
    if (c.kind != CXCursor_FunctionDecl || !gs_program_owns(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    uint32_t id = add_func(p, c, v->unit);
    struct gs_func *f = &p->funcs[id];
    read_attributes(p, f, c);
    if (clang_isCursorDefinition(c) && !f->defined) {
        f->defined = true;
        f->def = c;
        f->unit = v->unit;
    }
    GS_GROW(p->arena, p->decls, p->n_decls, p->cap_decls);
    p->decls[p->n_decls++] = (struct gs_decl){.func = id, .unit = v->unit, .cursor = c};
    return CXChildVisit_Continue;
}

/* The first error, with its place, as the refusal. */
static void look_at_diagnostics(struct gs_program *p, uint32_t unit)
{
    CXTranslationUnit tu = p->units[unit].tu;
    for (unsigned i = 0; i < clang_getNumDiagnostics(tu) && !p->refusal; i++) {
        CXDiagnostic d = clang_getDiagnostic(tu, i);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            CXFile file;
            unsigned line, column;
            clang_getFileLocation(clang_getDiagnosticLocation(d), &file, &line, &column, NULL);
            const char *name = known_name(p, file, unit),
                       *text = gs_take_string(p->arena, clang_getDiagnosticSpelling(d));
            p->missing_file |= strstr(text, "file not found") != NULL;
            if (!*name && p->n_units > 1)
                name = gs_need(gs_arena_printf(p->arena, "text %u of %u", unit + 1, p->n_units));
            p->refusal = gs_need(gs_arena_printf(p->arena, "its text can't be read: %s%s%u:%u: %s", name,
                                                 *name ? ":" : "", line, column, text));
        }
        clang_disposeDiagnostic(d);
    }
}

/* Parses it with the macros of the unit, and looks whether that worked. */
static void try_unit(struct gs_program *p, uint32_t i)
{
    struct gs_unit *u = &p->units[i];
    const struct gs_translate_unit *req = u->request;
    const unsigned n_files = (unsigned)req->n_headers + 3;
    gs_clang_arguments(p->arena, req, &p->request->device, u->header_dir, u->macros, &u->arguments, &p->refusal);
    if (p->refusal)
        return;
    struct CXUnsavedFile *files = gs_need_array(p->arena, n_files, sizeof *files);
    const char *macros = gs_device_macros_header(p->arena, u->macros, req->options);
    files[0] = (struct CXUnsavedFile){u->path, req->source, strlen(req->source)};
    files[1] =
        (struct CXUnsavedFile){GS_CLANG_HEADERS "/opencl-c-base.h", gs_opencl_c_base_h, strlen(gs_opencl_c_base_h)};
    files[2] = (struct CXUnsavedFile){GS_DEVICE_MACROS, macros, strlen(macros)};
    for (size_t k = 0; k < req->n_headers; k++) {
        const char *path = gs_need(gs_arena_printf(p->arena, "%s/%s", u->header_dir, req->headers[k].name));
        files[k + 3] = (struct CXUnsavedFile){path, req->headers[k].text, strlen(req->headers[k].text)};
    }
    enum CXErrorCode err = clang_parseTranslationUnit2(p->index, u->path, u->arguments.v, (int)u->arguments.n, files,
                                                       n_files, CXTranslationUnit_DetailedPreprocessingRecord, &u->tu);
    if (err != CXError_Success) {
        p->refusal = "its text makes clang fail";
        return;
    }
    u->main = clang_getFile(u->tu, u->path);
    look_at_diagnostics(p, i);
}

/* To clang some built-in functions hang on a macro that a device with these functions may not define: what can't be
 * read with the device's macros is read with clang's own. */
static void parse_unit(struct gs_program *p, uint32_t i)
{
    struct gs_unit *u = &p->units[i];
    u->macros = u->request->macros ? u->request->macros : "";
    try_unit(p, i);
    if (!p->refusal || !*u->macros)
        return;
    if (u->tu)
        clang_disposeTranslationUnit(u->tu);
    u->tu = NULL;
    p->refusal = NULL;
    p->missing_file = false;
    u->macros = "";
    u->arguments = (struct gs_strings){0};
    try_unit(p, i);
}

void gs_program_parse(struct gs_program *p, struct gs_arena *arena, const struct gs_translate_request *req)
{
    *p = (struct gs_program){.arena = arena, .request = req, .n_units = (uint32_t)req->n_units};
    p->index = clang_createIndex(0, 0);
    p->units = gs_need_array(arena, req->n_units + 1, sizeof *p->units);
    for (uint32_t i = 0; i < p->n_units && !p->refusal; i++) {
        struct gs_unit *u = &p->units[i];
        u->request = &req->units[i];
        u->path = gs_need(gs_arena_printf(arena, "/gpusparc-unit-%u/main.cl", i));
        u->header_dir = gs_need(gs_arena_printf(arena, "/gpusparc-unit-%u/headers", i));
        parse_unit(p, i);
    }
    for (uint32_t i = 0; i < p->n_units && !p->refusal; i++)
        clang_visitChildren(clang_getTranslationUnitCursor(p->units[i].tu), visit_top, &(struct top_visit){p, i});
}

void gs_program_close(struct gs_program *p)
{
    for (uint32_t i = 0; i < p->n_units; i++)
        if (p->units[i].tu)
            clang_disposeTranslationUnit(p->units[i].tu);
    clang_disposeIndex(p->index);
}
