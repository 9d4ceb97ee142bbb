/* SPDX-License-Identifier: MIT */
/* gpusparc bench: the samples on one device against several. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_run.h"
#include "cli/command.h"
#include "cli/paths.h"
#include "common/log.h"
#include "common/page.h"
#include "common/options.h"
#include "shim/devices/group.h"

static const char usage[] =
    "Usage: gpusparc bench [OPTION...] [SAMPLE...]\n"
    "       gpusparc bench -- APP [ARG...]    the same as gpusparc try APP\n"
    "Runs the samples (default: all) plain, under gpusparc on one device, and on several devices, in turn; compares\n"
    "their results byte for byte, and shows times and speed-ups.\n\n"
    "  --gpus N[,N...]    numbers of devices to spread over (default 2)\n"
    "  --devices SPEC     as for gpusparc run (default: the GPUs; without any cpu:N, N being the largest of --gpus)\n"
    "  --mode auto|multi  of the runs on several devices, as for gpusparc run (default auto)\n"
    "  --device WHICH     the device the samples ask for: cpu, gpu or a number (default: the platform's own)\n"
    "  --base plain|single  what speed-ups are measured against (default: single where --devices is cpu:N, as a plain\n"
    "                     run has the whole CPU; else plain)\n"
    "  --runs N           of each sample in each mode (default 6; with --until-sure or --precision 8, to begin with)\n"
    "  --iterations N     within a run, of which the median counts (default 5)\n"
    "  --side-by-side     start a run of each mode together and let them take turns of 40 ms or more, the others\n"
    "                     stopped: all see the same machine, and tiny programs' speed-ups come within 1 %\n"
    "  --until-sure       go on with the samples of which it isn't sure yet whether they are slower, to --runs-max\n"
    "  --precision P      go on with those whose interval is as wide as P or wider (0.02), to --runs-max\n"
    "  --limit RATIO      slower means: a speed-up below it (default 0.97)\n"
    "  --runs-max N       (default 5 times --runs)\n"
    "  --stop-after S     begin no run later than that, in seconds from the start\n"
    "  --scale S[,S...]   sizes of the data, in multiples of the default (default 1); auto: as large as it takes for\n"
    "                     the plain run's iteration to last --min-ms\n"
    "  --min-ms MS        for --scale auto (default 50)\n"
    "  --like DIR         for --scale auto: take the sizes that an earlier bench in DIR found\n"
    "  --no-single        leave out the runs under gpusparc on one device\n"
    "  --small            the small sizes of the tests instead of the default ones, which are for GPUs: on a CPU all\n"
    "                     samples take some minutes with it, and far longer without\n"
    "  --timeout SECONDS  for one run (default 300)\n"
    "  --no-check         don't compute the results again on the CPU (they are still compared)\n"
    "  --output DIR       where everything measured is kept (default gpusparc-bench)\n"
    "  --resume           go on with what is in DIR\n"
    "  --report           measure nothing, show what is in DIR as it was measured\n"
    "  --samples DIR      where the samples and their MANIFEST are\n"
    "  --html FILE        the results as a report, too: tables that sort, and pictures to look into\n"
    "  --json             the results as JSON on stdout instead of the table\n\n"
    "The interval holds the speed-up with 95 %, by the signed ranks of the pairs of runs; the verdict is 'slower' or\n"
    "'not slower' where all of it lies on that side of --limit. Fewer than six runs have no interval, and are "
    "'unsure'.\n"
    "DIR holds runs.csv, checks.json with the shim's statistics, summary.csv, environment.json, bars.svg (the phases "
    "of\n"
    "each sample) and speedup.svg (speed-ups; over the base's time where there are several sizes).\n"
    "Exit status: 0; 1 if a sample failed, a result differs, no device fits --devices, or it was interrupted; 2 for\n"
    "wrong usage.\n";

static int wrong(const char *option, const char *value, const char *wanted)
{
    gs_error("%s wants %s, not '%s'; see gpusparc bench --help", option, wanted, value);
    return -EINVAL;
}

static int parse_long(const char *option, const char *text, long *value)
{
    char *end;
    *value = strtol(text, &end, 10);
    return end == text || *end || *value < 1 || *value > 1000000 ? wrong(option, text, "a number from 1") : 0;
}

static int parse_ratio(const char *option, const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end == text || *end || !(*value > 0) || !(*value < 100) ? wrong(option, text, "a positive number") : 0;
}

static int parse_scales(struct gs_bench *b, const char *text)
{
    char *end = (char *)text;
    b->scale_count = 0;
    if (strcmp(text, "auto") == 0)
        return 0;
    for (const char *at = text; b->scale_count < GS_BENCH_MAX_SCALES; at = end + 1) {
        const double scale = strtod(at, &end);
        if (end == at || !(scale > 0) || !(scale <= 1e6))
            break;
        b->scales[b->scale_count++] = scale;
        if (*end == '\0')
            return 0;
        if (*end != ',')
            break;
    }
    return wrong("--scale", text, "auto, or positive numbers with commas between them");
}

static int parse_gpus(struct gs_bench *b, const char *text)
{
    char *end = (char *)text;
    b->mode_count = 2;
    for (const char *at = text; b->mode_count < GS_BENCH_MAX_MODES; at = end + 1) {
        const long n = strtol(at, &end, 10);
        if (end == at || n < 1 || n > 64)
            break;
        snprintf(b->modes[b->mode_count++], GS_BENCH_NAME, "multi%ld", n);
        if (*end == '\0')
            return 0;
        if (*end != ',')
            break;
    }
    return wrong("--gpus", text, "numbers of devices with commas between them");
}

static int parse_one_of(const char *option, const char *text, const char *a, const char *c, const char **value)
{
    if (strcmp(text, a) != 0 && strcmp(text, c) != 0) {
        gs_error("%s wants %s or %s, not '%s'; see gpusparc bench --help", option, a, c, text);
        return -EINVAL;
    }
    *value = text;
    return 0;
}

enum {
    OPT_GPUS = 1,
    OPT_DEVICES,
    OPT_MODE,
    OPT_DEVICE,
    OPT_BASE,
    OPT_RUNS,
    OPT_ITERATIONS,
    OPT_SCALE,
    OPT_MIN_MS,
    OPT_SMALL,
    OPT_TIMEOUT,
    OPT_NO_CHECK,
    OPT_OUTPUT,
    OPT_RESUME,
    OPT_REPORT,
    OPT_SAMPLES,
    OPT_JSON,
    OPT_HTML,
    OPT_LIKE,
    OPT_NO_SINGLE,
    OPT_UNTIL_SURE,
    OPT_PRECISION,
    OPT_LIMIT,
    OPT_RUNS_MAX,
    OPT_STOP_AFTER,
    OPT_SIDE_BY_SIDE
};

static const struct option options[] = {
    {"gpus", required_argument, NULL, OPT_GPUS},
    {"devices", required_argument, NULL, OPT_DEVICES},
    {"mode", required_argument, NULL, OPT_MODE},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"base", required_argument, NULL, OPT_BASE},
    {"runs", required_argument, NULL, OPT_RUNS},
    {"scale", required_argument, NULL, OPT_SCALE},
    {"iterations", required_argument, NULL, OPT_ITERATIONS},
    {"min-ms", required_argument, NULL, OPT_MIN_MS},
    {"small", no_argument, NULL, OPT_SMALL},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"no-check", no_argument, NULL, OPT_NO_CHECK},
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"report", no_argument, NULL, OPT_REPORT},
    {"samples", required_argument, NULL, OPT_SAMPLES},
    {"json", no_argument, NULL, OPT_JSON},
    {"html", required_argument, NULL, OPT_HTML},
    {"like", required_argument, NULL, OPT_LIKE},
    {"no-single", no_argument, NULL, OPT_NO_SINGLE},
    {"until-sure", no_argument, NULL, OPT_UNTIL_SURE},
    {"precision", required_argument, NULL, OPT_PRECISION},
    {"limit", required_argument, NULL, OPT_LIMIT},
    {"runs-max", required_argument, NULL, OPT_RUNS_MAX},
    {"stop-after", required_argument, NULL, OPT_STOP_AFTER},
    {"side-by-side", no_argument, NULL, OPT_SIDE_BY_SIDE},
    {NULL, 0, NULL, 0},
};

static int parse_option(struct gs_bench *b, int option)
{
    long number;
    int err = 0;
    switch (option) {
    case OPT_GPUS:
        return parse_gpus(b, optarg);
    case OPT_MODE:
        return parse_one_of("--mode", optarg, "auto", "multi", &b->mode);
    case OPT_BASE:
        return parse_one_of("--base", optarg, "plain", "single", &b->base);
    case OPT_RUNS:
        return parse_long("--runs", optarg, &b->runs);
    case OPT_ITERATIONS:
        return parse_long("--iterations", optarg, &b->iterations);
    case OPT_RUNS_MAX:
        return parse_long("--runs-max", optarg, &b->runs_max);
    case OPT_STOP_AFTER:
        return parse_long("--stop-after", optarg, &b->stop_after_s);
    case OPT_LIMIT:
        return parse_ratio("--limit", optarg, &b->limit);
    case OPT_PRECISION:
        return parse_ratio("--precision", optarg, &b->precision);
    case OPT_TIMEOUT:
        return parse_long("--timeout", optarg, &b->timeout_s);
    case OPT_SCALE:
        return parse_scales(b, optarg);
    case OPT_MIN_MS:
        err = parse_long("--min-ms", optarg, &number);
        b->min_ms = (double)number;
        return err;
    case OPT_DEVICES:
        b->devices = optarg;
        return 0;
    case OPT_DEVICE:
        b->device = optarg;
        return 0;
    case OPT_OUTPUT:
        b->dir = optarg;
        return 0;
    case OPT_SAMPLES:
        b->samples_dir = optarg;
        return 0;
    case OPT_SMALL:
        b->small = true;
        return 0;
    case OPT_NO_CHECK:
        b->no_check = true;
        return 0;
    case OPT_RESUME:
        b->resume = true;
        return 0;
    case OPT_REPORT:
        b->report = true;
        return 0;
    case OPT_LIKE:
        b->like_dir = optarg;
        return 0;
    case OPT_NO_SINGLE:
        b->no_single = true;
        return 0;
    case OPT_UNTIL_SURE:
        b->until_sure = true;
        return 0;
    case OPT_SIDE_BY_SIDE:
        b->side_by_side = true;
        return 0;
    case OPT_HTML:
        b->html = optarg;
        return gs_page_name_is_right("--html", optarg) ? 0 : -EINVAL;
    case OPT_JSON:
        b->json = true;
        return 0;
    default:
        return -EINVAL;
    }
}

/* Where there is no GPU, and nothing is said of devices: as many parts of the CPU as are compared with one of them. A
 * plain run has the whole CPU, against which nothing can be won. */
