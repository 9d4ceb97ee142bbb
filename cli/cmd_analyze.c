/* SPDX-License-Identifier: MIT */
/* gpusparc analyze: response times, modes, and what would have to change. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze_timeline.h"
#include "cli/command.h"
#include "cli/mistakes_json.h"
#include "common/log.h"
#include "common/page.h"
#include "common/options.h"
#include "gema/advice.h"
#include "gema/model_io.h"
#include "gema/priorities.h"

struct options {
    const char *path, *timeline, *html;
    enum gs_policy policy;
    enum gs_analysis analysis;
    bool policy_given, two_modes, any_priorities, json;
    int64_t until_ns; /* of the timeline; 0: three of the longest periods */
};

/* The whole answer. */
struct answer {
    struct gs_model model;
    int *modes;
    struct gs_analyzer *analyzer;
    const struct gs_result *result;
    enum gs_policy policy; /* whose modes they are */
    int verdict;           /* of gs_assign */
    bool found;            /* with any_priorities: some that will do */
    struct gs_advice advice[8];
    int n_advice;
    double headroom;
};

static const char usage[] =
    "Usage: gpusparc analyze [OPTION...] CONFIG\n"
    "Response times of the tasks in a config file (or a task set in JSON, if it ends in .json), the number of GPUs of\n"
    "each, and whether every deadline is met.\n\n"
    "  --policy NAME    single, local, gema, gema+ or global: who gets how many GPUs, where mode = auto (default: "
    "gema,\n"
    "                   and gema+ where that finds nothing, as the daemon)\n"
    "  --analysis NAME  safe (default): proven bounds; segments: proven, too, with a window for each segment, and "
    "higher;\n"
    "                   paper: the published formula, which can be too low\n"
    "  --priorities config|audsley\n"
    "                   those of the config (default), or, where these don't do, others by Audsley's method\n"
    "  --two-modes      one GPU or all of them, nothing between\n"
    "  --timeline FILE  draws a simulated schedule, with worst-case times: FILE ends in .svg, .png or .pdf, or in "
    ".json\n"
    "                   for a trace that Perfetto and chrome://tracing show\n"
    "  --html FILE      writes a report: tables that sort, and the schedule to look into\n"
    "  --until TIME     length of the timeline (default: three of the longest periods)\n"
    "  --json           prints JSON\n\n"
    "Exits 0 if every task meets its deadline; 1 if one doesn't, if one is unproven, or if the file is wrong. "
    "Unproven:\n"
    "the response time is no bound for the daemon. Either the config doesn't say how long chunks are, or how many "
    "there\n"
    "are (the report names what is missing), or the formula is the published one.\n";

static int index_of(const char *const *names, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    return -1;
}

