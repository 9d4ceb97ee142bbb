/* SPDX-License-Identifier: MIT */
/* gpusparc probe sum: the same floats summed in four ways, again and again: how many different results, how wrong, how
 * fast. */
#include "scheduler/probes/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/chart.h"
#include "common/log.h"
#include "scheduler/probes/illcond.h"
#include "scheduler/probes/vecstat.h"

enum method { BY_ATOMIC, BY_WARP, BY_TREE, BY_EXACT, METHODS };
enum { NAN_SEEN = 1, PLUS_INFINITY = 2, MINUS_INFINITY = 4, ANY = 8, NOT_MINUS_ZERO = 16 }; /* as in sum.cl */

static const char *const names[METHODS] = {"atomic", "warp", "tree", "exact"};

struct result {
    struct gs_vecstat *values;
    double *ns;     /* of each run, on the device */
    double worst;   /* relative error */
    uint64_t wrong; /* runs that did not give the correctly rounded sum */
    float last;
};

struct sum {
    struct probe base;
    /* The options. */
    uint64_t elements, runs, seed, wanted_groups, local; /* elements: as asked for; n is what there is */
    double wanted_condition;
    bool wanted[METHODS], permute;
    const char *input;

    cl_program program;
    cl_kernel kernel[METHODS]; /* null: not wanted, or not possible here */
    cl_mem x, out, total;      /* total: a float, or the exact sum's digits and flags */
    float *host, *shuffled, *partial;
    size_t n, groups;
    struct gs_longacc sum;
    float rounded;
    double condition;
    uint64_t done, room; /* runs: measured, and as many as the results have room for */
    struct result result[METHODS];
};

static bool has_int64(const struct probe_device *d)
{
    return strstr(d->extensions, "cl_khr_int64_base_atomics") != NULL;
}

static bool write_vector(struct sum *p, const float *x)
{
    return probe_ok(
        clEnqueueWriteBuffer(p->base.device.queue, p->x, CL_TRUE, 0, p->n * sizeof(float), x, 0, NULL, NULL),
        "write a buffer");
}

static bool zero(const struct probe_device *d, cl_mem m, size_t bytes, cl_event *event)
{
    cl_uint none = 0;
    return probe_ok(clEnqueueFillBuffer(d->queue, m, &none, sizeof(none), 0, bytes, 0, NULL, event), "fill a buffer");
}

static bool read_back(const struct probe_device *d, cl_mem m, size_t bytes, void *to)
{
    return probe_ok(clEnqueueReadBuffer(d->queue, m, CL_TRUE, 0, bytes, to, 0, NULL, NULL), "read a buffer");
}

/* Runs kernel k over `n` elements of `from` with `groups` groups. */
static bool launch(const struct probe_device *d, cl_kernel k, cl_mem from, cl_ulong n, cl_mem to, size_t groups,
                   size_t local, cl_event *event)
{
    size_t global = groups * local;
    cl_int rc = clSetKernelArg(k, 0, sizeof(from), &from);
    rc = rc ? rc : clSetKernelArg(k, 1, sizeof(n), &n);
    rc = rc ? rc : clSetKernelArg(k, 2, sizeof(to), &to);
    rc = rc ? rc : clEnqueueNDRangeKernel(d->queue, k, 1, NULL, &global, &local, 0, NULL, event);
    return probe_ok(rc, "run a kernel");
}

static bool set_local(cl_kernel k, cl_uint index, size_t bytes)
{
    return probe_ok(clSetKernelArg(k, index, bytes, NULL), "give local memory");
}

static bool run_atomic(struct sum *p, cl_event *first, cl_event *last, float *out)
{
    return zero(&p->base.device, p->out, sizeof(float), first) &&
           launch(&p->base.device, p->kernel[BY_ATOMIC], p->x, p->n, p->out, p->groups, p->local, last) &&
           read_back(&p->base.device, p->out, sizeof(float), out);
}

