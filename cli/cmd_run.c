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
#include "cli/daemon_view.h"
#include "cli/hosts_config.h"
#include "cli/hosts_run.h"
#include "cli/paths.h"
#include "cli/program_file.h"
#include "common/client/client.h"
#include "common/log.h"
#include "common/options.h"
#include "common/settings.h"
#include "common/stream.h"

/* As env(1) and its like have it. */
#define CONFIG_PATH "/etc/gpusparc.conf"

enum { EXIT_OWN_FAILURE = 125, EXIT_NOT_RUNNABLE = 126, EXIT_NOT_FOUND = 127 };

static const char usage[] =
    "Usage: gpusparc run [OPTION...] [--] APP [ARGUMENT...]\n"
    "Runs an OpenCL application, written for one device, on all devices of the group.\n\n"
    "  --gpus N|all        use at most N devices (GPUSPARC_GPUS; default: all)\n"
    "  --mode MODE         auto: split where it pays (default); single: never; multi: wherever it can be done\n"
    "                      (GPUSPARC_MODE)\n"
    "  --devices SPEC      gpu, all, indices such as 0,2, or cpu:N, the CPU device in N equal parts\n"
    "                      (GPUSPARC_DEVICES; default: the GPUs, without any the CPU)\n"
    "  --memory pooled[+host:SIZE]  show the application the memory of all devices together, and SIZE (64GiB) of the "
    "host's\n"
    "                      (GPUSPARC_MEMORY; default: one device's); for programs whose buffers one device can't hold\n"
    "  --forget            begin without what auto mode has learnt in earlier runs, and keep what it learns in this "
    "one\n"
    "                      (GPUSPARC_FORGET)\n"
    "  --allow reorder|race  reorder: split kernels that add up floating-point numbers by atomics too, and all that "
    "are\n"
    "                      built with -cl-fast-relaxed-math or -cl-unsafe-math-optimizations: in another order, so "
    "that\n"
    "                      the last bits may differ from one device's; race: split kernels of which a part may read\n"
    "                      what another part writes, too; reorder,race: both (GPUSPARC_ALLOW)\n"
    "  --only NAME,...     split no other kernels than these; * and ? stand for any letters (GPUSPARC_ONLY)\n"
    "  --not NAME,...      don't split these kernels (GPUSPARC_NOT)\n"
    "  --task NAME         the task of the daemon's config that the application is (GPUSPARC_TASK; default: by its "
    "path)\n"
    "  --task-required     where it can't be that task, or is no longer: end with status 125, where it would run "
    "without\n"
    "                      (GPUSPARC_TASK_REQUIRED)\n"
    "  --no-daemon         don't join the daemon (GPUSPARC_DAEMON=off)\n"
    "  --pace[=PERIOD]     hold each job back until its release, a period after that of the job before: PERIOD, such "
    "as\n"
    "                      40ms, or that of the task (GPUSPARC_PACE; task is the task's). The first jobs are a\n"
    "                      warm-up, whose delays the later ones don't inherit (warmup in the daemon's config)\n"
    "  --hosts LIST        the devices of these machines, such as a,b:2,localhost: two of b's at most; a:all has "
    "its\n"
    "                      CPU beside its GPUs. gpusparc is on each, and scripts/remote.sh has been run there; ssh "
    "gets\n"
    "                      there without a password (GPUSPARC_HOSTS)\n"
    "  --hosts-required    where one of them can't be used: end with status 125, where it would run without that one\n"
    "                      (GPUSPARC_HOSTS_REQUIRED)\n"
    "  --hosts-retry       where one is lost under way: begin again without it (GPUSPARC_HOSTS_RETRY)\n"
    "  --hosts-plain       connect without ssh's tunnels: only on a network where everybody may run what they like on\n"
    "                      these machines, and read all (GPUSPARC_HOSTS_PLAIN)\n"
    "  --verify            run every split launch on one device too, compare the bytes, and name the kernels whose "
    "differ;\n"
    "                      --stats counts the launches compared (GPUSPARC_VERIFY)\n"
    "  --stats[=FILE]      at the end, what was split and why not, and what was moved: a table on stderr or in FILE,\n"
    "                      JSON if FILE ends in .json (GPUSPARC_STATS; - is stderr)\n"
    "  --log[=FILE]        each OpenCL call with its arguments, result and time, a line each on stderr or in FILE\n"
    "                      (GPUSPARC_LOG; - is stderr)\n"
    "  --dump DIR          each program's source, its translation, and a log of both, as files in DIR (GPUSPARC_DUMP)\n"
    "  --trace FILE        a timeline of what each device did when, for Perfetto or chrome://tracing "
    "(GPUSPARC_TRACE)\n\n"
    "The exit status is the application's; 125: gpusparc failed or was used wrongly, or --task-required, or a host is\n"
    "lost; 126: the application can't be run; 127: it was not found.\n";

