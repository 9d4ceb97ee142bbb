/* SPDX-License-Identifier: MIT */
/* The macros that add the hidden argument to calls. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_REWRITE_SHADOW_H
#define GS_TRANSLATOR_REWRITE_SHADOW_H

#include "translator/rewrite/rewrite.h"

/* What all calls look like in the text. */
struct gs_shadows {
    struct gs_arity *v; /* by name */
    uint32_t n;
    bool lists; /* a macro may make several arguments of one */
};
struct gs_shadows gs_shadows_look(const struct gs_rewrite *r);

/* The line that defines the macro with the name of a changed function. The macro takes as many arguments as the
 * function; or any number, if a comma of the text may stand inside an argument (some compilers refuse variadic macros:
 * NVIDIA's, from -cl-std=CL1.1 to CL2.0). */
const char *gs_shadow(const struct gs_rewrite *r, const struct gs_shadows *s, const struct gs_func *f);

#endif
