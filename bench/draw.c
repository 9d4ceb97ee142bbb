/* SPDX-License-Identifier: MIT */
/* Pictures of kept results.
 *   bench_draw OUTPUT JOBS.csv         response times, as bench/rt.sh keeps them (GPU-SPARC's Figure 9)
 *   bench_draw OUTPUT SIZES.csv        time of a step (ms, or `refused`) by mode and size (in memories of one card)
 *   bench_draw OUTPUT RESULT.json...   several results of one probe, as `gpusparc probe order|sum --json` wrote them:
 * mode and number of different results over groups or warps; or one result of the latency probe OUTPUT ends in .svg,
 * .png or .pdf. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/chart.h"
#include "common/log.h"
#include "common/plot.h"

enum { NAME = 64, MAX_PANELS = 16, MAX_CURVES = 24, ROOM = 1 << 16 };

/* A picture under construction: panels of curves, whose points are appended one by one. */
struct curve {
    char name[NAME];
    double *x, *y; /* owned */
    size_t n;
    bool aside;
};

struct panel {
    char title[NAME];
    struct curve curve[MAX_CURVES];
    size_t n;
};

static struct panel panels[MAX_PANELS];
static size_t n_panels;

static struct panel *panel_of(const char *title)
{
    size_t k = 0;
    while (k < n_panels && strcmp(panels[k].title, title) != 0)
        k++;
    if (k == MAX_PANELS)
        return NULL;
    n_panels += k == n_panels;
    snprintf(panels[k].title, NAME, "%s", title);
    return &panels[k];
}

static void add(struct panel *p, const char *name, bool aside, double x, double y)
{
    size_t k = 0;
    while (p && k < p->n && strcmp(p->curve[k].name, name) != 0)
        k++;
    if (!p || k == MAX_CURVES)
        return;
    struct curve *c = &p->curve[k];
    if (k == p->n) {
        *c = (struct curve){.x = malloc(ROOM * sizeof *c->x), .y = malloc(ROOM * sizeof *c->y), .aside = aside};
        snprintf(c->name, NAME, "%s", name);
        p->n++;
    }
    if (!c->x || !c->y || c->n == ROOM)
        return;
    c->x[c->n] = x;
    c->y[c->n++] = y;
}

static int write_chart(const char *path, struct gs_chart *chart, const struct gs_panel *like)
{
    static struct gs_panel shown[MAX_PANELS];
    static struct gs_curve curves[MAX_PANELS][MAX_CURVES];
    for (size_t i = 0; i < n_panels; i++) {
        for (size_t k = 0; k < panels[i].n; k++) {
            const struct curve *c = &panels[i].curve[k];
            curves[i][k] = (struct gs_curve){.name = c->name, .x = c->x, .y = c->y, .n = c->n, .aside = c->aside};
        }
        shown[i] = like[i];
        shown[i].title = panels[i].title;
        shown[i].curves = curves[i];
        shown[i].n_curves = panels[i].n;
    }
    chart->panels = shown;
    chart->n = n_panels;
    FILE *f = gs_plot_open(path);
    if (!f)
        return 1;
    gs_chart_write(chart, f);
    return gs_plot_close(f, path) != 0;
}

/* ---- jobs.csv ---- */

static int column_of(const char *head, const char *name)
{
    int column = 0;
    for (size_t n; *head && !strchr("\r\n", *head); head += n + (head[n] == ','), column++) {
        n = strcspn(head, ",\r\n");
        if (strlen(name) == n && strncmp(head, name, n) == 0)
            return column;
    }
    return -1;
}

static const char *field(const char *line, int column, char text[NAME])
{
    for (; column > 0 && *line; column--)
        line += strcspn(line, ",") + 1;
    snprintf(text, NAME, "%.*s", (int)strcspn(line, ",\r\n"), line);
    return text;
}

