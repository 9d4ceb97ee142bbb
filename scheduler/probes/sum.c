/* SPDX-License-Identifier: MIT */
/* gpusparc probe sum: the same floats summed in four ways, again and again: how many different results, how wrong, how
 * fast. */
#include "scheduler/probes/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/probes/illcond.h"
#include "scheduler/probes/vecstat.h"

extern const char gs_probe_sum_cl[];

enum method { BY_ATOMIC, BY_WARP, BY_TREE, BY_EXACT, METHODS };
enum { NAN_SEEN = 1, PLUS_INFINITY = 2, MINUS_INFINITY = 4, ANY = 8, NOT_MINUS_ZERO = 16 }; /* as in sum.cl */

static const char *const names[METHODS] = {"atomic", "warp", "tree", "exact"};

struct options {
    uint64_t elements, runs, seed, groups, local, device; /* elements: as asked for; probe.n is what there is */
    double condition;
    bool wanted[METHODS], permute, force, json;
    const char *note, *input;
};

struct result {
    struct gs_vecstat *values;
    double *ns;           /* of each run, on the device */
    double worst;         /* relative error */
    uint64_t runs, wrong; /* not the correctly rounded sum */
    float last;
};

struct probe {
    const struct options *o;
    struct probe_device device;
    cl_program program;
    cl_kernel kernel[METHODS];
    cl_mem x, out, total; /* total: a float, or the exact sum's digits and flags */
    float *host, *partial;
    size_t n;
    struct gs_longacc sum;
    float rounded;
    double condition;
    size_t groups, local;
    struct result result[METHODS];
};

static bool has_int64(const struct probe_device *d)
{
    return strstr(d->extensions, "cl_khr_int64_base_atomics") != NULL;
}

static bool write_vector(struct probe *p)
{
    return probe_ok(
        clEnqueueWriteBuffer(p->device.queue, p->x, CL_TRUE, 0, p->n * sizeof(float), p->host, 0, NULL, NULL),
        "write a buffer");
}

static bool zero(struct probe *p, cl_mem m, size_t bytes, cl_event *event)
{
    cl_uint none = 0;
    return probe_ok(clEnqueueFillBuffer(p->device.queue, m, &none, sizeof(none), 0, bytes, 0, NULL, event),
                    "fill a buffer");
}

static bool read_back(struct probe *p, cl_mem m, size_t bytes, void *to)
{
    return probe_ok(clEnqueueReadBuffer(p->device.queue, m, CL_TRUE, 0, bytes, to, 0, NULL, NULL), "read a buffer");
}

/* Runs kernel k over `n` elements of `from` with `groups` groups. */
static bool launch(struct probe *p, cl_kernel k, cl_mem from, cl_ulong n, cl_mem to, size_t groups, cl_event *event)
{
    size_t global = groups * p->local;
    cl_int rc = clSetKernelArg(k, 0, sizeof(from), &from);
    rc = rc ? rc : clSetKernelArg(k, 1, sizeof(n), &n);
    rc = rc ? rc : clSetKernelArg(k, 2, sizeof(to), &to);
    rc = rc ? rc : clEnqueueNDRangeKernel(p->device.queue, k, 1, NULL, &global, &p->local, 0, NULL, event);
    return probe_ok(rc, "run a kernel");
}

static bool set_local(cl_kernel k, cl_uint index, size_t bytes)
{
    return probe_ok(clSetKernelArg(k, index, bytes, NULL), "give local memory");
}

static bool run_atomic(struct probe *p, cl_event *first, cl_event *last, float *out)
{
    return zero(p, p->out, sizeof(float), first) &&
           launch(p, p->kernel[BY_ATOMIC], p->x, p->n, p->out, p->groups, last) &&
           read_back(p, p->out, sizeof(float), out);
}

