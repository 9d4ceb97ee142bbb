/* SPDX-License-Identifier: MIT */
/* gpusparc makespan: how long W warps that run one instruction string can take on one streaming multiprocessor. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/ptx_input.h"
#include "common/log.h"
#include "common/options.h"
#include "gema/makespan.h"

static const char usage[] =
    "Usage: gpusparc makespan STRING --warps W [OPTION...]\n"
    "       gpusparc makespan --ptx FILE [--kernel NAME] --warps W [OPTION...]\n"
    "The worst case, over all work-conserving schedules, of the cycles in which W warps that all run one instruction\n"
    "string end on one streaming multiprocessor: bounds, the exact value, and a schedule that attains it.\n\n"
    "STRING has a capital letter for each instruction, the type of the unit that executes it: L load/store, C CUDA\n"
    "core, or any other. L3(CS)2 stands for LLLCSCS; a bar is a barrier at which all warps meet.\n\n"
    "  --warps W            warps of a work-group; without --groups all the warps there are\n"
    "  --sigma-l S, --sigma-c S, --sigma X=S\n"
    "                       warps that the units of type L, C or X serve in a cycle: an integer or 1/n; default 1\n"
    "  --approx X           also the approximation of the paper's equations 42 and 43, from 1 to X warps\n"
    "  --schedule[=COLUMNS]  print the schedule found, COLUMNS cycles a line (default 32)\n"
    "  --no-exact           bounds only\n"
    "  --memory MIB         for the exact search (default 1024)\n"
    "  --ilp FILE           also writes the paper's integer program, as CPLEX LP for glpsol --lp or cbc\n"
    "  --horizon T          how many cycles it covers (default: the safe bound)\n"
    "  --json               the answer as JSON on stdout\n\n"
    "Ctrl-C ends a search, which then reports the bounds that it has, marked as cut short, and exits with 130.\n\n"
    "From PTX:\n" PTX_INPUT_USAGE "  --special            special functions (sin, sqrt, div, ...) are type S, not C\n\n"
    "A worst-case execution time for a segment of a config:\n"
    "  --clock MHZ          the multiprocessor's clock\n"
    "  --groups G           work-groups of the launch (default 1)\n"
    "  --multiprocessors M  over which they are spread evenly (default 1)\n"
    "  --resident R         work-groups that one multiprocessor holds at once (default: all of its share)\n"
    "  --overhead NS        added to the time: launch, first and last memory access, what the model leaves out\n";

struct arguments {
    const char *string, *ilp;
    struct ptx_input ptx;
    bool special, no_exact, json;
    unsigned warps, approx, columns;
    struct gs_sigmas sigmas;
    size_t memory_mib;
    double clock_mhz;
    uint64_t groups, multiprocessors, resident, overhead_ns, horizon;
};

/* All that is printed. */
struct answer {
    uint64_t equation5, wait, safe, lower, upper, states, approximation;
    bool equation5_safe, searched, exact, has_approximation, cut;
    struct gs_makespan_exact search;
    /* the segment */
    uint64_t share, cycles, wcet_ns;
};

enum {
    SIGMA_L = 256,
    SIGMA_C,
    SIGMA,
    APPROX,
    SCHEDULE,
    NO_EXACT,
    MEMORY,
    JSON,
    SPECIAL,
    CLOCK,
    GROUPS,
    SMS,
    RESIDENT,
    OVERHEAD,
    ILP,
    HORIZON,
    WARPS
};

static const struct option long_options[] = {{"warps", required_argument, NULL, WARPS},
                                             {"sigma-l", required_argument, NULL, SIGMA_L},
                                             {"sigma-c", required_argument, NULL, SIGMA_C},
                                             {"sigma", required_argument, NULL, SIGMA},
                                             {"approx", required_argument, NULL, APPROX},
                                             {"schedule", optional_argument, NULL, SCHEDULE},
                                             {"no-exact", no_argument, NULL, NO_EXACT},
                                             {"memory", required_argument, NULL, MEMORY},
                                             {"json", no_argument, NULL, JSON},
                                             {"special", no_argument, NULL, SPECIAL},
                                             {"clock", required_argument, NULL, CLOCK},
                                             {"groups", required_argument, NULL, GROUPS},
                                             {"multiprocessors", required_argument, NULL, SMS},
                                             {"resident", required_argument, NULL, RESIDENT},
                                             {"overhead", required_argument, NULL, OVERHEAD},
                                             {"ilp", required_argument, NULL, ILP},
                                             {"horizon", required_argument, NULL, HORIZON},
                                             PTX_INPUT_OPTIONS,
                                             {0}};

