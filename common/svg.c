/* SPDX-License-Identifier: MIT */
#include "common/svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/utf8.h"

void gs_svg_begin(FILE *f, double width, double height)
{
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gs\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
            "%.0f\" font-family=\"sans-serif\" font-size=\"%d\" fill=\"#222\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height, width, height, GS_SVG_FONT);
}

void gs_svg_end(FILE *f)
{
    fputs("</svg>\n", f);
}

void gs_svg_text(FILE *f, double x, double y, enum gs_svg_anchor anchor, const char *style, const char *format, ...)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>", x, y, anchors[anchor], style);
    gs_svg_escape(f, text);
    fputs("</text>\n", f);
}

double gs_svg_width(const char *text)
{
    double width = 0;
    for (size_t n; *text; text += n ? n : 1, width += 0.64 * (double)GS_SVG_FONT)
        n = gs_utf8_bytes(text);
    return width;
}

void gs_svg_mark(FILE *f, size_t k, double x, double y, double size)
{
    static const char *const shapes[] = {
        "m-1 -1h2v2h-2z",      "m0 -1.2l1.1 2h-2.2z",  "m0 -1.3l1.3 1.3l-1.3 1.3l-1.3 -1.3z",
        "m0 1.2l1.1 -2h-2.2z", "m-1 -1l2 2m0 -2l-2 2", "m-1.2 0h2.4m-1.2 -1.2v2.4",
    };
    if (k % GS_SVG_COLOURS == 0)
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", x, y, size);
    else
        fprintf(f, "<path transform=\"translate(%.1f %.1f) scale(%.1f)\" stroke-width=\"%.2f\" d=\"M0 0%s\"/>", x, y,
                size, 1.4 / size, shapes[k % GS_SVG_COLOURS - 1]);
}

double gs_svg_step(double span, int most)
{
    if (!(span > 0) || most < 1)
        return 1;
    const double power = pow(10, floor(log10(span / most)));
    const double factors[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (span / (power * factors[i]) <= most)
            return power * factors[i];
    return power * 10;
}

const char *gs_svg_number(double v, char buf[32])
{
    char text[32];
    int exponent = 0;
    snprintf(buf, 32, "%.6g", fabs(v) < 1e-12 ? 0 : v);
    if (v != 0 && (fabs(v) >= 1e6 || fabs(v) < 1e-3) && snprintf(text, sizeof text, "%.3e", v) > 0 &&
        sscanf(strchr(text, 'e') + 1, "%d", &exponent) == 1 && fabs(v) >= 1e-12)
        snprintf(buf, 32, "%ge%d", v / pow(10, exponent), exponent);
    return buf;
}
