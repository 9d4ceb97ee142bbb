/* SPDX-License-Identifier: MIT */
/* Names come as bytes: of a file system, of a driver. JSON wants UTF-8. */
#ifndef GS_COMMON_UTF8_H
#define GS_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of the character that a string begins with, 1 to 4; 0: it begins with no UTF-8 (RFC 3629), or is empty. */
size_t gs_utf8_bytes(const char *s);

/* Writes it as a string of JSON, with its quotes: what is no UTF-8 as Latin-1. */
void gs_json_string(FILE *f, const char *s);

/* Is all of it UTF-8? */
bool gs_is_utf8(const char *s);

#endif
