/* SPDX-License-Identifier: MIT */
/* gpusparc reload: the daemon reads its config again. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/daemon_view.h"
#include "common/client/client.h"
#include "common/log.h"
#include "common/options.h"

static const char usage[] =
    "Usage: gpusparc reload [--json] [--socket PATH]\n"
    "The daemon reads its config again, without dropping an application. Where the config is wrong\n"
    "the old one stays, and the first mistake is said (gpusparc check finds them all).\n"
    "For root and the daemon's own user. Exits 1 if nothing was changed.\n\n"
    "  --json         what the daemon answers, as JSON\n"
    "  --socket PATH  the daemon's\n";

static int run(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"socket", required_argument, NULL, 's'}, {0}};
    const char *socket = NULL;
    bool json = false;
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (opt == 'j') {
            json = true;
            continue;
        }
        if (opt != 's') {
            gs_option_error(argv, options, "gpusparc reload");
            return GS_EXIT_USAGE;
        }
        socket = optarg;
    }
    if (optind < argc) {
        gs_error("reload takes no argument '%s'; see gpusparc reload --help", argv[optind]);
        return GS_EXIT_USAGE;
    }
    char *text;
    int err = gs_client_ask(socket, GS_MSG_RELOAD, NULL, 5000, &text);
    if (err < 0)
        gs_daemon_error(err, socket, text);
    else if (json)
        gs_daemon_print_change(text, NULL);
    else
        puts(text);
    free(text);
    return err < 0 ? GS_EXIT_FAILED : GS_EXIT_OK;
}

const struct gs_command gs_cmd_reload = {
    .name = "reload",
    .summary = "the daemon reads its config again",
    .usage = usage,
    .run = run,
};
