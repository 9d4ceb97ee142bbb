/* SPDX-License-Identifier: MIT */
/* Files that pictures go to. Pictures are written as SVG; PNG and PDF are made from that by rsvg-convert. */
#ifndef GS_COMMON_PLOT_H
#define GS_COMMON_PLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether a picture can have this name: it ends in .svg, .png or .pdf. Says why not, of the value of `option`. */
bool gs_plot_name_is_right(const char *option, const char *path);

/* Whether it has such a name, can be written, and what it takes is installed: says why not. To be asked before what is
 * to be drawn is measured. */
bool gs_plot_is_possible(const char *option, const char *path);

/* Where the caller writes the SVG to, or null with a message. */
FILE *gs_plot_open(const char *path);

/* Makes the file of that, and ends it. 0, or -errno with a message. */
int gs_plot_close(FILE *plot, const char *path);

#endif
