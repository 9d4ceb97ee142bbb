/* SPDX-License-Identifier: MIT */
#include "common/chart.h"

#include <math.h>
#include <string.h>

#include "common/svg.h"

/* Lengths on the paper. */
static const double EDGE = 14, TITLE = 26, NOTE = 18, PANEL_TITLE = 20, X_AXIS = 40, Y_AXIS = 62, ROW = 17, GAP = 7,
                    MARK = 3;

static const char ASIDE[] = "#bbbbbb";

/* A panel's frame on the paper and the ranges in it. */
struct frame {
    const struct gs_panel *p;
    struct gs_axis x, y;
    double left, top, width, height;
};

static bool is_rows(const struct gs_panel *p)
{
    return p->kind == GS_PANEL_DOTS || p->kind == GS_PANEL_BARS;
}

/* ---- ranges ---- */

static void widen_axis(struct gs_axis *a, double v)
{
    if (!isfinite(v) || (a->log && !(v > 0)))
        return;
    a->min = fmin(a->min, v);
    a->max = fmax(a->max, v);
}

/* Room at both ends, so that nothing lies on the frame. */
static void widen(struct gs_axis *a)
{
    if (!(a->min <= a->max)) {
        a->min = a->log ? 1 : 0;
        a->max = a->log ? 10 : 1;
    }
    if (a->log) {
        const double room = pow(a->max / a->min, 0.05) * 1.12;
        a->min /= room;
        a->max *= room;
        return;
    }
    double room = 0.05 * (a->max - a->min);
    if (!(room > 0))
        room = a->max != 0 ? fabs(a->max) * 0.1 : 1;
    a->min -= room;
    a->max += room;
}

static double sum_of(const struct gs_panel *p, const struct gs_row *r)
{
    double sum = 0;
    for (size_t k = 0; k < p->n_names; k++)
        sum += isfinite(r->value[k]) ? r->value[k] : 0;
    return sum;
}

static void take_row(const struct gs_panel *p, const struct gs_row *r, struct gs_axis *x)
{
    if (p->kind == GS_PANEL_BARS)
        widen_axis(x, sum_of(p, r));
    for (size_t k = 0; k < p->n_names && p->kind == GS_PANEL_DOTS; k++) {
        widen_axis(x, r->value[k]);
        if (r->low)
            widen_axis(x, r->low[k]);
        if (r->high)
            widen_axis(x, r->high[k]);
    }
}

static void take_curve(const struct gs_curve *c, struct gs_axis *x, struct gs_axis *y)
{
    for (size_t i = 0; i < c->n; i++) {
        widen_axis(x, c->x[i]);
        widen_axis(y, c->y[i]);
        if (c->low)
            widen_axis(y, c->low[i]);
        if (c->high)
            widen_axis(y, c->high[i]);
    }
}

/* The axis with its range, as given or as the numbers have it. */
static struct gs_axis begin_axis(const struct gs_axis *given)
{
    struct gs_axis a = *given;
    a.min = INFINITY;
    a.max = -INFINITY;
    if (given->from_zero)
        widen_axis(&a, 0);
    return a;
}

static void end_axis(struct gs_axis *a, const struct gs_axis *given)
{
    if (given->max > given->min)
        *a = *given;
    else
        widen(a);
}

static void find_ranges(struct frame *f)
{
    const struct gs_panel *p = f->p;
    f->x = begin_axis(&p->x);
    f->y = begin_axis(&p->y);
    if (p->kind == GS_PANEL_BARS)
        widen_axis(&f->x, 0);
    for (size_t i = 0; i < p->n_rows; i++)
        take_row(p, &p->rows[i], &f->x);
    for (size_t i = 0; i < p->n_curves; i++)
        take_curve(&p->curves[i], &f->x, &f->y);
    if (p->level_name)
        widen_axis(is_rows(p) ? &f->x : &f->y, p->level);
    end_axis(&f->x, &p->x);
    end_axis(&f->y, &p->y);
    if (p->kind == GS_PANEL_BARS && !(p->x.max > p->x.min)) {
        f->x.min = 0;     /* bars begin at the frame */
        f->x.max *= 1.08; /* and have room for their texts */
    }
}

static double part_of(const struct gs_axis *a, double v)
{
    return a->log ? log(v / a->min) / log(a->max / a->min) : (v - a->min) / (a->max - a->min);
}

static double x_of(const struct frame *f, double v)
{
    return f->left + part_of(&f->x, v) * f->width;
}

