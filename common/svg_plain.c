/* SPDX-License-Identifier: MIT */
/* What reports without a drawing need too. The shim has some in its process, and no libm. */
#include "common/svg.h"

#include "common/utf8.h"

void gs_svg_escape(FILE *f, const char *text)
{
    for (size_t n; *text; text += n ? n : 1) {
        const unsigned char c = (unsigned char)*text;
        n = gs_utf8_bytes(text);
        if (c == '<')
            fputs("&lt;", f);
        else if (c == '&')
            fputs("&amp;", f);
        else if (c == '"')
            fputs("&quot;", f);
        else if (c < 0x20 || c == 0x7f || !n)
            fputc('?', f);
        else
            fwrite(text, 1, n, f);
    }
}

const char *gs_svg_colour(size_t k)
{
    static const char *const colours[GS_SVG_COLOURS] = {"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                        "#56b4e9", "#cc79a7", "#444444"};
    return colours[k % GS_SVG_COLOURS];
}
