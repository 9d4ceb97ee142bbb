/* SPDX-License-Identifier: MIT */
/* The report of `gpusparc analyze`: what --json says, as tables, and the schedule. */
#include <errno.h>
#include <string.h>

#include "cli/analyze_timeline.h"
#include "common/config.h"
#include "common/log.h"
#include "common/page.h"
#include "common/plot.h"
#include "gema/advice.h"

/* Rounded as the table of `gpusparc analyze` is: a bound up, what is left of a deadline down. */
static void cell_time(FILE *f, const json_t *of, const char *name)
{
    char text[GS_DURATION_SIZE];
    const int64_t ns = json_integer_value(json_object_get(of, name));
    const bool slack = strcmp(name, "slack_ns") == 0, cut = json_is_true(json_object_get(of, "cut"));
    const char *beyond = !cut ? "" : slack ? "<" : strcmp(name, "response_ns") == 0 ? ">" : "";
    gs_show_duration(ns < 0 ? -ns : ns, slack && ns > 0 ? GS_ROUND_DOWN : GS_ROUND_UP, text);
    gs_page_number(f, (double)ns, "%s%s%s", beyond, ns < 0 ? "-" : "", text);
}

static bool is_late(const json_t *task)
{
    return json_integer_value(json_object_get(task, "slack_ns")) < 0;
}

static const char *verdict_of(const json_t *task)
{
    if (is_late(task))
        return "misses its deadline";
    return json_is_true(json_object_get(task, "proven")) ? "meets its deadline" : "unproven";
}

static bool any_is_late(const json_t *answer)
{
    bool any = false;
    json_t *task;
    size_t i;
    json_array_foreach(json_object_get(answer, "tasks"), i, task) any = any || is_late(task);
    return any;
}

static void write_tasks(FILE *f, const json_t *answer)
{
    static const char *const times[] = {"period_ns", "deadline_ns", "response_ns", "slack_ns", "blocking_ns"};
    json_t *task;
    size_t i;
    gs_page_heading(f, "Tasks");
    gs_page_table(f, "task|#GPUs|#period|#deadline|#response|#slack|#blocking|waits most for|verdict");
    json_array_foreach(json_object_get(answer, "tasks"), i, task)
    {
        const char *waits = json_string_value(json_object_get(task, "waits_for"));
        const json_int_t gpus = json_integer_value(json_object_get(task, "gpus"));
        gs_page_row(f);
        gs_page_cell(f, "%s", json_string_value(json_object_get(task, "name")));
        gs_page_number(f, (double)gpus, "%lld", (long long)gpus);
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            cell_time(f, task, times[k]);
        gs_page_cell(f, "%s", waits ? waits : "nothing");
        gs_page_cell(f, "%s", verdict_of(task));
    }
    gs_page_table_end(f);
}

static void write_segments(FILE *f, const json_t *answer)
{
    static const char *const times[] = {"response_ns", "delay_ns", "blocking_ns", "jitter_ns"};
    json_t *task, *segment;
    size_t i, j;
    gs_page_heading(f, "Segments: where each task's time goes");
    gs_page_table(f, "task|#segment|on|#response|#delay by others|#blocking|#jitter");
    json_array_foreach(json_object_get(answer, "tasks"), i, task)
    {
        json_array_foreach(json_object_get(task, "segments"), j, segment)
        {
            gs_page_row(f);
            gs_page_cell(f, "%s", json_string_value(json_object_get(task, "name")));
            gs_page_number(f, (double)j + 1, "%zu", j + 1);
            gs_page_cell(f, "%s", json_string_value(json_object_get(segment, "resource")));
            for (size_t k = 0; k < sizeof times / sizeof *times; k++)
                cell_time(f, segment, times[k]);
        }
    }
    gs_page_table_end(f);
}

static void write_system(FILE *f, const json_t *answer, const struct gs_model *m)
{
    const bool all = json_is_true(json_object_get(answer, "schedulable")), late = any_is_late(answer);
    const double headroom = json_number_value(json_object_get(answer, "headroom"));
    const json_t *use = json_object_get(answer, "utilization");
    gs_page_conclusion(f, "%s.",
                       all    ? "Every deadline is met"
                       : late ? "Not schedulable: deadlines can be missed"
                              : "Not proven schedulable");
    gs_page_text(f, "Policy %s, analysis %s.", json_string_value(json_object_get(answer, "policy")),
                 json_string_value(json_object_get(answer, "analysis")));
    if (all)
        gs_page_text(f, headroom < GS_MOST_HEADROOM ? GS_ANALYZE_HEADROOM : GS_ANALYZE_MOST_HEADROOM, headroom);
    else if (late && headroom > 0)
        gs_page_text(f, "It would be schedulable if all times shrank to %.3f of what they are.", headroom);
    gs_page_heading(f, "Use of the machine");
    gs_page_table(f, "resource|#how many|#used, %");
    for (int r = 0; r < GS_RESOURCES; r++) {
        const double used = 100 * json_number_value(json_object_get(use, gs_resource_names[r]));
        gs_page_row(f);
        gs_page_cell(f, "%s", gs_resource_names[r]);
        gs_page_number(f, m->servers[r], "%d", m->servers[r]);
        gs_page_number(f, used, "%.1f", used);
    }
    gs_page_table_end(f);
}

int gs_analyze_html(const char *path, const char *title, const json_t *answer, const struct gs_model *m,
                    const int *modes, int64_t until_ns)
{
    char why[256];
    FILE *f = gs_plot_open(path);
    if (!f)
        return -EIO;
    gs_page_begin(f, title);
    write_system(f, answer, m);
    write_tasks(f, answer);
    gs_page_heading(f, "A schedule, simulated: all first jobs are released at 0, all segments take their longest");
    gs_page_picture(f);
    if (gs_analyze_picture(f, "a schedule with worst-case times", m, modes, until_ns, why, sizeof why))
        gs_page_text(f, "There is no picture: %s.", why);
    gs_page_picture_end(f);
    write_segments(f, answer);
    gs_page_end(f);
    return gs_plot_close(f, path);
}
