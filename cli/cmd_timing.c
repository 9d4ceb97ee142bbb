/* SPDX-License-Identifier: MIT */
/* gpusparc timing: the instruction timing model for one warp, and the warp scheduler simulator for many. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/ptx_input.h"
#include "cli/timing_sweep.h"
#include "common/log.h"
#include "common/plot.h"
#include "common/options.h"
#include "gema/warpsched.h"

static const char usage[] =
    "Usage: gpusparc timing --mix CLASS=COUNT,... [--hidden CYCLES] [OPTION...]\n"
    "       gpusparc timing PROGRAM [OPTION...]\n"
    "       gpusparc timing --ptx FILE [--kernel NAME] [OPTION...]\n"
    "       gpusparc timing --print-profile [OPTION...]\n"
    "How many cycles one warp needs, in the best, average and worst case, by the model of the Fermi report; with "
    "--warps,\n"
    "how many warps fare under a warp scheduler. It knows no caches and no contention for memory.\n\n"
    "PROGRAM is a list of words, an instruction each: alu sfu lds sts ld st ldc atom bar bra ret. \"alu!\" reads the "
    "result\n"
    "of the word before it, \"alu!3\" of the third before it, \"alu x10\" stands for ten. CLASS is arithmetic, "
    "special,\n"
    "shared_load, shared_store, global_load, global_store, constant_load, atomic, barrier, branch or return; also\n"
    "arithmetic_dependent (special_, shared_load_, constant_load_): the next instruction reads the result.\n\n"
    "  --profile FILE       the device: JSON, as `gpusparc probe latency` writes it (default: the Fermi of the "
    "report)\n"
    "  --set KEY=CYCLES     changes one number of it, such as shared_load=28 or global_load.worst=470\n"
    "  --print-profile      writes the profile as JSON\n"
    "  --hidden CYCLES|P%  with --mix: what other instructions hide of the loads in the average case, in cycles or of\n"
    "                       their latencies\n"
    "  --sweep KEY=A..B/STEP  with --mix: the average case, and Hong and Kim's, for each value of one number of the "
    "profile\n"
    "  --measured CYCLES    with --sweep: what one warp was seen to take; the errors against it\n"
    "  --warps N            simulates N warps on one multiprocessor\n"
    "  --scheduler POLICY   lrr, gto, two-level, variable or all (default all)\n"
    "  --active N           two-level: warps in the active set of each scheduler (default 8)\n"
    "  --rate WARP=R        variable: the warp owns every R-th slot of its scheduler; one option for each warp\n"
    "  --strict             variable: a slot whose owner can't use it stays empty\n"
    "  --case CASE          best, average or worst latencies for the simulation (default average)\n"
    "  --trace              prints every issue: cycle, warp, instruction\n"
    "  --svg FILE           a picture (.svg, .png or .pdf) of the instruction reached over time (one policy only), or "
    "of the sweep\n"
    "  --svg-scheduler K    of this scheduler's warps (default 0)\n"
    "  --json               the answer as JSON on stdout\n\n"
    "From PTX:\n" PTX_INPUT_USAGE;

struct arguments {
    const char *program, *mix, *profile_file, *svg;
    struct ptx_input ptx;
    struct gs_timing_profile profile;
    double hidden;
    struct timing_sweep sweep;
    unsigned warps, active, svg_scheduler;
    unsigned rate[GS_WARPSCHED_MAX_WARPS];
    unsigned rates;                  /* one more than the last warp that has one */
    enum gs_warpsched_policy policy; /* GS_WARPSCHED_POLICIES: all */
    enum gs_timing_case latency;
    bool strict, print_profile, trace, json;
};

struct cycles {
    double equations[GS_TIMING_CASES], simulated[GS_TIMING_CASES], mwp;
    bool has_simulated;
    struct gs_timing_mix mix;
};

enum {
    MIX = 256,
    HIDDEN,
    SWEEP,
    MEASURED,
    PROFILE,
    SET,
    PRINT_PROFILE,
    WARPS,
    SCHEDULER,
    ACTIVE,
    RATE,
    STRICT,
    CASE,
    TRACE,
    SVG,
    SVG_SCHEDULER,
    JSON
};