/* 0, or the exit status. */
static int read_options(int argc, char **argv, struct options *o)
{
    static const struct option long_options[] = {{"policy", required_argument, NULL, 'p'},
                                                 {"analysis", required_argument, NULL, 'a'},
                                                 {"priorities", required_argument, NULL, 'r'},
                                                 {"two-modes", no_argument, NULL, '2'},
                                                 {"timeline", required_argument, NULL, 't'},
                                                 {"html", required_argument, NULL, 'h'},
                                                 {"until", required_argument, NULL, 'u'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {NULL, 0, NULL, 0}};
    *o = (struct options){.policy = GS_POLICY_GEMA};
    int c, k;
    optind = 1;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (c) {
        case 'p':
            if ((k = index_of(gs_policy_names, GS_POLICIES, optarg)) < 0) {
                gs_error("--policy %s: there are single, local, gema, gema+ and global", optarg);
                return GS_EXIT_USAGE;
            }
            o->policy = (enum gs_policy)k;
            o->policy_given = true;
            break;
        case 'a':
            if ((k = index_of(gs_analysis_names, GS_ANALYSES, optarg)) < 0) {
                gs_error("--analysis %s: there are safe, segments and paper", optarg);
                return GS_EXIT_USAGE;
            }
            o->analysis = (enum gs_analysis)k;
            break;
        case 'r':
            o->any_priorities = strcmp(optarg, "audsley") == 0;
            if (!o->any_priorities && strcmp(optarg, "config") != 0) {
                gs_error("--priorities %s: there are config and audsley", optarg);
                return GS_EXIT_USAGE;
            }
            break;
        case '2':
            o->two_modes = true;
            break;
        case 't':
            o->timeline = optarg;
            break;
        case 'h':
            o->html = optarg;
            break;
        case 'u':
            if (gs_parse_duration(optarg, strlen(optarg), &o->until_ns) || !o->until_ns) {
                gs_error("--until %s: not a duration above zero, as in 200ms", optarg);
                return GS_EXIT_USAGE;
            }
            break;
        case 'j':
            o->json = true;
            break;
        default:
            gs_option_error(argv, long_options, "gpusparc analyze");
            return GS_EXIT_USAGE;
        }
    }
    if (optind != argc - 1) {
        gs_error("analyze takes one config file; see gpusparc analyze --help");
        return GS_EXIT_USAGE;
    }
    o->path = argv[optind];
    if (o->any_priorities && o->analysis == GS_ANALYSIS_PAPER) {
        gs_error("--priorities audsley goes by --analysis safe or segments");
        return GS_EXIT_USAGE;
    }
    if ((o->timeline && !gs_analyze_timeline_name_is_right(o->timeline)) ||
        (o->html && !gs_page_name_is_right("--html", o->html)))
        return GS_EXIT_USAGE;
    return 0;
}

static const struct gs_chain *chain_of(const struct answer *a, size_t i)
{
    return &a->model.tasks[i].chains[a->modes[i]];
}

/* The resource on which a task waits longest, and the sums over its segments. */
struct waiting {
    int64_t delay[GS_RESOURCES], blocking;
    int most; /* -1: it doesn't wait */
};

static struct waiting waiting_of(const struct answer *a, size_t i)
{
    const struct gs_task_result *t = &a->result->tasks[i];
    struct waiting w = {.most = -1};
    const struct gs_chain *c = chain_of(a, i);
    const int64_t most = a->model.tasks[i].excess_ns, waits = t->response_ns - gs_chain_worst(c);
    int64_t shared = 0; /* counts once */
    for (size_t j = 0; j < c->n; j++) {
        w.delay[c->segments[j].resource] += t->segments[j].delay_ns;
        w.blocking += t->segments[j].blocking_ns - t->segments[j].excess_ns;
        shared += t->segments[j].excess_ns;
    }
    w.blocking += shared < most ? shared : most;
    w.blocking = w.blocking < waits ? w.blocking : waits;
    for (int r = 0; r < GS_RESOURCES; r++)
        if (w.delay[r] > (w.most < 0 ? 0 : w.delay[w.most]))
            w.most = r;
    return w;
}

static double utilization(const struct answer *a, enum gs_resource r)
{
    double sum = 0;
    for (size_t i = 0; i < a->model.n_tasks; i++)
        for (size_t j = 0; j < chain_of(a, i)->n; j++) {
            const struct gs_segment *s = &chain_of(a, i)->segments[j];
            if (s->resource == r)
                sum += (double)s->worst_ns * (r == GS_GPU ? a->modes[i] : 1) / (double)a->model.tasks[i].period_ns;
        }
    return sum / a->model.servers[r];
}

static bool is_proven(const struct answer *a, const struct options *o, size_t i)
{
    return a->result->tasks[i].proven && o->analysis != GS_ANALYSIS_PAPER &&
           !gs_model_counts_whole(&a->model, GS_GPU) && !gs_model_counts_whole(&a->model, GS_PCI);
}

