/* SPDX-License-Identifier: MIT */
#include "common/plot.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "common/log.h"
#include "common/stream.h"

static bool ends_in(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ending) == 0;
}

bool gs_plot_name_is_right(const char *path)
{
    if ((ends_in(path, ".svg") || ends_in(path, ".png") || ends_in(path, ".pdf") || ends_in(path, ".gp")) &&
        !strpbrk(path, "'\n"))
        return true;
    gs_error("--plot %s: the name must end in .svg, .png, .pdf or .gp, and hold no quote", path);
    return false;
}

bool gs_plot_is_possible(const char *path)
{
    if (!gs_plot_name_is_right(path))
        return false;
    const int err = gs_can_write(path);
    if (err)
        gs_error("cannot write %s: %s", path, strerror(-err));
    return !err;
}

FILE *gs_plot_open(const char *path, unsigned width, unsigned height)
{
    bool script = ends_in(path, ".gp");
    int kept = script ? (int)(strrchr(path, '.') - path) : (int)strlen(path);
    if (!gs_plot_is_possible(path)) /* gnuplot would draw on standard output */
        return NULL;
    signal(SIGPIPE, SIG_IGN);
    FILE *plot = script ? fopen(path, "w") : popen("gnuplot", "w");
    if (!plot) {
        gs_error(script ? "cannot write %s: %s" : "gnuplot could not be started for %s: %s", path, strerror(errno));
        return NULL;
    }
    if (ends_in(path, ".pdf"))
        fputs("set terminal pdfcairo\n", plot);
    else
        fprintf(plot, "set terminal %s size %u,%u background 'white'\n", ends_in(path, ".png") ? "pngcairo" : "svg",
                width, height);
    fprintf(plot, "set output '%.*s%s'\n", kept, path, script ? ".svg" : "");
    return plot;
}

int gs_plot_close(FILE *plot, const char *path)
{
    bool script = ends_in(path, ".gp"), failed = ferror(plot);
    int rc = script ? fclose(plot) : pclose(plot);
    if (rc == 0 && !failed)
        return 0;
    gs_error(script ? "cannot write %s" : "gnuplot could not draw %s; is it installed? A name in .gp keeps its script",
             path);
    return -EIO;
}
