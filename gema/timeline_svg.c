/* SPDX-License-Identifier: MIT */
/* The picture of a simulated schedule: who has each server when, and below that every task's jobs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "common/svg.h"
#include "gema/timeline.h"

static const int WIDTH = 1100, ROW = 24, EDGE = 14, HEAD = 66, BETWEEN = 12, FOOT = 44;

/* The axis: from 0 to the horizon, in a unit that gives short numbers. */
struct axis {
    double per_ns; /* units in a nanosecond */
    const char *unit;
    int64_t end;
};

static struct axis axis_of(const struct gs_timeline *t)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    int i = 0;
    while (i < 3 && t->horizon < 2 * units[i].ns)
        i++;
    return (struct axis){1.0 / (double)units[i].ns, units[i].name, t->horizon > 0 ? t->horizon : 1};
}

static double x_of(const struct axis *a, int64_t time)
{
    return fmin((double)time / (double)a->end, 1) * WIDTH;
}

/* The row of a server, from the top; only those that somebody has have one. */
static int row_of(const struct gs_timeline *t, int resource, int server)
{
    int row = 0;
    for (int r = 0; r <= resource && r < GS_RESOURCES; r++)
        for (int k = 0; k < t->model->servers[r] && (r < resource || k < server); k++)
            row += t->last[r][k] != 0;
    return row;
}

/* ---- the jobs: a row for each task, which has a lane for each of the jobs that are open at a time ---- */

static const double MOST_LANES = 40; /* that have their full height */

static double lane_height(const struct gs_timeline *t, size_t task)
{
    const int n = t->lanes[task];
    return n <= 1 ? 14 : n == 2 ? 9 : n <= MOST_LANES ? 7 : 7 * MOST_LANES / n;
}

static double task_height(const struct gs_timeline *t, size_t task)
{
    return fmax(ROW, 10 + t->lanes[task] * lane_height(t, task));
}

/* From the first task's top. */
static double task_top(const struct gs_timeline *t, size_t task)
{
    double y = 0;
    for (size_t i = 0; i < task; i++)
        y += task_height(t, i);
    return y;
}

/* Does its row show, in black, that it is late? */
static bool is_late_in(const struct gs_timeline *t, const struct axis *a, const struct gs_sim_job *j)
{
    return gs_timeline_missed(t, j) && j->release + t->model->tasks[j->task].deadline_ns < a->end;
}

/* The fill of a task: a colour, and stripes once the colours are used up. */
static void print_fill(FILE *out, size_t task)
{
    if (task < GS_SVG_COLOURS)
        fprintf(out, "%s", gs_svg_colour(task));
    else
        fprintf(out, "url(#t%zu)", task);
}

static void write_stripes(const struct gs_timeline *t, FILE *out)
{
    static const int angles[] = {45, 135, 90, 0};
    fputs("<defs>\n", out);
    for (size_t i = GS_SVG_COLOURS; i < t->model->n_tasks; i++)
        fprintf(out,
                "<pattern id=\"t%zu\" width=\"%zu\" height=\"%zu\" patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(%d)\"><rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/><rect "
                "width=\"2\" height=\"100%%\" fill=\"white\"/></pattern>\n",
                i, 6 + i / (4 * GS_SVG_COLOURS), 6 + i / (4 * GS_SVG_COLOURS), angles[i / GS_SVG_COLOURS % 4],
                gs_svg_colour(i));
    fputs("</defs>\n", out);
}

static double left_of(const struct gs_timeline *t)
{
    double left = gs_svg_width("link 00");
    for (size_t i = 0; i < t->model->n_tasks; i++)
        left = fmax(left, gs_svg_width(t->model->tasks[i].name));
    return EDGE + left + 8;
}

static void write_names(const struct gs_timeline *t, FILE *out, double left, int jobs)
{
    const struct gs_model *m = t->model;
    for (int r = 0; r < GS_RESOURCES; r++)
        for (int k = 0; k < m->servers[r]; k++)
            if (t->last[r][k])
                gs_svg_text(out, left - 8, HEAD + row_of(t, r, k) * ROW + 16, GS_SVG_LAST, "", "%s %d",
                            gs_resource_names[r], k);
    for (size_t i = 0; i < m->n_tasks; i++)
        gs_svg_text(out, left - 8, jobs + task_top(t, i) + 16, GS_SVG_LAST, "font-weight=\"bold\"", "%s",
                    m->tasks[i].name);
}

