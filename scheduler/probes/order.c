/* SPDX-License-Identifier: MIT */
/* gpusparc probe order: how predictable the order is in which a device runs groups or warps (Defour, 2014). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/chart.h"
#include "common/log.h"
#include "scheduler/probes/probe.h"
#include "scheduler/probes/vecstat.h"

extern const char gs_probe_order_cl[];

enum { WARP = 32, MAX_GROUPS = 65536, MAX_WARPS = 32, BATCH = 128 };

/* One size of the sweep. */
struct point {
    unsigned n; /* groups, or warps of each group */
    struct gs_vecstat *stat;
};

struct order {
    struct probe base;
    /* The options. */
    bool atomic, warps, sync, init;
    unsigned first, last; /* groups or warps */
    uint64_t runs, distinct;
    /* What one launch needs. */
    cl_program program;
    cl_kernel kernel;
    cl_mem out, counter;
    uint64_t *times;
    uint32_t *ranks, *order;
    size_t room;          /* values in `out` */
    struct point *points; /* last - first + 1 */
};

static unsigned groups_of(const struct order *l, unsigned n)
{
    return l->warps ? l->base.device.compute_units : n;
}

/* Values that one run gives. */
static size_t values_of(const struct order *l, unsigned n)
{
    return (size_t)groups_of(l, n) * (l->warps ? n : 1);
}

static unsigned points_of(const struct order *l)
{
    return l->last - l->first + 1;
}

static void release_kernel(struct order *l)
{
    probe_drop_buffers(&l->out, 1);
    probe_drop_buffers(&l->counter, 1);
    probe_drop_kernels(&l->kernel, 1);
    probe_drop_program(&l->program);
}

static enum probe_clock clock_of(const struct order *l)
{
    return l->atomic ? PROBE_CLOCK_NONE : probe_clock_of(&l->base.device, !l->warps);
}

static bool prepare_kernel(struct order *l)
{
    l->program = probe_build(&l->base.device, gs_probe_order_cl, clock_of(l), l->sync ? "-DSYNC" : "");
    l->kernel = probe_kernel(l->program, l->atomic ? "by_atomic" : "by_clock");
    l->out = l->kernel ? probe_buffer(&l->base.device, l->room * sizeof(uint64_t)) : NULL;
    l->counter = l->out ? probe_buffer(&l->base.device, BATCH * sizeof(cl_uint)) : NULL;
    return l->counter != NULL;
}