/* Every deadline is met, and that is proven. */
static bool is_vouched_for(const struct answer *a, const struct options *o)
{
    bool all = a->result->schedulable;
    for (size_t i = 0; i < a->model.n_tasks; i++)
        all = all && is_proven(a, o, i);
    return all;
}

static const char *verdict_of(const struct answer *a, const struct options *o, size_t i)
{
    if (!a->result->tasks[i].schedulable)
        return "misses";
    return is_proven(a, o, i) ? "meets" : "unproven";
}

static void print_task(const struct answer *a, const struct options *o, size_t i, int width)
{
    const struct gs_task *t = &a->model.tasks[i];
    const struct gs_task_result *r = &a->result->tasks[i];
    struct waiting w = waiting_of(a, i);
    char period[GS_DURATION_SIZE], deadline[GS_DURATION_SIZE], response[GS_DURATION_SIZE + 1], slack[GS_DURATION_SIZE],
        signed_slack[GS_DURATION_SIZE + 2], blocking[GS_DURATION_SIZE];
    int64_t left = t->deadline_ns - r->response_ns;
    gs_show_duration(r->response_ns, GS_ROUND_UP, response + 1);
    response[0] = r->cut ? '>' : ' ';
    gs_show_duration(left < 0 ? -left : left, left < 0 ? GS_ROUND_UP : GS_ROUND_DOWN, slack);
    snprintf(signed_slack, sizeof signed_slack, "%s%s%s", r->cut ? "<" : "", left < 0 ? "-" : "", slack);
    printf("%-*s %4d %12s %12s %14s %15s %12s  %-7s  %s\n", width, t->name, a->modes[i],
           gs_show_duration(t->period_ns, GS_ROUND_NEAREST, period),
           gs_show_duration(t->deadline_ns, GS_ROUND_NEAREST, deadline), response, signed_slack,
           gs_show_duration(w.blocking, GS_ROUND_UP, blocking), w.most < 0 ? "-" : gs_resource_names[w.most],
           verdict_of(a, o, i));
}

/* As the config has them. */
static void print_priorities(const struct answer *a)
{
    const size_t n = a->model.n_tasks;
    if (!a->found) {
        printf("No priorities were found with which every deadline is met; these are the config's.\n");
        return;
    }
    printf("Priorities and modes with which every deadline is met, for the config:\n");
    for (size_t i = 0; i < n; i++)
        printf("  [task %s] priority = %zu, mode = %d\n", a->model.tasks[i].name, n - i, a->modes[i]);
}

static void print_advice(const struct answer *a, const struct options *o)
{
    if (a->result->schedulable) {
        if (is_vouched_for(a, o))
            printf(a->headroom < GS_MOST_HEADROOM ? GS_ANALYZE_HEADROOM "\n" : GS_ANALYZE_MOST_HEADROOM "\n",
                   a->headroom);
        return;
    }
    if (a->headroom > 0)
        printf("It would be schedulable if all times shrank to %.3f of what they are", a->headroom);
    else
        printf("It can't be made schedulable by shorter times");
    const bool few = a->model.n_tasks <= GS_FEW_TASKS;
    printf("%s\n", a->n_advice        ? ", or any one of these did:"
                   : a->headroom == 0 ? "."
                   : few              ? "; no single task's times on one resource are enough."
                                      : "; with these GPUs no single task's times on one resource are enough.");
    for (int k = 0; k < a->n_advice; k++)
        printf("  %s of %s to %.3f\n", gs_resource_names[a->advice[k].resource], a->model.tasks[a->advice[k].task].name,
               a->advice[k].factor);
}

/* That the bounds are of whole segments, if they are: at an instant between two chunks another task may come in. */
static bool print_whole(const struct gs_model *m)
{
    const bool gpu = gs_model_counts_whole(m, GS_GPU), pci = gs_model_counts_whole(m, GS_PCI);
    if (gpu || pci)
        printf("Unproven: the config doesn't say how long chunks are (%s%s%s in [system]; gpusparc profile measures "
               "them).\nThe bounds are of whole segments; the daemon grants chunks, and jobs may take longer.\n",
               gpu ? "gpu_chunk" : "", gpu && pci ? ", " : "", pci ? "pci_chunk" : "");
    return gpu || pci;
}

