/* SPDX-License-Identifier: MIT */
/* The writing side of the summary's text form, and the reading of its body alone (for the fuzzer, whose input would
 * never pass the checksum). */
#ifndef GS_TRANSLATOR_SUMMARY_SUMMARY_TEXT_H
#define GS_TRANSLATOR_SUMMARY_SUMMARY_TEXT_H

#include "translator/summary/summary.h"
#include "translator/summary/text.h"

void gs_summary_write(struct gs_writer *w, const struct gs_summary *s);
void gs_summary_read_body(struct gs_reader *r, struct gs_summary *s);

#endif
