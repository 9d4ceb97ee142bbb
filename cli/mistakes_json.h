/* SPDX-License-Identifier: MIT */
/* The mistakes of a config file as JSON, for all commands that read one and have --json. */
#ifndef GS_CLI_MISTAKES_JSON_H
#define GS_CLI_MISTAKES_JSON_H

#include <jansson.h>

#include "common/config.h"

/* A string. What is no UTF-8 becomes question marks: JSON can't hold it, and a file may have any bytes. */
json_t *gs_text_json(const char *from);

/* A list of {"line", "message"}; the line is null where the file as a whole is meant. */
json_t *gs_mistakes_json(const struct gs_mistakes *m);

#endif