static const struct option long_options[] = {{"mix", required_argument, NULL, MIX},
                                             {"hidden", required_argument, NULL, HIDDEN},
                                             {"sweep", required_argument, NULL, SWEEP},
                                             {"measured", required_argument, NULL, MEASURED},
                                             {"profile", required_argument, NULL, PROFILE},
                                             {"set", required_argument, NULL, SET},
                                             {"print-profile", no_argument, NULL, PRINT_PROFILE},
                                             {"warps", required_argument, NULL, WARPS},
                                             {"scheduler", required_argument, NULL, SCHEDULER},
                                             {"active", required_argument, NULL, ACTIVE},
                                             {"rate", required_argument, NULL, RATE},
                                             {"strict", no_argument, NULL, STRICT},
                                             {"case", required_argument, NULL, CASE},
                                             {"trace", no_argument, NULL, TRACE},
                                             {"svg", required_argument, NULL, SVG},
                                             {"svg-scheduler", required_argument, NULL, SVG_SCHEDULER},
                                             {"json", no_argument, NULL, JSON},
                                             PTX_INPUT_OPTIONS,
                                             {0}};

static const char *const case_names[GS_TIMING_CASES] = {"best", "average", "worst"};

static bool read_profile(struct arguments *a, const char *file)
{
    char why[300];
    char *text = cli_read_file(file);
    if (!text)
        return false;
    int rc = gs_timing_profile_read(&a->profile, text, why, sizeof(why));
    free(text);
    if (rc)
        gs_error("%s: %s", file, why);
    return rc == 0;
}

static bool read_rate(struct arguments *a, const char *text)
{
    uint64_t warp, rate;
    const char *eq = strchr(text, '=');
    char *name = eq ? strndup(text, (size_t)(eq - text)) : NULL;
    if (!name) {
        gs_error("--rate wants WARP=R, such as 0=2, not '%s'", text);
        return false;
    }
    bool ok = cli_read_number(name, 0, GS_WARPSCHED_MAX_WARPS - 1, "--rate", &warp) &&
              cli_read_number(eq + 1, 1, 1000000, "--rate", &rate);
    free(name);
    if (ok)
        a->rate[warp] = (unsigned)rate;
    if (ok && warp >= a->rates)
        a->rates = (unsigned)warp + 1;
    return ok;
}

static bool read_scheduler(struct arguments *a, const char *text)
{
    a->policy = gs_warpsched_policy_of(text);
    if (a->policy < GS_WARPSCHED_POLICIES || strcmp(text, "all") == 0)
        return true;
    gs_error("--scheduler is one of lrr, gto, two-level, variable and all, not '%s'", text);
    return false;
}

static bool read_case(struct arguments *a, const char *text)
{
    for (int c = 0; c < GS_TIMING_CASES; c++)
        if (strcmp(text, case_names[c]) == 0) {
            a->latency = (enum gs_timing_case)c;
            return true;
        }
    gs_error("--case is one of best, average and worst, not '%s'", text);
    return false;
}

static bool read_count(const char *option, uint64_t least, uint64_t most, unsigned *out)
{
    uint64_t v;
    if (!cli_read_number(optarg, least, most, option, &v))
        return false;
    *out = (unsigned)v;
    return true;
}

static bool read_set(struct arguments *a, const char *text)
{
    char why[200];
    if (gs_timing_profile_set(&a->profile, text, why, sizeof(why)) == 0)
        return true;
    gs_error("%s", why);
    return false;
}

static bool read_hidden(struct arguments *a, const char *text)
{
    uint64_t v;
    double share;
    int end = 0;
    if (sscanf(text, "%lf%%%n", &share, &end) == 1 && end && !text[end] && share >= 0 && share <= 100) {
        a->sweep.hidden_share = share / 100;
        return true;
    }
    if (!cli_read_number(text, 0, 1u << 31, "--hidden", &v))
        return false;
    a->hidden = (double)v;
    return true;
}

static bool read_measured(struct arguments *a, const char *text)
{
    uint64_t v;
    if (!cli_read_number(text, 1, UINT64_C(1) << 50, "--measured", &v))
        return false;
    a->sweep.measured = (double)v;
    return true;
}

