/* SPDX-License-Identifier: MIT */
/* What can be told of a program from its file, before it is run. */
#ifndef GS_CLI_PROGRAM_FILE_H
#define GS_CLI_PROGRAM_FILE_H

#include <stdbool.h>

/* Is the file a program or a script, so that a trace isn't what its user wants to find in it? */
bool gs_is_program_file(const char *path);

/* Why the loader won't load the shim into this program, which is looked for as execvp does: a sentence's end. NULL: it
 * will, as far as can be seen. */
const char *gs_unreachable_program(const char *name);

#endif