static bool run_warp(struct sum *p, cl_event *first, cl_event *last, float *out)
{
    bool ok = set_local(p->kernel[BY_WARP], 3, p->local / 32 * sizeof(float)) &&
              zero(&p->base.device, p->out, p->groups * sizeof(float), first) &&
              launch(&p->base.device, p->kernel[BY_WARP], p->x, p->n, p->out, p->groups, p->local, last) &&
              read_back(&p->base.device, p->out, p->groups * sizeof(float), p->partial);
    *out = 0;
    for (size_t i = 0; ok && i < p->groups; i++)
        *out += p->partial[i];
    return ok;
}

static bool run_tree(struct sum *p, cl_event *first, cl_event *last, float *out)
{
    return set_local(p->kernel[BY_TREE], 3, p->local * sizeof(float)) &&
           launch(&p->base.device, p->kernel[BY_TREE], p->x, p->n, p->out, p->groups, p->local, first) &&
           launch(&p->base.device, p->kernel[BY_TREE], p->out, p->groups, p->total, 1, p->local, last) &&
           read_back(&p->base.device, p->total, sizeof(float), out);
}

bool probe_sum_exactly(const struct probe_device *d, const struct probe_exact_sum *e, struct gs_longacc *sum,
                       cl_event *first, cl_event *last)
{
    struct {
        int64_t digit[GS_LONGACC_DIGITS];
        cl_uint flags, unused;
    } raw;
    bool ok = set_local(e->kernel, 3, e->local * GS_LONGACC_DIGITS * sizeof(cl_long)) &&
              set_local(e->kernel, 4, sizeof(cl_uint)) && zero(d, e->result, sizeof(raw), first) &&
              launch(d, e->kernel, e->x, e->n, e->result, e->groups, e->local, last) &&
              read_back(d, e->result, sizeof(raw), &raw);
    if (!ok)
        return false;
    *sum = (struct gs_longacc){0};
    memcpy(sum->digit, raw.digit, sizeof(sum->digit));
    sum->nan = raw.flags & NAN_SEEN;
    sum->plus_infinity = raw.flags & PLUS_INFINITY;
    sum->minus_infinity = raw.flags & MINUS_INFINITY;
    sum->any = raw.flags & ANY;
    sum->not_minus_zero = raw.flags & (NOT_MINUS_ZERO | NAN_SEEN | PLUS_INFINITY | MINUS_INFINITY);
    return true;
}

static bool run_exact(struct sum *p, cl_event *first, cl_event *last, float *out)
{
    const struct probe_exact_sum e = {p->kernel[BY_EXACT], p->x, p->total, p->n, p->groups, p->local};
    struct gs_longacc sum;
    if (!probe_sum_exactly(&p->base.device, &e, &sum, first, last))
        return false;
    *out = gs_longacc_to_float(&sum);
    return true;
}

/* From the start of the first command to the end of the last, on the device. */
static double device_ns(cl_event first, cl_event last)
{
    cl_ulong begin = 0, end = 0;
    clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof(begin), &begin, NULL);
    clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL);
    clReleaseEvent(first);
    clReleaseEvent(last);
    return end > begin ? (double)(end - begin) : 0;
}

static bool same_value(float a, float b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof(a)) == 0;
}

/* |got - exact| / |exact|, the difference taken exactly; infinite where that has no meaning and the value isn't right.
 */
static double relative_error(const struct sum *p, float got)
{
    struct gs_longacc d = p->sum;
    if (same_value(got, p->rounded) && (!isfinite(got) || gs_longacc_sign(&p->sum) == 0))
        return 0;
    if (!isfinite(got) || !isfinite(p->rounded) || gs_longacc_sign(&p->sum) == 0)
        return INFINITY;
    gs_longacc_subtract(&d, got);
    return fabs(gs_longacc_to_double(&d) / gs_longacc_to_double(&p->sum));
}

static bool run_once(struct sum *p, enum method m)
{
    static bool (*const run[METHODS])(struct sum *, cl_event *, cl_event *, float *) = {run_atomic, run_warp, run_tree,
                                                                                        run_exact};
    struct result *r = &p->result[m];
    cl_event first, last;
    float got;
    uint32_t bits;
    if (!run[m](p, &first, &last, &got))
        return false;
    double error = relative_error(p, got);
    memcpy(&bits, &got, sizeof(bits));
    r->ns[p->done] = device_ns(first, last);
    r->worst = error > r->worst ? error : r->worst;
    r->wrong += !same_value(got, p->rounded);
    r->last = got;
    return gs_vecstat_add(r->values, &bits, 1) == 0;
}

