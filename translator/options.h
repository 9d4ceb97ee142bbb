/* SPDX-License-Identifier: MIT */
/* From build options and a device to clang's arguments. */
#ifndef GS_TRANSLATOR_OPTIONS_H
#define GS_TRANSLATOR_OPTIONS_H

#include "translator/arena.h"
#include "translator/translate.h"

/* The made-up folder of clang's own header. */
#define GS_CLANG_HEADERS "/gpusparc-clang"

struct gs_strings {
    const char **v;
    uint32_t n, cap;
};

void gs_strings_add(struct gs_arena *arena, struct gs_strings *s, const char *text);

/* Splits options at blanks; quotes hold words together, as the drivers have it. */
void gs_split_options(struct gs_arena *arena, const char *options, struct gs_strings *out);

/* What clang is to be told. Options that don't change how the text is understood, the vendors' own above all, are left
 * out. `why` is set where the options ask for a language that the translator doesn't read. */
void gs_clang_arguments(struct gs_arena *arena, const struct gs_translate_unit *unit,
                        const struct gs_translate_device *device, const char *header_dir, struct gs_strings *out,
                        const char **why);

#endif
