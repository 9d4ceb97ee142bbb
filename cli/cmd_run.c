/* SPDX-License-Identifier: MIT */
/* gpusparc run: starts an application under the shim. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/paths.h"
#include "cli/program_file.h"
#include "common/log.h"
#include "common/settings.h"
#include "common/stream.h"

/* As env(1) and its like have it. */
enum { EXIT_OWN_FAILURE = 125, EXIT_NOT_RUNNABLE = 126, EXIT_NOT_FOUND = 127 };

static const char usage[] =
    "Usage: gpusparc run [OPTION...] [--] APP [ARGUMENT...]\n"
    "Runs an OpenCL application, written for one device, on all devices of the group.\n\n"
    "  --gpus N|all        use at most N devices (GPUSPARC_GPUS; default: all)\n"
    "  --mode MODE         auto: split where it pays (default); single: never; multi: wherever it can be done\n"
    "                      (GPUSPARC_MODE)\n"
    "  --devices SPEC      gpu, all, indices such as 0,2, or cpu:N, the CPU device in N equal parts\n"
    "                      (GPUSPARC_DEVICES; default: the GPUs, without any: cpu:2)\n"
    "  --forget            begin without what auto mode has learnt in earlier runs, and keep what it learns in this "
    "one\n"
    "                      (GPUSPARC_FORGET)\n"
    "  --allow reorder     split kernels that add up floating-point numbers by atomics too: in another order, so that\n"
    "                      the last bits may differ from one device's (GPUSPARC_ALLOW)\n"
    "  --task NAME         the task of the daemon's config that the application is (GPUSPARC_TASK; default: by its "
    "path)\n"
    "  --no-daemon         don't join the daemon (GPUSPARC_DAEMON=off)\n"
    "  --pace[=PERIOD]     hold each job back until its release, a period after that of the job before: PERIOD, such "
    "as\n"
    "                      40ms, or that of the task (GPUSPARC_PACE; task is the task's). The first jobs are a\n"
    "                      warm-up, whose delays the later ones don't inherit (warmup in the daemon's config)\n"
    "  --verify            run every split launch on one device too, compare the bytes, and name the kernels whose "
    "differ;\n"
    "                      --stats counts the launches compared (GPUSPARC_VERIFY)\n"
    "  --stats[=FILE]      at the end, what was split and why not, and what was moved: a table on stderr or in FILE,\n"
    "                      JSON if FILE ends in .json (GPUSPARC_STATS; - is stderr)\n"
    "  --trace FILE        a timeline of what each device did when, for Perfetto or chrome://tracing "
    "(GPUSPARC_TRACE)\n\n"
    "The exit status is the application's; 125: gpusparc failed or was used wrongly; 126: the application can't be "
    "run;\n"
    "127: it was not found.\n";

enum {
    OPT_GPUS = 1,
    OPT_MODE,
    OPT_DEVICES,
    OPT_FORGET,
    OPT_ALLOW,
    OPT_TASK,
    OPT_NO_DAEMON,
    OPT_PACE,
    OPT_VERIFY,
    OPT_STATS,
    OPT_TRACE,
    OPT_HELP
};

static const struct option options[] = {
    {"gpus", required_argument, NULL, OPT_GPUS},
    {"mode", required_argument, NULL, OPT_MODE},
    {"devices", required_argument, NULL, OPT_DEVICES},
    {"forget", no_argument, NULL, OPT_FORGET},
    {"allow", required_argument, NULL, OPT_ALLOW},
    {"task", required_argument, NULL, OPT_TASK},
    {"no-daemon", no_argument, NULL, OPT_NO_DAEMON},
    {"pace", optional_argument, NULL, OPT_PACE},
    {"verify", no_argument, NULL, OPT_VERIFY},
    {"stats", optional_argument, NULL, OPT_STATS},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static const char *const variables[] = {
    [OPT_GPUS] = "GPUSPARC_GPUS",   [OPT_MODE] = "GPUSPARC_MODE",     [OPT_DEVICES] = "GPUSPARC_DEVICES",
    [OPT_ALLOW] = "GPUSPARC_ALLOW", [OPT_TASK] = "GPUSPARC_TASK",     [OPT_NO_DAEMON] = "GPUSPARC_DAEMON",
    [OPT_PACE] = "GPUSPARC_PACE",   [OPT_VERIFY] = "GPUSPARC_VERIFY", [OPT_STATS] = "GPUSPARC_STATS",
    [OPT_TRACE] = "GPUSPARC_TRACE", [OPT_FORGET] = "GPUSPARC_FORGET",
};

static bool given[sizeof variables / sizeof *variables]; /* on the command line */

/* What an earlier run has left in a file isn't this run's; and whether it can be written is best known now. The
 * application runs in any case. */
static bool empty_file(const char *what, const char *path)
{
    struct stat st;
    const bool was_there = stat(path, &st) == 0;
    if (was_there && (!S_ISREG(st.st_mode) || gs_stream_of(path)))
        return true; /* the shim says what can't be */
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        gs_error("%s can't be written: %s; there will be no %s", path, strerror(errno), what);
        return false;
    }
    close(fd);
    if (!was_there)
        unlink(path);
    return true;
}

/* The files of --stats and --trace, or of their variables. Only once the command is known to be whole: "--trace ./app"
 * lacks a file, and must not cost the application. */
