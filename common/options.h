/* SPDX-License-Identifier: MIT */
/* What is wrong with a word on the command line, and which word was probably meant. */
#ifndef GS_COMMON_OPTIONS_H
#define GS_COMMON_OPTIONS_H

#include <getopt.h>
#include <stddef.h>

/* The name most like `word`: with a few letters wrong, missing, added or exchanged, or one that begins with `word`.
 * NULL: none. name(list, i) is the i-th name; a null pointer ends the list. */
const char *gs_nearest(const char *word, const char *(*name)(const void *list, size_t i), const void *list);

/* After getopt_long has returned '?' or ':' (with opterr = 0): what is wrong, as half a sentence, such as "there is no
 * option '--stat'; did you mean --stats?". The options are those of getopt_long, with no letters beside them. */
void gs_option_why(char *why, size_t bytes, char *const *argv, const struct option *options);

/* Prints the error, or another fault of the command line: "...; see COMMAND --help". */
void gs_usage_error(const char *why, const char *command);
void gs_option_error(char *const *argv, const struct option *options, const char *command);

#endif
