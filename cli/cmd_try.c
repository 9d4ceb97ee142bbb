/* SPDX-License-Identifier: MIT */
/* gpusparc try: will my program get faster? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/paths.h"
#include "cli/try.h"
#include "common/config.h"
#include "common/log.h"
#include "common/options.h"
#include "common/page.h"

static const char usage[] =
    "Usage: gpusparc try [OPTION...] [--] APP [ARG...]\n\n"
    "Says whether an application gets faster: runs it as it is, on one GPU and on all of them, in turns, until that "
    "is\n"
    "known, compares what the runs print, and says of each kernel that matters why it isn't split and what would "
    "help.\n"
    "The application must be one that can be run again and again; it gets no input.\n\n"
    "  --time TIME        begin no further round after that (default 60s); it must be longer than a plain run\n"
    "  --timeout TIME     for one run (default: a minute, and twenty times what the first plain one takes)\n"
    "  --devices SPEC     as for gpusparc run: with parts of the CPU, as cpu:2, one of them is what all are compared "
    "with\n"
    "  --gpus N           as for gpusparc run\n"
    "  --multi            try mode multi as well, which splits whatever can be split\n"
    "  --output FILE      a file that the application writes: it is compared byte for byte; may be given several "
    "times\n"
    "  --html FILE        the answer as a page, too\n"
    "  --markdown         the answer as Markdown\n"
    "  --json             the answer as JSON, with each run's time\n\n"
    "Times are those of whole processes. The interval holds the ratio with 95 %, by the signed ranks of the rounds.\n"
    "Ctrl-C ends it with what is known. Without a GPU it says what would be split.\n"
    "Exit status: 0; 1 if a run gave other bytes or another exit status than the plain one, or didn't end, or none "
    "was\n"
    "compared, or the application can't be run; 2 for wrong usage.\n";

enum { OPT_TIME = 1, OPT_TIMEOUT, OPT_DEVICES, OPT_GPUS, OPT_MULTI, OPT_OUTPUT, OPT_HTML, OPT_MARKDOWN, OPT_JSON };

static const struct option options[] = {
    {"time", required_argument, NULL, OPT_TIME},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"devices", required_argument, NULL, OPT_DEVICES},
    {"gpus", required_argument, NULL, OPT_GPUS},
    {"multi", no_argument, NULL, OPT_MULTI},
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"html", required_argument, NULL, OPT_HTML},
    {"markdown", no_argument, NULL, OPT_MARKDOWN},
    {"json", no_argument, NULL, OPT_JSON},
    {NULL, 0, NULL, 0},
};

static int parse_time(const char *option, const char *text, double *s)
{
    int64_t ns;
    char *end;
    const double plain = strtod(text, &end);
    if (end != text && !*end && plain > 0 && plain < 1e6) {
        *s = plain;
        return 0;
    }
    if (gs_parse_duration(text, strlen(text), &ns) == 0 && ns > 0) {
        *s = (double)ns / 1e9;
        return 0;
    }
    gs_error("%s wants a time, such as 60s, not '%s'; see gpusparc try --help", option, text);
    return -EINVAL;
}

static int parse_option(struct gs_try *t, int option)
{
    switch (option) {
    case OPT_TIME:
        return parse_time("--time", optarg, &t->time_s);
    case OPT_TIMEOUT:
        return parse_time("--timeout", optarg, &t->limit_s);
    case OPT_DEVICES:
        t->devices = optarg;
        return 0;
    case OPT_GPUS:
        t->gpus = optarg;
        return 0;
    case OPT_MULTI:
        t->multi = true;
        return 0;
    case OPT_OUTPUT:
        if (t->n_outputs == GS_TRY_OUTPUTS) {
            gs_error("more than %d files are given with --output", GS_TRY_OUTPUTS);
            return -EINVAL;
        }
        t->outputs[t->n_outputs++] = optarg;
        return 0;
    case OPT_HTML:
        t->html = optarg;
        return gs_page_name_is_right("--html", optarg) ? 0 : -EINVAL;
    case OPT_MARKDOWN:
        t->markdown = true;
        return 0;
    case OPT_JSON:
        t->json = true;
        return 0;
    default:
        return -EINVAL;
    }
}

static int parse(struct gs_try *t, int argc, char **argv)
{
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
        if (option == '?' || option == ':') {
            gs_option_error(argv, options, "gpusparc try");
            return -EINVAL;
        }
        if (parse_option(t, option))
            return -EINVAL;
    }
    if (!argv[optind]) {
        gs_usage_error("there is no application", "gpusparc try");
        return -EINVAL;
    }
    if (t->json && t->markdown) {
        gs_usage_error("--json and --markdown exclude each other", "gpusparc try");
        return -EINVAL;
    }
    t->app = argv + optind;
    return 0;
}

static int run(int argc, char **argv)
{
    struct gs_try t = {.time_s = 60};
    if (parse(&t, argc, argv))
        return GS_EXIT_USAGE;
    if (t.html && !gs_page_is_possible(t.html))
        return GS_EXIT_FAILED;
    if (gs_program_path("gpusparc", t.self, sizeof t.self) < 0) {
        gs_error("this program's own path is too long");
        return GS_EXIT_FAILED;
    }
    if (gs_try_find_devices(&t))
        return GS_EXIT_FAILED;
    int err = gs_try_run(&t);
    if (!err)
        err = gs_try_show(&t);
    json_decref(t.stats);
    return err || t.different || t.cut ? GS_EXIT_FAILED : GS_EXIT_OK;
}

const struct gs_command gs_cmd_try = {
    .name = "try",
    .summary = "does an application get faster, and what would help",
    .usage = usage,
    .run = run,
    .starts_app = true,
};