static int draw_sizes(const char *output, const char *input)
{
    char line[512], mode[NAME], text[NAME], refused[NAME + 16];
    FILE *f = fopen(input, "r");
    bool ok = f && fgets(line, sizeof line, f) && strcmp(line, "mode,cards,ms\n") == 0;
    while (ok && fgets(line, sizeof line, f)) {
        const double cards = atof(field(line, 1, text)), ms = atof(field(line, 2, text));
        const bool is_refused = strcmp(text, "refused") == 0;
        snprintf(refused, sizeof refused, "%s: refused", field(line, 0, mode));
        ok = cards > 0 && (is_refused || ms > 0);
        add(panel_of(""), is_refused ? refused : mode, is_refused, cards, ms);
    }
    if (f)
        fclose(f);
    if (!ok) {
        gs_error("%s is no table of modes, sizes and times", input);
        return 1;
    }
    const struct gs_panel like = {.x = {.label = "bytes of the program, in memories of one card", .from_zero = true},
                                  .y = {.label = "a step (ms)", .from_zero = true}};
    struct gs_chart chart = {.title = "A program larger than a GPU: --memory pooled on two H200",
                             .note = "a stencil of two buffers; without gpusparc one card refuses what doesn't fit",
                             .columns = 1,
                             .width = 460,
                             .height = 220};
    return write_chart(output, &chart, &like);
}

static bool is_of_jobs(const char *path)
{
    char line[512] = "";
    FILE *f = fopen(path, "r");
    const bool is = f && fgets(line, sizeof line, f) && column_of(line, "release_ms") >= 0;
    if (f)
        fclose(f);
    return is;
}

static int draw_jobs(const char *output, const char *input)
{
    static const char *const names[] = {"mode", "task", "release_ms", "response_ms", "deadline_ms", "counts"};
    char line[512], mode[NAME], task[NAME], text[NAME];
    int column[6];
    FILE *f = fopen(input, "r");
    bool ok = f && fgets(line, sizeof line, f);
    for (int i = 0; i < 6 && ok; i++)
        ok = (column[i] = column_of(line, names[i])) >= 0;
    while (ok && fgets(line, sizeof line, f)) {
        const double release = atof(field(line, column[2], text)), response = atof(field(line, column[3], text));
        const double deadline = atof(field(line, column[4], text));
        const bool counts = atoi(field(line, column[5], text)) != 0;
        field(line, column[0], mode);
        field(line, column[1], task);
        if (deadline > 0)
            add(panel_of(mode), counts ? task : "while others start up", !counts, release / 1e3, response / deadline);
    }
    if (f)
        fclose(f);
    if (!ok) {
        gs_error("%s is no jobs.csv of rt.sh", input);
        return 1;
    }
    struct gs_panel like[MAX_PANELS];
    for (size_t i = 0; i < n_panels; i++)
        like[i] = (struct gs_panel){.x.label = "release (s since all tasks were warm; grey jobs don't count)",
                                    .y = {.label = "response / deadline", .from_zero = true},
                                    .level_name = "deadline",
                                    .level = 1};
    struct gs_chart chart = {.title = "Response times of all jobs, as a part of the deadline",
                             .note = "modes: one GPU each (single), as is best for each alone (local), as GEMA decides",
                             .columns = 1,
                             .width = 760,
                             .height = 170};
    return write_chart(output, &chart, like);
}

/* ---- probes ---- */

static double number(const json_t *j, const char *name)
{
    return json_number_value(json_object_get(j, name));
}

static const char *string(const json_t *j, const char *name)
{
    const char *text = json_string_value(json_object_get(j, name));
    return text ? text : "";
}

static void add_order(const json_t *j)
{
    char name[NAME];
    json_t *p;
    size_t i;
    snprintf(name, sizeof name, "%ss by %s%s%s", string(j, "of"), string(j, "by"),
             json_is_true(json_object_get(j, "sync")) ? ", barrier first" : "",
             json_is_true(json_object_get(j, "init")) ? ", anew" : "");
    json_array_foreach(json_object_get(j, "points"), i, p)
    {
        if (!(number(p, "vectors") > 0))
            continue;
        add(panel_of("how often the most frequent one came"), name, false, number(p, "n"), 100 * number(p, "mode"));
        add(panel_of("how many different ones"), name, false, number(p, "n"), number(p, "cardinality"));
    }
}

static void add_sum(const json_t *j)
{
    const double warps = number(j, "groups") * number(j, "local") / 32;
    json_t *m;
    size_t i;
    json_array_foreach(json_object_get(j, "methods"), i, m)
    {
        const char *name = string(m, "method");
        add(panel_of("how often the most frequent one came"), name, false, warps, 100 * number(m, "mode"));
        add(panel_of("how many different ones"), name, false, warps, number(m, "distinct"));
    }
}

