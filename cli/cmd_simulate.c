/* SPDX-License-Identifier: MIT */
/* gpusparc simulate: the schedulability experiments of Figures 7 and 8 of GPU-SPARC. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/simulate_gcaps.h"
#include "cli/simulate_plot.h"
#include "common/log.h"
#include "common/options.h"
#include "common/plot.h"
#include "common/stream.h"
#include "gema/experiment.h"

static const char usage[] =
    "Usage: gpusparc simulate [OPTION...]\n"
    "Generates random task sets as in section IV-D of the GPU-SPARC paper and counts how many of them each policy "
    "makes\n"
    "schedulable. The same seed gives the same figures.\n\n"
    "  --generator NAME      gpu-sparc (default), or gcaps: see below\n"
    "  --figure 7|8          over the total GPU utilization (7, default), or over the probability of dependent kernels "
    "(8)\n"
    "  --sets N              number of sets in all (100000)\n"
    "  --seed N              (1)\n"
    "  --analysis NAME       safe (default), segments or paper\n"
    "  --policies LIST       of single, local, gema, gema+, global (default: all)\n"
    "  --priorities deadline|audsley  by deadline (default); or, where these don't do, others by Audsley's\n"
    "  --modes two|all       one GPU or all of them, as in the paper (default), or any number\n"
    "  --points N            points of the curve (20, or 11 for figure 8)\n"
    "  --utilization U       figure 7: the largest (number of GPUs); figure 8: of the sets looked at (1.2)\n"
    "  --threads N           (all cores)\n"
    "  --json                the counts as JSON on stdout, instead of the table\n"
    "  --csv FILE            the counts as CSV\n"
    "  --plot FILE           a picture: FILE ends in .svg, .png or .pdf\n"
    "The machine and the sets:\n"
    "  --cpus N --links N --gpus N    (4, 1, 4)\n"
    "  --pieces own|any|gang          how multi-GPU segments are served (any, as in the paper's model)\n"
    "  --gpu-share LOW,HIGH           part of a task's time on the GPU (0.5,0.95)\n"
    "  --upload X,Y --download X,Y    factor on two GPUs, without and with dependent kernels (2.5,4.7 and 2.5,11.7)\n"
    "  --merge X                      CPU time of merging over that of the download (1)\n"
    "  --imbalance X                  a part of a kernel on n GPUs takes X/n of its time (1)\n"
    "  --dependent P                  figure 7: probability of dependent kernels (0)\n"
    "  --best X                       shortest time of a segment over its longest (1)\n"
    "With --generator gcaps the sets are those of figure 8 of GCAPS (ECRTS 2024), pinned tasks that share one GPU, and "
    "the\n"
    "table has what several analyses accept (docs/compare.md). --sets is for each point then (200); --seed, --json, "
    "--csv\n"
    "and --plot are as above:\n"
    "  --figure 8|8a|8b|8c|8d|8e|8f   one of its sweeps, or all (8)\n"
    "  --epsilon TIME                 what GCAPS takes to update its runlist (1ms)\n"
    "  --chunk TIME                   the longest chunk or command (500us)\n"
    "  --handover TIME                of a chunk's server (50us)\n"
    "  --depth N                      chunks granted at once (2)\n"
    "Ctrl-C ends it with the counts so far, and exit status 1.\n";

static atomic_int stop; /* lock-free, so a signal handler may set it */

static void on_interrupt(int signal)
{
    (void)signal;
    stop = 1;
}

struct options {
    struct gs_experiment e;
    const char *csv, *plot;
    bool json, points_given, utilization_given;
};

static int index_of(const char *const *names, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    return -1;
}

static bool read_count(const char *text, uint64_t max, uint64_t *v)
{
    char *end;
    errno = 0;
    unsigned long long x = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || x > max)
        return false;
    *v = x;
    return true;
}

static bool read_positive(const char *text, int max, int *v)
{
    uint64_t x;
    if (!read_count(text, (uint64_t)max, &x) || !x)
        return false;
    *v = (int)x;
    return true;
}

/* n numbers in [min, max], with commas between. */
static bool read_reals(const char *text, int n, double min, double max, double *v)
{
    for (int i = 0; i < n; i++) {
        char *end;
        v[i] = strtod(text, &end);
        if (end == text || !(v[i] >= min && v[i] <= max) || *end != (i < n - 1 ? ',' : 0))
            return false;
        text = end + 1;
    }
    return true;
}

