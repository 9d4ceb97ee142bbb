/* SPDX-License-Identifier: MIT */
#include "cli/analyze_timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/plot.h"
#include "common/stream.h"
#include "gema/timeline.h"

static bool is_trace(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".json") == 0;
}

bool gs_analyze_timeline_name_is_right(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot && (is_trace(path) || strcmp(dot, ".svg") == 0 || strcmp(dot, ".png") == 0 || strcmp(dot, ".pdf") == 0))
        return true;
    gs_error("--timeline %s: the name must end in .svg, .png or .pdf for a picture, or .json for a trace", path);
    return false;
}

bool gs_analyze_timeline_is_possible(const char *path)
{
    if (!is_trace(path))
        return gs_plot_is_possible("--timeline", path);
    const int err = gs_can_write(path);
    if (err)
        gs_error("cannot write %s: %s", path, strerror(-err));
    return !err;
}

static int64_t length_of(const struct gs_model *m, int64_t until_ns)
{
    int64_t longest = 0;
    for (size_t i = 0; i < m->n_tasks; i++)
        longest = m->tasks[i].period_ns > longest ? m->tasks[i].period_ns : longest;
    return until_ns ? until_ns : 3 * longest;
}

static int simulate(struct gs_timeline *t, const struct gs_model *m, const int *modes, int64_t until_ns, bool picture)
{
    const struct gs_timeline_setup setup = {.modes = modes,
                                            .horizon = length_of(m, until_ns),
                                            .most = picture ? GS_TIMELINE_PICTURE : GS_TIMELINE_TRACE,
                                            .join = picture};
    return gs_timeline_run(t, m, &setup);
}

/* Why there is none: two digits of a length that would do. */
static void say_why(const struct gs_timeline *t, int rc, bool picture, char *why, size_t bytes)
{
    char until[GS_DURATION_SIZE], seen[GS_DURATION_SIZE];
    int64_t unit = 1;
    while (t->seen / unit >= 100)
        unit *= 10;
    if (rc != -EFBIG)
        snprintf(why, bytes, "%s", strerror(-rc));
    else
        snprintf(why, bytes,
                 "the schedule until %s has more than the %d pieces that a %s has room for%s: --until %s or less",
                 gs_format_duration(t->horizon, until), picture ? GS_TIMELINE_PICTURE : GS_TIMELINE_TRACE,
                 picture ? "picture" : "trace", picture ? " (a trace, in .json, has room for 500000)" : "",
                 gs_format_duration(t->seen / unit * unit, seen));
}

int gs_analyze_picture(FILE *out, const char *title, const struct gs_model *m, const int *modes, int64_t until_ns,
                       char *why, size_t why_bytes)
{
    struct gs_timeline t;
    int rc = simulate(&t, m, modes, until_ns, true);
    if (!rc)
        rc = gs_timeline_write_svg(&t, title, out);
    if (rc)
        say_why(&t, rc, true, why, why_bytes);
    gs_timeline_free(&t);
    return rc;
}

int gs_analyze_timeline(const char *path, const char *title, const struct gs_model *m, const int *modes,
                        int64_t until_ns)
{
    struct gs_timeline t;
    const bool picture = !is_trace(path);
    char why[256];
    int rc = simulate(&t, m, modes, until_ns, picture);
    if (rc) {
        say_why(&t, rc, picture, why, sizeof why);
        gs_error("%s isn't written: %s", path, why);
    } else {
        FILE *out = gs_plot_open(path);
        rc = out ? (picture ? gs_timeline_write_svg(&t, title, out) : gs_timeline_write_trace(&t, out)) : -EIO;
        if (out && gs_plot_close(out, path))
            rc = -EIO;
    }
    gs_timeline_free(&t);
    return rc;
}