/* What the bounds of a chunked resource take for granted of its hand-overs. */
static void print_handovers(const struct answer *a)
{
    const struct gs_model *m = &a->model;
    char handover[GS_DURATION_SIZE];
    if (!m->handover_ns || !(m->chunked[GS_PCI] || m->chunked[GS_GPU]))
        return;
    gs_format_duration(m->handover_ns, handover);
    for (size_t i = 0; i < m->n_tasks; i++)
        if (!gs_model_counts_handovers(m, i, a->modes[i])) {
            printf(
                "Unproven from %s down: %s there are hand-overs (%s) between its chunks, and its segments don't\n"
                "say how many these may be (as in 'gpu 100ms chunks 60'; gpusparc profile --chunks counts them): the "
                "fewest are taken.\n",
                m->tasks[i].name, m->depth == 1 ? "with depth = 1" : "as its chunks are shorter than one", handover);
            return;
        }
    if (m->depth == 1)
        printf("Counted: a hand-over of %s before each chunk, of which there are no more than the segments say.\n",
               handover);
    else
        printf(
            "Counted: a hand-over of %s to each segment, and one back from each more urgent one. No chunk but a\n"
            "segment's last is taken to be shorter than a hand-over, where the segment doesn't say how many it has.\n",
            handover);
}

static void print_table(const struct answer *a, const struct options *o)
{
    int width = 4;
    for (size_t i = 0; i < a->model.n_tasks; i++) {
        int n = (int)strlen(a->model.tasks[i].name);
        width = n > width ? n : width;
    }
    printf("%-*s %4s %12s %12s %14s %15s %12s  %-7s  %s\n", width, "task", "GPUs", "period", "deadline", "response",
           "slack", "blocking", "waits", "deadline");
    for (size_t i = 0; i < a->model.n_tasks; i++)
        print_task(a, o, i, width);
    printf("\nutilization:");
    for (int r = 0; r < GS_RESOURCES; r++)
        printf(" %s %.1f %% of %d", gs_resource_names[r], utilization(a, (enum gs_resource)r) * 100,
               a->model.servers[r]);
    printf("\npolicy %s, analysis %s: %s\n", gs_policy_names[a->policy], gs_analysis_names[o->analysis],
           is_vouched_for(a, o)     ? "every deadline is met"
           : a->result->schedulable ? "not proven schedulable"
                                    : "not schedulable");
    if (a->policy != o->policy)
        printf("gema finds no modes with which every deadline is met; gema+ does, and the daemon asks it then.\n");
    if (o->policy == GS_POLICY_GLOBAL && a->verdict == 0)
        printf("No choice of modes is schedulable by this analysis.\n");
    if (o->analysis == GS_ANALYSIS_PAPER)
        printf("The published formula can be too low; --analysis safe is proven.\n");
    else if (!print_whole(&a->model))
        print_handovers(a);
    if (o->any_priorities)
        print_priorities(a);
    else if (!a->result->schedulable && o->analysis != GS_ANALYSIS_PAPER)
        printf("--priorities audsley looks for priorities with which every deadline is met.\n");
    print_advice(a, o);
}

static json_t *segment_json(const struct gs_segment *s, const struct gs_segment_result *r)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "resource", gs_resource_names[s->resource], "response_ns",
                     (json_int_t)r->response_ns, "delay_ns", (json_int_t)r->delay_ns, "blocking_ns",
                     (json_int_t)r->blocking_ns, "jitter_ns", (json_int_t)r->jitter_ns, "excess_ns",
                     (json_int_t)r->excess_ns);
}

