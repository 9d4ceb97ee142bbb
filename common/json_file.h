/* SPDX-License-Identifier: MIT */
/* JSON in a file of limited size. For those who link with jansson. */
#ifndef GS_COMMON_JSON_FILE_H
#define GS_COMMON_JSON_FILE_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"

/* As json_load_file; `error` may be null. */
static inline json_t *gs_json_load(const char *path, size_t most, size_t flags, json_error_t *error)
{
    char *text;
    size_t bytes;
    const int err = gs_read_file(path, most, &text, &bytes);
    if (err < 0) {
        if (error) {
            *error = (json_error_t){.line = -1, .column = -1};
            snprintf(error->text, sizeof error->text, "unable to read it: %s", strerror(-err));
        }
        return NULL;
    }
    json_t *j = json_loadb(text, bytes, flags, error);
    free(text);
    return j;
}

#endif