static void write_slice(const struct gs_timeline *t, const struct axis *a, FILE *out, const struct gs_sim_slice *s)
{
    char from[GS_DURATION_SIZE], to[GS_DURATION_SIZE];
    const struct gs_model *m = t->model;
    if (s->begin >= a->end)
        return;
    fprintf(out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"", x_of(a, s->begin),
            row_of(t, (int)s->resource, s->server) * ROW + 3, fmax(x_of(a, s->end) - x_of(a, s->begin), 0.05), ROW - 6);
    print_fill(out, s->task);
    fputs("\"><title>", out);
    gs_svg_escape(out, m->tasks[s->task].name);
    fprintf(out, ", job %" PRIu64 ", segment %zu: %s to %s</title></rect>\n", s->job + 1, s->segment + 1,
            gs_format_duration(s->begin, from), gs_format_duration(s->end, to));
}

/* The name of the task in a bar that is wide enough for it. */
static void write_word(const struct gs_timeline *t, const struct axis *a, FILE *out, const struct gs_sim_slice *s)
{
    const char *name = t->model->tasks[s->task].name;
    const double from = x_of(a, s->begin), to = x_of(a, s->end);
    const bool dark = s->task % GS_SVG_COLOURS == 0 || s->task % GS_SVG_COLOURS == 6;
    if (s->begin < a->end && to - from > gs_svg_width(name) + 8 && s->task < GS_SVG_COLOURS)
        gs_svg_text(out, (from + to) / 2, row_of(t, (int)s->resource, s->server) * ROW + 16, GS_SVG_MIDDLE,
                    dark ? "fill=\"white\"" : "", "%s", name);
}

/* A job: from its release to its end in its colour, what is late in black, wide enough to be seen. */
static void write_job(const struct gs_timeline *t, const struct axis *a, FILE *out, size_t i, double y)
{
    char response[GS_DURATION_SIZE], limit[GS_DURATION_SIZE];
    const struct gs_sim_job *j = &t->jobs[i];
    const struct gs_task *task = &t->model->tasks[j->task];
    const int64_t deadline = j->release + task->deadline_ns;
    const bool late = gs_timeline_missed(t, j);
    const double lane = lane_height(t, j->task), height = 0.75 * lane;
    if (j->release >= a->end)
        return;
    y += task_top(t, j->task) + 5 + t->lane[i] * lane + (lane - height) / 2;
    fputs("<g>", out);
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"", x_of(a, j->release), y,
            x_of(a, late ? deadline : j->end) - x_of(a, j->release), height);
    print_fill(out, j->task);
    fputs("\"/>", out);
    if (is_late_in(t, a, j)) {
        const double width = fmin(fmax(x_of(a, j->end) - x_of(a, deadline), 1), WIDTH - x_of(a, deadline));
        fprintf(out, "<rect class=\"late\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"black\"/>",
                x_of(a, deadline), y, width, height);
    }
    fputs("<title>", out);
    gs_svg_escape(out, task->name);
    fprintf(out, ", job %" PRIu64 ": takes %s, deadline %s%s</title></g>\n", j->job + 1,
            gs_format_duration(j->end - j->release, response), gs_format_duration(task->deadline_ns, limit),
            late ? ", which it misses" : "");
}

static void write_deadline(const struct gs_timeline *t, const struct axis *a, FILE *out, const struct gs_sim_job *j,
                           double y, double stroke)
{
    const int64_t deadline = j->release + t->model->tasks[j->task].deadline_ns;
    if (deadline <= a->end)
        fprintf(out,
                "<path d=\"M%.2f %.1fv%.1f\" stroke=\"black\" stroke-width=\"%.2f\" "
                "vector-effect=\"non-scaling-stroke\"/>\n",
                x_of(a, deadline), y + task_top(t, j->task) + 3, task_height(t, j->task) - 6, stroke);
}

/* Deadlines stand close to one another where there are many jobs. */
static double stroke_of(const struct gs_timeline *t)
{
    size_t most = 1;
    for (size_t i = 0; i < t->model->n_tasks; i++) {
        size_t n = 0;
        for (size_t k = 0; k < t->n_jobs; k++)
            n += t->jobs[k].task == i;
        most = n > most ? n : most;
    }
    return fmin(1.4, 0.3 * WIDTH / (double)most);
}