static bool read_sigma(const char *text, char letter, struct gs_sigmas *s)
{
    if (letter >= 'A' && letter <= 'Z' && gs_sigma_parse(text, &s->of[letter - 'A']) == 0)
        return true;
    gs_error("a capacity is an integer or 1/n, such as 2 or 1/2, not '%s'; with --sigma write X=2", text);
    return false;
}

static bool read_option(struct arguments *a, int c)
{
    uint64_t v;
    switch (c) {
    case WARPS:
        if (!cli_read_number(optarg, 1, GS_MAKESPAN_MAX_WARPS, "--warps", &v))
            return false;
        a->warps = (unsigned)v;
        return true;
    case SIGMA_L:
    case SIGMA_C:
        return read_sigma(optarg, c == SIGMA_L ? 'L' : 'C', &a->sigmas);
    case SIGMA:
        return read_sigma(optarg[0] && optarg[1] == '=' ? optarg + 2 : optarg, optarg[1] == '=' ? optarg[0] : '?',
                          &a->sigmas);
    case APPROX:
        if (!cli_read_number(optarg, 1, UINT16_MAX, "--approx", &v))
            return false;
        a->approx = (unsigned)v;
        return true;
    case SCHEDULE:
        v = 32;
        if (optarg && !cli_read_number(optarg, 1, 1000000, "--schedule", &v))
            return false;
        a->columns = (unsigned)v;
        return true;
    case NO_EXACT:
        return a->no_exact = true;
    case MEMORY:
        if (!cli_read_number(optarg, 1, 1 << 20, "--memory", &v))
            return false;
        a->memory_mib = (size_t)v;
        return true;
    case ILP:
        a->ilp = optarg;
        return true;
    case HORIZON:
        return cli_read_number(optarg, 1, UINT32_MAX, "--horizon", &a->horizon);
    case JSON:
        return a->json = true;
    case SPECIAL:
        return a->special = true;
    case CLOCK: {
        char *end;
        a->clock_mhz = strtod(optarg, &end);
        if (!*end && a->clock_mhz >= 1 && a->clock_mhz <= 1e6)
            return true;
        gs_error("--clock is the frequency in MHz, 1 to 1000000, not '%s'", optarg);
        return false;
    }
    case GROUPS:
        return cli_read_number(optarg, 1, 1u << 31, "--groups", &a->groups);
    case SMS:
        return cli_read_number(optarg, 1, 1 << 20, "--multiprocessors", &a->multiprocessors);
    case RESIDENT:
        return cli_read_number(optarg, 1, 1u << 31, "--resident", &a->resident);
    case OVERHEAD:
        return cli_read_number(optarg, 0, UINT64_C(1) << 50, "--overhead", &a->overhead_ns);
    default:
        return ptx_input_option(&a->ptx, c, optarg);
    }
}

static bool read_arguments(struct arguments *a, int argc, char **argv)
{
    *a = (struct arguments){.groups = 1, .multiprocessors = 1, .memory_mib = 1024};
    int c;
    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (c == '?') {
            gs_option_error(argv, long_options, "gpusparc makespan");
            return false;
        }
        if (!read_option(a, c))
            return false;
    }
    if (optind < argc)
        a->string = argv[optind++];
    if (optind < argc || !a->string == !a->ptx.file) {
        gs_error("makespan wants either one instruction string or --ptx FILE; see gpusparc makespan --help");
        return false;
    }
    if (a->horizon && !a->ilp) {
        gs_error("--horizon wants --ilp FILE: it is the cycles that the program in FILE has");
        return false;
    }
    if (!a->warps) {
        gs_error("makespan wants --warps W, the number of warps");
        return false;
    }
    return true;
}

