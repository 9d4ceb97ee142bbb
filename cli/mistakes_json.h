/* SPDX-License-Identifier: MIT */
/* The mistakes of a config file as JSON, for all commands that read one and have --json. */
#ifndef GS_CLI_MISTAKES_JSON_H
#define GS_CLI_MISTAKES_JSON_H

#include <jansson.h>

#include "common/config.h"
#include "common/json_failure.h"

/* A list of {"line", "message"}; the line is null where the file as a whole is meant. */
json_t *gs_mistakes_json(const struct gs_mistakes *m);

#endif