static bool read_option(struct arguments *a, int c)
{
    switch (c) {
    case MIX:
        a->mix = optarg;
        return true;
    case HIDDEN:
        return read_hidden(a, optarg);
    case SWEEP:
        return timing_sweep_read(&a->sweep, optarg);
    case MEASURED:
        return read_measured(a, optarg);
    case PROFILE:
        return read_profile(a, optarg);
    case SET:
        return read_set(a, optarg);
    case PRINT_PROFILE:
        return a->print_profile = true;
    case WARPS:
        return read_count("--warps", 1, GS_WARPSCHED_MAX_WARPS, &a->warps);
    case SCHEDULER:
        return read_scheduler(a, optarg);
    case ACTIVE:
        return read_count("--active", 1, GS_WARPSCHED_MAX_WARPS, &a->active);
    case RATE:
        return read_rate(a, optarg);
    case STRICT:
        return a->strict = true;
    case CASE:
        return read_case(a, optarg);
    case TRACE:
        return a->trace = true;
    case SVG:
        a->svg = optarg;
        return gs_plot_name_is_right("--svg", optarg);
    case SVG_SCHEDULER:
        return read_count("--svg-scheduler", 0, 1023, &a->svg_scheduler);
    case JSON:
        return a->json = true;
    default:
        return ptx_input_option(&a->ptx, c, optarg);
    }
}

static bool check_arguments(const struct arguments *a)
{
    int sources = !!a->program + !!a->mix + !!a->ptx.file + a->print_profile;
    if (sources != 1)
        gs_error("timing wants one of a program, --mix, --ptx and --print-profile; see gpusparc timing --help");
    else if (a->mix && a->warps)
        gs_error("a mix has no order, so --warps wants a program or --ptx");
    else if (a->rates > a->warps)
        gs_error("there is no warp %u for a --rate: --warps says %u", a->rates - 1, a->warps);
    else if (*a->sweep.key && !a->mix)
        gs_error("--sweep wants --mix");
    else if (a->sweep.measured > 0 && !*a->sweep.key)
        gs_error("--measured wants --sweep");
    else if (a->svg && !*a->sweep.key && (!a->warps || a->policy == GS_WARPSCHED_POLICIES))
        gs_error("--svg wants --warps and one --scheduler");
    else if (a->svg && a->svg_scheduler >= a->profile.warp_schedulers)
        gs_error("there is no scheduler %u: the profile has %u", a->svg_scheduler, a->profile.warp_schedulers);
    else
        return true;
    return false;
}

static bool read_arguments(struct arguments *a, int argc, char **argv)
{
    memset(a, 0, sizeof(*a));
    a->profile = gs_timing_fermi;
    a->policy = GS_WARPSCHED_POLICIES;
    a->sweep.hidden_share = -1;
    a->latency = GS_TIMING_AVERAGE;
    int c;
    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (c == '?') {
            gs_option_error(argv, long_options, "gpusparc timing");
            return false;
        }
        if (!read_option(a, c))
            return false;
    }
    if (optind + 1 < argc) {
        gs_error("timing wants the program as one argument, in quotes");
        return false;
    }
    a->program = optind < argc ? argv[optind] : NULL;
    return check_arguments(a);
}

static bool read_program(const struct arguments *a, struct gs_timing_program *p)
{
    char why[300];
    if (a->program) {
        int rc = gs_timing_program_read(p, a->program, why, sizeof(why));
        if (rc)
            gs_error("%s", why);
        return rc == 0;
    }
    struct gs_ptx_kernel k;
    struct gs_ptx_trace t;
    if (!ptx_input_read(&a->ptx, &k, &t))
        return false;
    int rc = gs_timing_program_from_ptx(p, &k, &t);
    gs_ptx_kernel_free(&k);
    free(t.v);
    if (rc)
        gs_error("there is not enough memory for the program");
    return rc == 0;
}

static void fill_equations(const struct arguments *a, struct cycles *r)
{
    for (int c = 0; c < GS_TIMING_CASES; c++)
        r->equations[c] = gs_timing_mix_cycles(&a->profile, &r->mix, (enum gs_timing_case)c);
    r->mwp = timing_mwp(&a->profile, &r->mix);
}

/* One warp alone, in each case. The worst case hides nothing, as the report has it. */
static bool simulate_one_warp(const struct arguments *a, const struct gs_timing_program *p, struct cycles *r)
{
    char why[200];
    for (int c = 0; c < GS_TIMING_CASES; c++) {
        struct gs_warpsched_result result;
        struct gs_warpsched_options o = {
            .warps = 1, .latency = (enum gs_timing_case)c, .blocking_loads = c == GS_TIMING_WORST};
        if (gs_warpsched_run(p, &a->profile, &o, &result, why, sizeof(why))) {
            gs_error("%s", why);
            return false;
        }
        r->simulated[c] = (double)result.cycles;
        gs_warpsched_result_free(&result);
    }
    return r->has_simulated = true;
}

