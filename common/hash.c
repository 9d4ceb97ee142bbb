/* SPDX-License-Identifier: MIT */
/* BLAKE2b-256 (RFC 7693, unkeyed). */
#include "common/hash.h"

#include <stdbool.h>
#include <string.h>

/* RFC 7693, section 2.6: the initialisation vector. */
static const uint64_t iv[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                               0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/* RFC 7693, section 2.7: the message word schedule. */
static const unsigned char sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint64_t rotr(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

/* RFC 7693, section 3.1: the mixing function G. */
static inline void mix(uint64_t v[16], int a, int b, int c, int d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotr(v[b] ^ v[c], 63);
}

/* RFC 7693, section 3.2: the compression function F over one block. */
static void compress(struct gs_hash *s, const unsigned char *block, bool last)
{
    uint64_t v[16], m[16];
    memcpy(m, block, sizeof m); /* little-endian words; the project runs on little-endian machines only */
    memcpy(v, s->h, sizeof s->h);
    memcpy(v + 8, iv, sizeof iv);
    v[12] ^= s->count[0];
    v[13] ^= s->count[1];
    if (last)
        v[14] = ~v[14];
    for (int i = 0; i < 12; i++) {
        const unsigned char *p = sigma[i % 10];
        mix(v, 0, 4, 8, 12, m[p[0]], m[p[1]]);
        mix(v, 1, 5, 9, 13, m[p[2]], m[p[3]]);
        mix(v, 2, 6, 10, 14, m[p[4]], m[p[5]]);
        mix(v, 3, 7, 11, 15, m[p[6]], m[p[7]]);
        mix(v, 0, 5, 10, 15, m[p[8]], m[p[9]]);
        mix(v, 1, 6, 11, 12, m[p[10]], m[p[11]]);
        mix(v, 2, 7, 8, 13, m[p[12]], m[p[13]]);
        mix(v, 3, 4, 9, 14, m[p[14]], m[p[15]]);
    }
    for (int i = 0; i < 8; i++)
        s->h[i] ^= v[i] ^ v[i + 8];
}

static void count(struct gs_hash *s, uint64_t n)
{
    s->count[0] += n;
    s->count[1] += s->count[0] < n;
}

void gs_hash_begin(struct gs_hash *s)
{
    memset(s, 0, sizeof *s);
    memcpy(s->h, iv, sizeof iv);
    s->h[0] ^= 0x01010000 ^ GS_HASH_BYTES; /* fan-out 1, depth 1, no key */
}

void gs_hash_add(struct gs_hash *s, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    while (n > 0) {
        /* The last block must not be compressed before it is known to be the last. */
        if (s->used == sizeof s->block) {
            count(s, sizeof s->block);
            compress(s, s->block, false);
            s->used = 0;
        }
        size_t k = sizeof s->block - s->used < n ? sizeof s->block - s->used : n;
        memcpy(s->block + s->used, p, k);
        s->used += k;
        p += k;
        n -= k;
    }
}

void gs_hash_add_text(struct gs_hash *s, const char *text)
{
    text = text ? text : "";
    gs_hash_add(s, text, strlen(text) + 1);
}

void gs_hash_end(struct gs_hash *s, unsigned char out[GS_HASH_BYTES])
{
    memset(s->block + s->used, 0, sizeof s->block - s->used);
    count(s, s->used);
    compress(s, s->block, true);
    memcpy(out, s->h, GS_HASH_BYTES);
}

void gs_hash_end_hex(struct gs_hash *s, char out[GS_HASH_HEX_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char raw[GS_HASH_BYTES];
    gs_hash_end(s, raw);
    for (int i = 0; i < GS_HASH_BYTES; i++) {
        out[2 * i] = digits[raw[i] >> 4];
        out[2 * i + 1] = digits[raw[i] & 15];
    }
    out[2 * GS_HASH_BYTES] = 0;
}

void gs_hash_hex(const void *bytes, size_t n, char out[GS_HASH_HEX_BYTES])
{
    struct gs_hash s;
    gs_hash_begin(&s);
    gs_hash_add(&s, bytes, n);
    gs_hash_end_hex(&s, out);
}