static void write_axis(const struct axis *a, FILE *out, double left, int height)
{
    const double end = (double)a->end * a->per_ns, step = gs_svg_step(end, 12);
    char text[32];
    fprintf(out,
            "<g class=\"ticks\" data-left=\"%.1f\" data-width=\"%d\" data-top=\"%d\" data-height=\"%d\" "
            "data-end=\"%.9g\">\n",
            left, WIDTH, HEAD, height, end);
    for (double k = 0; k * step <= end * (1 + 1e-9); k++) {
        const double x = left + k * step / end * WIDTH;
        fprintf(out, "<path d=\"M%.1f %dv%d\" stroke=\"#ddd\"/>", x, HEAD, height);
        gs_svg_text(out, x, HEAD + height + 15, GS_SVG_MIDDLE, "", "%s", gs_svg_number(k * step, text));
    }
    fputs("</g>\n", out);
    gs_svg_text(out, left + WIDTH / 2.0, HEAD + height + 33, GS_SVG_MIDDLE, "", "time (%s)", a->unit);
    fprintf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n", left, HEAD,
            WIDTH, height);
}

static void write_legend(const struct gs_timeline *t, const struct axis *a, FILE *out, double left)
{
    size_t late = 0;
    for (size_t i = 0; i < t->n_jobs; i++)
        late += is_late_in(t, a, &t->jobs[i]);
    const int hidden = t->model->servers[0] + t->model->servers[1] + t->model->servers[2] - row_of(t, GS_RESOURCES, 0);
    char more[48] = "";
    if (hidden)
        snprintf(more, sizeof more, " (%d more that nobody has)", hidden);
    gs_svg_text(out, left, HEAD - 24, GS_SVG_START, "fill=\"#555\"",
                "Above: which task has each processor, link and GPU%s. Below: jobs from release to end.", more);
    fprintf(out, "<path d=\"M%.1f %dv14\" stroke=\"black\" stroke-width=\"1.4\"/>", left + 3, HEAD - 18);
    gs_svg_text(out, left + 10, HEAD - 7, GS_SVG_START, "", "deadline");
    fprintf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"22\" height=\"10\" fill=\"black\"/>", left + 90, HEAD - 16);
    gs_svg_text(out, left + 118, HEAD - 7, GS_SVG_START, "", "after the deadline (in the picture: %zu of %zu jobs)",
                late, t->n_jobs);
}

int gs_timeline_write_svg(const struct gs_timeline *t, const char *title, FILE *out)
{
    const struct gs_model *m = t->model;
    const struct axis a = axis_of(t);
    const double left = left_of(t), stroke = stroke_of(t);
    const int rows = row_of(t, GS_RESOURCES, 0) * ROW, height = rows + BETWEEN + (int)ceil(task_top(t, m->n_tasks));
    gs_svg_begin(out, left + WIDTH + 2 * EDGE, HEAD + height + FOOT);
    write_stripes(t, out);
    gs_svg_text(out, EDGE, 22, GS_SVG_START, "font-size=\"15\" font-weight=\"bold\"", "%s", title);
    write_legend(t, &a, out, left);
    write_axis(&a, out, left, height);
    write_names(t, out, left, HEAD + rows + BETWEEN);
    fprintf(out,
            "<path d=\"M%.1f %dh%d\" stroke=\"#888\"/>\n<svg class=\"zoom\" x=\"%.1f\" y=\"%d\" width=\"%d\" "
            "height=\"%d\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n",
            left, HEAD + rows + BETWEEN / 2, WIDTH, left, HEAD, WIDTH, height, WIDTH, height);
    for (size_t i = 0; i < t->n_slices; i++)
        write_slice(t, &a, out, &t->slices[i]);
    for (size_t i = 0; i < t->n_jobs; i++)
        write_job(t, &a, out, i, rows + BETWEEN);
    for (size_t i = 0; i < t->n_jobs; i++) /* above the bars, of which one may begin there */
        write_deadline(t, &a, out, &t->jobs[i], rows + BETWEEN, stroke);
    fputs("<g class=\"words\" pointer-events=\"none\">\n", out);
    for (size_t i = 0; i < t->n_slices; i++)
        write_word(t, &a, out, &t->slices[i]);
    fputs("</g></svg>\n", out);
    gs_svg_end(out);
    return ferror(out) ? -EIO : 0;
}