static double ipc(const struct gs_warpsched_result *r)
{
    return r->cycles ? (double)r->instructions / (double)r->cycles : 0;
}

static uint64_t first_finish(const struct arguments *a, const struct gs_warpsched_result *r)
{
    uint64_t first = r->cycles;
    for (unsigned w = 0; w < a->warps; w++)
        first = r->finish[w] < first ? r->finish[w] : first;
    return first;
}

static bool write_picture(const struct arguments *a, const struct gs_timing_program *p,
                          const struct gs_warpsched_options *o, const struct gs_warpsched_result *r)
{
    enum { ROOM = 200000 };
    if (r->instructions > ROOM) {
        gs_error("%s isn't drawn: %" PRIu64
                 " instructions of all warps are more than the %d that a picture has room for",
                 a->svg, r->instructions, ROOM);
        return false;
    }
    FILE *f = gs_plot_open(a->svg);
    const int rc = f ? gs_warpsched_write_svg(p, &a->profile, o, r, a->svg_scheduler, f) : 0;
    if (rc)
        gs_error("%s could not be drawn: %s", a->svg, strerror(-rc));
    return f && gs_plot_close(f, a->svg) == 0 && !rc;
}

static void print_policy(const struct arguments *a, const struct gs_timing_program *p, enum gs_warpsched_policy policy,
                         const struct gs_warpsched_result *r)
{
    printf("%-10s %12" PRIu64 " %10.3f %14" PRIu64 "\n", gs_warpsched_policy_name(policy), r->cycles, ipc(r),
           first_finish(a, r));
    for (uint64_t i = 0; a->trace && i < r->instructions; i++)
        printf("  %8" PRIu64 "  W%-4u %6u %s\n", r->issue[i].cycle, r->issue[i].warp, r->issue[i].op,
               gs_timing_class_word(p->op[r->issue[i].op].class));
}

static json_t *policy_json(const struct arguments *a, enum gs_warpsched_policy policy,
                           const struct gs_warpsched_result *r)
{
    json_t *finish = json_array();
    for (unsigned w = 0; w < a->warps; w++)
        json_array_append_new(finish, json_integer((json_int_t)r->finish[w]));
    return json_pack("{s:s, s:I, s:I, s:f, s:o}", "policy", gs_warpsched_policy_name(policy), "cycles",
                     (json_int_t)r->cycles, "instructions", (json_int_t)r->instructions, "ipc", ipc(r), "finish",
                     finish);
}

/* Runs the policies that are wanted; appends to `out`, or prints where it is null. */
static bool simulate_policies(const struct arguments *a, const struct gs_timing_program *p, json_t *out)
{
    char why[200];
    if (!out)
        printf("\n%u warps, %u schedulers  %s latencies\n%-10s %12s %10s %14s\n", a->warps, a->profile.warp_schedulers,
               case_names[a->latency], "policy", "cycles", "IPC", "first finishes");
    for (int i = 0; i < GS_WARPSCHED_POLICIES; i++) {
        enum gs_warpsched_policy policy = (enum gs_warpsched_policy)i;
        if (a->policy != GS_WARPSCHED_POLICIES && a->policy != policy)
            continue;
        struct gs_warpsched_options o = {policy, a->warps, a->active, a->rate, a->strict, false, a->latency};
        struct gs_warpsched_result r;
        if (gs_warpsched_run(p, &a->profile, &o, &r, why, sizeof(why))) {
            gs_error("%s", why);
            return false;
        }
        if (out)
            json_array_append_new(out, policy_json(a, policy, &r));
        else
            print_policy(a, p, policy, &r);
        bool ok = !a->svg || write_picture(a, p, &o, &r);
        gs_warpsched_result_free(&r);
        if (!ok)
            return false;
    }
    return true;
}

static void print_row(const struct arguments *a, const char *what, const double *v)
{
    printf("%-32s", what);
    for (int c = 0; c < GS_TIMING_CASES; c++)
        printf(" %12.10g", v[c]);
    if (a->profile.clock_mhz > 0)
        printf("   %.4g to %.4g us", v[0] / a->profile.clock_mhz, v[GS_TIMING_WORST] / a->profile.clock_mhz);
    putchar('\n');
}

