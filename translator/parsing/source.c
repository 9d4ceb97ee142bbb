/* SPDX-License-Identifier: MIT */
/* The files of one unit as text. */
#include "translator/parsing/source.h"

#include <stdio.h>

#include "translator/parsing/need.h"

uint32_t gs_source_file(const struct gs_source *s, CXFile file)
{
    /* All files that are not on disk are equal to clang. */
    for (uint32_t i = 0; i < s->n_files; i++)
        if (s->files[i].file == file ||
            (clang_File_isEqual(s->files[i].file, file) && gs_same_name(s->files[i].path, file)))
            return i;
    return GS_NO_FILE;
}

/* Marks the tokens that an #if left out. */
static void mark_inactive(struct gs_source *s, struct gs_source_file *f)
{
    CXSourceRangeList *ranges = clang_getSkippedRanges(s->program->units[s->unit].tu, f->file);
    for (unsigned i = 0; ranges && i < ranges->count; i++) {
        unsigned begin, end;
        clang_getFileLocation(clang_getRangeStart(ranges->ranges[i]), NULL, NULL, NULL, &begin);
        clang_getFileLocation(clang_getRangeEnd(ranges->ranges[i]), NULL, NULL, NULL, &end);
        uint32_t t = gs_token_at(&f->tokens, begin);
        while (t < f->tokens.n && f->tokens.v[t].begin < end && f->tokens.v[t].directive &&
               (!f->tokens.v[t].first || f->tokens.v[t].begin == begin))
            t++; /* the range begins with the directive that was asked, and found false */
        for (; t < f->tokens.n && f->tokens.v[t].begin < end; t++)
            f->tokens.v[t].inactive = true;
    }
    if (ranges)
        clang_disposeSourceRangeList(ranges);
}

static uint32_t add_file(struct gs_source *s, CXFile file)
{
    uint32_t known = gs_source_file(s, file);
    if (known != GS_NO_FILE)
        return known;
    const struct gs_unit *u = &s->program->units[s->unit];
    GS_GROW(s->arena, s->files, s->n_files, s->cap_files);
    struct gs_source_file *f = &s->files[s->n_files];
    size_t bytes = 0, dir = strlen(u->header_dir);
    const char *text = clang_getFileContents(u->tu, file, &bytes);
    *f = (struct gs_source_file){.file = file, .text = text ? text : "", .bytes = text ? (uint32_t)bytes : 0};
    f->path = gs_take_string(s->arena, clang_getFileName(file));
    f->virtual = strcmp(f->path, u->path) == 0;
    f->name = f->virtual ? "" : f->path;
    if (strncmp(f->path, u->header_dir, dir) == 0 && f->path[dir] == '/') {
        f->virtual = true;
        f->name = f->path + dir + 1;
    }
    if (!gs_lex(s->arena, f->text, f->bytes, &f->tokens))
        gs_need(NULL);
    mark_inactive(s, f);
    return s->n_files++;
}

uint32_t gs_source_place(const struct gs_source *s, CXSourceLocation where, uint32_t *offset)
{
    CXFile file;
    unsigned at;
    clang_getFileLocation(where, &file, NULL, NULL, &at);
    *offset = at;
    return file ? gs_source_file(s, file) : GS_NO_FILE;
}

/* The inclusion that a chain of directives leads to; `stack` begins with the innermost. */
static uint32_t find_inclusion(const struct gs_source *s, const CXSourceLocation *stack, unsigned n)
{
    uint32_t at = 0;
    for (unsigned i = n; i-- > 0;) {
        uint32_t offset, found = UINT32_MAX;
        if (gs_source_place(s, stack[i], &offset) == GS_NO_FILE)
            return UINT32_MAX;
        for (uint32_t k = 1; k < s->n_inclusions && found == UINT32_MAX; k++)
            if (s->inclusions[k].parent == at && s->inclusions[k].offset == offset)
                found = k;
        if (found == UINT32_MAX)
            return found;
        at = found;
    }
    return at;
}

/* clang calls this for each file that it entered, those that include before those that are included. */
static void visit_inclusion(CXFile file, CXSourceLocation *stack, unsigned n, CXClientData data)
{
    struct gs_source *s = data;
    if (n == 0 || !gs_program_owns(stack[0]))
        return;
    uint32_t offset, parent = find_inclusion(s, stack + 1, n - 1);
    if (gs_source_place(s, stack[0], &offset) == GS_NO_FILE || parent == UINT32_MAX)
        return;
    uint32_t id = add_file(s, file);
    GS_GROW(s->arena, s->inclusions, s->n_inclusions, s->cap_inclusions);
    s->inclusions[s->n_inclusions++] = (struct gs_inclusion){.file = id, .parent = parent, .offset = offset};
}