static double y_of(const struct frame *f, double v)
{
    return f->top + f->height - part_of(&f->y, v) * f->height;
}

/* ---- axes ---- */

static void draw_tick(FILE *f, const struct frame *frame, bool upright, double v)
{
    char text[32];
    const double x = x_of(frame, v), y = y_of(frame, v);
    if (upright) {
        fprintf(f, "<path d=\"M%.1f %.1fh%.1f\" stroke=\"#ddd\"/>\n", frame->left, y, frame->width);
        gs_svg_text(f, frame->left - 6, y + 4, GS_SVG_LAST, "", "%s", gs_svg_number(v, text));
    } else {
        fprintf(f, "<path d=\"M%.1f %.1fv%.1f\" stroke=\"#ddd\"/>\n", x, frame->top, frame->height);
        gs_svg_text(f, x, frame->top + frame->height + 15, GS_SVG_MIDDLE, "", "%s", gs_svg_number(v, text));
    }
}

static void draw_even_ticks(FILE *f, const struct frame *frame, const struct gs_axis *a, bool upright, int room)
{
    const double step = gs_svg_step(a->max - a->min, room);
    for (double k = ceil(a->min / step - 1e-9); k * step <= a->max + 1e-9 * step; k++)
        draw_tick(f, frame, upright, k * step);
}

/* Powers of ten, and between them 2 and 5, or 2 to 9, where there is room. */
static void draw_log_ticks(FILE *f, const struct frame *frame, const struct gs_axis *a, bool upright, int room)
{
    static const double few[] = {1, 2, 5}, many[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const double decades = log10(a->max / a->min);
    const bool nine = decades * 9 <= room;
    const double *factors = nine ? many : few;
    for (double v = 1; a->powers_of_two && v <= a->max; v *= 2)
        draw_tick(f, frame, upright, v);
    if (a->powers_of_two)
        return;
    if (a->max < 3 * a->min) {
        draw_even_ticks(f, frame, a, upright, room);
        return;
    }
    const int each = nine ? 9 : decades * 3 <= room ? 3 : 1, skip = decades > room ? (int)ceil(decades / room) : 1;
    const int first = (int)floor(log10(a->min)), last = (int)ceil(log10(a->max));
    for (int e = first; e <= last; e++)
        for (int i = 0; i < each; i++) {
            const double v = factors[i] * pow(10, e);
            if (v >= a->min && v <= a->max && (e - first) % skip == 0)
                draw_tick(f, frame, upright, v);
        }
}

static void draw_ticks(FILE *f, const struct frame *frame, bool upright)
{
    const struct gs_axis *a = upright ? &frame->y : &frame->x;
    const int room = (int)fmax(2, upright ? frame->height / 34 : frame->width / 62);
    if (a->log)
        draw_log_ticks(f, frame, a, upright, room);
    else
        draw_even_ticks(f, frame, a, upright, room);
}

static void draw_axes(FILE *f, const struct frame *frame)
{
    const double bottom = frame->top + frame->height;
    draw_ticks(f, frame, false);
    if (!is_rows(frame->p)) {
        draw_ticks(f, frame, true);
        const double x = frame->left - 48, y = frame->top + frame->height / 2;
        char style[96];
        snprintf(style, sizeof style, "transform=\"rotate(-90 %.1f %.1f)\"", x, y);
        gs_svg_text(f, x, y, GS_SVG_MIDDLE, style, "%s", frame->p->y.label);
    }
    fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#888\"/>\n",
            frame->left, frame->top, frame->width, frame->height);
    gs_svg_text(f, frame->left + frame->width / 2, bottom + 32, GS_SVG_MIDDLE, "", "%s", frame->p->x.label);
    if (frame->p->title)
        gs_svg_text(f, frame->left + frame->width / 2, frame->top - 7, GS_SVG_MIDDLE, "font-weight=\"bold\"", "%s",
                    frame->p->title);
}

static void draw_level(FILE *f, const struct frame *frame)
{
    if (!frame->p->level_name)
        return;
    if (is_rows(frame->p))
        fprintf(f, "<path d=\"M%.1f %.1fv%.1f\"", x_of(frame, frame->p->level), frame->top, frame->height);
    else
        fprintf(f, "<path d=\"M%.1f %.1fh%.1f\"", frame->left, y_of(frame, frame->p->level), frame->width);
    fputs(" stroke=\"#222\" stroke-width=\"1.5\" stroke-dasharray=\"6 3\"/>\n", f);
}

/* ---- what is shown ---- */