/* The instruction string of the arguments or of the PTX file; null with a message. The caller frees. */
static char *instruction_string(const struct arguments *a)
{
    if (a->string)
        return strdup(a->string);
    struct gs_ptx_kernel k;
    struct gs_ptx_trace t;
    if (!ptx_input_read(&a->ptx, &k, &t))
        return NULL;
    char *s = gs_ptx_instruction_string(&k, &t, a->special);
    gs_ptx_kernel_free(&k);
    free(t.v);
    return s;
}

/* Work-groups on the fullest multiprocessor. */
static uint64_t share_of(const struct arguments *a)
{
    return (a->groups + a->multiprocessors - 1) / a->multiprocessors;
}

static void compute_segment(const struct arguments *a, const struct gs_kernel_string *k, struct answer *r)
{
    uint64_t resident = a->resident ? a->resident : share_of(a);
    r->share = share_of(a);
    bool alone = r->share == 1;
    r->cycles = alone ? r->upper : gs_makespan_wave_bound(k, r->share, a->warps, resident);
    double ns = (double)r->cycles * 1000.0 / a->clock_mhz;
    r->wcet_ns = (uint64_t)ns + (ns > (double)(uint64_t)ns) + a->overhead_ns; /* rounded up */
}

static atomic_int stopped; /* by that signal */

static void on_interrupt(int signal_number)
{
    stopped = signal_number;
}

static void show_progress(void *unused, bool is_exact, uint64_t done, uint64_t all)
{
    static double last;
    struct timespec t;
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (now - last < 0.1)
        return;
    last = now;
    if (is_exact)
        gs_progress("exact search: %" PRIu64 " of %" PRIu64 " instructions of all warps", done, all);
    else
        gs_progress("first search: %" PRIu64 " of at most %" PRIu64 " cycles", done, all);
}

static bool compute(const struct arguments *a, const struct gs_kernel_string *k, struct answer *r)
{
    struct gs_makespan_options o = {.memory_bytes = a->memory_mib << 20, .stop = &stopped};
    if (!a->json)
        o.progress = show_progress;
    *r = (struct answer){0};
    r->equation5 = gs_makespan_equation5(k, a->warps);
    r->equation5_safe = gs_makespan_equation5_is_safe(k);
    r->wait = gs_makespan_wait_bound(k, a->warps);
    r->safe = r->upper = gs_makespan_safe_bound(k, a->warps);
    if (!a->no_exact) {
        int rc = gs_makespan_exact(k, a->warps, &o, &r->search);
        gs_progress_end();
        if (rc == -ENOMEM) {
            gs_error("there is not enough memory for the exact search; --no-exact gives the bounds alone");
            return false;
        }
        r->searched = rc == 0;
        r->lower = r->search.lower;
        r->upper = r->search.upper;
        r->states = r->search.states;
        r->exact = r->searched && r->lower == r->upper;
        r->cut = stopped && !r->exact;
    }
    if (a->approx) {
        int rc = gs_makespan_equation42(k, a->warps, a->approx, &o, &r->approximation);
        r->has_approximation = rc == 0;
        r->cut = r->cut || (stopped && rc);
        gs_progress_end();
        if (rc && !stopped)
            gs_warn("equation 42 wants the exact makespan of 1 to %u warps, which the search did not find", a->approx);
    }
    if (a->clock_mhz > 0)
        compute_segment(a, k, r);
    return true;
}

/* `compute`, which a signal ends with what is known. */
static bool search(const struct arguments *a, const struct gs_kernel_string *k, struct answer *r)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND}, old_int, old_term;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    const bool ok = compute(a, k, r);
    gs_progress_end();
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return ok;
}

static void print_units(const struct gs_kernel_string *k)
{
    printf("%zu instructions in %zu phase%s after the 1/n transformation:", k->n, k->n_phases,
           k->n_phases == 1 ? "" : "s");
    for (unsigned u = 0; u < k->n_types; u++) {
        size_t count = 0;
        for (size_t i = 0; i < k->n; i++)
            count += k->type[i] == u;
        printf("%s %zu %c (sigma ", u ? "," : "", count, k->letter[u]);
        if (k->stretch[u] > 1)
            printf("1/%u)", k->stretch[u]);
        else
            printf("%u)", k->sigma[u]);
    }
    putchar('\n');
}