static bool read_policies(const char *text, bool *policies)
{
    char copy[128], *state, *word;
    bool any = false;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    memset(policies, 0, GS_POLICIES * sizeof *policies);
    for (word = strtok_r(copy, ",", &state); word; word = strtok_r(NULL, ",", &state)) {
        int k = index_of(gs_policy_names, GS_POLICIES, word);
        if (k < 0)
            return false;
        policies[k] = true;
        any = true;
    }
    return any;
}

/* Takes one option's value; false: it is wrong. */
static bool take_option(struct options *o, int c, const char *v)
{
    static const char *const pieces[] = {"own", "any", "gang"};
    struct gs_experiment *e = &o->e;
    struct gs_generator *g = &e->generator;
    int k;
    switch (c) {
    case 'f':
        e->abscissa = strcmp(v, "8") == 0 ? GS_BY_DEPENDENCY : GS_BY_UTILIZATION;
        return strcmp(v, "7") == 0 || strcmp(v, "8") == 0;
    case 'g':
        return strcmp(v, "gpu-sparc") == 0;
    case 'n':
        return read_count(v, UINT64_MAX, &e->sets) && e->sets;
    case 's':
        return read_count(v, UINT64_MAX, &e->seed);
    case 'a':
        k = index_of(gs_analysis_names, GS_ANALYSES, v);
        e->analysis = (enum gs_analysis)k;
        return k >= 0;
    case 'p':
        return read_policies(v, e->policies);
    case 'r':
        e->any_priorities = strcmp(v, "audsley") == 0;
        return e->any_priorities || strcmp(v, "deadline") == 0;
    case 'm':
        e->two_modes = strcmp(v, "two") == 0;
        return e->two_modes || strcmp(v, "all") == 0;
    case 'x':
        o->points_given = true;
        return read_positive(v, GS_EXPERIMENT_MAX_POINTS, &e->points);
    case 'u':
        o->utilization_given = true;
        return read_reals(v, 1, 1e-3, 64, &e->max_utilization);
    case 't':
        return read_positive(v, 1024, &e->threads);
    case 'C':
        return read_positive(v, GS_CONFIG_MAX_SERVERS, &g->cpus);
    case 'L':
        return read_positive(v, GS_CONFIG_MAX_SERVERS, &g->links);
    case 'G':
        return read_positive(v, GS_CONFIG_MAX_SERVERS, &g->gpus);
    case 'P':
        k = index_of(pieces, 3, v);
        g->pieces = (enum gs_pieces)k;
        return k >= 0;
    case 'S':
        return read_reals(v, 2, 0, 1, g->gpu_share) && g->gpu_share[0] <= g->gpu_share[1];
    case 'U':
        return read_reals(v, 2, 0.01, 1000, g->upload);
    case 'D':
        return read_reals(v, 2, 0.01, 1000, g->download);
    case 'M':
        return read_reals(v, 1, 0, 1000, &g->merge);
    case 'I':
        return read_reals(v, 1, 0.01, 64, &g->imbalance);
    case 'd':
        return read_reals(v, 1, 0, 1, &g->dependent);
    case 'b':
        return read_reals(v, 1, 0, 1, &g->best);
    case 'j':
        return o->json = true;
    case 'c':
        o->csv = v;
        return true;
    case 'o':
        o->plot = v;
        return true;
    default:
        return false;
    }
}

static const struct option long_options[] = {{"generator", required_argument, NULL, 'g'},
                                             {"figure", required_argument, NULL, 'f'},
                                             {"sets", required_argument, NULL, 'n'},
                                             {"seed", required_argument, NULL, 's'},
                                             {"analysis", required_argument, NULL, 'a'},
                                             {"policies", required_argument, NULL, 'p'},
                                             {"modes", required_argument, NULL, 'm'},
                                             {"priorities", required_argument, NULL, 'r'},
                                             {"points", required_argument, NULL, 'x'},
                                             {"utilization", required_argument, NULL, 'u'},
                                             {"threads", required_argument, NULL, 't'},
                                             {"cpus", required_argument, NULL, 'C'},
                                             {"links", required_argument, NULL, 'L'},
                                             {"gpus", required_argument, NULL, 'G'},
                                             {"pieces", required_argument, NULL, 'P'},
                                             {"gpu-share", required_argument, NULL, 'S'},
                                             {"upload", required_argument, NULL, 'U'},
                                             {"download", required_argument, NULL, 'D'},
                                             {"merge", required_argument, NULL, 'M'},
                                             {"imbalance", required_argument, NULL, 'I'},
                                             {"dependent", required_argument, NULL, 'd'},
                                             {"best", required_argument, NULL, 'b'},
                                             {"epsilon", required_argument, NULL, 'E'},
                                             {"chunk", required_argument, NULL, 'E'},
                                             {"handover", required_argument, NULL, 'E'},
                                             {"depth", required_argument, NULL, 'E'},
                                             {"json", no_argument, NULL, 'j'},
                                             {"csv", required_argument, NULL, 'c'},
                                             {"plot", required_argument, NULL, 'o'},
                                             {NULL, 0, NULL, 0}};

