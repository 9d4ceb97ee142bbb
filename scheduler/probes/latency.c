/* SPDX-License-Identifier: MIT */
/* gpusparc probe latency: cycles per instruction, in the manner of the Fermi report's microbenchmarks, and a device
 * profile for `gpusparc timing`. */
#include "scheduler/probes/probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/chart.h"
#include "common/log.h"
#include "gema/timing.h"
#include "scheduler/probes/illcond.h"

extern const char gs_probe_latency_cl[];

/* Repetitions, of which a kernel is built with two numbers: what surrounds the instructions cancels in the difference.
 * Compilers for processors need long for many, and have no long pipeline to fill. */
enum {
    GPU_SHORT = 64,
    GPU_LONG = 320,
    CPU_SHORT = 16,
    CPU_LONG = 48,
    WARP = 32,
    MAX_WARPS = 32,
    LINE_WORDS = 64,
    NEAR_WORDS = 1024,
    STRIDES = 6
};

enum test {
    ADD_DEPENDENT,
    MUL_DEPENDENT,
    MAD_DEPENDENT,
    SPECIAL_DEPENDENT,
    COS_DEPENDENT,
    RSQRT_DEPENDENT,
    ADD_INDEPENDENT,
    MUL_INDEPENDENT,
    MAD_INDEPENDENT,
    SPECIAL_INDEPENDENT,
    COS_INDEPENDENT,
    RSQRT_INDEPENDENT,
    SHARED_LOAD,
    SHARED_STORE,
    GLOBAL_LOAD,
    GLOBAL_STORE,
    ATOMIC,
    BARRIER,
    TESTS
};

static const struct {
    const char *kernel, *label;
} tests[TESTS] = {
    [ADD_DEPENDENT] = {"add_dependent", "add, dependent"},
    [MUL_DEPENDENT] = {"mul_dependent", "mul, dependent"},
    [MAD_DEPENDENT] = {"mad_dependent", "mad, dependent"},
    [SPECIAL_DEPENDENT] = {"special_dependent", "exp2, dependent"},
    [COS_DEPENDENT] = {"cos_dependent", "cos, dependent"},
    [RSQRT_DEPENDENT] = {"rsqrt_dependent", "rsqrt, dependent"},
    [ADD_INDEPENDENT] = {"add_independent", "add, independent"},
    [MUL_INDEPENDENT] = {"mul_independent", "mul, independent"},
    [MAD_INDEPENDENT] = {"mad_independent", "mad, independent"},
    [SPECIAL_INDEPENDENT] = {"special_independent", "exp2, independent"},
    [COS_INDEPENDENT] = {"cos_independent", "cos, independent"},
    [RSQRT_INDEPENDENT] = {"rsqrt_independent", "rsqrt, independent"},
    [SHARED_LOAD] = {"shared_load", "local load, dependent"},
    [SHARED_STORE] = {"shared_store", "local store"},
    [GLOBAL_LOAD] = {"global_load", "global load, dependent"},
    [GLOBAL_STORE] = {"global_store", "global store"},
    [ATOMIC] = {"atomic_dependent", "global atomic, dependent"},
    [BARRIER] = {"barriers", "barrier"},
};

/* Cycles per instruction over the runs; of the slowest warp of each. */
struct cycles {
    uint64_t runs; /* 0: not measured */
    double best, average, worst;
};

struct latency {
    struct probe base;
    /* The options. */
    uint64_t runs, mib, schedulers, scheduler_cycles;
    unsigned first, last; /* warps */
    const char *profile;

    enum probe_clock clock;
    int length[2];
    cl_program program[2];
    cl_kernel kernel[2][TESTS];
    cl_mem out, io, chain, words;
    cl_uint chain_at; /* where the next walk through the chain begins */

    /* One measurement after another: `at` is under way, `done` of its runs are, with the cycles of the long kernel and
     * of the short one. */
    uint64_t at, done;
    double *brief, *full;

