/* SPDX-License-Identifier: MIT */
/* Names come as bytes: of a file system, of a driver. JSON wants UTF-8. */
#ifndef GS_COMMON_UTF8_H
#define GS_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character that a string begins with, 1 to 4; 0: it begins with no UTF-8 (RFC 3629), or is empty. */
size_t gs_utf8_bytes(const char *s);

/* The character that a string begins with, as a string of JSON has it: what is no UTF-8 as Latin-1. Returns its bytes
 * in `s`, which isn't empty. */
enum { GS_JSON_CHARACTER_BYTES = 8 };
size_t gs_json_character(const char *s, char text[GS_JSON_CHARACTER_BYTES]);

/* Is all of it UTF-8? */
bool gs_is_utf8(const char *s);

#endif
