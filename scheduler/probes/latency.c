/* SPDX-License-Identifier: MIT */
/* gpusparc probe latency: cycles per instruction, in the manner of the Fermi report's microbenchmarks, and a device
 * profile for `gpusparc timing`. */
#include "scheduler/probes/probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "gema/timing.h"
#include "scheduler/probes/illcond.h"

extern const char gs_probe_latency_cl[];

/* Repetitions, of which a kernel is built with two numbers: what surrounds the instructions cancels in the difference.
 * Compilers for processors need long for many, and have no long pipeline to fill. */
enum {
    GPU_SHORT = 64,
    GPU_LONG = 320,
    CPU_SHORT = 32,
    CPU_LONG = 96,
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
    ADD_INDEPENDENT,
    MUL_INDEPENDENT,
    MAD_INDEPENDENT,
    SPECIAL_INDEPENDENT,
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
    [ADD_INDEPENDENT] = {"add_independent", "add, independent"},
    [MUL_INDEPENDENT] = {"mul_independent", "mul, independent"},
    [MAD_INDEPENDENT] = {"mad_independent", "mad, independent"},
    [SPECIAL_INDEPENDENT] = {"special_independent", "exp2, independent"},
    [SHARED_LOAD] = {"shared_load", "local load, dependent"},
    [SHARED_STORE] = {"shared_store", "local store"},
    [GLOBAL_LOAD] = {"global_load", "global load, dependent"},
    [GLOBAL_STORE] = {"global_store", "global store"},
    [ATOMIC] = {"atomic_dependent", "global atomic, dependent"},
    [BARRIER] = {"barriers", "barrier"},
};

struct options {
    uint64_t runs, device, mib, schedulers, scheduler_cycles;
    unsigned first, last; /* warps */
    bool json, force;
    const char *note, *profile;
};

/* Cycles per instruction over the runs; of the slowest warp of each. */
struct cycles {
    double best, average, worst;
};

struct probe {
    const struct options *o;
    struct probe_device device;
    enum probe_clock clock;
    int length[2];
    cl_program program[2];
    cl_kernel kernel[TESTS][2];
    cl_mem out, io, chain, words;
    cl_uint chain_at;                          /* where the next walk through the chain begins */
    struct cycles one[TESTS];                  /* one warp */
    struct cycles conflicts[2][STRIDES];       /* local load, store, of one warp; 2^k meet in a bank */
    struct cycles warps[TESTS][MAX_WARPS + 1]; /* by the number of warps */
};

