/* SPDX-License-Identifier: MIT */
/* A parsed program: its units, and the table of its functions across units. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_PARSING_PROGRAM_H
#define GS_TRANSLATOR_PARSING_PROGRAM_H

#include <clang-c/Index.h>

#include "translator/summary/arena.h"
#include "translator/parsing/options.h"
#include "translator/summary/summary.h"
#include "translator/summary/translate.h"

#define GS_NO_FUNC UINT32_MAX

struct gs_func {
    const char *name, *usr; /* the USR is clang's name that tells overloads apart */
    uint32_t unit;          /* of the definition, or of the first declaration if there is none */
    bool kernel, is_static, defined;
    uint32_t n_params;
    uint32_t reqd[3];
    CXCursor def; /* the definition; where there is none, a declaration */
};

/* One declaration or definition, in the order of the source. */
struct gs_decl {
    uint32_t func, unit;
    CXCursor cursor;
};

struct gs_unit {
    const struct gs_translate_unit *request;
    const char *path;            /* the made-up path of its main file */
    const char *header_dir;      /* the made-up folder of its headers */
    const char *macros;          /* those of the device's compiler that clang was given; "": none */
    struct gs_strings arguments; /* clang's */
    CXTranslationUnit tu;
    CXFile main;
};

struct gs_program {
    struct gs_arena *arena;
    CXIndex index;
    const struct gs_translate_request *request;
    struct gs_unit *units;
    uint32_t n_units;
    struct gs_func *funcs;
    uint32_t n_funcs, cap_funcs;
    struct gs_decl *decls;
    uint32_t n_decls, cap_decls;
    uint32_t *slots; /* hash table over (USR, unit where static): index + 1 into funcs */
    uint32_t n_slots;
    const char *refusal; /* why nothing can be said of the program, or NULL */
    bool missing_file;   /* an #include was not found: the answer may be another one tomorrow */
};

/* Parses all units. Afterwards either `refusal` is set or everything else is. */
void gs_program_parse(struct gs_program *p, struct gs_arena *arena, const struct gs_translate_request *req);
void gs_program_close(struct gs_program *p);

/* The function that a cursor declares, in the given unit or, where that has no definition of it, in another. GS_NO_FUNC
 * for functions that the program's text doesn't declare (built-in ones). */
uint32_t gs_program_func(const struct gs_program *p, CXCursor function, uint32_t unit);

/* Is the place in the application's own text? Not so for clang's header and declarations made up by clang. */
bool gs_program_owns(CXSourceLocation where);

/* The place for messages: where the user reads it, outside of macros. */
struct gs_site gs_program_site(const struct gs_program *p, CXCursor cursor, uint32_t unit);

bool gs_same_name(const char *path, CXFile file);

/* A copy in the arena; disposes of the string. */
char *gs_take_string(struct gs_arena *arena, CXString s);

#endif