static json_t *task_json(const struct answer *a, const struct options *o, size_t i)
{
    const struct gs_task *t = &a->model.tasks[i];
    const struct gs_task_result *r = &a->result->tasks[i];
    struct waiting w = waiting_of(a, i);
    json_t *segments = json_array();
    for (size_t j = 0; j < chain_of(a, i)->n; j++)
        json_array_append_new(segments, segment_json(&chain_of(a, i)->segments[j], &r->segments[j]));
    return json_pack("{s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:s?, s:o}", "name", t->name, "priority",
                     (int)(a->model.n_tasks - i), "gpus", a->modes[i], "period_ns", (json_int_t)t->period_ns,
                     "deadline_ns", (json_int_t)t->deadline_ns, "response_ns", (json_int_t)r->response_ns, "slack_ns",
                     (json_int_t)(t->deadline_ns - r->response_ns), "blocking_ns", (json_int_t)w.blocking,
                     "schedulable", r->schedulable && is_proven(a, o, i), "proven", is_proven(a, o, i), "cut", r->cut,
                     "waits_for", w.most < 0 ? NULL : gs_resource_names[w.most], "segments", segments);
}

static json_t *answer_json(const struct answer *a, const struct options *o)
{
    json_t *tasks = json_array(), *advice = json_array(), *use = json_object();
    for (size_t i = 0; i < a->model.n_tasks; i++)
        json_array_append_new(tasks, task_json(a, o, i));
    for (int k = 0; k < a->n_advice; k++)
        json_array_append_new(advice,
                              json_pack("{s:s, s:s, s:f}", "task", a->model.tasks[a->advice[k].task].name, "resource",
                                        gs_resource_names[a->advice[k].resource], "factor", a->advice[k].factor));
    for (int r = 0; r < GS_RESOURCES; r++)
        json_object_set_new(use, gs_resource_names[r], json_real(utilization(a, (enum gs_resource)r)));
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:f, s:o, s:o}", "policy", gs_policy_names[a->policy], "analysis",
                     gs_analysis_names[o->analysis], "priorities", o->any_priorities && a->found ? "audsley" : "config",
                     "two_modes", o->two_modes, "schedulable", is_vouched_for(a, o), "utilization", use, "headroom",
                     a->headroom, "shrink", advice, "tasks", tasks);
}

static void print_json(const struct answer *a, const struct options *o)
{
    json_t *all = answer_json(a, o);
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(all);
}

/* What the pictures are called. */
static void make_title(const struct options *o, const char *what, char *title, size_t bytes)
{
    const char *slash = strrchr(o->path, '/');
    snprintf(title, bytes, "%s: %s", slash ? slash + 1 : o->path, what);
}

static int write_timeline(const struct answer *a, const struct options *o)
{
    char title[256];
    make_title(o, "a schedule with worst-case times", title, sizeof title);
    return gs_analyze_timeline(o->timeline, title, &a->model, a->modes, o->until_ns);
}

static int write_html(const struct answer *a, const struct options *o)
{
    char title[256];
    json_t *answer = answer_json(a, o);
    make_title(o, "response times", title, sizeof title);
    const int rc = gs_analyze_html(o->html, title, answer, &a->model, a->modes, o->until_ns);
    json_decref(answer);
    return rc;
}

/* Where no policy is chosen and GEMA finds nothing, gema+ is asked, as by the daemon. */
static bool as_the_daemon(const struct options *o)
{
    return !o->policy_given && o->analysis != GS_ANALYSIS_PAPER;
}

