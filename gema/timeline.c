/* SPDX-License-Identifier: MIT */
#include "gema/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool grow(void **v, size_t n, size_t *max, size_t size)
{
    if (n < *max)
        return true;
    size_t more = *max ? *max * 2 : 64;
    void *p = realloc(*v, more * size);
    if (!p)
        return false;
    *v = p;
    *max = more;
    return true;
}

static void keep_slice(void *context, const struct gs_sim_slice *s)
{
    struct gs_timeline *t = context;
    if (grow((void **)&t->slices, t->n_slices, &t->max_slices, sizeof *t->slices))
        t->slices[t->n_slices++] = *s;
    else
        t->failed = true;
}

static void keep_job(void *context, const struct gs_sim_job *j)
{
    struct gs_timeline *t = context;
    if (grow((void **)&t->jobs, t->n_jobs, &t->max_jobs, sizeof *t->jobs))
        t->jobs[t->n_jobs++] = *j;
    else
        t->failed = true;
}

int gs_timeline_run(struct gs_timeline *t, const struct gs_model *m, const int *modes, const int64_t *offsets,
                    int64_t horizon)
{
    *t = (struct gs_timeline){.model = m};
    struct gs_sim_setup setup = {
        .modes = modes, .offsets = offsets, .horizon = horizon, .context = t, .ran = keep_slice, .ended = keep_job};
    struct gs_sim *s = gs_sim_new(m);
    bool ok = s && gs_sim_run(s, &setup) && !t->failed;
    gs_sim_free(s);
    return ok ? 0 : -ENOMEM;
}

void gs_timeline_free(struct gs_timeline *t)
{
    free(t->slices);
    free(t->jobs);
    *t = (struct gs_timeline){0};
}

static bool missed(const struct gs_timeline *t, const struct gs_sim_job *j)
{
    return j->end - j->release > t->model->tasks[j->task].deadline_ns;
}

/* A time in microseconds with all its nanoseconds. */
static void print_us(FILE *out, int64_t ns)
{
    fprintf(out, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}

static void name_track(FILE *out, int pid, int tid, const char *name, int number, const char *sep)
{
    fprintf(out, "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s", sep, pid,
            tid, name);
    if (number >= 0)
        fprintf(out, " %d", number);
    fputs("\"}}", out);
}

int gs_timeline_write_trace(const struct gs_timeline *t, FILE *out)
{
    enum { SERVERS = 1, TASKS = 2 };
    const struct gs_model *m = t->model;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"servers\"}},\n"
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"args\":{\"name\":\"tasks\"}}",
          out);
    for (int r = 0; r < GS_RESOURCES; r++)
        for (int k = 0; k < m->servers[r]; k++)
            name_track(out, SERVERS, r * GS_CONFIG_MAX_SERVERS + k, gs_resource_names[r], k, ",\n");
    for (size_t i = 0; i < m->n_tasks; i++)
        name_track(out, TASKS, (int)i, m->tasks[i].name, -1, ",\n");
    for (size_t i = 0; i < t->n_slices; i++) {
        const struct gs_sim_slice *s = &t->slices[i];
        fprintf(out, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":", m->tasks[s->task].name, SERVERS,
                (int)s->resource * GS_CONFIG_MAX_SERVERS + s->server);
        print_us(out, s->begin);
        fputs(",\"dur\":", out);
        print_us(out, s->end - s->begin);
        fprintf(out, ",\"args\":{\"job\":%" PRIu64 ",\"segment\":%zu,\"piece\":%d}}", s->job, s->segment + 1, s->piece);
    }
    for (size_t i = 0; i < t->n_jobs; i++) {
        const struct gs_sim_job *j = &t->jobs[i];
        fprintf(out, ",\n{\"ph\":\"X\",\"name\":\"job %" PRIu64 "%s\",\"pid\":%d,\"tid\":%zu,\"ts\":", j->job,
                missed(t, j) ? " misses its deadline" : "", TASKS, j->task);
        print_us(out, j->release);
        fputs(",\"dur\":", out);
        print_us(out, j->end - j->release);
        fprintf(out, ",\"args\":{\"response_ns\":%" PRId64 ",\"deadline_ns\":%" PRId64 "}}", j->end - j->release,
                m->tasks[j->task].deadline_ns);
    }
    fputs("\n]}\n", out);
    return ferror(out) ? -EIO : 0;
}

enum { LEFT = 80, WIDTH = 1100, ROW = 26, TOP = 30 };

