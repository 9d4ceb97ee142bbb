/* SPDX-License-Identifier: MIT */
/* The access program of a kernel: what gs_summary_eval runs to know which bytes a part touches. Part of the summary's
 * text form. No libclang behind this header; what builds it from the tree is access_build.h. */
#ifndef GS_TRANSLATOR_SUMMARY_ACCESS_H
#define GS_TRANSLATOR_SUMMARY_ACCESS_H

#include <stdint.h>

#include "translator/summary/text.h"

struct gs_access_program;

/* Writes the tokens of a program, after which gs_access_parse stops. */
void gs_access_write(struct gs_writer *w, const struct gs_access_program *a);

/* Reads an access program, into the reader's arena. Refuses a damaged text by gs_get_fail: a program that is returned
 * is safe to evaluate with `n_args` arguments. */
const struct gs_access_program *gs_access_parse(struct gs_reader *r, uint32_t n_args);

#endif
