/* SPDX-License-Identifier: MIT */
/* Pictures drawn by gnuplot. */
#ifndef GS_COMMON_PLOT_H
#define GS_COMMON_PLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether a picture can have this name: it ends in .svg, .png or .pdf, or in .gp for gnuplot's script, data included,
 * which draws NAME.svg where gnuplot is. Says why not. */
bool gs_plot_name_is_right(const char *path);

/* Whether it has such a name and can be written: says why not. To be asked before what is to be drawn is measured. */
bool gs_plot_is_possible(const char *path);

/* Starts gnuplot, or makes the script, and chooses the output; the caller writes the rest of the script. Null with a
 * message. SIGPIPE is ignored from here on: gnuplot may not be there. */
FILE *gs_plot_open(const char *path, unsigned width, unsigned height);

/* Ends the script and waits for the picture. 0, or -EIO with a message. */
int gs_plot_close(FILE *plot, const char *path);

#endif