/* A colour that differs from its neighbours': hues a golden angle apart. */
static void print_colour(FILE *out, size_t task)
{
    fprintf(out, "hsl(%d,65%%,%d%%)", (int)(task * 137 % 360), 62 + (int)(task / 8 % 3) * 8);
}

static double x_of(int64_t time, int64_t end)
{
    return LEFT + (double)time / (double)(end ? end : 1) * WIDTH;
}

static void svg_legend(const struct gs_timeline *t, FILE *out)
{
    for (size_t i = 0; i < t->model->n_tasks; i++) {
        int x = LEFT + (int)(i % 10) * 110, y = 4 + (int)(i / 10) * 14;
        fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"", x, y);
        print_colour(out, i);
        fprintf(out, "\"/><text x=\"%d\" y=\"%d\">%.14s</text>\n", x + 14, y + 9, t->model->tasks[i].name);
    }
}

/* The row of a server, from the top. */
static int row_of(const struct gs_model *m, int resource, int server)
{
    for (int r = 0; r < resource; r++)
        server += m->servers[r];
    return server;
}

static void svg_rows(const struct gs_timeline *t, FILE *out, int top)
{
    for (int r = 0; r < GS_RESOURCES; r++)
        for (int k = 0; k < t->model->servers[r]; k++) {
            int y = top + row_of(t->model, r, k) * ROW;
            fprintf(out, "<text x=\"4\" y=\"%d\">%s %d</text><line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", y + 16,
                    gs_resource_names[r], k, LEFT, y + ROW - 2, LEFT + WIDTH, y + ROW - 2);
        }
}

static void svg_jobs(const struct gs_timeline *t, FILE *out, int y, int64_t end)
{
    for (size_t i = 0; i < t->n_jobs; i++) {
        const struct gs_sim_job *j = &t->jobs[i];
        int at = y + (int)j->task * ROW;
        double deadline = x_of(j->release + t->model->tasks[j->task].deadline_ns, end);
        fprintf(out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"8\" fill=\"", x_of(j->release, end), at + 8,
                x_of(j->end, end) - x_of(j->release, end));
        print_colour(out, j->task);
        fprintf(out, "\"%s/><path d=\"M%.2f %d v16\" stroke=\"%s\"/>\n", missed(t, j) ? " stroke=\"red\"" : "",
                deadline, at + 4, missed(t, j) ? "red" : "black");
    }
    for (size_t i = 0; i < t->model->n_tasks; i++)
        fprintf(out, "<text x=\"4\" y=\"%d\">%.10s</text>\n", y + (int)i * ROW + 16, t->model->tasks[i].name);
}

int gs_timeline_write_svg(const struct gs_timeline *t, FILE *out)
{
    const struct gs_model *m = t->model;
    int legend = 14 * (1 + (int)(m->n_tasks / 10)), top = TOP + legend, rows = row_of(m, GS_RESOURCES, 0);
    int jobs = top + rows * ROW + 10, height = jobs + (int)m->n_tasks * ROW + 30;
    int64_t end = 1;
    char buf[GS_DURATION_SIZE];
    for (size_t i = 0; i < t->n_jobs; i++) {
        int64_t last = t->jobs[i].release + m->tasks[t->jobs[i].task].deadline_ns;
        last = t->jobs[i].end > last ? t->jobs[i].end : last;
        end = last > end ? last : end;
    }
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n<style>line{stroke:#ccc}</style><rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        LEFT + WIDTH + 20, height);
    svg_legend(t, out);
    svg_rows(t, out, top);
    for (size_t i = 0; i < t->n_slices; i++) {
        const struct gs_sim_slice *s = &t->slices[i];
        fprintf(out,
                "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" stroke=\"#333\" stroke-width=\"0.4\" fill=\"",
                x_of(s->begin, end), top + row_of(m, (int)s->resource, s->server) * ROW + 3,
                x_of(s->end, end) - x_of(s->begin, end), ROW - 6);
        print_colour(out, s->task);
        fprintf(out, "\"><title>%s job %" PRIu64 " segment %zu: %s", m->tasks[s->task].name, s->job, s->segment + 1,
                gs_format_duration(s->begin, buf));
        fprintf(out, " to %s</title></rect>\n", gs_format_duration(s->end, buf));
    }
    svg_jobs(t, out, jobs, end);
    for (int k = 0; k <= 10; k++) {
        double x = LEFT + WIDTH * k / 10.0;
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, height - 8,
                gs_format_duration(end / 10 * k, buf));
    }
    fputs("</svg>\n", out);
    return ferror(out) ? -EIO : 0;
}
