/* SPDX-License-Identifier: MIT */
/* With --json a command that fails says so in JSON, too: {"error": "...", "errors": ["...", ...], "status": N} on
 * stdout, where it has printed nothing else there. The sentences are those on stderr. For those who link with jansson
 * (gs_json). */
#ifndef GS_COMMON_JSON_FAILURE_H
#define GS_COMMON_JSON_FAILURE_H

#include <jansson.h>

/* A string. What is no UTF-8 becomes question marks: JSON can't hold it, and a file may have any bytes. */
json_t *gs_text_json(const char *from);

/* Before the command runs: from now on what goes to stdout is counted, and errors are kept. */
void gs_json_failure_begin(void);

/* Another process, the command's worker, has printed its answer or its failure. */
void gs_json_failure_is_said(void);

/* The command has ended with that status. */
void gs_json_failure_end(int status);

#endif
