/* SPDX-License-Identifier: MIT */
/* The translator reads a program with clang's preprocessor, and the device's compiler has its own. Where both might
 * take different branches of an #if, guard lines before the text make the translated program fail to compile, and the
 * original runs on one device. Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_REWRITE_GUARD_H
#define GS_TRANSLATOR_REWRITE_GUARD_H

#include "translator/parsing/source.h"

/* Lines for the beginning of the unit's text: for each macro that the program asks for and doesn't define, a check that
 * it is as it was here. Empty if nothing is uncertain. */
const char *gs_guard_lines(struct gs_source *s);

#endif