/* One run: the cycles of the slowest of `warps` warps. */
static bool run_once(struct probe *p, enum test t, int length, unsigned warps, cl_uint stride, double *cycles)
{
    cl_kernel k = p->kernel[t][length];
    cl_ulong out[MAX_WARPS];
    size_t local = (size_t)warps * WARP;
    cl_uint parameter = t == GLOBAL_LOAD ? p->chain_at : stride;
    cl_int rc = clSetKernelArg(k, 5, sizeof(parameter), &parameter);
    rc = rc ? rc : clEnqueueNDRangeKernel(p->device.queue, k, 1, NULL, &local, &local, 0, NULL, NULL);
    rc = rc ? rc : clEnqueueReadBuffer(p->device.queue, p->out, CL_TRUE, 0, warps * sizeof(*out), out, 0, NULL, NULL);
    if (rc == CL_SUCCESS && t == GLOBAL_LOAD)
        rc = clEnqueueReadBuffer(p->device.queue, p->words, CL_TRUE, 0, sizeof(p->chain_at), &p->chain_at, 0, NULL,
                                 NULL);
    if (!probe_ok(rc, "run a kernel"))
        return false;
    *cycles = 0;
    for (unsigned w = 0; w < warps; w++)
        *cycles = (double)out[w] > *cycles ? (double)out[w] : *cycles;
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The difference of the long runs and the median short one, per instruction. The first runs warm caches and clock up.
 */
static bool measure(struct probe *p, enum test t, unsigned warps, cl_uint stride, struct cycles *c)
{
    enum { WARM_UP = 3 };
    uint64_t n = p->o->runs;
    double *brief = malloc(2 * n * sizeof(*brief)), *full = brief + n, sum = 0;
    uint64_t done = 0;
    bool ok = brief != NULL;
    if (!ok)
        gs_error("there is not enough memory for the runs");
    for (uint64_t i = 0; ok && i < n + WARM_UP; i++) {
        uint64_t k = i < WARM_UP ? 0 : i - WARM_UP;
        if (!probe_take(&p->device))
            break;
        ok = run_once(p, t, 0, warps, stride, &brief[k]) && run_once(p, t, 1, warps, stride, &full[k]);
        probe_give(&p->device);
        done += ok;
    }
    if (ok && done == n + WARM_UP) {
        qsort(brief, n, sizeof(*brief), by_value);
        qsort(full, n, sizeof(*full), by_value);
        for (uint64_t i = 0; i < n; i++)
            sum += full[i];
        double base = brief[n / 2], per = 1.0 / (p->length[1] - p->length[0]);
        c->best = fmax(0, (full[0] - base) * per);
        c->average = fmax(c->best, (sum / (double)n - base) * per);
        c->worst = fmax(c->average, (full[n - 1] - base) * per);
    }
    free(brief);
    return ok;
}

/* A random cycle through all cache lines of a buffer (Sattolo's shuffle). */
static bool fill_chain(struct probe *p)
{
    size_t words = p->o->mib << 18, lines = words / LINE_WORDS;
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
        gs_error("there is not enough memory for a chain of %llu MiB", (unsigned long long)p->o->mib);
    ok = ok && probe_ok(clEnqueueWriteBuffer(p->device.queue, p->chain, CL_TRUE, 0, words * sizeof(*chain), chain, 0,
                                             NULL, NULL),
                        "write a buffer");
    free(chain);
    free(order);
    return ok;
}

static bool prepare_kernels(struct probe *p)
{
    for (int length = 0; length < 2; length++) {
        char options[40];
        snprintf(options, sizeof(options), "-DK=%d", p->length[length]);
        p->program[length] = probe_build(&p->device, gs_probe_latency_cl, p->clock, options);
        for (int t = 0; t < TESTS; t++) {
            cl_kernel k = p->kernel[t][length] = probe_kernel(p->program[length], tests[t].kernel);
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

static bool prepare(struct probe *p)
{
    const float io[2] = {1.0f, 0.9999f};
    p->clock = probe_clock_of(&p->device, false);
    p->length[0] = p->device.is_pocl ? CPU_SHORT : GPU_SHORT;
    p->length[1] = p->device.is_pocl ? CPU_LONG : GPU_LONG;
    if (p->clock == PROBE_CLOCK_NONE) {
        gs_error("%s has no clock that a kernel can read (cl_khr_kernel_clock, or PTX on NVIDIA)", p->device.name);
        return false;
    }
    if ((size_t)p->o->last * WARP > p->device.max_group) {
        gs_error("%s takes groups of %zu work-items at most, which is %zu warps", p->device.name, p->device.max_group,
                 p->device.max_group / WARP);
        return false;
    }
    p->out = probe_buffer(&p->device, MAX_WARPS * sizeof(cl_ulong));
    p->io = probe_buffer(&p->device, (2 + MAX_WARPS * WARP) * sizeof(float));
    p->chain = probe_buffer(&p->device, p->o->mib << 20);
    p->words = probe_buffer(&p->device, (1 + MAX_WARPS * WARP + GPU_LONG * 32) * sizeof(cl_uint));
    return p->out && p->io && p->chain && p->words && fill_chain(p) && prepare_kernels(p) &&
           probe_ok(clEnqueueWriteBuffer(p->device.queue, p->io, CL_TRUE, 0, sizeof(io), io, 0, NULL, NULL),
                    "write a buffer");
}

static bool measure_all(struct probe *p)
{
    bool ok = true;
    for (int t = 0; ok && t < TESTS && !probe_interrupted; t++) {
        probe_progress("instructions", (uint64_t)t, TESTS);
        ok = measure(p, (enum test)t, 1, 1, &p->one[t]);
        for (unsigned w = p->o->first; ok && w <= p->o->last && !probe_interrupted; w++)
            ok = measure(p, (enum test)t, w, 1, &p->warps[t][w]);
    }
    for (int k = 0; ok && k < STRIDES && !probe_interrupted; k++)
        ok = measure(p, SHARED_LOAD, 1, 1u << k, &p->conflicts[0][k]) &&
             measure(p, SHARED_STORE, 1, 1u << k, &p->conflicts[1][k]);
    probe_progress_end();
    return ok;
}

static struct gs_timing_cost cost(const struct cycles *issue, const struct cycles *latency)
{
    double i = round(10 * issue->average) / 10;
    return (struct gs_timing_cost){
        i, {round(10 * latency->best) / 10, round(10 * latency->average) / 10, round(10 * latency->worst) / 10}};
}

/* The profile for `timing`. What has no probe of its own is set to what resembles it; docs/probes.md says so. */
static struct gs_timing_profile profile_of(const struct probe *p)
{
    struct gs_timing_profile r = {.clock_mhz = p->device.frequency_mhz,
                                  .warp_schedulers = (unsigned)p->o->schedulers,
                                  .scheduler_cycles = (unsigned)p->o->scheduler_cycles};
    const struct cycles *issue = &p->one[ADD_INDEPENDENT], *one = p->one;
    snprintf(r.name, sizeof(r.name), "%.60s", p->device.name);
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

static bool write_profile(const struct probe *p)
{
    struct gs_timing_profile profile = profile_of(p);
    char *text = gs_timing_profile_write(&profile);
    FILE *f = text ? fopen(p->o->profile, "w") : NULL;
    bool ok = f && fprintf(f, "%s\n", text) > 0;
    ok = f && fclose(f) == 0 && ok;
    free(text);
    if (!ok)
        gs_error("%s could not be written: %s", p->o->profile, strerror(errno));
    return ok;
}

static void print_table(const struct probe *p)
{
    printf("%s, %s, %llu runs; cycles per instruction%s\n", p->device.name, probe_clock_name(p->clock),
           (unsigned long long)p->o->runs,
           p->device.is_pocl ? " (of the first of 32 work-items, which run one after another)" : "");
    printf("%-26s %10s %10s %10s", "one warp", "best", "average", "worst");
    for (unsigned w = p->o->first; p->o->last > 1 && w <= p->o->last; w++)
        printf(" %4u warps", w);
    putchar('\n');
    for (int t = 0; t < TESTS; t++) {
        printf("%-26s %10.2f %10.2f %10.2f", tests[t].label, p->one[t].best, p->one[t].average, p->one[t].worst);
        for (unsigned w = p->o->first; p->o->last > 1 && w <= p->o->last; w++)
            printf(" %10.2f", p->warps[t][w].average);
        putchar('\n');
    }
    printf("\n%-26s", "work-items on one bank");
    for (int k = 0; k < STRIDES; k++)
        printf(" %8u", 1u << k);
    for (int s = 0; s < 2; s++) {
        printf("\n%-26s", s ? "local store" : "local load, dependent");
        for (int k = 0; k < STRIDES; k++)
            printf(" %8.2f", p->conflicts[s][k].average);
    }
    putchar('\n');
}

static json_t *cycles_json(const struct cycles *c)
{
    return json_pack("{s:f, s:f, s:f}", "best", c->best, "average", c->average, "worst", c->worst);
}

static bool print_json(const struct probe *p)
{
    json_t *j = probe_describe(&p->device, p->o->note), *one = json_object(), *many = json_object();
    struct gs_timing_profile profile = profile_of(p);
    char *text = gs_timing_profile_write(&profile);
    for (int t = 0; t < TESTS; t++) {
        json_t *by_warps = json_object();
        for (unsigned w = p->o->first; w <= p->o->last; w++) {
            char key[12];
            snprintf(key, sizeof(key), "%u", w);
            json_object_set_new(by_warps, key, cycles_json(&p->warps[t][w]));
        }
        json_object_set_new(one, tests[t].kernel, cycles_json(&p->one[t]));
        json_object_set_new(many, tests[t].kernel, by_warps);
    }
    json_object_set_new(j, "clock", json_string(probe_clock_name(p->clock)));
    json_object_set_new(j, "runs", json_integer((json_int_t)p->o->runs));
    json_object_set_new(j, "one_warp", one);
    json_object_set_new(j, "by_warps", many);
    for (int s = 0; s < 2; s++) {
        json_t *list = json_array();
        for (int k = 0; k < STRIDES; k++)
            json_array_append_new(list, cycles_json(&p->conflicts[s][k]));
        json_object_set_new(j, s ? "shared_store_conflicts" : "shared_load_conflicts", list);
    }
    json_object_set_new(j, "profile", text ? json_loads(text, 0, NULL) : json_null());
    free(text);
    int rc = json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(j);
    return rc == 0;
}

static void release(struct probe *p)
{
    for (int length = 0; length < 2; length++) {
        for (int t = 0; t < TESTS; t++)
            if (p->kernel[t][length])
                clReleaseKernel(p->kernel[t][length]);
        if (p->program[length])
            clReleaseProgram(p->program[length]);
    }
    cl_mem memory[] = {p->out, p->io, p->chain, p->words};
    for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++)
        if (memory[i])
            clReleaseMemObject(memory[i]);
    probe_close(&p->device);
}

static int probe_latency(struct options *o)
{
    struct probe *p = calloc(1, sizeof(*p));
    if (!p)
        return PROBE_EXIT_FAILED;
    p->o = o;
    bool ok = probe_open(&p->device, (unsigned)o->device, o->force);
    bool modern = ok && p->device.is_nvidia; /* since Volta: four schedulers, an instruction each per cycle */
    o->schedulers = o->schedulers ? o->schedulers : modern ? 4 : 1;
    o->scheduler_cycles = o->scheduler_cycles ? o->scheduler_cycles : 1;
    ok = ok && prepare(p);
    probe_catch_interrupt();
    ok = ok && measure_all(p);
    if (ok && o->json)
        ok = print_json(p);
    else if (ok)
        print_table(p);
    if (ok && probe_interrupted)
        gs_warn("stopped early: what is 0 was not measured, and no profile is written");
    else if (ok && o->profile)
        ok = write_profile(p);
    release(p);
    free(p);
    return ok ? PROBE_EXIT_OK : PROBE_EXIT_FAILED;
}

enum { WARPS = 256, RUNS, DEVICE, MIB, SCHEDULERS, SCHEDULER_CYCLES, PROFILE, NOTE, FORCE, JSON };

static bool read_option(struct options *o, int c)
{
    switch (c) {
    case WARPS:
        return probe_range("warps", optarg, MAX_WARPS, &o->first, &o->last);
    case RUNS:
        return probe_number("runs", optarg, 1, 1000000, &o->runs);
    case DEVICE:
        return probe_number("device", optarg, 0, 63, &o->device);
    case MIB:
        return probe_number("memory", optarg, 1, 4096, &o->mib);
    case SCHEDULERS:
        return probe_number("schedulers", optarg, 1, 1024, &o->schedulers);
    case SCHEDULER_CYCLES:
        return probe_number("scheduler-cycles", optarg, 1, 1024, &o->scheduler_cycles);
    case PROFILE:
        o->profile = optarg;
        return true;
    case NOTE:
        o->note = optarg;
        return true;
    case FORCE:
        return o->force = true;
    case JSON:
        return o->json = true;
    default:
        gs_error("probe latency does not know an option, or it lacks its value; see gpusparc probe --help");
        return false;
    }
}

int probe_latency_main(int argc, char **argv)
{
    static const struct option options[] = {{"warps", required_argument, NULL, WARPS},
                                            {"runs", required_argument, NULL, RUNS},
                                            {"device", required_argument, NULL, DEVICE},
                                            {"memory", required_argument, NULL, MIB},
                                            {"schedulers", required_argument, NULL, SCHEDULERS},
                                            {"scheduler-cycles", required_argument, NULL, SCHEDULER_CYCLES},
                                            {"profile", required_argument, NULL, PROFILE},
                                            {"note", required_argument, NULL, NOTE},
                                            {"force", no_argument, NULL, FORCE},
                                            {"json", no_argument, NULL, JSON},
                                            {0}};
    struct options o = {.runs = 100, .mib = 256, .first = 1, .last = 1};
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (!read_option(&o, c))
            return PROBE_EXIT_USAGE;
    if (optind < argc) {
        gs_error("probe latency takes options alone, not '%s'", argv[optind]);
        return PROBE_EXIT_USAGE;
    }
    return probe_latency(&o);
}