static const char *approximation_verdict(const struct answer *r)
{
    if (r->lower > r->approximation)
        return "UNSAFE here: below a schedule that exists";
    return r->approximation >= r->upper ? "not below the worst case here, but no bound in general"
                                        : "no bound in general";
}

static void print_answer(const struct arguments *a, const struct gs_kernel_string *k, const struct answer *r)
{
    print_units(k);
    printf("%-42s %12" PRIu64 "  %s\n", "equations 5 to 7 of the paper", r->equation5,
           r->equation5_safe         ? "safe (every sigma is 1)"
           : r->lower > r->equation5 ? "UNSAFE here: below a schedule that exists"
                                     : "not safe in general (a sigma is 2 or more)");
    if (r->has_approximation)
        printf("equations 42 and 43, x = %-17u %12" PRIu64 "  %s\n", a->approx, r->approximation,
               approximation_verdict(r));
    printf("%-42s %12" PRIu64 "  safe for every sigma\n", "waiting bound (theorem 1)", r->wait);
    printf("%-42s %12" PRIu64 "  safe\n", "safe bound (theorems 1 and 2)", r->safe);
    if (r->exact)
        printf("%-42s %12" PRIu64 "  exact; a schedule attains it\n", "worst-case makespan", r->lower);
    else if (r->cut && !a->no_exact)
        printf("%-42s %12" PRIu64 "  to %" PRIu64 " (stopped before the search was over)\n", "worst-case makespan",
               r->lower, r->upper);
    else if (r->searched)
        printf("%-42s %12" PRIu64 "  to %" PRIu64 " (memory for the search ran out; see --memory)\n",
               "worst-case makespan", r->lower, r->upper);
    else if (!a->no_exact)
        printf("%-42s %12" PRIu64 "  to %" PRIu64 " (too many instructions for the exact search)\n",
               "worst-case makespan", r->lower, r->upper);
}

static void print_segment(const struct arguments *a, const struct answer *r)
{
    printf("\nWorst-case execution time of the segment: %" PRIu64 " ns (%" PRIu64 " cycles at %g MHz, overhead %" PRIu64
           " ns)\n    gpu %" PRIu64 "ns\nIt holds under these assumptions, none of which is checked:\n",
           r->wcet_ns, r->cycles, a->clock_mhz, a->overhead_ns, r->wcet_ns);
    printf("  - every instruction takes one cycle of its unit, and none waits for memory (no cache misses);\n"
           "  - the warps are scheduled work-conservingly, and no warp runs anything but this path;\n");
    if (r->share == 1)
        printf("  - one work-group of %u warps is alone on its multiprocessor, and its warps start together;\n",
               a->warps);
    else
        printf("  - the work-groups are spread evenly: at most %" PRIu64 " on a multiprocessor, of which %" PRIu64
               " are resident at once,\n    and a new one starts as soon as one ends;\n",
               r->share, a->resident && a->resident < r->share ? a->resident : r->share);
    if (a->ptx.file)
        printf("  - one PTX instruction is one machine instruction, but for those named with --expand;\n");
    printf("  - the clock does not change.\n");
}

static json_t *segment_json(const struct arguments *a, const struct answer *r)
{
    return json_pack("{s:I, s:I, s:f, s:I, s:I}", "wcet_ns", (json_int_t)r->wcet_ns, "cycles", (json_int_t)r->cycles,
                     "clock_mhz", a->clock_mhz, "groups_per_multiprocessor", (json_int_t)r->share, "overhead_ns",
                     (json_int_t)a->overhead_ns);
}

static json_t *schedule_json(const struct gs_makespan_schedule *s)
{
    json_t *cycles = json_array();
    for (size_t c = 0; c < s->n_cycles; c++) {
        json_t *one = json_array();
        for (size_t i = s->cycle_begin[c]; i < s->cycle_begin[c + 1]; i++)
            json_array_append_new(one, json_integer(s->position[i]));
        json_array_append_new(cycles, one);
    }
    return cycles;
}