static void add_directive(struct gs_source *s, CXCursor c)
{
    CXSourceRange range = clang_getCursorExtent(c);
    uint32_t begin, end, line, file = gs_source_place(s, clang_getRangeStart(range), &begin);
    if (file == GS_NO_FILE || !clang_getIncludedFile(c))
        return;
    gs_source_place(s, clang_getRangeEnd(range), &end);
    clang_getFileLocation(clang_getRangeStart(range), NULL, &line, NULL, NULL);
    struct gs_source_file *f = &s->files[file];
    for (uint32_t i = 0; i < f->n_directives; i++)
        if (f->directives[i].begin == begin)
            return;
    GS_GROW(s->arena, f->directives, f->n_directives, f->cap_directives);
    f->directives[f->n_directives++] =
        (struct gs_directive){.begin = begin,
                              .end = end,
                              .line = line,
                              .name = gs_take_string(s->arena, clang_getCursorSpelling(c)),
                              .quoted = memchr(f->text + begin, '"', end - begin) != NULL,
                              .includes = gs_source_file(s, clang_getIncludedFile(c))};
}

static void add_predefined(struct gs_source *s, CXCursor c)
{
    GS_GROW(s->arena, s->predefined, s->n_predefined, s->cap_predefined);
    s->predefined[s->n_predefined++] = (struct gs_predefined){gs_take_string(s->arena, clang_getCursorSpelling(c)), c};
}

static void add_macro(struct gs_source *s, CXCursor c)
{
    uint32_t offset, file = gs_source_place(s, clang_getCursorLocation(c), &offset);
    if (file == GS_NO_FILE) {
        add_predefined(s, c);
        return;
    }
    GS_GROW(s->arena, s->macros, s->n_macros, s->cap_macros);
    s->macros[s->n_macros++] = (struct gs_macro){.file = file,
                                                 .token = gs_token_at(&s->files[file].tokens, offset),
                                                 .name = gs_take_string(s->arena, clang_getCursorSpelling(c)),
                                                 .function_like = clang_Cursor_isMacroFunctionLike(c) != 0};
}

static enum CXChildVisitResult visit_preprocessing(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (c.kind == CXCursor_InclusionDirective)
        add_directive(data, c);
    else if (c.kind == CXCursor_MacroDefinition)
        add_macro(data, c);
    return CXChildVisit_Continue;
}

static int compare_macros(const void *a, const void *b)
{
    const struct gs_macro *x = a, *y = b;
    int c = strcmp(x->name, y->name);
    if (c != 0)
        return c;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

void gs_source_read(struct gs_source *s, struct gs_program *p, uint32_t unit)
{
    *s = (struct gs_source){.program = p, .arena = p->arena, .unit = unit};
    add_file(s, p->units[unit].main);
    GS_GROW(s->arena, s->inclusions, s->n_inclusions, s->cap_inclusions);
    s->inclusions[s->n_inclusions++] = (struct gs_inclusion){0};
    clang_getInclusions(p->units[unit].tu, visit_inclusion, s);
    clang_visitChildren(clang_getTranslationUnitCursor(p->units[unit].tu), visit_preprocessing, s);
    if (s->n_macros > 0)
        qsort(s->macros, s->n_macros, sizeof *s->macros, compare_macros);
}

bool gs_source_defines(const struct gs_source *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_files; i++) {
        const struct gs_source_file *f = &s->files[i];
        for (uint32_t t = 0; t + 2 < f->tokens.n; t++)
            if (f->tokens.v[t].first && gs_token_is(f->text, &f->tokens.v[t + 2], name) &&
                (gs_token_is(f->text, &f->tokens.v[t + 1], "define") ||
                 gs_token_is(f->text, &f->tokens.v[t + 1], "undef")))
                return true;
    }
    return false;
}

const struct gs_predefined *gs_source_predefined(const struct gs_source *s, const char *name)
{
    for (uint32_t i = s->n_predefined; i-- > 0;)
        if (strcmp(s->predefined[i].name, name) == 0)
            return &s->predefined[i];
    return NULL;
}

const char *gs_source_number(const struct gs_source *s, const struct gs_predefined *p)
{
    CXTranslationUnit tu = s->program->units[s->unit].tu;
    CXToken *tokens = NULL;
    unsigned n = 0;
    const char *number = NULL;
    clang_tokenize(tu, clang_getCursorExtent(p->definition), &tokens, &n);
    if (n == 2 && clang_getTokenKind(tokens[1]) == CXToken_Literal)
        number = gs_take_string(s->arena, clang_getTokenSpelling(tu, tokens[1]));
    if (n > 0)
        clang_disposeTokens(tu, tokens, n);
    return number && *number >= '0' && *number <= '9' && !strpbrk(number, ".\"'") ? number : NULL;
}

/* Compares a macro's name with a word. */
static int compare_word(const struct gs_macro *m, const char *word, uint32_t n)
{
    int c = strncmp(m->name, word, n);
    return c == 0 && m->name[n] ? 1 : c;
}