/* The frame for one of the latency probe's tests: dependent and independent instructions of one kind go together. */
static const char *kind_of(const char *test, char text[NAME])
{
    snprintf(text, NAME, "%s", strncmp(test, "atomic", 6) == 0 ? "global" : test);
    text[strcspn(text, "_")] = 0;
    return text;
}

static void add_latency(const json_t *j)
{
    static const char *const conflicts[] = {"shared_load_conflicts", "shared_store_conflicts"};
    char kind[NAME];
    const char *test, *warps;
    json_t *by_warps, *c;
    size_t i;
    json_object_foreach(json_object_get(j, "by_warps"), test, by_warps)
    {
        json_object_foreach(by_warps, warps, c)
        {
            if (!json_is_null(c))
                add(panel_of(kind_of(test, kind)), test, false, atof(warps), number(c, "average"));
        }
    }
    for (int k = 0; k < 2; k++)
        json_array_foreach(json_object_get(j, conflicts[k]), i, c)
        {
            if (!json_is_null(c))
                add(panel_of("bank conflicts"), k ? "local store" : "local load", false, exp2((double)i),
                    number(c, "average"));
        }
}

static int by_x(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The results of sums come in the order of their files. */
static void sort(struct curve *c)
{
    double(*pair)[2] = malloc((c->n + 1) * sizeof *pair);
    for (size_t i = 0; pair && i < c->n; i++)
        memcpy(pair[i], (const double[]){c->x[i], c->y[i]}, sizeof pair[i]);
    if (pair)
        qsort(pair, c->n, sizeof *pair, by_x);
    for (size_t i = 0; pair && i < c->n; i++) {
        c->x[i] = pair[i][0];
        c->y[i] = pair[i][1];
    }
    free(pair);
}

static struct gs_panel axes_of(const char *title, bool latency, bool sums)
{
    const bool share = strncmp(title, "how often", 9) == 0, banks = strcmp(title, "bank conflicts") == 0;
    struct gs_panel p = {.x = {.label = "groups, or warps of a group"}, .y = {.label = "different ones", .log = true}};
    if (sums)
        p.x = (struct gs_axis){.label = "warps", .log = true, .powers_of_two = true};
    if (share)
        p.y = (struct gs_axis){.label = "launches (%)", .min = -4, .max = 104};
    if (latency)
        p.x = (struct gs_axis){.label = "warps of a group"}, p.y.label = "cycles per instruction";
    if (banks)
        p.x = (struct gs_axis){.label = "work-items on one bank", .log = true, .powers_of_two = true},
        p.y = (struct gs_axis){.label = "cycles per instruction", .from_zero = true};
    return p;
}

static int draw_probes(const char *output, char **inputs)
{
    char title[128] = "";
    bool sums = false, latency = false;
    for (; *inputs; inputs++) {
        json_error_t error;
        json_t *j = json_load_file(*inputs, 0, &error);
        const char *probe = string(j, "probe");
        if (!j) {
            gs_error("%s: %s", *inputs, error.text);
            return 1;
        }
        sums = strcmp(probe, "sum") == 0;
        latency = strcmp(probe, "latency") == 0;
        (sums ? add_sum : latency ? add_latency : add_order)(j);
        if (!*title)
            snprintf(title, sizeof title, "%s: %s", string(j, "device"),
                     sums      ? "results of a sum"
                     : latency ? "cycles per instruction"
                               : "orders of execution");
        json_decref(j);
    }
    struct gs_panel like[MAX_PANELS];
    for (size_t i = 0; i < n_panels; i++) {
        like[i] = axes_of(panels[i].title, latency, sums);
        for (size_t k = 0; k < panels[i].n; k++)
            sort(&panels[i].curve[k]);
    }
    struct gs_chart chart = {.title = title, .columns = 2, .width = 340, .height = latency ? 200 : 300};
    return write_chart(output, &chart, like);
}

int main(int argc, char **argv)
{
    gs_log_init("bench_draw");
    if (argc < 3) {
        gs_error("wants the picture to draw, then a jobs.csv, a sizes.csv or results of a probe");
        return 2;
    }
    const size_t n = strlen(argv[2]);
    const bool csv = n > 4 && strcmp(argv[2] + n - 4, ".csv") == 0;
    if (!gs_plot_is_possible("the picture", argv[1]))
        return 2;
    if (csv)
        return (is_of_jobs(argv[2]) ? draw_jobs : draw_sizes)(argv[1], argv[2]);
    return draw_probes(argv[1], argv + 2);
}
