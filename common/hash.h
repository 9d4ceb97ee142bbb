/* SPDX-License-Identifier: MIT */
/* BLAKE2b-256 (RFC 7693, unkeyed): content addresses and checksums. */
#ifndef GS_COMMON_HASH_H
#define GS_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { GS_HASH_BYTES = 32, GS_HASH_HEX_BYTES = 2 * GS_HASH_BYTES + 1 };

struct gs_hash {
    uint64_t h[8], count[2];
    unsigned char block[128];
    size_t used;
};

void gs_hash_begin(struct gs_hash *s);
void gs_hash_add(struct gs_hash *s, const void *bytes, size_t n);
void gs_hash_add_text(struct gs_hash *s, const char *text); /* with the 0 behind it; NULL is as "" */
void gs_hash_end(struct gs_hash *s, unsigned char out[GS_HASH_BYTES]);

/* As above, in hexadecimal with a 0 behind it. */
void gs_hash_end_hex(struct gs_hash *s, char out[GS_HASH_HEX_BYTES]);
void gs_hash_hex(const void *bytes, size_t n, char out[GS_HASH_HEX_BYTES]);

#endif
