/* SPDX-License-Identifier: MIT */
/* The life of a probe: options, device, state, measurement, report. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/options.h"
#include "common/plot.h"
#include "common/stream.h"
#include "common/utf8.h"
#include "scheduler/probes/probe.h"

enum { MAX_LINE = 500 };

atomic_bool probe_interrupted;

double probe_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double interrupted_at;
static atomic_int interrupted_by;

/* The same Ctrl-C may come twice, from the terminal and from gpusparc; the user's second one ends the process. */
static void on_interrupt(int signal_number)
{
    const double same_s = 1, now = probe_seconds();
    sigset_t own;
    if (!atomic_exchange(&probe_interrupted, true)) {
        interrupted_at = now;
        interrupted_by = signal_number;
    } else if (now - interrupted_at > same_s) {
        sigemptyset(&own);
        sigaddset(&own, signal_number);
        signal(signal_number, SIG_DFL);
        pthread_sigmask(SIG_UNBLOCK, &own, NULL);
        raise(signal_number);
    }
}

static sigset_t interrupts;

static void *await_interrupts(void *unused)
{
    (void)unused;
    for (int number;;)
        if (sigwait(&interrupts, &number) == 0)
            on_interrupt(number);
    return NULL;
}

/* By a thread, and in no other, all of which are started later: a driver's compiler puts handlers of its own in the
 * place of ours, as LLVM does, whose removes the files that are just being written; the compilation fails then. */
static void catch_interrupt(void)
{
    const struct sigaction a = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART}; /* else an ignored one is lost */
    pthread_t thread;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGTERM);
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    pthread_sigmask(SIG_BLOCK, &interrupts, NULL);
    if (pthread_create(&thread, NULL, await_interrupts, NULL) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &interrupts, NULL);
}

static bool progress_shown;

void probe_progress(const struct probe *p, const char *what, uint64_t done, uint64_t all)
{
    static double last;
    double now = probe_seconds();
    if (p->json || !isatty(STDERR_FILENO) || now - last < 0.1)
        return;
    last = now;
    progress_shown = true;
    fprintf(stderr, "\r%s: %llu of %llu (%.0f %%)\033[K", what, (unsigned long long)done, (unsigned long long)all,
            all ? 100.0 * (double)done / (double)all : 100.0);
}

static void end_progress(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

/* ---- options ---- */

bool probe_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (end && !*end && !errno && v >= least && v <= most) {
        *value = v;
        return true;
    }
    gs_error("--%s wants a number from %llu to %llu, not '%s'", option, (unsigned long long)least,
             (unsigned long long)most, text);
    return false;
}

bool probe_range(const char *option, const char *text, unsigned most, unsigned *first, unsigned *last)
{
    char begin[16];
    const char *dots = strstr(text, "..");
    uint64_t a, b;
    size_t n = dots ? (size_t)(dots - text) : strlen(text);
    if (n >= sizeof(begin))
        n = 0;
    memcpy(begin, text, n);
    begin[n] = '\0';
    if (!probe_number(option, begin, 1, most, &a) || !probe_number(option, dots ? dots + 2 : begin, a, most, &b))
        return false;
    *first = (unsigned)a;
    *last = (unsigned)b;
    return true;
}

enum { DEVICE = 1, NOTE, STATE, RESUME, PLOT, FORCE, JSON, MAX_OPTIONS = 32 };

static const struct option common[] = {
    {"device", required_argument, NULL, DEVICE}, {"note", required_argument, NULL, NOTE},
    {"state", required_argument, NULL, STATE},   {"resume", no_argument, NULL, RESUME},
    {"plot", required_argument, NULL, PLOT},     {"force", no_argument, NULL, FORCE},
    {"json", no_argument, NULL, JSON},           {0}};

static bool take_option(struct probe *p, int option, const char *value)
{
    switch (option) {
    case DEVICE:
        return probe_number("device", value, 0, 63, &p->device_index);
    case NOTE:
        p->note = value;
        if (!gs_is_utf8(value))
            gs_error("--note wants text in UTF-8, as JSON does");
        return gs_is_utf8(value);
    case STATE:
        p->state_file = value;
        return true;
    case RESUME:
        return p->resume = true;
    case PLOT:
        p->plot = value;
        return gs_plot_name_is_right("--plot", value);
    case FORCE:
        return p->force = true;
    case JSON:
        return p->json = true;
    default:
        return p->kind->take_option(p, option, value);
    }
}

static bool read_options(struct probe *p, int argc, char **argv)
{
    struct option all[MAX_OPTIONS] = {{0}};
    size_t n = 0;
    for (const struct option *o = common; o->name; o++)
        all[n++] = *o;
    for (const struct option *o = p->kind->options; o->name && n < MAX_OPTIONS - 1; o++)
        all[n++] = *o;
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", all, NULL)) != -1)
        if (c == '?') {
            gs_option_error(argv, all, "gpusparc probe");
            return false;
        } else if (!take_option(p, c, optarg)) {
            return false;
        }
    if (optind < argc)
        gs_error("probe %s takes options alone, not '%s'", p->kind->name, argv[optind]);
    else if (p->resume && !p->state_file)
        gs_error("--resume wants --state FILE, the file that the first part wrote");
    else
        return !p->kind->check_options || p->kind->check_options(p);
    return false;
}

