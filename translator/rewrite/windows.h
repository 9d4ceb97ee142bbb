/* SPDX-License-Identifier: MIT */
/* For pooled memory (docs/memory.md): a kernel's pointers lead to windows of buffers, and are moved back at its entry.
 * Inside gpusparc-translate only. */
#ifndef GS_TRANSLATOR_REWRITE_WINDOWS_H
#define GS_TRANSLATOR_REWRITE_WINDOWS_H

#include "translator/rewrite/rewrite.h"

/* Is the function a kernel whose pointers are to be moved? */
bool gs_rewrite_moves(const struct gs_rewrite *r, uint32_t func);

/* Puts the moves into the kernels, which take the hidden argument. Sets r->refusal where that can't be done. */
void gs_rewrite_windows(struct gs_rewrite *r);

#endif