/* 0, or the exit status. */
static int read_options(int argc, char **argv, struct options *o)
{
    int c, which;
    *o = (struct options){0};
    gs_experiment_default(&o->e);
    optind = 1;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", long_options, &which)) != -1) {
        if (c == '?') {
            gs_option_error(argv, long_options, "gpusparc simulate");
            return GS_EXIT_USAGE;
        }
        if (c == 'E') {
            gs_error("simulate: --%s %s wants --generator gcaps; see gpusparc simulate --help",
                     long_options[which].name, optarg);
            return GS_EXIT_USAGE;
        }
        if (!take_option(o, c, optarg)) {
            gs_error("simulate: --%s can't be %s; see gpusparc simulate --help", long_options[which].name, optarg);
            return GS_EXIT_USAGE;
        }
    }
    if (optind != argc) {
        gs_error("simulate takes no argument %s; see gpusparc simulate --help", argv[optind]);
        return GS_EXIT_USAGE;
    }
    if (o->plot && !gs_plot_name_is_right("--plot", o->plot))
        return GS_EXIT_USAGE;
    if (o->e.any_priorities && o->e.analysis == GS_ANALYSIS_PAPER) {
        gs_error("simulate: --priorities audsley goes by --analysis safe or segments");
        return GS_EXIT_USAGE;
    }
    if (o->e.abscissa == GS_BY_DEPENDENCY) {
        o->e.utilization = o->utilization_given ? o->e.max_utilization : 1.2;
        o->e.points = o->points_given ? o->e.points : 11;
    } else if (!o->utilization_given) {
        o->e.max_utilization = o->e.generator.gpus;
    }
    return 0;
}

struct progress {
    uint64_t sets;
    time_t last;
};

static void show_progress(void *context, uint64_t done)
{
    struct progress *p = context;
    time_t now = time(NULL);
    if (now == p->last || !isatty(STDERR_FILENO))
        return;
    p->last = now;
    fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " sets", done, p->sets);
}

static void print_table(const struct options *o, const struct gs_experiment_result *r)
{
    uint64_t sum[GS_POLICIES] = {0}, undecided = 0;
    printf("%-10s %8s", o->e.abscissa == GS_BY_UTILIZATION ? "GPU util." : "dependent", "sets");
    for (int k = 0; k < GS_POLICIES; k++)
        if (o->e.policies[k])
            printf(" %8s", gs_policy_names[k]);
    putchar('\n');
    for (int i = 0; i < o->e.points; i++) {
        const struct gs_point *p = &r->points[i];
        printf("%-10.3f %8" PRIu64, p->x, p->sets);
        for (int k = 0; k < GS_POLICIES; k++)
            if (o->e.policies[k])
                printf(" %8" PRIu64, p->schedulable[k]);
        putchar('\n');
        for (int k = 0; k < GS_POLICIES; k++)
            sum[k] += p->schedulable[k];
        undecided += p->undecided;
    }
    printf("%-10s %8" PRIu64, "all", r->sets);
    for (int k = 0; k < GS_POLICIES; k++)
        if (o->e.policies[k])
            printf(" %8" PRIu64, sum[k]);
    putchar('\n');
    if (undecided)
        printf("global gave up on %" PRIu64 " sets, which count as not schedulable\n", undecided);
}

static json_t *counts_json(const struct options *o, const uint64_t *counts)
{
    json_t *j = json_object();
    for (int k = 0; k < GS_POLICIES; k++)
        if (o->e.policies[k])
            json_object_set_new(j, gs_policy_names[k], json_integer((json_int_t)counts[k]));
    return j;
}

static void print_json(const struct options *o, const struct gs_experiment_result *r)
{
    const bool by_utilization = o->e.abscissa == GS_BY_UTILIZATION;
    json_t *points = json_array();
    for (int i = 0; i < o->e.points; i++) {
        const struct gs_point *p = &r->points[i];
        json_array_append_new(points,
                              json_pack("{s:f, s:I, s:o, s:I}", by_utilization ? "gpu_utilization" : "dependent", p->x,
                                        "sets", (json_int_t)p->sets, "schedulable", counts_json(o, p->schedulable),
                                        "undecided", (json_int_t)p->undecided));
    }
    json_t *all = json_pack("{s:i, s:s, s:s, s:s, s:I, s:I, s:b, s:o}", "figure", by_utilization ? 7 : 8, "analysis",
                            gs_analysis_names[o->e.analysis], "modes", o->e.two_modes ? "two" : "all", "priorities",
                            o->e.any_priorities ? "audsley" : "deadline", "seed", (json_int_t)o->e.seed, "sets",
                            (json_int_t)r->sets, "interrupted", r->sets < o->e.sets, "points", points);
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(all);
}