static void draw_spread(FILE *f, double x0, double y0, double x1, double y1)
{
    fprintf(f, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke-width=\"1.2\" opacity=\"0.7\"/>", x0, y0, x1, y1);
}

/* A line that lies on an earlier one is narrower than that, and its marks are smaller. */
static double weight(size_t k, size_t n)
{
    return n <= 6 ? 1.4 + 1.0 * (double)(n - 1 - k) : 1.4;
}

static double mark_size(size_t k, size_t n)
{
    return n <= 6 ? MARK + 0.9 * (double)(n - 1 - k) : MARK;
}

static const char *dashes(size_t k)
{
    static const char *const patterns[] = {"none", "7 3", "2 3"};
    return patterns[k / GS_SVG_COLOURS % 3];
}

static bool is_shown(const struct frame *frame, const struct gs_curve *c, size_t i)
{
    return isfinite(c->x[i]) && isfinite(c->y[i]) && (!frame->y.log || c->y[i] > 0) && (!frame->x.log || c->x[i] > 0);
}

static void draw_line(FILE *f, const struct frame *frame, const struct gs_curve *c, size_t k)
{
    const bool steps = frame->p->kind == GS_PANEL_STEPS;
    bool pen_down = false;
    fprintf(f, "<path fill=\"none\" stroke-width=\"%.1f\" stroke-dasharray=\"%s\" d=\"",
            steps ? 1.6 : weight(k, frame->p->n_curves), dashes(k));
    for (size_t i = 0; i < c->n; i++) {
        if (!is_shown(frame, c, i)) {
            pen_down = false;
            continue;
        }
        const double x = x_of(frame, c->x[i]), y = y_of(frame, c->y[i]);
        if (pen_down && steps)
            fprintf(f, "H%.1fV%.1f", x, y);
        else
            fprintf(f, "%c%.1f %.1f", pen_down ? 'L' : 'M', x, y);
        pen_down = true;
    }
    fputs("\"/>\n", f);
}

static void draw_point(FILE *f, const struct frame *frame, const struct gs_curve *c, size_t k, size_t i)
{
    char x_text[32], y_text[32];
    const double x = x_of(frame, c->x[i]), y = y_of(frame, c->y[i]);
    fputs("<g>", f);
    if (c->low && c->high && c->high[i] > c->low[i])
        draw_spread(f, x, y_of(frame, fmax(c->low[i], frame->y.min)), x, y_of(frame, fmin(c->high[i], frame->y.max)));
    if (c->aside)
        gs_svg_mark(f, 0, x, y, 2);
    else
        gs_svg_mark(f, k, x, y, mark_size(k, frame->p->n_curves));
    fputs("<title>", f);
    gs_svg_escape(f, c->name);
    fprintf(f, ": %s at %s</title></g>\n", gs_svg_number(c->y[i], y_text), gs_svg_number(c->x[i], x_text));
}

static void draw_curve(FILE *f, const struct frame *frame, size_t k)
{
    const struct gs_curve *c = &frame->p->curves[k];
    const bool marks = frame->p->kind == GS_PANEL_CURVES;
    const size_t each = c->n <= 200 || c->aside ? 1 : c->n / 60; /* of many points, some */
    fprintf(f, "<g class=\"s%zu\" stroke=\"%s\" fill=\"white\" stroke-width=\"1.4\">\n", k,
            c->aside ? ASIDE : gs_svg_colour(k));
    if (!c->aside)
        draw_line(f, frame, c, k);
    for (size_t i = 0; i < c->n && marks; i += each)
        if (is_shown(frame, c, i))
            draw_point(f, frame, c, k, i);
    fputs("</g>\n", f);
}

static void draw_bars(FILE *f, const struct frame *frame, const struct gs_row *r, double y)
{
    const struct gs_panel *p = frame->p;
    double sum = 0;
    char text[32];
    for (size_t k = 0; k < p->n_names; k++) {
        if (!isfinite(r->value[k]) || !(r->value[k] > 0))
            continue;
        const double from = x_of(frame, sum), to = x_of(frame, sum + r->value[k]);
        fprintf(f, "<rect class=\"s%zu\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\" fill=\"%s\"><title>", k,
                from, y + 2, to - from, ROW - 4, gs_svg_colour(k));
        gs_svg_escape(f, r->label);
        fputs(", ", f);
        gs_svg_escape(f, p->names[k]);
        fprintf(f, ": %s</title></rect>\n", gs_svg_number(r->value[k], text));
        sum += r->value[k];
    }
    if (r->text)
        gs_svg_text(f, x_of(frame, sum) + 5, y + 12, GS_SVG_START,
                    "fill=\"#444\" stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\"", "%s", r->text);
}

