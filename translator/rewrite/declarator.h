/* SPDX-License-Identifier: MIT */
/* Where in the text the parameters of a function stand. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_REWRITE_DECLARATOR_H
#define GS_TRANSLATOR_REWRITE_DECLARATOR_H

#include "translator/parsing/source.h"

/* Tokens of `file`. */
struct gs_declarator {
    uint32_t file;
    uint32_t open, close; /* the parentheses around the parameters */
    bool has_name;        /* the function's name stands there as itself, or is pasted there in a macro's body: */
    uint32_t name_file, name_begin, name_end; /* its first and last token */
};

struct gs_declarators {
    struct gs_declarator *v; /* one per declaration of the program, in its order; the units' own only */
    bool *found;
};

/* Finds the declarators of all declarations of the source's unit. */
void gs_declarators_find(struct gs_source *s, struct gs_declarators *out);

#endif
