/* SPDX-License-Identifier: MIT */
/* Pictures of numbers, as SVG: curves over an axis, and rows of bars or dots. Several panels make one picture. The
 * legend stands beside what it explains and hides nothing; what coincides is seen by wider lines below narrower ones.
 */
#ifndef GS_COMMON_CHART_H
#define GS_COMMON_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What an axis measures, with its unit, such as "time (ms)". Where max is not above min the range is that of the
 * numbers, with room at both ends. */
struct gs_axis {
    const char *label;
    double min, max;
    bool log;
    bool powers_of_two; /* of a log axis from 1 on: its ticks */
    bool from_zero;     /* the range holds 0 */
};

struct gs_curve {
    const char *name;
    const double *x, *y;
    const double *low, *high; /* of each point's spread, or NULL */
    size_t n;
    bool aside; /* what only explains the rest: grey dots without a line */
};

/* A row of bars or dots: one value for each of the panel's names; NAN: none. */
struct gs_row {
    const char *label;
    const char *text;                 /* behind its bar, or NULL */
    const double *value, *low, *high; /* low, high: or NULL */
    bool apart;                       /* a gap before it */
};

enum gs_panel_kind { GS_PANEL_CURVES, GS_PANEL_STEPS, GS_PANEL_DOTS, GS_PANEL_BARS };

struct gs_panel {
    enum gs_panel_kind kind;
    const char *title;   /* or NULL */
    struct gs_axis x, y; /* rows have no y */
    /* A line that values are compared with, or NULL: of curves at a height, of rows at a place. */
    const char *level_name;
    double level;
    /* Curves and steps. */
    const struct gs_curve *curves;
    size_t n_curves;
    /* Dots (one beside another) and bars (one behind another). */
    const struct gs_row *rows;
    size_t n_rows;
    const char *const *names;
    size_t n_names;
};

struct gs_chart {
    const char *title, *note; /* note: a line below the title, or NULL */
    const struct gs_panel *panels;
    size_t n, columns;
    double width, height; /* of each panel's frame; rows take the height they need */
};

void gs_chart_write(const struct gs_chart *chart, FILE *f);

#endif