/* Dots of one row lie a little above one another, so that none hides another. */
static void draw_dots(FILE *f, const struct frame *frame, const struct gs_row *r, double y)
{
    const struct gs_panel *p = frame->p;
    char text[32];
    fprintf(f, "<path d=\"M%.1f %.1fh%.1f\" stroke=\"#eee\"/>\n", frame->left, y + ROW / 2, frame->width);
    for (size_t k = 0; k < p->n_names; k++) {
        const double v = r->value[k];
        const double at = y + ROW * ((double)k + 1) / ((double)p->n_names + 1);
        if (!isfinite(v) || (frame->x.log && !(v > 0)))
            continue;
        fprintf(f, "<g class=\"s%zu\" stroke=\"%s\" fill=\"white\" stroke-width=\"1.4\">", k, gs_svg_colour(k));
        if (r->low && r->high && r->high[k] > r->low[k])
            draw_spread(f, x_of(frame, fmax(r->low[k], frame->x.min)), at, x_of(frame, fmin(r->high[k], frame->x.max)),
                        at);
        gs_svg_mark(f, k, x_of(frame, v), at, MARK);
        fputs("<title>", f);
        gs_svg_escape(f, r->label);
        fputs(", ", f);
        gs_svg_escape(f, p->names[k]);
        fprintf(f, ": %s", gs_svg_number(v, text));
        if (r->low && r->high)
            fprintf(f, " (%.4g to %.4g)", r->low[k], r->high[k]);
        fputs("</title></g>\n", f);
    }
}

static void draw_rows(FILE *f, const struct frame *frame)
{
    double y = frame->top + 4;
    for (size_t i = 0; i < frame->p->n_rows; i++, y += ROW) {
        const struct gs_row *r = &frame->p->rows[i];
        y += r->apart ? GAP : 0;
        gs_svg_text(f, frame->left - 6, y + 12, GS_SVG_LAST, "", "%s", r->label);
        (frame->p->kind == GS_PANEL_BARS ? draw_bars : draw_dots)(f, frame, r, y);
    }
}

/* ---- legends ---- */

/* The first curve that has the same points, or k itself. */
static size_t same_as(const struct gs_panel *p, size_t k)
{
    const struct gs_curve *c = &p->curves[k];
    for (size_t j = 0; j < k; j++)
        if (p->curves[j].n == c->n && c->n && memcmp(p->curves[j].x, c->x, c->n * sizeof *c->x) == 0 &&
            memcmp(p->curves[j].y, c->y, c->n * sizeof *c->y) == 0)
            return j;
    return k;
}

static size_t entries(const struct gs_panel *p)
{
    const size_t n = is_rows(p) ? p->n_names : p->n_curves;
    return n > 1 ? n : 0;
}

static void entry_name(const struct gs_panel *p, size_t k, char *text, size_t bytes)
{
    const size_t same = is_rows(p) ? k : same_as(p, k);
    if (is_rows(p))
        snprintf(text, bytes, "%s", p->names[k]);
    else if (same != k)
        snprintf(text, bytes, "%s (as %s)", p->curves[k].name, p->curves[same].name);
    else
        snprintf(text, bytes, "%s", p->curves[k].name);
}

static double legend_width(const struct gs_panel *p)
{
    double width = p->level_name ? gs_svg_width(p->level_name) : 0;
    char text[128];
    for (size_t k = 0; k < entries(p); k++) {
        entry_name(p, k, text, sizeof text);
        width = fmax(width, gs_svg_width(text));
    }
    return width > 0 ? width + 40 : 0;
}

static void draw_entry(FILE *f, const struct gs_panel *p, size_t k, double x, double y)
{
    char text[128];
    const bool aside = !is_rows(p) && p->curves[k].aside;
    entry_name(p, k, text, sizeof text);
    fprintf(f, "<g class=\"key\" data-s=\"s%zu\" stroke=\"%s\" fill=\"white\" stroke-width=\"1.4\">", k,
            aside ? ASIDE : gs_svg_colour(k));
    if (p->kind == GS_PANEL_BARS)
        fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"10\" fill=\"%s\"/>", x, y - 9, gs_svg_colour(k));
    if (!is_rows(p) && !aside)
        fprintf(f, "<path d=\"M%.1f %.1fh22\" stroke-width=\"%.1f\" stroke-dasharray=\"%s\"/>", x, y - 4,
                p->kind == GS_PANEL_STEPS ? 1.6 : weight(k, p->n_curves), dashes(k));
    if (p->kind == GS_PANEL_CURVES || p->kind == GS_PANEL_DOTS)
        gs_svg_mark(f, aside ? 0 : k, x + 11, y - 4, aside ? 2 : MARK + 1);
    gs_svg_text(f, x + 28, y, GS_SVG_START, "stroke=\"none\" fill=\"#222\"", "%s", text);
    fputs("</g>\n", f);
}

