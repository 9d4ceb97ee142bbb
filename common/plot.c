/* SPDX-License-Identifier: MIT */
#include "common/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/stream.h"

extern char **environ;

static bool ends_in(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ending) == 0;
}

bool gs_plot_name_is_right(const char *option, const char *path)
{
    if (ends_in(path, ".svg") || ends_in(path, ".png") || ends_in(path, ".pdf"))
        return true;
    gs_error("%s %s: the name of a picture must end in .svg, .png or .pdf", option, path);
    return false;
}

/* PNG and PDF are made from the SVG. */
static bool is_converted(const char *path)
{
    return ends_in(path, ".png") || ends_in(path, ".pdf");
}

/* Runs rsvg-convert; its output goes to `out`. 0; -ENOENT: it isn't installed; -EIO. */
static int convert(const char *format, int in, int out)
{
    char *const argv[] = {"rsvg-convert", "-f", (char *)format, "-z", strcmp(format, "png") == 0 ? "2" : "1", NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status = 0;
    if (posix_spawn_file_actions_init(&files))
        return -ENOMEM;
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    int rc = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (rc)
        return -rc;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* Is there a program of this name? */
static bool is_installed(const char *name)
{
    const char *path = getenv("PATH");
    char file[4096];
    for (size_t n; path && *path; path += n + (path[n] == ':')) {
        n = strcspn(path, ":");
        if ((size_t)snprintf(file, sizeof file, "%.*s/%s", (int)n, path, name) < sizeof file && access(file, X_OK) == 0)
            return true;
    }
    return false;
}

bool gs_plot_is_possible(const char *option, const char *path)
{
    if (!gs_plot_name_is_right(option, path))
        return false;
    if (is_converted(path) && !is_installed("rsvg-convert")) {
        gs_error("%s %s: PNG and PDF take rsvg-convert, which isn't installed (librsvg2-bin); a name in .svg needs "
                 "nothing",
                 option, path);
        return false;
    }
    const int err = gs_can_write(path);
    if (err)
        gs_error("cannot write %s: %s", path, strerror(-err));
    return !err;
}

/* Kept apart until it is whole, so that an error is known by its name and no half picture is left. */
FILE *gs_plot_open(const char *path)
{
    FILE *plot = tmpfile();
    if (!plot)
        gs_error("cannot write %s: %s", path, strerror(errno));
    return plot;
}

static int copy(int from, int to)
{
    char buffer[1 << 16];
    ssize_t n;
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        for (ssize_t done = 0, written; done < n; done += written)
            if ((written = write(to, buffer + done, (size_t)(n - done))) < 0)
                return -errno;
    return n < 0 ? -errno : 0;
}

static int write_whole(FILE *plot, const char *path)
{
    if (fflush(plot) || lseek(fileno(plot), 0, SEEK_SET))
        return -errno;
    const int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out < 0)
        return -errno;
    struct stat made;
    const bool is_file = fstat(out, &made) == 0 && S_ISREG(made.st_mode);
    int rc = is_converted(path) ? convert(strrchr(path, '.') + 1, fileno(plot), out) : copy(fileno(plot), out);
    if (close(out) && !rc)
        rc = -errno;
    if (rc && is_file)
        unlink(path);
    return rc;
}

int gs_plot_close(FILE *plot, const char *path)
{
    int rc = ferror(plot) ? -EIO : write_whole(plot, path);
    if (fclose(plot) && !rc)
        rc = -errno;
    if (rc)
        gs_error("cannot write %s: %s", path, strerror(-rc));
    return rc;
}
