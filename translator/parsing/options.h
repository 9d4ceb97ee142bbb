/* SPDX-License-Identifier: MIT */
/* From build options and a device to clang's arguments. */
#ifndef GS_TRANSLATOR_PARSING_OPTIONS_H
#define GS_TRANSLATOR_PARSING_OPTIONS_H

#include "translator/summary/arena.h"
#include "translator/summary/translate.h"

/* The made-up folder of clang's own header. */
#define GS_CLANG_HEADERS "/gpusparc-clang"

struct gs_strings {
    const char **v;
    uint32_t n, cap;
};

void gs_strings_add(struct gs_arena *arena, struct gs_strings *s, const char *text);

/* Splits options at blanks; quotes hold words together, as the drivers have it. */
void gs_split_options(struct gs_arena *arena, const char *options, struct gs_strings *out);

/* Does an option define or undefine the macro? */
bool gs_options_define(struct gs_arena *arena, const char *options, const char *name);

/* Looks a macro up in the device compiler's answers. False: it wasn't asked for. *value NULL: not defined; "": defined,
 * with an unknown value. */
bool gs_device_macro(struct gs_arena *arena, const char *macros, const char *name, const char **value);

/* The text of a header that makes clang's macros those of the device's compiler; the options' own stay. To be included
 * behind clang's own header. */
const char *gs_device_macros_header(struct gs_arena *arena, const char *macros, const char *options);

/* Its made-up path. */
#define GS_DEVICE_MACROS GS_CLANG_HEADERS "/device-macros.h"

/* What clang is to be told. `macros`: those of the device's compiler, or "". Options that don't change how the text is
 * understood, the vendors' own above all, are left out. `why` is set where the options ask for a language that the
 * translator doesn't read. */
void gs_clang_arguments(struct gs_arena *arena, const struct gs_translate_unit *unit,
                        const struct gs_translate_device *device, const char *header_dir, const char *macros,
                        struct gs_strings *out, const char **why);

#endif