/* ---- the state's file ---- */

static void describe(struct probe *p, char line[MAX_LINE])
{
    char own[MAX_LINE - 150];
    p->kind->describe(p, own, sizeof(own));
    snprintf(line, MAX_LINE, "%s %s on %s", p->kind->name, own, p->device.name);
}

static bool save(struct probe *p)
{
    char line[MAX_LINE];
    if (!p->state_file)
        return true;
    double begin = probe_seconds();
    describe(p, line);
    bool ok = probe_state_save(p->state_file, line, p->kind->data, p);
    p->saved_at = probe_seconds();
    p->save_seconds = p->saved_at - begin;
    return ok;
}

/* Goes on from the state's file, or makes sure that it overwrites nothing. */
static bool begin_state(struct probe *p)
{
    char line[MAX_LINE];
    p->saved_at = probe_seconds();
    if (!p->state_file)
        return true;
    if (!p->resume && access(p->state_file, F_OK) == 0) {
        gs_error("%s is there already: --resume goes on from it, or remove it to begin anew", p->state_file);
        return false;
    }
    describe(p, line);
    return !p->resume || probe_state_load(p->state_file, line, p->kind->data, p);
}

bool probe_go_on(struct probe *p)
{
    enum { SAVE_EVERY_S = 60, MEASURE_TO_SAVE = 20 };
    const double wait = fmax((double)SAVE_EVERY_S, (double)MEASURE_TO_SAVE * p->save_seconds);
    if (p->state_file && probe_seconds() - p->saved_at > wait)
        save(p); /* a failure is said, and the last attempt may do better */
    return !probe_interrupted && probe_quiet_keep(&p->quiet);
}

/* ---- the report ---- */

static bool print_json(struct probe *p, uint64_t done, uint64_t all)
{
    const struct probe_device *d = &p->device;
    char when[40];
    time_t now = time(NULL);
    struct tm t;
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &t));
    json_t *j =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:I, s:I, s:b, s:i}", "probe", p->kind->name, "device",
                  d->name, "platform", d->platform, "driver", d->driver, "compute_units", (int)d->compute_units, "time",
                  when, "note", p->note ? p->note : "", "complete", done >= all, "done", (json_int_t)done, "asked",
                  (json_int_t)all, "kept_quiet", p->kept_quiet, "pauses", (int)p->quiet.pauses);
    p->kind->add_json(p, j);
    int rc = json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(j);
    return rc == 0;
}

static bool draw(struct probe *p)
{
    FILE *plot = gs_plot_open(p->plot);
    if (!plot)
        return false;
    p->kind->plot(p, plot);
    return gs_plot_close(plot, p->plot) == 0;
}

static bool report(struct probe *p)
{
    uint64_t all;
    const uint64_t done = p->kind->done(p, &all);
    bool ok = save(p);
    p->complete = done >= all;
    if (p->json)
        ok = print_json(p, done, all) && ok;
    else if (done)
        p->kind->print_table(p);
    if (p->plot && done)
        ok = draw(p) && ok;
    if (p->complete && p->kind->finish)
        ok = p->kind->finish(p) && ok;
    if (p->complete && p->quiet.lost)
        gs_warn("others may have used the device during a part of the runs");
    if (!done)
        gs_warn("stopped before anything was known");
    else if (!p->complete)
        gs_warn("stopped after %llu of %llu %s: what is above is of these%s", (unsigned long long)done,
                (unsigned long long)all, p->kind->counts, p->state_file ? ", and --resume goes on" : "");
    return ok;
}

/* What is only found out when all has been measured is found out too late. */
bool probe_can_write(const char *path)
{
    const int err = path ? gs_can_write(path) : 0;
    if (err)
        gs_error("%s could not be written: %s", path, strerror(-err));
    return !err;
}

static bool live(struct probe *p)
{
    catch_interrupt();
    bool ok = probe_can_write(p->state_file) && (!p->plot || gs_plot_is_possible("--plot", p->plot)) &&
              probe_open(&p->device, (unsigned)p->device_index) &&
              (p->force || probe_quiet_join(&p->quiet, (unsigned)p->device_index)) && p->kind->prepare(p) &&
              begin_state(p);
    if (!ok)
        return false;
    ok = p->kind->measure(p);
    end_progress();
    p->kept_quiet = probe_quiet_leave(&p->quiet);
    if (p->quiet.failed && p->quiet.pauses == 0)
        return false; /* not a run was made */
    return ok && report(p) && !p->quiet.failed;
}

int probe_main(const struct probe_kind *kind, int argc, char **argv)
{
    struct probe *p = calloc(1, kind->bytes);
    if (!p) {
        gs_error("there is not enough memory for the probe");
        return PROBE_EXIT_FAILED;
    }
    p->kind = kind;
    kind->set_defaults(p);
    int status = PROBE_EXIT_USAGE;
    if (read_options(p, argc, argv)) {
        status = !live(p) ? PROBE_EXIT_FAILED : p->complete ? PROBE_EXIT_OK : 128 + interrupted_by;
        kind->release(p);
        probe_quiet_leave(&p->quiet);
        probe_close(&p->device);
    }
    free(p);
    return status;
}
