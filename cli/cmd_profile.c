/* SPDX-License-Identifier: MIT */
/* gpusparc profile: measures an application's segments and writes its section of a config file. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/command.h"
#include "cli/paths.h"
#include "cli/profile.h"
#include "cli/progress.h"
#include "common/client/client.h"
#include "common/log.h"
#include "common/machine.h"
#include "common/options.h"

static const char usage[] =
    "Usage: gpusparc profile --task NAME [OPTION...] [--] APP [ARG...]\n"
    "       gpusparc profile --task NAME [OPTION...] --from TRACE [--from TRACE...]\n"
    "Runs an application on one GPU and on all of them, and writes a config file in which its task has the segments\n"
    "that were seen: the longest time of each, and a margin. `gpusparc check` and `gpusparc analyze` read it. Each "
    "run\n"
    "has a daemon of its own, which grants units as any daemon does; its trace says how long each unit was kept.\n\n"
    "  --task NAME      the task's name\n"
    "  --runs N         runs on each number of GPUs (default 10)\n"
    "  --warm-up N      jobs at the beginning of each run that don't count, unless the run has no others (default: 1;\n"
    "                   of runs on one GPU, as many as the machine has GPUs, as each job begins on another GPU)\n"
    "  --margin P       percent on top of the longest time seen (default 20)\n"
    "  --period TIME    the task's period (default: twice its longest job with its\n"
    "                   hand-overs, for you to change)\n"
    "  --devices SPEC   as for gpusparc run\n"
    "  --timeout TIME   for one run (default 300s)\n"
    "  --from TRACE     nothing is run: the jobs are those of traces that `gpusparc run --trace` has written, as many\n"
    "                   GPUs as run kernels in each\n"
    "  --append FILE    adds the task to that config file, which may not be there yet; its [system] stays as it is\n"
    "  --chunks         writes how many chunks each segment had, which the analysis needs where the daemon's config "
    "says\n"
    "                   depth = 1, or a handover longer than chunks are (below 50us they are written in any case)\n"
    "  --json           prints JSON\n\n"
    "A job begins with a command and ends when its results have been read; where an application has several jobs, it "
    "is\n"
    "best run with many. After Ctrl-C what has been seen is printed, marked as cut short.\n"
    "Exit status: 0; 1 if a run failed or nothing was seen; 2 for wrong usage; 130 after Ctrl-C.\n";

enum { MAX_TRACES = 256 };

struct options {
    const char *task, *devices, *append;
    const char *from[MAX_TRACES];
    size_t n_from;
    long runs, warm_up, margin;
    int64_t period_ns, timeout_ns;
    bool json, help, chunks;
    char **app;
};

/* What was measured, by number of GPUs: index 0 one, index 1 all; or, of traces, whatever they had. */
enum { MODES = 2 };
enum { DEPTH = 2 }; /* of the daemon that it is measured under */
struct measured {
    struct gs_profile profile[MODES];
    struct gs_profile_chain chain[MODES];
    bool from_traces; /* of applications, which know nothing of units */
    bool failed;
};

static void stop(int signal)
{
    gs_bench_stopped = signal;
}

static int wrong(const char *option, const char *wanted)
{
    gs_error("%s wants %s, not '%s'; see gpusparc profile --help", option, wanted, optarg);
    return GS_EXIT_USAGE;
}

static int read_number(const char *option, long min, long max, long *value)
{
    char *end;
    char wanted[64];
    *value = strtol(optarg, &end, 10);
    snprintf(wanted, sizeof wanted, "a whole number from %ld to %ld", min, max);
    return end == optarg || *end || *value < min || *value > max ? wrong(option, wanted) : 0;
}

static int read_time(const char *option, int64_t *ns)
{
    return gs_parse_duration(optarg, strlen(optarg), ns) || !*ns ? wrong(option, "a time above zero, as in 200ms") : 0;
}