static int empty_files(void)
{
    static const struct {
        int opt;
        const char *option, *what;
    } files[] = {{OPT_STATS, "--stats", "statistics"}, {OPT_TRACE, "--trace", "trace"}};
    const char *within = getenv("GPUSPARC_RUN"); /* another gpusparc run, whose files these are */
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = getenv(variables[files[i].opt]);
        if (!path || !*path || strcmp(path, "-") == 0 || (within && *within && !given[files[i].opt]))
            continue;
        if (gs_is_program_file(path)) {
            gs_error("%s is a program, which %s would overwrite; see gpusparc run --help", path, files[i].option);
            return -1;
        }
        if (!empty_file(files[i].what, path) && unsetenv(variables[files[i].opt]) < 0)
            return -1;
    }
    return 0;
}

static const char *option_name(int opt)
{
    const struct option *o = options;
    while (o->name && o->val != opt)
        o++;
    return o->name;
}

/* Checks one option and sets its variable. */
static int set_option(int opt)
{
    struct gs_settings settings = {0};
    char why[256], called[32], absolute[PATH_MAX];
    const char *value = optarg;
    given[opt] = true;
    if (opt == OPT_VERIFY || opt == OPT_FORGET)
        value = "1";
    if (opt == OPT_STATS && !value)
        value = "-";
    if (opt == OPT_NO_DAEMON)
        value = "off";
    if (opt == OPT_PACE && !value)
        value = "task";
    snprintf(called, sizeof called, "--%s", option_name(opt));
    if (gs_settings_set(&settings, variables[opt], called, value, why, sizeof why) < 0) {
        gs_error("%s; see gpusparc run --help", why);
        return -1;
    }
    /* The application may change its folder before it ends. */
    const bool is_file = opt == OPT_TRACE || (opt == OPT_STATS && strcmp(value, "-") != 0);
    if (is_file && !*value) {
        gs_error("%s needs a file's name; see gpusparc run --help", opt == OPT_TRACE ? "--trace" : "--stats=");
        return -1;
    }
    if (is_file && value[0] != '/') {
        char cwd[PATH_MAX];
        if (!getcwd(cwd, sizeof cwd)) {
            gs_error("%s can't be written: the current folder has no path: %s", value, strerror(errno));
            return -1;
        }
        if (snprintf(absolute, sizeof absolute, "%s/%s", cwd, value) >= (int)sizeof absolute) {
            gs_error("the path of %s is too long", value);
            return -1;
        }
        value = absolute;
    }
    return setenv(variables[opt], value, 1);
}

/* VARIABLE = value, and what it was before after a separator. */
static int prepend(const char *variable, const char *value)
{
    char joined[4 * PATH_MAX];
    const char *old = getenv(variable);
    int n = snprintf(joined, sizeof joined, "%s%s%s", value, old && *old ? ":" : "", old ? old : "");
    return n < (int)sizeof joined ? setenv(variable, joined, 1) : -1;
}

/* Makes the dynamic loader, dlopen and the OpenCL loader all come upon the shim. */
static int set_environment(void)
{
    char shim[PATH_MAX], names[PATH_MAX], run_id[32];
    if (gs_library_path("libgpusparc.so", shim, sizeof shim) < 0 || access(shim, R_OK) < 0) {
        gs_error("libgpusparc.so was not found beside this program (%s)", shim);
        return -1;
    }
    /* The processes of one run share a trace and don't overwrite each other's statistics. */
    snprintf(run_id, sizeof run_id, "%d", (int)getpid());
    if (setenv("GPUSPARC_RUN", run_id, 1) < 0 || gs_library_path("opencl", names, sizeof names) < 0 ||
        prepend("LD_PRELOAD", shim) < 0 || prepend("LD_LIBRARY_PATH", names) < 0 ||
        prepend("OPENCL_LAYERS", shim) < 0) {
        gs_error("the environment has no room for the path of libgpusparc.so");
        return -1;
    }
    return 0;
}

/* Its exit status. Who writes "--stats FILE" finds out here that it is "--stats=FILE". */
static int cannot_run(const char *word_before, const char *app)
{
    const int err = errno;
    if (strcmp(word_before, "--stats") == 0 || strcmp(word_before, "--pace") == 0)
        gs_error("'%s' can't be run: %s; if it is meant for %s: %s=%s", app, strerror(err), word_before, word_before,
                 app);
    else
        gs_error("'%s' can't be run: %s", app, strerror(err));
    return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

static int run(int argc, char **argv)
{
    int opt;
    opterr = 0;
    while ((opt = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
        if (opt == ':') {
            gs_error("%s needs a value; see gpusparc run --help", argv[optind - 1]);
            return EXIT_OWN_FAILURE;
        }
        if (opt == '?') {
            gs_error("there is no option '%s'; see gpusparc run --help", argv[optind - 1]);
            return EXIT_OWN_FAILURE;
        }
        if (opt == OPT_HELP) {
            fputs(usage, stdout);
            return GS_EXIT_OK;
        }
        if (set_option(opt) < 0)
            return EXIT_OWN_FAILURE;
    }
    if (optind == argc) {
        gs_error("an application is missing; see gpusparc run --help");
        return EXIT_OWN_FAILURE;
    }
    if (empty_files() < 0 || set_environment() < 0)
        return EXIT_OWN_FAILURE;
    const char *unreachable = gs_unreachable_program(argv[optind]);
    if (unreachable)
        gs_warn("%s %s: it runs as without gpusparc", argv[optind], unreachable);
    execvp(argv[optind], argv + optind);
    return cannot_run(argv[optind - 1], argv[optind]);
}

const struct gs_command gs_cmd_run = {
    .name = "run",
    .summary = "runs an application on all devices of the group",
    .usage = usage,
    .run = run,
    .starts_app = true,
};
