/* SPDX-License-Identifier: MIT */
#include "common/page.h"

#include <stdarg.h>
#include <string.h>

#include "common/log.h"
#include "common/stream.h"
#include "common/svg.h"

extern const char gs_page_css[], gs_page_js[];

enum { TEXT_BYTES = 2048, SENTENCE = 24 /* a cell with more letters gets a line's width */ };

void gs_page_begin(FILE *f, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>",
          f);
    gs_svg_escape(f, title);
    fprintf(f, "</title>\n<style>\n%s</style></head>\n<body><h1>", gs_page_css);
    gs_svg_escape(f, title);
    fputs("</h1>\n", f);
}

void gs_page_end(FILE *f)
{
    fprintf(f, "<script>\n%s</script></body></html>\n", gs_page_js);
}

void gs_page_heading(FILE *f, const char *text)
{
    fputs("<h2>", f);
    gs_svg_escape(f, text);
    fputs("</h2>\n", f);
}

static void print(FILE *f, const char *format, va_list args)
{
    char text[TEXT_BYTES];
    vsnprintf(text, sizeof text, format, args);
    gs_svg_escape(f, text);
}

static void write_paragraph(FILE *f, const char *begin, const char *format, va_list args)
{
    fputs(begin, f);
    print(f, format, args);
    fputs("</p>\n", f);
}

void gs_page_text(FILE *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_paragraph(f, "<p>", format, args);
    va_end(args);
}

void gs_page_conclusion(FILE *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_paragraph(f, "<p class=\"conclusion\">", format, args);
    va_end(args);
}

void gs_page_table(FILE *f, const char *heads)
{
    fputs("<div class=\"wide\"><table><thead><tr>", f);
    for (size_t n; *heads; heads += n + (heads[n] == '|')) {
        n = strcspn(heads, "|");
        const bool number = *heads == '#';
        fprintf(f, "<th%s>%.*s</th>", number ? " class=\"n\"" : "", (int)n - number, heads + number);
    }
    fputs("</tr></thead><tbody>", f);
}

void gs_page_row(FILE *f)
{
    fputs("\n<tr>", f);
}

void gs_page_cell(FILE *f, const char *format, ...)
{
    va_list args;
    char text[TEXT_BYTES];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fputs(strlen(text) > SENTENCE ? "<td class=\"words\">" : "<td>", f);
    gs_svg_escape(f, text);
    fputs("</td>", f);
}

void gs_page_number(FILE *f, double value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(f, "<td class=\"n\" data-v=\"%.9g\">", value);
    print(f, format, args);
    fputs("</td>", f);
    va_end(args);
}

void gs_page_table_end(FILE *f)
{
    fputs("\n</tbody></table></div>\n", f);
}

void gs_page_picture(FILE *f)
{
    fputs("<div class=\"picture\">\n", f);
}

void gs_page_picture_end(FILE *f)
{
    fputs("</div>\n", f);
}

bool gs_page_name_is_right(const char *option, const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0))
        return true;
    gs_error("%s %s: the name must end in .html", option, path);
    return false;
}

bool gs_page_is_possible(const char *path)
{
    const int err = gs_can_write(path);
    if (err)
        gs_error("cannot write %s: %s", path, strerror(-err));
    return !err;
}
