/* SPDX-License-Identifier: MIT */
/* gpusparc: finds the subcommand and hands over to it. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "common/log.h"

static void print_help(FILE *out)
{
    fputs("Usage: gpusparc COMMAND [ARGUMENT...]\n"
          "Runs OpenCL applications written for one GPU on all GPUs of the machine.\n\nCommands:\n",
          out);
    for (int i = 0; gs_commands[i]; i++)
        fprintf(out, "  %-10s %s\n", gs_commands[i]->name, gs_commands[i]->summary);
    fputs("\n`gpusparc COMMAND --help` tells more of a command; `gpusparc --version` prints the version.\n", out);
}

static const struct gs_command *find_command(const char *name)
{
    for (int i = 0; gs_commands[i]; i++)
        if (strcmp(gs_commands[i]->name, name) == 0)
            return gs_commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    gs_log_init("gpusparc");
    if (argc < 2) {
        print_help(stderr);
        return GS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return GS_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("gpusparc " GS_VERSION);
        return GS_EXIT_OK;
    }
    const struct gs_command *cmd = find_command(argv[1]);
    if (!cmd) {
        gs_error("there is no command '%s'; see gpusparc --help", argv[1]);
        return GS_EXIT_USAGE;
    }
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        fputs(cmd->usage, stdout);
        return GS_EXIT_OK;
    }
    return cmd->run(argc - 1, argv + 1);
}