    struct cycles one[TESTS];                  /* one warp */
    struct cycles warps[TESTS][MAX_WARPS + 1]; /* by the number of warps */
    /* Local load and store, 2^k work-items of a warp on one bank; [0]: one warp, else by the number of warps. */
    struct cycles conflicts[MAX_WARPS + 1][2][STRIDES];
};

/* One of the measurements. */
struct item {
    enum test test;
    unsigned warps;
    cl_uint stride;
    struct cycles *result;
};

static unsigned counts_of(const struct latency *p)
{
    return p->last - p->first + 1;
}

static uint64_t items_of(const struct latency *p)
{
    return (TESTS + 2 * STRIDES) * (uint64_t)(1 + counts_of(p));
}

/* The i-th: each instruction, then each number of conflicts, on one warp and on all numbers of warps. */
static struct item item_of(struct latency *p, uint64_t i)
{
    unsigned per_test = 1 + counts_of(p), t = (unsigned)i / per_test, place = (unsigned)i % per_test;
    place = place ? p->first + place - 1 : 0;
    unsigned warps = place ? place : 1, k = t - TESTS, store = k % 2;
    if (t < TESTS)
        return (struct item){(enum test)t, warps, 1, place ? &p->warps[t][place] : &p->one[t]};
    return (struct item){store ? SHARED_STORE : SHARED_LOAD, warps, 1u << k / 2, &p->conflicts[place][store][k / 2]};
}