const struct gs_macro *gs_source_macro(const struct gs_source *s, uint32_t file, uint32_t token)
{
    const struct gs_source_file *f = &s->files[file];
    const struct gs_macro *best = NULL;
    const char *word = f->text + f->tokens.v[token].begin;
    uint32_t lo = 0, hi = s->n_macros, n = f->tokens.v[token].end - f->tokens.v[token].begin;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (compare_word(&s->macros[mid], word, n) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < s->n_macros && compare_word(&s->macros[lo], word, n) == 0; lo++) {
        const struct gs_macro *m = &s->macros[lo];
        if (!best || (m->file == file && m->token < token))
            best = m;
    }
    return best;
}

void gs_source_edit(struct gs_source *s, uint32_t file, uint32_t offset, uint32_t removed, const char *text)
{
    struct gs_source_file *f = &s->files[file];
    GS_GROW(s->arena, f->edits, f->n_edits, f->cap_edits);
    f->edits[f->n_edits] = (struct gs_edit){offset, removed, f->n_edits, text};
    f->n_edits++;
}

bool gs_source_mentions(const struct gs_source *s, const char *prefix)
{
    size_t n = strlen(prefix);
    for (uint32_t i = 0; i < s->n_files; i++)
        for (uint32_t t = 0; t < s->files[i].tokens.n; t++) {
            const struct gs_token *k = &s->files[i].tokens.v[t];
            if (k->end - k->begin >= n && memcmp(s->files[i].text + k->begin, prefix, n) == 0)
                return true;
        }
    return false;
}

static int compare_edits(const void *a, const void *b)
{
    const struct gs_edit *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool same_edit(const struct gs_edit *a, const struct gs_edit *b)
{
    return a->offset == b->offset && a->removed == b->removed && strcmp(a->text, b->text) == 0;
}

static int compare_directives(const void *a, const void *b)
{
    const struct gs_directive *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* A declaration that is seen twice, because its file or macro is used twice, is changed once. */
static void sort_changes(struct gs_source_file *f)
{
    uint32_t n = 0;
    if (f->n_edits > 0)
        qsort(f->edits, f->n_edits, sizeof *f->edits, compare_edits);
    for (uint32_t i = 0; i < f->n_edits; i++)
        if (n == 0 || !same_edit(&f->edits[n - 1], &f->edits[i]))
            f->edits[n++] = f->edits[i];
    f->n_edits = n;
    if (f->n_directives > 0)
        qsort(f->directives, f->n_directives, sizeof *f->directives, compare_directives);
}

static void put_line_directive(struct gs_writer *out, uint32_t line, const char *name)
{
    char buf[32];
    int n = snprintf(buf, sizeof buf, "#line %u \"", line);
    gs_put_raw(out, buf, (size_t)n);
    for (const char *c = *name ? name : "program source"; *c; c++) {
        if (*c == '"' || *c == '\\')
            gs_put_raw(out, "\\", 1);
        gs_put_raw(out, c, 1);
    }
    gs_put_raw(out, "\"", 1);
}

static void render(struct gs_source *s, uint32_t inclusion, struct gs_writer *out);

/* In place of the directive: the header's text where clang entered it here, nothing where a guard kept it out. */
static void render_directive(struct gs_source *s, uint32_t inclusion, const struct gs_directive *d,
                             struct gs_writer *out)
{
    const char *name = s->files[s->inclusions[inclusion].file].name;
    for (uint32_t k = 1; k < s->n_inclusions; k++) {
        const struct gs_inclusion *in = &s->inclusions[k];
        if (in->parent != inclusion || in->offset < d->begin || in->offset >= d->end)
            continue;
        const struct gs_source_file *f = &s->files[in->file];
        put_line_directive(out, 1, f->name);
        gs_put_raw(out, "\n", 1);
        render(s, k, out);
        if (f->bytes > 0 && f->text[f->bytes - 1] != '\n')
            gs_put_raw(out, "\n", 1);
        put_line_directive(out, d->line + 1, name);
        return;
    }
}

static void render(struct gs_source *s, uint32_t inclusion, struct gs_writer *out)
{
    const struct gs_source_file *f = &s->files[s->inclusions[inclusion].file];
    uint32_t at = 0, e = 0, d = 0;
    while (e < f->n_edits || d < f->n_directives) {
        bool edit = d == f->n_directives || (e < f->n_edits && f->edits[e].offset < f->directives[d].begin);
        uint32_t begin = edit ? f->edits[e].offset : f->directives[d].begin;
        uint32_t end = edit ? begin + f->edits[e].removed : f->directives[d].end;
        if (begin > at)
            gs_put_raw(out, f->text + at, begin - at);
        if (edit)
            gs_put_raw(out, f->edits[e].text, strlen(f->edits[e].text));
        else
            render_directive(s, inclusion, &f->directives[d], out);
        at = end > at ? end : at;
        e += edit;
        d += !edit;
    }
    gs_put_raw(out, f->text + at, f->bytes - at);
}

void gs_source_render(struct gs_source *s, struct gs_writer *out)
{
    for (uint32_t i = 0; i < s->n_files; i++)
        sort_changes(&s->files[i]);
    render(s, 0, out);
}
