/* SPDX-License-Identifier: MIT */
/* Changes a value in a config file, and leaves all else as it is: comments, order, blanks. */
#ifndef GS_CLI_CONFIG_EDIT_H
#define GS_CLI_CONFIG_EDIT_H

#include <stddef.h>

/* The text with key = value in [task TASK]: in the place of what stands there, else below the section's heading. To be
 * freed. NULL: no memory, or there is no such section. */
char *gs_config_edit(const char *text, const char *task, const char *key, const char *value);

/* Puts the text in the file's place, all of it or nothing, if it is a config without mistakes. The mode stays; a link
 * is followed. 0, or -errno with a sentence. */
int gs_config_replace(const char *path, const char *text, char *why, size_t why_bytes);

#endif
