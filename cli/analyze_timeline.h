/* SPDX-License-Identifier: MIT */
/* The simulated schedule that `gpusparc analyze` shows, and its report. */
#ifndef GS_CLI_ANALYZE_TIMELINE_H
#define GS_CLI_ANALYZE_TIMELINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "gema/model.h"

/* What table and report say of the headroom; the second where the search ended at it (gema/advice.h). */
#define GS_ANALYZE_HEADROOM "All times may grow to %.3f times what they are before a deadline is missed."
#define GS_ANALYZE_MOST_HEADROOM "All times may grow to %.0f times what they are, or more, before a deadline is missed."

/* Whether --timeline can have this name: .svg, .png, .pdf, or .json for a trace; and whether it can be written. They
 * say why not. */
bool gs_analyze_timeline_name_is_right(const char *path);
bool gs_analyze_timeline_is_possible(const char *path);

/* Writes it; until_ns is its length, 0: three of the longest periods. 0, or -errno with a message. */
int gs_analyze_timeline(const char *path, const char *title, const struct gs_model *m, const int *modes,
                        int64_t until_ns);

/* The picture alone, as SVG, for the report. 0, or -errno with a sentence in `why`. */
int gs_analyze_picture(FILE *out, const char *title, const struct gs_model *m, const int *modes, int64_t until_ns,
                       char *why, size_t why_bytes);

/* All of it as one HTML page; `answer` is what --json prints. 0, or -errno with a message. */
int gs_analyze_html(const char *path, const char *title, const json_t *answer, const struct gs_model *m,
                    const int *modes, int64_t until_ns);

#endif