/* Another order of the elements for each run, the same for the same seed and run. */
static void shuffle(struct sum *p, uint64_t run)
{
    uint64_t state = (p->seed + 12345) * UINT64_C(0x9e3779b97f4a7c15) + run * 2 + 1;
    float *x = p->shuffled;
    memcpy(x, p->host, p->n * sizeof(*x));
    for (size_t i = p->n; i > 1; i--) {
        size_t j = (size_t)(gs_probe_random(&state) % i);
        float t = x[i - 1];
        x[i - 1] = x[j];
        x[j] = t;
    }
}

/* All methods once, each on the same elements in the same order. */
static bool run_all(struct sum *p)
{
    if (p->permute) {
        shuffle(p, p->done);
        if (!write_vector(p, p->shuffled))
            return false;
    }
    for (int m = 0; m < METHODS; m++)
        if (p->kernel[m] && !run_once(p, (enum method)m))
            return false;
    p->done++;
    return true;
}

static bool measure(void *probe)
{
    struct sum *p = probe;
    while (p->done < p->runs && probe_go_on(&p->base)) {
        if (!run_all(p))
            return false;
        probe_progress(&p->base, "sums", p->done, p->runs);
    }
    return true;
}

static uint64_t sums_done(void *probe, uint64_t *all)
{
    const struct sum *p = probe;
    *all = p->runs;
    return p->done < p->runs ? p->done : p->runs;
}

/* The vector itself stands for the options that it was made from. */
static void describe(void *probe, char *line, size_t bytes)
{
    const struct sum *p = probe;
    char hash[GS_HASH_HEX_BYTES];
    gs_hash_hex(p->host, p->n * sizeof(*p->host), hash);
    size_t n = (size_t)snprintf(line, bytes, "%zu floats %.16s by", p->n, hash);
    for (int m = 0; m < METHODS && n < bytes; m++)
        if (p->kernel[m])
            n += (size_t)snprintf(line + n, bytes - n, " %s", names[m]);
    if (n < bytes)
        snprintf(line + n, bytes - n, ", %zu groups of %zu%s", p->groups, (size_t)p->local,
                 p->permute ? ", permuted" : "");
}

static bool make_room(struct sum *p, uint64_t runs)
{
    for (int m = 0; m < METHODS; m++) {
        double *ns = realloc(p->result[m].ns, runs * sizeof(*ns));
        if (!ns)
            return false;
        p->result[m].ns = ns;
    }
    p->room = runs;
    return true;
}

static bool data(void *probe, struct probe_state *s)
{
    struct sum *p = probe;
    bool ok = probe_state_bytes(s, &p->done, sizeof(p->done)) && (p->done <= p->room || make_room(p, p->done));
    for (int m = 0; ok && m < METHODS; m++) {
        struct result *r = &p->result[m];
        if (p->kernel[m])
            ok = probe_state_vectors(s, &r->values) && probe_state_bytes(s, r->ns, p->done * sizeof(*r->ns)) &&
                 probe_state_bytes(s, &r->worst, sizeof(r->worst)) &&
                 probe_state_bytes(s, &r->wrong, sizeof(r->wrong)) && probe_state_bytes(s, &r->last, sizeof(r->last));
    }
    return ok;
}

/* Whether the exact sum can run here; says why not. */
static bool exact_fits(const struct sum *p, bool int64)
{
    cl_ulong local_bytes = 0;
    clGetDeviceInfo(p->base.device.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(local_bytes), &local_bytes, NULL);
    size_t wanted = p->local * GS_LONGACC_DIGITS * sizeof(cl_long) + sizeof(cl_uint);
    if (!int64)
        gs_warn("%s has no 64-bit atomics (cl_khr_int64_base_atomics): the exact sum is left out", p->base.device.name);
    else if (wanted > local_bytes)
        gs_warn("%s has %llu bytes of local memory, and the exact sum wants %zu for --local %zu: it is left out",
                p->base.device.name, (unsigned long long)local_bytes, wanted, (size_t)p->local);
    else
        return true;
    return false;
}

