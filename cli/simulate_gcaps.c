/* SPDX-License-Identifier: MIT */
#include "cli/simulate_gcaps.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "common/chart.h"
#include "common/config.h"
#include "common/log.h"
#include "common/options.h"
#include "common/plot.h"
#include "common/stream.h"
#include "gema/pinned.h"

struct options {
    bool sweeps[GS_PINNED_SWEEPS];
    uint64_t sets, seed;
    struct gs_pinned_costs costs;
    const char *csv, *plot;
    bool json;
};

bool gs_simulate_is_gcaps(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--generator=gcaps") == 0 ||
            (strcmp(argv[i], "--generator") == 0 && i + 1 < argc && strcmp(argv[i + 1], "gcaps") == 0))
            return true;
    return false;
}

static bool read_count(const char *text, uint64_t least, uint64_t most, uint64_t *v)
{
    char *end;
    errno = 0;
    unsigned long long x = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || x < least || x > most)
        return false;
    *v = x;
    return true;
}

/* "8" or "8a" to "8f". */
static bool read_figure(const char *text, bool *sweeps)
{
    if (text[0] != '8' || (text[1] && (text[2] || text[1] < 'a' || text[1] >= 'a' + GS_PINNED_SWEEPS)))
        return false;
    for (int s = 0; s < GS_PINNED_SWEEPS; s++)
        sweeps[s] = !text[1] || text[1] == 'a' + s;
    return true;
}

static bool take_option(struct options *o, int c, const char *v)
{
    uint64_t n;
    switch (c) {
    case 'g':
        return strcmp(v, "gcaps") == 0;
    case 'f':
        return read_figure(v, o->sweeps);
    case 'n':
        return read_count(v, 1, 1000000000, &o->sets);
    case 's':
        return read_count(v, 0, UINT64_MAX, &o->seed);
    case 'e':
        return gs_parse_duration(v, strlen(v), &o->costs.epsilon_ns) == 0;
    case 'k':
        return gs_parse_duration(v, strlen(v), &o->costs.chunk_ns) == 0 && o->costs.chunk_ns > 0;
    case 'h':
        return gs_parse_duration(v, strlen(v), &o->costs.handover_ns) == 0;
    case 'd':
        if (!read_count(v, 1, 64, &n))
            return false;
        o->costs.depth = (int)n;
        return true;
    case 'j':
        return o->json = true;
    case 'c':
        o->csv = v;
        return true;
    default:
        o->plot = v;
        return true;
    }
}

static const struct option long_options[] = {{"generator", required_argument, NULL, 'g'},
                                             {"figure", required_argument, NULL, 'f'},
                                             {"sets", required_argument, NULL, 'n'},
                                             {"seed", required_argument, NULL, 's'},
                                             {"epsilon", required_argument, NULL, 'e'},
                                             {"chunk", required_argument, NULL, 'k'},
                                             {"handover", required_argument, NULL, 'h'},
                                             {"depth", required_argument, NULL, 'd'},
                                             {"json", no_argument, NULL, 'j'},
                                             {"csv", required_argument, NULL, 'c'},
                                             {"plot", required_argument, NULL, 'o'},
                                             {NULL, 0, NULL, 0}};

static int read_options(int argc, char **argv, struct options *o)
{
    int c, which;
    *o = (struct options){.sets = 200, .seed = 1};
    read_figure("8", o->sweeps);
    gs_pinned_costs_default(&o->costs);
    optind = 1;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", long_options, &which)) != -1) {
        if (c == '?') {
            gs_option_error(argv, long_options, "gpusparc simulate");
            return GS_EXIT_USAGE;
        }
        if (!take_option(o, c, optarg)) {
            gs_error("simulate: --%s can't be %s with --generator gcaps; see gpusparc simulate --help",
                     long_options[which].name, optarg);
            return GS_EXIT_USAGE;
        }
    }
    if (optind != argc) {
        gs_error("simulate takes no argument %s; see gpusparc simulate --help", argv[optind]);
        return GS_EXIT_USAGE;
    }
    return o->plot && !gs_plot_name_is_right("--plot", o->plot) ? GS_EXIT_USAGE : 0;
}

static double percent(const struct gs_pinned_curve *c, int point, int analysis)
{
    return c->sets[point] ? 100 * (double)c->schedulable[point][analysis] / (double)c->sets[point] : 0;
}

static void print_tables(const struct options *o, const struct gs_pinned_curve *curves)
{
    for (int s = 0; s < GS_PINNED_SWEEPS; s++) {
        if (!o->sweeps[s])
            continue;
        printf("(%c) %s; schedulable, %% of the sets\n%7s %6s", 'a' + s, gs_pinned_abscissas[s], "", "sets");
        for (int a = 0; a < GS_PINNED_ANALYSES; a++)
            printf(" %10s", gs_pinned_name((enum gs_pinned_analysis)a));
        putchar('\n');
        for (int i = 0; i < curves[s].points; i++) {
            printf("%7.1f %6" PRIu64, curves[s].x[i], curves[s].sets[i]);
            for (int a = 0; a < GS_PINNED_ANALYSES; a++)
                printf(" %10.1f", percent(&curves[s], i, a));
            putchar('\n');
        }
    }
}