static int print_json(const struct arguments *a, const struct gs_kernel_string *k, const struct answer *r)
{
    json_t *j = json_pack("{s:I, s:I, s:I, s:b, s:I, s:I, s:b, s:b}", "instructions", (json_int_t)k->n, "warps",
                          (json_int_t)a->warps, "equation5", (json_int_t)r->equation5, "equation5_safe",
                          r->equation5_safe, "wait_bound", (json_int_t)r->wait, "safe_bound", (json_int_t)r->safe,
                          "exact", r->exact, "complete", !r->cut);
    if (r->has_approximation)
        json_object_set_new(j, "equation42", json_integer((json_int_t)r->approximation));
    if (!a->no_exact) {
        json_object_set_new(j, "lower", json_integer((json_int_t)r->lower));
        json_object_set_new(j, "upper", json_integer((json_int_t)r->upper));
        json_object_set_new(j, "states", json_integer((json_int_t)r->states));
    }
    if (a->clock_mhz > 0)
        json_object_set_new(j, "segment", segment_json(a, r));
    if (a->columns && r->searched)
        json_object_set_new(j, "schedule", schedule_json(&r->search.schedule));
    int rc = j ? json_dumpf(j, stdout, JSON_INDENT(2)) : -1;
    putchar('\n');
    json_decref(j);
    return rc ? GS_EXIT_FAILED : GS_EXIT_OK;
}

static int report(const struct arguments *a, const struct gs_kernel_string *k, const struct answer *r)
{
    if (a->json)
        return print_json(a, k, r);
    print_answer(a, k, r);
    if (a->columns && r->searched) {
        putchar('\n');
        if (gs_makespan_print_schedule(k, a->warps, &r->search.schedule, a->columns, stdout))
            gs_error("there is not enough memory to print the schedule");
    }
    if (a->clock_mhz > 0)
        print_segment(a, r);
    return GS_EXIT_OK;
}

static bool write_ilp(const struct arguments *a, const struct gs_kernel_string *k)
{
    const uint64_t cycles = a->horizon ? a->horizon : gs_makespan_safe_bound(k, a->warps);
    int rc = gs_makespan_write_ilp(k, a->warps, cycles, NULL);
    if (rc == -EINVAL)
        gs_error("--ilp: the paper's integer program has no barriers");
    else if (rc)
        gs_error("--ilp: the integer program would have more than %d terms", GS_MAKESPAN_MAX_ILP_TERMS);
    if (rc)
        return false;
    FILE *f = fopen(a->ilp, "w");
    rc = f ? gs_makespan_write_ilp(k, a->warps, cycles, f) : -errno;
    if (f && fclose(f) && !rc)
        rc = -errno;
    if (rc)
        gs_error("%s: %s", a->ilp, strerror(-rc));
    return rc == 0;
}

static int run(int argc, char **argv)
{
    struct arguments a;
    struct gs_kernel_string k;
    struct answer r;
    char why[300];
    if (!read_arguments(&a, argc, argv)) {
        ptx_input_free(&a.ptx);
        return GS_EXIT_USAGE;
    }
    char *text = instruction_string(&a);
    int status = text ? GS_EXIT_USAGE : GS_EXIT_FAILED;
    if (text && gs_kernel_string_parse(&k, text, &a.sigmas, why, sizeof(why))) {
        gs_error("%s", why);
    } else if (text) {
        status = (!a.ilp || write_ilp(&a, &k)) && search(&a, &k, &r) ? report(&a, &k, &r) : GS_EXIT_FAILED;
        if (status == GS_EXIT_OK && r.cut) {
            gs_warn("stopped before the search was over: the bounds are those known by then");
            status = 128 + stopped;
        }
        gs_makespan_exact_free(&r.search);
        gs_kernel_string_free(&k);
    }
    free(text);
    ptx_input_free(&a.ptx);
    return status;
}

const struct gs_command gs_cmd_makespan = {
    .name = "makespan",
    .summary = "the worst-case makespan of warps on one streaming multiprocessor",
    .usage = usage,
    .run = run,
};
