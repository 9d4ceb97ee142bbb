/* SPDX-License-Identifier: MIT */
/* gpusparc probe order: how predictable the order is in which a device runs groups or warps (Defour, 2014). */
#include "scheduler/probes/probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/probes/vecstat.h"

extern const char gs_probe_order_cl[];

enum { WARP = 32, MAX_GROUPS = 65536, MAX_WARPS = 32, BATCH = 128 };

struct options {
    bool atomic, warps, sync, init, json, resume, force;
    unsigned first, last; /* groups, or warps of each group */
    uint64_t runs, device, distinct;
    const char *note, *state_file, *plot;
};

/* One size of the sweep. */
struct point {
    unsigned n; /* groups or warps */
    struct gs_vecstat *stat;
};

/* What one launch needs. */
struct launch {
    const struct options *o;
    struct probe_device device;
    cl_program program;
    cl_kernel kernel;
    cl_mem out, counter;
    uint64_t *times;
    uint32_t *ranks, *order;
    size_t room; /* values in `out` */
};

static unsigned groups_of(const struct launch *l, unsigned n)
{
    return l->o->warps ? l->device.compute_units : n;
}

/* Values that one run gives, and how many of them make a vector. */
static size_t values_of(const struct launch *l, unsigned n)
{
    return (size_t)groups_of(l, n) * (l->o->warps ? n : 1);
}

static size_t vector_of(const struct launch *l, unsigned n)
{
    (void)l;
    return n;
}

static void release(struct launch *l)
{
    if (l->out)
        clReleaseMemObject(l->out);
    if (l->counter)
        clReleaseMemObject(l->counter);
    if (l->kernel)
        clReleaseKernel(l->kernel);
    if (l->program)
        clReleaseProgram(l->program);
    l->out = l->counter = NULL;
    l->kernel = NULL;
    l->program = NULL;
}

static bool prepare(struct launch *l)
{
    enum probe_clock clock = l->o->atomic ? PROBE_CLOCK_NONE : probe_clock_of(&l->device, !l->o->warps);
    if (!l->o->atomic && clock == PROBE_CLOCK_NONE) {
        gs_error("%s has no clock that a kernel can read (cl_khr_kernel_clock, or PTX on NVIDIA); use --by atomic",
                 l->device.name);
        return false;
    }
    l->program = probe_build(&l->device, gs_probe_order_cl, clock, l->o->sync ? "-DSYNC" : "");
    l->kernel = probe_kernel(l->program, l->o->atomic ? "by_atomic" : "by_clock");
    l->out = l->kernel ? probe_buffer(&l->device, l->room * sizeof(uint64_t)) : NULL;
    l->counter = l->out ? probe_buffer(&l->device, BATCH * sizeof(cl_uint)) : NULL;
    return l->counter != NULL;
}

