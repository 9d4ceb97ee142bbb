/* SPDX-License-Identifier: MIT */
#include "common/utf8.h"

#include <stdint.h>
#include <stdio.h>

size_t gs_utf8_bytes(const char *s)
{
    static const uint32_t least[] = {0, 1, 0x80, 0x800, 0x10000}; /* that needs so many bytes */
    const unsigned char first = (unsigned char)*s;
    const size_t n = first < 0x80   ? first > 0
                     : first < 0xc0 ? 0
                     : first < 0xe0 ? 2
                     : first < 0xf0 ? 3
                     : first < 0xf8 ? 4
                                    : 0;
    uint32_t c = n > 1 ? first & (0x7fu >> n) : first;
    for (size_t i = 1; i < n; i++) {
        const unsigned char next = (unsigned char)s[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (next & 0x3f);
    }
    const bool surrogate = c >= 0xd800 && c < 0xe000;
    return c < least[n] || c > 0x10ffff || surrogate ? 0 : n;
}

void gs_json_string(FILE *f, const char *s)
{
    fputc('"', f);
    while (*s) {
        const unsigned char c = (unsigned char)*s;
        const size_t n = gs_utf8_bytes(s);
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || !n)
            fprintf(f, "\\u%04x", c);
        else
            fprintf(f, "%.*s", (int)n, s);
        s += n ? n : 1;
    }
    fputc('"', f);
}

bool gs_is_utf8(const char *s)
{
    while (*s) {
        const size_t n = gs_utf8_bytes(s);
        if (!n)
            return false;
        s += n;
    }
    return true;
}
