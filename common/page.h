/* SPDX-License-Identifier: MIT */
/* A report as one HTML file that needs no other: tables that sort, and pictures that can be looked into. Without
 * JavaScript both are there as they are. */
#ifndef GS_COMMON_PAGE_H
#define GS_COMMON_PAGE_H

#include <stdbool.h>
#include <stdio.h>

void gs_page_begin(FILE *f, const char *title);
void gs_page_end(FILE *f);

void gs_page_heading(FILE *f, const char *text);
void gs_page_text(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the page comes to, in one paragraph that stands out: the first thing below its title. */
void gs_page_conclusion(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table: its heads, one word each, "|" between them, and "#" before those of numbers. Then rows, of cells. */
void gs_page_table(FILE *f, const char *heads);
void gs_page_row(FILE *f);
void gs_page_cell(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A cell that shows a text and sorts by a number. */
void gs_page_number(FILE *f, double value, const char *format, ...) __attribute__((format(printf, 3, 4)));

void gs_page_table_end(FILE *f);

/* What is written between them is one SVG picture. */
void gs_page_picture(FILE *f);
void gs_page_picture_end(FILE *f);

/* Does a file's name, the value of `option`, ask for a page; and can it be written? They say why not. */
bool gs_page_name_is_right(const char *option, const char *path);
bool gs_page_is_possible(const char *path);

#endif
