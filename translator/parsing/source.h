/* SPDX-License-Identifier: MIT */
/* The files of one unit as text: tokens, which of these were skipped by #if, includes, and the changes to be made.
 * Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_PARSING_SOURCE_H
#define GS_TRANSLATOR_PARSING_SOURCE_H

#include "translator/parsing/lexer.h"
#include "translator/parsing/program.h"
#include "translator/summary/text.h"

/* Replaces `removed` bytes at `offset` by `text`. */
struct gs_edit {
    uint32_t offset, removed, order;
    const char *text;
};

/* An #include that clang followed: from its '#' to the end of the directive. */
struct gs_directive {
    uint32_t begin, end, line;
    const char *name;  /* as written, without quotes */
    bool quoted;       /* "name", not <name> */
    uint32_t includes; /* the file that clang found; GS_NO_FILE: not one of the application's */
};

struct gs_source_file {
    CXFile file;
    const char *path, *name; /* where the file is read from; the application's name for it */
    bool virtual;            /* given by the application, not read from disk */
    const char *text;
    uint32_t bytes;
    struct gs_tokens tokens;
    struct gs_edit *edits;
    uint32_t n_edits, cap_edits;
    struct gs_directive *directives;
    uint32_t n_directives, cap_directives;
};

/* A file, once for each time that it was entered. */
struct gs_inclusion {
    uint32_t file;   /* index into files */
    uint32_t parent; /* index into inclusions; the first is the main file, and its own parent */
    uint32_t offset; /* of the directive in the parent's file: somewhere inside of it */
};

struct gs_macro {
    uint32_t file, token; /* of the name in the definition; tokens are indices into the file's */
    const char *name;
    bool function_like;
};

/* A macro that clang or its header defines. */
struct gs_predefined {
    const char *name;
    CXCursor definition;
};

struct gs_source {
    struct gs_program *program;
    struct gs_arena *arena;
    uint32_t unit;
    struct gs_source_file *files; /* the main file is the first */
    uint32_t n_files, cap_files;
    struct gs_inclusion *inclusions;
    uint32_t n_inclusions, cap_inclusions;
    struct gs_macro *macros;
    uint32_t n_macros, cap_macros;
    struct gs_predefined *predefined;
    uint32_t n_predefined, cap_predefined;
};

#define GS_NO_FILE UINT32_MAX

/* Reads the files of a parsed unit. */
void gs_source_read(struct gs_source *s, struct gs_program *p, uint32_t unit);

/* GS_NO_FILE where the file is not one of the application's. */
uint32_t gs_source_file(const struct gs_source *s, CXFile file);

/* The file and offset where a place is written, outside of macros. GS_NO_FILE where that isn't the application's text.
 */
uint32_t gs_source_place(const struct gs_source *s, CXSourceLocation where, uint32_t *offset);

/* The macro that a word of a file stands for: the last definition before the word, or one in another file. NULL: the
 * application defines none. */
const struct gs_macro *gs_source_macro(const struct gs_source *s, uint32_t file, uint32_t token);

/* Does any file of the application define, or undefine, a macro of that name? */
bool gs_source_defines(const struct gs_source *s, const char *name);

/* NULL where neither clang nor an option defines it. */
const struct gs_predefined *gs_source_predefined(const struct gs_source *s, const char *name);

/* The macro's value if that is a number, as written; else NULL. */
const char *gs_source_number(const struct gs_source *s, const struct gs_predefined *p);

void gs_source_edit(struct gs_source *s, uint32_t file, uint32_t offset, uint32_t removed, const char *text);

/* Does a word of the application's text begin with `prefix`? */
bool gs_source_mentions(const struct gs_source *s, const char *prefix);

/* Writes the unit's text with its changes; if there are any, with all included headers in their places. */
void gs_source_render(struct gs_source *s, struct gs_writer *out);

#endif
