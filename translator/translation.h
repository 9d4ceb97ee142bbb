/* SPDX-License-Identifier: MIT */
/* The whole way from a request to its reply. Inside gpusparc-translate, and its fuzzer. */
#ifndef GS_TRANSLATOR_TRANSLATION_H
#define GS_TRANSLATOR_TRANSLATION_H

#include "translator/summary/text.h"

/* Appends the reply to the text of a request. NULL, or what is wrong with the request. */
const char *gs_translation(const char *request, size_t bytes, struct gs_writer *out);

#endif