enum {
    OPT_GPUS = 1,
    OPT_MODE,
    OPT_DEVICES,
    OPT_MEMORY,
    OPT_FORGET,
    OPT_ALLOW,
    OPT_TASK,
    OPT_TASK_REQUIRED,
    OPT_NO_DAEMON,
    OPT_PACE,
    OPT_VERIFY,
    OPT_STATS,
    OPT_TRACE,
    OPT_ONLY,
    OPT_NOT,
    OPT_DUMP,
    OPT_LOG,
    OPT_HOSTS,
    OPT_HOSTS_REQUIRED,
    OPT_HOSTS_RETRY,
    OPT_HOSTS_PLAIN,
    OPT_HELP
};

static const struct option options[] = {
    {"gpus", required_argument, NULL, OPT_GPUS},
    {"mode", required_argument, NULL, OPT_MODE},
    {"devices", required_argument, NULL, OPT_DEVICES},
    {"memory", required_argument, NULL, OPT_MEMORY},
    {"forget", no_argument, NULL, OPT_FORGET},
    {"allow", required_argument, NULL, OPT_ALLOW},
    {"task", required_argument, NULL, OPT_TASK},
    {"task-required", no_argument, NULL, OPT_TASK_REQUIRED},
    {"no-daemon", no_argument, NULL, OPT_NO_DAEMON},
    {"pace", optional_argument, NULL, OPT_PACE},
    {"verify", no_argument, NULL, OPT_VERIFY},
    {"stats", optional_argument, NULL, OPT_STATS},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"only", required_argument, NULL, OPT_ONLY},
    {"not", required_argument, NULL, OPT_NOT},
    {"dump", required_argument, NULL, OPT_DUMP},
    {"log", optional_argument, NULL, OPT_LOG},
    {"hosts", required_argument, NULL, OPT_HOSTS},
    {"hosts-required", no_argument, NULL, OPT_HOSTS_REQUIRED},
    {"hosts-retry", no_argument, NULL, OPT_HOSTS_RETRY},
    {"hosts-plain", no_argument, NULL, OPT_HOSTS_PLAIN},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static const char *const variables[] = {
    [OPT_GPUS] = "GPUSPARC_GPUS",
    [OPT_MODE] = "GPUSPARC_MODE",
    [OPT_DEVICES] = "GPUSPARC_DEVICES",
    [OPT_MEMORY] = "GPUSPARC_MEMORY",
    [OPT_ALLOW] = "GPUSPARC_ALLOW",
    [OPT_TASK] = "GPUSPARC_TASK",
    [OPT_NO_DAEMON] = "GPUSPARC_DAEMON",
    [OPT_PACE] = "GPUSPARC_PACE",
    [OPT_VERIFY] = "GPUSPARC_VERIFY",
    [OPT_STATS] = "GPUSPARC_STATS",
    [OPT_TRACE] = "GPUSPARC_TRACE",
    [OPT_FORGET] = "GPUSPARC_FORGET",
    [OPT_TASK_REQUIRED] = "GPUSPARC_TASK_REQUIRED",
    [OPT_ONLY] = "GPUSPARC_ONLY",
    [OPT_NOT] = "GPUSPARC_NOT",
    [OPT_DUMP] = "GPUSPARC_DUMP",
    [OPT_LOG] = "GPUSPARC_LOG",
    [OPT_HOSTS] = "GPUSPARC_HOSTS",
    [OPT_HOSTS_REQUIRED] = "GPUSPARC_HOSTS_REQUIRED",
    [OPT_HOSTS_RETRY] = "GPUSPARC_HOSTS_RETRY",
    [OPT_HOSTS_PLAIN] = "GPUSPARC_HOSTS_PLAIN",
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

/* The files of --stats, --trace and --log, or of their variables. Only once the command is known to be whole: "--trace
 * ./app" lacks a file, and must not cost the application. */
static int empty_files(void)
{
    static const struct {
        int opt;
        const char *option, *what;
    } files[] = {{OPT_STATS, "--stats", "statistics"}, {OPT_TRACE, "--trace", "trace"}, {OPT_LOG, "--log", "log"}};
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
    if (opt == OPT_VERIFY || opt == OPT_FORGET || opt == OPT_TASK_REQUIRED || opt == OPT_HOSTS_REQUIRED ||
        opt == OPT_HOSTS_RETRY || opt == OPT_HOSTS_PLAIN)
        value = "1";
    if ((opt == OPT_STATS || opt == OPT_LOG) && !value)
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
    const bool may_be_stderr = opt == OPT_STATS || opt == OPT_LOG;
    const bool is_file = opt == OPT_TRACE || opt == OPT_DUMP || (may_be_stderr && strcmp(value, "-") != 0);
    if (is_file && !*value) {
        gs_error("%s%s needs a %s's name; see gpusparc run --help", called, may_be_stderr ? "=" : "",
                 opt == OPT_DUMP ? "folder" : "file");
        return -1;
    }
    if (opt == OPT_DUMP && mkdir(value, 0777) < 0 && errno != EEXIST) {
        gs_error("the folder %s can't be made: %s", value, strerror(errno));
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

/* The library that logs takes the shim's place, and hands on to it. Of the layers the last one is asked first. */
static int put_log_before(void)
{
    char log[PATH_MAX], names[PATH_MAX], layers[4 * PATH_MAX];
    if (gs_library_path("libgpusparc-log.so", log, sizeof log) < 0 ||
        gs_library_path("opencl-log", names, sizeof names) < 0)
        return -1;
    const int n = snprintf(layers, sizeof layers, "%s:%s", getenv("OPENCL_LAYERS"), log);
    return n < (int)sizeof layers && setenv("OPENCL_LAYERS", layers, 1) == 0 && prepend("LD_PRELOAD", log) == 0
               ? prepend("LD_LIBRARY_PATH", names)
               : -1;
}

/* Most of what a context costs on NVIDIA's driver are its connections to each device: eight for kernels, as many for
 * copies. With four and two a context of two H200s costs little more than one of one otherwise (docs/choice.md). Who
 * has set the first variable has chosen; 0, or -1 without room for them. */
static int set_connections(void)
{
    if (getenv("CUDA_DEVICE_MAX_CONNECTIONS"))
        return 0;
    return setenv("CUDA_DEVICE_MAX_CONNECTIONS", "4", 1) < 0 ? -1 : setenv("CUDA_DEVICE_MAX_COPY_CONNECTIONS", "2", 0);
}

/* Makes the dynamic loader, dlopen and the OpenCL loader all come upon the shim. */
static int set_environment(void)
{
    char shim[PATH_MAX], names[PATH_MAX], run_id[32];
    const char *log = getenv(variables[OPT_LOG]);
    if (gs_library_path("libgpusparc.so", shim, sizeof shim) < 0 || access(shim, R_OK) < 0) {
        gs_error("libgpusparc.so was not found beside this program (%s)", shim);
        return -1;
    }
    if (strpbrk(shim, ":;")) {
        gs_error(
            "%s can't be loaded into an application: the dynamic loader ends paths at ':' and ';'; install gpusparc "
            "elsewhere",
            shim);
        return -1;
    }
    /* LD_PRELOAD ends paths at spaces as well, LD_LIBRARY_PATH doesn't: there the shim is found by its name. */
    const char *preload = strchr(shim, ' ') ? "libOpenCL.so.1" : shim;
    /* The processes of one run share a trace and don't overwrite each other's statistics. */
    snprintf(run_id, sizeof run_id, "%d", (int)getpid());
    if (setenv("GPUSPARC_RUN", run_id, 1) < 0 || gs_library_path("opencl", names, sizeof names) < 0 ||
        prepend("LD_PRELOAD", preload) < 0 || prepend("LD_LIBRARY_PATH", names) < 0 ||
        prepend("OPENCL_LAYERS", shim) < 0 || (log && *log && put_log_before() < 0) || set_connections() < 0) {
        gs_error("the environment has no room for the path of libgpusparc.so");
        return -1;
    }
    return 0;
}

/* Its exit status. Who writes "--stats FILE" finds out here that it is "--stats=FILE". */
static int cannot_run(const char *word_before, const char *app)
{
    const int err = errno;
    if (strcmp(word_before, "--stats") == 0 || strcmp(word_before, "--pace") == 0 || strcmp(word_before, "--log") == 0)
        gs_error("'%s' can't be run: %s; if it is the value of %s, write %s=%s", app, strerror(err), word_before,
                 word_before, app);
    else
        gs_error("'%s' can't be run: %s", app, strerror(err));
    return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}

static bool is_set(int opt)
{
    const char *value = getenv(variables[opt]);
    return value && *value && strcmp(value, "0") != 0;
}

/* Pooled memory has ways of its own, on this machine. All devices' memories are the application's, so it is no task,
 * which has a number of GPUs. */
static bool may_be_pooled(void)
{
    static const int others[] = {OPT_TASK, OPT_TASK_REQUIRED, OPT_PACE, OPT_VERIFY, OPT_HOSTS};
    const char *mode = getenv(variables[OPT_MODE]);
    const char *clash = mode && strcmp(mode, "single") == 0 ? "mode single" : NULL;
    if (!is_set(OPT_MEMORY))
        return true;
    for (size_t i = 0; i < sizeof others / sizeof *others && !clash; i++)
        if (is_set(others[i]) && strcmp(getenv(variables[others[i]]), "none") != 0)
            clash = option_name(others[i]);
    if (clash)
        gs_error("--memory can't be had with --%s; see gpusparc run --help", clash);
    return !clash;
}

/* With --task-required: what the daemon would say of the task, before the application has done anything. What changes
 * later the shim sees. */
static bool may_be_task(void)
{
    const char *task = getenv(variables[OPT_TASK]), *daemon = getenv(variables[OPT_NO_DAEMON]);
    char *text = NULL;
    if (!is_set(OPT_TASK_REQUIRED))
        return true;
    if (daemon && strcmp(daemon, "off") == 0) {
        gs_error("--task-required wants a daemon, and --no-daemon none; see gpusparc run --help");
        return false;
    }
    if (!task || !*task)
        return true;
    const int err = gs_client_ask(NULL, GS_MSG_PLAN, task, 5000, &text);
    const bool no_task = err == -ENOENT && text && *text;
    if (no_task)
        gs_error("there is no task %s in the daemon's config", task);
    else if (err == -ENOENT || err == -ECONNREFUSED || err == -ETIMEDOUT)
        gs_daemon_error(err, NULL, NULL);
    free(text);
    return err != -ENOENT && err != -ECONNREFUSED && err != -ETIMEDOUT;
}

/* What execvp() needs, and what a failure names. */
struct application {
    char **argv;
    const char *word_before;
};

static void become(void *arg)
{
    const struct application *app = arg;
    execvp(app->argv[0], app->argv);
    _exit(cannot_run(app->word_before, app->argv[0]));
}

/* The daemon grants this machine's devices, not those of others. */
static int run_on_hosts(struct application *app, const char *list, const char *called)
{
    static struct gs_hosts hosts;
    char why[512];
    const char *task = getenv(variables[OPT_TASK]);
    const struct gs_hosts_wishes wishes = {.all = is_set(OPT_HOSTS_REQUIRED), .retry = is_set(OPT_HOSTS_RETRY)};
    if (gs_hosts_parse(&hosts, list, called, why, sizeof why) < 0) {
        gs_error("%s; see gpusparc run --help", why);
        return EXIT_OWN_FAILURE;
    }
    if ((task && *task) || is_set(OPT_TASK_REQUIRED)) {
        gs_error("a task's application runs under this machine's daemon, which knows nothing of --hosts' devices; see "
                 "gpusparc run --help");
        return EXIT_OWN_FAILURE;
    }
    hosts.plain = is_set(OPT_HOSTS_PLAIN);
    if (setenv(variables[OPT_NO_DAEMON], "off", 1) < 0 || setenv("GPUSPARC_HOSTS", "none", 1) < 0)
        return EXIT_OWN_FAILURE;
    return gs_hosts_run(&hosts, &wishes, become, app);
}

/* By the option, its variable, or the config; null: this machine alone. */
static const char *list_of_hosts(const char **called)
{
    const char *list = getenv(variables[OPT_HOSTS]);
    *called = given[OPT_HOSTS] ? "--hosts" : "GPUSPARC_HOSTS";
    if (list && *list)
        return strcmp(list, "none") == 0 ? NULL : list;
    *called = "hosts in " CONFIG_PATH;
    return gs_hosts_from_config(CONFIG_PATH);
}

static int run(int argc, char **argv)
{
    int opt;
    opterr = 0;
    while ((opt = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
        if (opt == ':' || opt == '?') {
            gs_option_error(argv, options, "gpusparc run");
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
    if (!may_be_task() || !may_be_pooled())
        return EXIT_OWN_FAILURE;
    if (empty_files() < 0 || set_environment() < 0)
        return EXIT_OWN_FAILURE;
    const char *unreachable = gs_unreachable_program(argv[optind]);
    if (unreachable)
        gs_warn("%s %s: it runs as without gpusparc", argv[optind], unreachable);
    struct application app = {argv + optind, argv[optind - 1]};
    const char *called, *hosts = list_of_hosts(&called);
    if (hosts)
        return run_on_hosts(&app, hosts, called);
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
