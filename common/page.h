/* SPDX-License-Identifier: MIT */
/* A report as one HTML file without other files: tables that sort, and pictures that can be zoomed. Without JavaScript
 * both are shown as they are. */
#ifndef GS_COMMON_PAGE_H
#define GS_COMMON_PAGE_H

#include <stdbool.h>
#include <stdio.h>

void gs_page_begin(FILE *f, const char *title);
void gs_page_end(FILE *f);

void gs_page_heading(FILE *f, const char *text);
void gs_page_text(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The report's conclusion, a paragraph that stands out below the title. */
void gs_page_conclusion(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table: its heads, one word each, "|" between them, and "#" before those of numbers. Then rows, of cells. */
void gs_page_table(FILE *f, const char *heads);
void gs_page_row(FILE *f);
void gs_page_cell(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A cell that shows a text and sorts by a number. */
void gs_page_number(FILE *f, double value, const char *format, ...) __attribute__((format(printf, 3, 4)));

void gs_page_table_end(FILE *f);

/* Everything written between these is one SVG picture. */
void gs_page_picture(FILE *f);
void gs_page_picture_end(FILE *f);

/* Does a file's name, the value of `option`, ask for a page; can the file be written? If not, an error says why. */
bool gs_page_name_is_right(const char *option, const char *path);
bool gs_page_is_possible(const char *path);

#endif
