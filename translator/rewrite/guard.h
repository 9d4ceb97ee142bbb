/* SPDX-License-Identifier: MIT */
/* The translator reads a program with clang's preprocessor; the device's compiler has its own. Where they might take
 * different branches of an #if, lines before the text make sure that they don't: else the translated program doesn't
 * compile, and the original one runs on one device. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_REWRITE_GUARD_H
#define GS_TRANSLATOR_REWRITE_GUARD_H

#include "translator/parsing/source.h"

/* Lines for the begin of the unit's text: of each macro that the program asks for and doesn't define itself, that it is
 * what it was here. Empty where nothing is uncertain. */
const char *gs_guard_lines(struct gs_source *s);

#endif