static void halve_cpu(struct gs_bench *b)
{
    static char spec[16];
    const char *given = getenv("GPUSPARC_DEVICES");
    const struct gs_settings settings = {.mode = GS_MODE_MULTI};
    struct gs_group group;
    char why[256];
    int most = 2;
    if (b->devices || b->report || (given && *given) || gs_group_make(&group, &settings, why, sizeof why) < 0 ||
        !group.sub_devices)
        return;
    for (int m = 0; m < b->mode_count; m++)
        if (strncmp(b->modes[m], "multi", 5) == 0 && atoi(b->modes[m] + 5) > most)
            most = atoi(b->modes[m] + 5);
    snprintf(spec, sizeof spec, "cpu:%d", most < GS_MAX_DEVICES ? most : GS_MAX_DEVICES);
    b->devices = spec;
    gs_info("there is no GPU: parts of the CPU are compared with one of them, as by --devices %s", spec);
}

static int parse(struct gs_bench *b, int argc, char **argv)
{
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == '?' || option == ':') {
            gs_option_error(argv, options, "gpusparc bench");
            return -EINVAL;
        }
        if (parse_option(b, option))
            return -EINVAL;
    }
    halve_cpu(b);
    if (!b->base && !b->report)
        b->base = gs_bench_default_base(b->devices);
    if (b->no_single && b->base && strcmp(b->base, "single") == 0) {
        gs_error("--no-single leaves no base to compare with; give --base plain, see gpusparc bench --help");
        return -EINVAL;
    }
    for (int m = 1; m + 1 < b->mode_count && b->no_single; m++)
        strcpy(b->modes[m], b->modes[m + 1]);
    b->mode_count -= b->no_single;
    if (b->runs_max && !b->until_sure && !(b->precision > 0)) {
        gs_error("--runs-max goes with --until-sure or --precision; see gpusparc bench --help");
        return -EINVAL;
    }
    const bool on = b->until_sure || b->precision > 0;
    b->runs = b->runs ? b->runs : on ? 8 : 6;
    b->runs_max = b->runs_max ? b->runs_max : 5 * b->runs;
    if (on && (b->runs_max < b->runs || b->runs_max > GS_INTERVAL_MOST)) {
        gs_error("--runs-max is from --runs, %ld, to %d; see gpusparc bench --help", b->runs, GS_INTERVAL_MOST);
        return -EINVAL;
    }
    if (b->small && (b->scale_count != 1 || b->scales[0] != 1)) {
        gs_error("--small and --scale exclude each other; see gpusparc bench --help");
        return -EINVAL;
    }
    return 0;
}

