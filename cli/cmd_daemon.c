/* SPDX-License-Identifier: MIT */
/* gpusparc daemon: becomes gpusparcd, which lies beside this program. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/paths.h"
#include "common/log.h"

static const char usage[] =
    "Usage: gpusparc daemon [--socket PATH] [--config FILE] [--trace FILE] [--gpus N] [--mode OCTAL]\n"
    "Schedules the applications that run under gpusparc on this machine's GPUs, until SIGTERM or SIGINT.\n\n"
    "  --socket PATH  where applications find it (GPUSPARC_SOCKET; default: /run/gpusparc.sock for root, else\n"
    "                 gpusparc.sock in $XDG_RUNTIME_DIR)\n"
    "  --config FILE  default: /etc/gpusparc.conf, if there is one\n"
    "  --trace FILE   writes a timeline, for Perfetto or chrome://tracing\n"
    "  --gpus N       how many GPUs, where the config doesn't say; default: NVIDIA's, else 1\n"
    "  --mode OCTAL   of the socket's file; default: 666 for root, else 600\n\n"
    "SIGHUP, or gpusparc reload, makes it read its config again.\n";

static int run(int argc, char **argv)
{
    (void)argc;
    char path[PATH_MAX], name[] = "gpusparcd";
    if (gs_program_path(name, path, sizeof path) < 0) {
        gs_error("gpusparcd was not found beside this program (%s)", path);
        return GS_EXIT_FAILED;
    }
    argv[0] = name;
    execv(path, argv);
    gs_error("%s can't be run: %s", path, strerror(errno));
    return GS_EXIT_FAILED;
}

const struct gs_command gs_cmd_daemon = {
    .name = "daemon",
    .summary = "schedules the applications on the GPUs",
    .usage = usage,
    .run = run,
};