static int read_task(struct options *o)
{
    char text[GS_CONFIG_MAX_NAME + 64];
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    int n = snprintf(text, sizeof text, "[task %s]\nperiod=1s\n", optarg);
    bool good = n < (int)sizeof text && !strchr(optarg, '\n') && !gs_config_parse(text, (size_t)n, &config, &mistakes);
    if (n < (int)sizeof text && !strchr(optarg, '\n'))
        gs_config_free(&config);
    gs_mistakes_free(&mistakes);
    o->task = optarg;
    return good ? 0 : wrong("--task", "a name of letters, digits, '_', '.' or '-'");
}

enum {
    OPT_TASK = 1,
    OPT_RUNS,
    OPT_WARM_UP,
    OPT_MARGIN,
    OPT_PERIOD,
    OPT_DEVICES,
    OPT_TIMEOUT,
    OPT_FROM,
    OPT_CHUNKS,
    OPT_APPEND,
    OPT_JSON,
    OPT_HELP
};

static int set_option(int opt, struct options *o)
{
    switch (opt) {
    case OPT_TASK:
        return read_task(o);
    case OPT_RUNS:
        return read_number("--runs", 1, 100000, &o->runs);
    case OPT_WARM_UP:
        return read_number("--warm-up", 0, 100000, &o->warm_up);
    case OPT_MARGIN:
        return read_number("--margin", 0, 1000, &o->margin);
    case OPT_PERIOD:
        return read_time("--period", &o->period_ns);
    case OPT_TIMEOUT:
        return read_time("--timeout", &o->timeout_ns);
    case OPT_DEVICES:
        o->devices = optarg;
        return 0;
    case OPT_FROM:
        if (o->n_from == MAX_TRACES)
            return wrong("--from", "no more than 256 traces");
        o->from[o->n_from++] = optarg;
        return 0;
    case OPT_APPEND:
        o->append = optarg;
        return 0;
    case OPT_CHUNKS:
        o->chunks = true;
        return 0;
    case OPT_JSON:
        o->json = true;
        return 0;
    case OPT_HELP:
        o->help = true;
        return 0;
    default:
        return GS_EXIT_USAGE;
    }
}