static bool prepare_kernels(struct sum *p)
{
    static const char *const kernels[METHODS] = {"sum_atomic", "sum_warp", "sum_tree", "sum_exact"};
    bool int64 = has_int64(&p->base.device);
    p->program = probe_build(&p->base.device, gs_probe_sum_cl, PROBE_CLOCK_NONE, int64 ? "-DPROBE_INT64" : "");
    if (!p->program)
        return false;
    for (int m = 0; m < METHODS; m++) {
        if (!p->wanted[m])
            continue;
        if (m == BY_EXACT && !exact_fits(p, int64))
            continue;
        p->kernel[m] = probe_kernel(p->program, kernels[m]);
        if (!p->kernel[m])
            return false;
    }
    return true;
}

static bool generate(struct sum *p)
{
    p->n = p->elements;
    p->host = malloc(p->n * sizeof(float));
    if (!p->host) {
        gs_error("there is not enough memory for %zu floats", p->n);
        return false;
    }
    return gs_illcond_generate(p->host, p->n, p->wanted_condition, p->seed, &p->sum, &p->condition) == 0;
}

/* The floats of a file, as they lie in memory. */
static bool read_input(struct sum *p)
{
    struct gs_longacc size = {0};
    FILE *f = fopen(p->input, "rb");
    long bytes = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (bytes > 0 && bytes % (long)sizeof(float) == 0) {
        p->n = (size_t)bytes / sizeof(float);
        p->host = malloc((size_t)bytes);
        rewind(f);
    }
    bool ok = p->host && fread(p->host, sizeof(float), p->n, f) == p->n;
    if (f)
        fclose(f);
    if (!ok) {
        gs_error("%s could not be read as floats of 4 bytes each", p->input);
        return false;
    }
    for (size_t i = 0; i < p->n; i++)
        gs_longacc_add(&size, fabsf(p->host[i]));
    gs_longacc_add_many(&p->sum, p->host, p->n);
    p->condition = gs_longacc_to_double(&size) / fabs(gs_longacc_to_double(&p->sum));
    return true;
}

static bool allocate(struct sum *p)
{
    p->groups = p->wanted_groups ? p->wanted_groups : 8 * (size_t)p->base.device.compute_units;
    p->partial = malloc(p->groups * sizeof(float));
    bool ok = p->partial && make_room(p, p->runs);
    for (int m = 0; ok && m < METHODS; m++) {
        p->result[m].values = gs_vecstat_new(0);
        ok = p->result[m].values != NULL;
    }
    if (!ok)
        gs_error("there is not enough memory for %llu runs", (unsigned long long)p->runs);
    return ok;
}