static void print_cycles(const struct arguments *a, const struct cycles *r)
{
    uint64_t dependent = 0;
    for (int i = 0; i < GS_PTX_CLASSES; i++)
        dependent += r->mix.dependent[i];
    for (int i = 0; i < GS_PTX_CLASSES; i++)
        if (r->mix.count[i])
            printf("%s%" PRIu64 " %s", i && r->mix.count[0] ? ", " : "", r->mix.count[i],
                   gs_timing_class_name((enum gs_ptx_class)i));
    printf("; %" PRIu64 " read by the next instruction; %.10g cycles of loads hidden\n", dependent, r->mix.hidden);
    printf("%-32s %12s %12s %12s\n", "One warp, cycles", case_names[0], case_names[1], case_names[2]);
    print_row(a, "equations 1 to 11", r->equations);
    if (r->has_simulated)
        print_row(a, "simulated", r->simulated);
    printf("%-32s %12s %12.10g\n", "Hong and Kim, one warp", "", r->mwp);
}

static json_t *cases_json(const double *v)
{
    return json_pack("{s:f, s:f, s:f}", case_names[0], v[0], case_names[1], v[1], case_names[2], v[2]);
}

static bool print_json(const struct arguments *a, const struct gs_timing_program *p, const struct cycles *r)
{
    json_t *j = json_pack("{s:s, s:o, s:f, s:f}", "profile", a->profile.name, "equations", cases_json(r->equations),
                          "hidden", r->mix.hidden, "mwp", r->mwp);
    if (r->has_simulated)
        json_object_set_new(j, "simulated", cases_json(r->simulated));
    bool ok = true;
    if (a->warps) {
        json_t *policies = json_array();
        ok = simulate_policies(a, p, policies);
        json_object_set_new(j, "policies", policies);
    }
    if (ok) {
        json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
        putchar('\n');
    }
    json_decref(j);
    return ok;
}

static bool report(const struct arguments *a, const struct gs_timing_program *p, const struct cycles *r)
{
    if (a->json)
        return print_json(a, p, r);
    print_cycles(a, r);
    return !a->warps || simulate_policies(a, p, NULL);
}

static int run_mix(const struct arguments *a)
{
    struct cycles r = {0};
    char why[300];
    if (gs_timing_mix_read(&r.mix, a->mix, why, sizeof(why))) {
        gs_error("%s", why);
        return GS_EXIT_USAGE;
    }
    r.mix.hidden = a->hidden;
    timing_sweep_hide(&a->sweep, &a->profile, &r.mix);
    if (*a->sweep.key)
        return timing_sweep_run(&a->sweep, &a->profile, &r.mix, a->json, a->svg);
    fill_equations(a, &r);
    return report(a, NULL, &r) ? GS_EXIT_OK : GS_EXIT_FAILED;
}

static int run_program(const struct arguments *a)
{
    struct cycles r = {0};
    struct gs_timing_program p;
    if (!read_program(a, &p))
        return a->program ? GS_EXIT_USAGE : GS_EXIT_FAILED;
    bool ok = gs_timing_program_mix(&p, &a->profile, &r.mix) == 0;
    if (!ok)
        gs_error("there is not enough memory to count the program's instructions");
    fill_equations(a, &r);
    ok = ok && simulate_one_warp(a, &p, &r) && report(a, &p, &r);
    gs_timing_program_free(&p);
    return ok ? GS_EXIT_OK : GS_EXIT_FAILED;
}

static int print_profile(const struct arguments *a)
{
    char *text = gs_timing_profile_write(&a->profile);
    if (text)
        puts(text);
    free(text);
    return text ? GS_EXIT_OK : GS_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    struct arguments *a = malloc(sizeof(*a));
    int status = GS_EXIT_USAGE;
    if (!a)
        return GS_EXIT_FAILED;
    if (read_arguments(a, argc, argv))
        status = a->print_profile ? print_profile(a) : a->mix ? run_mix(a) : run_program(a);
    ptx_input_free(&a->ptx);
    free(a);
    return status;
}

const struct gs_command gs_cmd_timing = {
    .name = "timing",
    .summary = "cycles of an instruction mix or program, and a warp scheduler simulator",
    .usage = usage,
    .run = run,
};
