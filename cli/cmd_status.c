/* SPDX-License-Identifier: MIT */
/* gpusparc status: what the daemon does now. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/daemon_view.h"
#include "common/log.h"
#include "common/options.h"

static const char usage[] =
    "Usage: gpusparc status [--json] [--socket PATH]\n"
    "The daemon's resources, tasks and applications: who holds and who waits for what, how long the tasks' jobs took,\n"
    "deadlines missed, and how many GPUs each task has and why. USE is measured over the fifth of a second that it "
    "takes.\n\n"
    "  --json         the same and more, as JSON, at once\n"
    "  --socket PATH  the daemon's (GPUSPARC_SOCKET; default: /run/gpusparc.sock, else "
    "$XDG_RUNTIME_DIR/gpusparc.sock)\n\n"
    "A ! after a task's GPUs: it runs below all tasks, since with it deadlines could be missed. WARM counts jobs of\n"
    "warm-ups, which are neither among JOBS nor MISSED; a w after RUN: one is under way. gpusparc-status(1) has all\n"
    "columns.\n"
    "Exits 1 where no daemon answers.\n";

static int print_json(const char *socket)
{
    json_t *state = gs_daemon_state(socket, false);
    if (!state)
        return GS_EXIT_FAILED;
    json_dumpf(state, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(state);
    return GS_EXIT_OK;
}

static int print_tables(const char *socket)
{
    json_t *before = gs_daemon_state(socket, false), *now = NULL;
    char *text = NULL;
    if (before) {
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        now = gs_daemon_state(socket, false);
    }
    if (now)
        text = gs_daemon_tables(before, now, false);
    if (text)
        fputs(text, stdout);
    const bool said = text != NULL;
    free(text);
    json_decref(now);
    json_decref(before);
    return said ? GS_EXIT_OK : GS_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"socket", required_argument, NULL, 's'}, {0}};
    const char *socket = NULL;
    int json = 0;
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (opt == 'j')
            json = 1;
        else if (opt == 's')
            socket = optarg;
        else {
            gs_option_error(argv, options, "gpusparc status");
            return GS_EXIT_USAGE;
        }
    }
    if (optind < argc) {
        gs_error("status takes no argument '%s'; see gpusparc status --help", argv[optind]);
        return GS_EXIT_USAGE;
    }
    return json ? print_json(socket) : print_tables(socket);
}

const struct gs_command gs_cmd_status = {
    .name = "status",
    .summary = "what the daemon does now",
    .usage = usage,
    .run = run,
};