static bool prepare(void *probe)
{
    struct sum *p = probe;
    const struct probe_device *d = &p->base.device;
    if (p->local > d->max_group) {
        gs_error("%s takes groups of %zu work-items at most; --local %zu is too many", d->name, d->max_group,
                 (size_t)p->local);
        return false;
    }
    if (!allocate(p) || !(p->input ? read_input(p) : generate(p)))
        return false;
    p->shuffled = p->permute ? malloc(p->n * sizeof(float)) : NULL;
    if (p->permute && !p->shuffled) {
        gs_error("there is not enough memory to permute %zu floats", p->n);
        return false;
    }
    p->rounded = gs_longacc_to_float(&p->sum);
    p->x = probe_buffer(d, p->n * sizeof(float));
    p->out = probe_buffer(d, p->groups * sizeof(float));
    p->total = probe_buffer(d, sizeof(p->sum.digit) + sizeof(cl_ulong));
    return p->x && p->out && p->total && prepare_kernels(p) && write_vector(p, p->host);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ns(const struct sum *p, struct result *r)
{
    qsort(r->ns, p->done, sizeof(double), by_value);
    return r->ns[p->done / 2];
}

static bool has_result(const struct sum *p, int method)
{
    return p->kernel[method] && p->done;
}

static void print_table(void *probe)
{
    struct sum *p = probe;
    printf("%s: %llu floats of condition %.3g, sum %.9g (%a), %zu groups of %zu%s\n", p->base.device.name,
           (unsigned long long)p->n, p->condition, gs_longacc_to_double(&p->sum), (double)p->rounded, p->groups,
           (size_t)p->local, p->permute ? ", permuted before each run" : "");
    printf("%-8s %8s %10s %8s %14s %16s %12s\n", "method", "runs", "different", "mode %", "worst error",
           "correctly rnd", "ns/element");
    for (int m = 0; m < METHODS; m++) {
        struct result *r = &p->result[m];
        if (!has_result(p, m))
            continue;
        struct gs_vecstat_summary s = gs_vecstat_summarise(r->values);
        printf("%-8s %8llu %10.0f %8.2f %14.3g %15.1f%% %12.5f\n", names[m], (unsigned long long)p->done, s.cardinality,
               100 * s.mode, r->worst, 100 * (double)(p->done - r->wrong) / (double)p->done,
               median_ns(p, r) / (double)p->n);
    }
}

/* JSON has no infinities and no NaN. */
static json_t *finite_json(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *method_json(struct sum *p, enum method m)
{
    struct result *r = &p->result[m];
    struct gs_vecstat_summary s = gs_vecstat_summarise(r->values);
    char bits[12];
    uint32_t u;
    memcpy(&u, &r->last, sizeof(u));
    snprintf(bits, sizeof(bits), "%08x", u);
    return json_pack("{s:s, s:I, s:f, s:f, s:o, s:I, s:o, s:s, s:f}", "method", names[m], "runs", (json_int_t)p->done,
                     "distinct", s.cardinality, "mode", s.mode, "worst_error", finite_json(r->worst),
                     "correctly_rounded", (json_int_t)(p->done - r->wrong), "last", finite_json((double)r->last),
                     "last_bits", bits, "ns_per_element", median_ns(p, r) / (double)p->n);
}

static void add_json(void *probe, json_t *j)
{
    struct sum *p = probe;
    json_t *list = json_array();
    json_object_update_new(j, json_pack("{s:I, s:o, s:o, s:I, s:i, s:i, s:b}", "elements", (json_int_t)p->n,
                                        "condition", finite_json(p->condition), "exact",
                                        finite_json(gs_longacc_to_double(&p->sum)), "seed", (json_int_t)p->seed,
                                        "groups", (int)p->groups, "local", (int)p->local, "permuted", p->permute));
    for (int m = 0; m < METHODS; m++)
        if (has_result(p, m))
            json_array_append_new(list, method_json(p, (enum method)m));
    json_object_set_new(j, "methods", list);
}

/* For each method: how many different results, and the worst error. What was always right has no mark there. */
static void plot(void *probe, FILE *f)
{
    struct sum *p = probe;
    static const char *const name[] = {"a method"};
    struct gs_row rows[2][METHODS];
    double value[2][METHODS];
    char title[256];
    size_t n = 0;
    for (int m = 0; m < METHODS; m++)
        if (has_result(p, m)) {
            const double worst = p->result[m].worst;
            value[0][n] = gs_vecstat_summarise(p->result[m].values).cardinality;
            value[1][n] = isfinite(worst) && worst > 0 ? worst : NAN;
            for (int k = 0; k < 2; k++)
                rows[k][n] = (struct gs_row){.label = names[m], .value = &value[k][n]};
            n++;
        }
    snprintf(title, sizeof title, "%s: %zu floats of condition %.3g, summed %llu times%s", p->base.device.name, p->n,
             p->condition, (unsigned long long)p->done, p->permute ? ", permuted before each" : "");
    struct gs_panel panels[2] = {
        {.title = "different results", .x = {.label = "results", .log = true}},
        {.title = "worst error; none: always right", .x = {.label = "relative to the exact sum", .log = true}}};
    for (int k = 0; k < 2; k++) {
        panels[k].kind = GS_PANEL_DOTS;
        panels[k].rows = rows[k];
        panels[k].n_rows = n;
        panels[k].names = name;
        panels[k].n_names = 1;
    }
    const struct gs_chart chart = {.title = title, .panels = panels, .n = 2, .columns = 2, .width = 400};
    gs_chart_write(&chart, f);
}

static void release(void *probe)
{
    struct sum *p = probe;
    probe_drop_kernels(p->kernel, METHODS);
    probe_drop_buffers(&p->x, 1);
    probe_drop_buffers(&p->out, 1);
    probe_drop_buffers(&p->total, 1);
    probe_drop_program(&p->program);
    for (int m = 0; m < METHODS; m++) {
        gs_vecstat_free(p->result[m].values);
        free(p->result[m].ns);
    }
    free(p->host);
    free(p->shuffled);
    free(p->partial);
}

/* ---- options ---- */

enum { ELEMENTS = PROBE_OWN_OPTIONS, CONDITION, RUNS, SEED, GROUPS, LOCAL, METHOD, PERMUTE, INPUT };

static const struct option own_options[] = {
    {"elements", required_argument, NULL, ELEMENTS}, {"condition", required_argument, NULL, CONDITION},
    {"runs", required_argument, NULL, RUNS},         {"seed", required_argument, NULL, SEED},
    {"groups", required_argument, NULL, GROUPS},     {"local", required_argument, NULL, LOCAL},
    {"methods", required_argument, NULL, METHOD},    {"permute", no_argument, NULL, PERMUTE},
    {"input", required_argument, NULL, INPUT},       {0}};

static void set_defaults(void *probe)
{
    struct sum *p = probe;
    p->elements = 1024;
    p->runs = 1000;
    p->wanted_condition = 1e8;
    p->local = 256;
    p->seed = 1;
    for (int m = 0; m < METHODS; m++)
        p->wanted[m] = true;
}

static bool read_methods(struct sum *p, const char *text)
{
    memset(p->wanted, 0, sizeof(p->wanted));
    while (*text) {
        size_t n = strcspn(text, ",");
        int m = 0;
        while (m < METHODS && (strncmp(names[m], text, n) != 0 || names[m][n]))
            m++;
        if (m == METHODS) {
            gs_error("--methods is a list of atomic, warp, tree and exact, not '%s'", text);
            return false;
        }
        p->wanted[m] = true;
        text += n + (text[n] == ',');
    }
    return true;
}

static bool read_condition(struct sum *p, const char *text)
{
    char *end;
    p->wanted_condition = strtod(text, &end);
    if (*text && !*end && p->wanted_condition >= 1 && p->wanted_condition <= 1e30)
        return true;
    gs_error("--condition is a number from 1 to 1e30, not '%s'", text);
    return false;
}

static bool read_local(struct sum *p, const char *text)
{
    if (!probe_number("local", text, 32, 1024, &p->local))
        return false;
    if ((p->local & (p->local - 1)) == 0)
        return true;
    gs_error("--local wants a power of two, for the tree, not %s", text);
    return false;
}

static bool take_option(void *probe, int option, const char *value)
{
    struct sum *p = probe;
    switch (option) {
    case ELEMENTS:
        return probe_number("elements", value, 6, UINT64_C(1) << 30, &p->elements);
    case CONDITION:
        return read_condition(p, value);
    case RUNS:
        return probe_number("runs", value, 1, 100000000, &p->runs);
    case SEED:
        return probe_number("seed", value, 0, UINT32_MAX, &p->seed);
    case GROUPS:
        return probe_number("groups", value, 1, 65536, &p->wanted_groups);
    case LOCAL:
        return read_local(p, value);
    case METHOD:
        return read_methods(p, value);
    case PERMUTE:
        return p->permute = true;
    default:
        p->input = value;
        return true;
    }
}

const struct probe_kind probe_sum = {
    .name = "sum",
    .bytes = sizeof(struct sum),
    .set_defaults = set_defaults,
    .options = own_options,
    .take_option = take_option,
    .prepare = prepare,
    .describe = describe,
    .data = data,
    .measure = measure,
    .counts = "runs",
    .done = sums_done,
    .print_table = print_table,
    .add_json = add_json,
    .plot = plot,
    .release = release,
};