static void draw_legend(FILE *f, const struct frame *frame)
{
    const struct gs_panel *p = frame->p;
    const double x = frame->left + frame->width + 12;
    double y = frame->top + 12;
    for (size_t k = 0; k < entries(p); k++, y += ROW)
        draw_entry(f, p, k, x, y);
    if (p->level_name) {
        fprintf(f, "<path d=\"M%.1f %.1fh22\" stroke=\"#222\" stroke-width=\"1.5\" stroke-dasharray=\"6 3\"/>\n", x,
                y - 4);
        gs_svg_text(f, x + 28, y, GS_SVG_START, "", "%s", p->level_name);
    }
}

/* ---- the whole ---- */

static double rows_height(const struct gs_panel *p)
{
    double height = 8 + (double)p->n_rows * ROW;
    for (size_t i = 0; i < p->n_rows; i++)
        height += p->rows[i].apart ? GAP : 0;
    return height;
}

static double panel_height(const struct gs_chart *c, const struct gs_panel *p)
{
    const double legend = (double)(entries(p) + (p->level_name != NULL)) * ROW + 8;
    return fmax(is_rows(p) ? rows_height(p) : c->height, legend);
}

static double left_of(const struct gs_panel *p)
{
    double width = Y_AXIS;
    for (size_t i = 0; i < p->n_rows; i++)
        width = fmax(width, gs_svg_width(p->rows[i].label) + 12);
    return width;
}

static double panel_width(const struct gs_chart *c, const struct gs_panel *p)
{
    return left_of(p) + c->width + legend_width(p) + EDGE;
}

static void draw_panel(FILE *f, const struct gs_chart *c, const struct gs_panel *p, double x, double y)
{
    struct frame frame = {.p = p,
                          .left = x + left_of(p),
                          .top = y + (p->title ? PANEL_TITLE : 6),
                          .width = c->width,
                          .height = panel_height(c, p)};
    find_ranges(&frame);
    fputs("<g class=\"panel\">\n", f);
    draw_axes(f, &frame);
    draw_level(f, &frame);
    if (is_rows(p))
        draw_rows(f, &frame);
    for (size_t k = 0; k < p->n_curves; k++)
        draw_curve(f, &frame, k);
    draw_legend(f, &frame);
    fputs("</g>\n", f);
}

static double line_height(const struct gs_chart *c, size_t first)
{
    double height = 0;
    for (size_t i = first; i < c->n && i < first + c->columns; i++)
        height = fmax(height, (c->panels[i].title ? PANEL_TITLE : 6) + panel_height(c, &c->panels[i]) + X_AXIS);
    return height;
}

void gs_chart_write(const struct gs_chart *c, FILE *f)
{
    double column = 0, height = EDGE / 2.0 + TITLE + (c->note ? NOTE : 0) + EDGE;
    const double top = height - EDGE + 4;
    for (size_t i = 0; i < c->n; i++)
        column = fmax(column, panel_width(c, &c->panels[i]));
    for (size_t i = 0; i < c->n; i += c->columns)
        height += line_height(c, i);
    const double columns = (double)(c->n < c->columns ? c->n : c->columns);
    const double titles = fmax(gs_svg_width(c->title) * 15 / (double)GS_SVG_FONT, c->note ? gs_svg_width(c->note) : 0);
    gs_svg_begin(f, 2 * EDGE + fmax(columns * column, titles), height);
    gs_svg_text(f, EDGE, EDGE / 2.0 + 16, GS_SVG_START, "font-size=\"15\" font-weight=\"bold\"", "%s", c->title);
    if (c->note)
        gs_svg_text(f, EDGE, EDGE / 2.0 + TITLE + 10, GS_SVG_START, "fill=\"#555\"", "%s", c->note);
    double y = top;
    for (size_t i = 0; i < c->n; i++) {
        if (i && i % c->columns == 0)
            y += line_height(c, i - c->columns);
        draw_panel(f, c, &c->panels[i], EDGE + (double)(i % c->columns) * column, y);
    }
    gs_svg_end(f);
}