/* The modes that the policy finds. */
static int find_modes(struct answer *a, const struct options *o, struct gs_question *q)
{
    gs_analyzer_free(a->analyzer);
    free(a->modes);
    a->modes = calloc(a->model.n_tasks + 1, sizeof *a->modes);
    int *others = calloc(a->model.n_tasks + 1, sizeof *others);
    a->analyzer = gs_analyzer_new(&a->model, o->analysis);
    a->verdict = a->modes && others && a->analyzer ? gs_assign(a->analyzer, q->policy, &q->options, a->modes) : -ENOMEM;
    if (a->verdict == 0 && as_the_daemon(o)) {
        struct gs_assign_options options = q->options;
        options.verdict_only = true;
        a->verdict = gs_assign(a->analyzer, GS_POLICY_GEMA_PLUS, &options, others);
        if (a->verdict == 1) {
            q->policy = GS_POLICY_GEMA_PLUS;
            memcpy(a->modes, others, a->model.n_tasks * sizeof *others);
        }
    }
    free(others);
    return a->verdict;
}

/* 0 or -ENOMEM. */
static int find_answer(struct answer *a, const struct options *o)
{
    struct gs_question q = {&a->model, o->policy, o->analysis, {.two_modes = o->two_modes}};
    int rc = find_modes(a, o, &q);
    if (rc >= 0 && rc != 1 && o->any_priorities)
        rc = gs_find_priorities(&a->model, o->analysis, o->policy, &q.options);
    if (rc == 1 && a->verdict != 1)
        rc = find_modes(a, o, &q);
    if (rc < 0 && rc != -EINTR)
        return rc;
    a->policy = q.policy;
    a->found = rc == 1;
    if (as_the_daemon(o))
        q.policy = GS_POLICY_GEMA_PLUS;
    a->result = gs_analyze(a->analyzer, a->modes);
    a->headroom = gs_headroom(&q, a->result->schedulable ? a->modes : NULL);
    if (!a->result->schedulable)
        a->n_advice = gs_advise(&q, a->modes, a->advice, sizeof a->advice / sizeof *a->advice);
    return a->headroom < 0 || a->n_advice < 0 ? -ENOMEM : 0;
}

static void print_mistakes(const char *path, const struct gs_mistakes *mistakes)
{
    gs_mistakes_print(mistakes, path);
}

/* As gpusparc check has them. */
static void print_mistakes_json(const char *path, const struct gs_mistakes *mistakes)
{
    json_t *answer = json_pack("{s:o, s:o}", "file", gs_text_json(path), "mistakes", gs_mistakes_json(mistakes));
    json_dumpf(answer, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(answer);
}

static int run(int argc, char **argv)
{
    struct options o;
    struct answer a = {0};
    struct gs_mistakes mistakes = {0};
    int status = read_options(argc, argv, &o);
    if (status)
        return status;
    if ((o.timeline && !gs_analyze_timeline_is_possible(o.timeline)) || (o.html && !gs_page_is_possible(o.html)))
        return GS_EXIT_FAILED;
    int rc = gs_model_load(&a.model, o.path, &mistakes);
    if (!rc && !a.model.n_tasks) {
        gs_mistakes_add(&mistakes, 0, "it holds no task");
        rc = -EINVAL;
    }
    if (mistakes.n)
        (o.json ? print_mistakes_json : print_mistakes)(o.path, &mistakes);
    gs_mistakes_free(&mistakes);
    if (!rc)
        rc = find_answer(&a, &o);
    if (rc == -ENOMEM)
        gs_error("out of memory");
    status = GS_EXIT_FAILED;
    if (!rc) {
        (o.json ? print_json : print_table)(&a, &o);
        status = is_vouched_for(&a, &o) ? GS_EXIT_OK : GS_EXIT_FAILED;
        if (o.timeline && write_timeline(&a, &o))
            status = GS_EXIT_FAILED;
        if (o.html && write_html(&a, &o))
            status = GS_EXIT_FAILED;
    }
    gs_analyzer_free(a.analyzer);
    free(a.modes);
    gs_model_free(&a.model);
    return status;
}

const struct gs_command gs_cmd_analyze = {
    .name = "analyze",
    .summary = "response times, modes, schedulable or not",
    .usage = usage,
    .run = run,
};