static bool run_warp(struct probe *p, cl_event *first, cl_event *last, float *out)
{
    bool ok = set_local(p->kernel[BY_WARP], 3, p->local / 32 * sizeof(float)) &&
              zero(p, p->out, p->groups * sizeof(float), first) &&
              launch(p, p->kernel[BY_WARP], p->x, p->n, p->out, p->groups, last) &&
              read_back(p, p->out, p->groups * sizeof(float), p->partial);
    *out = 0;
    for (size_t i = 0; ok && i < p->groups; i++)
        *out += p->partial[i];
    return ok;
}

static bool run_tree(struct probe *p, cl_event *first, cl_event *last, float *out)
{
    return set_local(p->kernel[BY_TREE], 3, p->local * sizeof(float)) &&
           launch(p, p->kernel[BY_TREE], p->x, p->n, p->out, p->groups, first) &&
           launch(p, p->kernel[BY_TREE], p->out, p->groups, p->total, 1, last) &&
           read_back(p, p->total, sizeof(float), out);
}

static bool run_exact(struct probe *p, cl_event *first, cl_event *last, float *out)
{
    cl_kernel k = p->kernel[BY_EXACT];
    struct gs_longacc a = {0};
    struct {
        int64_t digit[GS_LONGACC_DIGITS];
        cl_uint flags, unused;
    } raw;
    bool ok = set_local(k, 3, p->local * GS_LONGACC_DIGITS * sizeof(cl_long)) && set_local(k, 4, sizeof(cl_uint)) &&
              zero(p, p->total, sizeof(raw), first) && launch(p, k, p->x, p->n, p->total, p->groups, last) &&
              read_back(p, p->total, sizeof(raw), &raw);
    if (!ok)
        return false;
    memcpy(a.digit, raw.digit, sizeof(a.digit));
    a.nan = raw.flags & NAN_SEEN;
    a.plus_infinity = raw.flags & PLUS_INFINITY;
    a.minus_infinity = raw.flags & MINUS_INFINITY;
    a.any = raw.flags & ANY;
    a.not_minus_zero = raw.flags & (NOT_MINUS_ZERO | NAN_SEEN | PLUS_INFINITY | MINUS_INFINITY);
    *out = gs_longacc_to_float(&a);
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
static double relative_error(const struct probe *p, float got)
{
    struct gs_longacc d = p->sum;
    if (same_value(got, p->rounded) && (!isfinite(got) || gs_longacc_sign(&p->sum) == 0))
        return 0;
    if (!isfinite(got) || !isfinite(p->rounded) || gs_longacc_sign(&p->sum) == 0)
        return INFINITY;
    gs_longacc_subtract(&d, got);
    return fabs(gs_longacc_to_double(&d) / gs_longacc_to_double(&p->sum));
}

static bool run_once(struct probe *p, enum method m)
{
    static bool (*const run[METHODS])(struct probe *, cl_event *, cl_event *, float *) = {run_atomic, run_warp,
                                                                                          run_tree, run_exact};
    struct result *r = &p->result[m];
    cl_event first, last;
    float got;
    uint32_t bits;
    if (!probe_take(&p->device))
        return true; /* interrupted */
    bool ok = run[m](p, &first, &last, &got);
    probe_give(&p->device);
    if (!ok)
        return false;
    double error = relative_error(p, got);
    memcpy(&bits, &got, sizeof(bits));
    r->ns[r->runs++] = device_ns(first, last);
    r->worst = error > r->worst ? error : r->worst;
    r->wrong += !same_value(got, p->rounded);
    r->last = got;
    return gs_vecstat_add(r->values, &bits, 1) == 0;
}

static void shuffle(float *x, size_t n, uint64_t *state)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)(gs_probe_random(state) % i);
        float t = x[i - 1];
        x[i - 1] = x[j];
        x[j] = t;
    }
}

static bool run_all(struct probe *p)
{
    uint64_t state = p->o->seed + 12345;
    for (uint64_t run = 0; run < p->o->runs && !probe_interrupted; run++) {
        if (p->o->permute && run) {
            shuffle(p->host, p->n, &state);
            if (!write_vector(p))
                return false;
        }
        for (int m = 0; m < METHODS; m++)
            if (p->kernel[m] && !run_once(p, (enum method)m))
                return false;
        probe_progress("sums", run + 1, p->o->runs);
    }
    probe_progress_end();
    return true;
}