static bool enqueue(struct order *l, unsigned n, cl_uint run)
{
    size_t local = l->warps ? (size_t)n * WARP : WARP, global = groups_of(l, n) * local;
    cl_uint base = run * (cl_uint)values_of(l, n);
    cl_int rc = clSetKernelArg(l->kernel, 0, sizeof(cl_mem), &l->out);
    rc = rc ? rc : clSetKernelArg(l->kernel, 1, sizeof(base), &base);
    if (l->atomic) {
        rc = rc ? rc : clSetKernelArg(l->kernel, 2, sizeof(cl_mem), &l->counter);
        rc = rc ? rc : clSetKernelArg(l->kernel, 3, sizeof(run), &run);
    }
    rc = rc ? rc : clEnqueueNDRangeKernel(l->base.device.queue, l->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    return probe_ok(rc, "run a kernel");
}

/* `count` launches one after another, each into a place of its own, and one read: the launches don't overlap, as the
 * queue is in order. */
static bool run_batch(struct order *l, unsigned n, unsigned count)
{
    static const cl_uint zeros[BATCH];
    cl_int rc =
        clEnqueueWriteBuffer(l->base.device.queue, l->counter, CL_FALSE, 0, sizeof(zeros), zeros, 0, NULL, NULL);
    if (!probe_ok(rc, "write a buffer"))
        return false;
    for (cl_uint run = 0; run < count; run++)
        if (!enqueue(l, n, run))
            return false;
    rc = clEnqueueReadBuffer(l->base.device.queue, l->out, CL_TRUE, 0, count * values_of(l, n) * sizeof(uint64_t),
                             l->times, 0, NULL, NULL);
    return probe_ok(rc, "read a buffer");
}

/* Each group's warps, or all groups, make one vector of dense ranks. */
static bool add_vectors(struct order *l, struct point *p, size_t values)
{
    size_t size = p->n;
    for (size_t i = 0; i + size <= values; i += size) {
        gs_vecstat_ranks(l->times + i, size, l->ranks, l->order);
        if (gs_vecstat_add(p->stat, l->ranks, size)) {
            gs_error("there is not enough memory for the statistics; --distinct bounds it");
            return false;
        }
    }
    return true;
}

static uint64_t runs_done(const struct order *l, const struct point *p)
{
    uint64_t per_run = l->warps ? l->base.device.compute_units : 1;
    return gs_vecstat_summarise(p->stat).vectors / per_run;
}

static bool measure_point(struct order *l, struct point *p)
{
    char what[60];
    size_t fits = l->room / values_of(l, p->n);
    unsigned batch = l->init ? 1 : fits < BATCH ? (unsigned)fits : BATCH;
    snprintf(what, sizeof(what), "%u %s", p->n, l->warps ? "warps" : "groups");
    for (uint64_t done = runs_done(l, p); done < l->runs && probe_go_on(&l->base);) {
        unsigned count = l->runs - done < batch ? (unsigned)(l->runs - done) : batch;
        if (l->init)
            release_kernel(l);
        if (l->init && !(probe_reset(&l->base.device) && prepare_kernel(l)))
            return false;
        if (!run_batch(l, p->n, count) || !add_vectors(l, p, count * values_of(l, p->n)))
            return false;
        done += count;
        probe_progress(&l->base, what, done, l->runs);
    }
    return true;
}

static bool measure(void *probe)
{
    struct order *l = probe;
    bool ok = true;
    for (unsigned i = 0; ok && i < points_of(l) && !probe_interrupted; i++)
        ok = measure_point(l, &l->points[i]);
    return ok;
}

static uint64_t runs_of_all(void *probe, uint64_t *all)
{
    const struct order *l = probe;
    uint64_t done = 0;
    *all = 0;
    for (unsigned i = 0; i < points_of(l); i++) {
        const uint64_t runs = runs_done(l, &l->points[i]);
        done += runs < l->runs ? runs : l->runs;
        *all += l->runs;
    }
    return done;
}

static void describe(void *probe, char *line, size_t bytes)
{
    const struct order *l = probe;
    snprintf(line, bytes, "%s %s%s%s %u..%u", l->atomic ? "atomic" : "clock", l->warps ? "warp" : "group",
             l->sync ? " sync" : "", l->init ? " init" : "", l->first, l->last);
}

static bool data(void *probe, struct probe_state *s)
{
    struct order *l = probe;
    bool ok = true;
    for (unsigned i = 0; ok && i < points_of(l); i++)
        ok = probe_state_vectors(s, &l->points[i].stat);
    return ok;
}

static double log10_possible(const struct order *l, unsigned n)
{
    return l->atomic ? gs_vecstat_log10_orders(n) : gs_vecstat_log10_weak_orders(n);
}

static void print_table(void *probe)
{
    const struct order *l = probe;
    const struct point *points = l->points;
    printf("%s: order of %s by %s%s%s%s\n", l->base.device.name, l->warps ? "warps in a group" : "groups",
           l->atomic ? "atomic counter" : probe_clock_name(clock_of(l)), l->sync ? ", barrier first" : "",
           l->init ? ", context made anew" : "", l->warps ? ", one group per compute unit" : "");
    printf("%8s %10s %8s %12s %10s %18s\n", l->warps ? "warps" : "groups", "vectors", "mode %", "cardinality",
           "entropy", "possible orders");
    for (unsigned i = 0; i < points_of(l); i++) {
        struct gs_vecstat_summary s = gs_vecstat_summarise(points[i].stat);
        uint64_t all = l->atomic ? gs_vecstat_orders(points[i].n) : gs_vecstat_weak_orders(points[i].n);
        if (!s.vectors)
            continue;
        printf("%8u %10llu %8.2f %s%11.0f %10.3f ", points[i].n, (unsigned long long)s.vectors, 100 * s.mode,
               s.exact ? " " : "~", s.cardinality, s.entropy_bits);
        if (all)
            printf("%18llu\n", (unsigned long long)all);
        else
            printf("%12s10^%.1f\n", "", log10_possible(l, points[i].n));
    }
}

static void add_json(void *probe, json_t *j)
{
    const struct order *l = probe;
    const struct point *points = l->points;
    json_t *list = json_array();
    json_object_set_new(j, "by", json_string(l->atomic ? "atomic" : "clock"));
    json_object_set_new(j, "of", json_string(l->warps ? "warp" : "group"));
    json_object_set_new(j, "sync", json_boolean(l->sync));
    json_object_set_new(j, "init", json_boolean(l->init));
    if (!l->atomic)
        json_object_set_new(j, "clock", json_string(probe_clock_name(clock_of(l))));
    for (unsigned i = 0; i < points_of(l); i++) {
        struct gs_vecstat_summary s = gs_vecstat_summarise(points[i].stat);
        json_t *p = json_pack("{s:i, s:I, s:f, s:I, s:I, s:f, s:b, s:f}", "n", (int)points[i].n, "vectors",
                              (json_int_t)s.vectors, "mode", s.mode, "mode_count", (json_int_t)s.mode_count,
                              "mode_count_most", (json_int_t)s.mode_count_most, "cardinality", s.cardinality, "exact",
                              s.exact, "log10_possible", log10_possible(l, points[i].n));
        json_object_set_new(p, "entropy_bits", s.exact ? json_real(s.entropy_bits) : json_null());
        json_array_append_new(list, p);
    }
    json_object_set_new(j, "points", list);
}

/* The papers' Figures 1 to 3: mode and cardinality over the number of groups or warps. */
static void plot(void *probe, FILE *f)
{
    const struct order *l = probe;
    const size_t most = points_of(l);
    double *v = malloc((most + 1) * 3 * sizeof *v), *n = v, *mode = v + most, *different = mode + most;
    char title[256];
    size_t points = 0;
    for (unsigned i = 0; v && i < most; i++) {
        struct gs_vecstat_summary s = gs_vecstat_summarise(l->points[i].stat);
        if (!s.vectors)
            continue;
        n[points] = l->points[i].n;
        mode[points] = 100 * s.mode;
        different[points++] = s.cardinality;
    }
    snprintf(title, sizeof title, "%s: order of %s by %s%s%s", l->base.device.name, l->warps ? "warps" : "groups",
             l->atomic ? "atomic" : "clock", l->sync ? ", barrier first" : "", l->init ? ", context made anew" : "");
    const struct gs_curve curves[] = {{.name = "mode", .x = n, .y = mode, .n = points},
                                      {.name = "orders", .x = n, .y = different, .n = points}};
    const struct gs_axis x = {.label = l->warps ? "warps of a group" : "groups"};
    const struct gs_panel panels[] = {{.title = "how often the most frequent order came",
                                       .x = x,
                                       .y = {.label = "launches (%)", .min = -4, .max = 104},
                                       .curves = &curves[0],
                                       .n_curves = 1},
                                      {.title = "different orders seen",
                                       .x = x,
                                       .y = {.label = "orders", .log = true},
                                       .curves = &curves[1],
                                       .n_curves = 1}};
    const struct gs_chart chart = {.title = title, .panels = panels, .n = 2, .columns = 2, .width = 400, .height = 340};
    if (v)
        gs_chart_write(&chart, f);
    free(v);
}

static bool allocate(struct order *l)
{
    const size_t most = (size_t)1 << 22;
    l->room = values_of(l, l->last) * (l->init ? 1 : BATCH);
    if (l->room > most)
        l->room = values_of(l, l->last) > most ? values_of(l, l->last) : most;
    l->times = malloc(l->room * sizeof(*l->times));
    l->ranks = malloc(l->last * sizeof(*l->ranks));
    l->order = malloc(l->last * sizeof(*l->order));
    l->points = calloc(points_of(l), sizeof(*l->points));
    bool ok = l->times && l->ranks && l->order && l->points;
    for (unsigned i = 0; ok && i < points_of(l); i++) {
        l->points[i] = (struct point){l->first + i, gs_vecstat_new((size_t)l->distinct)};
        ok = l->points[i].stat != NULL;
    }
    if (!ok)
        gs_error("there is not enough memory for the probe");
    return ok;
}

static bool prepare(void *probe)
{
    struct order *l = probe;
    enum probe_clock clock;
    return (l->atomic || probe_need_clock(&l->base.device, !l->warps, "; use --by atomic", &clock)) &&
           (!l->warps || probe_warps_fit(&l->base.device, l->last)) && allocate(l) && prepare_kernel(l);
}

static void release(void *probe)
{
    struct order *l = probe;
    for (unsigned i = 0; l->points && i < points_of(l); i++)
        gs_vecstat_free(l->points[i].stat);
    release_kernel(l);
    free(l->points);
    free(l->times);
    free(l->ranks);
    free(l->order);
}

/* ---- options ---- */

enum { BY = PROBE_OWN_OPTIONS, OF, COUNT, RUNS, SYNC, INIT, DISTINCT };

static const struct option own_options[] = {{"by", required_argument, NULL, BY},
                                            {"of", required_argument, NULL, OF},
                                            {"count", required_argument, NULL, COUNT},
                                            {"runs", required_argument, NULL, RUNS},
                                            {"sync", no_argument, NULL, SYNC},
                                            {"init", no_argument, NULL, INIT},
                                            {"distinct", required_argument, NULL, DISTINCT},
                                            {0}};

static void set_defaults(void *probe)
{
    struct order *l = probe;
    l->first = 1;
    l->last = 32;
    l->runs = 1000;
}

static bool read_choice(const char *option, const char *text, const char *no, const char *yes, bool *out)
{
    *out = strcmp(text, yes) == 0;
    if (*out || strcmp(text, no) == 0)
        return true;
    gs_error("--%s is %s or %s, not '%s'", option, no, yes, text);
    return false;
}

static bool take_option(void *probe, int option, const char *value)
{
    struct order *l = probe;
    switch (option) {
    case BY:
        return read_choice("by", value, "clock", "atomic", &l->atomic);
    case OF:
        return read_choice("of", value, "group", "warp", &l->warps);
    case COUNT:
        return probe_range("count", value, MAX_GROUPS, &l->first, &l->last);
    case RUNS:
        return probe_number("runs", value, 1, UINT64_C(1) << 40, &l->runs);
    case SYNC:
        return l->sync = true;
    case INIT:
        return l->init = true;
    default:
        return probe_number("distinct", value, 1, UINT64_C(1) << 30, &l->distinct);
    }
}

static bool check_options(void *probe)
{
    const struct order *l = probe;
    if (!l->warps || l->last <= MAX_WARPS)
        return true;
    gs_error("--count is at most %d for warps: a group has no more", MAX_WARPS);
    return false;
}

const struct probe_kind probe_order = {
    .name = "order",
    .bytes = sizeof(struct order),
    .set_defaults = set_defaults,
    .options = own_options,
    .take_option = take_option,
    .check_options = check_options,
    .prepare = prepare,
    .describe = describe,
    .data = data,
    .measure = measure,
    .counts = "runs",
    .done = runs_of_all,
    .print_table = print_table,
    .add_json = add_json,
    .plot = plot,
    .release = release,
};