/* The largest loss against the optimum at any point with enough sets to tell. Of any priorities none is known. */
static void print_losses(const struct options *o, const struct gs_experiment_result *r)
{
    enum { ENOUGH = 100 };
    const bool optimum = o->e.policies[GS_POLICY_GLOBAL] && !o->e.any_priorities;
    for (int k = 0; k < GS_POLICY_GLOBAL && optimum; k++) {
        double worst = 0, at = 0;
        bool told = false;
        for (int i = 0; i < o->e.points; i++) {
            const struct gs_point *p = &r->points[i];
            uint64_t best = p->schedulable[GS_POLICY_GLOBAL];
            double loss = best ? 1 - (double)p->schedulable[k] / (double)best : 0;
            told = told || best >= ENOUGH;
            if (best >= ENOUGH && loss > worst) {
                worst = loss;
                at = p->x;
            }
        }
        if (!told) {
            printf("no point has %d schedulable sets: what policies lose against the optimum can't be told\n", ENOUGH);
            return;
        }
        if (o->e.policies[k])
            printf("%s loses at most %.2f %% against the optimum (at %.2f; points with %d schedulable sets or more)\n",
                   gs_policy_names[k], worst * 100, at, ENOUGH);
    }
}

static int write_csv(const struct options *o, const struct gs_experiment_result *r, FILE *out)
{
    fprintf(out, "%s,sets", o->e.abscissa == GS_BY_UTILIZATION ? "gpu_utilization" : "dependent");
    for (int k = 0; k < GS_POLICIES; k++)
        if (o->e.policies[k])
            fprintf(out, ",%s", gs_policy_names[k]);
    fputs(",undecided\n", out);
    for (int i = 0; i < o->e.points; i++) {
        const struct gs_point *p = &r->points[i];
        fprintf(out, "%g,%" PRIu64, p->x, p->sets);
        for (int k = 0; k < GS_POLICIES; k++)
            if (o->e.policies[k])
                fprintf(out, ",%" PRIu64, p->schedulable[k]);
        fprintf(out, ",%" PRIu64 "\n", p->undecided);
    }
    return ferror(out) ? -EIO : 0;
}

static int write_files(const struct options *o, const struct gs_experiment_result *r)
{
    int rc = 0;
    if (o->csv) {
        FILE *out = fopen(o->csv, "w");
        rc = out ? write_csv(o, r, out) : -errno;
        if (out && fclose(out) && !rc)
            rc = -errno;
        if (rc)
            gs_error("cannot write %s: %s", o->csv, strerror(-rc));
    }
    if (o->plot && gs_simulate_draw(o->plot, &o->e, r))
        rc = -EIO;
    return rc;
}

static int run(int argc, char **argv)
{
    struct options o;
    struct gs_experiment_result r;
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (gs_simulate_is_gcaps(argc, argv))
        return gs_simulate_gcaps(argc, argv, &stop);
    int status = read_options(argc, argv, &o);
    if (status)
        return status;
    const int err = o.csv ? gs_can_write(o.csv) : 0;
    if (err)
        gs_error("cannot write %s: %s", o.csv, strerror(-err));
    if (err || (o.plot && !gs_plot_is_possible("--plot", o.plot)))
        return GS_EXIT_FAILED;
    struct progress progress = {.sets = o.e.sets};
    o.e.stop = &stop;
    o.e.progress = show_progress;
    o.e.context = &progress;
    int rc = gs_experiment_run(&o.e, &r);
    if (isatty(STDERR_FILENO))
        fputs("\r                                        \r", stderr);
    if (rc) {
        gs_error("the experiment failed: %s", strerror(-rc));
        return GS_EXIT_FAILED;
    }
    if (stop)
        gs_warn("interrupted after %" PRIu64 " of %" PRIu64 " sets", r.sets, o.e.sets);
    if (o.json) {
        print_json(&o, &r);
    } else {
        print_table(&o, &r);
        print_losses(&o, &r);
    }
    rc = write_files(&o, &r);
    return rc || stop ? GS_EXIT_FAILED : GS_EXIT_OK;
}

const struct gs_command gs_cmd_simulate = {
    .name = "simulate",
    .summary = "the schedulability experiments of the paper: table, CSV and plot",
    .usage = usage,
    .run = run,
};