/* Whether the exact sum can run here; says why not. */
static bool exact_fits(const struct probe *p, bool int64)
{
    cl_ulong local_bytes = 0;
    clGetDeviceInfo(p->device.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(local_bytes), &local_bytes, NULL);
    size_t wanted = p->local * GS_LONGACC_DIGITS * sizeof(cl_long) + sizeof(cl_uint);
    if (!int64)
        gs_warn("%s has no 64-bit atomics (cl_khr_int64_base_atomics): the exact sum is left out", p->device.name);
    else if (wanted > local_bytes)
        gs_warn("%s has %llu bytes of local memory, and the exact sum wants %zu for --local %zu: it is left out",
                p->device.name, (unsigned long long)local_bytes, wanted, p->local);
    else
        return true;
    return false;
}

static bool prepare_kernels(struct probe *p)
{
    static const char *const kernels[METHODS] = {"sum_atomic", "sum_warp", "sum_tree", "sum_exact"};
    bool int64 = has_int64(&p->device);
    p->program = probe_build(&p->device, gs_probe_sum_cl, PROBE_CLOCK_NONE, int64 ? "-DPROBE_INT64" : "");
    if (!p->program)
        return false;
    for (int m = 0; m < METHODS; m++) {
        if (!p->o->wanted[m])
            continue;
        if (m == BY_EXACT && !exact_fits(p, int64))
            continue;
        p->kernel[m] = probe_kernel(p->program, kernels[m]);
        if (!p->kernel[m])
            return false;
    }
    return true;
}

static bool generate(struct probe *p)
{
    p->n = p->o->elements;
    p->host = malloc(p->n * sizeof(float));
    if (!p->host) {
        gs_error("there is not enough memory for %zu floats", p->n);
        return false;
    }
    return gs_illcond_generate(p->host, p->n, p->o->condition, p->o->seed, &p->sum, &p->condition) == 0;
}

/* The floats of a file, as they lie in memory. */
static bool read_input(struct probe *p)
{
    struct gs_longacc size = {0};
    FILE *f = fopen(p->o->input, "rb");
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
        gs_error("%s could not be read as floats of 4 bytes each", p->o->input);
        return false;
    }
    for (size_t i = 0; i < p->n; i++)
        gs_longacc_add(&size, fabsf(p->host[i]));
    gs_longacc_add_many(&p->sum, p->host, p->n);
    p->condition = gs_longacc_to_double(&size) / fabs(gs_longacc_to_double(&p->sum));
    return true;
}