/* One run: the cycles of the slowest of the warps. */
static bool run_once(struct latency *p, const struct item *m, int length, double *cycles)
{
    cl_kernel k = p->kernel[length][m->test];
    cl_command_queue queue = p->base.device.queue;
    cl_ulong out[MAX_WARPS];
    size_t local = (size_t)m->warps * WARP;
    cl_uint parameter = m->test == GLOBAL_LOAD ? p->chain_at : m->stride;
    cl_int rc = clSetKernelArg(k, 5, sizeof(parameter), &parameter);
    rc = rc ? rc : clEnqueueNDRangeKernel(queue, k, 1, NULL, &local, &local, 0, NULL, NULL);
    rc = rc ? rc : clEnqueueReadBuffer(queue, p->out, CL_TRUE, 0, m->warps * sizeof(*out), out, 0, NULL, NULL);
    if (rc == CL_SUCCESS && m->test == GLOBAL_LOAD)
        rc = clEnqueueReadBuffer(queue, p->words, CL_TRUE, 0, sizeof(p->chain_at), &p->chain_at, 0, NULL, NULL);
    if (!probe_ok(rc, "run a kernel"))
        return false;
    *cycles = 0;
    for (unsigned w = 0; w < m->warps; w++)
        *cycles = (double)out[w] > *cycles ? (double)out[w] : *cycles;
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The difference of the long runs and the median short one, per instruction. */
static void summarise(struct latency *p, struct cycles *c)
{
    double sum = 0, per = 1.0 / (p->length[1] - p->length[0]);
    uint64_t n = p->done;
    if (!n)
        return;
    qsort(p->brief, n, sizeof(*p->brief), by_value);
    qsort(p->full, n, sizeof(*p->full), by_value);
    for (uint64_t i = 0; i < n; i++)
        sum += p->full[i];
    double base = p->brief[n / 2];
    c->runs = n;
    c->best = fmax(0, (p->full[0] - base) * per);
    c->average = fmax(c->best, (sum / (double)n - base) * per);
    c->worst = fmax(c->average, (p->full[n - 1] - base) * per);
}

/* The runs that are left of one measurement; the first ones warm caches and clock up. */
static bool measure_item(struct latency *p, const struct item *m)
{
    enum { WARM_UP = 3 };
    double warm;
    bool warmed = false;
    while (p->done < p->runs && probe_go_on(&p->base)) {
        for (int i = 0; !warmed && i < WARM_UP; i++)
            if (!run_once(p, m, 0, &warm) || !run_once(p, m, 1, &warm))
                return false;
        warmed = true;
        if (!run_once(p, m, 0, &p->brief[p->done]) || !run_once(p, m, 1, &p->full[p->done]))
            return false;
        p->done++;
    }
    summarise(p, m->result);
    return true;
}

/* A random cycle through all cache lines of a buffer (Sattolo's shuffle). */
static bool fill_chain(struct latency *p)
{
    size_t words = p->mib << 18, lines = words / LINE_WORDS;
    cl_uint *chain = calloc(words, sizeof(*chain)), *order = malloc(lines * sizeof(*order));
    bool ok = chain && order;
    uint64_t rng = 42;
    for (size_t i = 0; ok && i < lines; i++)
        order[i] = (cl_uint)i;
    for (size_t i = lines; ok && i-- > 1;) {
        size_t j = (size_t)(gs_probe_random(&rng) % i);
        cl_uint t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (size_t i = 0; ok && i < lines; i++)
        chain[i * LINE_WORDS] = order[i] * LINE_WORDS;
    if (!ok)
        gs_error("there is not enough memory for a chain of %llu MiB", (unsigned long long)p->mib);
    ok = ok && probe_ok(clEnqueueWriteBuffer(p->base.device.queue, p->chain, CL_TRUE, 0, words * sizeof(*chain), chain,
                                             0, NULL, NULL),
                        "write a buffer");
    free(chain);
    free(order);
    return ok;
}

static bool prepare_kernels(struct latency *p)
{
    for (int length = 0; length < 2; length++) {
        char options[40];
        snprintf(options, sizeof(options), "-DK=%d", p->length[length]);
        p->program[length] = probe_build(&p->base.device, gs_probe_latency_cl, p->clock, options);
        for (int t = 0; t < TESTS; t++) {
            cl_kernel k = p->kernel[length][t] = probe_kernel(p->program[length], tests[t].kernel);
            if (!k)
                return false;
            cl_int rc = clSetKernelArg(k, 0, sizeof(cl_mem), &p->out);
            rc = rc ? rc : clSetKernelArg(k, 1, sizeof(cl_mem), &p->io);
            rc = rc ? rc : clSetKernelArg(k, 2, sizeof(cl_mem), &p->chain);
            rc = rc ? rc : clSetKernelArg(k, 3, sizeof(cl_mem), &p->words);
            rc = rc ? rc : clSetKernelArg(k, 4, NEAR_WORDS * sizeof(cl_uint), NULL);
            if (!probe_ok(rc, "take a kernel's arguments"))
                return false;
        }
    }
    return true;
}

static bool allocate(struct latency *p)
{
    p->brief = malloc(p->runs * sizeof(*p->brief));
    p->full = malloc(p->runs * sizeof(*p->full));
    if (p->brief && p->full)
        return true;
    gs_error("there is not enough memory for %llu runs", (unsigned long long)p->runs);
    return false;
}

static bool prepare(void *probe)
{
    struct latency *p = probe;
    const struct probe_device *d = &p->base.device;
    const float io[2] = {1.0f, 0.9999f};
    p->length[0] = d->is_cpu ? CPU_SHORT : GPU_SHORT;
    p->length[1] = d->is_cpu ? CPU_LONG : GPU_LONG;
    if (!p->schedulers)
        p->schedulers = d->is_nvidia ? 4 : 1; /* since Volta: four, each an instruction per cycle */
    if (!probe_can_write(p->profile) || !probe_need_clock(d, false, "", &p->clock) || !probe_warps_fit(d, p->last) ||
        !allocate(p))
        return false;
    p->out = probe_buffer(d, MAX_WARPS * sizeof(cl_ulong));
    p->io = probe_buffer(d, (2 + MAX_WARPS * WARP) * sizeof(float));
    p->chain = probe_buffer(d, p->mib << 20);
    p->words = probe_buffer(d, (1 + MAX_WARPS * WARP + GPU_LONG * 32) * sizeof(cl_uint));
    return p->out && p->io && p->chain && p->words && fill_chain(p) && prepare_kernels(p) &&
           probe_ok(clEnqueueWriteBuffer(d->queue, p->io, CL_TRUE, 0, sizeof(io), io, 0, NULL, NULL), "write a buffer");
}

static bool measure(void *probe)
{
    struct latency *p = probe;
    while (p->at < items_of(p)) {
        struct item m = item_of(p, p->at);
        probe_progress(&p->base, "measurements", p->at, items_of(p));
        if (!measure_item(p, &m))
            return false;
        if (p->done < p->runs)
            break;
        p->at++;
        p->done = 0;
    }
    return true;
}

static uint64_t items_done(void *probe, uint64_t *all)
{
    struct latency *p = probe;
    *all = items_of(p);
    return p->at;
}

static void describe(void *probe, char *line, size_t bytes)
{
    const struct latency *p = probe;
    snprintf(line, bytes, "%llu runs, %u..%u warps, %llu MiB", (unsigned long long)p->runs, p->first, p->last,
             (unsigned long long)p->mib);
}

static bool data(void *probe, struct probe_state *s)
{
    struct latency *p = probe;
    bool ok = probe_state_bytes(s, &p->at, sizeof(p->at)) && probe_state_bytes(s, &p->done, sizeof(p->done)) &&
              p->at <= items_of(p) && p->done <= p->runs;
    return ok && probe_state_bytes(s, p->brief, p->done * sizeof(*p->brief)) &&
           probe_state_bytes(s, p->full, p->done * sizeof(*p->full)) && probe_state_bytes(s, p->one, sizeof(p->one)) &&
           probe_state_bytes(s, p->conflicts, sizeof(p->conflicts)) && probe_state_bytes(s, p->warps, sizeof(p->warps));
}

static struct gs_timing_cost cost(const struct cycles *issue, const struct cycles *latency)
{
    double i = round(10 * issue->average) / 10;
    return (struct gs_timing_cost){
        i, {round(10 * latency->best) / 10, round(10 * latency->average) / 10, round(10 * latency->worst) / 10}};
}

/* The profile for `timing`. What has no probe of its own is set to what resembles it; docs/probes.md says so. */
static struct gs_timing_profile profile_of(const struct latency *p)
{
    struct gs_timing_profile r = {.clock_mhz = p->base.device.frequency_mhz,
                                  .warp_schedulers = (unsigned)p->schedulers,
                                  .scheduler_cycles = (unsigned)p->scheduler_cycles};
    const struct cycles *issue = &p->one[ADD_INDEPENDENT], *one = p->one;
    snprintf(r.name, sizeof(r.name), "%.60s", p->base.device.name);
    r.cost[GS_PTX_ARITHMETIC] = cost(issue, &one[MAD_DEPENDENT]);
    r.cost[GS_PTX_SPECIAL] = cost(&one[SPECIAL_INDEPENDENT], &one[SPECIAL_DEPENDENT]);
    r.cost[GS_PTX_SHARED_LOAD] = cost(issue, &one[SHARED_LOAD]);
    r.cost[GS_PTX_SHARED_STORE] = cost(&one[SHARED_STORE], &one[SHARED_STORE]);
    r.cost[GS_PTX_GLOBAL_LOAD] = cost(issue, &one[GLOBAL_LOAD]);
    r.cost[GS_PTX_GLOBAL_STORE] = cost(&one[GLOBAL_STORE], &one[GLOBAL_STORE]);
    r.cost[GS_PTX_CONSTANT_LOAD] = cost(issue, &one[MAD_DEPENDENT]);
    r.cost[GS_PTX_ATOMIC] = cost(issue, &one[ATOMIC]);
    r.cost[GS_PTX_BARRIER] = cost(&one[BARRIER], &one[BARRIER]);
    r.cost[GS_PTX_BRANCH] = cost(issue, issue);
    r.cost[GS_PTX_RETURN] = cost(issue, issue);
    return r;
}

static bool write_profile(void *probe)
{
    const struct latency *p = probe;
    if (!p->profile)
        return true;
    struct gs_timing_profile profile = profile_of(p);
    char *text = gs_timing_profile_write(&profile);
    FILE *f = text ? fopen(p->profile, "w") : NULL;
    bool ok = f && fprintf(f, "%s\n", text) > 0;
    ok = f && fclose(f) == 0 && ok;
    free(text);
    if (!ok)
        gs_error("%s could not be written: %s", p->profile, strerror(errno));
    return ok;
}

static void print_cycles(const struct cycles *c, double value, int width)
{
    if (c->runs)
        printf(" %*.2f", width, value);
    else
        printf(" %*s", width, "-");
}

static void print_conflicts(const struct latency *p, unsigned place)
{
    printf("\n%2u %-23s", place ? place : 1, place > 1 ? "warps, on one bank" : "warp, on one bank");
    for (int k = 0; k < STRIDES; k++)
        printf(" %8u", 1u << k);
    for (int s = 0; s < 2; s++) {
        printf("\n%-26s", s ? "local store" : "local load, dependent");
        for (int k = 0; k < STRIDES; k++)
            print_cycles(&p->conflicts[place][s][k], p->conflicts[place][s][k].average, 8);
    }
    putchar('\n');
}

static void print_table(void *probe)
{
    const struct latency *p = probe;
    printf("%s, %s, %llu runs; cycles per instruction%s\n", p->base.device.name, probe_clock_name(p->clock),
           (unsigned long long)p->runs,
           p->base.device.is_cpu ? " (of the first of 32 work-items, which run one after another)" : "");
    printf("%-26s %10s %10s %10s", "one warp", "best", "average", "worst");
    for (unsigned w = p->first; p->last > 1 && w <= p->last; w++)
        printf(" %4u warps", w);
    putchar('\n');
    for (int t = 0; t < TESTS; t++) {
        printf("%-26s", tests[t].label);
        print_cycles(&p->one[t], p->one[t].best, 10);
        print_cycles(&p->one[t], p->one[t].average, 10);
        print_cycles(&p->one[t], p->one[t].worst, 10);
        for (unsigned w = p->first; p->last > 1 && w <= p->last; w++)
            print_cycles(&p->warps[t][w], p->warps[t][w].average, 10);
        putchar('\n');
    }
    print_conflicts(p, 0);
    if (p->last > 1)
        print_conflicts(p, p->last);
}

static double six_digits(double v)
{
    char text[40];
    snprintf(text, sizeof(text), "%.6g", v);
    return strtod(text, NULL);
}

static json_t *cycles_json(const struct cycles *c)
{
    if (!c->runs)
        return json_null();
    return json_pack("{s:f, s:f, s:f}", "best", six_digits(c->best), "average", six_digits(c->average), "worst",
                     six_digits(c->worst));
}

static json_t *conflicts_json(const struct cycles c[STRIDES])
{
    json_t *list = json_array();
    for (int k = 0; k < STRIDES; k++)
        json_array_append_new(list, cycles_json(&c[k]));
    return list;
}

static json_t *conflicts_by_warps(const struct latency *p, int store)
{
    json_t *by_warps = json_object();
    for (unsigned w = p->first; w <= p->last; w++) {
        char key[12];
        snprintf(key, sizeof(key), "%u", w);
        json_object_set_new(by_warps, key, conflicts_json(p->conflicts[w][store]));
    }
    return by_warps;
}

static json_t *profile_json(const struct latency *p)
{
    struct gs_timing_profile profile = profile_of(p);
    char *text = p->at == items_of(p) ? gs_timing_profile_write(&profile) : NULL;
    json_t *j = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return j ? j : json_null();
}

static void add_json(void *probe, json_t *j)
{
    const struct latency *p = probe;
    json_t *one = json_object(), *many = json_object();
    for (int t = 0; t < TESTS; t++) {
        json_t *by_warps = json_object();
        for (unsigned w = p->first; w <= p->last; w++) {
            char key[12];
            snprintf(key, sizeof(key), "%u", w);
            json_object_set_new(by_warps, key, cycles_json(&p->warps[t][w]));
        }
        json_object_set_new(one, tests[t].kernel, cycles_json(&p->one[t]));
        json_object_set_new(many, tests[t].kernel, by_warps);
    }
    json_object_set_new(j, "clock", json_string(probe_clock_name(p->clock)));
    json_object_set_new(j, "runs", json_integer((json_int_t)p->runs));
    json_object_set_new(j, "one_warp", one);
    json_object_set_new(j, "by_warps", many);
    json_object_set_new(j, "shared_load_conflicts", conflicts_json(p->conflicts[0][0]));
    json_object_set_new(j, "shared_store_conflicts", conflicts_json(p->conflicts[0][1]));
    json_object_set_new(j, "shared_load_conflicts_by_warps", conflicts_by_warps(p, 0));
    json_object_set_new(j, "shared_store_conflicts_by_warps", conflicts_by_warps(p, 1));
    json_object_set_new(j, "profile", profile_json(p));
}

/* Cycles of each test, one warp or up to as many as there are. */
static struct gs_panel plot_by_test(const struct latency *p, struct gs_row rows[TESTS], double v[TESTS][3])
{
    static const char *const name[] = {"average"};
    size_t n = 0;
    for (int t = 0; t < TESTS; t++) {
        const struct cycles *c = &p->warps[t][p->first];
        if (!c->runs)
            continue;
        memcpy(v[n], (const double[]){c->average, c->best, c->worst}, sizeof v[n]);
        rows[n] = (struct gs_row){.label = tests[t].label, .value = &v[n][0], .low = &v[n][1], .high = &v[n][2]};
        n++;
    }
    return (struct gs_panel){.kind = GS_PANEL_DOTS,
                             .title =
                                 "the average, and from the best run to the worst; none: less than the clock tells",
                             .x = {.label = "cycles per instruction", .log = true},
                             .rows = rows,
                             .n_rows = n,
                             .names = name,
                             .n_names = 1};
}

/* A curve's points: cycles over warps, or over the work-items on one bank. `v` has 4 times `most` numbers. */
static struct gs_curve plot_curve(const char *name, const struct cycles *c, unsigned first, unsigned last, bool powers,
                                  double *v)
{
    const unsigned most = last - first + 1;
    size_t n = 0;
    for (unsigned i = first; i <= last; i++)
        if (c[i].runs) {
            v[n] = powers ? 1u << i : i;
            v[most + n] = c[i].average;
            v[2 * most + n] = c[i].best;
            v[3 * most + n++] = c[i].worst;
        }
    return (struct gs_curve){.name = name, .x = v, .y = v + most, .low = v + 2 * most, .high = v + 3 * most, .n = n};
}

/* The curves that the picture has room for in one panel: of one kind of instruction, dependent and not. */
static const struct {
    const char *title;
    enum test test[3];
    unsigned n;
} plot_groups[] = {
    {"add", {ADD_DEPENDENT, ADD_INDEPENDENT}, 2},
    {"mul", {MUL_DEPENDENT, MUL_INDEPENDENT}, 2},
    {"mad", {MAD_DEPENDENT, MAD_INDEPENDENT}, 2},
    {"exp2", {SPECIAL_DEPENDENT, SPECIAL_INDEPENDENT}, 2},
    {"cos", {COS_DEPENDENT, COS_INDEPENDENT}, 2},
    {"rsqrt", {RSQRT_DEPENDENT, RSQRT_INDEPENDENT}, 2},
    {"local memory", {SHARED_LOAD, SHARED_STORE}, 2},
    {"global memory", {GLOBAL_LOAD, GLOBAL_STORE, ATOMIC}, 3},
    {"barrier", {BARRIER}, 1},
};

enum { PLOT_GROUPS = sizeof plot_groups / sizeof *plot_groups };

/* Cycles over the number of warps where there are several, else of each test; and over the work-items on one bank. */
static void plot(void *probe, FILE *f)
{
    const struct latency *p = probe;
    static struct gs_panel panels[PLOT_GROUPS + 1];
    static struct gs_curve curves[PLOT_GROUPS + 1][3];
    static double v[PLOT_GROUPS + 1][3][4 * (MAX_WARPS + 1)], by_test[TESTS][3];
    static struct gs_row rows[TESTS];
    char title[256];
    size_t n = 0;
    if (p->last > p->first)
        for (; n < PLOT_GROUPS; n++) {
            for (unsigned k = 0; k < plot_groups[n].n; k++) {
                const enum test t = plot_groups[n].test[k];
                curves[n][k] = plot_curve(tests[t].label, p->warps[t], p->first, p->last, false, v[n][k]);
            }
            panels[n] = (struct gs_panel){.title = plot_groups[n].title,
                                          .x.label = "warps of a group",
                                          .y = {.label = "cycles per instruction", .log = true},
                                          .curves = curves[n],
                                          .n_curves = plot_groups[n].n};
        }
    else
        panels[n++] = plot_by_test(p, rows, by_test);
    for (int s = 0; s < 2; s++)
        curves[n][s] =
            plot_curve(tests[s ? SHARED_STORE : SHARED_LOAD].label, p->conflicts[0][s], 0, STRIDES - 1, true, v[n][s]);
    panels[n] = (struct gs_panel){.title = "bank conflicts, one warp",
                                  .x = {.label = "work-items on one bank", .log = true, .powers_of_two = true},
                                  .y = {.label = "cycles per instruction", .from_zero = true},
                                  .curves = curves[n],
                                  .n_curves = 2};
    snprintf(title, sizeof title, "%s: cycles per instruction, %llu runs", p->base.device.name,
             (unsigned long long)p->runs);
    const struct gs_chart chart = {.title = title,
                                   .note = n > 1 ? "averages, and from the best run to the worst" : NULL,
                                   .panels = panels,
                                   .n = n + 1,
                                   .columns = n > 1 ? 2 : 1,
                                   .width = n > 1 ? 340 : 520,
                                   .height = n > 1 ? 200 : 260};
    gs_chart_write(&chart, f);
}

static void release(void *probe)
{
    struct latency *p = probe;
    for (int length = 0; length < 2; length++) {
        probe_drop_kernels(p->kernel[length], TESTS);
        probe_drop_program(&p->program[length]);
    }
    probe_drop_buffers(&p->out, 1);
    probe_drop_buffers(&p->io, 1);
    probe_drop_buffers(&p->chain, 1);
    probe_drop_buffers(&p->words, 1);
    free(p->brief);
    free(p->full);
}

/* ---- options ---- */

enum { WARPS = PROBE_OWN_OPTIONS, RUNS, MIB, SCHEDULERS, SCHEDULER_CYCLES, PROFILE };

static const struct option own_options[] = {{"warps", required_argument, NULL, WARPS},
                                            {"runs", required_argument, NULL, RUNS},
                                            {"memory", required_argument, NULL, MIB},
                                            {"schedulers", required_argument, NULL, SCHEDULERS},
                                            {"scheduler-cycles", required_argument, NULL, SCHEDULER_CYCLES},
                                            {"profile", required_argument, NULL, PROFILE},
                                            {0}};

static void set_defaults(void *probe)
{
    struct latency *p = probe;
    p->runs = 100;
    p->mib = 256;
    p->first = p->last = 1;
    p->scheduler_cycles = 1;
}

static bool take_option(void *probe, int option, const char *value)
{
    struct latency *p = probe;
    switch (option) {
    case WARPS:
        return probe_range("warps", value, MAX_WARPS, &p->first, &p->last);
    case RUNS:
        return probe_number("runs", value, 1, 1000000, &p->runs);
    case MIB:
        return probe_number("memory", value, 1, 4096, &p->mib);
    case SCHEDULERS:
        return probe_number("schedulers", value, 1, 1024, &p->schedulers);
    case SCHEDULER_CYCLES:
        return probe_number("scheduler-cycles", value, 1, 1024, &p->scheduler_cycles);
    default:
        p->profile = value;
        return true;
    }
}

const struct probe_kind probe_latency = {
    .name = "latency",
    .bytes = sizeof(struct latency),
    .set_defaults = set_defaults,
    .options = own_options,
    .take_option = take_option,
    .prepare = prepare,
    .describe = describe,
    .data = data,
    .measure = measure,
    .counts = "measurements",
    .done = items_done,
    .print_table = print_table,
    .add_json = add_json,
    .plot = plot,
    .finish = write_profile,
    .release = release,
};