/* Keeps the samples that the arguments name. */
static int select_samples(struct gs_bench *b, char **names)
{
    size_t kept = 0;
    if (!*names)
        return 0;
    for (char **name = names; *name; name++) {
        size_t i = 0;
        while (i < b->sample_count && strcmp(b->samples[i].name, *name) != 0)
            i++;
        if (i == b->sample_count) {
            gs_error("there is no sample '%s'; %s/MANIFEST lists them", *name, b->samples_dir);
            return -ENOENT;
        }
    }
    for (size_t i = 0; i < b->sample_count; i++) {
        bool named = false;
        for (char **name = names; *name; name++)
            named |= strcmp(b->samples[i].name, *name) == 0;
        if (named)
            b->samples[kept++] = b->samples[i];
    }
    b->sample_count = kept;
    return 0;
}

extern const struct gs_command gs_cmd_try;

/* As the shell would take it again. */
static void write_command(char *text, size_t bytes, int argc, char **argv)
{
    size_t n = (size_t)snprintf(text, bytes, "gpusparc bench");
    for (int i = 1; i < argc && n < bytes; i++) {
        const bool plain = *argv[i] && strspn(argv[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                       "_-+=.,:/%@") == strlen(argv[i]);
        n += (size_t)snprintf(text + n, bytes - n, plain ? " %s" : " '%s'", argv[i]);
    }
}

static int run(int argc, char **argv)
{
    char command[1024];
    struct gs_bench b = {.mode = "auto",
                         .dir = "gpusparc-bench",
                         .limit = 0.97,
                         .iterations = 5,
                         .timeout_s = 300,
                         .min_ms = 50,
                         .scales = {1},
                         .scale_count = 1,
                         .modes = {"plain", "single", "multi2"},
                         .mode_count = 3};
    char manifest[PATH_MAX + 16], samples_dir[PATH_MAX];
    if (argv[1] && strcmp(argv[1], "--") == 0 && argv[2])
        return gs_cmd_try.run(argc, argv);
    write_command(command, sizeof command, argc, argv); /* before getopt puts the options first */
    b.command = command;
    if (parse(&b, argc, argv))
        return GS_EXIT_USAGE;
    if (optind > 1 && strcmp(argv[optind - 1], "--") == 0 && argv[optind]) {
        gs_usage_error("an application is tried without the samples' options", "gpusparc try");
        return GS_EXIT_USAGE;
    }
    if (b.html && !gs_page_is_possible(b.html))
        return GS_EXIT_FAILED;
    if (gs_program_path("gpusparc", b.self, sizeof(b.self)) < 0 ||
        gs_library_path("samples", samples_dir, sizeof(samples_dir)) < 0) {
        gs_error("this program's own path is too long");
        return GS_EXIT_FAILED;
    }
    if (!b.samples_dir)
        b.samples_dir = samples_dir;
    snprintf(manifest, sizeof(manifest), "%s/MANIFEST", b.samples_dir);
    if (gs_bench_read_manifest(manifest, &b.samples, &b.sample_count))
        return GS_EXIT_FAILED;
    int status = select_samples(&b, argv + optind) ? GS_EXIT_USAGE : gs_bench_run(&b);
    gs_bench_close_store(&b.store);
    gs_bench_close_store(&b.like);
    free(b.samples);
    return status;
}

const struct gs_command gs_cmd_bench = {
    .name = "bench",
    .summary = "the samples on one device against several",
    .usage = usage,
    .run = run,
};
