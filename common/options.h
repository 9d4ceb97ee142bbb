/* SPDX-License-Identifier: MIT */
/* What is wrong with a word on the command line, and which word was probably meant. */
#ifndef GS_COMMON_OPTIONS_H
#define GS_COMMON_OPTIONS_H

#include <getopt.h>
#include <stddef.h>

/* The name that is most like `word`: few of its letters are wrong, missing, too many or exchanged, or it begins with
 * `word`. NULL: none. The i-th name is name(list, i); a null pointer ends them. */
const char *gs_nearest(const char *word, const char *(*name)(const void *list, size_t i), const void *list);

/* After getopt_long has returned '?' or ':' (with opterr = 0): what is wrong, as half a sentence, such as "there is no
 * option '--stat'; did you mean --stats?". The options are those of getopt_long, with no letters beside them. */
void gs_option_why(char *why, size_t bytes, char *const *argv, const struct option *options);

/* Says it as an error, or what else is wrong with the words: "...; see COMMAND --help". */
void gs_usage_error(const char *why, const char *command);
void gs_option_error(char *const *argv, const struct option *options, const char *command);

#endif