static void print_json(const struct options *o, const struct gs_pinned_curve *curves, bool interrupted)
{
    json_t *figures = json_array();
    for (int s = 0; s < GS_PINNED_SWEEPS; s++) {
        json_t *points = json_array();
        const char name[] = {'8', (char)('a' + s), 0};
        for (int i = 0; i < curves[s].points; i++) {
            json_t *counts = json_object();
            for (int a = 0; a < GS_PINNED_ANALYSES; a++)
                json_object_set_new(counts, gs_pinned_name((enum gs_pinned_analysis)a),
                                    json_integer((json_int_t)curves[s].schedulable[i][a]));
            json_array_append_new(points, json_pack("{s:f, s:I, s:o}", "x", curves[s].x[i], "sets",
                                                    (json_int_t)curves[s].sets[i], "schedulable", counts));
        }
        if (o->sweeps[s])
            json_array_append_new(figures, json_pack("{s:s, s:s, s:o}", "figure", name, "abscissa",
                                                     gs_pinned_abscissas[s], "points", points));
        else
            json_decref(points);
    }
    json_t *all =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:i, s:b, s:o}", "generator", "gcaps", "seed", (json_int_t)o->seed,
                  "sets", (json_int_t)o->sets, "epsilon_ns", (json_int_t)o->costs.epsilon_ns, "chunk_ns",
                  (json_int_t)o->costs.chunk_ns, "handover_ns", (json_int_t)o->costs.handover_ns, "depth",
                  o->costs.depth, "interrupted", interrupted, "figures", figures);
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(all);
}

static int write_csv(const struct options *o, const struct gs_pinned_curve *curves)
{
    FILE *out = fopen(o->csv, "w");
    if (!out)
        return -errno;
    fputs("figure,x,sets", out);
    for (int a = 0; a < GS_PINNED_ANALYSES; a++)
        fprintf(out, ",%s", gs_pinned_name((enum gs_pinned_analysis)a));
    fputc('\n', out);
    for (int s = 0; s < GS_PINNED_SWEEPS; s++)
        for (int i = 0; o->sweeps[s] && i < curves[s].points; i++) {
            fprintf(out, "8%c,%g,%" PRIu64, 'a' + s, curves[s].x[i], curves[s].sets[i]);
            for (int a = 0; a < GS_PINNED_ANALYSES; a++)
                fprintf(out, ",%" PRIu64, curves[s].schedulable[i][a]);
            fputc('\n', out);
        }
    const bool bad = ferror(out);
    return fclose(out) || bad ? -EIO : 0;
}

static int draw(const struct options *o, const struct gs_pinned_curve *curves)
{
    static double y[GS_PINNED_SWEEPS][GS_PINNED_ANALYSES][GS_PINNED_MAX_POINTS];
    static struct gs_curve lines[GS_PINNED_SWEEPS][GS_PINNED_ANALYSES];
    struct gs_panel panels[GS_PINNED_SWEEPS];
    char note[200];
    size_t n = 0;
    for (int s = 0; s < GS_PINNED_SWEEPS; s++) {
        if (!o->sweeps[s])
            continue;
        for (int a = 0; a < GS_PINNED_ANALYSES; a++) {
            for (int i = 0; i < curves[s].points; i++)
                y[s][a][i] = percent(&curves[s], i, a);
            lines[s][a] = (struct gs_curve){.name = gs_pinned_name((enum gs_pinned_analysis)a),
                                            .x = curves[s].x,
                                            .y = y[s][a],
                                            .n = (size_t)curves[s].points,
                                            .aside = a == GS_PINNED_NOT_REFUTED};
        }
        panels[n++] = (struct gs_panel){.x.label = gs_pinned_abscissas[s],
                                        .y = {.label = "schedulable, % of the sets", .from_zero = true},
                                        .curves = lines[s],
                                        .n_curves = GS_PINNED_ANALYSES};
    }
    snprintf(note, sizeof note, "%" PRIu64 " random sets a point, seed %" PRIu64 "; figure 8 of GCAPS (ECRTS 2024)",
             o->sets, o->seed);
    const struct gs_chart chart = {.title = "Pinned tasks with one GPU that each analysis accepts",
                                   .note = note,
                                   .panels = panels,
                                   .n = n,
                                   .columns = n > 1 ? 2 : 1,
                                   .width = 420,
                                   .height = 260};
    FILE *f = gs_plot_open(o->plot);
    if (!f)
        return -EIO;
    gs_chart_write(&chart, f);
    return gs_plot_close(f, o->plot);
}

int gs_simulate_gcaps(int argc, char **argv, const atomic_int *stop)
{
    static struct gs_pinned_curve curves[GS_PINNED_SWEEPS];
    struct options o;
    int status = read_options(argc, argv, &o);
    if (status)
        return status;
    int rc = o.csv ? gs_can_write(o.csv) : 0;
    if (rc)
        gs_error("cannot write %s: %s", o.csv, strerror(-rc));
    if (rc || (o.plot && !gs_plot_is_possible("--plot", o.plot)))
        return GS_EXIT_FAILED;
    for (int s = 0; s < GS_PINNED_SWEEPS; s++)
        if (o.sweeps[s])
            gs_pinned_run((enum gs_pinned_sweep)s, o.sets, o.seed, &o.costs, stop, &curves[s]);
    if (*stop)
        gs_warn("interrupted: some points have fewer sets than asked for");
    if (o.json)
        print_json(&o, curves, *stop);
    else
        print_tables(&o, curves);
    rc = o.csv ? write_csv(&o, curves) : 0;
    if (rc)
        gs_error("cannot write %s: %s", o.csv, strerror(-rc));
    if (o.plot && draw(&o, curves))
        rc = -EIO;
    return rc || *stop ? GS_EXIT_FAILED : GS_EXIT_OK;
}
