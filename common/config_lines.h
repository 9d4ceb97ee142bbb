/* SPDX-License-Identifier: MIT */
/* INI text as sections of keys and values with their lines. Internal to the config reader. */
#ifndef GS_COMMON_CONFIG_LINES_H
#define GS_COMMON_CONFIG_LINES_H

#include "common/config.h"

struct gs_config_entry {
    char *key, *value; /* owned; a value that goes on over several lines has '\n' between them */
    int line;          /* of the key */
};

struct gs_config_section {
    char *name; /* owned */
    int line;
    struct gs_config_entry *entries; /* owned */
    size_t n_entries;
};

struct gs_config_lines {
    struct gs_config_section *sections; /* owned */
    size_t n_sections;
};

/* Splits the text with libinih, and adds every line that is no INI to the mistakes. 0 or -ENOMEM; *lines is to be freed
 * in either case. */
int gs_config_lines_read(const char *text, size_t length, struct gs_config_lines *lines, struct gs_mistakes *mistakes);
void gs_config_lines_free(struct gs_config_lines *lines);

#endif