static bool prepare(struct probe *p)
{
    const struct options *o = p->o;
    p->groups = o->groups ? o->groups : 8 * (size_t)p->device.compute_units;
    p->local = o->local;
    if (p->local > p->device.max_group) {
        gs_error("%s takes groups of %zu work-items at most; --local %zu is too many", p->device.name,
                 p->device.max_group, p->local);
        return false;
    }
    p->partial = malloc(p->groups * sizeof(float));
    bool ok = p->partial != NULL;
    for (int m = 0; m < METHODS; m++) {
        p->result[m].values = gs_vecstat_new(0);
        p->result[m].ns = malloc(o->runs * sizeof(double));
        ok = ok && p->result[m].values && p->result[m].ns;
    }
    if (!ok)
        gs_error("there is not enough memory for %llu runs", (unsigned long long)o->runs);
    if (!ok || !(o->input ? read_input(p) : generate(p)))
        return false;
    p->rounded = gs_longacc_to_float(&p->sum);
    p->x = probe_buffer(&p->device, p->n * sizeof(float));
    p->out = probe_buffer(&p->device, p->groups * sizeof(float));
    p->total = probe_buffer(&p->device, sizeof(p->sum.digit) + sizeof(cl_ulong));
    return p->x && p->out && p->total && prepare_kernels(p) && write_vector(p);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ns(struct result *r)
{
    if (!r->runs)
        return 0;
    qsort(r->ns, r->runs, sizeof(double), by_value);
    return r->ns[r->runs / 2];
}

static void print_table(struct probe *p)
{
    printf("%s: %llu floats of condition %.3g, sum %.9g (%a), %zu groups of %zu%s\n", p->device.name,
           (unsigned long long)p->n, p->condition, gs_longacc_to_double(&p->sum), (double)p->rounded, p->groups,
           p->local, p->o->permute ? ", permuted before each run" : "");
    printf("%-8s %8s %10s %8s %14s %16s %12s\n", "method", "runs", "different", "mode %", "worst error",
           "correctly rnd", "ns/element");
    for (int m = 0; m < METHODS; m++) {
        struct result *r = &p->result[m];
        if (!r->runs)
            continue;
        struct gs_vecstat_summary s = gs_vecstat_summarise(r->values);
        printf("%-8s %8llu %10.0f %8.2f %14.3g %15.1f%% %12.5f\n", names[m], (unsigned long long)r->runs, s.cardinality,
               100 * s.mode, r->worst, 100 * (double)(r->runs - r->wrong) / (double)r->runs,
               median_ns(r) / (double)p->n);
    }
}

/* JSON has no infinities and no NaN. */
static json_t *finite_json(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *method_json(struct probe *p, enum method m)
{
    struct result *r = &p->result[m];
    struct gs_vecstat_summary s = gs_vecstat_summarise(r->values);
    char bits[12];
    uint32_t u;
    memcpy(&u, &r->last, sizeof(u));
    snprintf(bits, sizeof(bits), "%08x", u);
    return json_pack("{s:s, s:I, s:f, s:f, s:o, s:I, s:o, s:s, s:f}", "method", names[m], "runs", (json_int_t)r->runs,
                     "distinct", s.cardinality, "mode", s.mode, "worst_error", finite_json(r->worst),
                     "correctly_rounded", (json_int_t)(r->runs - r->wrong), "last", finite_json((double)r->last),
                     "last_bits", bits, "ns_per_element", median_ns(r) / (double)p->n);
}

static bool print_json(struct probe *p)
{
    json_t *j = probe_describe(&p->device, p->o->note), *list = json_array();
    json_object_update_new(j, json_pack("{s:I, s:o, s:o, s:I, s:i, s:i, s:b}", "elements", (json_int_t)p->n,
                                        "condition", finite_json(p->condition), "exact",
                                        finite_json(gs_longacc_to_double(&p->sum)), "seed", (json_int_t)p->o->seed,
                                        "groups", (int)p->groups, "local", (int)p->local, "permuted", p->o->permute));
    for (int m = 0; m < METHODS; m++)
        if (p->result[m].runs)
            json_array_append_new(list, method_json(p, (enum method)m));
    json_object_set_new(j, "methods", list);
    int rc = json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(j);
    return rc == 0;
}

static void release(struct probe *p)
{
    for (int m = 0; m < METHODS; m++) {
        if (p->kernel[m])
            clReleaseKernel(p->kernel[m]);
        gs_vecstat_free(p->result[m].values);
        free(p->result[m].ns);
    }
    cl_mem memory[] = {p->x, p->out, p->total};
    for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++)
        if (memory[i])
            clReleaseMemObject(memory[i]);
    if (p->program)
        clReleaseProgram(p->program);
    probe_close(&p->device);
    free(p->host);
    free(p->partial);
}

static int measure(const struct options *o)
{
    struct probe *p = calloc(1, sizeof(*p));
    if (!p)
        return PROBE_EXIT_FAILED;
    p->o = o;
    bool ok = probe_open(&p->device, (unsigned)o->device, o->force) && prepare(p);
    probe_catch_interrupt();
    ok = ok && run_all(p);
    if (ok && o->json)
        ok = print_json(p);
    else if (ok)
        print_table(p);
    if (ok && probe_interrupted)
        gs_warn("stopped early; what was measured so far is above");
    release(p);
    free(p);
    return ok ? PROBE_EXIT_OK : PROBE_EXIT_FAILED;
}

enum { ELEMENTS = 256, CONDITION, RUNS, SEED, GROUPS, LOCAL, DEVICE, METHOD, PERMUTE, INPUT, NOTE, FORCE, JSON };

static bool read_methods(struct options *o, const char *text)
{
    memset(o->wanted, 0, sizeof(o->wanted));
    while (*text) {
        size_t n = strcspn(text, ",");
        int m = 0;
        while (m < METHODS && (strncmp(names[m], text, n) != 0 || names[m][n]))
            m++;
        if (m == METHODS) {
            gs_error("--methods is a list of atomic, warp, tree and exact, not '%s'", text);
            return false;
        }
        o->wanted[m] = true;
        text += n + (text[n] == ',');
    }
    return true;
}

static bool read_condition(struct options *o, const char *text)
{
    char *end;
    o->condition = strtod(text, &end);
    if (*text && !*end && o->condition >= 1 && o->condition <= 1e30)
        return true;
    gs_error("--condition is a number from 1 to 1e30, not '%s'", text);
    return false;
}

static bool read_local(struct options *o, const char *text)
{
    if (!probe_number("local", text, 32, 1024, &o->local))
        return false;
    if ((o->local & (o->local - 1)) == 0)
        return true;
    gs_error("--local wants a power of two, for the tree, not %s", text);
    return false;
}

static bool read_option(struct options *o, int c)
{
    switch (c) {
    case ELEMENTS:
        return probe_number("elements", optarg, 6, UINT64_C(1) << 30, &o->elements);
    case CONDITION:
        return read_condition(o, optarg);
    case RUNS:
        return probe_number("runs", optarg, 1, 100000000, &o->runs);
    case SEED:
        return probe_number("seed", optarg, 0, UINT32_MAX, &o->seed);
    case GROUPS:
        return probe_number("groups", optarg, 1, 65536, &o->groups);
    case LOCAL:
        return read_local(o, optarg);
    case DEVICE:
        return probe_number("device", optarg, 0, 63, &o->device);
    case METHOD:
        return read_methods(o, optarg);
    case PERMUTE:
        return o->permute = true;
    case INPUT:
        o->input = optarg;
        return true;
    case NOTE:
        o->note = optarg;
        return true;
    case FORCE:
        return o->force = true;
    case JSON:
        return o->json = true;
    default:
        gs_error("probe sum does not know an option, or it lacks its value; see gpusparc probe --help");
        return false;
    }
}

int probe_sum_main(int argc, char **argv)
{
    static const struct option options[] = {{"elements", required_argument, NULL, ELEMENTS},
                                            {"condition", required_argument, NULL, CONDITION},
                                            {"runs", required_argument, NULL, RUNS},
                                            {"seed", required_argument, NULL, SEED},
                                            {"groups", required_argument, NULL, GROUPS},
                                            {"local", required_argument, NULL, LOCAL},
                                            {"device", required_argument, NULL, DEVICE},
                                            {"methods", required_argument, NULL, METHOD},
                                            {"permute", no_argument, NULL, PERMUTE},
                                            {"input", required_argument, NULL, INPUT},
                                            {"note", required_argument, NULL, NOTE},
                                            {"force", no_argument, NULL, FORCE},
                                            {"json", no_argument, NULL, JSON},
                                            {0}};
    struct options o = {
        .elements = 1024, .runs = 1000, .condition = 1e8, .local = 256, .seed = 1, .wanted = {true, true, true, true}};
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (!read_option(&o, c))
            return PROBE_EXIT_USAGE;
    if (optind < argc) {
        gs_error("probe sum takes options alone, not '%s'", argv[optind]);
        return PROBE_EXIT_USAGE;
    }
    return measure(&o);
}