static int read_options(int argc, char **argv, struct options *o)
{
    static const struct option long_options[] = {{"task", required_argument, NULL, OPT_TASK},
                                                 {"runs", required_argument, NULL, OPT_RUNS},
                                                 {"warm-up", required_argument, NULL, OPT_WARM_UP},
                                                 {"margin", required_argument, NULL, OPT_MARGIN},
                                                 {"period", required_argument, NULL, OPT_PERIOD},
                                                 {"devices", required_argument, NULL, OPT_DEVICES},
                                                 {"timeout", required_argument, NULL, OPT_TIMEOUT},
                                                 {"from", required_argument, NULL, OPT_FROM},
                                                 {"append", required_argument, NULL, OPT_APPEND},
                                                 {"chunks", no_argument, NULL, OPT_CHUNKS},
                                                 {"json", no_argument, NULL, OPT_JSON},
                                                 {"help", no_argument, NULL, OPT_HELP},
                                                 {NULL, 0, NULL, 0}};
    *o = (struct options){.runs = 10, .warm_up = -1, .margin = 20, .timeout_ns = INT64_C(300000000000)};
    int opt, status = 0;
    optind = 1;
    opterr = 0;
    while (!status && !o->help && (opt = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
        if (opt == '?')
            gs_option_error(argv, long_options, "gpusparc profile");
        status = opt == '?' ? GS_EXIT_USAGE : set_option(opt, o);
    }
    if (status || o->help)
        return status;
    o->app = argv + optind;
    if (!o->task)
        gs_error("profile wants --task NAME; see gpusparc profile --help");
    else if (!o->n_from == !*o->app)
        gs_error(o->n_from ? "profile takes traces or an application, not both"
                           : "profile wants an application to run");
    if (o->json && o->append)
        gs_error("profile --append writes a config, not JSON");
    return o->task && !o->n_from != !*o->app && !(o->json && o->append) ? 0 : GS_EXIT_USAGE;
}

/* The file to append to, where there is one: *has_system, or why the task can't come into it. */
static bool may_append(const struct options *o, bool *has_system)
{
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    *has_system = false;
    if (!o->append || (access(o->append, F_OK) < 0 && errno == ENOENT))
        return true;
    bool ok = gs_config_load(o->append, &config, &mistakes) == 0;
    gs_mistakes_print(&mistakes, o->append);
    for (size_t i = 0; i < config.n_tasks && ok; i++)
        if (strcmp(config.tasks[i].name, o->task) == 0) {
            gs_error("%s has a task %s already, in line %d", o->append, o->task, config.tasks[i].line);
            ok = false;
        } else if (config.tasks[i].has_priority) {
            gs_warn("the tasks of %s have priorities: give %s one too", o->append, o->task);
            break;
        }
    *has_system = config.system.line > 0;
    gs_mistakes_free(&mistakes);
    gs_config_free(&config);
    return ok;
}

/* ---- measuring ---- */

extern char **environ;

/* A daemon for one run, in a folder of its own. */
struct private_daemon {
    char dir[64], conf[96], sock[96], trace[96];
    pid_t pid; /* not above 0: there is none */
};

static bool write_conf(const struct options *o, const struct private_daemon *d, bool all)
{
    FILE *f = fopen(d->conf, "w");
    if (!f)
        return false;
    fprintf(f, "[system]\ngpus = %d\ndepth = %d\nrealtime = no\nalone = chunks\n[task %s]\nperiod = 1s\nuser = *\n%s\n",
            GS_MAX_GPUS, DEPTH, o->task, all ? "mode = multi" : "mode = 1\nmoves = always");
    return fclose(f) == 0;
}

static bool answers(const struct private_daemon *d)
{
    char *text = NULL;
    for (int i = 0; i < 200 && !gs_bench_stopped; i++) {
        const int err = gs_client_ask(d->sock, GS_MSG_STATUS, NULL, 1000, &text);
        free(text);
        if (err == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return false;
}

/* Its trace is whole then. */
static void stop_daemon(struct private_daemon *d)
{
    if (d->pid > 0) {
        kill(d->pid, SIGTERM);
        while (waitpid(d->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    d->pid = 0;
}

/* A daemon that cuts as any does, and gives the task one GPU, another one for each job, or all. */
static bool start_daemon(const struct options *o, struct private_daemon *d, bool all)
{
    char program[PATH_MAX];
    char *argv[] = {program, "--config", d->conf, "--socket", d->sock, "--trace", d->trace, NULL};
    strcpy(d->dir, "/tmp/gpusparc-profile-XXXXXX");
    if (!mkdtemp(d->dir))
        return false;
    snprintf(d->conf, sizeof d->conf, "%s/conf", d->dir);
    snprintf(d->sock, sizeof d->sock, "%s/sock", d->dir);
    snprintf(d->trace, sizeof d->trace, "%s/trace", d->dir);
    if (gs_program_path("gpusparcd", program, sizeof program) < 0 || !write_conf(o, d, all))
        return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const bool started = posix_spawn(&d->pid, program, &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!started)
        d->pid = 0;
    return started && answers(d);
}

static void remove_daemon(struct private_daemon *d)
{
    static const char *const names[] = {"conf", "sock", "sock.lock", "trace"};
    char path[128];
    stop_daemon(d);
    for (size_t i = 0; i < sizeof names / sizeof *names && d->dir[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", d->dir, names[i]);
        unlink(path);
    }
    if (d->dir[0])
        rmdir(d->dir);
}

/* Says why the application's run gave nothing. */
static bool app_failed(const struct options *o, int status, const struct gs_bench_end *end)
{
    if (status == -ETIMEDOUT)
        gs_error("%s ran for longer than --timeout allows, and was ended", *o->app);
    else if (status < 0)
        gs_error("%s can't be run: %s", *o->app, strerror(-status));
    else
        gs_error("%s failed with exit status %d%s%s", *o->app, status, *end->error ? ": " : "", end->error);
    return false;
}

/* Under the daemon; true: it has ended well. */
static bool run_app(const struct options *o, const struct private_daemon *d)
{
    struct gs_bench_words words = {0};
    struct gs_bench_end end;
    char self[PATH_MAX];
    if (gs_program_path("gpusparc", self, sizeof self) < 0) {
        gs_error("%s was not found", self);
        return false;
    }
    setenv("GPUSPARC_SOCKET", d->sock, 1);
    gs_bench_add(&words, "%s", self);
    gs_bench_add(&words, "run");
    gs_bench_add(&words, "--mode=multi");
    gs_bench_add(&words, "--task=%s", o->task);
    if (o->devices)
        gs_bench_add(&words, "--devices=%s", o->devices);
    gs_bench_add(&words, "--");
    for (char **a = o->app; *a; a++)
        gs_bench_add(&words, "%s", *a);
    const int status = gs_bench_execute(&words, (double)o->timeout_ns * 1e-9, &end);
    gs_progress_end();
    gs_bench_free_words(&words);
    return !gs_bench_stopped && (status == 0 || app_failed(o, status, &end));
}

/* One run; its jobs go into the profile. False: it failed. */
static bool run_once(const struct options *o, bool all, struct gs_profile *p)
{
    struct private_daemon d = {.pid = 0};
    bool ok = start_daemon(o, &d, all);
    if (!ok) {
        gs_progress_end();
        if (!gs_bench_stopped)
            gs_error("the daemon to measure under can't be started: %s", strerror(errno));
    }
    ok = ok && run_app(o, &d);
    stop_daemon(&d);
    ok = ok && gs_profile_read_units(p, d.trace, (int)o->warm_up, !all) == 0;
    remove_daemon(&d);
    return ok;
}

/* Runs, or traces: read so far, and asked for. A group of one has one way to run, seen once more. */
static long done_of(const struct measured *m)
{
    return m->profile[0].runs + m->profile[1].runs;
}

static long all_of(const struct options *o, const struct measured *m)
{
    return o->n_from ? (long)o->n_from : o->runs + (m->profile[0].devices == 1 ? 1 : o->runs);
}

static bool is_cut_short(const struct options *o, const struct measured *m)
{
    return gs_bench_stopped && done_of(m) < all_of(o, m);
}

/* Several short commands share a grant, and chunks that turn out short become larger: so long a chunk may last whatever
 * one command takes (docs/daemon.md, "How long a unit lasts"). */
enum { SHARED_GRANT_NS = 600 * 1000 };

/* What an application has been granted at once ends no later than the longest unit lasts: `depth` chunks, in the
 * analysis. */
static int64_t chunk_of(const struct measured *m, int r)
{
    int64_t longest = 0;
    for (int k = 0; k < MODES; k++)
        longest = m->profile[k].longest_ns[r] > longest ? m->profile[k].longest_ns[r] : longest;
    if (!longest || m->from_traces)
        return 0;
    longest = (longest + DEPTH - 1) / DEPTH;
    return r == GS_GPU && longest < SHARED_GRANT_NS ? SHARED_GRANT_NS : longest;
}

static void run_all(const struct options *o, struct measured *m)
{
    unsetenv("GPUSPARC_DAEMON");
    unsetenv("GPUSPARC_PACE");
    for (int k = 0; k < MODES && !m->failed; k++)
        for (long i = 0; i < o->runs && !m->failed; i++) {
            if (!o->json)
                gs_progress("%ld of %ld runs done, the next on %s; jobs seen: %zu", done_of(m), all_of(o, m),
                            k > 0 ? "all GPUs" : "one GPU", m->profile[0].n + m->profile[1].n);
            m->failed = !run_once(o, k > 0, &m->profile[k]);
            if (!m->failed && !m->profile[0].n) {
                gs_error("the first run had no job: it made no OpenCL command, or read no result");
                m->failed = true;
            }
            /* A group of one has no other way to run. */
            if (k > 0 && m->profile[k].devices == 1)
                break;
        }
}

/* Traces from elsewhere: those with kernels on one GPU, and those with more. */
static void read_all(const struct options *o, struct measured *m)
{
    const int warm_up = o->warm_up < 0 ? 1 : (int)o->warm_up;
    m->from_traces = true;
    for (size_t i = 0; i < o->n_from && !m->failed && !gs_bench_stopped; i++) {
        struct gs_profile one = {0};
        m->failed = gs_profile_read(&one, o->from[i], warm_up) != 0;
        struct gs_profile *to = &m->profile[one.used > 1];
        gs_profile_free(&one);
        if (!m->failed)
            m->failed = gs_profile_read(to, o->from[i], warm_up) != 0;
    }
}

/* ---- telling ---- */

/* The number of GPUs that a chain is for: all of the group, if the kernels have run on more than one. */
static int gpus_of(const struct measured *m, int mode)
{
    return mode == 0 ? 1 : m->profile[1].used;
}

static int group_of(const struct measured *m)
{
    int n = 1;
    for (int k = 0; k < MODES; k++) {
        n = m->profile[k].devices > n ? m->profile[k].devices : n;
        n = m->profile[k].used > n ? m->profile[k].used : n;
    }
    return n;
}

/* With the margin, in whole microseconds. */
static int64_t with_margin(const struct options *o, int64_t ns)
{
    return (ns * (100 + o->margin) / 100 + 999) / 1000 * 1000;
}

/* With the margin, of a number. */
static int64_t more(const struct options *o, int n)
{
    const int64_t v = ((int64_t)n * (100 + o->margin) + 99) / 100;
    return v < GS_CONFIG_MAX_CHUNKS ? v : GS_CONFIG_MAX_CHUNKS;
}

static int64_t rounded(int64_t ns)
{
    return (ns + 500) / 1000 * 1000;
}

/* Are the chunks that are written shorter than a hand-over? Then the analysis wants to know how many there are. */
static bool has_short_chunks(const struct options *o, const struct measured *m, int r)
{
    return chunk_of(m, r) && with_margin(o, chunk_of(m, r)) < GS_CONFIG_HANDOVER_NS;
}

/* How many chunks a segment is written with. */
static int64_t chunks_of(const struct options *o, const struct measured *m, const struct gs_profile_times *t)
{
    return gs_profile_chunks(more(o, t->chunks), with_margin(o, t->longest_ns),
                             with_margin(o, chunk_of(m, (int)t->resource)));
}

/* How often the resource changes hands for a segment, as the analysis has it. */
static int64_t handovers_of(const struct options *o, const struct measured *m, const struct gs_profile_times *t)
{
    if (!t->chunks || !has_short_chunks(o, m, (int)t->resource))
        return 1 + t->pauses;
    return t->pauses + (chunks_of(o, m, t) + DEPTH - 1) / DEPTH;
}

/* Twice what a job takes with its hand-overs: for short segments these are most of it. */
static int64_t period_of(const struct options *o, const struct measured *m)
{
    int64_t longest = 0;
    for (int k = 0; k < MODES; k++) {
        int64_t sum = 0;
        for (size_t j = 0; j < m->chain[k].n; j++)
            sum += with_margin(o, m->chain[k].segments[j].longest_ns + m->chain[k].segments[j].pause_ns) +
                   GS_CONFIG_HANDOVER_NS * handovers_of(o, m, &m->chain[k].segments[j]);
        longest = sum > longest ? sum : longest;
    }
    return o->period_ns ? o->period_ns : (2 * longest / 1000000 + 1) * 1000000;
}

/* Spreads of more are said to be noisy: a few runs of a quiet machine stay below. */
#define NOISY 1.5

/* How far the longest times are above the medians, by the sums over a job's segments; 0: nothing is known. */
static double spread_of(const struct gs_profile_chain *c)
{
    int64_t longest = 0, median = 0;
    for (size_t j = 0; j < c->n; j++) {
        longest += c->segments[j].longest_ns;
        median += c->segments[j].median_ns;
    }
    return median ? (double)longest / (double)median : 0;
}

/* "segments.1 = pci 1ms, gpu 2ms" of the longest times, or as a comment the medians. */
static void print_segments(FILE *out, const struct options *o, const struct measured *m, int k, bool medians)
{
    const struct gs_profile_chain *c = &m->chain[k];
    char buf[GS_DURATION_SIZE];
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_profile_times *t = &c->segments[j];
        fprintf(out, "%s%s %s", j ? ", " : "", gs_resource_names[t->resource],
                gs_format_duration(medians ? rounded(t->median_ns) : with_margin(o, t->longest_ns), buf));
        if (t->pauses && !medians)
            fprintf(out, " pauses %d %s", t->pauses, gs_format_duration(with_margin(o, t->pause_ns), buf));
        if (t->chunks && !medians && (o->chunks || has_short_chunks(o, m, (int)t->resource)))
            fprintf(out, " chunks %" PRId64, chunks_of(o, m, t));
    }
    fputc('\n', out);
}

static void print_mode(FILE *out, const struct options *o, const struct measured *m, int k)
{
    const struct gs_profile_chain *c = &m->chain[k];
    char longest[GS_DURATION_SIZE], median[GS_DURATION_SIZE];
    int gpus = gpus_of(m, k);
    fprintf(out, "# %zu jobs of %d runs with %d GPU%s: longest %s, median %s", c->jobs, m->profile[k].runs, gpus,
            gpus == 1 ? "" : "s", gs_format_duration(rounded(c->whole.longest_ns), longest),
            gs_format_duration(rounded(c->whole.median_ns), median));
    if (c->partial)
        fprintf(out, "; %zu others had another sequence of segments", c->others);
    else if (c->others)
        fprintf(out, "; %zu of them lack some of these segments", c->others);
    fprintf(out, "\n# medians:   ");
    print_segments(out, o, m, k, true);
    fprintf(out, "segments.%d = ", gpus);
    print_segments(out, o, m, k, false);
}

/* Comments in [system], so that profiles may follow one another in a file: it has to say the same each time. */
static void print_chunks(FILE *out, const char *before, const struct options *o, const struct measured *m)
{
    char buf[GS_DURATION_SIZE];
    for (int r = 0; r < GS_RESOURCES; r++)
        if (chunk_of(m, r))
            fprintf(out, "%s%s_chunk = %s\n", before, gs_resource_names[r],
                    gs_format_duration(with_margin(o, chunk_of(m, r)), buf));
}

static void print_config(FILE *out, const struct options *o, const struct measured *m, bool with_system)
{
    char buf[GS_DURATION_SIZE];
    fprintf(out, "# Measured by gpusparc profile: the longest times seen, and %ld %% on top.\n", o->margin);
    if (is_cut_short(o, m))
        fprintf(out, "# Stopped after %ld of %ld %s.\n", done_of(m), all_of(o, m), o->n_from ? "traces" : "runs");
    if (with_system) {
        fprintf(out, "[system]\ngpus = %d\ncpus = %d\n", group_of(m), gs_machine_cpus());
        if (chunk_of(m, GS_PCI) || chunk_of(m, GS_GPU))
            fprintf(out, "# If other applications, without a section, may be granted the link and a GPU for as long as "
                         "this one:\n");
        print_chunks(out, "# ", o, m);
        fputc('\n', out);
    }
    fprintf(out, "[task %s]\n", o->task);
    if (!o->period_ns)
        fprintf(out, "# Twice the longest job with its hand-overs: put the true period here.\n");
    fprintf(out, "period = %s\n", gs_format_duration(period_of(o, m), buf));
    if (chunk_of(m, GS_PCI) || chunk_of(m, GS_GPU))
        fprintf(out, "# The longest from a grant to its end, by the %d chunks that it then may be.\n", DEPTH);
    print_chunks(out, "", o, m);
    for (int k = 0; k < MODES; k++)
        if (m->chain[k].n)
            print_mode(out, o, m, k);
}

/* True: what was measured is in the file. */
static bool append_config(const struct options *o, const struct measured *m)
{
    bool has_system;
    FILE *out = may_append(o, &has_system) ? fopen(o->append, "ae") : NULL;
    if (out) {
        fseek(out, 0, SEEK_END);
        if (ftell(out) > 0)
            fputc('\n', out);
        print_config(out, o, m, !has_system);
    }
    const bool written = out && !ferror(out);
    if (out && fclose(out) == 0 && written) {
        struct gs_config config;
        struct gs_mistakes mistakes = {0};
        gs_config_load(o->append, &config, &mistakes); /* its [system] may be another machine's */
        gs_mistakes_print(&mistakes, o->append);
        gs_mistakes_free(&mistakes);
        gs_config_free(&config);
        return true;
    }
    gs_error("%s can't be appended to: %s; what was measured is on standard output", o->append, strerror(errno));
    print_config(stdout, o, m, true);
    return false;
}

static json_t *times_json(const struct gs_profile_times *t)
{
    return json_pack("{s:I, s:I, s:I}", "longest_ns", (json_int_t)t->longest_ns, "median_ns", (json_int_t)t->median_ns,
                     "shortest_ns", (json_int_t)t->shortest_ns);
}

static json_t *mode_json(const struct options *o, const struct measured *m, int k)
{
    const struct gs_profile_chain *c = &m->chain[k];
    json_t *segments = json_array();
    for (size_t j = 0; j < c->n; j++) {
        json_t *s = times_json(&c->segments[j]);
        json_object_set_new(s, "resource", json_string(gs_resource_names[c->segments[j].resource]));
        json_object_set_new(s, "worst_ns", json_integer(with_margin(o, c->segments[j].longest_ns)));
        if (c->segments[j].pauses) {
            json_object_set_new(s, "pauses", json_integer(c->segments[j].pauses));
            json_object_set_new(s, "pause_ns", json_integer(with_margin(o, c->segments[j].pause_ns)));
        }
        if (o->chunks && c->segments[j].chunks)
            json_object_set_new(s, "chunks", json_integer(chunks_of(o, m, &c->segments[j])));
        json_array_append_new(segments, s);
    }
    return json_pack("{s:i, s:i, s:I, s:I, s:o, s:f, s:o}", "gpus", gpus_of(m, k), "runs", m->profile[k].runs, "jobs",
                     (json_int_t)c->jobs, "other_jobs", (json_int_t)c->others, "response", times_json(&c->whole),
                     "longest_by_median", spread_of(c), "segments", segments);
}

static void print_json(const struct options *o, const struct measured *m)
{
    json_t *modes = json_array(), *chunks = json_object();
    for (int r = 0; r < GS_RESOURCES; r++)
        if (chunk_of(m, r))
            json_object_set_new(chunks, gs_resource_names[r], json_integer(with_margin(o, chunk_of(m, r))));
    for (int k = 0; k < MODES; k++)
        if (m->chain[k].n)
            json_array_append_new(modes, mode_json(o, m, k));
    json_t *all =
        json_pack("{s:s, s:i, s:i, s:I, s:o, s:o}", "task", o->task, "gpus", group_of(m), "margin_percent",
                  (int)o->margin, "period_ns", (json_int_t)period_of(o, m), "chunk_ns", chunks, "modes", modes);
    json_object_set_new(all, "complete", json_boolean(done_of(m) == all_of(o, m)));
    json_object_set_new(all, "done", json_integer(done_of(m)));
    json_object_set_new(all, "asked", json_integer(all_of(o, m)));
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

/* Longest times that stand out: the machine was busy, or a few runs have not shown the longest. */
static void say_noise(const struct options *o, const struct measured *m)
{
    for (int k = 0; k < MODES; k++) {
        const double spread = spread_of(&m->chain[k]);
        const int gpus = gpus_of(m, k);
        if (spread < NOISY || (k > 0 && gpus < 2))
            continue;
        gs_warn(
            "with %d GPU%s the longest times are %.1f times the medians: they vary, or the machine was busy. Profile "
            "on an idle machine%s",
            gpus, gpus == 1 ? "" : "s", spread, o->n_from ? ", or give more traces" : "");
        if (!o->n_from)
            gs_warn("more runs tell whether that is the longest: --runs %ld", 4 * o->runs);
    }
}

/* What the reader of the config should know of its jobs. False: there is nothing to write. */
static bool say_findings(const struct options *o, const struct measured *m)
{
    bool any = false;
    for (int k = 0; k < MODES; k++) {
        const struct gs_profile *p = &m->profile[k];
        const struct gs_profile_chain *c = &m->chain[k];
        any = any || c->n;
        if (c->n > GS_CONFIG_MAX_SEGMENTS) {
            gs_error("a job has %zu segments; a config holds %d", c->n, GS_CONFIG_MAX_SEGMENTS);
            return false;
        }
        if (p->runs && !c->n && !m->failed)
            gs_warn("no job was seen in %d run%s", p->runs, p->runs == 1 ? "" : "s");
        if (c->partial)
            gs_warn("%zu of %zu jobs have another sequence of segments than the commonest, and no chain that a config "
                    "can hold covers all: a response time may be longer than the analysis of this one says",
                    c->others, p->n);
    }
    for (int k = 0; k < MODES; k++)
        if (m->profile[k].moves_piecewise)
            gs_warn("a job that begins on another GPU than the last fetches its data in many pieces: its GPU segments "
                    "count as on one GPU, which isn't proven where more urgent tasks have several");
    say_noise(o, m);
    if (m->chain[1].n && m->profile[1].used < 2 && m->profile[1].devices > 1)
        gs_warn("no kernel was split over several GPUs: gpusparc run --stats says why");
    return any;
}

static int run(int argc, char **argv)
{
    struct options o;
    struct measured m = {0};
    int status = read_options(argc, argv, &o), err = 0;
    bool has_system;
    if (o.help)
        fputs(usage, stdout);
    if (status || o.help)
        return status;
    if (!may_append(&o, &has_system))
        return GS_EXIT_FAILED;
    struct sigaction action = {.sa_handler = stop}, old_int, old_term;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    (o.n_from ? read_all : run_all)(&o, &m);
    for (int k = 0; k < MODES && !err; k++)
        err = gs_profile_chain(&m.profile[k], &m.chain[k]);
    if (err)
        gs_error("out of memory");
    bool any = !err && say_findings(&o, &m);
    /* On one device after all: that is the chain for one GPU, or the same again. */
    if (any && m.profile[1].used < 2)
        gs_profile_chain_free(&m.chain[1]);
    if (any && (m.chain[0].n || m.chain[1].n)) {
        if (o.json)
            print_json(&o, &m);
        else if (o.append)
            any = append_config(&o, &m);
        else
            print_config(stdout, &o, &m, true);
    }
    const bool cut = is_cut_short(&o, &m);
    if (cut && any)
        gs_warn("stopped after %ld of %ld %s: the answer is of these", done_of(&m), all_of(&o, &m),
                o.n_from ? "traces" : "runs");
    else if (cut)
        gs_error("stopped before anything was known");
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    for (int k = 0; k < MODES; k++) {
        gs_profile_chain_free(&m.chain[k]);
        gs_profile_free(&m.profile[k]);
    }
    if (cut)
        return 128 + gs_bench_stopped;
    return any && !m.failed ? GS_EXIT_OK : GS_EXIT_FAILED;
}

const struct gs_command gs_cmd_profile = {
    .name = "profile",
    .summary = "measure an application's segments, and write its section of a config",
    .usage = usage,
    .run = run,
    .starts_app = true,
};
