/* SPDX-License-Identifier: MIT */
/* The strokes that all pictures are made of, as SVG: text, ticks, and colours that colour-blind people tell apart. */
#ifndef GS_COMMON_SVG_H
#define GS_COMMON_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Colours, dash patterns and marks by number: the same number looks the same in every picture. The colours are those of
 * Okabe and Ito (2008) without yellow, which is lost on white. */
enum { GS_SVG_COLOURS = 7, GS_SVG_FONT = 11 };

void gs_svg_begin(FILE *f, double width, double height);
void gs_svg_end(FILE *f);

/* Text as XML: characters that XML doesn't have become question marks. */
void gs_svg_escape(FILE *f, const char *text);

enum gs_svg_anchor { GS_SVG_START, GS_SVG_MIDDLE, GS_SVG_LAST };

/* `style` is further attributes, or "". */
void gs_svg_text(FILE *f, double x, double y, enum gs_svg_anchor anchor, const char *style, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

const char *gs_svg_colour(size_t k);

/* How wide a text is at most, as fonts differ. */
double gs_svg_width(const char *text);

/* A mark around (x, y), `size` from its centre to its edge. */
void gs_svg_mark(FILE *f, size_t k, double x, double y, double size);

/* The step between ticks, 1, 2 or 5 times a power of ten, that gives `most` of them or fewer over `span`. */
double gs_svg_step(double span, int most);

/* A tick's number, as short as it can be. */
const char *gs_svg_number(double v, char buf[32]);

#endif