static bool enqueue(struct launch *l, unsigned n, cl_uint run)
{
    size_t local = l->o->warps ? (size_t)n * WARP : WARP, global = groups_of(l, n) * local;
    cl_uint base = run * (cl_uint)values_of(l, n);
    cl_int rc = clSetKernelArg(l->kernel, 0, sizeof(cl_mem), &l->out);
    rc = rc ? rc : clSetKernelArg(l->kernel, 1, sizeof(base), &base);
    if (l->o->atomic) {
        rc = rc ? rc : clSetKernelArg(l->kernel, 2, sizeof(cl_mem), &l->counter);
        rc = rc ? rc : clSetKernelArg(l->kernel, 3, sizeof(run), &run);
    }
    rc = rc ? rc : clEnqueueNDRangeKernel(l->device.queue, l->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    return probe_ok(rc, "run a kernel");
}

/* `count` launches one after another, each into a place of its own, and one read: the launches don't overlap, as the
 * queue is in order. */
static bool run_batch(struct launch *l, unsigned n, unsigned count)
{
    static const cl_uint zeros[BATCH];
    cl_int rc = clEnqueueWriteBuffer(l->device.queue, l->counter, CL_FALSE, 0, sizeof(zeros), zeros, 0, NULL, NULL);
    if (!probe_ok(rc, "write a buffer"))
        return false;
    for (cl_uint run = 0; run < count; run++)
        if (!enqueue(l, n, run))
            return false;
    rc = clEnqueueReadBuffer(l->device.queue, l->out, CL_TRUE, 0, count * values_of(l, n) * sizeof(uint64_t), l->times,
                             0, NULL, NULL);
    return probe_ok(rc, "read a buffer");
}

/* Each group's warps, or all groups, make one vector of dense ranks. */
static bool add_vectors(struct launch *l, struct point *p, size_t values)
{
    size_t size = vector_of(l, p->n);
    for (size_t i = 0; i + size <= values; i += size) {
        gs_vecstat_ranks(l->times + i, size, l->ranks, l->order);
        if (gs_vecstat_add(p->stat, l->ranks, size)) {
            gs_error("there is not enough memory for the statistics; --distinct bounds it");
            return false;
        }
    }
    return true;
}

static uint64_t runs_done(const struct launch *l, const struct point *p)
{
    uint64_t per_run = l->o->warps ? l->device.compute_units : 1;
    return gs_vecstat_summarise(p->stat).vectors / per_run;
}

static bool measure_point(struct launch *l, struct point *p)
{
    char what[60];
    size_t fits = l->room / values_of(l, p->n);
    unsigned batch = l->o->init ? 1 : fits < BATCH ? (unsigned)fits : BATCH;
    snprintf(what, sizeof(what), "%u %s", p->n, l->o->warps ? "warps" : "groups");
    for (uint64_t done = runs_done(l, p); done < l->o->runs && !probe_interrupted;) {
        unsigned count = l->o->runs - done < batch ? (unsigned)(l->o->runs - done) : batch;
        if (!probe_take(&l->device))
            break;
        if (l->o->init)
            release(l);
        bool ok = (!l->o->init || (probe_reset(&l->device) && prepare(l))) && run_batch(l, p->n, count);
        probe_give(&l->device);
        if (!ok || !add_vectors(l, p, count * values_of(l, p->n)))
            return false;
        done += count;
        probe_progress(what, done, l->o->runs);
    }
    probe_progress_end();
    return true;
}

/* The state file: a line that says what was measured, then each point's statistics. */
static void describe_state(const struct launch *l, char *out, size_t size)
{
    snprintf(out, size, "gpusparc probe order %s %s %s %s %u %u %s\n", l->o->atomic ? "atomic" : "clock",
             l->o->warps ? "warp" : "group", l->o->sync ? "sync" : "-", l->o->init ? "init" : "-", l->o->first,
             l->o->last, l->device.name);
}

static bool save_state(const struct launch *l, const struct point *points, unsigned n)
{
    char head[400];
    describe_state(l, head, sizeof(head));
    FILE *f = fopen(l->o->state_file, "wb");
    bool ok = f && fputs(head, f) >= 0;
    for (unsigned i = 0; ok && i < n; i++)
        ok = gs_vecstat_save(points[i].stat, f) == 0;
    ok = f && fclose(f) == 0 && ok;
    if (!ok)
        gs_error("%s could not be written: %s", l->o->state_file, strerror(errno));
    return ok;
}

static bool load_state(const struct launch *l, struct point *points, unsigned n)
{
    char head[400], line[400] = "";
    FILE *f = fopen(l->o->state_file, "rb");
    if (!f) {
        gs_error("%s could not be read: %s", l->o->state_file, strerror(errno));
        return false;
    }
    describe_state(l, head, sizeof(head));
    bool ok = fgets(line, sizeof(line), f) && strcmp(line, head) == 0;
    if (!ok)
        gs_error("%s belongs to another measurement: its options and device must be the same", l->o->state_file);
    for (unsigned i = 0; ok && i < n; i++) {
        struct gs_vecstat *s;
        ok = gs_vecstat_load(&s, f) == 0;
        if (ok) {
            gs_vecstat_free(points[i].stat);
            points[i].stat = s;
        } else {
            gs_error("%s is damaged: it ends early or isn't a probe's state", l->o->state_file);
        }
    }
    fclose(f);
    return ok;
}

static double log10_possible(const struct options *o, unsigned n)
{
    return o->atomic ? gs_vecstat_log10_orders(n) : gs_vecstat_log10_weak_orders(n);
}

static void print_table(const struct launch *l, const struct point *points, unsigned n)
{
    printf("%s: order of %s by %s%s%s%s\n", l->device.name, l->o->warps ? "warps in a group" : "groups",
           l->o->atomic ? "atomic counter" : probe_clock_name(probe_clock_of(&l->device, !l->o->warps)),
           l->o->sync ? ", barrier first" : "", l->o->init ? ", context made anew" : "",
           l->o->warps ? ", one group per compute unit" : "");
    printf("%8s %10s %8s %12s %10s %18s\n", l->o->warps ? "warps" : "groups", "vectors", "mode %", "cardinality",
           "entropy", "possible orders");
    for (unsigned i = 0; i < n; i++) {
        struct gs_vecstat_summary s = gs_vecstat_summarise(points[i].stat);
        uint64_t all = l->o->atomic ? gs_vecstat_orders(points[i].n) : gs_vecstat_weak_orders(points[i].n);
        if (!s.vectors)
            continue;
        printf("%8u %10llu %8.2f %s%11.0f %10.3f ", points[i].n, (unsigned long long)s.vectors, 100 * s.mode,
               s.exact ? " " : "~", s.cardinality, s.entropy_bits);
        if (all)
            printf("%18llu\n", (unsigned long long)all);
        else
            printf("%12s10^%.1f\n", "", log10_possible(l->o, points[i].n));
    }
}

static int print_json(const struct launch *l, const struct point *points, unsigned n)
{
    json_t *j = probe_describe(&l->device, l->o->note), *list = json_array();
    json_object_set_new(j, "by", json_string(l->o->atomic ? "atomic" : "clock"));
    json_object_set_new(j, "of", json_string(l->o->warps ? "warp" : "group"));
    json_object_set_new(j, "sync", json_boolean(l->o->sync));
    json_object_set_new(j, "init", json_boolean(l->o->init));
    if (!l->o->atomic)
        json_object_set_new(j, "clock", json_string(probe_clock_name(probe_clock_of(&l->device, !l->o->warps))));
    for (unsigned i = 0; i < n; i++) {
        struct gs_vecstat_summary s = gs_vecstat_summarise(points[i].stat);
        json_t *p = json_pack("{s:i, s:I, s:f, s:I, s:I, s:f, s:b, s:f}", "n", (int)points[i].n, "vectors",
                              (json_int_t)s.vectors, "mode", s.mode, "mode_count", (json_int_t)s.mode_count,
                              "mode_count_most", (json_int_t)s.mode_count_most, "cardinality", s.cardinality, "exact",
                              s.exact, "log10_possible", log10_possible(l->o, points[i].n));
        json_object_set_new(p, "entropy_bits", s.exact ? json_real(s.entropy_bits) : json_null());
        json_array_append_new(list, p);
    }
    json_object_set_new(j, "points", list);
    int rc = json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
    putchar('\n');
    json_decref(j);
    return rc;
}

/* The papers' Figures 1 to 4: mode and cardinality over the number of groups or warps. */
static bool plot(const struct launch *l, const struct point *points, unsigned n)
{
    FILE *f = popen("gnuplot", "w");
    if (!f) {
        gs_error("gnuplot could not be started: %s", strerror(errno));
        return false;
    }
    fprintf(f, "set terminal svg size 900,420 background 'white'\nset output '%s'\n$data << END\n", l->o->plot);
    for (unsigned i = 0; i < n; i++) {
        struct gs_vecstat_summary s = gs_vecstat_summarise(points[i].stat);
        if (s.vectors)
            fprintf(f, "%u %g %g\n", points[i].n, 100 * s.mode, s.cardinality);
    }
    fprintf(
        f,
        "END\nset multiplot layout 1,2 title \"%s: %s by %s\" noenhanced\nset xlabel '%s'\nset key off\nset grid\n"
        "set ylabel 'mode, percent'\nset yrange [0:100]\nplot $data using 1:2 with linespoints\n"
        "set ylabel 'different vectors'\nset yrange [0.9:*]\nset logscale y\nplot $data using 1:3 with linespoints\n",
        l->device.name, l->o->warps ? "warps" : "groups", l->o->atomic ? "atomic" : "clock",
        l->o->warps ? "warps per group" : "groups");
    if (pclose(f) == 0)
        return true;
    gs_error("gnuplot could not draw %s", l->o->plot);
    return false;
}

static bool report(const struct launch *l, const struct point *points, unsigned n)
{
    bool ok = true;
    if (l->o->state_file)
        ok = save_state(l, points, n);
    if (l->o->json)
        ok = print_json(l, points, n) == 0 && ok;
    else
        print_table(l, points, n);
    if (l->o->plot)
        ok = plot(l, points, n) && ok;
    if (probe_interrupted)
        gs_warn("stopped early; what was measured so far is above%s", l->o->state_file ? ", and --resume goes on" : "");
    return ok;
}

static bool allocate(struct launch *l, struct point *points, unsigned n)
{
    l->room = values_of(l, l->o->last) * (l->o->init ? 1 : BATCH);
    if (l->room > (size_t)1 << 22)
        l->room = values_of(l, l->o->last) > (size_t)1 << 22 ? values_of(l, l->o->last) : (size_t)1 << 22;
    l->times = malloc(l->room * sizeof(*l->times));
    l->ranks = malloc(l->o->last * sizeof(*l->ranks));
    l->order = malloc(l->o->last * sizeof(*l->order));
    bool ok = l->times && l->ranks && l->order;
    for (unsigned i = 0; i < n; i++) {
        points[i] = (struct point){l->o->first + i, gs_vecstat_new((size_t)l->o->distinct)};
        ok = ok && points[i].stat;
    }
    if (!ok)
        gs_error("there is not enough memory for the probe");
    return ok;
}

static bool fits_device(const struct launch *l)
{
    if (!l->o->warps || (size_t)l->o->last * WARP <= l->device.max_group)
        return true;
    gs_error("%s takes groups of %zu work-items at most, which is %zu warps, not %u", l->device.name,
             l->device.max_group, l->device.max_group / WARP, l->o->last);
    return false;
}

static int measure(const struct options *o)
{
    struct launch l = {.o = o};
    unsigned n = o->last - o->first + 1;
    struct point *points = calloc(n, sizeof(*points));
    bool ok = points && probe_open(&l.device, (unsigned)o->device, o->force) && fits_device(&l) &&
              allocate(&l, points, n) && prepare(&l) && (!o->resume || load_state(&l, points, n));
    probe_catch_interrupt();
    for (unsigned i = 0; ok && i < n && !probe_interrupted; i++)
        ok = measure_point(&l, &points[i]);
    ok = ok && report(&l, points, n);
    for (unsigned i = 0; points && i < n; i++)
        gs_vecstat_free(points[i].stat);
    release(&l);
    probe_close(&l.device);
    free(points);
    free(l.times);
    free(l.ranks);
    free(l.order);
    return ok ? PROBE_EXIT_OK : PROBE_EXIT_FAILED;
}

enum { BY = 256, OF, COUNT, RUNS, SYNC, INIT, DEVICE, DISTINCT, NOTE, STATE, RESUME, PLOT, FORCE, JSON };

static bool read_choice(const char *option, const char *text, const char *no, const char *yes, bool *out)
{
    *out = strcmp(text, yes) == 0;
    if (*out || strcmp(text, no) == 0)
        return true;
    gs_error("--%s is %s or %s, not '%s'", option, no, yes, text);
    return false;
}

static bool read_option(struct options *o, int c)
{
    switch (c) {
    case BY:
        return read_choice("by", optarg, "clock", "atomic", &o->atomic);
    case OF:
        return read_choice("of", optarg, "group", "warp", &o->warps);
    case COUNT:
        return probe_range("count", optarg, MAX_GROUPS, &o->first, &o->last);
    case RUNS:
        return probe_number("runs", optarg, 1, UINT64_C(1) << 40, &o->runs);
    case SYNC:
        return o->sync = true;
    case INIT:
        return o->init = true;
    case DEVICE:
        return probe_number("device", optarg, 0, 63, &o->device);
    case DISTINCT:
        return probe_number("distinct", optarg, 1, UINT64_C(1) << 30, &o->distinct);
    case NOTE:
        o->note = optarg;
        return true;
    case STATE:
        o->state_file = optarg;
        return true;
    case RESUME:
        return o->resume = true;
    case PLOT:
        o->plot = optarg;
        return true;
    case FORCE:
        return o->force = true;
    case JSON:
        return o->json = true;
    default:
        gs_error("probe order does not know an option, or it lacks its value; see gpusparc probe --help");
        return false;
    }
}

static bool check(struct options *o)
{
    if (!o->first) {
        o->first = 1;
        o->last = 32;
    }
    if (o->warps && o->last > MAX_WARPS)
        gs_error("--count is at most %d for warps: a group has no more", MAX_WARPS);
    else if (o->resume && !o->state_file)
        gs_error("--resume wants --state FILE, the file that the first part wrote");
    else if (o->plot && strpbrk(o->plot, "'\n"))
        gs_error("--plot wants a file name without quotes");
    else
        return true;
    return false;
}

int probe_order_main(int argc, char **argv)
{
    static const struct option options[] = {{"by", required_argument, NULL, BY},
                                            {"of", required_argument, NULL, OF},
                                            {"count", required_argument, NULL, COUNT},
                                            {"runs", required_argument, NULL, RUNS},
                                            {"sync", no_argument, NULL, SYNC},
                                            {"init", no_argument, NULL, INIT},
                                            {"device", required_argument, NULL, DEVICE},
                                            {"distinct", required_argument, NULL, DISTINCT},
                                            {"note", required_argument, NULL, NOTE},
                                            {"state", required_argument, NULL, STATE},
                                            {"resume", no_argument, NULL, RESUME},
                                            {"plot", required_argument, NULL, PLOT},
                                            {"force", no_argument, NULL, FORCE},
                                            {"json", no_argument, NULL, JSON},
                                            {0}};
    struct options o = {.runs = 1000};
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (!read_option(&o, c))
            return PROBE_EXIT_USAGE;
    if (optind < argc) {
        gs_error("probe order takes options alone, not '%s'", argv[optind]);
        return PROBE_EXIT_USAGE;
    }
    return check(&o) ? measure(&o) : PROBE_EXIT_USAGE;
}
